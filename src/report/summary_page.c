// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

#define TOP_KINDS 10u
#define TOP_LOSSES 10u

static struct summary *sum_of(const struct tap_report *r)
{
	return (struct summary *)r;
}

static double pct(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double per_second(uint64_t count, uint64_t ns)
{
	return ns ? (double)count * 1e9 / (double)ns : 0;
}

static uint64_t window_ns(const struct tap_report *r)
{
	return r->run.end_ns - r->run.start_ns;
}

/* ---- what it is ---- */

static void put_escaped(struct tap_buf *b, const char *s)
{
	tap_text_escape(b, s, strlen(s));
}

static void text_events(struct tap_report *r, struct tap_table *t)
{
	const struct tap_survey *s = &r->run.survey;
	struct tap_buf *b = &r->page.buf;

	(void)t;
	tap_buf_printf(b, "events     %" PRIu64 ", %.0f per second, ", s->events,
		       per_second(s->events, window_ns(r)));
	if (s->events)
		tap_buf_printf(b, "%.1f bytes each\n", (double)s->bytes / (double)s->events);
	else
		tap_buf_puts(b, "no bytes\n");
}

static void put_figure(struct tap_buf *b, const json_t *price, const char *key, int decimals,
		       const char *unit)
{
	const json_t *v = json_object_get(price, key);

	if (json_is_number(v))
		tap_buf_printf(b, "%.*f%s", decimals, json_number_value(v), unit);
	else
		tap_buf_puts(b, "not known");
}

static void text_price(struct tap_report *r, struct tap_table *t)
{
	const json_t *price = json_object_get(r->run.rec.meta, "price");
	struct tap_buf *b = &r->page.buf;

	(void)t;
	if (!json_is_object(price)) {
		tap_buf_puts(b, "price      not known\n");
		return;
	}
	tap_buf_puts(b, "price      events ");
	put_figure(b, price, "events", 0, "");
	tap_buf_puts(b, ", bytes ");
	put_figure(b, price, "bytes", 0, "");
	tap_buf_puts(b, ", lost ");
	put_figure(b, price, "lost", 0, "");
	tap_buf_puts(b, "\n  probes   ");
	put_figure(b, price, "ns_per_event", 0, " ns per event");
	tap_buf_puts(b, ", share of CPU ");
	put_figure(b, price, "probe_cpu_pct", 2, " %");
	tap_buf_puts(b, "\n  recorder ");
	put_figure(b, price, "recorder_ns_per_event", 0, " ns per event");
	tap_buf_puts(b, ", share of CPU ");
	put_figure(b, price, "recorder_cpu_pct", 2, " %");
	tap_buf_char(b, '\n');
}

static void json_head(struct tap_report *r, struct tap_table *t)
{
	const struct tap_survey *s = &r->run.survey;

	(void)t;
	tap_page_u64(&r->page, "events", s->events);
	tap_page_u64(&r->page, "bytes", s->bytes);
	tap_page_json(&r->page, "price", json_object_get(r->run.rec.meta, "price"));
}

/* ---- what was lost ---- */

static bool in_window(const struct tap_report *r, const struct tap_loss *l)
{
	return l->to_ns >= r->run.start_ns && l->from_ns <= r->run.end_ns;
}

static void put_losses(struct tap_report *r, struct tap_table *t, unsigned int most)
{
	static const struct tap_column columns[] = {
		{ "cpu", "lost on CPU", TAP_CELL_INT, .width = 11 },
		{ "from_ns", "from", TAP_CELL_AT, .width = 18 },
		{ "to_ns", "to", TAP_CELL_AT, .width = 18 },
		{ "count", "events", TAP_CELL_COUNT, .width = 10, .tint = TAP_TINT_RED },
		{ 0 }
	};
	const struct tap_survey *s = &r->run.survey;

	tap_table_begin(t, &r->page, columns, "intervals");
	for (unsigned int i = 0; i < s->nr_kept_losses && most; i++) {
		const struct tap_loss *l = &s->losses[i];

		if (!in_window(r, l))
			continue;
		most--;
		if (l->cpu >= 0)
			tap_table_s64(t, l->cpu);
		else
			tap_table_none(t);
		tap_table_u64(t, l->from_ns > r->run.start_ns ? l->from_ns : r->run.start_ns);
		tap_table_u64(t, l->to_ns < r->run.end_ns ? l->to_ns : r->run.end_ns);
		if (l->count)
			tap_table_u64(t, l->count);
		else
			tap_table_none(t);
		tap_table_row(t);
	}
	tap_table_end(t);
}

static void json_losses(struct tap_report *r, struct tap_table *t)
{
	const struct tap_survey *s = &r->run.survey;

	(void)t;
	tap_page_object(&r->page, "lost");
	tap_page_u64(&r->page, "total", s->lost);
	tap_page_bool(&r->page, "is_lower_bound", s->lost_unknown);
	tap_page_u64(&r->page, "nr_intervals", s->nr_losses);
	put_losses(r, t, UINT_MAX);
	tap_page_object_end(&r->page);
}

static void text_losses(struct tap_report *r, struct tap_table *t)
{
	uint64_t nr = r->run.survey.nr_losses;

	(void)t;
	if (!nr)
		return;
	tap_buf_char(&r->page.buf, '\n');
	put_losses(r, t, TOP_LOSSES);
	if (nr > TOP_LOSSES)
		tap_buf_printf(&r->page.buf, "%" PRIu64 " more (--json has them)\n", nr - TOP_LOSSES);
}

/* ---- what was recorded ---- */

static const struct tap_column kind_columns[] = {
	{ "event", "event", TAP_CELL_TEXT, .width = 42 },
	{ "count", "count", TAP_CELL_COUNT, .width = 12 },
	{ NULL, "per second", TAP_CELL_REAL, .width = 14, .places = 1 },
	{ 0 }
};

static unsigned int nr_kinds(const struct tap_report *r)
{
	unsigned int nr = r->run.survey.nr_kinds;

	return tap_page_is_for(&r->page, TAP_FOR_PEOPLE) && nr > TOP_KINDS ? TOP_KINDS : nr;
}

static void put_kind(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_survey_kind *k = &r->run.survey.kinds[i];
	struct tap_buf name = { 0 };

	tap_buf_printf(&name, "%s:%s", k->fmt->system, k->fmt->name);
	tap_table_text(t, name.data, name.len);
	tap_table_u64(t, k->count);
	tap_table_real(t, per_second(k->count, window_ns(r)));
	tap_buf_release(&name);
}

static void put_more_kinds(struct tap_report *r, struct tap_table *t)
{
	const struct tap_survey *s = &r->run.survey;
	uint64_t rest = 0;

	for (unsigned int i = TOP_KINDS; i < s->nr_kinds; i++)
		rest += s->kinds[i].count;
	if (s->nr_kinds > TOP_KINDS)
		tap_buf_printf(&t->page->buf, "%u more kinds (--json has them), %" PRIu64 " events\n",
			       s->nr_kinds - TOP_KINDS, rest);
}

static bool was_on(const json_t *event)
{
	const char *status = json_string_value(json_object_get(event, "status"));

	return !status || !strcmp(status, "on");
}

static void json_missing(struct tap_report *r, struct tap_table *t)
{
	json_t *missing = json_array(), *e;
	size_t i;

	(void)t;
	json_array_foreach(json_object_get(r->run.rec.meta, "events"), i, e)
		if (!was_on(e) && json_array_append(missing, e))
			r->page.buf.err = -ENOMEM;
	tap_page_json(&r->page, "not_recorded", missing);
	json_decref(missing);
}

static bool is_absent(const json_t *event)
{
	const char *status = json_string_value(json_object_get(event, "status"));

	return status && !strcmp(status, "absent");
}

#define NAMED_ABSENT 3u

/* What this kernel cannot give is the same in each of its recordings: one line will do. */
static void text_absent(struct tap_report *r, struct tap_table *t)
{
	struct tap_buf s = { 0 };
	unsigned int nr = 0;
	const json_t *e;
	size_t i;

	(void)t;
	json_array_foreach(json_object_get(r->run.rec.meta, "events"), i, e) {
		const char *name = json_string_value(json_object_get(e, "name"));

		if (!name || !is_absent(e) || nr++ >= NAMED_ABSENT)
			continue;
		tap_buf_puts(&s, nr == 1 ? "absent on that kernel: " : ", ");
		put_escaped(&s, name);
	}
	if (nr > NAMED_ABSENT)
		tap_buf_printf(&s, " and %u more", nr - NAMED_ABSENT);
	if (nr) {
		tap_buf_puts(&s, " (--json: why)");
		tap_buf_char(&r->page.buf, '\n');
		tap_page_sentence(&r->page, s.data, s.len);
	}
	tap_buf_release(&s);
}

/* What should have worked is told one by one. */
static void text_missing(struct tap_report *r, struct tap_table *t)
{
	struct tap_buf s = { 0 };
	bool first = true;
	const json_t *e;
	size_t i;

	(void)t;
	json_array_foreach(json_object_get(r->run.rec.meta, "events"), i, e) {
		const char *system = json_string_value(json_object_get(e, "system"));
		const char *name = json_string_value(json_object_get(e, "name"));
		const char *reason = json_string_value(json_object_get(e, "reason"));

		if (!system || !name || was_on(e) || is_absent(e))
			continue;
		tap_buf_puts(&r->page.buf, first ? "\nasked for, but not recorded\n" : "");
		first = false;
		tap_buf_clear(&s);
		put_escaped(&s, system);
		tap_buf_char(&s, ':');
		put_escaped(&s, name);
		tap_buf_char(&s, ' ');
		put_escaped(&s, json_string_value(json_object_get(e, "status")));
		tap_buf_puts(&s, ": ");
		put_escaped(&s, reason ? reason : "reason not known");
		tap_page_sentence(&r->page, s.data, s.len);
	}
	tap_buf_release(&s);
}

/* ---- CPUs ---- */

static const double parts[] = { 0.5, 0.9, 0.99 };
static const char *const part_keys[] = { "p50", "p90", "p99" };
#define NR_PARTS (sizeof(parts) / sizeof(*parts))

/* A CPU's signal. Return: NULL where nothing is known of it. */
static const struct tap_pelt_series *signal_of(const struct tap_report *r, const char *name, unsigned int cpu)
{
	unsigned int nr = 0;
	struct tap_pelt_series *const *series =
		sum_of(r)->signals ? tap_pelt_series(sum_of(r)->signals, &nr) : NULL;

	for (unsigned int i = 0; i < nr; i++)
		if (series[i]->cpu == (int)cpu && !strcmp(series[i]->signal->name, name))
			return series[i]->hist.count ? series[i] : NULL;
	return NULL;
}

static void put_signal_members(struct tap_report *r, const char *name, unsigned int cpu)
{
	const struct tap_pelt_series *s = signal_of(r, name, cpu);

	if (!s) {
		tap_page_null(&r->page, name);
		return;
	}
	tap_page_object(&r->page, name);
	tap_page_u64(&r->page, "known_ns", s->hist.count);
	tap_page_real(&r->page, "known_pct", pct(s->hist.count, window_ns(r)));
	tap_page_real(&r->page, "avg", tap_hist_mean(&s->hist));
	for (size_t i = 0; i < NR_PARTS; i++)
		tap_page_u64(&r->page, part_keys[i], tap_hist_quantile(&s->hist, parts[i]));
	tap_page_u64(&r->page, "max", s->hist.max);
	tap_page_object_end(&r->page);
}

static void put_signal(const struct tap_report *r, struct tap_table *t, const struct tap_pelt_series *s)
{
	if (!s) {
		for (size_t i = 0; i < NR_PARTS + 3; i++)
			tap_table_none(t);
		return;
	}
	tap_table_real(t, pct(s->hist.count, window_ns(r)));
	tap_table_real(t, tap_hist_mean(&s->hist));
	for (size_t i = 0; i < NR_PARTS; i++)
		tap_table_u64(t, tap_hist_quantile(&s->hist, parts[i]));
	tap_table_u64(t, s->hist.max);
}

/* JSON has them in the rows of the CPUs. */
static const struct tap_column signal_columns[] = {
	{ NULL, "CPU", TAP_CELL_COUNT, .width = 3 },
	{ NULL, "util known %", TAP_CELL_REAL, .width = 12, .places = 1, .rank = 4 },
	{ NULL, "avg", TAP_CELL_REAL, .width = 6, .places = 1 },
	{ NULL, "p50", TAP_CELL_COUNT, .width = 5, .rank = 2 },
	{ NULL, "p90", TAP_CELL_COUNT, .width = 5, .rank = 3 },
	{ NULL, "p99", TAP_CELL_COUNT, .width = 5, .rank = 1 },
	{ NULL, "max", TAP_CELL_COUNT, .width = 5 },
	{ NULL, "nr_running known %", TAP_CELL_REAL, .width = 20, .places = 1, .rank = 4 },
	{ NULL, "avg", TAP_CELL_REAL, .width = 6, .places = 2 },
	{ NULL, "p50", TAP_CELL_COUNT, .width = 5, .rank = 2 },
	{ NULL, "p90", TAP_CELL_COUNT, .width = 5, .rank = 3 },
	{ NULL, "p99", TAP_CELL_COUNT, .width = 5, .rank = 1 },
	{ NULL, "max", TAP_CELL_COUNT, .width = 5 },
	{ 0 }
};

static bool has_signals(const struct tap_report *r)
{
	return sum_of(r)->signals;
}

static void put_signals(struct tap_report *r, struct tap_table *t)
{
	unsigned int nr;

	tap_timeline_cpus(r->run.timeline, &nr);
	for (unsigned int i = 0; i < nr; i++) {
		const struct tap_pelt_series *util = signal_of(r, "util", i);
		const struct tap_pelt_series *nr_running = signal_of(r, "nr_running", i);

		if (!util && !nr_running)
			continue;
		tap_table_u64(t, i);
		put_signal(r, t, util);
		put_signal(r, t, nr_running);
		tap_table_row(t);
	}
}

static const struct tap_column cpu_columns[] = {
	{ "cpu", "CPU", TAP_CELL_COUNT, .width = 3 },
	{ "run_ns", "run", TAP_CELL_NS, .width = 11, .rank = 4 },
	{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },
	{ "idle_ns", "idle", TAP_CELL_NS, .width = 11, .rank = 5, .same_unit = true },
	{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },
	{ "offline_ns", NULL, TAP_CELL_NS },
	{ "unknown_ns", "unknown", TAP_CELL_NS, .width = 11, .rank = 3, .tint = TAP_TINT_YELLOW,
	  .same_unit = true },
	{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },
	{ "switches", "switches", TAP_CELL_COUNT, .width = 9, .rank = 2 },
	{ "breaks", "breaks", TAP_CELL_COUNT, .width = 6, .rank = 1, .tint = TAP_TINT_YELLOW },
	{ "lost", "lost", TAP_CELL_COUNT, .width = 6, .tint = TAP_TINT_RED },
	{ 0 }
};

static void put_cpu(struct tap_report *r, struct tap_table *t, const struct tap_cpu *c)
{
	tap_table_u64(t, c->run_ns);
	tap_table_real(t, pct(c->run_ns, window_ns(r)));
	tap_table_u64(t, c->idle_ns);
	tap_table_real(t, pct(c->idle_ns, window_ns(r)));
	tap_table_u64(t, c->offline_ns);
	tap_table_u64(t, c->unknown_ns);
	tap_table_real(t, pct(c->unknown_ns, window_ns(r)));
	tap_table_u64(t, c->switches);
	tap_table_u64(t, c->breaks);
	tap_table_u64(t, c->lost);
}

/* For people those of which something is known. */
static bool is_cpu_shown(const struct tap_report *r, const struct tap_cpu *cpus, unsigned int i)
{
	return tap_run_cpu(&r->run, (int)i) && (cpus[i].seen || !tap_page_is_for(&r->page, TAP_FOR_PEOPLE));
}

static void put_cpus(struct tap_report *r, struct tap_table *t)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(r->run.timeline, &nr);

	for (unsigned int i = 0; i < nr; i++) {
		if (!is_cpu_shown(r, cpus, i))
			continue;
		tap_table_u64(t, i);
		put_cpu(r, t, &cpus[i]);
		put_signal_members(r, "util", i);
		put_signal_members(r, "nr_running", i);
		tap_table_row(t);
	}
}

