// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/report/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "timeline/run/meta_rows.h"

#define TOP_KINDS 10u
#define TOP_LOSSES 10u

static struct summary *sum_of(const struct tap_report *r)
{
	return (struct summary *)r;
}

static double per_second(uint64_t count, uint64_t ns)
{
	return ns ? (double)count * 1e9 / (double)ns : 0;
}

/* ---- the recording ---- */

static void put_escaped(struct tap_buf *b, const char *s)
{
	tap_text_escape(b, s, strlen(s));
}

static void text_events(struct tap_report *r, struct tap_table *t)
{
	const struct tap_survey *s = &r->run.survey;
	struct tap_buf *b = &t->page->buf;

	tap_buf_printf(b, "events     %" PRIu64 ", %.0f per second, ", s->events,
		       per_second(s->events, tap_window_ns(&r->run.window)));
	if (s->events)
		tap_buf_printf(b, "%.1f bytes each\n", (double)s->bytes / (double)s->events);
	else
		tap_buf_puts(b, "no bytes\n");
}

static void put_words(struct tap_buf *b, const json_t *only, const char *key, bool *any)
{
	const json_t *word;
	size_t i;

	json_array_foreach(json_object_get(only, key), i, word) {
		if (i)
			tap_buf_puts(b, ", ");
		else
			tap_buf_printf(b, "%s%s ", *any ? "; " : "", key);
		tap_text_escape(b, json_string_value(word), json_string_length(word));
		*any = true;
	}
}

static bool is_limited(const struct tap_report *r)
{
	return r->run.rec.limits.promise;
}

static bool is_of_all(const struct tap_report *r)
{
	return !is_limited(r);
}

static void text_limits(struct tap_report *r, struct tap_table *t)
{
	const struct tap_cpus *cpus = &r->run.rec.limits.cpus;
	const json_t *only = r->run.rec.limits.only;
	struct tap_buf *b = &t->page->buf;
	bool any = false;

	tap_buf_puts(b, "only       ");
	put_words(b, only, "processes", &any);
	put_words(b, only, "threads", &any);
	put_words(b, only, "names", &any);
	put_words(b, only, "cgroups", &any);
	if (cpus->nr_words) {
		tap_buf_puts(b, any ? "; CPUs " : "CPUs ");
		tap_cpus_text(cpus, b);
	}
	if (json_object_get(only, "by_content"))
		tap_buf_puts(b, " (recognised by their switches)");
	tap_buf_char(b, '\n');
}

static void text_overhead(struct tap_report *r, struct tap_table *t)
{
	static const struct {
		const char *before, *key;
		int decimals;
		const char *unit;
	} figures[] = {
		{ "overhead   events ", "events", 0, "" },
		{ ", bytes ", "bytes", 0, "" },
		{ ", lost ", "lost", 0, "" },
		{ "\n  probes   ", "ns_per_event", 0, " ns per event" },
		{ ", share of CPU ", "probe_cpu_pct", 2, " %" },
		{ "\n  recorder ", "recorder_ns_per_event", 0, " ns per event" },
		{ ", share of CPU ", "recorder_cpu_pct", 2, " %" },
	};
	const json_t *price = json_object_get(r->run.rec.meta, "price");
	struct tap_buf *b = &t->page->buf;

	if (!json_is_object(price)) {
		tap_buf_puts(b, "overhead   unknown\n");
		return;
	}
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		const json_t *v = json_object_get(price, figures[i].key);

		tap_buf_puts(b, figures[i].before);
		if (json_is_number(v))
			tap_buf_printf(b, "%.*f", figures[i].decimals, json_number_value(v));
		else
			tap_buf_char(b, '-');
		tap_buf_puts(b, figures[i].unit);
		if (!strcmp(figures[i].key, "lost") &&
		    json_is_true(json_object_get(price, "lost_is_lower_bound")))
			tap_buf_puts(b, " and more");
	}
	tap_buf_char(b, '\n');
}

static void json_head(struct tap_report *r, struct tap_table *t)
{
	const struct tap_survey *s = &r->run.survey;

	tap_page_u64(t->page, "events", s->events);
	tap_page_u64(t->page, "bytes", s->bytes);
	tap_page_json(t->page, "price", json_object_get(r->run.rec.meta, "price"));
}

