/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracepoints in a program, with the kernel's API (linux/tracepoint.h). An event header includes
 * this file, and <schedtap/define_trace.h> at its end. TRACE_EVENT() in it declares an event: its
 * name, arguments, recorded fields and print format. One .c file defines CREATE_TRACE_POINTS before
 * it includes the event header; all others just include it and call trace_<event>().
 *
 * While an event is off, trace_<event>() is one test and a branch that is not taken. `schedtap
 * record -e SYSTEM:EVENT` switches events on from outside; register_trace_<event>() attaches a
 * function of the program's own.
 *
 * trace_<event>() may be called by any thread and any signal handler, also after a fork, and never
 * blocks. Probes may be registered and unregistered by any thread, but not by a signal handler and
 * not by a probe. docs/tracepoints.md is a tutorial.
 */
#pragma GCC system_header
#ifndef SCHEDTAP_TRACEPOINT_H
#define SCHEDTAP_TRACEPOINT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtap/err.h>
#include <schedtap/static_call.h>
#include <schedtap/static_key.h>
#include <schedtap/types.h>

#ifdef __cplusplus
#define TAP_C_BEGIN extern "C" {
#define TAP_C_END }
#else
#define TAP_C_BEGIN
#define TAP_C_END
#endif

TAP_C_BEGIN

#define TAP_STRING_1(x...) #x
#define TAP_STRING(x...) TAP_STRING_1(x)
#ifndef __stringify
#define __stringify(x...) TAP_STRING(x)
#endif
#define TAP_IGNORE_UNUSED                                                                          \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunused-parameter\"")
#define TAP_IGNORE_END _Pragma("GCC diagnostic pop")
#define tap_likely(x) __builtin_expect(!!(x), 1)
#define tap_unlikely(x) __builtin_expect(!!(x), 0)

#ifndef PARAMS
#define PARAMS(args...) args
#endif
#define TP_PROTO(args...) args
#define TP_ARGS(args...) args
#define TP_CONDITION(args...) args
#define TRACEPOINT_DEFAULT_PRIO 10

/*
 * TAP_MORE(args, list): `, list`; nothing for an event without arguments: TP_PROTO(void),
 * TP_ARGS().
 */
#define TAP_MORE(args, list) TAP_PASTE(TAP_MORE_, TAP_ARE(args))(list)
#define TAP_MORE_1(list...) , list
#define TAP_MORE_(list...)
#define TAP_THIRD(a, b, c, ...) c
#define TAP_HAS_OPT(...) TAP_THIRD(__VA_OPT__(, ), 1, 0, )
#if TAP_HAS_OPT(x)
#define TAP_ARE(...) __VA_OPT__(1)
#else /* compilers before gcc 8 and clang 12 do not support events without arguments */
#define TAP_ARE(...) 1
#endif
#define TAP_CHECK_NONE(name, proto, args)                                                          \
	TAP_PASTE(TAP_CHECK_NONE_, TAP_ARE(args))(name, PARAMS(proto))