/* Seldom: so it has no column. */
static void put_other_cpus(struct tap_report *r, struct tap_table *t)
{
	unsigned int nr, unseen = 0;
	const struct tap_cpu *cpus = tap_timeline_cpus(r->run.timeline, &nr);

	for (unsigned int i = 0; i < nr; i++) {
		if (!tap_run_cpu(&r->run, (int)i))
			continue;
		unseen += !cpus[i].seen;
		if (cpus[i].offline_ns)
			tap_buf_printf(&t->page->buf, "CPU %u was offline for %.3f ms\n", i,
				       (double)cpus[i].offline_ns / 1e6);
	}
	if (unseen)
		tap_buf_printf(&t->page->buf, "%u CPUs more: no event tells what they ran\n", unseen);
}

/* ---- why time is unknown ---- */

#define TOLD_FROM 1.0 /* % of the CPUs' time: less is what any recording has at its edges */

static void json_gaps(struct tap_report *r, struct tap_table *t)
{
	char key[24];

	(void)t;
	tap_page_object(&r->page, "unknown");
	for (unsigned int i = 0; i < TAP_NR_GAPS; i++) {
		snprintf(key, sizeof(key), "%s_ns", tap_gap_name(i));
		tap_page_u64(&r->page, key, sum_of(r)->gaps.ns[i]);
	}
	tap_page_object_end(&r->page);
}

