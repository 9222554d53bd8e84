/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Static calls: functions that are replaced at run time. The kernel's API (linux/static_call.h)
 * over a pointer: patching the call would save nothing that can be measured in user space. What was
 * written before static_call_update() is seen by the function that it names.
 *
 * The arguments of static_call_cond() are evaluated even where nothing is called.
 */
#pragma GCC system_header
#ifndef SCHEDTAP_STATIC_CALL_H
#define SCHEDTAP_STATIC_CALL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STATIC_CALL_KEY(name) tap_static_call_##name

/* @func: here only its type counts */
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

/* Stands for functions of every type: who calls cleans up, and one register returns. */
static inline __attribute__((unused)) long __static_call_return0(void)
{
	return 0;
}

#define static_call_query(name) __atomic_load_n(&STATIC_CALL_KEY(name), __ATOMIC_ACQUIRE)
#define static_call(name) (*static_call_query(name))
#define static_call_mod(name) static_call(name)

/* Not for functions that return something: they return it to nobody. */
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

/* The linker exports what the rest of the program exports. */
#define EXPORT_STATIC_CALL(name) extern __typeof__(STATIC_CALL_KEY(name)) STATIC_CALL_KEY(name)
#define EXPORT_STATIC_CALL_GPL(name) EXPORT_STATIC_CALL(name)
#define EXPORT_STATIC_CALL_TRAMP(name) EXPORT_STATIC_CALL(name)
#define EXPORT_STATIC_CALL_TRAMP_GPL(name) EXPORT_STATIC_CALL(name)

#ifdef __cplusplus
}
#endif
#endif
