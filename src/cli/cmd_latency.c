// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap latency: how long tasks waited for a CPU. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/latency.h"
#include "cli/screen.h"
#include "cli/wakeups.h"
#include "out/bars.h"

#define TOP_IN_TEXT 20u

struct latency_opts {
	struct tap_pass_opts pass;
	int64_t top; /* -1: not given */
	int64_t worst;
	bool preempted, hist;
};

static const struct tap_opt latency_opts[] = {
	TAP_PASS_OPTIONS(struct latency_opts),
	{ "preempted", 0, NULL, "waits after being preempted, instead of those after a wakeup",
	  TAP_OPT_FLAG, offsetof(struct latency_opts, preempted) },
	{ "number", 'n', "N", "show the N tasks with the longest waits [20; all with --json and "
	  "--csv]", TAP_OPT_INT, offsetof(struct latency_opts, top), .min = 0, .max = INT_MAX },
	{ "worst", 0, "N", "show the N longest waits, and what ran meanwhile", TAP_OPT_INT,
	  offsetof(struct latency_opts, worst), .min = 1, .max = 10000 },
	{ "hist", 0, NULL, "show the distribution", TAP_OPT_FLAG,
	  offsetof(struct latency_opts, hist) },
	{ 0 }
};

/* One run of the command. */
struct run {
	const struct latency_opts *opts;
	struct tap_pass pass;
	struct tap_latency latency;
	struct tap_report report;
};

static int stretch(void *ctx, const struct tap_stretch *s)
{
	struct run *run = ctx;
	int cpu = s->next == TAP_RUNNING ? s->next_cpu : s->cpu;

	if (!tap_pass_task(&run->pass, s->task) || !tap_pass_cpu(&run->pass, cpu))
		return 0;
	return tap_latency_stretch(&run->latency, run->pass.timeline, s);
}

static int cpu_stretch(void *ctx, const struct tap_cpu_stretch *s)
{
	struct run *run = ctx;

	return tap_latency_cpu(&run->latency, s);
}

/* ---- tasks ---------------------------------------------------------------------------------- */

/* clang-format off */
#define STAT_COLUMNS \
	TAP_PASS_WHO_COLUMNS("", "task", 26), \
	TAP_PASS_THROTTLING, \
	{ "count", "waits", TAP_CELL_COUNT, .width = 8 }, \
	{ "censored", "censored", TAP_CELL_COUNT, .width = 8, .rank = 4, .tint = TAP_TINT_YELLOW }, \
	{ "min_ns", NULL, TAP_CELL_NS }, \
	{ "avg_ns", "avg", TAP_CELL_NS, .width = 9, .rank = 2 }, \
	{ "p50_ns", "p50", TAP_CELL_NS, .width = 9, .rank = 3, .same_unit = true }, \
	{ "p90_ns", "p90", TAP_CELL_NS, .width = 9, .rank = 6, .same_unit = true }, \
	{ "p99_ns", "p99", TAP_CELL_NS, .width = 9, .rank = 1, .same_unit = true }, \
	{ "p999_ns", "p99.9", TAP_CELL_NS, .width = 9, .rank = 7, .same_unit = true }, \
	{ "max_ns", "max", TAP_CELL_NS, .width = 10, .same_unit = true }, \
	{ "max_at_ns", "max at", TAP_CELL_AT, .width = 16, .rank = 5 }, \
	{ "max_cpu", "cpu", TAP_CELL_INT, .width = 3, .rank = 8 }
/* clang-format on */

static const struct tap_column stat_columns[] = {
	STAT_COLUMNS,
	{ "same_cpu_count", NULL, TAP_CELL_COUNT },
	{ "same_cpu_avg_ns", NULL, TAP_CELL_NS },
	{ "same_cpu_max_ns", NULL, TAP_CELL_NS },
	{ "migrated_count", NULL, TAP_CELL_COUNT },
	{ "migrated_avg_ns", NULL, TAP_CELL_NS },
	{ "migrated_max_ns", NULL, TAP_CELL_NS },
	{ 0 }
};

