// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "show/export/perfetto.h"
#include "show/perfetto/fields.h"
#include "show/report/task_cells.h"

/* only waits of at least this length are shown with their components */
#define LONG_WAIT_NS 1000000u

enum {
	OF_CPU,
	OF_THREAD,
	OF_CGROUP,
	OF_DOMAIN,
	OF_CPU_STATE,
	OF_LOSSES,
	OF_NO_CPU,
	OF_SLICES,
	OF_NR_LOST,
	OF_SCHEDULER
};

/* ---- parent tracks ---- */

/* Return a track of the CPU whose name is complete without its parent's: "CPU 0 lost events". */
static uint64_t named_of_cpu(struct tap_pf *pf, unsigned int kind, int cpu, uint64_t parent,
			     const char *what, const char *unit)
{
	struct tap_buf *b = &pf->e->run.scratch;

	tap_buf_clear(b);
	if (cpu >= 0)
		tap_buf_printf(b, "CPU %d ", cpu);
	tap_buf_puts(b, what);
	return tap_track(&pf->tracks, &(const struct tap_track){ .kind = kind,
								 .id = (uint64_t)(cpu + 1),
								 .parent = parent,
								 .name = tap_buf_str(b),
								 .len = b->len,
								 .unit = unit });
}

static uint64_t named_track(struct tap_pf *pf, unsigned int kind, uint64_t id, uint64_t parent,
			    const char *name)
{
	return tap_track(&pf->tracks, &(const struct tap_track){ .kind = kind,
								 .id = id,
								 .parent = parent,
								 .name = name,
								 .len = strlen(name) });
}

static uint64_t cpu_track(struct tap_pf *pf, int cpu)
{
	const uint64_t known = tap_track_find(&pf->tracks, OF_CPU, (uint64_t)cpu);
	struct tap_buf *b = &pf->e->run.scratch;

	if (known)
		return known;
	tap_buf_clear(b);
	tap_buf_printf(b, "CPU %d", cpu);
	return named_track(pf, OF_CPU, (uint64_t)cpu, 0, tap_buf_str(b));
}

/*
 * Return an id of the task that distinguishes tasks with the same tid. Tasks born before the window
 * share 0 as birth time.
 */
static uint64_t thread_id(const struct tap_pf *pf, const struct tap_task *task)
{
	const bool is_born = task->born_ns > pf->e->run.window.from_ns;

	return (uint64_t)task->tid + (is_born ? task->born_ns * (TAP_MAX_TIDS + 1) : 0);
}

/* Return the track at the thread's own row, or a top-level track if its process is unknown. */
static uint64_t find_thread_track(struct tap_pf *pf, const struct tap_task *task)
{
	const uint64_t id = thread_id(pf, task), known = tap_track_find(&pf->tracks, OF_THREAD, id);
	int tgid = known ? 0 : tap_task_tgid(task);
	struct tap_buf *b = &pf->e->run.scratch;

	if (known)
		return known;
	tap_buf_clear(b);
	if (tgid <= 0)
		tap_run_make_label(&pf->e->run, b, task);
	return tap_track(&pf->tracks, &(const struct tap_track){ .kind = OF_THREAD,
								 .id = id,
								 .name = b->data,
								 .len = b->len,
								 .tid = task->tid,
								 .tgid = tgid > 0 ? tgid : 0 });
}

/*
 * Return the tracks of the task, reset if its index had another task before. Return: NULL if out of
 * memory.
 */
static inline struct tap_pf_thread *thread_of(struct tap_pf *pf, const struct tap_task *task)
{
	struct tap_pf_thread *t =
		tap_array_at(&pf->threads, &pf->nr_threads, task->index, sizeof(*t), NULL);
	const uint64_t id = thread_id(pf, task);

	if (t && t->id != id)
		*t = (struct tap_pf_thread){ .id = id };
	return t;
}