/* ---- lost events ---- */

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

		if (l->is_off || !tap_window_overlaps(&r->run.window, l->from_ns, l->to_ns))
			continue;
		most--;
		tap_table_id(t, l->cpu);
		tap_table_u64(t, tap_window_clip(&r->run.window, l->from_ns));
		tap_table_u64(t, tap_window_clip(&r->run.window, l->to_ns));
		tap_table_u64_if(t, l->count, l->count);
		tap_table_row(t);
	}
	tap_table_end(t);
}

static void json_losses(struct tap_report *r, struct tap_table *t)
{
	const struct tap_survey *s = &r->run.survey;

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

	if (!nr)
		return;
	tap_buf_char(&r->page.buf, '\n');
	put_losses(r, t, TOP_LOSSES);
	if (nr > TOP_LOSSES)
		tap_buf_printf(&r->page.buf, "%" PRIu64 " more (--json has them)\n",
			       nr - TOP_LOSSES);
}

/* ---- kinds of events ---- */

static const struct tap_column kind_columns[] = { { "event", "event", TAP_CELL_TEXT, .width = 42 },
						  { "count", "count", TAP_CELL_COUNT, .width = 12 },
						  { NULL, "per second", TAP_CELL_REAL, .width = 14,
						    .places = 1 },
						  { 0 } };

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
	tap_table_real(t, per_second(k->count, tap_window_ns(&r->run.window)));
	tap_buf_release(&name);
}

static void put_more_kinds(struct tap_report *r, struct tap_table *t)
{
	const struct tap_survey *s = &r->run.survey;
	uint64_t rest = 0;

	for (unsigned int i = TOP_KINDS; i < s->nr_kinds; i++)
		rest += s->kinds[i].count;
	if (s->nr_kinds > TOP_KINDS)
		tap_buf_printf(&t->page->buf,
			       "%u more kinds (--json has them), %" PRIu64 " events\n",
			       s->nr_kinds - TOP_KINDS, rest);
}

static const char *status_of(const json_t *event)
{
	const char *status = json_string_value(json_object_get(event, "status"));

	return status ? status : "on";
}

static void json_missing(struct tap_report *r, struct tap_table *t)
{
	json_t *missing = json_array(), *e;
	size_t i;

	json_array_foreach(json_object_get(r->run.rec.meta, "events"), i, e)
		if (strcmp(status_of(e), "on") && json_array_append(missing, e))
			t->page->buf.err = -ENOMEM;
	tap_page_json(t->page, "not_recorded", missing);
	json_decref(missing);
}

#define NAMED_ABSENT 3u

/*
 * Name the events that the kernel does not have in one line: every recording on that kernel lacks
 * them.
 */
static void text_absent(struct tap_report *r, struct tap_table *t)
{
	struct tap_buf s = { 0 };
	unsigned int nr = 0;
	const json_t *e;
	size_t i;

	json_array_foreach(json_object_get(r->run.rec.meta, "events"), i, e) {
		const char *name = json_string_value(json_object_get(e, "name"));

		if (!name || strcmp(status_of(e), "absent") || nr++ >= NAMED_ABSENT)
			continue;
		tap_buf_puts(&s, nr == 1 ? "absent on that kernel: " : ", ");
		put_escaped(&s, name);
	}
	if (nr > NAMED_ABSENT)
		tap_buf_printf(&s, " and %u more", nr - NAMED_ABSENT);
	if (nr) {
		tap_buf_puts(&s, " (--json: why)");
		tap_buf_char(&t->page->buf, '\n');
		tap_page_sentence(t->page, s.data, s.len);
	}
	tap_buf_release(&s);
}

/* Name each event that should have been recorded but was not, with its reason. */
static void text_missing(struct tap_report *r, struct tap_table *t)
{
	struct tap_buf s = { 0 };
	bool first = true;
	const json_t *e;
	size_t i;

	json_array_foreach(json_object_get(r->run.rec.meta, "events"), i, e) {
		const char *system = json_string_value(json_object_get(e, "system"));
		const char *name = json_string_value(json_object_get(e, "name"));
		const char *reason = json_string_value(json_object_get(e, "reason"));
		const char *status = status_of(e);

		if (!system || !name || !strcmp(status, "on") || !strcmp(status, "absent"))
			continue;
		tap_buf_puts(&t->page->buf, first ? "\nasked for, but not recorded\n" : "");
		first = false;
		tap_buf_clear(&s);
		put_escaped(&s, system);
		tap_buf_char(&s, ':');
		put_escaped(&s, name);
		tap_buf_char(&s, ' ');
		put_escaped(&s, status);
		tap_buf_puts(&s, ": ");
		put_escaped(&s, reason ? reason : "reason not known");
		tap_page_sentence(t->page, s.data, s.len);
	}
	tap_buf_release(&s);
}

