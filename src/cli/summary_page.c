// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/summary_page.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/screen.h"

#define TOP_KINDS 10u
#define TOP_LOSSES 10u

struct page {
	struct tap_pass *p;
	const struct tap_pelt *signals; /* or NULL */
	const struct tap_gaps *gaps;
	struct tap_report out;
	uint64_t start_ns, end_ns;
	struct tap_task **tasks; /* those to show, the busiest first; owned */
	unsigned int nr_tasks, top;
	bool any_own;
};

static double pct(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double per_second(uint64_t count, uint64_t ns)
{
	return ns ? (double)count * 1e9 / (double)ns : 0;
}

static uint64_t window_ns(const struct page *g)
{
	return g->end_ns - g->start_ns;
}

/* ---- what it is ---- */

static void put_escaped(struct tap_buf *b, const char *s)
{
	tap_text_escape(b, s, strlen(s));
}

static void text_events(struct page *g)
{
	const struct tap_survey *s = &g->p->survey;
	struct tap_buf *b = &g->out.buf;

	tap_buf_printf(b, "events     %" PRIu64 ", %.0f per second, ", s->events,
		       per_second(s->events, window_ns(g)));
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

static void text_price(struct page *g)
{
	const json_t *price = json_object_get(g->p->in.meta, "price");
	struct tap_buf *b = &g->out.buf;

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

/* What the meta says, unchanged. */
static void json_meta(struct page *g, const char *key, const json_t *v)
{
	char *text = v ? json_dumps(v, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;

	tap_report_key(&g->out, key);
	tap_buf_puts(&g->out.buf, text ? text : "null");
	free(text);
}

static void json_head(struct page *g)
{
	const struct tap_survey *s = &g->p->survey;

	tap_report_u64(&g->out, "events", s->events);
	tap_report_u64(&g->out, "bytes", s->bytes);
	json_meta(g, "price", json_object_get(g->p->in.meta, "price"));
}

/* ---- what was lost ---- */

static bool in_window(const struct page *g, const struct tap_loss *l)
{
	return l->to_ns >= g->start_ns && l->from_ns <= g->end_ns;
}

static void put_losses(struct page *g, unsigned int most)
{
	static const struct tap_column columns[] = {
		{ "cpu", "lost on CPU", TAP_CELL_INT, .width = 11 },
		{ "from_ns", "from", TAP_CELL_AT, .width = 18 },
		{ "to_ns", "to", TAP_CELL_AT, .width = 18 },
		{ "count", "events", TAP_CELL_COUNT, .width = 10, .tint = TAP_TINT_RED },
		{ 0 }
	};
	const struct tap_survey *s = &g->p->survey;
	struct tap_table t;

	tap_table_begin(&t, &g->out, columns, "intervals");
	for (unsigned int i = 0; i < s->nr_kept_losses && most; i++) {
		const struct tap_loss *l = &s->losses[i];

		if (!in_window(g, l))
			continue;
		most--;
		if (l->cpu >= 0)
			tap_table_s64(&t, l->cpu);
		else
			tap_table_none(&t);
		tap_table_u64(&t, l->from_ns > g->start_ns ? l->from_ns : g->start_ns);
		tap_table_u64(&t, l->to_ns < g->end_ns ? l->to_ns : g->end_ns);
		if (l->count)
			tap_table_u64(&t, l->count);
		else
			tap_table_none(&t);
		tap_table_row(&t);
	}
	tap_table_end(&t);
}

static void json_losses(struct page *g)
{
	const struct tap_survey *s = &g->p->survey;

	tap_report_object(&g->out, "lost");
	tap_report_u64(&g->out, "total", s->lost);
	tap_report_bool(&g->out, "is_lower_bound", s->lost_unknown);
	tap_report_u64(&g->out, "nr_intervals", s->nr_losses);
	put_losses(g, UINT_MAX);
	tap_report_object_end(&g->out);
}

static void text_losses(struct page *g)
{
	uint64_t nr = g->p->survey.nr_losses;

	if (!nr)
		return;
	tap_buf_char(&g->out.buf, '\n');
	put_losses(g, TOP_LOSSES);
	if (nr > TOP_LOSSES)
		tap_buf_printf(&g->out.buf, "%" PRIu64 " more (--json has them)\n", nr - TOP_LOSSES);
}

/* ---- what was recorded ---- */

static void put_kinds(struct page *g, unsigned int most)
{
	static const struct tap_column columns[] = {
		{ "event", "event", TAP_CELL_TEXT, .width = 42 },
		{ "count", "count", TAP_CELL_COUNT, .width = 12 },
		{ NULL, "per second", TAP_CELL_REAL, .width = 14, .places = 1 },
		{ 0 }
	};
	const struct tap_survey *s = &g->p->survey;
	struct tap_buf name = { 0 };
	struct tap_table t;

	tap_table_begin(&t, &g->out, columns, "kinds");
	for (unsigned int i = 0; i < s->nr_kinds && i < most; i++) {
		const struct tap_survey_kind *k = &s->kinds[i];

		tap_buf_clear(&name);
		tap_buf_printf(&name, "%s:%s", k->fmt->system, k->fmt->name);
		tap_table_text(&t, name.data, name.len);
		tap_table_u64(&t, k->count);
		tap_table_real(&t, per_second(k->count, window_ns(g)));
		tap_table_row(&t);
	}
	tap_table_end(&t);
	tap_buf_release(&name);
}

static void text_kinds(struct page *g)
{
	const struct tap_survey *s = &g->p->survey;
	uint64_t rest = 0;

	tap_buf_char(&g->out.buf, '\n');
	put_kinds(g, TOP_KINDS);
	for (unsigned int i = TOP_KINDS; i < s->nr_kinds; i++)
		rest += s->kinds[i].count;
	if (s->nr_kinds > TOP_KINDS)
		tap_buf_printf(&g->out.buf, "%u more kinds (--json has them), %" PRIu64 " events\n",
			       s->nr_kinds - TOP_KINDS, rest);
}

static bool was_on(const json_t *event)
{
	const char *status = json_string_value(json_object_get(event, "status"));

	return !status || !strcmp(status, "on");
}

static void json_missing(struct page *g)
{
	json_t *missing = json_array(), *e;
	size_t i;

	json_array_foreach(json_object_get(g->p->in.meta, "events"), i, e)
		if (!was_on(e) && json_array_append(missing, e))
			g->out.buf.err = -ENOMEM;
	json_meta(g, "not_recorded", missing);
	json_decref(missing);
}

static bool is_absent(const json_t *event)
{
	const char *status = json_string_value(json_object_get(event, "status"));

	return status && !strcmp(status, "absent");
}

#define NAMED_ABSENT 3u

/* What this kernel cannot give is the same in each of its recordings: one line will do. */
static void text_absent(struct page *g)
{
	struct tap_buf s = { 0 };
	unsigned int nr = 0;
	const json_t *e;
	size_t i;

	json_array_foreach(json_object_get(g->p->in.meta, "events"), i, e) {
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
		tap_buf_char(&g->out.buf, '\n');
		tap_report_sentence(&g->out, s.data, s.len);
	}
	tap_buf_release(&s);
}

/* What should have worked is told one by one. */
static void text_missing(struct page *g)
{
	struct tap_buf s = { 0 };
	bool first = true;
	const json_t *e;
	size_t i;

	json_array_foreach(json_object_get(g->p->in.meta, "events"), i, e) {
		const char *system = json_string_value(json_object_get(e, "system"));
		const char *name = json_string_value(json_object_get(e, "name"));
		const char *reason = json_string_value(json_object_get(e, "reason"));

		if (!system || !name || was_on(e) || is_absent(e))
			continue;
		tap_buf_puts(&g->out.buf, first ? "\nasked for, but not recorded\n" : "");
		first = false;
		tap_buf_clear(&s);
		put_escaped(&s, system);
		tap_buf_char(&s, ':');
		put_escaped(&s, name);
		tap_buf_char(&s, ' ');
		put_escaped(&s, json_string_value(json_object_get(e, "status")));
		tap_buf_puts(&s, ": ");
		put_escaped(&s, reason ? reason : "reason not known");
		tap_report_sentence(&g->out, s.data, s.len);
	}
	tap_buf_release(&s);
}

/* ---- CPUs ---- */

static const double parts[] = { 0.5, 0.9, 0.99 };
static const char *const part_keys[] = { "p50", "p90", "p99" };
#define NR_PARTS (sizeof(parts) / sizeof(*parts))

/* A CPU's signal. Return: NULL where nothing is known of it. */
static const struct tap_pelt_series *signal_of(const struct page *g, const char *name, unsigned int cpu)
{
	unsigned int nr = 0;
	struct tap_pelt_series *const *series =
		g->signals ? tap_pelt_series(g->signals, &nr) : NULL;

	for (unsigned int i = 0; i < nr; i++)
		if (series[i]->cpu == (int)cpu && !strcmp(series[i]->signal->name, name))
			return series[i]->hist.count ? series[i] : NULL;
	return NULL;
}

static void json_signal(struct page *g, const char *name, unsigned int cpu)
{
	const struct tap_pelt_series *s = signal_of(g, name, cpu);

	if (!s) {
		tap_report_null(&g->out, name);
		return;
	}
	tap_report_object(&g->out, name);
	tap_report_u64(&g->out, "known_ns", s->hist.count);
	tap_report_real(&g->out, "known_pct", pct(s->hist.count, window_ns(g)));
	tap_report_real(&g->out, "avg", tap_hist_mean(&s->hist));
	for (size_t i = 0; i < NR_PARTS; i++)
		tap_report_u64(&g->out, part_keys[i], tap_hist_quantile(&s->hist, parts[i]));
	tap_report_u64(&g->out, "max", s->hist.max);
	tap_report_object_end(&g->out);
}

static void put_signal(const struct page *g, struct tap_table *t, const struct tap_pelt_series *s)
{
	if (!s) {
		for (size_t i = 0; i < NR_PARTS + 3; i++)
			tap_table_none(t);
		return;
	}
	tap_table_real(t, pct(s->hist.count, window_ns(g)));
	tap_table_real(t, tap_hist_mean(&s->hist));
	for (size_t i = 0; i < NR_PARTS; i++)
		tap_table_u64(t, tap_hist_quantile(&s->hist, parts[i]));
	tap_table_u64(t, s->hist.max);
}

/* JSON has them in the rows of the CPUs. */
static void text_signals(struct page *g)
{
	static const struct tap_column columns[] = {
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
	struct tap_table t;
	unsigned int nr;

	if (!g->signals)
		return;
	tap_timeline_cpus(g->p->timeline, &nr);
	tap_buf_char(&g->out.buf, '\n');
	tap_table_begin(&t, &g->out, columns, NULL);
	for (unsigned int i = 0; i < nr; i++) {
		const struct tap_pelt_series *util = signal_of(g, "util", i);
		const struct tap_pelt_series *nr_running = signal_of(g, "nr_running", i);

		if (!util && !nr_running)
			continue;
		tap_table_u64(&t, i);
		put_signal(g, &t, util);
		put_signal(g, &t, nr_running);
		tap_table_row(&t);
	}
	tap_table_end(&t);
}

/* Seldom: so it has no column. */
static void put_offline(struct page *g, const struct tap_cpu *cpus, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (cpus[i].offline_ns && tap_pass_cpu(g->p, (int)i))
			tap_buf_printf(&g->out.buf, "CPU %u was offline for %.3f ms\n", i,
				       (double)cpus[i].offline_ns / 1e6);
}

static void put_cpus(struct page *g)
{
	static const struct tap_column columns[] = {
		{ "cpu", "CPU", TAP_CELL_COUNT, .width = 3 },
		{ "run_ns", "run", TAP_CELL_NS, .width = 11, .rank = 4 },
		{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },
		{ "idle_ns", "idle", TAP_CELL_NS, .width = 11, .rank = 5, .same_unit = true },
		{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },
		{ "offline_ns", NULL, TAP_CELL_NS },
		{ "unknown_ns", "unknown", TAP_CELL_NS, .width = 11, .rank = 3,
		  .tint = TAP_TINT_YELLOW, .same_unit = true },
		{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },
		{ "switches", "switches", TAP_CELL_COUNT, .width = 9, .rank = 2 },
		{ "breaks", "breaks", TAP_CELL_COUNT, .width = 6, .rank = 1, .tint = TAP_TINT_YELLOW },
		{ "lost", "lost", TAP_CELL_COUNT, .width = 6, .tint = TAP_TINT_RED },
		{ 0 }
	};
	unsigned int nr, unseen = 0;
	const struct tap_cpu *cpus = tap_timeline_cpus(g->p->timeline, &nr);
	struct tap_table t;

	tap_table_begin(&t, &g->out, columns, "cpus");
	for (unsigned int i = 0; i < nr; i++) {
		const struct tap_cpu *c = &cpus[i];

		if (!tap_pass_cpu(g->p, (int)i))
			continue;
		if (!c->seen && g->out.style == TAP_STYLE_TEXT) {
			unseen++;
			continue;
		}
		tap_table_u64(&t, i);
		tap_table_u64(&t, c->run_ns);
		tap_table_real(&t, pct(c->run_ns, window_ns(g)));
		tap_table_u64(&t, c->idle_ns);
		tap_table_real(&t, pct(c->idle_ns, window_ns(g)));
		tap_table_u64(&t, c->offline_ns);
		tap_table_u64(&t, c->unknown_ns);
		tap_table_real(&t, pct(c->unknown_ns, window_ns(g)));
		tap_table_u64(&t, c->switches);
		tap_table_u64(&t, c->breaks);
		tap_table_u64(&t, c->lost);
		if (g->out.style == TAP_STYLE_JSON) {
			json_signal(g, "util", i);
			json_signal(g, "nr_running", i);
		}
		tap_table_row(&t);
	}
	tap_table_end(&t);
	if (g->out.style == TAP_STYLE_TEXT)
		put_offline(g, cpus, nr);
	if (unseen)
		tap_buf_printf(&g->out.buf, "%u CPUs more: no event tells what they ran\n",
			       unseen);
}

/* ---- why time is unknown ---- */

#define TOLD_FROM 1.0 /* % of the CPUs' time: less is what any recording has at its edges */

static void json_gaps(struct page *g)
{
	char key[24];

	tap_report_object(&g->out, "unknown");
	for (unsigned int i = 0; i < TAP_NR_GAPS; i++) {
		snprintf(key, sizeof(key), "%s_ns", tap_gap_name(i));
		tap_report_u64(&g->out, key, g->gaps->ns[i]);
	}
	tap_report_object_end(&g->out);
}

/* Of the CPUs that say anything: the others are told of by themselves. */
static uint64_t cpu_time_ns(const struct page *g)
{
	unsigned int nr, seen = 0;
	const struct tap_cpu *cpus = tap_timeline_cpus(g->p->timeline, &nr);

	for (unsigned int i = 0; i < nr; i++)
		seen += cpus[i].seen && tap_pass_cpu(g->p, (int)i);
	return seen * window_ns(g);
}

static void text_gaps(struct page *g)
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
	const uint64_t *ns = g->gaps->ns;
	uint64_t all = cpu_time_ns(g), sum = 0;
	const char *before = " % of the CPUs' time is unknown: ";
	struct tap_buf s = { 0 };

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
	tap_report_sentence(&g->out, s.data, s.len);
	tap_buf_release(&s);
}

/* ---- tasks ---- */

static const struct tap_column task_columns[] = {
	TAP_PASS_WHO_COLUMNS("", "task [tid/tgid]", 24),
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
	TAP_PASS_THROTTLING,
	{ 0 }
};

static void put_task(struct page *g, struct tap_table *t, const struct tap_task *task)
{
	const struct tap_who_task *who = tap_who_task(&g->p->in.who, task->tid);
	const char *cgroup = tap_pass_cgroup(g->p, task);

	tap_pass_who(g->p, t, task);
	tap_table_u64(t, who && who->own);
	g->any_own |= who && who->own;
	if (cgroup)
		tap_table_text(t, cgroup, strlen(cgroup));
	else
		tap_table_none(t);
	tap_table_u64(t, tap_task_life_ns(g->p->timeline, task));
	tap_table_u64(t, task->total_ns[TAP_RUNNING]);
	tap_table_real(t, pct(task->total_ns[TAP_RUNNING], window_ns(g)));
	tap_table_u64(t, task->total_ns[TAP_WAKING]);
	tap_table_u64(t, task->total_ns[TAP_PREEMPTED]);
	tap_table_u64(t, task->total_ns[TAP_SLEEPING]);
	tap_table_u64(t, task->total_ns[TAP_BLOCKED]);
	if (g->p->survey.buffer[TAP_SHAPE_IOWAIT] != TAP_NO_BUFFER)
		tap_table_u64(t, task->iowait_ns);
	else
		tap_table_none(t);
	tap_table_u64(t, task->total_ns[TAP_STOPPED]);
	tap_table_u64(t, task->total_ns[TAP_UNKNOWN]);
	tap_table_u64(t, task->slices);
	tap_table_u64(t, task->migrations);
	tap_pass_put_throttling(g->p, t, task);
	tap_table_row(t);
}

static void put_tasks(struct page *g)
{
	struct tap_table t;

	tap_table_begin(&t, &g->out, task_columns, "tasks");
	for (unsigned int i = 0; i < g->nr_tasks && i < g->top; i++)
		put_task(g, &t, g->tasks[i]);
	tap_table_end(&t);
	tap_pass_more(&g->out, "task", g->nr_tasks, g->top);
	if (g->out.style == TAP_STYLE_TEXT && g->any_own)
		tap_buf_puts(&g->out.buf, "* the recorder itself\n");
	tap_pass_note_throttling(g->p, &g->out);
	tap_pass_note_sleep(g->p, &g->out);
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

/* Those that lived in the window, and that the options pick. */
static int find_tasks(struct page *g)
{
	unsigned int nr;
	struct tap_task *const *all = tap_timeline_tasks(g->p->timeline, &nr);
	struct ranked *ranked = calloc(nr + 1, sizeof(*ranked));

	g->tasks = calloc(nr + 1, sizeof(*g->tasks));
	if (!g->tasks || !ranked) {
		free(ranked);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < nr; i++)
		if (tap_task_life_ns(g->p->timeline, all[i]) && tap_pass_task(g->p, all[i]))
			ranked[g->nr_tasks++] = (struct ranked){ all[i]->total_ns[TAP_RUNNING],
								 all[i] };
	qsort(ranked, g->nr_tasks, sizeof(*ranked), by_run_time);
	for (unsigned int i = 0; i < g->nr_tasks; i++)
		g->tasks[i] = ranked[i].task;
	free(ranked);
	return 0;
}

/* ---- cgroups ---- */

static int by_cgroup(const void *a, const void *b, void *pass)
{
	uint64_t x = tap_pass_cgroup_id(pass, *(struct tap_task *const *)a);
	uint64_t y = tap_pass_cgroup_id(pass, *(struct tap_task *const *)b);

	return (x > y) - (x < y);
}

static void put_cgroup(struct page *g, struct tap_table *t, struct tap_task **tasks,
		       unsigned int nr)
{
	const char *path = tap_pass_cgroup(g->p, tasks[0]);
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
	tap_table_real(t, pct(sum[TAP_RUNNING], window_ns(g)));
	tap_table_u64(t, sum[TAP_WAKING]);
	tap_table_u64(t, sum[TAP_PREEMPTED]);
	tap_table_row(t);
}

/* With -g: the cgroups of the tasks that it picks. */
static void put_cgroups(struct page *g)
{
	static const struct tap_column columns[] = {
		{ "cgroup", "cgroup", TAP_CELL_TEXT, .width = 42 },
		{ "tasks", "tasks", TAP_CELL_COUNT, .width = 6, .rank = 3 },
		{ "run_ns", "run", TAP_CELL_NS, .width = 10 },
		{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },
		{ "waking_ns", "waking", TAP_CELL_NS, .width = 9, .rank = 2,
		  .same_unit = true },
		{ "preempted_ns", "preempted", TAP_CELL_NS, .width = 9, .rank = 1,
		  .same_unit = true },
		{ 0 }
	};
	struct tap_table t;

	if (!g->p->opts->pick.cgroups.nr)
		return;
	qsort_r(g->tasks, g->nr_tasks, sizeof(*g->tasks), by_cgroup, g->p);
	if (g->out.style == TAP_STYLE_TEXT)
		tap_buf_char(&g->out.buf, '\n');
	tap_table_begin(&t, &g->out, columns, "cgroups");
	for (unsigned int i = 0, nr; i < g->nr_tasks; i += nr) {
		for (nr = 1; i + nr < g->nr_tasks &&
			     !by_cgroup(&g->tasks[i], &g->tasks[i + nr], g->p);)
			nr++;
		put_cgroup(g, &t, &g->tasks[i], nr);
	}
	tap_table_end(&t);
}

/* ---- the page ---- */

static void put_text(struct page *g)
{
	text_events(g);
	text_price(g);
	text_losses(g);
	text_kinds(g);
	tap_buf_char(&g->out.buf, '\n');
	put_cpus(g);
	text_gaps(g);
	text_signals(g);
	tap_buf_char(&g->out.buf, '\n');
	put_tasks(g);
	put_cgroups(g);
	text_absent(g);
	text_missing(g);
}

static void put_json(struct page *g)
{
	json_head(g);
	json_losses(g);
	put_kinds(g, UINT_MAX);
	put_cpus(g);
	json_gaps(g);
	put_tasks(g);
	put_cgroups(g);
	json_missing(g);
}

int tap_summary_page(struct tap_pass *p, const struct tap_pelt *signals,
		     const struct tap_gaps *gaps, unsigned int top)
{
	struct page g = { .p = p, .signals = signals, .gaps = gaps, .top = top };
	int ret, closed;

	tap_timeline_span(p->timeline, &g.start_ns, &g.end_ns);
	ret = find_tasks(&g);
	if (ret)
		return ret;
	tap_pass_begin(p, &g.out, tap_pass_style(p));
	switch (g.out.style) {
	case TAP_STYLE_TEXT:
		put_text(&g);
		break;
	case TAP_STYLE_CSV:
		put_tasks(&g);
		break;
	default:
		put_json(&g);
	}
	closed = tap_report_close(&g.out);
	free(g.tasks);
	return closed;
}