/* Of the CPUs that say anything: the others are told of by themselves. */
static uint64_t cpu_time_ns(const struct tap_report *r)
{
	unsigned int nr, seen = 0;
	const struct tap_cpu *cpus = tap_timeline_cpus(r->run.timeline, &nr);

	for (unsigned int i = 0; i < nr; i++)
		seen += cpus[i].seen && tap_run_cpu(&r->run, (int)i);
	return seen * window_ns(r);
}

static void text_gaps(struct tap_report *r, struct tap_table *t)
{
	static const char *const why[] = {
		[TAP_GAP_START] = "before the first switch of a CPU (less in a longer recording)",
		[TAP_GAP_LOST] = "where events were lost (record with a larger --buffer, or fewer "
				 "events)",
		[TAP_GAP_HIDDEN] = "behind tasks that are switched to and never seen at work: "
				   "something hides them from tracing (other tasks are not affected)",
		[TAP_GAP_BROKEN] = "where a switch is missing that no loss tells of (another "
				   "backend may see it: record -b)",
	};
	const uint64_t *ns = sum_of(r)->gaps.ns;
	uint64_t all = cpu_time_ns(r), sum = 0;
	const char *before = " % of the CPUs' time is unknown: ";
	struct tap_buf s = { 0 };

	(void)t;
	for (unsigned int i = 0; i < TAP_GAP_SILENT; i++)
		sum += ns[i];
	if (pct(sum, all) < TOLD_FROM)
		return;
	tap_buf_printf(&s, "%.1f", pct(sum, all));
	for (unsigned int i = 0; i < TAP_GAP_SILENT; i++) {
		if (pct(ns[i], all) < 0.05)
			continue;
		tap_buf_printf(&s, "%s%.1f %% %s", before, pct(ns[i], all), why[i]);
		before = "; ";
	}
	tap_page_sentence(&r->page, s.data, s.len);
	tap_buf_release(&s);
}

