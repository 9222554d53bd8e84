/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A reschedule, cut into its stages: from the flag that asks for it, or from where an idle CPU
 * leaves its idle state, to the end of __schedule(); and how much of that interrupts took. A stage
 * counts where its two ends fit each other and nothing was lost on its CPU between.
 */
#ifndef TAP_ANALYSIS_RESCHED_H
#define TAP_ANALYSIS_RESCHED_H

#include "base/hist.h"
#include "base/map.h"
#include "timeline/timeline.h"

enum tap_resched_stage {
	TAP_RESCHED_ASKED, /* sched_set_need_resched until sched_entry */
	TAP_RESCHED_ASKED_LAZY, /* the same of TIF_NEED_RESCHED_LAZY, where both flags occur */
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
	uint64_t max_at_ns; /* when the longest one ended; the first of equals */
	int max_cpu;
	uint64_t irq_ns; /* of all of them, in interrupts and softirqs */
	uint64_t max_irq_ns; /* of the longest one */
};

struct tap_resched_opts {
	const struct tap_survey *survey; /* what is missing */
	/* Whether a stage on this CPU counts, of this task: who is in __schedule(); 0: idle. NULL:
	 * all do */
	bool (*want)(void *ctx, int cpu, int tid);
	void *ctx;
};

struct tap_resched {
	struct tap_resched_figures stages[TAP_NR_RESCHED_STAGES]; /* after the end */
	bool has_irqs; /* some interrupts were told: the others may not have been recorded */

	/* inside */
	struct tap_resched_opts opts;
	struct tap_map kinds; /* format -> struct kind, owned */
	struct tap_resched_cpu *cpus;
	unsigned int nr_cpus, next_loss;
	uint64_t lost_to_ns; /* of losses on CPUs that are not known */
	int flags[2]; /* numbers of thread flags, as they came; -1 */
};

void tap_resched_init(struct tap_resched *r, const struct tap_resched_opts *opts);
void tap_resched_release(struct tap_resched *r);
/* Whether events of this format begin a stage. */
bool tap_resched_has_stages(const struct tap_format *fmt);
/* ctx: struct tap_resched. */
extern const struct tap_watcher_ops tap_resched_ops;

#endif