/* Return: 0 if out of memory. */
static uint64_t thread_track(struct tap_pf *pf, const struct tap_task *task)
{
	struct tap_pf_thread *t;

	/* the timeline does not know the task, so it has no index */
	if (task == &pf->e->run.rec.ids.listed)
		return find_thread_track(pf, task);
	t = thread_of(pf, task);
	if (t && !t->own)
		t->own = find_thread_track(pf, task);
	return t ? t->own : 0;
}

/* Return one of the thread's rows; 0 if out of memory. */
static uint64_t thread_row(struct tap_pf *pf, const struct tap_task *task, enum tap_pf_row row)
{
	static const char *const names[TAP_PF_NR_ROWS] = { [TAP_PF_STATE] = "state",
							   [TAP_PF_IN_CGROUP] = "cgroup",
							   [TAP_PF_WAITS] = "waits for a CPU" };
	const uint64_t parent = thread_track(pf, task);
	struct tap_pf_thread *t = parent ? thread_of(pf, task) : NULL;

	if (!t)
		return 0;
	if (!t->rows[row])
		t->rows[row] = tap_track_add(&pf->tracks,
					     &(const struct tap_track){ .parent = parent,
									.name = names[row],
									.len = strlen(names[row]),
									.is_below = true });
	return t->rows[row];
}

/* Append the cgroup's path, or its id if the path is unknown. */
static void put_cgroup_name(const struct tap_pf *pf, struct tap_buf *b, uint64_t id)
{
	const char *path = tap_cgroups_path(&pf->e->run.rec.ids.cgroups, id);

	if (path)
		tap_buf_puts(b, path);
	else
		tap_buf_u64(b, id);
}

static uint64_t cgroup_track(struct tap_pf *pf, uint64_t id)
{
	struct tap_buf *b = &pf->e->run.scratch;

	tap_buf_clear(b);
	tap_buf_puts(b, "cgroup ");
	put_cgroup_name(pf, b, id);
	return named_track(pf, OF_CGROUP, id, 0, tap_buf_str(b));
}

static uint64_t domain_track(struct tap_pf *pf, const struct tap_pelt_series *s)
{
	struct tap_buf *b = &pf->e->run.scratch;

	tap_buf_clear(b);
	tap_buf_puts(b, "CPUs ");
	tap_cpus_text(&s->span, b);
	return named_track(pf, OF_DOMAIN, tap_map_key(b->data, b->len), 0, tap_buf_str(b));
}

/* ---- signals ---- */

static uint64_t series_parent(struct tap_pf *pf, const struct tap_pelt_series *s)
{
	const struct tap_task *task;

	switch (s->subject) {
	case TAP_PELT_CPU:
		return cpu_track(pf, s->cpu);
	case TAP_PELT_CGROUP:
		return cgroup_track(pf, s->cgroup);
	case TAP_PELT_DOMAIN:
		return domain_track(pf, s);
	case TAP_PELT_TASK:
		break;
	}
	task = tap_identity(&pf->e->run.rec.ids, s->tid);
	return task ? thread_track(pf, task) : 0;
}

/* Append "CPU 0 util": a pinned counter is shown without its parent's name. */
static void put_series_name(struct tap_pf *pf, struct tap_buf *b, const struct tap_pelt_series *s)
{
	const struct tap_task *task;

	switch (s->subject) {
	case TAP_PELT_CPU:
		tap_buf_printf(b, "CPU %d ", s->cpu);
		break;
	case TAP_PELT_CGROUP:
		tap_buf_puts(b, "cgroup ");
		put_cgroup_name(pf, b, s->cgroup);
		tap_buf_printf(b, " on CPU %d ", s->cpu);
		break;
	case TAP_PELT_DOMAIN:
		tap_buf_puts(b, "CPUs ");
		tap_cpus_text(&s->span, b);
		tap_buf_char(b, ' ');
		break;
	case TAP_PELT_TASK:
		task = tap_identity(&pf->e->run.rec.ids, s->tid);
		if (task)
			tap_run_make_label(&pf->e->run, b, task);
		tap_buf_char(b, ' ');
		break;
	}
	tap_buf_puts(b, s->signal->name);
}

