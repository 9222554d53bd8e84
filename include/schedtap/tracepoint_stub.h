/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces <schedtap/tracepoint.h> where the library is not installed: a project keeps a copy of
 * this file, and its events compile to nothing there. trace_<event>() accepts the declared
 * arguments, evaluates each once and does nothing; trace_<event>_enabled() is false; no probe is
 * ever called, and there is nothing to link. C11 and C++11.
 *
 * An event header that begins and ends like this uses the library if it is installed:
 *
 * 	#if __has_include(<schedtap/tracepoint.h>)
 * 	#include <schedtap/tracepoint.h>
 * 	#else
 * 	#include "tracepoint_stub.h"
 * 	#endif
 * 	...
 * 	#if __has_include(<schedtap/define_trace.h>)
 * 	#include <schedtap/define_trace.h>
 * 	#endif
 *
 * For an event header that must not be changed, put copies of this file called
 * schedtap/tracepoint.h and schedtap/define_trace.h into a folder that is last in the include path
 * (-idirafter).
 *
 * Static keys and static calls are not provided: programs depend on their effects.
 */
#ifdef SCHEDTAP_TRACEPOINT_H
/* the library's own header has already been included */
#elif defined(SCHEDTAP_TRACEPOINT_STUB_H)
/*
 * Included in place of define_trace.h: the last TAP_STUB_END applies to this declaration if its
 * semicolon is missing.
 */
struct tap_stub;
#else
#define SCHEDTAP_TRACEPOINT_STUB_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A program with a u64 of its own defines TAP_NO_KERNEL_TYPES. */
#ifndef TAP_NO_KERNEL_TYPES
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;
#endif

#define TAP_STUB static inline __attribute__((unused))
#define TAP_STUB_STRING_1(...) #__VA_ARGS__
#ifndef __stringify
#define __stringify(...) TAP_STUB_STRING_1(__VA_ARGS__)
#endif
#ifndef PARAMS
#define PARAMS(...) __VA_ARGS__
#endif
#define TP_PROTO(...) __VA_ARGS__
#define TP_ARGS(...) __VA_ARGS__
#define TP_CONDITION(...) __VA_ARGS__
#define TRACEPOINT_DEFAULT_PRIO 10

/* TAP_STUB_PROBE(proto): a probe's type. A void means no argument, also after the data pointer. */
#ifdef __cplusplus
extern "C++" {
template <class> struct tap_stub_probe;
template <class... Args> struct tap_stub_probe<void(Args...)> {
	typedef void (*type)(void *, Args...);
};
}
#define TAP_STUB_PROBE(...) tap_stub_probe<void(__VA_ARGS__)>::type
#define TAP_STUB_END
#else
#define TAP_STUB_PROBE(...) TAP_STUB_PROBE_1(TAP_STUB_KIND(__VA_ARGS__, ), __VA_ARGS__)
#define TAP_STUB_PROBE_1(kind, ...) TAP_STUB_PROBE_2(kind, __VA_ARGS__)
#define TAP_STUB_PROBE_2(kind, ...) TAP_STUB_PROBE_##kind(__VA_ARGS__)
#define TAP_STUB_PROBE_some(...) __typeof__(void (*)(void *, __VA_ARGS__))
#define TAP_STUB_PROBE_none(...) __typeof__(void (*)(void *))
#define TAP_STUB_KIND(first, ...) TAP_STUB_SECOND(TAP_STUB_IF_##first(, none), some, )
/*
 * for a "void (*f)(int)" the argument is "*f": the result has no comma, so it is not taken for
 * (void)
 */
#define TAP_STUB_IF_void(...) __VA_ARGS__
#define TAP_STUB_SECOND(...) TAP_STUB_SECOND_1(__VA_ARGS__)
#define TAP_STUB_SECOND_1(first, second, ...) second
/* ISO C does not allow the semicolon that follows a macro without this; with it, one must follow */
#define TAP_STUB_END __extension__
#endif

struct tracepoint;
struct notifier_block;
struct tap_object;

/* Probes cannot be attached: all functions that register or unregister one return -ENOSYS. */
TAP_STUB int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data)
{
	(void)tp, (void)probe, (void)data;
	return -ENOSYS;
}

