/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who was where: every change of what a CPU shows, in time order. A stretch of a CPU is known only
 * when it ends (a broken chain makes it unknown from its start on), so changes wait until no CPU
 * can have an earlier one. Where very many would wait for a stretch that is open, it is told as the
 * timeline has it then; should it turn out unknown after all, it is from that time on.
 */
#ifndef TAP_ANALYSIS_WHERE_H
#define TAP_ANALYSIS_WHERE_H

#include "timeline/timeline.h"

enum tap_where_what {
	TAP_WHERE_UNKNOWN, /* before the first change of a CPU, too */
	TAP_WHERE_OFFLINE,
	TAP_WHERE_IDLE,
	TAP_WHERE_RUN,
	TAP_WHERE_OTHER, /* a task that is not looked for */
};

#define TAP_WHERE_MAX 16384u /* changes that wait */

struct tap_where_change {
	uint64_t ts_ns;
	int cpu;
	enum tap_where_what what;
	const struct tap_task *task; /* TAP_WHERE_RUN; borrowed */
};

struct tap_where {
	/* Whether a task is looked for. */
	bool (*wants)(void *ctx, const struct tap_task *task);
	/* What it returns stops, if not 0. At equal times the lower CPU comes first. */
	int (*change)(void *ctx, const struct tap_where_change *c);
	/* The CPUs as the timeline has them now. */
	const struct tap_cpu *(*cpus)(void *ctx, unsigned int *nr);
	void *ctx;
	uint64_t start_ns; /* of the window */

	/* inside */
	struct tap_where_cpu *cpu_state;
	unsigned int nr_cpus;
	struct tap_where_change *heap; /* changes that wait, the first one on top */
	size_t nr, cap;
	uint64_t safe_ns; /* what begins before it can be told */
	bool started;
};

extern const struct tap_observer tap_where_observer; /* its ctx: struct tap_where */

/* The changes that still wait. Return: 0; what .change returned. */
int tap_where_end(struct tap_where *w);
void tap_where_release(struct tap_where *w);

/* More bytes than a name has, with its NUL. */
#define TAP_WHERE_NAME 16

/*
 * The short name of the @n-th task: "A0", "B0", ... "z0", "A1", ... "zz", then three characters
 * and more: none is given twice. Return: its length.
 */
unsigned int tap_where_name(char name[TAP_WHERE_NAME], uint64_t n);

#endif