#define TAP_CHECK_NONE_1(name, proto)
#define TAP_CHECK_NONE_(name, proto)                                                               \
	TAP_STATIC_ASSERT(TAP_SAME_TYPE(void(proto), void(void)),                                  \
			  "event " #name ": TP_ARGS() leaves out what TP_PROTO() has");

#ifdef __cplusplus
#define TAP_STATIC_ASSERT static_assert
#define TAP_SAME_TYPE(a, b) __is_same(a, b)
#else
#define TAP_STATIC_ASSERT _Static_assert
#define TAP_SAME_TYPE(a, b) __builtin_types_compatible_p(a, b)
#endif

/*
 * Ends a macro whose use in an event header may be followed by a semicolon, as in the kernel's
 * headers, or by none. ISO C does not allow a semicolon there on its own.
 */
#ifdef __cplusplus
#define TAP_END
#else
#define TAP_END __extension__
#endif

struct trace_event_call;

/* One probe: void func(void *data, <TP_PROTO parameters>). */
struct tracepoint_func {
	void *func; /* NULL ends an array of them */
	void *data;
	int prio;
};

struct tracepoint {
	const char *name;
	/*
	 * not 0: the event is on, or the word needs a look; in the control file, once that is made
	 */
	uint32_t *on;
	struct tracepoint_func *funcs; /* the probes; only replaced as a whole; NULL: none */
	int (*regfunc)(void); /* called before the first probe is added */
	void (*unregfunc)(void); /* called after the last probe is removed */
	struct trace_event_call *call; /* events recorded from this tracepoint, or NULL */
	void *own; /* the first event's probe: called directly while it is the only probe */
	uint32_t off; /* `on` points here until the control file is made */
	struct static_key key; /* for patched sites: enabled while there are probes */
};

/* ---- read-side sections ---- */

/* A thread's slot for read-side sections. A fork wipes its memory, so in a child tid is 0. */
struct tap_thread {
	uint64_t inside; /* not 0: in a read-side section; the value of tap_period when it began */
	int32_t tid; /* owner; 0: free */
};

#define TAP_TLS extern __thread __attribute__((tls_model("initial-exec")))

/* The calling thread's slot; a shared dummy with tid 0 until tap_thread_join(). */
TAP_API TAP_TLS struct tap_thread *tap_self;
TAP_API extern uint64_t tap_period; /* each grace period adds 1 */
TAP_API extern bool tap_readers_fence; /* membarrier() is not available, so readers need a fence */

/*
 * Bind functions that sites call when the program starts: lazy binding at the first call takes 3 KB
 * of stack, and a thread at a site may have less.
 */
#if __has_attribute(noplt)
#define TAP_BOUND __attribute__((noplt))
#else
#define TAP_BOUND
#endif

/*
 * Give the calling thread a slot. Return: NULL if out of memory: then no probe is called and the
 * event is lost.
 */
TAP_API TAP_BOUND struct tap_thread *tap_thread_join(void);
TAP_API TAP_BOUND void tap_record_lose(void); /* count an event as lost: it cannot be recorded */

/* ThreadSanitizer does not understand membarrier() and fences. */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define TAP_TSAN 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define TAP_TSAN 1
#endif
#ifdef TAP_TSAN
#define TAP_ORDER_ENTER __ATOMIC_SEQ_CST
#define TAP_ORDER_FUNCS __ATOMIC_SEQ_CST
#else
#define TAP_TSAN 0
#define TAP_ORDER_ENTER __ATOMIC_RELAXED
#define TAP_ORDER_FUNCS __ATOMIC_CONSUME
#endif

/*
 * Begin a read-side section: probes and arrays of probes seen in it stay valid until it ends.
 * Sections nest.
 * @was: set to the value that tap_section_end() needs.
 * Return: NULL if the thread has no slot: no section began.
 */
TAP_INLINE struct tap_thread *tap_section_begin(uint64_t *was)
{
	struct tap_thread *self = tap_self;

	if (tap_unlikely(!__atomic_load_n(&self->tid, __ATOMIC_RELAXED))) {
		self = tap_thread_join();
		if (!self)
			return NULL;
	}
	*was = __atomic_load_n(&self->inside, __ATOMIC_RELAXED);
	if (tap_likely(!*was))
		__atomic_store_n(&self->inside, __atomic_load_n(&tap_period, __ATOMIC_ACQUIRE),
				 TAP_ORDER_ENTER);
	if (!TAP_TSAN && tap_unlikely(tap_readers_fence))
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return self;
}

TAP_INLINE void tap_section_end(struct tap_thread *self, uint64_t was)
{
	__atomic_store_n(&self->inside, was, __ATOMIC_RELEASE);
}

/* Compilers align data of 32 bytes and more to 32: for 1000 events that would waste 32 kB. */
#define TAP_PACKED_IN __attribute__((aligned(8)))

/* ---- probes ---- */

/* In assembly, because compilers do not merge a volatile load and its test into one instruction. */
TAP_INLINE bool tap_word_is_set(const uint32_t *word)
{
#if defined(__x86_64__) && !TAP_TSAN
	bool set;

	__asm__ volatile("cmpl $0, %1" : "=@ccne"(set) : "m"(*word));
	return set;
#else
	return __atomic_load_n(word, __ATOMIC_RELAXED);
#endif
}

/*
 * Register and unregister event probes as the controller (recorder) that changed the tracepoint's
 * word wants. Called by a thread that passes the site and sees the change.
 */
TAP_API TAP_BOUND void tap_tracepoint_look(struct tracepoint *tp);

/*
 * A word's first two bytes are bit masks of events: those that a controller wants, and those that
 * are applied (their probes are registered). The last byte is not 0 if filters have changed.
 * TAP_WORD_OWN: only the first event is wanted and applied, and there are no other probes.
 */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TAP_WORD_OWN 0x00000101u
#else
#define TAP_WORD_OWN 0x01010000u
#endif

TAP_INLINE bool tap_tracepoint_changed(const struct tracepoint *tp)
{
	uint32_t word = __atomic_load_n(tp->on, __ATOMIC_RELAXED);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint8_t)word != (uint8_t)(word >> 8) || word >> 24;
#else
	return (uint8_t)(word >> 24) != (uint8_t)(word >> 16) || (uint8_t)word;
#endif
}

