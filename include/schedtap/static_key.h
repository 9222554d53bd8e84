/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Static keys: branches that are rarely taken and are switched at run time, with the kernel's API
 * (linux/jump_label.h). By default a branch loads the key, which takes three instructions and works
 * everywhere. With -DTAP_STATIC_KEYS=patch a branch is one nop or jump that is patched in the
 * running process (x86-64 and aarch64, when optimizing). With -DTAP_STATIC_KEYS=usdt branches are
 * patched, too, and each tracepoint is a USDT probe, which takes one more nop. Files built with
 * different settings can share a key.
 *
 * static_branch_inc() and static_branch_dec() count. static_branch_enable() changes 0 to 1 and
 * static_branch_disable() 1 to 0; other counts stay, as in the kernel after its warning. All of
 * these may be called by any thread. A key and its branches must be in the same program or library.
 *
 * A key's count always agrees with what its branches do: if they cannot be patched, the count does
 * not leave or reach zero either, static_key_slow_inc() returns false, and tap_patch_error()
 * returns the reason.
 */
#pragma GCC system_header
#ifndef SCHEDTAP_STATIC_KEY_H
#define SCHEDTAP_STATIC_KEY_H

#include <stdbool.h>

#include <schedtap/err.h>
#include <schedtap/static_key_patch.h>

