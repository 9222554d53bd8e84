/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The interrupt that each CPU is in, from interrupt events. A wakeup in an interrupt is caused by
 * the interrupt, not by the task that it interrupted.
 */
#ifndef TAP_CRITICAL_INTERRUPTS_H
#define TAP_CRITICAL_INTERRUPTS_H

#include <schedtap/reader.h>

#include "analysis/critical/log.h"

struct tap_interrupts { /* all zero: empty */
	bool tells_timers; /* an event of a timer interrupt was recorded */
	/* private */
	bool wakeups_tell; /* a wakeup was flagged as one in an interrupt, so all of these are */
	struct tap_interrupt_source *sources; /* owned; by format */
	unsigned int nr_sources, cap_sources;
	struct tap_interrupts_cpu *cpus; /* owned */
	unsigned int nr_cpus;
};

void tap_interrupts_release(struct tap_interrupts *i);
bool tap_interrupts_want(const struct tap_format *fmt);
/* Return: 0 or -ENOMEM. */
int tap_interrupts_event(struct tap_interrupts *i, const struct tap_event *ev);
/*
 * Events of the CPU, or of all CPUs if ev->cpu is negative, were lost up to now. Return: 0 or
 * -ENOMEM.
 */
int tap_interrupts_lost(struct tap_interrupts *i, const struct tap_event *ev);
/*
 * Return what performs a wakeup, as enum tap_woken: the interrupt that the CPU is in, or the task
 * that runs there. @w: the wakeup that is being reported.
 */
uint32_t tap_interrupts_waker(struct tap_interrupts *i, const struct tap_timeline *timeline,
			      const struct tap_wakeup *w);

#endif
