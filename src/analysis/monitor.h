/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One of the kernel's models (monitor_models.h) held against a recording. Kept of each task or CPU
 * are all states that it can be in: at first, and behind what was not recorded, any. An event
 * leaves those that may be behind it; where none of the states has it, whatever is not known, that
 * is a violation. So none is told that may be none.
 *
 * What was not recorded: events of the model that the recording has none of may have happened at
 * any time. A loss, a hole and a broken chain of switches (timeline/survey.h) hide events of all,
 * and what hides switches without a word, as tasks that are hidden from tracing do, hides wakeups
 * as well.
 */
#ifndef TAP_ANALYSIS_MONITOR_H
#define TAP_ANALYSIS_MONITOR_H

#include "timeline/timeline.h"
#include "analysis/losses.h"
#include "analysis/monitor_models.h"

struct tap_monitor_violation {
	uint64_t ts_ns;
	const struct tap_task *task; /* NULL: of a CPU */
	int cpu; /* where it happened */
	enum tap_monitor_event event;
	uint8_t states; /* that it can have been in before, a bit each */
};

/* Of a task or a CPU. */
struct tap_monitored {
	const struct tap_task *task; /* NULL: .cpu */
	int cpu; /* of a task: of its last event */
	bool is_known; /* an event was seen */
	uint64_t at_ns; /* of that */
	uint8_t states; /* that it can be in, a bit each */
	uint64_t events, decided; /* all; those in one state alone */
	uint64_t violations;
};

struct tap_monitor_opts {
	const struct tap_monitor_model *model;
	/* gets the tasks of events that it does not read itself */
	struct tap_timeline *const *timeline;
	const struct tap_survey *survey; /* after its end */
	uint32_t recorded; /* events that the recording has, a bit each */
	unsigned int max_violations; /* so many are kept; all are counted */
	bool (*want)(void *ctx, const struct tap_task *task, int cpu); /* @task: NULL: of a CPU */
	void *ctx;
};

struct tap_monitor {
	struct tap_monitor_opts opts;
	struct tap_monitored *of; /* owned; by the task's index, or CPU */
	unsigned int nr;
	uint64_t events, decided, violated; /* the sums */
	struct tap_monitor_violation *violations; /* owned */
	unsigned int nr_violations, cap_violations;
	/* inside */
	/* where events that are not recorded may lead, a bit each */
	uint8_t unrecorded[TAP_MONITOR_MAX_STATES];
	struct tap_losses losses;
	unsigned int next_hole, next_break;
	uint64_t hole_to_ns; /* the end of the latest so far; 0: there was none */
	uint64_t *hidden_on_ns; /* owned; by CPU, the end of its latest break so far */
	unsigned int nr_cpus;
	struct tap_monitor_source *sources; /* owned; one per format that was met */
	unsigned int nr_sources, cap_sources;
};

/* Which events of any model one of the recording's is, a bit each; 0: none. */
uint32_t tap_monitor_events_of(const struct tap_format *fmt);
/* Whether a violation of the model can show in a recording with these events. */
bool tap_monitor_decides(const struct tap_monitor_model *model, uint32_t recorded);

void tap_monitor_init(struct tap_monitor *m, const struct tap_monitor_opts *opts);
void tap_monitor_release(struct tap_monitor *m);
/* ctx: struct tap_monitor. */
extern const struct tap_watcher_ops tap_monitor_ops;

#endif