/**
 * tracepoint_probe_register_prio() - Attach a probe to a tracepoint.
 * @prio: probes with higher values are called first, equal ones in the order of registration.
 *
 * Use register_trace_<event>() and register_trace_prio_<event>(), which check @probe's type.
 *
 * Return: 0; -EINVAL if @probe is NULL; -EEXIST if @probe is already registered with the same
 * @data; -EDEADLK if called by a regfunc or unregfunc; a negative return value of the tracepoint's
 * regfunc; -ENOMEM.
 */
TAP_API int tracepoint_probe_register_prio(struct tracepoint *tp, void *probe, void *data,
					   int prio);
TAP_API int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data);
/*
 * Like tracepoint_probe_register_prio(), for callers that expect -EEXIST. In the kernel this
 * variant only omits a warning; here there is no difference.
 */
TAP_API int tracepoint_probe_register_prio_may_exist(struct tracepoint *tp, void *probe, void *data,
						     int prio);
TAP_API int tracepoint_probe_register_may_exist(struct tracepoint *tp, void *probe, void *data);

/**
 * tracepoint_probe_unregister() - Detach a probe.
 *
 * The probe may still run in other threads until tracepoint_synchronize_unregister() has returned.
 *
 * Return: 0; -ENOENT if the probe is not registered; -EINVAL if @probe is NULL; -EDEADLK as for
 * tracepoint_probe_register_prio(); -ENOMEM.
 */
TAP_API int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data);

/**
 * tracepoint_synchronize_unregister() - Wait until no thread still runs a probe that was
 * unregistered before this call.
 */
TAP_API void tracepoint_synchronize_unregister(void);

/**
 * for_each_tracepoint() - Call @fct for the tracepoints of the program and of all loaded libraries.
 */
TAP_API void for_each_tracepoint(void (*fct)(struct tracepoint *tp, void *priv), void *priv);
#define for_each_kernel_tracepoint for_each_tracepoint

/* ---- loading and unloading of libraries ---- */

enum module_state {
	MODULE_STATE_LIVE,
	MODULE_STATE_COMING,
	MODULE_STATE_GOING,
	MODULE_STATE_UNFORMED,
};

struct notifier_block {
	/* @action: MODULE_STATE_COMING, _GOING; @data: struct tp_module */
	int (*notifier_call)(struct notifier_block *nb, unsigned long action, void *data);
	struct notifier_block *next; /* used by the library that keeps the list */
	int priority; /* notifiers with higher values are called first */
};

struct tap_object;

/* One object: the program, or a library loaded with dlopen(). */
struct tp_module {
	const struct tap_object *mod;
};

/** for_each_module_tracepoint() - Call @fct for the tracepoints of one object. */
TAP_API void for_each_module_tracepoint(void (*fct)(struct tracepoint *tp, void *priv),
					const struct tap_object *mod, void *priv);

/**
 * register_tracepoint_module_notifier() - Get notified when objects with tracepoints come and go.
 * @nb: owned by the caller; must stay valid until unregistered. It is called at once for each
 * object that is already loaded.
 *
 * Return: 0; -EEXIST if @nb is already registered (when unregistering: -ENOENT if it is not);
 * -EDEADLK if called by a notifier or within for_each_tracepoint(); -ENOMEM.
 */
TAP_API int register_tracepoint_module_notifier(struct notifier_block *nb);
TAP_API int unregister_tracepoint_module_notifier(struct notifier_block *nb);

/**
 * tap_trace_reason() - Get the reason why events are off, or are not all recorded.
 *
 * Return: a sentence, valid until another reason replaces it; NULL while nothing failed.
 */
TAP_API const char *tap_trace_reason(void);

TAP_C_END

/* ---- DECLARE_TRACE() and what it generates ---- */

/*
 * A tracepoint belongs to the object (program or library) that defines it. To use it in another
 * object, export it with EXPORT_TRACEPOINT_SYMBOL() after its definition, and define TRACE_IMPORT
 * in the other object before the header is included.
 */
#define TAP_TP_IMPORTED(name) tap_tracepoint_##name
#define TAP_ITER_IMPORTED(name) tap_traceiter_##name
#define TAP_LABEL(symbol) __asm__(TAP_STRING(__USER_LABEL_PREFIX__) TAP_STRING(symbol))

#ifndef NOTRACE

#define TAP_IS_SET(tp) tap_unlikely(tap_word_is_set((tp)->on))