/* ---- CPUs ---- */

static const double parts[] = { 0.5, 0.9, 0.99 };
static const char *const part_keys[] = { "p50", "p90", "p99" };
#define NR_PARTS (sizeof(parts) / sizeof(*parts))

/* Return: the signal's series of a CPU; NULL if nothing is known. */
static const struct tap_pelt_series *signal_of(const struct tap_report *r, const char *name,
					       unsigned int cpu)
{
	unsigned int nr = 0;
	struct tap_pelt_series *const *series =
		r->signals ? tap_pelt_series(r->signals, &nr) : NULL;

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
	tap_page_real(&r->page, "known_pct", tap_pct(s->hist.count, tap_window_ns(&r->run.window)));
	tap_page_real(&r->page, "avg", tap_hist_mean(&s->hist));
	for (size_t i = 0; i < NR_PARTS; i++)
		tap_page_u64(&r->page, part_keys[i], tap_hist_quantile(&s->hist, parts[i]));
	tap_page_u64(&r->page, "max", s->hist.max);
	tap_page_object_end(&r->page);
}

static void put_signal(const struct tap_report *r, struct tap_table *t,
		       const struct tap_pelt_series *s)
{
	if (!s) {
		tap_table_nones(t, NR_PARTS + 3);
		return;
	}
	tap_table_real(t, tap_pct(s->hist.count, tap_window_ns(&r->run.window)));
	tap_table_real(t, tap_hist_mean(&s->hist));
	for (size_t i = 0; i < NR_PARTS; i++)
		tap_table_u64(t, tap_hist_quantile(&s->hist, parts[i]));
	tap_table_u64(t, s->hist.max);
}

/* clang-format off */
#define SIGNAL_COLUMNS(name, w, avg_places)                                                        \
	{ NULL, "known %", TAP_CELL_REAL, .width = 9, .places = 1, .rank = 4 },                    \
	{ NULL, name " avg", TAP_CELL_REAL, .width = w, .places = avg_places },                    \
	{ NULL, "p50", TAP_CELL_COUNT, .width = 5, .rank = 2 },                                    \
	{ NULL, "p90", TAP_CELL_COUNT, .width = 5, .rank = 3 },                                    \
	{ NULL, "p99", TAP_CELL_COUNT, .width = 5, .rank = 1 },                                    \
	{ NULL, "max", TAP_CELL_COUNT, .width = 5 }
/* clang-format on */

/* Table for people; JSON has these signals in the CPUs' rows. */
static const struct tap_column signal_columns[] = { { NULL, "CPU", TAP_CELL_COUNT, .width = 3 },
						    SIGNAL_COLUMNS("util", 9, 1),
						    SIGNAL_COLUMNS("nr_running", 15, 2),
						    { 0 } };

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

/* The last columns of both tables of CPUs. */
/* clang-format off */
#define CPU_COLUMNS_FROM_OFFLINE                                                                   \
	{ "offline_ns", NULL, TAP_CELL_NS },                                                       \
	{ "unknown_ns", "unknown", TAP_CELL_NS, .width = 11, .rank = 3, .tint = TAP_TINT_YELLOW,   \
	  .same_unit = true },                                                                     \
	{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },                                     \
	{ "switches", "switches", TAP_CELL_COUNT, .width = 9, .rank = 2 },                         \
	{ "breaks", "breaks", TAP_CELL_COUNT, .width = 6, .rank = 1, .tint = TAP_TINT_YELLOW },    \
	{ "lost", "lost", TAP_CELL_COUNT, .width = 6, .tint = TAP_TINT_RED },                      \
	{ 0 }
/* clang-format on */

