// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/selected.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/array.h"

/* One life of a tid. */
struct tap_run_life {
	int tid;
	bool is_selected;
	uint64_t seen_ns; /* time of the first event that shows the task */
	/* the values that were matched last */
	char comm[TAP_TASK_COMM];
	uint64_t cgroup;
	int tgid;
};

struct finding {
	struct tap_run *run;
	struct tap_timeline *timeline; /* tracks identities only */
	unsigned int nr_seen; /* tasks of .timeline that have an entry in .lives */
	bool is_in_window;
};

/* Marks of events. A move of a whole process between cgroups names only one of its threads. */
enum { TELLS_IDENTITY = 1, NAMES_WOKEN = 2, MOVES_OTHERS = 4 };

static uint16_t mark_identity(void *run, const struct tap_format *fmt)
{
	const enum tap_sched_kind kind = tap_sched_kind(fmt);
	const struct tap_run *r = run;

	if (kind == TAP_SCHED_WAKING || kind == TAP_SCHED_WAKEUP)
		return NAMES_WOKEN;
	if (!tap_timeline_tells_identity(fmt) && !(r->by_cgroup && kind == TAP_SCHED_CGROUP_NAMED))
		return 0;
	return TELLS_IDENTITY | (kind == TAP_SCHED_CGROUP_ATTACH ? MOVES_OTHERS : 0);
}

static bool is_looked_at(const struct tap_run_life *l, const struct tap_task *task, int tgid)
{
	return l->tgid == tgid && l->cgroup == task->cgroup &&
	       !memcmp(l->comm, task->comm, TAP_TASK_COMM);
}

static void look_at(struct finding *f, const struct tap_task *task)
{
	struct tap_run_life *l = &f->run->lives[task->index];
	int tgid = tap_task_tgid(task);

	if (!f->is_in_window || l->is_selected || is_looked_at(l, task, tgid))
		return;
	memcpy(l->comm, task->comm, TAP_TASK_COMM);
	l->cgroup = task->cgroup;
	l->tgid = tgid;
	l->is_selected = tap_pick_task(&f->run->pick, &f->run->rec.ids.cgroups, task);
}

/* Add a life for each task that the event has introduced. Return: 0 or -ENOMEM. */
static int add_seen(struct finding *f, uint64_t ns)
{
	struct tap_task *const *tasks;
	unsigned int nr;

	tasks = tap_timeline_tasks(f->timeline, &nr);
	for (; f->nr_seen < nr; f->nr_seen++) {
		const struct tap_run_life life = { .tid = tasks[f->nr_seen]->tid,
						   .seen_ns = ns,
						   .tgid = INT_MIN };

		if (!tap_array_at(&f->run->lives, &f->run->nr_lives, f->nr_seen, sizeof(life),
				  NULL))
			return -ENOMEM;
		f->run->lives[f->nr_seen] = life;
	}
	return 0;
}

static void look_at_all(struct finding *f)
{
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(f->timeline, &nr);

	for (unsigned int i = 0; i < nr && i < f->nr_seen; i++)
		if (tasks[i]->state != TAP_STATE_DEAD)
			look_at(f, tasks[i]);
}

/*
 * Name a task whose first event is its wakeup: its other events may lie after the window. Return: 0
 * or -ENOMEM.
 */
static int name_woken(struct finding *f, const struct tap_event_kind *kind,
		      const struct tap_event *ev)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < kind->nr_tasks; i++) {
		int tid = (int)tap_field_u64(kind->tasks[i].tid, ev->data, ev->size);
		struct tap_task *task = tap_timeline_task(f->timeline, tid);
		const char *comm;
		uint32_t len;

		if (task || !kind->tasks[i].comm)
			continue;
		ret = tap_timeline_see(f->timeline, tid, &task);
		comm = tap_field_bytes(kind->tasks[i].comm, ev->data, ev->size, &len);
		if (task)
			tap_task_rename(task, comm, len);
	}
	return ret;
}

static void look_at_named(struct finding *f, const struct tap_event_kind *kind,
			  const struct tap_event *ev)
{
	const struct tap_task *task = tap_timeline_task(f->timeline, tap_event_current(kind, ev));

	if (ev->mark & MOVES_OTHERS) {
		look_at_all(f);
		return;
	}
	if (task)
		look_at(f, task);
	for (unsigned int i = 0; i < kind->nr_tasks; i++) {
		task = tap_timeline_task(
			f->timeline, (int)tap_field_u64(kind->tasks[i].tid, ev->data, ev->size));
		if (task)
			look_at(f, task);
	}
}