#define __DECLARE_TRACE(name, proto, args, cond, data_proto)                                       \
	TAP_C_BEGIN                                                                                \
	TAP_CHECK_NONE(name, PARAMS(proto), PARAMS(args))                                          \
	TAP_TRACE_SYMBOLS(name, PARAMS(data_proto))                                                \
	/* calls the probes without a test, for callers of trace_<event>_enabled() */              \
	TAP_INLINE void trace_call__##name(proto)                                                  \
	{                                                                                          \
		if (cond)                                                                          \
			__traceiter_##name(NULL TAP_MORE(PARAMS(args), PARAMS(args)));             \
	}                                                                                          \
	TAP_INLINE void trace_##name(proto)                                                        \
	{                                                                                          \
		if (TAP_IS_WANTED(name))                                                           \
			trace_call__##name(args);                                                  \
	}                                                                                          \
	TAP_INLINE void trace_##name##_rcuidle(proto)                                              \
	{                                                                                          \
		trace_##name(args);                                                                \
	}                                                                                          \
	TAP_INLINE int register_trace_##name(__typeof__(__traceiter_##name) *probe, void *data)    \
	{                                                                                          \
		return tracepoint_probe_register(TAP_TP(name), (void *)probe, data);               \
	}                                                                                          \
	TAP_INLINE int register_trace_prio_##name(__typeof__(__traceiter_##name) *probe,           \
						  void *data, int prio)                            \
	{                                                                                          \
		return tracepoint_probe_register_prio(TAP_TP(name), (void *)probe, data, prio);    \
	}                                                                                          \
	TAP_INLINE int unregister_trace_##name(__typeof__(__traceiter_##name) *probe, void *data)  \
	{                                                                                          \
		return tracepoint_probe_unregister(TAP_TP(name), (void *)probe, data);             \
	}                                                                                          \
	TAP_INLINE void check_trace_callback_type_##name(__typeof__(__traceiter_##name) *cb)       \
	{                                                                                          \
		(void)cb;                                                                          \
	}                                                                                          \
	TAP_INLINE bool trace_##name##_enabled(void)                                               \
	{                                                                                          \
		return TAP_IS_WANTED(name);                                                        \
	}                                                                                          \
	TAP_C_END TAP_END

#define TAP_DEFINE_TRACE(_name, _reg, _unreg, proto, args)                                         \
	TAP_DEFINE_TRACE_1(_name, _reg, _unreg,                                                    \
			   PARAMS(void *__data TAP_MORE(PARAMS(args), PARAMS(proto))),             \
			   TAP_MORE(PARAMS(args), PARAMS(args)))
