/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks one of the kernel's models (monitor_models.h) against a recording. For each task or CPU
 * the set of all states that it can be in is tracked: at first, and after missing events, any
 * state. An event maps the set to the states that can follow. If the event is not allowed in any
 * state of the set, it is a violation. So every reported violation is certain.
 *
 * Missing events: if the recording has no events of a kind that the model uses, they may have
 * happened at any time. A loss, a hole and a broken chain of switches (timeline/survey.h) may hide
 * events of all kinds. What hides switches without a recorded loss, such as tasks hidden from
 * tracing, hides wakeups as well.
 */
#ifndef TAP_ANALYSIS_MONITOR_H
#define TAP_ANALYSIS_MONITOR_H

#include "timeline/timeline.h"
#include "analysis/losses.h"
#include "analysis/monitor_models.h"

struct tap_monitor_violation {
	uint64_t ts_ns;
	const struct tap_task *task; /* NULL: a violation by a CPU */
	int cpu; /* CPU on which it happened */
	enum tap_monitor_event event;
	uint8_t states; /* bit mask of the states that it can have been in before the event */
};

/* A task or a CPU that is checked. */
struct tap_monitored {
	const struct tap_task *task; /* NULL: the CPU .cpu */
	int cpu; /* of a task: CPU of its last event */
	bool is_known; /* an event of it was seen */
	uint64_t at_ns; /* time of its last event */
	uint8_t states; /* bit mask of the states that it can be in */
	uint64_t events, decided; /* .events: all; .decided: those that came in a known state */
	uint64_t violations;
};

struct tap_monitor_opts {
	const struct tap_monitor_model *model;
	/* the timeline, to which the tasks of events are added that it does not read itself */
	struct tap_timeline *const *timeline;
	const struct tap_survey *survey; /* after tap_survey_end() */
	uint32_t recorded; /* bit mask of the events that the recording has */
	unsigned int max_violations; /* limit for violations that are kept; all are counted */
	/* Return true if the task, or the CPU if @task is NULL, is to be checked. */
	bool (*want)(void *ctx, const struct tap_task *task, int cpu);
	void *ctx;
};

struct tap_monitor {
	struct tap_monitor_opts opts;
	struct tap_monitored *of; /* owned; indexed by tap_task.index or CPU */
	unsigned int nr;
	uint64_t events, decided, violated; /* sums over .of */
	struct tap_monitor_violation *violations; /* owned */
	unsigned int nr_violations, cap_violations;
	/* private */
	/* by state: bit mask of the states that unrecorded events may lead to */
	uint8_t unrecorded[TAP_MONITOR_MAX_STATES];
	struct tap_losses losses;
	unsigned int next_hole, next_break;
	uint64_t hole_to_ns; /* the latest end of the holes so far; 0: no hole yet */
	uint64_t *hidden_on_ns; /* owned; indexed by CPU: the latest end of its breaks so far */
	unsigned int nr_cpus;
	struct tap_monitor_source *sources; /* owned; one per format seen */
	unsigned int nr_sources, cap_sources;
};

/* Return a bit mask of the model events that an event of this format can be; 0: none. */
uint32_t tap_monitor_events_of(const struct tap_format *fmt);
/* Return true if a violation of the model can show in a recording with these events. */
bool tap_monitor_decides(const struct tap_monitor_model *model, uint32_t recorded);

void tap_monitor_init(struct tap_monitor *m, const struct tap_monitor_opts *opts);
void tap_monitor_release(struct tap_monitor *m);
/* ctx: struct tap_monitor. */
extern const struct tap_watcher_ops tap_monitor_ops;

#endif