static uint64_t series_track(struct tap_pf *pf, const struct tap_pelt_series *s)
{
	static const char *const units[] = {
		[TAP_PELT_1024] = "of 1024",
		[TAP_PELT_OPEN] = "",
		[TAP_PELT_COUNT] = "tasks",
		[TAP_PELT_FLAG] = NULL,
	};
	const uint64_t parent = series_parent(pf, s);
	struct tap_buf *b = &pf->e->run.scratch;

	tap_buf_clear(b);
	put_series_name(pf, b, s);
	return !parent ? 0
		       : tap_track_add(&pf->tracks,
				       &(const struct tap_track){
					       .parent = parent,
					       .name = tap_buf_str(b),
					       .len = b->len,
					       .unit = s->signal->is_signed
							       ? "ns"
							       /* signed signals are lags, in ns */
							       : units[s->signal->scale] });
}

/* Show a flag as a slice while it is set. */
static void put_flag(struct tap_pf *pf, struct tap_pf_series *of, const char *name, uint64_t ts_ns,
		     bool is_on)
{
	if (is_on != of->is_on)
		tap_track_event_end(&pf->tracks,
				    tap_track_event(&pf->tracks, of->track, ts_ns,
						    is_on ? TAP_PF_TEV_BEGIN : TAP_PF_TEV_END,
						    is_on ? name : NULL, strlen(name)));
	of->is_on = is_on;
}

static int on_point(void *ctx, const struct tap_pelt_series *s, uint64_t ts_ns, int64_t value)
{
	struct tap_pf *pf = ctx;
	const bool is_gap = value == TAP_PELT_GAP;
	struct tap_pf_series *of =
		tap_array_at(&pf->series, &pf->nr_series, s->number, sizeof(*of), NULL);

	if (of && !of->track)
		of->track = series_track(pf, s);
	if (!of || !of->track)
		return -ENOMEM;
	if (s->signal->scale == TAP_PELT_FLAG)
		put_flag(pf, of, s->signal->name, ts_ns, !is_gap && value);
	/* counters cannot be unknown; the track of gaps shows when the value may be wrong */
	else if (!is_gap)
		tap_track_count(&pf->tracks, of->track, ts_ns, value);
	return 0;
}

/* Return true if the options select the task, which the timeline may not know. */
static bool picks_listed(struct tap_run *run, const struct tap_task *task)
{
	return run->all_tasks || tap_pick_task(&run->pick, &run->rec.ids.cgroups, task);
}

static bool wants_series(void *ctx, const struct tap_pelt_series *s)
{
	struct tap_pf *pf = ctx;
	const struct tap_task *task;

	if (s->subject != TAP_PELT_TASK)
		return s->subject == TAP_PELT_DOMAIN || tap_run_cpu(&pf->e->run, s->cpu);
	task = tap_identity(&pf->e->run.rec.ids, s->tid);
	return task && picks_listed(&pf->e->run, task);
}

/* ---- states ---- */

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct tap_pf *pf = ctx;
	const char *what = s->what == TAP_CPU_UNKNOWN	? "unknown"
			   : s->what == TAP_CPU_OFFLINE ? "offline"
							: NULL;
	const struct tap_origin *origin =
		tap_survey_origin_at(tap_timeline_survey(t), s->cpu, s->to_ns);
	uint64_t track;
	int ret;

	if (!what || s->from_ns == s->to_ns)
		return 0;
	track = named_of_cpu(pf, OF_CPU_STATE, s->cpu, cpu_track(pf, s->cpu), "offline or unknown",
			     NULL);
	tap_track_slice(&pf->tracks, track, s->from_ns, s->to_ns, what, strlen(what));
	ret = track ? tap_pf_lose_cpu(pf, s) : -ENOMEM;
	return ret || !origin ? ret : tap_pf_find_cpu(pf, origin);
}

