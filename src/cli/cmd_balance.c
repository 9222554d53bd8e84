// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap balance: how evenly the CPUs were loaded, and who waited beside a free one. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>

#include "analysis/balance.h"
#include "analysis/pelt.h"
#include "cli/pass.h"
#include "cli/screen.h"

struct balance_opts {
	struct tap_pass_opts pass;
	uint64_t min_ns;
	int64_t worst;
};

static const struct tap_opt balance_opts[] = {
	TAP_PASS_OPTIONS(struct balance_opts),
	TAP_OPTION(struct balance_opts, min_ns, "min", 'm', "TIME", TAP_OPT_TIME,
		   "leave out violations shorter than TIME [0]"),
	{ "worst", 0, "N", "show the N longest violations [10]", TAP_OPT_INT,
	  offsetof(struct balance_opts, worst), .min = 0, .max = 1000000 },
	{ 0 }
};

static const struct tap_column length_columns[] = {
	{ "cpu", NULL, TAP_CELL_INT },
	{ NULL, "run queue", TAP_CELL_TEXT, .width = 10 },
	{ "known_ns", "known", TAP_CELL_NS, .width = 12 },
	{ "known_pct", "known %", TAP_CELL_REAL, .width = 7, .places = 1 },
	{ "avg", "avg", TAP_CELL_REAL, .width = 8, .places = 3 },
	{ "p50", "p50", TAP_CELL_COUNT, .width = 6 },
	{ "p90", "p90", TAP_CELL_COUNT, .width = 6 },
	{ "p99", "p99", TAP_CELL_COUNT, .width = 6 },
	{ "max", "max", TAP_CELL_COUNT, .width = 6 },
	{ 0 }
};

static const struct tap_column kind_columns[] = {
	{ NULL, "waiting", TAP_CELL_TEXT, .width = 28 },
	{ "count", "count", TAP_CELL_COUNT, .width = 10 },
	{ "total_ns", "total", TAP_CELL_NS, .width = 12 },
	{ 0 }
};

static const struct tap_column worst_columns[] = {
	{ "from_ns", "from s", TAP_CELL_AT, .width = 18 },
	{ "to_ns", "to s", TAP_CELL_AT, .width = 18, .rank = 3 },
	{ "length_ns", "length", TAP_CELL_NS, .width = 12 },
	{ "state", "state", TAP_CELL_TEXT, .width = 9, .rank = 2 },
	TAP_PASS_WHO_COLUMNS("", "task", 24),
	TAP_PASS_THROTTLING,
	{ "cpu", "CPU", TAP_CELL_INT, .width = 4, .rank = 1 },
	{ "idle_cpus", "idle CPUs", TAP_CELL_TEXT, .width = 9 },
	{ 0 }
};

struct run {
	const struct balance_opts *opts;
	struct tap_pass pass;
	struct tap_report report;
	struct tap_balance balance;
	struct tap_pelt *signals; /* what the kernel says of its run queues; NULL: not recorded */
};

static bool task_wanted(void *ctx, const struct tap_task *task)
{
	return tap_pass_task(&((struct run *)ctx)->pass, task);
}

static bool cpu_wanted(void *ctx, int cpu)
{
	return tap_pass_cpu(&((struct run *)ctx)->pass, cpu);
}

static int on_stretch(void *ctx, const struct tap_stretch *s)
{
	return tap_balance_stretch(&((struct run *)ctx)->balance, s);
}

static int on_cpu(void *ctx, const struct tap_cpu_stretch *s)
{
	return tap_balance_cpu(&((struct run *)ctx)->balance, s);
}

static int on_wakeup(void *ctx, const struct tap_wakeup *w)
{
	return tap_balance_wakeup(&((struct run *)ctx)->balance, w);
}

static int on_migration(void *ctx, const struct tap_migration *m)
{
	return tap_balance_migration(&((struct run *)ctx)->balance, m);
}

/* ---- the kernel's own lengths ---- */

static bool want_signal(void *ctx, const struct tap_pelt_signal *s)
{
	(void)ctx;
	return !strcmp(s->name, "nr_running");
}

static bool wants(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return !strcmp(fmt->name, "sched_update_nr_running") && tap_pelt_wants(fmt);
}

static int on_event(void *ctx, const struct tap_event *ev)
{
	struct run *r = ctx;

	return tap_pelt_event(r->signals, r->pass.timeline, ev);
}

