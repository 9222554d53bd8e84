/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the stack of a wakeup says about who woke: a task, or an interrupt that came upon it. */
#ifndef TAP_CRITICAL_WAKER_STACK_H
#define TAP_CRITICAL_WAKER_STACK_H

#include "analysis/critical/log.h"

/*
 * @names: of the kernel's functions, innermost first, a line each. Return: TAP_WOKEN_NOT_KNOWN: no
 * interrupt is in it; TAP_WOKEN_BY_TASK: a softirq is, but it is what the task itself set off, as
 * who sends to this machine does.
 */
enum tap_woken tap_woken_of_stack(const char *names, size_t len);

#endif