/* Write a slice for a state that Perfetto's own thread states do not have. */
static int put_state(struct tap_pf *pf, const struct tap_interval *s, const char *name)
{
	const uint64_t start_ns = pf->e->run.window.from_ns,
		       from_ns = s->from_ns - s->back_ns > start_ns ? s->from_ns - s->back_ns
								    : start_ns;
	uint64_t track;

	if (from_ns >= s->to_ns || !s->task->selected)
		return 0;
	track = thread_row(pf, s->task, TAP_PF_STATE);
	tap_track_slice(&pf->tracks, track, from_ns, s->to_ns, name, strlen(name));
	return track ? 0 : -ENOMEM;
}

/* Return the task's cgroup at the window's begin, or at its birth. */
static uint64_t first_cgroup(const struct tap_pf *pf, const struct tap_task *task)
{
	struct tap_listed l = { 0 };

	if (task->born_ns <= pf->e->run.window.from_ns)
		tap_lists_find(&pf->e->run.rec.ids.lists, task->tid, TAP_LISTED_BEGAN, &l);
	return l.cgroup ? l.cgroup : task->cgroup;
}

/*
 * Note that the task is in @cgroup (0: unknown) from @ns on, and write a slice for its previous
 * cgroup. Return: 0 or -ENOMEM.
 */
static int move_to(struct tap_pf *pf, const struct tap_task *task, uint64_t cgroup, uint64_t ns)
{
	struct tap_pf_cgroup *in =
		tap_array_at(&pf->in_cgroups, &pf->nr_in_cgroups, task->index, sizeof(*in), NULL);
	const struct tap_pf_cgroup before = in ? *in : (struct tap_pf_cgroup){ 0 };
	struct tap_buf *name = &pf->e->run.scratch;
	uint64_t track;

	if (!in)
		return -ENOMEM;
	*in = (struct tap_pf_cgroup){ .id = cgroup,
				      .since_ns = before.id == cgroup && before.since_ns
							  ? before.since_ns
							  : ns };
	if (before.id == cgroup)
		return 0;
	if (!before.id || before.since_ns >= ns || !task->selected)
		return 0;
	track = thread_row(pf, task, TAP_PF_IN_CGROUP);
	tap_buf_clear(name);
	put_cgroup_name(pf, name, before.id);
	tap_track_slice(&pf->tracks, track, before.since_ns, ns, name->data, name->len);
	return track ? name->err : -ENOMEM;
}

/*
 * The first known cgroup is assumed from the window's begin, or the task's birth; after that,
 * events move the task.
 */
static int follow_cgroup(struct tap_pf *pf, const struct tap_interval *s)
{
	const struct tap_task *task = s->task;
	const bool is_first =
		task->index >= pf->nr_in_cgroups || !pf->in_cgroups[task->index].since_ns;
	const uint64_t start_ns = pf->e->run.window.from_ns;
	int ret = 0;

	if (is_first && s->to_ns > start_ns)
		ret = move_to(pf, task, first_cgroup(pf, task),
			      task->born_ns > start_ns ? task->born_ns : start_ns);
	if (!ret && s->next == TAP_STATE_DEAD)
		ret = move_to(pf, task, 0, s->to_ns);
	return ret;
}

int tap_pf_move(struct tap_pf *pf, const struct tap_pf_kind *kind, const struct tap_event *ev)
{
	const struct tap_task *task =
		tap_timeline_task(pf->e->run.timeline, tap_num_int(&kind->sched->tid, ev));

	return task ? move_to(pf, task, task->cgroup, ev->ts_ns) : 0;
}

int tap_pf_end_cgroups(struct tap_pf *pf)
{
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(pf->e->run.timeline, &nr);
	int ret = 0;

	/*
	 * No slice if the lists at the beginning and the end differ, and no event says when the
	 * task moved.
	 */
	for (unsigned int i = 0; !ret && i < nr && i < pf->nr_in_cgroups; i++)
		if (pf->in_cgroups[i].id == tasks[i]->cgroup)
			ret = move_to(pf, tasks[i], 0, pf->e->run.window.to_ns);
	return ret;
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_pf *pf = ctx;
	int ret = follow_cgroup(pf, s);

	(void)t;
	if (ret)
		return ret;
	if (s->state == TAP_STATE_UNKNOWN)
		return put_state(pf, s, "unknown");
	return s->state == TAP_STATE_THROTTLED ? put_state(pf, s, "throttled") : 0;
}

