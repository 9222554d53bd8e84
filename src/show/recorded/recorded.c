// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/recorded/recorded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "show/recorded/counts.h"
#include "show/recorded/history.h"

struct tap_recorded {
	struct tap_run *run;
	struct tap_history history;
	uint64_t *released_ns; /* by slot: all 0 */
	struct tap_origin *origins; /* has room for all origins of a reading */
	/* of the last reading */
	struct tap_counts counts;
	struct tap_tally_cpu_view *cpus;
	struct tap_tally_llc_view *llcs;
	struct tap_tally_task *tasks;
	struct tap_tally_task_waits *waits;
};

static void release_reading(struct tap_recorded *r)
{
	tap_counts_release(&r->counts);
	r->counts = (struct tap_counts){ 0 };
	free(r->tasks);
	free(r->waits);
	r->tasks = NULL;
	r->waits = NULL;
}

void tap_recorded_close(struct tap_recorded *r)
{
	if (!r)
		return;
	release_reading(r);
	free(r->cpus);
	free(r->llcs);
	free(r->origins);
	free(r->released_ns);
	tap_history_release(&r->history);
	free(r);
}

static int make_room(struct tap_recorded *r)
{
	const struct tap_history *h = &r->history;

	r->released_ns = calloc(h->slots.nr, sizeof(*r->released_ns));
	r->origins = calloc((size_t)h->starts.nr_cpus + r->run->survey.nr_origins + 1,
			    sizeof(*r->origins));
	r->cpus = calloc(h->nr_cpus + 1, sizeof(*r->cpus));
	r->llcs = calloc(h->nr_cpus + 1, sizeof(*r->llcs));
	return r->released_ns && r->origins && r->cpus && r->llcs ? 0 : -ENOMEM;
}

int tap_recorded_open(struct tap_recorded **out, struct tap_run *run, struct tap_err *err)
{
	struct tap_recorded *r = calloc(1, sizeof(*r));
	int ret;

	*out = NULL;
	if (!r)
		return tap_err_nomem(err);
	r->run = run;
	ret = tap_run_check_needs(run, TAP_NEEDS_SWITCHES, err)
		      ?: tap_history_read(&r->history, run, err);
	if (!ret && make_room(r))
		ret = tap_err_nomem(err);
	if (ret)
		tap_recorded_close(r);
	else
		*out = r;
	return ret;
}

/* ---- reading ---- */

/*
 * Set the survey's origins for a reading from @ns on: what long slices show at @ns, then those that
 * the survey itself found later. Return: their number.
 */
static unsigned int find_origins(struct tap_recorded *r, uint64_t ns)
{
	const struct tap_survey *s = &r->run->survey;
	unsigned int nr = tap_starts_origins(&r->history.starts, ns, r->origins);

	for (unsigned int i = 0; i < s->nr_origins; i++)
		if (s->origins[i].from_ns >= ns)
			r->origins[nr++] = s->origins[i];
	return nr;
}

/*
 * Read a part of the run's window, with the survey of all of it: so what is unknown is the same in
 * all readings.
 */
static int read_part(struct tap_recorded *r, struct tap_err *err)
{
	struct tap_run *run = r->run;
	struct tap_survey *s = &run->survey;
	const struct tap_watcher watcher = { .ops = &tap_counts_ops, .ctx = &r->counts };
	const struct tap_window window = run->window;
	const uint64_t read_from_ns = run->read_from_ns;
	struct tap_origin *const origins = s->origins;
	const unsigned int nr_origins = s->nr_origins;
	uint64_t start_ns = tap_starts_find(&r->history.starts, r->counts.from_ns, r->counts.to_ns);
	int ret;

	if (start_ns < read_from_ns)
		start_ns = read_from_ns;
	r->counts.first_ns = r->counts.from_ns + (r->counts.from_ns > window.from_ns);
	run->window = (struct tap_window){ r->counts.first_ns, r->counts.to_ns };
	run->read_from_ns = start_ns;
	s->nr_origins = find_origins(r, start_ns);
	s->origins = r->origins;
	ret = tap_run_watch(run, &watcher, 1, err);
	run->window = window;
	run->read_from_ns = read_from_ns;
	s->origins = origins;
	s->nr_origins = nr_origins;
	return ret;
}

/* ---- the view ---- */

static void view_cpus(struct tap_recorded *r, struct tap_tally_view *view)
{
	const struct tap_history *h = &r->history;

	for (unsigned int i = 0; i < h->nr_cpus; i++) {
		struct tap_tally_llc_view *llc = r->llcs;

		if (!h->cpu_is_known[i])
			continue;
		r->cpus[view->nr_cpus] = r->counts.cpus[i].sums;
		r->cpus[view->nr_cpus].llc = h->llcs[i];
		r->cpus[view->nr_cpus++].cpu = i;
		view->cpu_ns += r->counts.cpus[i].sums.cpu_ns;
		while (llc < r->llcs + view->nr_llcs && llc->llc != h->llcs[i])
			llc++;
		if (llc == r->llcs + view->nr_llcs) {
			*llc = (struct tap_tally_llc_view){ .llc = h->llcs[i] };
			view->nr_llcs++;
		}
		llc->idle_while_waiting_ns += r->counts.cpus[i].idle_while_waiting_ns;
	}
	view->cpus = r->cpus;
	view->llcs = r->llcs;
}

struct row {
	const struct tap_task *task;
	const struct tap_counted_task *counted;
};

static int by_tid(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->task->tid != y->task->tid)
		return x->task->tid < y->task->tid ? -1 : 1;
	return x->task->index < y->task->index ? -1 : 1;
}

