/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which interrupt each CPU is in, as their events tell: it is what wakes there, and not who was
 * interrupted. */
#ifndef TAP_CRITICAL_INTERRUPTS_H
#define TAP_CRITICAL_INTERRUPTS_H

#include <schedtap/reader.h>

#include "analysis/critical/log.h"

struct tap_interrupts { /* all zero: nothing is known */
	bool tells_timers; /* a timer's interrupt was told */
	/* inside */
	bool wakeups_tell; /* whether they come in an interrupt */
	struct tap_interrupt_source *sources; /* owned; by kind of event */
	unsigned int nr_sources, cap_sources;
	struct tap_interrupts_cpu *cpus; /* owned */
	unsigned int nr_cpus;
};

void tap_interrupts_release(struct tap_interrupts *i);
bool tap_interrupts_want(const struct tap_format *fmt);
/* Return: 0 or -ENOMEM. */
int tap_interrupts_event(struct tap_interrupts *i, const struct tap_event *ev);
/* Events of a CPU were lost, until now. Return: 0 or -ENOMEM. */
int tap_interrupts_lost(struct tap_interrupts *i, const struct tap_event *ev);
/* Who wakes: the interrupt that the CPU is in, or the task that runs there. @w: told just now.
 * Return: enum tap_woken. */
uint32_t tap_interrupts_waker(struct tap_interrupts *i, const struct tap_timeline *timeline,
			      const struct tap_wakeup *w);

#endif