/* ---- waits ---- */

/* Set @b to a component's name: "deadline: cc1plus [4410]", "unknown". */
static void name_piece(struct tap_pf *pf, struct tap_buf *b, const struct tap_piece *p)
{
	tap_buf_clear(b);
	tap_buf_puts(b, tap_piece_name(p->kind));
	if (p->task) {
		tap_buf_puts(b, ": ");
		tap_run_make_label(&pf->e->run, b, p->task);
	}
}

/* Begin an arrow from the waker. Return: the flow's number; 0: no waker known. */
static uint64_t put_waker(struct tap_pf *pf, const struct tap_wait_told *w)
{
	const struct tap_task *waker =
		w->state == TAP_STATE_WAKING && w->task->waker_tid > 0
			? tap_timeline_task(pf->e->run.timeline, w->task->waker_tid)
			: NULL;
	struct tap_track_event ev;
	uint64_t track, flow;

	if (!waker || w->task->woken_ns != w->from_ns)
		return 0;
	track = thread_track(pf, waker);
	if (!track)
		return 0;
	ev = tap_track_event(&pf->tracks, track, w->from_ns, TAP_PF_TEV_INSTANT, "wakes",
			     strlen("wakes"));
	flow = tap_pf_unique(&pf->e->machine, ++pf->nr_flows);
	tap_proto_fixed64(&pf->out, TAP_PF_TEV_FLOW, flow);
	tap_track_event_end(&pf->tracks, ev);
	return flow;
}

/*
 * Write the wait, and below it its components one after the other, in order of their first time.
 * Several intervals of the same kind and task are one component with their total time.
 */
static int on_wait(void *ctx, const struct tap_wait_told *w)
{
	struct tap_pf *pf = ctx;
	struct tap_buf name = { 0 };
	uint64_t at_ns = w->from_ns, track, flow;
	struct tap_track_event ev;

	if (w->to_ns - w->from_ns < LONG_WAIT_NS || w->from_ns < pf->e->run.window.from_ns ||
	    !tap_export_picks(pf->e, w->task, w->cpu))
		return 0;
	flow = put_waker(pf, w);
	track = thread_row(pf, w->task, TAP_PF_WAITS);
	ev = tap_track_event(&pf->tracks, track, w->from_ns, TAP_PF_TEV_BEGIN,
			     tap_state_name(w->state), strlen(tap_state_name(w->state)));
	if (flow)
		tap_proto_fixed64(&pf->out, TAP_PF_TEV_FLOW_END, flow);
	tap_track_event_end(&pf->tracks, ev);
	for (unsigned int i = 0; i < w->nr_pieces; i++) {
		name_piece(pf, &name, &w->pieces[i]);
		tap_track_slice(&pf->tracks, track, at_ns, at_ns + w->pieces[i].ns, name.data,
				name.len);
		at_ns += w->pieces[i].ns;
	}
	tap_track_event_end(&pf->tracks,
			    tap_track_event(&pf->tracks, track, w->to_ns, TAP_PF_TEV_END, NULL, 0));
	tap_buf_release(&name);
	return track ? name.err : -ENOMEM;
}

static int on_waits(void *ctx, const struct tap_timeline *t, struct tap_task *task, uint64_t ts_ns)
{
	(void)t;
	(void)ts_ns; /* .since_ns is the time from which it is runnable */
	return tap_pf_put_late_waking(ctx, task);
}

/* ---- slices between two events ---- */

/*
 * Return the lane for a slice: the first track whose last slice has ended, because slices on one
 * track must nest.
 * Return: NULL if out of memory.
 */
static uint64_t *find_slice_lane(struct tap_pf *pf, uint64_t from_ns)
{
	unsigned int i = 0;

	while (i < pf->nr_lanes && pf->lane_ends[i] > from_ns)
		i++;
	return tap_array_at(&pf->lane_ends, &pf->nr_lanes, i, sizeof(*pf->lane_ends), NULL);
}

