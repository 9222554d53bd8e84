/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every change of what a CPU shows, in time order. An interval of a CPU is known only when it ends
 * (a broken chain makes it unknown from its start on), so changes wait until no CPU can have an
 * earlier one. Where very many would wait for an interval that is open, it is told as the timeline
 * has it then; should it turn out unknown after all, it is from that time on.
 */
#ifndef TAP_ANALYSIS_CPU_CHANGES_H
#define TAP_ANALYSIS_CPU_CHANGES_H

#include "timeline/timeline.h"
#include "analysis/cpu_order.h"

enum tap_cpu_shows {
	TAP_CPU_SHOWS_UNKNOWN = TAP_CPU_UNKNOWN, /* before the first change of a CPU, too */
	TAP_CPU_SHOWS_OFFLINE = TAP_CPU_OFFLINE,
	TAP_CPU_SHOWS_IDLE = TAP_CPU_IDLE,
	TAP_CPU_SHOWS_RUN = TAP_CPU_RUN,
	TAP_CPU_SHOWS_OTHER, /* a task that is not looked for */
};

#define TAP_CPU_CHANGES_MAX 16384u /* changes that wait */

struct tap_cpu_change {
	uint64_t ts_ns;
	int cpu;
	enum tap_cpu_shows what;
	const struct tap_task *task; /* TAP_CPU_SHOWS_RUN; borrowed */
};

struct tap_cpu_changes {
	/* Whether a task is looked for. */
	bool (*wants)(void *ctx, const struct tap_task *task);
	/* What it returns stops, if not 0. At equal times the lower CPU comes first. */
	int (*change)(void *ctx, const struct tap_cpu_change *c);
	void *ctx;

	/* inside */
	struct tap_shown_cpu *shown; /* owned */
	unsigned int nr_shown;
	struct tap_cpu_change *heap; /* owned; changes that wait, the first one on top */
	unsigned int nr, cap;
	struct tap_cpu_order told; /* up to when CPUs are known; what is before all can be told */
	bool started;
};

/* ctx: struct tap_cpu_changes. At the end it reports the changes that still wait. */
extern const struct tap_watcher_ops tap_cpu_changes_ops;

void tap_cpu_changes_release(struct tap_cpu_changes *ch);

/* More bytes than a name has, with its NUL. */
#define TAP_SHORT_NAME_BYTES 16

/*
 * The short name of the @n-th task: "A0", "B0", ... "z0", "A1", ... "zz", then three characters
 * and more: none is given twice. Return: its length.
 */
unsigned int tap_short_name(char name[TAP_SHORT_NAME_BYTES], uint64_t n);

#endif