#define TAP_DEFINE_TRACE_1(_name, _reg, _unreg, data_proto, more_args)                             \
	TAP_C_BEGIN                                                                                \
	struct tracepoint __tracepoint_##_name TAP_PACKED_IN = {                                   \
		#_name, &__tracepoint_##_name.off, NULL, _reg, _unreg, NULL, NULL,                 \
		0,	STATIC_KEY_INIT_FALSE                                                      \
	};                                                                                         \
	/* used: keeps the unused __data, so __traceiter_ need not move all other arguments */     \
	static __attribute__((noinline, used)) void __traceall_##_name(data_proto)                 \
	{                                                                                          \
		struct tracepoint_func *__it_func;                                                 \
		struct tap_thread *__self;                                                         \
		uint64_t __was;                                                                    \
                                                                                                   \
		if (tap_tracepoint_changed(&__tracepoint_##_name))                                 \
			tap_tracepoint_look(&__tracepoint_##_name);                                \
		__self = tap_section_begin(&__was);                                                \
		if (!__self) {                                                                     \
			tap_record_lose();                                                         \
			return;                                                                    \
		}                                                                                  \
		__it_func = __atomic_load_n(&__tracepoint_##_name.funcs, TAP_ORDER_FUNCS);         \
		if (__it_func) {                                                                   \
			do {                                                                       \
				__data = __it_func->data;                                          \
				((__typeof__(&__traceiter_##_name))__it_func->func)(               \
					__data more_args);                                         \
			} while ((++__it_func)->func);                                             \
		}                                                                                  \
		tap_section_end(__self, __was);                                                    \
	}                                                                                          \
	void __traceiter_##_name(data_proto)                                                       \
	{                                                                                          \
		const struct tracepoint *__tp = &__tracepoint_##_name;                             \
                                                                                                   \
		/* no read-side section: the event's probe cannot be unloaded before this code */  \
		if (tap_likely(__atomic_load_n(__tracepoint_##_name.on, __ATOMIC_ACQUIRE) ==       \
			       TAP_WORD_OWN)) {                                                    \
			__data = __tp->call;                                                       \
			((__typeof__(&__traceiter_##_name))__tp->own)(__data more_args);           \
		} else {                                                                           \
			__traceall_##_name(NULL more_args);                                        \
		}                                                                                  \
	}                                                                                          \
	TAP_C_END TAP_END

/* Lists the tracepoint in a section of its own, because no event refers to it. */
#define DEFINE_TRACE_FN(name, reg, unreg, proto, args)                                             \
	TAP_DEFINE_TRACE(name, reg, unreg, PARAMS(proto), PARAMS(args))                            \
	static struct tracepoint *const __tracepoint_ptr_##name                                    \
		__attribute__((used, section("__tap_tracepoints"))) = &__tracepoint_##name;        \
	TAP_END
#define DEFINE_TRACE(name, proto, args)                                                            \
	DEFINE_TRACE_FN(name, NULL, NULL, PARAMS(proto), PARAMS(args))

#define EXPORT_TRACEPOINT_SYMBOL(name)                                                             \
	TAP_C_BEGIN                                                                                \
	/* a pointer: the linker may give a program a copy of an imported object */                \
	extern TAP_API struct tracepoint *const TAP_TP_IMPORTED(name);                             \
	struct tracepoint *const TAP_TP_IMPORTED(name) = &__tracepoint_##name;                     \
	extern TAP_API __typeof__(__traceiter_##name) TAP_ITER_IMPORTED(name)                      \
		__attribute__((alias("__traceiter_" #name)));                                      \
	TAP_C_END TAP_END
#define EXPORT_TRACEPOINT_SYMBOL_GPL(name) EXPORT_TRACEPOINT_SYMBOL(name)

#else /* NOTRACE: calls of trace_<event>() compile to nothing */

#define __DECLARE_TRACE(name, proto, args, cond, data_proto)                                       \
	TAP_IGNORE_UNUSED                                                                          \
	TAP_INLINE void trace_##name(proto)                                                        \
	{                                                                                          \
	}                                                                                          \
	TAP_INLINE void trace_call__##name(proto)                                                  \
	{                                                                                          \
	}                                                                                          \
	TAP_INLINE void trace_##name##_rcuidle(proto)                                              \
	{                                                                                          \
	}                                                                                          \
	TAP_INLINE int register_trace_##name(void (*probe)(data_proto), void *data)                \
	{                                                                                          \
		(void)probe, (void)data;                                                           \
		return -ENOSYS;                                                                    \
	}                                                                                          \
	TAP_INLINE int register_trace_prio_##name(void (*probe)(data_proto), void *data, int prio) \
	{                                                                                          \
		(void)probe, (void)data, (void)prio;                                               \
		return -ENOSYS;                                                                    \
	}                                                                                          \
	TAP_INLINE int unregister_trace_##name(void (*probe)(data_proto), void *data)              \
	{                                                                                          \
		(void)probe, (void)data;                                                           \
		return -ENOSYS;                                                                    \
	}                                                                                          \
	TAP_INLINE void check_trace_callback_type_##name(void (*cb)(data_proto))                   \
	{                                                                                          \
		(void)cb;                                                                          \
	}                                                                                          \
	TAP_INLINE bool trace_##name##_enabled(void)                                               \
	{                                                                                          \
		return false;                                                                      \
	}                                                                                          \
	TAP_IGNORE_END TAP_END

#define DEFINE_TRACE_FN(name, reg, unreg, proto, args) TAP_END
#define DEFINE_TRACE(name, proto, args) TAP_END
#define EXPORT_TRACEPOINT_SYMBOL(name) TAP_END
#define EXPORT_TRACEPOINT_SYMBOL_GPL(name) TAP_END
#define TAP_IS_SET(tp) false

#endif

/*
 * Macros that event headers use. An event with the wrong number of parts gives one error where it
 * is declared, and nothing when the header is read again. `, ##parts` counts the parts and passes
 * them to TAP_ON_<macro>() before macros in them are expanded into lists.
 */
#define TRACE_EVENT(parts...) TAP_PARTS(6, TRACE_EVENT, ##parts)
#define TRACE_EVENT_FN(parts...) TAP_PARTS(8, TRACE_EVENT_FN, ##parts)
#define TRACE_EVENT_SYSCALL(parts...) TAP_PARTS(8, TRACE_EVENT_SYSCALL, ##parts)
#define TRACE_EVENT_CONDITION(parts...) TAP_PARTS(7, TRACE_EVENT_CONDITION, ##parts)
#define TRACE_EVENT_FN_COND(parts...) TAP_PARTS(9, TRACE_EVENT_FN_COND, ##parts)
#define TRACE_EVENT_NOP(parts...) TAP_PARTS(6, TRACE_EVENT_NOP, ##parts)
#define DECLARE_EVENT_CLASS(parts...) TAP_PARTS(6, DECLARE_EVENT_CLASS, ##parts)
#define DECLARE_EVENT_CLASS_NOP(parts...) TAP_PARTS(6, DECLARE_EVENT_CLASS_NOP, ##parts)
#define DECLARE_EVENT_NOP(parts...) TAP_PARTS(3, DECLARE_EVENT_NOP, ##parts)
#define DEFINE_EVENT(parts...) TAP_PARTS(4, DEFINE_EVENT, ##parts)
#define DEFINE_EVENT_FN(parts...) TAP_PARTS(6, DEFINE_EVENT_FN, ##parts)
#define DEFINE_EVENT_PRINT(parts...) TAP_PARTS(5, DEFINE_EVENT_PRINT, ##parts)
#define DEFINE_EVENT_CONDITION(parts...) TAP_PARTS(5, DEFINE_EVENT_CONDITION, ##parts)
#define DEFINE_EVENT_WRITABLE(parts...) TAP_PARTS(5, DEFINE_EVENT_WRITABLE, ##parts)
#define DEFINE_EVENT_NOP(parts...) TAP_PARTS(4, DEFINE_EVENT_NOP, ##parts)
#define DECLARE_TRACE(parts...) TAP_PARTS(3, DECLARE_TRACE, ##parts)
#define DECLARE_TRACE_CONDITION(parts...) TAP_PARTS(4, DECLARE_TRACE_CONDITION, ##parts)
#define DECLARE_TRACE_SYSCALL(parts...) TAP_PARTS(3, DECLARE_TRACE_SYSCALL, ##parts)
#define DECLARE_TRACE_WRITABLE(parts...) TAP_PARTS(4, DECLARE_TRACE_WRITABLE, ##parts)
#define DECLARE_TRACE_EVENT(parts...) TAP_PARTS(3, DECLARE_TRACE_EVENT, ##parts)
#define DECLARE_TRACE_EVENT_CONDITION(parts...) TAP_PARTS(4, DECLARE_TRACE_EVENT_CONDITION, ##parts)
#define DECLARE_TRACE_EVENT_SYSCALL(parts...) TAP_PARTS(3, DECLARE_TRACE_EVENT_SYSCALL, ##parts)
#define TRACE_CUSTOM_EVENT(parts...) TAP_PARTS(6, TRACE_CUSTOM_EVENT, ##parts)
#define DECLARE_CUSTOM_EVENT_CLASS(parts...) TAP_PARTS(6, DECLARE_CUSTOM_EVENT_CLASS, ##parts)
#define DEFINE_CUSTOM_EVENT(parts...) TAP_PARTS(4, DEFINE_CUSTOM_EVENT, ##parts)

#define TAP_PARTS(wanted, what, parts...)                                                          \
	TAP_PASTE(TAP_PARTS_, TAP_IS_RIGHT(wanted, TAP_COUNT(~, ##parts)))(wanted, what, ##parts)
#define TAP_PARTS_1(wanted, what, parts...) TAP_ON_##what(~, ##parts)
#define TAP_PARTS_0(wanted, what, parts...) TAP_WRONG_EVENT(TAP_WRONG_TEXT(wanted, what, ##parts))
/* TAP_PARTS() for fields: they are expanded in arguments of TAP_PARTS(), where it cannot recur */
/* clang-format off */
#define TAP_FIELD_PARTS(wanted, what, parts...)                                                    \
	TAP_PASTE(TAP_FIELD_PARTS_, TAP_IS_RIGHT(wanted, TAP_COUNT(~, ##parts)))                   \
	(wanted, what, ##parts)
/* clang-format on */
#define TAP_FIELD_PARTS_1(wanted, what, parts...) TAP_ON_##what(~, ##parts)
#define TAP_FIELD_PARTS_0(wanted, what, parts...)                                                  \
	TAP_WRONG_FIELD(TAP_WRONG_TEXT(wanted, what, ##parts))

/* clang-format off */
#define TAP_WRONG_TEXT(wanted, what, name, parts...)                                               \
	#what "(" #name ", ...) has " TAP_STRING(TAP_COUNT(~, name, ##parts)) " parts, not "       \
	      #wanted ": a comma is missing, or there is one too many"
/* clang-format on */
#define TAP_IS_RIGHT(wanted, nr) TAP_IS_RIGHT_1(wanted, nr)
#define TAP_IS_RIGHT_1(wanted, nr) TAP_ENABLED_2(TAP_RIGHT_##wanted##_##nr)
#define TAP_RIGHT_1_1 0,
#define TAP_RIGHT_2_2 0,
#define TAP_RIGHT_3_3 0,
#define TAP_RIGHT_4_4 0,
#define TAP_RIGHT_5_5 0,
#define TAP_RIGHT_6_6 0,
#define TAP_RIGHT_7_7 0,
#define TAP_RIGHT_8_8 0,
#define TAP_RIGHT_9_9 0,
#define TAP_COUNT(x, parts...)                                                                     \
	TAP_COUNT_1(x, ##parts, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define TAP_COUNT_1(x, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, nr, ...) nr

/*
 * The kernel's DECLARE_TRACE(foo) makes trace_foo() before v6.16, and trace_foo_tp() since then.
 * Here it makes trace_foo_tp() if the program defines TAP_DECLARE_TRACE_TP (as 1 or as nothing),
 * else trace_foo(). DECLARE_TRACE_EVENT(foo) always makes trace_foo().
 */
#define TAP_BARE_NAME(name) TAP_PASTE(TAP_BARE_NAME_, TAP_DECLARE_TRACE_TP)(name)
#define TAP_BARE_NAME_1(name) name##_tp
#define TAP_BARE_NAME_(name) name##_tp
#define TAP_BARE_NAME_TAP_DECLARE_TRACE_TP(name) name
#define TAP_ON_DECLARE_TRACE(x, name, proto, args)                                                 \
	TAP_ON_DECLARE_TRACE_EVENT(~, TAP_BARE_NAME(name), PARAMS(proto), PARAMS(args))
#define TAP_ON_DECLARE_TRACE_CONDITION(x, name, proto, args, cond)                                 \
	TAP_ON_DECLARE_TRACE_EVENT_CONDITION(~, TAP_BARE_NAME(name), PARAMS(proto), PARAMS(args),  \
					     PARAMS(cond))
#define TAP_ON_DECLARE_TRACE_WRITABLE(x, name, proto, args, size)                                  \
	TAP_ON_DECLARE_TRACE_EVENT(~, name, PARAMS(proto), PARAMS(args))

/*
 * In the kernel, probes of _SYSCALL tracepoints may take page faults. In a program every probe may.
 */
#define TAP_ON_DECLARE_TRACE_SYSCALL(x, parts...) TAP_ON_DECLARE_TRACE(~, ##parts)
#define TAP_ON_DECLARE_TRACE_EVENT_SYSCALL(x, parts...) TAP_ON_DECLARE_TRACE_EVENT(~, ##parts)
#define TAP_ON_TRACE_EVENT_SYSCALL(x, parts...) TAP_ON_TRACE_EVENT_FN(~, ##parts)
#define DEFINE_TRACE_SYSCALL(parts...) DEFINE_TRACE_FN(parts)

/* For headers that cannot include the event header: they can only use tracepoint_enabled(). */
/* clang-format off */
#define DECLARE_TRACEPOINT(tp)                                                                     \
	TAP_C_BEGIN extern TAP_HIDDEN struct tracepoint __tracepoint_##tp; TAP_C_END TAP_END
/* clang-format on */
#define tracepoint_enabled(tp) TAP_IS_SET(&__tracepoint_##tp)

/*
 * In the kernel, makes a string known to tools because its address is recorded. Here it is just the
 * string.
 */
#define tracepoint_string(str) ((const char *)(str))

#endif /* SCHEDTAP_TRACEPOINT_H */

/* ---- the rest is read again for each event header ---- */

#undef TAP_IS_WANTED
#undef TAP_TP
#undef TAP_TRACE_SYMBOLS
#ifdef TRACE_IMPORT
#define TAP_IS_WANTED(name) TAP_IS_SET(TAP_TP_IMPORTED(name))
#define TAP_TP(name) TAP_TP_IMPORTED(name)
#define TAP_TRACE_SYMBOLS(name, data_proto)                                                        \
	extern TAP_API struct tracepoint *const TAP_TP_IMPORTED(name);                             \
	TAP_API void __traceiter_##name(data_proto) TAP_LABEL(TAP_ITER_IMPORTED(name));
#else
#define TAP_TP(name) (&__tracepoint_##name)
#if TAP_PATCHED && TAP_STATIC_KEYS_is == TAP_STATIC_KEYS_is_usdt
#define TAP_IS_WANTED(name)                                                                        \
	TAP_BRANCH_USDT(&__tracepoint_##name.key, TAP_STRING(TRACE_SYSTEM), #name)
#elif TAP_PATCHED
#define TAP_IS_WANTED(name) static_key_false(&__tracepoint_##name.key)
#else
#define TAP_IS_WANTED(name) TAP_IS_SET(&__tracepoint_##name)
#endif
#define TAP_TRACE_SYMBOLS(name, data_proto)                                                        \
	extern TAP_HIDDEN struct tracepoint __tracepoint_##name;                                   \
	TAP_HIDDEN void __traceiter_##name(data_proto);
#endif

#ifndef TAP_ON_DECLARE_TRACE_EVENT
#define TAP_ON_DECLARE_TRACE_EVENT(x, name, proto, args)                                           \
	__DECLARE_TRACE(name, PARAMS(proto), PARAMS(args), 1,                                      \
			PARAMS(void *__data TAP_MORE(PARAMS(args), PARAMS(proto))))
#define TAP_ON_DECLARE_TRACE_EVENT_CONDITION(x, name, proto, args, cond)                           \
	__DECLARE_TRACE(name, PARAMS(proto), PARAMS(args), PARAMS(cond),                           \
			PARAMS(void *__data TAP_MORE(PARAMS(args), PARAMS(proto))))
#endif

#ifndef TAP_ON_TRACE_EVENT
#define TAP_WRONG_EVENT(text)                                                                      \
	TAP_STATIC_ASSERT(0, text);                                                                \
	TAP_END
/*
 * Outside of <schedtap/define_trace.h>, TRACE_EVENT() and its variants only declare a tracepoint.
 */
#define TAP_ON_DECLARE_EVENT_CLASS(x, name, proto, args, tstruct, assign, print) TAP_END
#define TAP_ON_DEFINE_EVENT(x, template, name, proto, args)                                        \
	TAP_ON_DECLARE_TRACE_EVENT(~, name, PARAMS(proto), PARAMS(args))
#define TAP_ON_DEFINE_EVENT_FN(x, template, name, proto, args, reg, unreg)                         \
	TAP_ON_DECLARE_TRACE_EVENT(~, name, PARAMS(proto), PARAMS(args))
#define TAP_ON_DEFINE_EVENT_PRINT(x, template, name, proto, args, print)                           \
	TAP_ON_DECLARE_TRACE_EVENT(~, name, PARAMS(proto), PARAMS(args))
#define TAP_ON_DEFINE_EVENT_CONDITION(x, template, name, proto, args, cond)                        \
	TAP_ON_DECLARE_TRACE_EVENT_CONDITION(~, name, PARAMS(proto), PARAMS(args), PARAMS(cond))
#define TAP_ON_DEFINE_EVENT_WRITABLE(x, template, name, proto, args, size)                         \
	TAP_ON_DECLARE_TRACE_EVENT(~, name, PARAMS(proto), PARAMS(args))

#define TAP_ON_TRACE_EVENT(x, name, proto, args, struct, assign, print)                            \
	TAP_ON_DECLARE_TRACE_EVENT(~, name, PARAMS(proto), PARAMS(args))
#define TAP_ON_TRACE_EVENT_FN(x, name, proto, args, struct, assign, print, reg, unreg)             \
	TAP_ON_DECLARE_TRACE_EVENT(~, name, PARAMS(proto), PARAMS(args))
#define TAP_ON_TRACE_EVENT_CONDITION(x, name, proto, args, cond, struct, assign, print)            \
	TAP_ON_DECLARE_TRACE_EVENT_CONDITION(~, name, PARAMS(proto), PARAMS(args), PARAMS(cond))
#define TAP_ON_TRACE_EVENT_FN_COND(x, name, proto, args, cond, struct, assign, print, reg, unreg)  \
	TAP_ON_DECLARE_TRACE_EVENT_CONDITION(~, name, PARAMS(proto), PARAMS(args), PARAMS(cond))

/* _NOP: the event does not exist, but calls of trace_<event>() compile. */
#define TAP_DECLARE_NOP(name, proto)                                                               \
	TAP_IGNORE_UNUSED                                                                          \
	TAP_INLINE void trace_##name(proto)                                                        \
	{                                                                                          \
	}                                                                                          \
	TAP_INLINE void trace_call__##name(proto)                                                  \
	{                                                                                          \
	}                                                                                          \
	TAP_INLINE bool trace_##name##_enabled(void)                                               \
	{                                                                                          \
		return false;                                                                      \
	}                                                                                          \
	TAP_IGNORE_END TAP_END
#define TAP_ON_TRACE_EVENT_NOP(x, name, proto, args, struct, assign, print)                        \
	TAP_DECLARE_NOP(name, PARAMS(proto))
#define TAP_ON_DECLARE_EVENT_NOP(x, name, proto, args) TAP_DECLARE_NOP(name, PARAMS(proto))
#define TAP_ON_DECLARE_EVENT_CLASS_NOP(x, name, proto, args, tstruct, assign, print) TAP_END
#define TAP_ON_DEFINE_EVENT_NOP(x, template, name, proto, args) TAP_DECLARE_NOP(name, PARAMS(proto))

/* A custom event records from a tracepoint that another header declares. */
#define TAP_ON_TRACE_CUSTOM_EVENT(x, name, proto, args, struct, assign, print) TAP_END
#define TAP_ON_DECLARE_CUSTOM_EVENT_CLASS(x, name, proto, args, tstruct, assign, print) TAP_END
#define TAP_ON_DEFINE_CUSTOM_EVENT(x, template, name, proto, args) TAP_END

/* Permissions of perf users, and values for tools that read the print format. */
#define TRACE_EVENT_FLAGS(event, flag) TAP_END
#define TRACE_EVENT_PERF_PERM(event, expr...) TAP_END
#define TRACE_DEFINE_ENUM(a) TAP_END
#define TRACE_DEFINE_SIZEOF(a) TAP_END
#endif
