/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every change of what a CPU shows, in time order. A CPU's interval is known only when it ends (a
 * broken chain of switches makes it unknown from its start on), so changes are buffered until no
 * CPU can have an earlier one. If too many would be buffered because of one open interval, that
 * interval is reported as the timeline has it at that time; if it proves to be unknown, it is
 * reported as unknown from then on.
 */
#ifndef TAP_ANALYSIS_CPU_CHANGES_H
#define TAP_ANALYSIS_CPU_CHANGES_H

#include "timeline/timeline.h"
#include "analysis/cpu_order.h"

enum tap_cpu_shows {
	TAP_CPU_SHOWS_UNKNOWN = TAP_CPU_UNKNOWN, /* also before a CPU's first change */
	TAP_CPU_SHOWS_OFFLINE = TAP_CPU_OFFLINE,
	TAP_CPU_SHOWS_IDLE = TAP_CPU_IDLE,
	TAP_CPU_SHOWS_RUN = TAP_CPU_RUN,
	TAP_CPU_SHOWS_OTHER, /* a task that .wants does not select */
};

#define TAP_CPU_CHANGES_MAX 16384u /* limit for buffered changes */

struct tap_cpu_change {
	uint64_t ts_ns;
	int cpu;
	enum tap_cpu_shows what;
	const struct tap_task *task; /* if .what is TAP_CPU_SHOWS_RUN; borrowed */
};

struct tap_cpu_changes {
	/* Return true if the task's slices are to be shown. */
	bool (*wants)(void *ctx, const struct tap_task *task);
	/*
	 * Report a change. A value other than 0 stops the run. At equal times the lower CPU comes
	 * first.
	 */
	int (*change)(void *ctx, const struct tap_cpu_change *c);
	void *ctx;

	/* private */
	struct tap_shown_cpu *shown; /* owned */
	unsigned int nr_shown;
	struct tap_cpu_change *heap; /* owned; a heap of buffered changes, the earliest on top */
	unsigned int nr, cap;
	/* by CPU: the time up to which it is known; changes before all of these can be reported */
	struct tap_cpu_order reported;
	bool started;
};

/* ctx: struct tap_cpu_changes. At the end it reports the changes that are still buffered. */
extern const struct tap_watcher_ops tap_cpu_changes_ops;

void tap_cpu_changes_release(struct tap_cpu_changes *ch);

/* bytes for the longest short name, with its NUL */
#define TAP_SHORT_NAME_BYTES 16

/*
 * Make the short name of the @n-th task: "A0", "B0", ... "z0", "A1", ... "zz", then names of three
 * or more characters. All names differ. Return: its length.
 */
unsigned int tap_short_name(char name[TAP_SHORT_NAME_BYTES], uint64_t n);

#endif