/* In JSON the two kinds of waits are objects in the row. */
static const struct tap_column json_columns[] = { STAT_COLUMNS, { 0 } };

static void put_part(struct tap_table *t, const struct tap_latency_part *part)
{
	tap_table_u64(t, part->count);
	if (part->count) {
		tap_table_u64(t, part->sum_ns / part->count);
		tap_table_u64(t, part->max_ns);
	} else {
		tap_table_none(t);
		tap_table_none(t);
	}
}

static void put_part_json(struct tap_report *r, const char *key,
			  const struct tap_latency_part *part)
{
	tap_report_object(r, key);
	tap_report_u64(r, "count", part->count);
	if (part->count) {
		tap_report_u64(r, "avg_ns", part->sum_ns / part->count);
		tap_report_u64(r, "max_ns", part->max_ns);
	} else { /* null */
		tap_report_real(r, "avg_ns", NAN);
		tap_report_real(r, "max_ns", NAN);
	}
	tap_report_object_end(r);
}

static void put_waits(struct tap_table *t, const struct tap_latency_stat *s)
{
	static const double parts[] = { 0.5, 0.9, 0.99, 0.999 };

	tap_table_u64(t, s->waits.min);
	tap_table_u64(t, (uint64_t)(tap_hist_mean(&s->waits) + 0.5));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		tap_table_u64(t, tap_hist_quantile(&s->waits, parts[i]));
	tap_table_u64(t, s->waits.max);
	tap_table_u64(t, s->max_at_ns);
	tap_table_s64(t, s->max_cpu);
}

/* The cells behind those that say whose they are. */
static void put_stat(struct tap_table *t, const struct tap_latency_stat *s)
{
	tap_table_u64(t, s->waits.count);
	tap_table_u64(t, s->censored);
	if (s->waits.count)
		put_waits(t, s);
	else
		for (int i = 0; i < 9; i++)
			tap_table_none(t);
	if (t->to->style == TAP_STYLE_JSON) {
		put_part_json(t->to, "same_cpu", &s->same_cpu);
		put_part_json(t->to, "migrated", &s->migrated);
	} else {
		put_part(t, &s->same_cpu);
		put_part(t, &s->migrated);
	}
	tap_table_row(t);
}

static void put_all(struct run *run, struct tap_table *t)
{
	tap_table_text(t, "all", 3);
	for (int i = 0; i < 4; i++)
		tap_table_none(t);
	put_stat(t, &run->latency.all);
}

static void put_task(struct run *run, struct tap_table *t, const struct tap_task *task)
{
	tap_pass_who(&run->pass, t, task);
	tap_pass_put_throttling(&run->pass, t, task);
	put_stat(t, &run->latency.tasks[task->index]);
}