TAP_STUB int tracepoint_probe_register_prio(struct tracepoint *tp, void *probe, void *data,
					    int prio)
{
	(void)prio;
	return tracepoint_probe_register(tp, probe, data);
}

TAP_STUB int tracepoint_probe_register_may_exist(struct tracepoint *tp, void *probe, void *data)
{
	return tracepoint_probe_register(tp, probe, data);
}

TAP_STUB int tracepoint_probe_register_prio_may_exist(struct tracepoint *tp, void *probe,
						      void *data, int prio)
{
	return tracepoint_probe_register_prio(tp, probe, data, prio);
}

TAP_STUB int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data)
{
	return tracepoint_probe_register(tp, probe, data);
}

TAP_STUB void tracepoint_synchronize_unregister(void)
{
}

/* The stub has no tracepoints: never calls @fct. */
TAP_STUB void for_each_tracepoint(void (*fct)(struct tracepoint *tp, void *priv), void *priv)
{
	(void)fct, (void)priv;
}
#define for_each_kernel_tracepoint for_each_tracepoint

TAP_STUB void for_each_module_tracepoint(void (*fct)(struct tracepoint *tp, void *priv),
					 const struct tap_object *mod, void *priv)
{
	(void)fct, (void)mod, (void)priv;
}

TAP_STUB int register_tracepoint_module_notifier(struct notifier_block *nb)
{
	(void)nb;
	return -ENOSYS;
}

TAP_STUB int unregister_tracepoint_module_notifier(struct notifier_block *nb)
{
	(void)nb;
	return -ENOSYS;
}

TAP_STUB const char *tap_trace_reason(void)
{
	return "the program was built without libschedtap-tracepoint";
}

#define TAP_STUB_CALL(name, ...)                                                                   \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunused-parameter\"")    \
		TAP_STUB void trace_##name(__VA_ARGS__)                                            \
	{                                                                                          \
	}                                                                                          \
	TAP_STUB void trace_call__##name(__VA_ARGS__)                                              \
	{                                                                                          \
	}                                                                                          \
	TAP_STUB void trace_##name##_rcuidle(__VA_ARGS__)                                          \
	{                                                                                          \
	}                                                                                          \
	_Pragma("GCC diagnostic pop") TAP_STUB bool trace_##name##_enabled(void)                   \
	{                                                                                          \
		return false;                                                                      \
	}

#define TAP_STUB_TRACE(name, ...)                                                                  \
	TAP_STUB_CALL(name, __VA_ARGS__)                                                           \
	TAP_STUB int register_trace_##name(TAP_STUB_PROBE(__VA_ARGS__) probe, void *data)          \
	{                                                                                          \
		(void)probe, (void)data;                                                           \
		return -ENOSYS;                                                                    \
	}                                                                                          \
	TAP_STUB int register_trace_prio_##name(TAP_STUB_PROBE(__VA_ARGS__) probe, void *data,     \
						int prio)                                          \
	{                                                                                          \
		(void)probe, (void)data, (void)prio;                                               \
		return -ENOSYS;                                                                    \
	}                                                                                          \
	TAP_STUB int unregister_trace_##name(TAP_STUB_PROBE(__VA_ARGS__) probe, void *data)        \
	{                                                                                          \
		(void)probe, (void)data;                                                           \
		return -ENOSYS;                                                                    \
	}                                                                                          \
	TAP_STUB void check_trace_callback_type_##name(TAP_STUB_PROBE(__VA_ARGS__) probe)          \
	{                                                                                          \
		(void)probe;                                                                       \
	}                                                                                          \
	TAP_STUB_END

