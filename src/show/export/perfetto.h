/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording on its way into a Perfetto trace. Who ran where and who was woken goes into each
 * CPU's bundle of ftrace events (perfetto_sched.c); signals, states, waits with what they were for,
 * and all events that Perfetto has no picture for go to tracks (perfetto_tracks.c). Stacks become
 * samples (perfetto_stacks.c). What is written before all events is perfetto_head.c's.
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

/* What is done with a kind of event. */
struct tap_pf_kind {
	enum tap_pf_way {
		TAP_PF_SWITCH,
		TAP_PF_WAKING,
		TAP_PF_FTRACE,
		TAP_PF_STACK,
		TAP_PF_INSTANT,
		TAP_PF_NOTHING,
	} way;
	bool bounds_slices; /* of --slices */
	struct tap_ftrace_event ftrace;
	struct tap_instant instant;
	bool moves; /* a task to another cgroup, or names that: where the timeline follows those */
	bool does_more; /* either of these two */
	const struct tap_sched_fields *sched; /* of these, switches and wakings */
	struct tap_pf_kind *older; /* that was added before */
};

/* Rows below a thread's own. */
enum tap_pf_row { TAP_PF_STATE, TAP_PF_IN_CGROUP, TAP_PF_WAITS, TAP_PF_NR_ROWS };

struct tap_pf_stacks {
	struct tap_event_stacks *events; /* owned: reads them */
	uint64_t within_ns; /* of a kernel's stack the program's comes */
	struct tap_pf_name {
		size_t at, len;
	} * names; /* owned: of functions, in .text */
	unsigned int nr_names, cap_names;
	struct tap_buf text;
	struct tap_map by_name, by_pair; /* -> number, from 1 on */
	struct tap_pf_sample {
		uint64_t ts_ns;
		int tid;
		struct tap_stack_pair pair;
	} * samples; /* owned; by CPU: the last one, to which more may come */
	unsigned int nr_samples;
};

struct tap_pf {
	struct tap_export *e;
	struct tap_buf out; /* that was not yet written to the file */
	struct tap_err failed; /* of the file: a sentence */
	struct tap_pf_kind **kinds; /* owned, all; by the format's id; NULL: none was seen yet */
	struct tap_pf_kind *newest_kind;
	struct tap_sched_formats formats;
	struct tap_bundle **bundles; /* owned; by CPU; NULL: nothing came from it */
	unsigned int nr_bundles;
	struct tap_tracks tracks;
	struct tap_pelt *signals; /* NULL: none was recorded */
	struct tap_pf_series {
		uint64_t track; /* 0: it has none yet */
		bool is_on; /* of a signal of 0 and 1: its slice is open */
	} * series; /* owned; by number */
	unsigned int nr_series;
	struct tap_pf_thread { /* its tracks; 0: it has none yet */
		uint64_t id; /* of the life that these are of */
		uint64_t own, rows[TAP_PF_NR_ROWS];
	} * threads; /* owned; by a task's index */
	unsigned int nr_threads;
	struct tap_explain_waits waits;
	uint64_t nr_flows;
	struct tap_pf_cgroup {
		uint64_t id, since_ns; /* 0: not known */
	} * in_cgroups; /* owned; by a task's index */
	unsigned int nr_in_cgroups;
	struct tap_pf_stacks stacks;
	struct tap_request_source source; /* of --slices */
	struct tap_requests requests; /* that have begun */
	uint64_t *lane_ends; /* owned: when the last slice of each of their tracks ends */
	unsigned int nr_lanes;
};

/* perfetto_head.c. Return: 0 or -ENOMEM, as all of these. */
int tap_pf_put_head(struct tap_pf *pf);
/* Behind all. */
int tap_pf_put_end(struct tap_pf *pf);

/* perfetto_sched.c */
/* Before the first event of the window: who runs. */
int tap_pf_begin_cpus(struct tap_pf *pf);
int tap_pf_put_switch(struct tap_pf *pf, const struct tap_pf_kind *kind,
		      const struct tap_event *ev);
int tap_pf_put_waking(struct tap_pf *pf, const struct tap_pf_kind *kind,
		      const struct tap_event *ev);
/* Of a task that was woken as it was about to sleep: Perfetto passes a waking of one that runs
 * over. */
int tap_pf_put_late_waking(struct tap_pf *pf, const struct tap_task *task);
int tap_pf_put_ftrace(struct tap_pf *pf, const struct tap_pf_kind *kind,
		      const struct tap_event *ev);
/* What was thought to run there did not: it is known when it is over, and the row comes late. */
int tap_pf_lose_cpu(struct tap_pf *pf, const struct tap_cpu_interval *s);
/* The same of who runs there since such an interval ended. */
int tap_pf_find_cpu(struct tap_pf *pf, const struct tap_origin *origin);
int tap_pf_put_loss(struct tap_pf *pf, const struct tap_event *ev);
/* All that is not full yet. */
int tap_pf_end_cpus(struct tap_pf *pf);

/* perfetto_tracks.c */
int tap_pf_init_tracks(struct tap_pf *pf);
/* Adds the watchers that fill tracks to @v. Return: how many. */
unsigned int tap_pf_add_watchers(struct tap_pf *pf, struct tap_watcher *v);
void tap_pf_release_tracks(struct tap_pf *pf);
/* Of an event that begins or ends slices. */
int tap_pf_put_slices(struct tap_pf *pf, const struct tap_event *ev);
int tap_pf_put_instant(struct tap_pf *pf, const struct tap_pf_kind *kind,
		       const struct tap_event *ev);
int tap_pf_count_loss(struct tap_pf *pf, const struct tap_event *ev);
/* Of an event that moves a task to another cgroup. */
int tap_pf_move(struct tap_pf *pf, const struct tap_pf_kind *kind, const struct tap_event *ev);
/* The cgroups in which tasks are at the end. */
int tap_pf_end_cgroups(struct tap_pf *pf);
int tap_pf_put_schedulers(struct tap_pf *pf);
/* Whether the options pick what this task does; 0: an idle one. */
bool tap_pf_picks_tid(struct tap_pf *pf, int tid);

/* perfetto_stacks.c */
int tap_pf_init_stacks(struct tap_pf *pf);
void tap_pf_release_stacks(struct tap_pf *pf);
/* Of an event that is a stack. */
int tap_pf_put_stack(struct tap_pf *pf, const struct tap_pf_kind *kind, const struct tap_event *ev);
/* Those to which more could have come. */
int tap_pf_end_stacks(struct tap_pf *pf);

#endif