static int by_max(const void *a, const void *b, void *ctx)
{
	const struct tap_task *x = *(struct tap_task *const *)a, *y = *(struct tap_task *const *)b;
	const struct tap_latency_stat *stats = ctx;
	uint64_t x_ns = stats[x->index].waits.max, y_ns = stats[y->index].waits.max;

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Tasks that waited, the longest wait first. Return: how many. */
static unsigned int pick_tasks(struct run *run, struct tap_task **picked)
{
	struct tap_task *const *tasks;
	unsigned int nr_tasks, nr = 0;

	tasks = tap_timeline_tasks(run->pass.timeline, &nr_tasks);
	for (unsigned int i = 0; i < nr_tasks && i < run->latency.nr_tasks; i++)
		if (run->latency.tasks[i].waits.count || run->latency.tasks[i].censored)
			picked[nr++] = tasks[i];
	qsort_r(picked, nr, sizeof(*picked), by_max, run->latency.tasks);
	return nr;
}

static int print_tasks(struct run *run)
{
	struct tap_report *r = &run->report;
	struct tap_task **picked = calloc(run->latency.nr_tasks + 1, sizeof(struct tap_task *));
	const struct tap_column *columns = stat_columns;
	unsigned int nr, top = tap_pass_top(&run->pass, run->opts->top, TOP_IN_TEXT);
	struct tap_table t;

	if (!picked)
		return -ENOMEM;
	nr = pick_tasks(run, picked);
	if (r->style == TAP_STYLE_JSON) {
		columns = json_columns;
		tap_table_object(&t, r, columns, "all");
		put_all(run, &t);
	}
	tap_table_begin(&t, r, columns, "tasks");
	if (r->style == TAP_STYLE_TEXT)
		put_all(run, &t);
	for (unsigned int i = 0; i < nr && i < top; i++)
		put_task(run, &t, picked[i]);
	tap_table_end(&t);
	tap_pass_more(r, "task", nr, top);
	free(picked);
	return 0;
}

/* Of all waits, for text: elsewhere these stand beside the others. */
static void print_parts(struct run *run)
{
	static const struct tap_column columns[] = {
		{ NULL, "ran", TAP_CELL_LABEL, .width = 26 },
		{ NULL, "waits", TAP_CELL_COUNT, .width = 8 },
		{ NULL, "avg", TAP_CELL_NS, .width = 9 },
		{ NULL, "max", TAP_CELL_NS, .width = 10, .same_unit = true },
		{ 0 }
	};
	struct tap_table t;

	tap_buf_char(&run->report.buf, '\n');
	tap_table_begin(&t, &run->report, columns, NULL);
	tap_table_text(&t, "on the CPU of before", 20);
	put_part(&t, &run->latency.all.same_cpu);
	tap_table_row(&t);
	tap_table_text(&t, "on another CPU", 14);
	put_part(&t, &run->latency.all.migrated);
	tap_table_row(&t);
	tap_table_end(&t);
}

/* ---- the worst ------------------------------------------------------------------------------ */

static const struct tap_column worst_columns[] = {
	TAP_PASS_WHO_COLUMNS("", "worst waits of", 26),
	TAP_PASS_THROTTLING,
	{ "wait_ns", "wait", TAP_CELL_NS, .width = 10 },
	{ "from_ns", "from", TAP_CELL_AT, .width = 16, .rank = 2 },
	{ "to_ns", "to", TAP_CELL_AT, .width = 16, .rank = 7 },
	{ NULL, "time of day", TAP_CELL_LABEL, .width = 18, .rank = 3 },
	{ "cpu", "cpu", TAP_CELL_INT, .width = 3, .rank = 1 },
	{ "prev_cpu", "before", TAP_CELL_INT, .width = 6, .rank = 6 },
	{ NULL, "woken by", TAP_CELL_LABEL, .width = 26, .rank = 4 },
	{ "waker_tid", NULL, TAP_CELL_INT },
	{ "waker_tgid", NULL, TAP_CELL_INT },
	{ "waker_comm", NULL, TAP_CELL_TEXT },
	{ "waker_cpu", NULL, TAP_CELL_INT },
	{ NULL, "idle CPUs", TAP_CELL_LABEL, .width = 9, .rank = 3 },
	{ NULL, "on that CPU meanwhile, us", TAP_CELL_LABEL },
	{ 0 }
};

static void put_cpu(struct tap_table *t, int cpu)
{
	if (cpu >= 0)
		tap_table_s64(t, cpu);
	else
		tap_table_none(t);
}

static void put_waker(struct run *run, struct tap_table *t, const struct tap_latency_worst *w)
{
	/* a task that was preempted was woken long before this wait */
	int tid = run->latency.state == TAP_WAKING ? w->waker_tid : -1;

	tap_wakeups_waker(&run->pass, t, tap_timeline_task(run->pass.timeline, tid), tid);
	put_cpu(t, tid >= 0 ? w->waker_cpu : -1);
}

/* As the kernel lists CPUs: "0-3,8". */
static void put_cpu_list(struct tap_buf *b, const struct tap_cpus *cpus)
{
	unsigned int nr = cpus->nr_words * 64;

	for (unsigned int from = 0, to; from < nr; from = to + 1) {
		to = from;
		if (!tap_cpus_has(cpus, from))
			continue;
		while (tap_cpus_has(cpus, to + 1))
			to++;
		tap_buf_printf(b, "%s%u", b->len ? "," : "", from);
		if (to > from)
			tap_buf_printf(b, "-%u", to);
	}
}

static void put_named_us(struct tap_buf *b, const char *name, size_t len, uint64_t ns)
{
	if (!ns)
		return;
	if (b->len)
		tap_buf_puts(b, ", ");
	tap_buf_add(b, name, len);
	tap_buf_printf(b, " %ju.%03u", (uintmax_t)(ns / 1000), (unsigned int)(ns % 1000));
}

static void put_meanwhile(struct run *run, struct tap_buf *b, const struct tap_latency_worst *w)
{
	char others[32];

	for (unsigned int i = 0; i < w->nr_ran; i++) {
		uint32_t len;
		const char *label = tap_pass_label(&run->pass, w->ran[i].task, &len);

		put_named_us(b, label, len, w->ran[i].ns);
	}
	snprintf(others, sizeof(others), "%u others", w->nr_others);
	put_named_us(b, others, strlen(others), w->others_ns);
	put_named_us(b, "<idle>", 6, w->idle_ns);
	put_named_us(b, "<offline>", 9, w->offline_ns);
	put_named_us(b, "<unknown>", 9, w->unknown_ns);
	if (w->is_part)
		tap_buf_puts(b, b->len ? ", ..." : "...");
}

static void put_meanwhile_text(struct run *run, struct tap_table *t,
			       const struct tap_latency_worst *w)
{
	struct tap_buf b = { 0 };

	put_cpu_list(&b, &w->idle);
	if (b.len)
		tap_table_text(t, b.data, b.len);
	else
		tap_table_text(t, "none", 4);
	tap_buf_clear(&b);
	put_meanwhile(run, &b, w);
	tap_table_text(t, b.data, b.len);
	tap_buf_release(&b);
}

static void put_meanwhile_json(struct run *run, const struct tap_latency_worst *w)
{
	struct tap_report *r = &run->report;

	tap_report_array(r, "idle_cpus");
	for (unsigned int i = 0, nr = 0; i < w->idle.nr_words * 64; i++)
		if (tap_cpus_has(&w->idle, i))
			tap_buf_printf(&r->buf, nr++ ? ",%u" : "%u", i);
	tap_report_array_end(r);
	tap_report_array(r, "ran");
	for (unsigned int i = 0; i < w->nr_ran; i++) {
		tap_report_object(r, NULL);
		tap_pass_who_json(&run->pass, r, w->ran[i].task);
		tap_report_u64(r, "run_ns", w->ran[i].ns);
		tap_report_object_end(r);
	}
	tap_report_array_end(r);
	tap_report_u64(r, "others_run_ns", w->others_ns);
	tap_report_u64(r, "idle_ns", w->idle_ns);
	tap_report_u64(r, "offline_ns", w->offline_ns);
	tap_report_u64(r, "unknown_ns", w->unknown_ns);
	tap_report_key(r, "ran_is_part");
	tap_buf_puts(&r->buf, w->is_part ? "true" : "false");
}

/* For logs of others: a service writes down when it was late, by the wall clock. */
static void put_tod(struct run *run, struct tap_table *t, uint64_t ts_ns)
{
	struct tap_wall wall = run->pass.in.wall;
	char text[TAP_WALL_TEXT];

	wall.shown = TAP_SHOW_TOD;
	if (wall.is_known)
		tap_table_text(t, text, tap_wall_text(&wall, ts_ns, text));
	else
		tap_table_none(t);
}

static void put_worst(struct run *run, struct tap_table *t, const struct tap_latency_worst *w)
{
	tap_pass_who(&run->pass, t, w->task);
	tap_pass_put_throttling(&run->pass, t, w->task);
	tap_table_u64(t, w->to_ns - w->from_ns);
	tap_table_u64(t, w->from_ns);
	tap_table_u64(t, w->to_ns);
	put_tod(run, t, w->from_ns);
	tap_table_s64(t, w->cpu);
	put_cpu(t, w->run_cpu);
	put_waker(run, t, w);
	put_meanwhile_text(run, t, w);
	if (run->report.style == TAP_STYLE_JSON)
		put_meanwhile_json(run, w);
	tap_table_row(t);
}

static void print_worst(struct run *run)
{
	struct tap_table t;

	if (run->report.style == TAP_STYLE_TEXT)
		tap_buf_char(&run->report.buf, '\n');
	tap_table_begin(&t, &run->report, worst_columns, "worst");
	for (unsigned int i = 0; i < run->latency.nr_worst; i++)
		put_worst(run, &t, &run->latency.worst[i]);
	tap_table_end(&t);
}

/* ---- the command ---------------------------------------------------------------------------- */

static int print(struct run *run, struct tap_err *err)
{
	struct tap_report *r = &run->report;
	int ret, wrote;

	tap_pass_begin(&run->pass, r, tap_pass_style(&run->pass));
	tap_report_text(r, "wait", run->opts->preempted ? "preempted" : "waking",
			run->opts->preempted ? 9 : 6);
	ret = print_tasks(run);
	if (r->style == TAP_STYLE_TEXT)
		print_parts(run);
	if (run->opts->hist) {
		if (r->style == TAP_STYLE_TEXT)
			tap_buf_char(&r->buf, '\n');
		tap_out_bars(r, "hist", &run->latency.all.waits, tap_screen_utf8());
	}
	if (run->opts->worst)
		print_worst(run);
	tap_pass_note_throttling(&run->pass, r);
	wrote = tap_report_close(r);
	ret = ret ? ret : wrote;
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write the latencies: %m") : 0;
}

static int observe(struct run *run, struct tap_err *err)
{
	struct tap_latency *l = &run->latency;
	struct tap_observer observer = {
		.states = TAP_LATENCY_STATES(l->state), .lost_states = TAP_LATENCY_LOST_STATES,
		.stretch = stretch,
		.cpu = run->opts->worst ? cpu_stretch : NULL,
	};
	int ret;

	ret = l->state == TAP_WAKING ? tap_wakeups_check(&run->pass, err) : 0;
	if (ret)
		return ret;
	ret = tap_pass_run(&run->pass, &observer, NULL, run, err);
	if (!ret && tap_latency_end(l))
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	return ret ? ret : print(run, err);
}

static int run_latency(void *opts, const struct tap_strings *operands, char **rest)
{
	struct run run = { .opts = opts };
	struct tap_err err = { 0 };
	bool usage;
	int ret;

	(void)operands;
	(void)rest;
	if (run.opts->pass.csv && (run.opts->hist || run.opts->worst)) {
		tap_err_set(&err, -EINVAL, "--csv has one table: leave out --hist and --worst");
		return tap_cmd_fail(&err, true);
	}
	ret = tap_pass_open(&run.pass, &run.opts->pass, &usage, &err);
	run.pass.mark_throttling = true;
	if (!ret && tap_latency_init(&run.latency,
				     run.opts->preempted ? TAP_PREEMPTED : TAP_WAKING,
				     (unsigned int)run.opts->worst))
		ret = tap_err_set(&err, -ENOMEM, "out of memory");
	if (!ret)
		ret = observe(&run, &err);
	ret = tap_pass_finish(&run.pass, ret, &err, usage);
	tap_latency_release(&run.latency);
	return ret;
}

const struct tap_cmd tap_cmd_latency = {
	.name = "latency",
	.help = "how long tasks waited for a CPU",
	.operands = TAP_CMD_FILE,
	.example = "schedtap latency -i demo/trace.dat --worst 5",
	.opts = latency_opts,
	.opts_size = sizeof(struct latency_opts),
	.defaults = &(const struct latency_opts){ .top = -1 },
	.run = run_latency,
};