static const struct tap_column cpu_columns[] = {
	{ "cpu", "CPU", TAP_CELL_COUNT, .width = 3 },
	{ "run_ns", "run", TAP_CELL_NS, .width = 11, .rank = 4 },
	{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },
	{ "idle_ns", "idle", TAP_CELL_NS, .width = 11, .rank = 5, .same_unit = true },
	{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },
	CPU_COLUMNS_FROM_OFFLINE
};

/* For recordings that are limited to some tasks or CPUs. */
static const struct tap_column limited_cpu_columns[] = {
	{ "cpu", "CPU", TAP_CELL_COUNT, .width = 3 },
	{ "run_ns", "recorded", TAP_CELL_NS, .width = 11, .rank = 4 },
	{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },
	{ "not_recorded_ns", "not recorded", TAP_CELL_NS, .width = 12, .rank = 5,
	  .same_unit = true },
	{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },
	{ "idle_ns", NULL, TAP_CELL_NS },
	CPU_COLUMNS_FROM_OFFLINE
};

/* Add a row per CPU; for people only CPUs with known data. */
static void put_cpus(struct tap_report *r, struct tap_table *t)
{
	uint64_t window_ns = tap_window_ns(&r->run.window);
	unsigned int nr;
	const struct tap_cpu *c = tap_timeline_cpus(r->run.timeline, &nr);

	for (unsigned int i = 0; i < nr; i++, c++) {
		uint64_t not_run_ns = is_limited(r) ? c->outside_ns : c->idle_ns;

		if (!tap_run_cpu(&r->run, (int)i) ||
		    (!c->seen && tap_page_is_for(t->page, TAP_FOR_PEOPLE)))
			continue;
		tap_table_u64(t, i);
		tap_table_u64(t, c->run_ns);
		tap_table_real(t, tap_pct(c->run_ns, window_ns));
		tap_table_u64(t, not_run_ns);
		tap_table_real(t, tap_pct(not_run_ns, window_ns));
		if (is_limited(r))
			tap_table_u64(t, c->idle_ns);
		tap_table_u64(t, c->offline_ns);
		tap_table_u64(t, c->unknown_ns);
		tap_table_real(t, tap_pct(c->unknown_ns, window_ns));
		tap_table_u64(t, c->switches);
		tap_table_u64(t, c->breaks);
		tap_table_u64(t, c->lost);
		put_signal_members(r, "util", i);
		put_signal_members(r, "nr_running", i);
		tap_table_row(t);
	}
}

/* Lines instead of columns for conditions that are rare. */
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
		tap_buf_printf(&t->page->buf, "%u more CPUs: no event says what they ran\n",
			       unseen);
}

/* ---- why time is unknown ---- */

#define MIN_UNKNOWN_PCT 1.0 /* % of CPU time; any recording has less than this at its edges */

static void json_gaps(struct tap_report *r, struct tap_table *t)
{
	char key[24];

	tap_page_object(t->page, "unknown");
	for (unsigned int i = 0; i < TAP_NR_GAPS; i++) {
		snprintf(key, sizeof(key), "%s_ns", tap_gap_name(i));
		tap_page_u64(t->page, key, sum_of(r)->gaps.ns[i]);
	}
	tap_page_object_end(&r->page);
}

/*
 * Return the time of all selected CPUs that have events. CPUs without events are reported
 * separately.
 */
static uint64_t cpu_time_ns(const struct tap_report *r)
{
	unsigned int nr, seen = 0;
	const struct tap_cpu *cpus = tap_timeline_cpus(r->run.timeline, &nr);

	for (unsigned int i = 0; i < nr; i++)
		seen += cpus[i].seen && tap_run_cpu(&r->run, (int)i);
	return seen * tap_window_ns(&r->run.window);
}