static int on_length(void *ctx, const struct tap_pelt_series *s, uint64_t ts_ns, uint64_t value)
{
	struct run *r = ctx;

	return tap_balance_length(&r->balance, s->cpu, ts_ns,
				  value == TAP_PELT_GAP ? -1 : (int64_t)value);
}

static bool has_lengths(const struct run *r)
{
	const struct tap_survey *s = &r->pass.survey;
	unsigned int i = 0;

	while (i < s->nr_kinds && !wants(NULL, s->kinds[i].fmt))
		i++;
	return i < s->nr_kinds;
}

/* Reads what was recorded, with the kernel's lengths if there are any. */
static int observe(struct run *r, const struct tap_observer *observer, struct tap_err *err)
{
	static const struct tap_pass_events events = { .wants = wants, .event = on_event };
	const struct tap_pelt_opts opts = {
		.start_ns = r->pass.start_ns, .end_ns = r->pass.end_ns,
		.survey = &r->pass.survey, .want_signal = want_signal, .point = on_length,
		.ctx = r,
	};
	int ret = tap_pass_check(&r->pass, err);

	if (ret || !r->balance.opts.lengths_told)
		return ret ? ret : tap_pass_run(&r->pass, observer, NULL, r, err);
	if (tap_pelt_new(&opts, &r->signals))
		return tap_err_set(err, -ENOMEM, "out of memory");
	ret = tap_pass_run(&r->pass, observer, &events, r, err);
	if (!ret && tap_pelt_end(r->signals))
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	return ret;
}

/* ---- what is shown ---- */

static uint64_t window_ns(const struct run *r)
{
	return r->pass.end_ns - r->pass.start_ns;
}

static double pct(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* What both a CPU's length and the imbalance have. */
static void put_length(const struct run *r, struct tap_table *t, const struct tap_hist *h)
{
	static const double parts[] = { 0.5, 0.9, 0.99, 1 };

	tap_table_u64(t, h->count);
	tap_table_real(t, pct(h->count, window_ns(r)));
	if (h->count)
		tap_table_real(t, tap_hist_mean(h));
	else
		tap_table_none(t);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (h->count)
			tap_table_u64(t, tap_hist_quantile(h, parts[i]));
		else
			tap_table_none(t);
	}
	tap_table_row(t);
}

static void put_cpus(const struct run *r, struct tap_table *t)
{
	char name[16];

	for (unsigned int i = 0; i < r->balance.nr_cpus; i++) {
		if (!r->balance.cpus[i].seen)
			continue;
		tap_table_s64(t, i);
		tap_table_text(t, name, (size_t)snprintf(name, sizeof(name), "CPU %u", i));
		put_length(r, t, &r->balance.cpus[i].length);
	}
}

static void print_lengths_text(struct run *r)
{
	struct tap_table t;

	tap_buf_puts(&r->report.buf, r->signals ?
		     "lengths of run queues as the kernel counts them (sched_update_nr_running)\n" :
		     "lengths of run queues counted from the tasks' states\n");
	tap_table_begin(&t, &r->report, length_columns, NULL);
	put_cpus(r, &t);
	tap_table_none(&t);
	tap_table_text(&t, "imbalance", 9);
	put_length(r, &t, &r->balance.imbalance);
	tap_table_end(&t);
}

static void print_lengths_json(struct run *r)
{
	struct tap_table t;

	tap_table_object(&t, &r->report, length_columns + 1, "imbalance");
	tap_table_text(&t, "", 0);
	put_length(r, &t, &r->balance.imbalance);
	tap_table_begin(&t, &r->report, length_columns, "cpus");
	put_cpus(r, &t);
	tap_table_end(&t);
}

/* "0-3,8"; without @ranges: "0,1,2,3,8". */
static void put_cpu_list(struct tap_buf *b, const struct tap_cpus *cpus, bool ranges)
{
	unsigned int nr = cpus->nr_words * 64, cpu, last;
	const char *comma = "";

	for (cpu = 0; cpu < nr; cpu = last + 1) {
		last = cpu;
		if (!tap_cpus_has(cpus, cpu))
			continue;
		while (ranges && tap_cpus_has(cpus, last + 1))
			last++;
		tap_buf_puts(b, comma);
		tap_buf_u64(b, cpu);
		if (last > cpu)
			tap_buf_printf(b, "-%u", last);
		comma = ",";
	}
}

