/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stages of a reschedule: from the flag that requests it, or from when an idle CPU leaves its
 * idle state, to the end of __schedule(); and the part of each that interrupts took. A stage counts
 * if its two events match and nothing was lost on its CPU in between.
 */
#ifndef TAP_ANALYSIS_RESCHED_H
#define TAP_ANALYSIS_RESCHED_H

#include "base/hist.h"
#include "base/map.h"
#include "timeline/timeline.h"

enum tap_resched_stage {
	TAP_RESCHED_ASKED, /* sched_set_need_resched until sched_entry */
	TAP_RESCHED_ASKED_LAZY, /* the same for TIF_NEED_RESCHED_LAZY, if both flags occur */
	TAP_RESCHED_IDLE_EXIT, /* the CPU leaves its idle state until it switches away from idle */
	TAP_RESCHED_PICK, /* sched_entry until sched_switch */
	TAP_RESCHED_SWITCH, /* sched_switch until sched_exit */
	TAP_RESCHED_STAY, /* sched_entry until sched_exit, and the task runs on */
	TAP_NR_RESCHED_STAGES,
};

/* "asked", "asked_lazy", ..., as in JSON. */
const char *tap_resched_stage_name(enum tap_resched_stage stage);

struct tap_resched_figures {
	struct tap_hist ns;
	uint64_t max_at_ns; /* when the longest stage ended; the first one of equals */
	int max_cpu;
	uint64_t irq_ns; /* time in interrupts and softirqs, summed over all stages */
	uint64_t max_irq_ns; /* time in interrupts and softirqs in the longest stage */
};

struct tap_resched_opts {
	const struct tap_survey *survey; /* shows where events are missing */
	/*
	 * Return true if a stage on this CPU counts. @tid: the task in __schedule(); 0: idle. NULL:
	 * all stages count.
	 */
	bool (*want)(void *ctx, int cpu, int tid);
	void *ctx;
};

struct tap_resched {
	struct tap_resched_figures stages[TAP_NR_RESCHED_STAGES]; /* complete after the end */
	bool has_irqs; /* some kinds of interrupts were recorded, maybe not all */

	/* private */
	struct tap_resched_opts opts;
	struct tap_map kinds; /* format -> struct kind, owned */
	struct tap_resched_cpu *cpus;
	unsigned int nr_cpus, next_loss;
	uint64_t lost_to_ns; /* latest end of losses on unknown CPUs */
	int flags[2]; /* numbers of the thread flags, in order of appearance; -1: none yet */
};

void tap_resched_init(struct tap_resched *r, const struct tap_resched_opts *opts);
void tap_resched_release(struct tap_resched *r);
/* Return true if an event of this format begins a stage. */
bool tap_resched_has_stages(const struct tap_format *fmt);
/* ctx: struct tap_resched. */
extern const struct tap_watcher_ops tap_resched_ops;

#endif