/* ---- tasks ---- */

static const struct tap_column task_columns[] = {
	TAP_TASK_COLUMNS("", "task [tid/tgid]", 24),
	{ "own", NULL, TAP_CELL_COUNT },
	{ "cgroup", NULL, TAP_CELL_TEXT },
	{ "life_ns", NULL, TAP_CELL_NS },
	{ "run_ns", "run", TAP_CELL_NS, .width = 10 },
	{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },
	{ "waking_ns", "waking", TAP_CELL_NS, .width = 9, .rank = 2, .same_unit = true },
	{ "preempted_ns", "preempted", TAP_CELL_NS, .width = 9, .rank = 2, .same_unit = true },
	{ "sleep_ns", "sleep", TAP_CELL_NS, .width = 10, .rank = 5, .same_unit = true },
	{ "blocked_ns", "blocked", TAP_CELL_NS, .width = 9, .rank = 3, .same_unit = true },
	{ "iowait_ns", NULL, TAP_CELL_NS },
	{ "stopped_ns", NULL, TAP_CELL_NS },
	{ "unknown_ns", "unknown", TAP_CELL_NS, .width = 10, .rank = 1,
	  .tint = TAP_TINT_YELLOW, .same_unit = true },
	{ "slices", "slices", TAP_CELL_COUNT, .width = 8, .rank = 6 },
	{ "migrations", "migrated", TAP_CELL_COUNT, .width = 8, .rank = 4 },
	TAP_THROTTLING_COLUMN,
	{ 0 }
};