static void text_gaps(struct tap_report *r, struct tap_table *t)
{
	static const char *const why[] = {
		[TAP_GAP_START] = "before the first switch of a CPU (less in a longer recording)",
		[TAP_GAP_OFF] = "where triggers had switched events off",
		[TAP_GAP_LOST] =
			"where events were lost (record with a larger --buffer, or fewer events)",
		[TAP_GAP_HIDDEN] =
			"where tasks ran that are hidden from tracing: they are switched to and "
			"never seen running (other tasks are not affected)",
		[TAP_GAP_BROKEN] = "where a switch is missing without a reported loss (another "
				   "backend may see it: record -b)",
	};
	const uint64_t *ns = sum_of(r)->gaps.ns;
	uint64_t all = cpu_time_ns(r), sum = 0;
	const char *before = " % of the CPUs' time is unknown: ";
	struct tap_buf s = { 0 };

	for (unsigned int i = 0; i < TAP_GAP_SILENT; i++)
		sum += ns[i];
	if (tap_pct(sum, all) < MIN_UNKNOWN_PCT)
		return;
	tap_buf_printf(&s, "%.1f", tap_pct(sum, all));
	for (unsigned int i = 0; i < TAP_GAP_SILENT; i++) {
		if (tap_pct(ns[i], all) < 0.05)
			continue;
		tap_buf_printf(&s, "%s%.1f %% %s", before, tap_pct(ns[i], all), why[i]);
		before = "; ";
	}
	tap_page_sentence(t->page, s.data, s.len);
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
	{ "throttled_ns", "throttled", TAP_CELL_NS, .width = 9, .rank = 3, .same_unit = true },
	{ "sleep_ns", "sleep", TAP_CELL_NS, .width = 10, .rank = 5, .same_unit = true },
	{ "blocked_ns", "blocked", TAP_CELL_NS, .width = 9, .rank = 3, .same_unit = true },
	{ "iowait_ns", NULL, TAP_CELL_NS },
	{ "stopped_ns", NULL, TAP_CELL_NS },
	{ "unknown_ns", "unknown", TAP_CELL_NS, .width = 10, .rank = 1, .tint = TAP_TINT_YELLOW,
	  .same_unit = true },
	{ "slices", "slices", TAP_CELL_COUNT, .width = 8, .rank = 6 },
	{ "migrations", "migrated", TAP_CELL_COUNT, .width = 8, .rank = 4 },
	TAP_THROTTLING_COLUMN,
	{ 0 }
};

static void put_task(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_task *task = r->tasks[i];
	bool own = tap_identity_is_own(&r->run.rec.ids, task->tid);

	tap_task_cells(&r->run, t, task);
	tap_table_u64(t, own);
	sum_of(r)->any_own |= own;
	tap_table_puts(t, tap_cgroups_path(&r->run.rec.ids.cgroups, task->cgroup));
	tap_table_u64(t, tap_task_life_ns(r->run.timeline, task));
	tap_table_u64(t, task->total_ns[TAP_STATE_RUNNING]);
	tap_table_real(t,
		       tap_pct(task->total_ns[TAP_STATE_RUNNING], tap_window_ns(&r->run.window)));
	tap_table_u64(t, task->total_ns[TAP_STATE_WAKING]);
	tap_table_u64(t, task->total_ns[TAP_STATE_PREEMPTED]);
	tap_throttled_cell(&r->run, t, task->total_ns[TAP_STATE_THROTTLED]);
	tap_table_u64(t, task->total_ns[TAP_STATE_SLEEPING]);
	tap_table_u64(t, task->total_ns[TAP_STATE_BLOCKED]);
	tap_table_u64_if(t, r->run.survey.buffer[TAP_SCHED_IOWAIT] != TAP_NO_BUFFER,
			 task->iowait_ns);
	tap_table_u64(t, task->total_ns[TAP_STATE_STOPPED]);
	tap_table_u64(t, task->total_ns[TAP_STATE_UNKNOWN]);
	tap_table_u64(t, task->slices);
	tap_table_u64(t, task->migrations);
	tap_throttling_cell(&r->run, t, task);
}

static void note_own(struct tap_report *r, struct tap_table *t)
{
	if (sum_of(r)->any_own)
		tap_buf_puts(&t->page->buf, "* the recorder itself\n");
}

/* ---- cgroups ---- */

static int by_cgroup(const void *a, const void *b, void *groups)
{
	uint64_t x = tap_cgroup_group_of(groups, (*(struct tap_task *const *)a)->cgroup);
	uint64_t y = tap_cgroup_group_of(groups, (*(struct tap_task *const *)b)->cgroup);

	return (x > y) - (x < y);
}