static void print_worst_table(struct run *r)
{
	struct tap_buf list = { 0 };
	struct tap_table t;

	tap_table_begin(&t, &r->report, worst_columns, NULL);
	for (unsigned int i = 0; i < r->balance.nr_worst; i++) {
		const struct tap_balance_violation *v = &r->balance.worst[i];
		const char *state = tap_state_name(v->state);

		tap_table_u64(&t, v->from_ns);
		tap_table_u64(&t, v->to_ns);
		tap_table_u64(&t, v->to_ns - v->from_ns);
		tap_table_text(&t, state, strlen(state));
		tap_pass_who(&r->pass, &t, v->task);
		tap_pass_put_throttling(&r->pass, &t, v->task);
		tap_table_s64(&t, v->cpu);
		tap_buf_clear(&list);
		put_cpu_list(&list, &v->idle, true);
		tap_table_text(&t, list.data, list.len);
		tap_table_row(&t);
	}
	tap_table_end(&t);
	tap_pass_note_throttling(&r->pass, &r->report);
	tap_buf_release(&list);
}

static void print_worst_json(struct run *r)
{
	const struct tap_balance *b = &r->balance;
	struct tap_report *out = &r->report;
	int throttles;

	tap_report_array(out, "worst");
	for (unsigned int i = 0; i < b->nr_worst; i++) {
		const struct tap_balance_violation *v = &b->worst[i];
		const char *state = tap_state_name(v->state);

		tap_report_object(out, NULL);
		tap_pass_who_json(&r->pass, out, v->task);
		throttles = tap_pass_throttles(&r->pass, v->task);
		tap_report_real(out, "throttling_possible", throttles < 0 ? NAN : throttles);
		tap_report_text(out, "state", state, strlen(state));
		tap_report_u64(out, "cpu", (uint64_t)v->cpu);
		tap_report_at(out, "from_ns", v->from_ns);
		tap_report_at(out, "to_ns", v->to_ns);
		tap_report_u64(out, "length_ns", v->to_ns - v->from_ns);
		tap_report_array(out, "idle_cpus");
		put_cpu_list(&out->buf, &v->idle, false);
		tap_report_array_end(out);
		tap_report_object_end(out);
	}
	tap_report_array_end(out);
}

/* null where there are no violations */
static void json_length(struct tap_report *out, const char *key, const struct tap_hist *h,
			double part)
{
	if (h->count)
		tap_report_u64(out, key, tap_hist_quantile(h, part));
	else
		tap_report_real(out, key, NAN);
}

static void put_kind(struct tap_table *t, uint64_t count, uint64_t ns)
{
	tap_table_u64(t, count);
	tap_table_u64(t, ns);
	tap_table_row(t);
}

/* Who says how long the run queues were. */
static const char *lengths_from(const struct run *r)
{
	return r->signals ? "sched_update_nr_running" : "states";
}

static void print_json(struct run *r)
{
	static const enum tap_state states[] = { TAP_WAKING, TAP_PREEMPTED };
	const struct tap_balance *b = &r->balance;
	struct tap_report *out = &r->report;
	struct tap_table t;

	tap_report_text(out, "lengths_from", lengths_from(r), strlen(lengths_from(r)));
	print_lengths_json(r);
	tap_report_object(out, "violations");
	tap_report_u64(out, "count", b->violations.count);
	tap_report_u64(out, "total_ns", (uint64_t)b->violations.sum);
	json_length(out, "p50_ns", &b->violations, 0.5);
	json_length(out, "p99_ns", &b->violations, 0.99);
	json_length(out, "max_ns", &b->violations, 1);
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		tap_table_object(&t, out, kind_columns + 1, tap_state_name(states[i]));
		put_kind(&t, b->state_count[states[i]], b->state_ns[states[i]]);
	}
	print_worst_json(r);
	tap_report_object_end(out);
	tap_table_object(&t, out, kind_columns + 1, "own_cpu_idle");
	put_kind(&t, b->exits, b->exit_ns);
	tap_table_object(&t, out, kind_columns + 1, "waits");
	put_kind(&t, b->waits, b->wait_ns);
}

static void print_kind_text(struct tap_table *t, const char *name, uint64_t count, uint64_t ns)
{
	tap_table_text(t, name, strlen(name));
	put_kind(t, count, ns);
}