/* with the suffix _tp, as in the kernel since v6.16, if the program defines TAP_DECLARE_TRACE_TP */
#define TAP_STUB_BARE(name, ...) TAP_STUB_BARE_IN(TAP_DECLARE_TRACE_TP, name, __VA_ARGS__)
#define TAP_STUB_BARE_IN(tp, ...) TAP_STUB_BARE_TO(tp, __VA_ARGS__)
#define TAP_STUB_BARE_TO(tp, ...) TAP_STUB_BARE_##tp(__VA_ARGS__)
#define TAP_STUB_BARE_1(name, ...) TAP_STUB_TRACE(name##_tp, __VA_ARGS__)
#define TAP_STUB_BARE_(name, ...) TAP_STUB_TRACE(name##_tp, __VA_ARGS__)
#define TAP_STUB_BARE_TAP_DECLARE_TRACE_TP(name, ...) TAP_STUB_TRACE(name, __VA_ARGS__)
#define DECLARE_TRACE(name, proto, args) TAP_STUB_BARE(name, proto)
#define DECLARE_TRACE_CONDITION(name, proto, args, cond) TAP_STUB_BARE(name, proto)
#define DECLARE_TRACE_SYSCALL(name, proto, args) TAP_STUB_BARE(name, proto)
#define DECLARE_TRACE_WRITABLE(name, proto, args, size) TAP_STUB_TRACE(name, proto)
#define DECLARE_TRACE_EVENT(name, proto, args) TAP_STUB_TRACE(name, proto)
#define DECLARE_TRACE_EVENT_CONDITION(name, proto, args, cond) TAP_STUB_TRACE(name, proto)
#define DECLARE_TRACE_EVENT_SYSCALL(name, proto, args) TAP_STUB_TRACE(name, proto)
#define DEFINE_TRACE(name, proto, args) TAP_STUB_END
#define DEFINE_TRACE_FN(name, reg, unreg, proto, args) TAP_STUB_END
#define DEFINE_TRACE_SYSCALL(name, reg, unreg, proto, args) TAP_STUB_END
#define EXPORT_TRACEPOINT_SYMBOL(name) TAP_STUB_END
#define EXPORT_TRACEPOINT_SYMBOL_GPL(name) TAP_STUB_END
#define DECLARE_TRACEPOINT(tp) TAP_STUB_END
#define tracepoint_enabled(tp) false
#define tracepoint_string(str) ((const char *)(str))

#define TRACE_EVENT(name, proto, args, tstruct, assign, print) TAP_STUB_TRACE(name, proto)
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, reg, unreg)                      \
	TAP_STUB_TRACE(name, proto)
#define TRACE_EVENT_SYSCALL(name, proto, args, tstruct, assign, print, reg, unreg)                 \
	TAP_STUB_TRACE(name, proto)
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print)                     \
	TAP_STUB_TRACE(name, proto)
#define TRACE_EVENT_FN_COND(name, proto, args, cond, tstruct, assign, print, reg, unreg)           \
	TAP_STUB_TRACE(name, proto)
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print) TAP_STUB_END
#define DEFINE_EVENT(template, name, proto, args) TAP_STUB_TRACE(name, proto)
#define DEFINE_EVENT_FN(template, name, proto, args, reg, unreg) TAP_STUB_TRACE(name, proto)
#define DEFINE_EVENT_PRINT(template, name, proto, args, print) TAP_STUB_TRACE(name, proto)
#define DEFINE_EVENT_CONDITION(template, name, proto, args, cond) TAP_STUB_TRACE(name, proto)
#define DEFINE_EVENT_WRITABLE(template, name, proto, args, size) TAP_STUB_TRACE(name, proto)

#define TRACE_EVENT_NOP(name, proto, args, tstruct, assign, print)                                 \
	TAP_STUB_CALL(name, proto) TAP_STUB_END
#define DECLARE_EVENT_NOP(name, proto, args) TAP_STUB_CALL(name, proto) TAP_STUB_END
#define DECLARE_EVENT_CLASS_NOP(name, proto, args, tstruct, assign, print) TAP_STUB_END
#define DEFINE_EVENT_NOP(template, name, proto, args) TAP_STUB_CALL(name, proto) TAP_STUB_END

#define TRACE_CUSTOM_EVENT(name, proto, args, tstruct, assign, print) TAP_STUB_END
#define DECLARE_CUSTOM_EVENT_CLASS(name, proto, args, tstruct, assign, print) TAP_STUB_END
#define DEFINE_CUSTOM_EVENT(template, name, proto, args) TAP_STUB_END

/* the kernel's headers have no semicolon after these */
#define TRACE_EVENT_FLAGS(event, flag)
#define TRACE_EVENT_PERF_PERM(event, ...)
#define TRACE_DEFINE_ENUM(a) TAP_STUB_END
#define TRACE_DEFINE_SIZEOF(a) TAP_STUB_END

#endif