static void put_cgroup(struct tap_report *r, struct tap_table *t, struct tap_task *const *tasks,
		       unsigned int nr)
{
	uint64_t sum[TAP_NR_STATES] = { 0 };

	for (unsigned int i = 0; i < nr; i++)
		for (unsigned int s = 0; s < TAP_NR_STATES; s++)
			sum[s] += tasks[i]->total_ns[s];
	tap_cgroup_cell(&sum_of(r)->cgroups, t, tasks[0]->cgroup);
	tap_table_u64(t, nr);
	tap_table_u64(t, sum[TAP_STATE_RUNNING]);
	tap_table_real(t, tap_pct(sum[TAP_STATE_RUNNING], tap_window_ns(&r->run.window)));
	tap_table_u64(t, sum[TAP_STATE_WAKING]);
	tap_table_u64(t, sum[TAP_STATE_PREEMPTED]);
	tap_throttled_cell(&r->run, t, sum[TAP_STATE_THROTTLED]);
	tap_table_row(t);
}

static const struct tap_column cgroup_columns[] = {
	{ "cgroup", "cgroup", TAP_CELL_TEXT, .width = TAP_CGROUP_WIDTH },
	{ "tasks", "tasks", TAP_CELL_COUNT, .width = 6, .rank = 3 },
	{ "run_ns", "run", TAP_CELL_NS, .width = 10 },
	{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1 },
	{ "waking_ns", "waking", TAP_CELL_NS, .width = 9, .rank = 2, .same_unit = true },
	{ "preempted_ns", "preempted", TAP_CELL_NS, .width = 9, .rank = 1, .same_unit = true },
	{ "throttled_ns", "throttled", TAP_CELL_NS, .width = 9, .rank = 4, .same_unit = true },
	{ 0 }
};

/* With -g: add a row per cgroup of the selected tasks. This sorts .tasks anew. */
static void put_cgroups(struct tap_report *r, struct tap_table *t)
{
	struct tap_cgroup_groups *groups = &sum_of(r)->cgroups;
	struct tap_task **tasks = r->tasks;

	qsort_r(tasks, r->nr_tasks, sizeof(struct tap_task *), by_cgroup, groups);
	for (unsigned int i = 0, nr; i < r->nr_tasks; i += nr) {
		for (nr = 1; i + nr < r->nr_tasks && !by_cgroup(&tasks[i], &tasks[i + nr], groups);)
			nr++;
		put_cgroup(r, t, &tasks[i], nr);
	}
}

/* ---- conditions of sections ---- */

static bool by_cgroups(const struct tap_report *r)
{
	return r->opts->input.select.cgroups.nr;
}

static bool has_signals(const struct tap_report *r)
{
	return r->signals;
}

/* ---- quotas ---- */

static const struct tap_column quota_columns[] = {
	{ "cgroup", "cgroup with a CPU quota", TAP_CELL_TEXT, .width = TAP_CGROUP_WIDTH },
	{ "throttled_ns", "throttled", TAP_CELL_NS, .width = 10 },
	{ 0 }
};

/* Times from the kernel's cpu.stat, between the recording's beginning and its end. */
static void put_quotas(struct tap_report *r, struct tap_table *t)
{
	const json_t *row;
	json_int_t id, ns;
	size_t i;

	json_array_foreach(json_object_get(r->run.rec.meta, "throttled"), i, row) {
		if (!tap_meta_number(row, 0, INT64_MAX, &id) ||
		    !tap_meta_number(row, 1, INT64_MAX, &ns))
			continue;
		tap_cgroup_cell(&sum_of(r)->cgroups, t, (uint64_t)id);
		tap_table_u64(t, (uint64_t)ns);
		tap_table_row(t);
	}
}

static bool has_quotas(const struct tap_report *r)
{
	return json_array_size(json_object_get(r->run.rec.meta, "throttled"));
}

static void put_common_cgroup(struct tap_report *r, struct tap_table *t)
{
	tap_cgroup_common_sentence(&sum_of(r)->cgroups, t->page);
}

/* ---- BPF schedulers ---- */

static const struct tap_column scheduler_columns[] = {
	{ "name", "BPF scheduler", TAP_CELL_TEXT, .width = 42 },
	{ "from_ns", "from", TAP_CELL_AT, .width = 18 },
	{ "to_ns", "to", TAP_CELL_AT, .width = 18 },
	{ "nth", "nth since boot", TAP_CELL_COUNT, .width = 14, .rank = 1 },
	{ 0 }
};

static const json_t *schedulers_of(const struct tap_report *r)
{
	return json_object_get(r->run.rec.meta, "schedulers");
}