static void print_violations_text(struct run *r)
{
	const struct tap_balance *b = &r->balance;
	struct tap_buf *out = &r->report.buf;
	uint64_t sum_ns = (uint64_t)b->violations.sum;
	struct tap_table t;

	tap_buf_printf(out, "\n%" PRIu64 " violation%s of work conservation",
		       b->violations.count, b->violations.count == 1 ? "" : "s");
	if (b->violations.count)
		tap_buf_printf(out, ": %.3f ms\n%.2f %% of the window, %.2f %% of all waiting\n"
			       "p50 %.3f us, p99 %.3f us, max %.3f us",
			       (double)sum_ns / 1e6, pct(sum_ns, window_ns(r)),
			       pct(sum_ns, b->wait_ns),
			       (double)tap_hist_quantile(&b->violations, 0.5) / 1e3,
			       (double)tap_hist_quantile(&b->violations, 0.99) / 1e3,
			       (double)b->violations.max / 1e3);
	tap_buf_puts(out, "\n\n");
	tap_table_begin(&t, &r->report, kind_columns, NULL);
	print_kind_text(&t, "violations, after a wakeup", b->state_count[TAP_WAKING],
			b->state_ns[TAP_WAKING]);
	print_kind_text(&t, "violations, after preemption", b->state_count[TAP_PREEMPTED],
			b->state_ns[TAP_PREEMPTED]);
	print_kind_text(&t, "none: its own CPU was idle", b->exits, b->exit_ns);
	print_kind_text(&t, "all waits", b->waits, b->wait_ns);
	tap_table_end(&t);
	if (!b->nr_worst)
		return;
	tap_buf_printf(out, "\nthe longest %u\n", b->nr_worst);
	print_worst_table(r);
}

static int print(struct run *r, struct tap_err *err)
{
	int ret;

	tap_pass_begin(&r->pass, &r->report, tap_pass_style(&r->pass));
	if (r->report.style == TAP_STYLE_JSON) {
		print_json(r);
	} else if (r->report.style == TAP_STYLE_CSV) {
		print_worst_table(r);
	} else {
		print_lengths_text(r);
		print_violations_text(r);
	}
	ret = tap_report_close(&r->report);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write the balance: %m") : 0;
}

static int report(struct run *r, struct tap_err *err)
{
	static const struct tap_observer observer = {
		.states = TAP_BALANCE_STATES, .stretch = on_stretch, .cpu = on_cpu,
		.wakeup = on_wakeup, .migration = on_migration,
	};
	const struct tap_balance_opts opts = {
		.timeline = &r->pass.timeline, .survey = &r->pass.survey,
		.task = task_wanted, .cpu = cpu_wanted, .ctx = r,
		.lengths_told = has_lengths(r), .min_ns = r->opts->min_ns,
		.nr_worst = (unsigned int)r->opts->worst,
	};
	int ret;

	if (r->pass.survey.buffer[TAP_SHAPE_MIGRATE] == TAP_NO_BUFFER)
		return tap_err_set(err, -ENODATA,
				   "the recording has no sched_migrate_task: nobody knows in which "
				   "run queue a task waited");
	if (tap_balance_init(&r->balance, &opts))
		return tap_err_set(err, -ENOMEM, "out of memory");
	ret = observe(r, &observer, err);
	if (!ret && tap_balance_end(&r->balance))
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	return ret ? ret : print(r, err);
}

static int run_balance(void *opts, const struct tap_strings *operands, char **rest)
{
	struct run r = { .opts = opts };
	struct tap_err err = { 0 };
	bool usage;
	int ret;

	(void)operands;
	(void)rest;
	ret = tap_pass_open(&r.pass, &r.opts->pass, &usage, &err);
	r.pass.mark_throttling = true;
	if (!ret)
		ret = report(&r, &err);
	tap_pelt_free(r.signals);
	ret = tap_pass_finish(&r.pass, ret, &err, usage);
	tap_balance_release(&r.balance);
	return ret;
}

const struct tap_cmd tap_cmd_balance = {
	.name = "balance",
	.help = "how evenly the CPUs were loaded, and who waited beside a free one",
	.operands = TAP_CMD_FILE,
	.example = "schedtap balance -i demo/trace.dat --worst 5",
	.opts = balance_opts,
	.opts_size = sizeof(struct balance_opts),
	.defaults = &(const struct balance_opts){ .worst = 10 },
	.run = run_balance,
};
