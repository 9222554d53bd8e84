// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/report/measured.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/thread.h"
#include "timeline/run/unmatched.h"
#include "analysis/metric/bounds.h"

#define MAX_THREADS 64 /* each thread has a file mapped, and its own state */

static void on_note(void *ctx, const struct tap_err *note)
{
	tap_buf_printf(ctx, "%s\n", note->text);
}

/*
 * Return: true if requests are to be measured and the recording has their events. If it lacks them,
 * add a note.
 */
static bool has_requests(struct tap_measured *m, const struct tap_run *run,
			 const struct tap_measured_opts *opts, struct tap_request_source *source)
{
	struct tap_err err = { 0 };
	unsigned int nr;
	const struct tap_format *const *formats = tap_reader_formats(run->rec.reader, &nr);

	if (!opts->between)
		return false;
	if (!tap_request_source_init(source, opts->between, opts->between_by, &err) &&
	    !tap_request_source_check(source, formats, nr, &err))
		return true;
	on_note(&m->notes, &err);
	return false;
}

static int feed_watchers(struct tap_measured *m, struct tap_run *run, struct tap_err *err)
{
	struct tap_watcher watchers[TAP_MAX_WATCHERS];

	return tap_run_watch(run, watchers, tap_measure_add_watchers(&m->measure, watchers), err);
}

static int measure_run(struct tap_measured *m, struct tap_run *run,
		       const struct tap_measured_opts *opts, struct tap_err *err)
{
	struct tap_request_source source = { 0 };
	struct tap_measure_opts of_measure = {
		.timeline = &run->timeline, .survey = &run->survey, .window = run->window,
		.has_throttling = run->nr_throttling,
		.by_task = opts->by_task, .has_blocks = opts->has_blocks,
		.has_bounds = opts->has_bounds, .all_tasks = run->all_tasks,
		.paths = {
			.of_tasks = opts->has_paths, .command = tap_recording_command(&run->rec),
			.info = tap_reader_info(run->rec.reader),
			.requests = has_requests(m, run, opts, &source) ? &source : NULL,
		},
	};
	int ret = tap_facts_read(&m->facts, run);

	of_measure.has_migrations = !tap_run_check_needs(run, TAP_NEEDS_MIGRATIONS, NULL) ||
				    tap_facts_has_event(&m->facts, "sched_migrate_task");
	of_measure.has_deadlines =
		!opts->by_task && (tap_survey_has_event(&run->survey, "sched_dl_pick") ||
				   tap_facts_has_event(&m->facts, "sched_dl_pick"));
	ret = ret ?: tap_measure_init(&m->measure, &of_measure);

	ret = ret ? tap_err_set(err, ret, "out of memory") : feed_watchers(m, run, err);
	if (!ret && (tap_measure_end(&m->measure, &m->metrics) ||
		     (opts->has_bounds && tap_metrics_bound(&m->metrics, &m->measure))))
		ret = tap_err_nomem(err);
	tap_request_source_release(&source);
	return ret;
}

int tap_measured_check_bench(const struct tap_measured_opts *opts, const char *what,
			     struct tap_err *err)
{
	const struct tap_select_words *s = &opts->input->select;

	if (!opts->input->window && !opts->by_task && !opts->between && !s->tgids.nr &&
	    !s->tids.nr && !s->comms.nr && !s->cgroups.nr)
		return 0;
	return tap_err_set(err, -EINVAL,
			   "'%.300s' has no tasks, times or requests that options could select: "
			   "they need recordings",
			   what);
}

static int read_bench(struct tap_measured *m, const struct tap_measured_opts *opts, bool *usage,
		      struct tap_err *err)
{
	int ret = tap_measured_check_bench(opts, m->path, err);

	*usage = ret;
	m->bench.path = m->path;
	ret = ret ?: tap_bench_file_read(&m->bench, err);
	if (!ret && tap_facts_read_bench(&m->facts, &m->bench))
		ret = tap_err_nomem(err);
	return ret;
}

static int read_recording(struct tap_measured *m, const struct tap_measured_opts *opts, bool *usage,
			  struct tap_err *err)
{
	const struct tap_listener listener = { .note = on_note, .ctx = &m->notes };
	struct tap_input_opts input = *opts->input;
	struct tap_run run;
	int ret;

	input.input = (struct tap_strings){ .v = &m->path, .nr = 1 };
	ret = tap_run_input(&run, &input, &listener, usage, err);
	tap_recording_note_incomplete(&run.rec);
	if (!ret)
		ret = tap_run_survey(&run, err)
			      ?: tap_run_check_needs(&run, TAP_NEEDS_SWITCHES, err);
	ret = ret ?: measure_run(m, &run, opts, err);
	tap_recording_note_damage(&run.rec);
	m->is_unmatched = !ret && !run.all_tasks && tap_unmatched(&run);
	if (!opts->has_blocks)
		tap_measure_release(&m->measure);
	tap_run_close(&run);
	return ret;
}

static int read_one(struct tap_measured *m, const struct tap_measured_opts *opts, bool *usage,
		    struct tap_err *err)
{
	return (tap_bench_is_file(m->path) ? read_bench : read_recording)(m, opts, usage, err);
}

/* State shared by the threads. */
struct reading {
	struct tap_measured *v;
	unsigned int nr;
	const struct tap_measured_opts *opts;
	atomic_uint next;
	struct tap_read_result {
		int ret;
		bool usage;
		struct tap_err err;
	} * results;
};

static void *read_some(void *arg)
{
	struct reading *r = arg;
	unsigned int i;

	while ((i = atomic_fetch_add(&r->next, 1)) < r->nr)
		r->results[i].ret =
			read_one(&r->v[i], r->opts, &r->results[i].usage, &r->results[i].err);
	return NULL;
}

/*
 * Read all recordings in parallel. The calling thread takes part, so it works even if no thread can
 * be started.
 */
static void read_all(struct reading *r)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[MAX_THREADS];
	unsigned int nr = 0;

	json_object_seed(0); /* initialize jansson's hash seed before several threads need it */
	while (nr < MAX_THREADS && nr + 1 < r->nr && (long)nr + 1 < nr_cpus &&
	       !tap_thread_start(&threads[nr], read_some, r))
		nr++;
	read_some(r);
	while (nr)
		pthread_join(threads[--nr], NULL);
}

int tap_measured_read(struct tap_measured *v, unsigned int nr, const struct tap_measured_opts *opts,
		      bool *usage, struct tap_err *err)
{
	struct reading r = { v, nr, opts, .results = calloc(nr + 1, sizeof(*r.results)) };
	int ret = 0;

	*usage = false;
	if (!r.results)
		return tap_err_nomem(err);
	read_all(&r);
	for (unsigned int i = 0; !ret && i < nr; i++) {
		ret = r.results[i].ret;
		*usage = r.results[i].usage;
		if (ret)
			*err = r.results[i].err;
	}
	free(r.results);
	return ret;
}

const struct tap_metrics *tap_measured_all(const struct tap_measured *m)
{
	return m->bench.nr_rounds ? &m->bench.all : &m->metrics;
}

void tap_measured_release(struct tap_measured *m)
{
	tap_bench_file_release(&m->bench);
	tap_measure_release(&m->measure);
	tap_metrics_release(&m->metrics);
	tap_facts_release(&m->facts);
	tap_buf_release(&m->notes);
}