/*
 * Find when the scheduler of row @i was loaded. The first row also holds for the time before it.
 * Return: true if that overlaps the window.
 */
static bool find_loaded(const struct tap_report *r, size_t i, struct tap_window *when)
{
	const json_t *rows = schedulers_of(r);
	json_int_t from_ns, to_ns;

	if (!tap_meta_number(json_array_get(rows, i), 0, INT64_MAX, &from_ns))
		return false;
	when->from_ns = tap_window_clip(&r->run.window, i ? (uint64_t)from_ns : 0);
	when->to_ns = tap_meta_number(json_array_get(rows, i + 1), 0, INT64_MAX, &to_ns)
			      ? tap_window_clip(&r->run.window, (uint64_t)to_ns)
			      : r->run.window.to_ns;
	return when->from_ns < when->to_ns;
}

static void put_schedulers(struct tap_report *r, struct tap_table *t)
{
	struct tap_window when;
	json_int_t nth;
	const json_t *row;
	bool is_known;
	size_t i;

	json_array_foreach(schedulers_of(r), i, row) {
		if (!find_loaded(r, i, &when))
			continue;
		is_known = tap_meta_number(row, 2, INT64_MAX, &nth);
		tap_table_puts(t, json_string_value(json_array_get(row, 1)));
		tap_table_u64(t, when.from_ns);
		tap_table_u64(t, when.to_ns);
		tap_table_u64_if(t, is_known, (uint64_t)nth);
		tap_table_row(t);
	}
}

/* For people, only show the table if a BPF scheduler was loaded. */
static bool has_schedulers(const struct tap_report *r)
{
	struct tap_window when;
	const json_t *row;
	size_t i;

	if (!tap_page_is_for(&r->page, TAP_FOR_PEOPLE))
		return schedulers_of(r);
	json_array_foreach(schedulers_of(r), i, row)
		if (json_is_string(json_array_get(row, 1)) && find_loaded(r, i, &when))
			return true;
	return false;
}

const struct tap_section tap_summary_sections[] = {
	{ TAP_FOR_PROGRAMS, .put = json_head },
	{ TAP_FOR_PROGRAMS, .put = json_losses },
	{ TAP_FOR_PEOPLE, .put = text_events },
	{ TAP_FOR_PEOPLE, is_limited, .put = text_limits },
	{ TAP_FOR_PEOPLE, .put = text_overhead },
	{ TAP_FOR_PEOPLE, .put = text_losses },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, .before = "\n", .key = "kinds",
	  .columns = kind_columns, .row = put_kind, .nr = nr_kinds },
	{ TAP_FOR_PEOPLE, .put = put_more_kinds },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, is_of_all, .before = "\n", .key = "cpus",
	  .columns = cpu_columns, .put = put_cpus },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, is_limited, .before = "\n", .key = "cpus",
	  .columns = limited_cpu_columns, .put = put_cpus },
	{ TAP_FOR_PEOPLE, .put = put_other_cpus },
	{ TAP_FOR_PROGRAMS, .put = json_gaps },
	{ TAP_FOR_PEOPLE, .put = text_gaps },
	{ TAP_FOR_PEOPLE, has_signals, .before = "\n", .columns = signal_columns,
	  .put = put_signals },
	{ TAP_FOR_ALL, .before = "\n", .key = "tasks", .columns = task_columns, .row = put_task,
	  .nr = tap_report_nr_tasks, .noun = "task" },
	{ TAP_FOR_PEOPLE, .put = note_own },
	TAP_NOTE_THROTTLING,
	TAP_NOTE_SLEEP,
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, by_cgroups, .before = "\n", .key = "cgroups",
	  .columns = cgroup_columns, .put = put_cgroups },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, has_quotas, .before = "\n", .key = "quotas",
	  .columns = quota_columns, .put = put_quotas },
	{ TAP_FOR_PEOPLE, .put = put_common_cgroup },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, has_schedulers, .before = "\n", .key = "schedulers",
	  .columns = scheduler_columns, .put = put_schedulers },
	{ TAP_FOR_PROGRAMS, .put = json_missing },
	{ TAP_FOR_PEOPLE, .put = text_absent },
	{ TAP_FOR_PEOPLE, .put = text_missing },
	{ 0 }
};
