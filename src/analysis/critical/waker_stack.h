/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Find out from the kernel stack of a wakeup whether a task or an interrupt performed it. */
#ifndef TAP_CRITICAL_WAKER_STACK_H
#define TAP_CRITICAL_WAKER_STACK_H

#include "analysis/critical/log.h"

/*
 * @names: function names, innermost first, separated by newlines. Return: TAP_WOKEN_NOT_KNOWN: the
 * stack contains no interrupt; TAP_WOKEN_BY_TASK: it contains a softirq that the task itself
 * raised, for example by sending to the same machine.
 */
enum tap_woken tap_woken_of_stack(const char *names, size_t len);

#endif