static void put_task(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_task *task = sum_of(r)->tasks[i];
	bool own = tap_identity_is_own(&r->run.rec.ids, task->tid);
	const char *cgroup = tap_run_cgroup(&r->run, task);

	tap_task_cells(&r->run, t, task);
	tap_table_u64(t, own);
	sum_of(r)->any_own |= own;
	if (cgroup)
		tap_table_text(t, cgroup, strlen(cgroup));
	else
		tap_table_none(t);
	tap_table_u64(t, tap_task_life_ns(r->run.timeline, task));
	tap_table_u64(t, task->total_ns[TAP_RUNNING]);
	tap_table_real(t, pct(task->total_ns[TAP_RUNNING], window_ns(r)));
	tap_table_u64(t, task->total_ns[TAP_WAKING]);
	tap_table_u64(t, task->total_ns[TAP_PREEMPTED]);
	tap_table_u64(t, task->total_ns[TAP_SLEEPING]);
	tap_table_u64(t, task->total_ns[TAP_BLOCKED]);
	if (r->run.survey.buffer[TAP_SCHED_IOWAIT] != TAP_NO_BUFFER)
		tap_table_u64(t, task->iowait_ns);
	else
		tap_table_none(t);
	tap_table_u64(t, task->total_ns[TAP_STOPPED]);
	tap_table_u64(t, task->total_ns[TAP_UNKNOWN]);
	tap_table_u64(t, task->slices);
	tap_table_u64(t, task->migrations);
	tap_throttling_cell(&r->run, t, task);
}