static bool is_of_use(const struct tap_tally_task *sums)
{
	return sums->run_ns || sums->waits || sums->voluntary || sums->involuntary ||
	       sums->migrations;
}

/* Return: rows of tasks of which something was counted, by tid; NULL when out of memory. */
static struct row *find_rows(const struct tap_recorded *r, unsigned int *nr_rows)
{
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(r->run->timeline, &nr);
	struct row *rows = calloc(nr + 1, sizeof(*rows));

	*nr_rows = 0;
	for (unsigned int i = 0; rows && i < nr && i < r->counts.nr_tasks; i++)
		if (is_of_use(&r->counts.tasks[i].sums))
			rows[(*nr_rows)++] = (struct row){ tasks[i], &r->counts.tasks[i] };
	if (*nr_rows)
		qsort(rows, *nr_rows, sizeof(*rows), by_tid);
	return rows;
}

static struct tap_tally_task task_row(const struct tap_recorded *r, const struct row *row)
{
	struct tap_tally_task task = row->counted->sums;
	uint64_t until_ns;
	const struct tap_recorded_task *what =
		row->counted->what
			?: tap_recorded_slots_find(&r->history.slots, row->task->tid,
						   r->counts.to_ns, NULL, &until_ns);
	int cpu = row->task->cpu >= 0 ? row->task->cpu : row->task->run_cpu;

	task.tid = task.tgid = (unsigned int)row->task->tid;
	task.slot = TAP_TALLY_ROOT;
	if (what) {
		if (what->tgid >= 0)
			task.tgid = (unsigned int)what->tgid;
		task.start_ns = what->start_ns;
		task.slot = what->slot;
		memcpy(task.comm, what->comm, strnlen(what->comm, sizeof(task.comm) - 1));
	}
	task.cpu = cpu >= 0 ? (unsigned int)cpu : 0;
	task.util = TAP_TALLY_UNKNOWN;
	task.prio = row->task->prio;
	return task;
}

static int view_tasks(struct tap_recorded *r, struct tap_tally_view *view)
{
	struct row *rows = find_rows(r, &view->nr_tasks);

	r->tasks = calloc(view->nr_tasks + 1, sizeof(*r->tasks));
	r->waits = calloc(view->nr_tasks + 1, sizeof(*r->waits));
	if (!rows || !r->tasks || !r->waits) {
		free(rows);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < view->nr_tasks; i++) {
		r->tasks[i] = task_row(r, &rows[i]);
		r->waits[i] = rows[i].counted->waits;
	}
	free(rows);
	view->tasks = r->tasks;
	view->task_waits = r->waits;
	view->knows_task_waits = true;
	return 0;
}

static unsigned int count_tasks(const struct tap_recorded *r)
{
	const struct tap_history *h = &r->history;
	unsigned int nr = h->nr_listed;

	for (unsigned int i = 0; i < h->nr_lives; i++)
		nr += h->lives[i].born_ns <= r->counts.to_ns &&
		      h->lives[i].died_ns > r->counts.from_ns;
	return nr;
}

/* A loss counts where it ends; one without an end where it begins. A loss of unknown size counts as
 * one event. */
static uint64_t count_missed(const struct tap_recorded *r)
{
	const struct tap_survey *s = &r->run->survey;
	uint64_t nr = 0;

	for (unsigned int i = 0; i < s->nr_kept_losses; i++) {
		const struct tap_loss *l = &s->losses[i];
		uint64_t ns = l->to_ns == UINT64_MAX ? l->from_ns : l->to_ns;

		if (!l->is_off && tap_survey_counts_loss(s, l) && ns > r->counts.from_ns &&
		    ns <= r->counts.to_ns)
			nr += l->count ?: 1;
	}
	return nr;
}

static int fill_view(struct tap_recorded *r, struct tap_tally_view *view)
{
	const struct tap_survey *s = &r->run->survey;

	view->from_waking = s->buffer[TAP_SCHED_WAKING] != TAP_NO_BUFFER;
	view->nr_slots = r->history.slots.nr;
	view->rows = r->counts.rows;
	view->run_ns = r->counts.run_ns;
	view->names = r->history.slots.names;
	view->released_ns = r->released_ns;
	view_cpus(r, view);
	view->all_tasks = count_tasks(r);
	view->missed = count_missed(r);
	memcpy(view->migrations, r->counts.migrations, sizeof(view->migrations));
	return view_tasks(r, view);
}

int tap_recorded_read(struct tap_recorded *r, uint64_t from_ns, uint64_t to_ns,
		      struct tap_tally_view *view, struct tap_err *err)
{
	const struct tap_window *whole = &r->run->window;
	int ret = 0;

	release_reading(r);
	*view = (struct tap_tally_view){ .from_ns = from_ns, .to_ns = to_ns };
	r->counts = (struct tap_counts){
		.slots = &r->history.slots,
		.llcs = r->history.llcs,
		.nr_llcs = r->history.nr_cpus,
		.has_migrations = r->run->survey.buffer[TAP_SCHED_MIGRATE] != TAP_NO_BUFFER,
		.starts = &r->history.starts,
		.has_no_wakeups =
			!tap_survey_has_wakeups(&r->run->survey) && !r->history.has_queueings,
		.from_ns = tap_window_clip(whole, from_ns),
		.to_ns = tap_window_clip(whole, to_ns),
	};
	if (tap_counts_init(&r->counts))
		return tap_err_nomem(err);
	if (r->counts.from_ns < r->counts.to_ns)
		ret = read_part(r, err);
	if (!ret && fill_view(r, view))
		ret = tap_err_nomem(err);
	return ret;
}
