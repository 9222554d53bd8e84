/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Static calls: functions that are replaced at run time, with the kernel's API
 * (linux/static_call.h). Calls go through a pointer: patching them would save nothing measurable in
 * user space. The new function sees everything written before static_call_update().
 *
 * Unlike the kernel's, static_call_cond() evaluates its arguments even if it calls nothing.
 */
#pragma GCC system_header
#ifndef SCHEDTAP_STATIC_CALL_H
#define SCHEDTAP_STATIC_CALL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STATIC_CALL_KEY(name) tap_static_call_##name

/* @func: only its type matters here */
#define DECLARE_STATIC_CALL(name, func) extern __typeof__(&(func)) STATIC_CALL_KEY(name)
#define DEFINE_STATIC_CALL(name, func)                                                             \
	DECLARE_STATIC_CALL(name, func);                                                           \
	__typeof__(&(func)) STATIC_CALL_KEY(name) = (func)
#define DEFINE_STATIC_CALL_NULL(name, func)                                                        \
	DECLARE_STATIC_CALL(name, func);                                                           \
	__typeof__(&(func)) STATIC_CALL_KEY(name) = NULL
#define DEFINE_STATIC_CALL_RET0(name, func)                                                        \
	DECLARE_STATIC_CALL(name, func);                                                           \
	__typeof__(&(func)) STATIC_CALL_KEY(name) =                                                \
		(__typeof__(&(func)))(void (*)(void))__static_call_return0

/*
 * Called in place of functions of any type: the caller cleans up the stack, and the result fits in
 * one register.
 */
static inline __attribute__((unused)) long __static_call_return0(void)
{
	return 0;
}

#define static_call_query(name) __atomic_load_n(&STATIC_CALL_KEY(name), __ATOMIC_ACQUIRE)
#define static_call(name) (*static_call_query(name))
#define static_call_mod(name) static_call(name)

/* Discards the function's return value. */
#define static_call_cond(name)                                                                     \
	(void)(*__extension__({                                                                    \
		__typeof__(STATIC_CALL_KEY(name)) tap_func = static_call_query(name);              \
		tap_func ? tap_func : (__typeof__(tap_func))(void (*)(void))__static_call_return0; \
	}))

#define static_call_update(name, func)                                                             \
	__extension__({                                                                            \
		__typeof__(STATIC_CALL_KEY(name)) tap_func = (func);                               \
		__atomic_store_n(&STATIC_CALL_KEY(name), tap_func, __ATOMIC_RELEASE);              \
	})

/* Nothing to do: keys are exported like the program's other symbols. */
#define EXPORT_STATIC_CALL(name) extern __typeof__(STATIC_CALL_KEY(name)) STATIC_CALL_KEY(name)
#define EXPORT_STATIC_CALL_GPL(name) EXPORT_STATIC_CALL(name)
#define EXPORT_STATIC_CALL_TRAMP(name) EXPORT_STATIC_CALL(name)
#define EXPORT_STATIC_CALL_TRAMP_GPL(name) EXPORT_STATIC_CALL(name)

#ifdef __cplusplus
}
#endif
#endif