static unsigned int nr_tasks(const struct tap_report *r)
{
	return sum_of(r)->nr_tasks;
}

static void note_own(struct tap_report *r, struct tap_table *t)
{
	if (sum_of(r)->any_own)
		tap_buf_puts(&t->page->buf, "* the recorder itself\n");
}

/* What is compared lies beside the task: a machine has seen many that ran but once. */
struct ranked {
	uint64_t run_ns;
	struct tap_task *task;
};

static int by_run_time(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->run_ns != y->run_ns)
		return x->run_ns < y->run_ns ? 1 : -1;
	return x->task->tid != y->task->tid ?
		       (x->task->tid > y->task->tid) - (x->task->tid < y->task->tid) :
		       (x->task->index > y->task->index) - (x->task->index < y->task->index);
}

int tap_summary_find_tasks(struct summary *sum)
{
	struct tap_run *run = &sum->report.run;
	unsigned int nr;
	struct tap_task *const *all = tap_timeline_tasks(run->timeline, &nr);
	struct ranked *ranked = calloc(nr + 1, sizeof(*ranked));

	sum->tasks = calloc(nr + 1, sizeof(struct tap_task *));
	if (!sum->tasks || !ranked) {
		free(ranked);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < nr; i++)
		if (tap_task_life_ns(run->timeline, all[i]) && tap_run_task(run, all[i]))
			ranked[sum->nr_tasks++] = (struct ranked){ all[i]->total_ns[TAP_RUNNING], all[i] };
	qsort(ranked, sum->nr_tasks, sizeof(*ranked), by_run_time);
	for (unsigned int i = 0; i < sum->nr_tasks; i++)
		sum->tasks[i] = ranked[i].task;
	free(ranked);
	return 0;
}

/* ---- cgroups ---- */

static int by_cgroup(const void *a, const void *b)
{
	uint64_t x = (*(struct tap_task *const *)a)->cgroup;
	uint64_t y = (*(struct tap_task *const *)b)->cgroup;

	return (x > y) - (x < y);
}