static int put_slice(struct tap_pf *pf, const struct tap_request *q)
{
	unsigned int nr;
	const struct tap_task *task = tap_timeline_tasks(pf->e->run.timeline, &nr)[q->task];
	uint64_t *lane, track;
	struct tap_buf who = { 0 };

	if (!task->selected)
		return 0;
	lane = find_slice_lane(pf, q->from_ns);
	track = lane ? named_track(pf, OF_SLICES, (uint64_t)(lane - pf->lane_ends), 0,
				   pf->e->opts->slices)
		     : 0;
	if (!track)
		return -ENOMEM;
	*lane = q->to_ns;
	tap_run_make_label(&pf->e->run, &who, task);
	tap_track_slice(&pf->tracks, track, q->from_ns, q->to_ns, who.data, who.len);
	tap_buf_release(&who);
	return 0;
}

int tap_pf_put_slices(struct tap_pf *pf, const struct tap_event *ev)
{
	int ret = tap_request_source_event(&pf->source, &pf->requests, pf->e->run.timeline, ev);

	for (; !ret && pf->requests.nr; pf->requests.nr--)
		ret = put_slice(pf, &pf->requests.v[pf->requests.nr - 1]);
	return ret;
}

/* ---- other events ---- */

bool tap_pf_picks_tid(struct tap_pf *pf, int tid)
{
	const struct tap_task *task = tid > 0 ? tap_identity(&pf->e->run.rec.ids, tid) : NULL;

	return task ? picks_listed(&pf->e->run, task) : pf->e->run.all_tasks;
}

/* Return the track of the task that was running, or the CPU's if it was idle. */
static uint64_t runner_track(struct tap_pf *pf, const struct tap_event *ev, int tid,
			     bool *is_wanted)
{
	const struct tap_task *task = tid > 0 ? tap_identity(&pf->e->run.rec.ids, tid) : NULL;

	*is_wanted = task ? picks_listed(&pf->e->run, task) : pf->e->run.all_tasks;
	return task ? thread_track(pf, task) : cpu_track(pf, ev->cpu);
}

int tap_pf_put_instant(struct tap_pf *pf, const struct tap_pf_kind *kind,
		       const struct tap_event *ev)
{
	bool is_wanted = false;
	uint64_t track = runner_track(pf, ev, tap_num_int(&kind->ftrace.current, ev), &is_wanted);

	if (!track)
		return -ENOMEM;
	if (is_wanted)
		tap_instant_put(&kind->instant, &pf->tracks, track, ev);
	return 0;
}

/* ---- losses ---- */

/* Write the number of lost events as a counter, which returns to 0 at the gap's end. */
static int put_nr_lost(struct tap_pf *pf, const struct tap_event *ev, uint64_t parent)
{
	const uint64_t track =
		named_of_cpu(pf, OF_NR_LOST, ev->cpu, parent, "lost events", "events");

	tap_track_count(&pf->tracks, track, ev->lost.first_ns, (int64_t)ev->lost.count);
	tap_track_count(&pf->tracks, track, ev->ts_ns, 0);
	return track ? 0 : -ENOMEM;
}

int tap_pf_count_loss(struct tap_pf *pf, const struct tap_event *ev)
{
	const uint64_t parent = ev->cpu < 0 ? named_track(pf, OF_NO_CPU, 0, 0, "CPU unknown")
					    : cpu_track(pf, ev->cpu);
	const uint64_t slices = named_of_cpu(pf, OF_LOSSES, ev->cpu, parent, "gaps", NULL);
	struct tap_buf *b = &pf->e->run.scratch;

	if (!slices)
		return -ENOMEM;
	if (ev->lost.count && !ev->lost.is_off && put_nr_lost(pf, ev, parent))
		return -ENOMEM;
	tap_buf_clear(b);
	if (ev->lost.is_off)
		tap_buf_puts(b, "switched off");
	else if (ev->lost.count)
		tap_buf_printf(b, "lost %llu", (unsigned long long)ev->lost.count);
	else
		tap_buf_puts(b, "lost, an unknown number");
	tap_track_slice(&pf->tracks, slices, ev->lost.first_ns, ev->ts_ns, b->data, b->len);
	return 0;
}

