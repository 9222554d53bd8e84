/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Static keys: branches that are almost never taken, switched at run time. The kernel's API
 * (linux/jump_label.h). By default a branch loads the key, which costs three instructions and
 * works everywhere. With -DTAP_STATIC_KEYS=patch a branch is one nop or jump that is patched
 * in the running process (x86-64 and aarch64, when optimizing); tap_patch_error() says why where
 * that cannot be done, and the branches then stay as they are.
 *
 * static_branch_inc() and _dec() count; _enable() and _disable() set the count to 1 and 0. All of
 * them may be called by any thread, but not by a signal handler.
 */
#ifndef SCHEDTAP_STATIC_KEY_H
#define SCHEDTAP_STATIC_KEY_H

#include <stdbool.h>

#include <schedtap/err.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAP_HIDDEN __attribute__((visibility("hidden")))
#define TAP_INLINE static inline __attribute__((always_inline, unused))

#define TAP_STATIC_KEYS_load 0
#define TAP_STATIC_KEYS_patch 1
#define TAP_STATIC_KEYS_ 0
#define TAP_PASTE_1(a, b) a##b
#define TAP_PASTE(a, b) TAP_PASTE_1(a, b)
#if TAP_PASTE(TAP_STATIC_KEYS_, TAP_STATIC_KEYS) && defined(__OPTIMIZE__) &&                       \
	(defined(__x86_64__) || defined(__aarch64__))
#define TAP_PATCHED 1
#else
#define TAP_PATCHED 0
#endif

struct static_key {
	int enabled; /* how many want it; read it with static_key_count() */
};

struct static_key_true {
	struct static_key key;
};

struct static_key_false {
	struct static_key key;
};

#define STATIC_KEY_INIT_TRUE { 1 }
#define STATIC_KEY_INIT_FALSE { 0 }
#define STATIC_KEY_INIT STATIC_KEY_INIT_FALSE
#define STATIC_KEY_TRUE_INIT { STATIC_KEY_INIT_TRUE }
#define STATIC_KEY_FALSE_INIT { STATIC_KEY_INIT_FALSE }

#define DEFINE_STATIC_KEY_TRUE(name) struct static_key_true name = STATIC_KEY_TRUE_INIT
#define DEFINE_STATIC_KEY_FALSE(name) struct static_key_false name = STATIC_KEY_FALSE_INIT
#define DEFINE_STATIC_KEY_TRUE_RO DEFINE_STATIC_KEY_TRUE
#define DEFINE_STATIC_KEY_FALSE_RO DEFINE_STATIC_KEY_FALSE
#define DECLARE_STATIC_KEY_TRUE(name) extern TAP_HIDDEN struct static_key_true name
#define DECLARE_STATIC_KEY_FALSE(name) extern TAP_HIDDEN struct static_key_false name
#define DEFINE_STATIC_KEY_ARRAY_TRUE(name, count)                                                  \
	struct static_key_true name[count] = { [0 ...(count) - 1] = STATIC_KEY_TRUE_INIT }
#define DEFINE_STATIC_KEY_ARRAY_FALSE(name, count) struct static_key_false name[count]
#define DECLARE_STATIC_KEY_ARRAY_TRUE(name, count) extern TAP_HIDDEN struct static_key_true name[count]
#define DECLARE_STATIC_KEY_ARRAY_FALSE(name, count) extern TAP_HIDDEN struct static_key_false name[count]

/* _MAYBE: the default follows a configuration macro that is 1 or not defined. */
#define TAP_MAYBE_1 ,
#define TAP_MAYBE_SECOND(ignored, second, ...) second
#define TAP_MAYBE(cfg, yes, no) TAP_MAYBE_TEST(cfg, yes, no)
#define TAP_MAYBE_TEST(value, yes, no) TAP_MAYBE_SECOND(TAP_MAYBE_PICK(value) yes, no, )
#define TAP_MAYBE_PICK(value) TAP_PASTE_1(TAP_MAYBE_ARG_, value)
#define TAP_MAYBE_ARG_1 ignored,
#define DEFINE_STATIC_KEY_MAYBE(cfg, name)                                                         \
	TAP_MAYBE(cfg, DEFINE_STATIC_KEY_TRUE, DEFINE_STATIC_KEY_FALSE)(name)
#define DEFINE_STATIC_KEY_MAYBE_RO DEFINE_STATIC_KEY_MAYBE
#define DECLARE_STATIC_KEY_MAYBE(cfg, name)                                                        \
	TAP_MAYBE(cfg, DECLARE_STATIC_KEY_TRUE, DECLARE_STATIC_KEY_FALSE)(name)
#define static_branch_maybe(cfg, x)                                                                \
	(TAP_MAYBE(cfg, 1, 0) ? static_branch_likely(x) : static_branch_unlikely(x))

/* What changes a key: the count, and where there are patched sites, those. */
TAP_API bool tap_static_key_inc(struct static_key *key);
TAP_API void tap_static_key_dec(struct static_key *key);
TAP_API void tap_static_key_set(struct static_key *key, bool on);

/**
 * tap_patch_error() - Why sites could not be patched.
 *
 * Return: a sentence, which stays; NULL while nothing failed.
 */
TAP_API const char *tap_patch_error(void);

TAP_INLINE int static_key_count(const struct static_key *key)
{
	return __atomic_load_n(&key->enabled, __ATOMIC_RELAXED);
}

TAP_INLINE bool tap_key_is_on(const struct static_key *key)
{
	return static_key_count(key) > 0;
}

#if TAP_PATCHED
#include <schedtap/static_key_patch.h>
#else
/* What the branch of the two kinds of sites is: the compiler lays out the other one first. */
#define TAP_BRANCH_UNLIKELY(key) __builtin_expect(tap_key_is_on(key), 0)
#define TAP_BRANCH_LIKELY(key) __builtin_expect(tap_key_is_on(key), 1)
#endif

/* Either kind of key, or a key of neither kind. */
#define TAP_KEY_OF(x) (&(x)->key)
#define static_branch_likely(x) TAP_BRANCH_LIKELY(TAP_KEY_OF(x))
#define static_branch_unlikely(x) TAP_BRANCH_UNLIKELY(TAP_KEY_OF(x))

#define static_branch_inc(x) static_key_slow_inc(TAP_KEY_OF(x))
#define static_branch_dec(x) static_key_slow_dec(TAP_KEY_OF(x))
#define static_branch_enable(x) static_key_enable(TAP_KEY_OF(x))
#define static_branch_disable(x) static_key_disable(TAP_KEY_OF(x))
/* the kernel's callers hold its lock for CPUs that come and go: there is none here */
#define static_branch_inc_cpuslocked static_branch_inc
#define static_branch_dec_cpuslocked static_branch_dec
#define static_branch_enable_cpuslocked static_branch_enable
#define static_branch_disable_cpuslocked static_branch_disable

/* struct static_key, static_key_true or static_key_false: each begins with the key */
#define static_key_enabled(x) tap_key_is_on((const struct static_key *)(x))

TAP_INLINE bool static_key_false(const struct static_key *key)
{
	return __builtin_expect(tap_key_is_on(key), 0);
}

TAP_INLINE bool static_key_true(const struct static_key *key)
{
	return __builtin_expect(tap_key_is_on(key), 1);
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
#define static_key_fast_inc_not_disabled static_key_slow_inc

#ifdef __cplusplus
}
#endif
#endif