static void put_cgroup(struct tap_report *r, struct tap_table *t, struct tap_task *const *tasks,
		       unsigned int nr)
{
	const char *path = tap_run_cgroup(&r->run, tasks[0]);
	uint64_t sum[TAP_NR_STATES] = { 0 };

	for (unsigned int i = 0; i < nr; i++)
		for (unsigned int s = 0; s < TAP_NR_STATES; s++)
			sum[s] += tasks[i]->total_ns[s];
	if (path)
		tap_table_text(t, path, strlen(path));
	else
		tap_table_none(t);
	tap_table_u64(t, nr);
	tap_table_u64(t, sum[TAP_RUNNING]);
	tap_table_real(t, pct(sum[TAP_RUNNING], window_ns(r)));
	tap_table_u64(t, sum[TAP_WAKING]);
	tap_table_u64(t, sum[TAP_PREEMPTED]);
	tap_table_row(t);
}

static const struct tap_column cgroup_columns[] = {
	{ "cgroup", "cgroup", TAP_CELL_TEXT, .width = 42 },
	{ "tasks", "tasks", TAP_CELL_COUNT, .width = 6, .rank = 3 },
	{ "run_ns", "run", TAP_CELL_NS, .width = 10 },
	{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },
	{ "waking_ns", "waking", TAP_CELL_NS, .width = 9, .rank = 2, .same_unit = true },
	{ "preempted_ns", "preempted", TAP_CELL_NS, .width = 9, .rank = 1, .same_unit = true },
	{ 0 }
};

/* With -g: the cgroups of the tasks that it picks. Tasks are in another order from here on. */
static void put_cgroups(struct tap_report *r, struct tap_table *t)
{
	struct tap_task **tasks = sum_of(r)->tasks;

	qsort(tasks, nr_tasks(r), sizeof(struct tap_task *), by_cgroup);
	for (unsigned int i = 0, nr; i < nr_tasks(r); i += nr) {
		for (nr = 1; i + nr < nr_tasks(r) && !by_cgroup(&tasks[i], &tasks[i + nr]);)
			nr++;
		put_cgroup(r, t, &tasks[i], nr);
	}
}

/* ---- the page ---- */

static bool is_page(const struct tap_report *r)
{
	return !((const struct summary_opts *)r->opts)->check;
}

static bool by_cgroups(const struct tap_report *r)
{
	return is_page(r) && r->opts->select.cgroups.nr;
}

static bool has_signals_to_show(const struct tap_report *r)
{
	return is_page(r) && has_signals(r);
}

#define PEOPLE TAP_FOR_PEOPLE, is_page
#define PROGRAMS TAP_FOR_PROGRAMS, is_page
#define BOTH TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, is_page

const struct tap_section tap_summary_sections[] = {
	{ PROGRAMS, .put = json_head },
	{ PROGRAMS, .put = json_losses },
	{ PEOPLE, .put = text_events },
	{ PEOPLE, .put = text_price },
	{ PEOPLE, .put = text_losses },
	{ BOTH, .before = "\n", .key = "kinds", .columns = kind_columns, .row = put_kind, .nr = nr_kinds },
	{ PEOPLE, .put = put_more_kinds },
	{ BOTH, .before = "\n", .key = "cpus", .columns = cpu_columns, .put = put_cpus },
	{ PEOPLE, .put = put_other_cpus },
	{ PROGRAMS, .put = json_gaps },
	{ PEOPLE, .put = text_gaps },
	{ TAP_FOR_PEOPLE, has_signals_to_show, .before = "\n", .columns = signal_columns, .put = put_signals },
	{ TAP_FOR_ALL, is_page, .before = "\n", .key = "tasks", .columns = task_columns, .row = put_task,
	  .nr = nr_tasks, .noun = "task" },
	{ PEOPLE, .put = note_own },
	{ PEOPLE, .put = tap_report_note_throttling },
	{ PEOPLE, .put = tap_report_note_sleep },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, by_cgroups, .before = "\n", .key = "cgroups", .columns = cgroup_columns, .put = put_cgroups },
	{ PROGRAMS, .put = json_missing },
	{ PEOPLE, .put = text_absent },
	{ PEOPLE, .put = text_missing },
	{ 0 }
};