/* ---- sched_ext ---- */

/* Write which BPF scheduler was loaded. Rows are [time first seen, name or null, ...]. */
int tap_pf_put_schedulers(struct tap_pf *pf)
{
	const json_t *rows = json_object_get(pf->e->run.rec.meta, "schedulers"), *row;
	const struct tap_window window = pf->e->run.window;
	uint64_t track = 0;
	size_t i;

	json_array_foreach(rows, i, row) {
		const json_t *name = json_array_get(row, 1),
			     *next = json_array_get(json_array_get(rows, i + 1), 0);
		const json_int_t seen_ns = json_integer_value(json_array_get(row, 0)),
				 gone_ns = json_integer_value(next);
		const uint64_t from_ns = seen_ns > 0 && (uint64_t)seen_ns > window.from_ns
						 ? (uint64_t)seen_ns
						 : window.from_ns;
		const uint64_t to_ns = gone_ns > 0 && (uint64_t)gone_ns < window.to_ns
					       ? (uint64_t)gone_ns
					       : window.to_ns;

		if (!json_is_string(name) || from_ns >= to_ns)
			continue;
		track = named_track(pf, OF_SCHEDULER, 0, 0, "sched_ext");
		if (!track)
			return -ENOMEM;
		tap_track_slice(&pf->tracks, track, from_ns, to_ns, json_string_value(name),
				json_string_length(name));
	}
	return 0;
}

/* ---- all ---- */

static const struct tap_watcher_ops states_ops = {
	.states = TAP_STATE_ALL,
	.lost_states = TAP_STATE_ALL,
	.interval = on_interval,
	.waits = on_waits,
};
static const struct tap_watcher_ops cpus_ops = { .unknown_cpus_only = true, .cpu = on_cpu };

unsigned int tap_pf_add_watchers(struct tap_pf *pf, struct tap_watcher *v)
{
	unsigned int nr = 0;

	if (pf->signals)
		v[nr++] = (struct tap_watcher){ .ops = &tap_pelt_ops, .ctx = pf->signals };
	v[nr++] = (struct tap_watcher){ .ops = &tap_explain_waits_ops,
					.ctx = &pf->waits,
					.states = TAP_EXPLAIN_STATES };
	v[nr++] =
		(struct tap_watcher){ .ops = &states_ops,
				      .ctx = pf,
				      .states = pf->signals ? TAP_STATE_ALL : TAP_EXPLAIN_STATES };
	v[nr++] = (struct tap_watcher){ .ops = &cpus_ops, .ctx = pf, .pick = TAP_PICK_CPUS };
	return nr;
}

static bool is_signal(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return tap_pelt_wants(fmt);
}

int tap_pf_init_tracks(struct tap_pf *pf)
{
	struct tap_run *run = &pf->e->run;
	const struct tap_pelt_opts opts = { .window = run->window,
					    .survey = &run->survey,
					    .points_alone = true,
					    .want = wants_series,
					    .point = on_point,
					    .ctx = pf };

	tap_explain_waits_init(&pf->waits,
			       &(const struct tap_explain_waits_opts){
				       .least_ns = LONG_WAIT_NS, .tell = on_wait, .ctx = pf });
	return tap_run_has(run, is_signal, NULL) ? tap_pelt_new(&opts, &pf->signals) : 0;
}

void tap_pf_release_tracks(struct tap_pf *pf)
{
	tap_pelt_free(pf->signals);
	tap_explain_waits_release(&pf->waits);
	free(pf->series);
	free(pf->threads);
	free(pf->in_cgroups);
	tap_request_source_release(&pf->source);
	tap_requests_release(&pf->requests);
	free(pf->lane_ends);
	tap_tracks_release(&pf->tracks);
}