#ifdef __cplusplus
extern "C" {
#endif

struct static_key {
	int enabled; /* number of users; read it with static_key_count() */
};

struct static_key_true {
	struct static_key key;
#ifdef __cplusplus /* C++ has no [0 ... n] initializers for arrays of keys */
	constexpr static_key_true(static_key value = static_key{ 1 }) : key(value)
	{
	}
#endif
};

struct static_key_false {
	struct static_key key;
};

#define STATIC_KEY_INIT_TRUE                                                                       \
	{                                                                                          \
		1                                                                                  \
	}
#define STATIC_KEY_INIT_FALSE                                                                      \
	{                                                                                          \
		0                                                                                  \
	}
#define STATIC_KEY_INIT STATIC_KEY_INIT_FALSE
#define STATIC_KEY_TRUE_INIT                                                                       \
	{                                                                                          \
		STATIC_KEY_INIT_TRUE                                                               \
	}
#define STATIC_KEY_FALSE_INIT                                                                      \
	{                                                                                          \
		STATIC_KEY_INIT_FALSE                                                              \
	}

#define DEFINE_STATIC_KEY_TRUE(name) struct static_key_true name = STATIC_KEY_TRUE_INIT
#define DEFINE_STATIC_KEY_FALSE(name) struct static_key_false name = STATIC_KEY_FALSE_INIT
#define DEFINE_STATIC_KEY_TRUE_RO DEFINE_STATIC_KEY_TRUE
#define DEFINE_STATIC_KEY_FALSE_RO DEFINE_STATIC_KEY_FALSE
#define DECLARE_STATIC_KEY_TRUE(name) extern TAP_HIDDEN struct static_key_true name
#define DECLARE_STATIC_KEY_FALSE(name) extern TAP_HIDDEN struct static_key_false name
#ifdef __cplusplus
#define DEFINE_STATIC_KEY_ARRAY_TRUE(name, count) struct static_key_true name[count]
#else
#define DEFINE_STATIC_KEY_ARRAY_TRUE(name, count)                                                  \
	struct static_key_true name[count] = { [0 ...(count) - 1] = STATIC_KEY_TRUE_INIT }
#endif
#define DEFINE_STATIC_KEY_ARRAY_FALSE(name, count) struct static_key_false name[count]
#define DECLARE_STATIC_KEY_ARRAY_TRUE(name, count)                                                 \
	extern TAP_HIDDEN struct static_key_true name[count]
#define DECLARE_STATIC_KEY_ARRAY_FALSE(name, count)                                                \
	extern TAP_HIDDEN struct static_key_false name[count]

/* _MAYBE: the key is true by default if the configuration macro is defined as 1 (IS_ENABLED()). */
#define TAP_ENABLED(cfg) TAP_ENABLED_1(cfg)
#define TAP_ENABLED_1(value) TAP_ENABLED_2(TAP_ENABLED_ARG_##value)
#define TAP_ENABLED_2(arg_or_junk) TAP_SECOND(arg_or_junk 1, 0, 0)
#define TAP_SECOND(first, second, ...) second
#define TAP_ENABLED_ARG_1 0,
#define TAP_DEFINE_KEY_1 DEFINE_STATIC_KEY_TRUE
#define TAP_DEFINE_KEY_0 DEFINE_STATIC_KEY_FALSE
#define TAP_DECLARE_KEY_1 DECLARE_STATIC_KEY_TRUE
#define TAP_DECLARE_KEY_0 DECLARE_STATIC_KEY_FALSE
#define DEFINE_STATIC_KEY_MAYBE(cfg, name) TAP_PASTE(TAP_DEFINE_KEY_, TAP_ENABLED(cfg))(name)
#define DEFINE_STATIC_KEY_MAYBE_RO DEFINE_STATIC_KEY_MAYBE
#define DECLARE_STATIC_KEY_MAYBE(cfg, name) TAP_PASTE(TAP_DECLARE_KEY_, TAP_ENABLED(cfg))(name)
#define static_branch_maybe(cfg, x)                                                                \
	(TAP_ENABLED(cfg) ? static_branch_likely(x) : static_branch_unlikely(x))

/**
 * tap_static_key_inc() - Add a user of the key.
 *
 * Return: true; false if its branches cannot be patched, or if it already has INT_MAX users.
 */
TAP_API bool tap_static_key_inc(struct static_key *key);

/** tap_static_key_dec() - Remove a user of the key; does nothing at 0. */
TAP_API void tap_static_key_dec(struct static_key *key);

/**
 * tap_static_key_set() - Change the count from 0 to 1 if @on, else from 1 to 0; other counts stay.
 */
TAP_API void tap_static_key_set(struct static_key *key, bool on);

/**
 * tap_patch_error() - Get the reason of the first failure to patch branches.
 *
 * If that happens while a library is being loaded, its branches stay as they were compiled,
 * whatever their keys say.
 *
 * Return: a sentence that stays valid; NULL while nothing failed.
 */
TAP_API const char *tap_patch_error(void);

TAP_INLINE int static_key_count(const struct static_key *key)
{
	return __atomic_load_n(&key->enabled, __ATOMIC_RELAXED);
}

TAP_INLINE bool tap_key_is_on(const struct static_key *key)
{
	return static_key_count(key) != 0;
}

#define TAP_LIKELY(x) __builtin_expect(!!(x), 1)
#define TAP_UNLIKELY(x) __builtin_expect(!!(x), 0)

#ifdef __cplusplus
#define TAP_STARTS_TRUE(x) __is_same(__typeof__(*(x)), struct static_key_true)
#else
#define TAP_STARTS_TRUE(x) __builtin_types_compatible_p(__typeof__(*(x)), struct static_key_true)
#endif

/* @x: a constant address of a static_key_true or static_key_false. */
#define static_branch_likely(x) TAP_LIKELY(TAP_BRANCH_LIKELY(&(x)->key, TAP_STARTS_TRUE(x)))
#define static_branch_unlikely(x) TAP_UNLIKELY(TAP_BRANCH_UNLIKELY(&(x)->key, TAP_STARTS_TRUE(x)))

#define static_branch_inc(x) static_key_slow_inc(&(x)->key)
#define static_branch_dec(x) static_key_slow_dec(&(x)->key)
#define static_branch_enable(x) static_key_enable(&(x)->key)
#define static_branch_disable(x) static_key_disable(&(x)->key)
/* in the kernel, callers of _cpuslocked hold the CPU hotplug lock; a program has none */
#define static_branch_inc_cpuslocked static_branch_inc
#define static_branch_dec_cpuslocked static_branch_dec
#define static_branch_enable_cpuslocked static_branch_enable
#define static_branch_disable_cpuslocked static_branch_disable

/* @x: a static_key, static_key_true or static_key_false: all begin with the key. */
#define static_key_enabled(x) tap_key_is_on((const struct static_key *)(x))

#define jump_label_enabled static_key_enabled

/* branches on a plain struct static_key */
TAP_INLINE bool static_key_false(const struct static_key *key)
{
	return TAP_UNLIKELY(TAP_BRANCH_UNLIKELY(key, false));
}

TAP_INLINE bool static_key_true(const struct static_key *key)
{
	return TAP_LIKELY(TAP_BRANCH_LIKELY(key, true));
}

/*
 * Add a user if there is one already, which never needs patching. Return: false if the key is off.
 */
TAP_INLINE bool static_key_fast_inc_not_disabled(struct static_key *key)
{
	int count = static_key_count(key);

	while (count > 0 && count < __INT_MAX__)
		if (__atomic_compare_exchange_n(&key->enabled, &count, count + 1, true,
						__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return true;
	return false;
}

TAP_INLINE bool static_key_slow_inc(struct static_key *key)
{
	return tap_static_key_inc(key);
}

TAP_INLINE void static_key_slow_dec(struct static_key *key)
{
	tap_static_key_dec(key);
}

TAP_INLINE void static_key_enable(struct static_key *key)
{
	tap_static_key_set(key, true);
}

TAP_INLINE void static_key_disable(struct static_key *key)
{
	tap_static_key_set(key, false);
}

#define static_key_slow_inc_cpuslocked static_key_slow_inc
#define static_key_slow_dec_cpuslocked static_key_slow_dec
#define static_key_enable_cpuslocked static_key_enable
#define static_key_disable_cpuslocked static_key_disable

#ifdef __cplusplus
}
#endif
#endif
