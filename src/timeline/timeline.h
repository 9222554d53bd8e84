/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who ran where, as far as the events tell. Fed events and losses in time order, it keeps for
 * each CPU what it runs (a task, idle, or unknown) and for each task the time it ran and the
 * latency of its wakeups. A switch whose "prev" is not the task that was switched in before is a
 * broken chain: the time since then belongs to nobody and is counted as unknown.
 *
 * No I/O, no clock, no globals.
 */
#ifndef TAP_TIMELINE_H
#define TAP_TIMELINE_H

#include "base/map.h"
#include <schedtap/event.h>

#define TAP_TIMELINE_MAX_CPUS 65536u
#define TAP_TIMELINE_COMM 16u

struct tap_timeline_cpu {
	bool seen;
	uint64_t run_ns, idle_ns, unknown_ns; /* add up to the window */
	uint64_t switches, chain_breaks;
	uint64_t lost; /* events */
};

struct tap_timeline_task {
	int tid; /* a tid that was given out again is a task of its own */
	char comm[TAP_TIMELINE_COMM]; /* the last one seen, not NUL-terminated when full */
	uint64_t run_ns, slices;
	uint64_t wakeups; /* waking -> switched in, both seen and nothing lost between */
	uint64_t latency_sum_ns, latency_max_ns, latency_max_at_ns;
};

struct tap_timeline;

int tap_timeline_new(struct tap_timeline **out);
void tap_timeline_free(struct tap_timeline *t);

/*
 * The window: events outside do not count, slices are cut at its borders. Call once, before the
 * first event. @start_ns 0: from the first event; @end_ns 0: to the last; so it is without this.
 */
void tap_timeline_window(struct tap_timeline *t, uint64_t start_ns, uint64_t end_ns);
/* Whether an event that was fed is in the window, or a loss reaches into it. */
bool tap_timeline_counts(const struct tap_timeline *t, const struct tap_event *ev);
/* Return: 0 or -ENOMEM. An event that it has no use for is ignored. */
int tap_timeline_event(struct tap_timeline *t, const struct tap_event *ev);
/* Closes all that is open at the window's end. Return: 0 or -ENOMEM. */
int tap_timeline_end(struct tap_timeline *t);

/* Results, valid after tap_timeline_end(). */
void tap_timeline_span(const struct tap_timeline *t, uint64_t *start_ns, uint64_t *end_ns);
const struct tap_timeline_cpu *tap_timeline_cpus(const struct tap_timeline *t, unsigned int *nr);
/* Sorted by run time, longest first; task 0 (idle) is not among them. */
const struct tap_timeline_task *tap_timeline_tasks(const struct tap_timeline *t, unsigned int *nr);

#endif
