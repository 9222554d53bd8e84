/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Convert a recording to a Perfetto trace. Switches and wakeups go into each CPU's bundle of ftrace
 * events (perfetto_sched.c). Signals, states, waits with their components, and events that Perfetto
 * does not know go to tracks (perfetto_tracks.c). Stacks become samples (perfetto_stacks.c).
 * perfetto_head.c writes the packets before and after all events.
 */
#ifndef TAP_EXPORT_PERFETTO_H
#define TAP_EXPORT_PERFETTO_H

#include "timeline/run/frames.h"
#include "timeline/run/stacks.h"
#include "analysis/critical/request_source.h"
#include "analysis/explain/waits.h"
#include "analysis/pelt.h"
#include "show/export/export.h"
#include "show/perfetto/ftrace_event.h"
#include "show/perfetto/instant.h"

/* How a kind of event is converted. */
struct tap_pf_kind {
	enum tap_pf_way {
		TAP_PF_SWITCH,
		TAP_PF_WAKING,
		TAP_PF_FTRACE,
		TAP_PF_STACK,
		TAP_PF_INSTANT,
		TAP_PF_NOTHING,
	} way;
	bool bounds_slices; /* begins or ends slices of --slices */
	struct tap_ftrace_event ftrace;
	struct tap_instant instant;
	/* moves a task to another cgroup; or names cgroups, and tasks are selected by cgroup */
	bool moves;
	bool does_more; /* .bounds_slices or .moves */
	/* parsed fields of switches, wakings and cgroup moves */
	const struct tap_sched_fields *sched;
	struct tap_pf_kind *older; /* previous entry of the list of kinds */
};

/* Rows of a thread, below its own track. */
enum tap_pf_row { TAP_PF_STATE, TAP_PF_IN_CGROUP, TAP_PF_WAITS, TAP_PF_NR_ROWS };

struct tap_pf_stacks {
	struct tap_event_stacks *events; /* owned: decodes stacks */
	/* a user stack that follows a kernel stack within this time belongs to the same event */
	uint64_t within_ns;
	struct tap_pf_name {
		size_t at, len;
	} * names; /* owned: function names, in .text */
	unsigned int nr_names, cap_names;
	struct tap_buf text;
	/* map names and pairs of stacks to their numbers, from 1 */
	struct tap_map by_name, by_pair;
	struct tap_pf_sample {
		uint64_t ts_ns;
		int tid;
		struct tap_stack_pair pair;
	} * samples; /* owned; by CPU: the last sample, to which a user stack may still be added */
	unsigned int nr_samples;
};

struct tap_pf {
	struct tap_export *e;
	struct tap_buf out; /* output that has not been written to the file */
	struct tap_err failed; /* failure to write the file, with a sentence */
	/* owned, with all entries; by the format's id; NULL: not seen yet */
	struct tap_pf_kind **kinds;
	struct tap_pf_kind *newest_kind;
	struct tap_sched_formats formats;
	struct tap_bundle **bundles; /* owned; by CPU; NULL: no event from this CPU yet */
	unsigned int nr_bundles;
	struct tap_tracks tracks;
	struct tap_pelt *signals; /* NULL: the recording has no signals */
	struct tap_pf_series {
		uint64_t track; /* 0: no track yet */
		bool is_on; /* for flags (signals of 0 or 1): the slice is open */
	} * series; /* owned; by series number */
	unsigned int nr_series;
	struct tap_pf_thread { /* tracks of a thread; 0: no track yet */
		uint64_t id; /* identifies the task, as tids are reused */
		uint64_t own, rows[TAP_PF_NR_ROWS];
	} * threads; /* owned; by task index */
	unsigned int nr_threads;
	struct tap_explain_waits waits;
	uint64_t nr_flows;
	struct tap_pf_cgroup {
		uint64_t id, since_ns; /* 0: unknown */
	} * in_cgroups; /* owned; by task index */
	unsigned int nr_in_cgroups;
	struct tap_pf_stacks stacks;
	struct tap_request_source source; /* START and DONE of --slices */
	struct tap_requests requests; /* requests in progress, and finished ones to be written */
	uint64_t *lane_ends; /* owned: the end of the last slice on each track of --slices */
	unsigned int nr_lanes;
};

/* perfetto_head.c. All functions below return 0 or -ENOMEM. */
int tap_pf_put_head(struct tap_pf *pf);
/* Called after all events. */
int tap_pf_put_end(struct tap_pf *pf);

/* ---- perfetto_sched.c ---- */
/* Called before the window's first event: write what each CPU runs. */
int tap_pf_begin_cpus(struct tap_pf *pf);
int tap_pf_put_switch(struct tap_pf *pf, const struct tap_pf_kind *kind,
		      const struct tap_event *ev);
int tap_pf_put_waking(struct tap_pf *pf, const struct tap_pf_kind *kind,
		      const struct tap_event *ev);
/*
 * Write the waking of a task that was woken while going to sleep. Perfetto ignores a waking of a
 * running task, so it is written again once the task has left the CPU.
 */
int tap_pf_put_late_waking(struct tap_pf *pf, const struct tap_task *task);
int tap_pf_put_ftrace(struct tap_pf *pf, const struct tap_pf_kind *kind,
		      const struct tap_event *ev);
/*
 * Called when an interval ends in which the CPU was offline, or its task unknown: write, late, that
 * the task of the last switch ran only until the interval began.
 */
int tap_pf_lose_cpu(struct tap_pf *pf, const struct tap_cpu_interval *s);
/*
 * Write the task that the CPU runs after such an interval, if it is known without a switch event.
 */
int tap_pf_find_cpu(struct tap_pf *pf, const struct tap_origin *origin);
int tap_pf_put_loss(struct tap_pf *pf, const struct tap_event *ev);
/* Write all bundles that are not full. */
int tap_pf_end_cpus(struct tap_pf *pf);

/* ---- perfetto_tracks.c ---- */
int tap_pf_init_tracks(struct tap_pf *pf);
/* Add the watchers that fill tracks to @v. Return: their number. */
unsigned int tap_pf_add_watchers(struct tap_pf *pf, struct tap_watcher *v);
void tap_pf_release_tracks(struct tap_pf *pf);
/* Handle an event that begins or ends slices of --slices. */
int tap_pf_put_slices(struct tap_pf *pf, const struct tap_event *ev);
int tap_pf_put_instant(struct tap_pf *pf, const struct tap_pf_kind *kind,
		       const struct tap_event *ev);
int tap_pf_count_loss(struct tap_pf *pf, const struct tap_event *ev);
/* Handle an event that moves a task to another cgroup. */
int tap_pf_move(struct tap_pf *pf, const struct tap_pf_kind *kind, const struct tap_event *ev);
/* Write slices for the cgroups of tasks at the window's end. */
int tap_pf_end_cgroups(struct tap_pf *pf);
int tap_pf_put_schedulers(struct tap_pf *pf);
/* Return true if the options select this task. @tid 0: idle task. */
bool tap_pf_picks_tid(struct tap_pf *pf, int tid);

/* ---- perfetto_stacks.c ---- */
int tap_pf_init_stacks(struct tap_pf *pf);
void tap_pf_release_stacks(struct tap_pf *pf);
/* Handle an event that is a stack. */
int tap_pf_put_stack(struct tap_pf *pf, const struct tap_pf_kind *kind, const struct tap_event *ev);
/* Write samples that were waiting for a user stack. */
int tap_pf_end_stacks(struct tap_pf *pf);

#endif