static int take_event(struct finding *f, const struct tap_event *ev)
{
	const struct tap_event_kind *kind =
		ev->fmt ? tap_event_kind(&f->run->rec.kinds, ev->fmt) : NULL;
	int ret;

	if (!kind)
		return ev->fmt ? -ENOMEM : 0;
	if (!f->is_in_window && ev->ts_ns >= f->run->window.from_ns) {
		f->is_in_window = true;
		look_at_all(f);
	}
	ret = ev->mark & NAMES_WOKEN ? name_woken(f, kind, ev)
				     : tap_timeline_event(f->timeline, ev);
	ret = ret ?: add_seen(f, ev->ts_ns);
	if (!ret)
		look_at_named(f, kind, ev);
	return ret;
}

static int read_all(struct finding *f, struct tap_err *err)
{
	struct tap_reader *reader = f->run->rec.reader;
	const struct tap_event *const *batch;
	int nr, ret = 0;

	tap_reader_rewind(reader);
	tap_reader_limit(reader, f->run->read_from_ns, f->run->window.to_ns);
	tap_reader_unmerged(reader, false);
	tap_reader_mark(reader, mark_identity, f->run);
	tap_recording_watch(&f->run->rec, "looking for the selected tasks");
	while (!ret && (nr = tap_reader_batch(reader, &batch, err)) > 0)
		for (int i = 0; !ret && i < nr; i++)
			ret = take_event(f, batch[i]);
	if (ret)
		return tap_err_set(err, ret, "out of memory");
	f->is_in_window = true;
	look_at_all(f);
	return nr;
}

/*
 * A list that was read at the recording's end describes the last life of each tid, and which life
 * that is becomes known only at the end. So deselect earlier lives that matched only because of
 * such a list.
 */
static void check_listed(struct finding *f)
{
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(f->timeline, &nr);

	for (unsigned int i = 0; i < nr && i < f->nr_seen; i++) {
		const unsigned int listed = (tasks[i]->cgroup_told ? 0 : TAP_SELECT_CGROUPS) |
					    (tasks[i]->tgid_told ? 0 : TAP_SELECT_TGIDS);

		if (!tap_pick_task_by(&f->run->pick, &f->run->rec.ids.cgroups, listed, tasks[i]))
			f->run->lives[i].is_selected = false;
	}
}

static int by_tid(const void *a, const void *b)
{
	const struct tap_run_life *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->seen_ns < y->seen_ns ? -1 : x->seen_ns > y->seen_ns;
}

int tap_run_find_selected(struct tap_run *run, struct tap_err *err)
{
	const struct tap_timeline_opts opts = { .window = run->window,
						.lists = &run->rec.ids.lists,
						.lives_only = true };
	struct finding f = { .run = run };
	int ret;

	/* -t alone needs no pass: a task's tid never changes */
	if (run->lives ||
	    !(run->pick.select->by & TAP_SELECT_TASKS & ~(unsigned int)TAP_SELECT_TIDS))
		return 0;
	if (tap_timeline_new(&opts, &f.timeline))
		return tap_err_nomem(err);
	ret = read_all(&f, err);
	check_listed(&f);
	if (run->nr_lives)
		qsort(run->lives, run->nr_lives, sizeof(*run->lives), by_tid);
	tap_timeline_free(f.timeline);
	return ret;
}

/*
 * Return the latest life of the tid that was seen by @ns, else its first life. NULL: no event names
 * the tid.
 */
static const struct tap_run_life *find_life(const struct tap_run *run, int tid, uint64_t ns)
{
	unsigned int low = 0, high = run->nr_lives;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;
		const struct tap_run_life *l = &run->lives[mid];

		if (l->tid < tid || (l->tid == tid && l->seen_ns <= ns))
			low = mid + 1;
		else
			high = mid;
	}
	if (low && run->lives[low - 1].tid == tid)
		return &run->lives[low - 1];
	return low < run->nr_lives && run->lives[low].tid == tid ? &run->lives[low] : NULL;
}

bool tap_run_is_selected(const struct tap_run *run, const struct tap_task *task, uint64_t ns)
{
	const struct tap_run_life *l = find_life(run, task->tid, ns);

	return l ? l->is_selected : tap_pick_task(&run->pick, &run->rec.ids.cgroups, task);
}
