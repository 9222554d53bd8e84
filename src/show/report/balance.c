// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * schedtap balance: how evenly the CPUs were loaded, and which tasks waited while a CPU was idle.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analysis/balance.h"
#include "show/report/report.h"

struct balance_opts {
	struct tap_report_opts common;
	uint64_t min_ns;
	int64_t worst;
};

static const struct tap_opt options[] = {
	TAP_REPORT_OPTIONS,
	TAP_OPTION(struct balance_opts, min_ns, "min", 'm', "TIME", TAP_OPT_TIME,
		   "leave out violations (waits although a CPU was free) shorter than TIME [0]"),
	{ "worst", 0, "N", "show the N longest violations (waits although a CPU was free) [10]",
	  TAP_OPT_INT, offsetof(struct balance_opts, worst), .min = 0, .max = 1000000 },
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

static const struct tap_column kind_columns[] = { { NULL, "waiting", TAP_CELL_TEXT, .width = 28 },
						  { NULL, "count", TAP_CELL_COUNT, .width = 10 },
						  { NULL, "total", TAP_CELL_NS, .width = 12 },
						  { 0 } };

static const struct tap_column worst_columns[] = {
	{ "from_ns", "from s", TAP_CELL_AT, .width = 18 },
	{ "to_ns", "to s", TAP_CELL_AT, .width = 18, .rank = 3 },
	{ "length_ns", "length", TAP_CELL_NS, .width = 12, .tint = TAP_TINT_RED },
	{ "state", "state", TAP_CELL_TEXT, .width = 9, .rank = 2 },
	TAP_TASK_COLUMNS("", "task", 24),
	TAP_THROTTLING_COLUMN,
	{ "cpu", "CPU", TAP_CELL_INT, .width = 4, .rank = 1 },
	{ "idle_cpus", "idle CPUs", TAP_CELL_TEXT, .width = 9, .tint = TAP_TINT_CYAN },
	{ 0 }
};

struct balance {
	struct tap_report report;
	struct tap_balance balance;
};

static struct tap_balance *balance_of(const struct tap_report *r)
{
	return &((struct balance *)r)->balance;
}

static bool cpu_wanted(void *ctx, int cpu)
{
	return tap_run_cpu(&((struct tap_report *)ctx)->run, cpu);
}

/* ---- run queue lengths recorded by the kernel ---- */

/*
 * Choose the signal that counts runnable tasks only. Since v6.12 (delayed dequeue) nr_running also
 * counts tasks that sleep but are still queued; nr_runnable does not.
 */
static bool want_signal(void *ctx, const struct tap_pelt_signal *s)
{
	const struct tap_report *r = ctx;
	const struct tap_format *const *formats;
	bool has_nr_runnable = false;
	unsigned int nr;

	formats = tap_reader_formats(r->run.rec.reader, &nr);
	for (unsigned int i = 0; i < nr; i++)
		has_nr_runnable |= !strcmp(formats[i]->name, s->event) &&
				   tap_format_field(formats[i], "h_nr_runnable");
	return !strcmp(s->name, has_nr_runnable ? "nr_runnable" : "nr_running");
}

static int on_length(void *ctx, const struct tap_pelt_series *s, uint64_t ts_ns, int64_t value)
{
	return tap_balance_length(balance_of(ctx), s->cpu, ts_ns,
				  value == TAP_PELT_GAP ? -1 : value);
}

static int begin_balance(struct tap_report *r, struct tap_err *err)
{
	const struct balance_opts *o = (const struct balance_opts *)r->opts;
	struct tap_balance_opts opts = {
		.survey = &r->run.survey,
		.cpu = cpu_wanted,
		.ctx = r,
		.min_ns = o->min_ns,
		.nr_worst = (unsigned int)o->worst,
	};
	int ret = tap_report_open_signals(
		r, (struct tap_pelt_opts){ .point = on_length, .cpus_only = true }, err);

	r->run.mark_throttling = true;
	opts.lengths_told = r->signals;
	if (!ret && tap_balance_init(balance_of(r), &opts))
		ret = tap_err_nomem(err);
	return ret;
}

/* ---- output ---- */

/* The columns that a CPU's length and the imbalance share. */
static void put_length(const struct tap_report *r, struct tap_table *t, const struct tap_hist *h)
{
	static const double parts[] = { 0.5, 0.9, 0.99, 1 };

	tap_table_u64(t, h->count);
	tap_table_real(t, tap_pct(h->count, tap_window_ns(&r->run.window)));
	if (h->count)
		tap_table_real(t, tap_hist_mean(h));
	else
		tap_table_none(t);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		tap_table_u64_if(t, h->count, tap_hist_quantile(h, parts[i]));
	tap_table_row(t);
}

static void put_cpus(struct tap_report *r, struct tap_table *t)
{
	const struct tap_queue_lengths *b = &balance_of(r)->lengths;
	char name[16];

	for (unsigned int i = 0; i < b->nr_cpus; i++) {
		if (!b->cpus[i].seen)
			continue;
		tap_table_s64(t, i);
		tap_table_text(t, name, (size_t)snprintf(name, sizeof(name), "CPU %u", i));
		put_length(r, t, &b->cpus[i].length);
	}
}

static void put_imbalance(struct tap_report *r, struct tap_table *t)
{
	tap_table_puts(t, "imbalance");
	put_length(r, t, &balance_of(r)->lengths.imbalance);
}

/* For people, the imbalance is a row below those of the CPUs. */
static void put_lengths(struct tap_report *r, struct tap_table *t)
{
	put_cpus(r, t);
	tap_table_none(t);
	put_imbalance(r, t);
}

/* Write the source of the lengths: the kernel's event, or the tasks' states. */
static void put_lengths_from(struct tap_report *r, struct tap_table *t)
{
	tap_page_puts(t->page, "lengths_from", r->signals ? "sched_update_nr_running" : "states");
}

static void put_lengths_title(struct tap_report *r, struct tap_table *t)
{
	tap_buf_puts(&t->page->buf,
		     r->signals ? "lengths of run queues as the kernel counts them "
				  "(sched_update_nr_running)\n"
				: "lengths of run queues counted from the tasks' states\n");
}

/* ---- violations ---- */

static unsigned int nr_worst(const struct tap_report *r)
{
	return balance_of(r)->violations.nr_worst;
}

static void put_worst(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_violation *v = &balance_of(r)->violations.worst[i];
	struct tap_buf list = { 0 };

	tap_table_u64(t, v->from_ns);
	tap_table_u64(t, v->to_ns);
	tap_table_u64(t, v->to_ns - v->from_ns);
	tap_table_puts(t, tap_state_name(v->state));
	tap_task_cells(&r->run, t, v->task);
	tap_throttling_cell(&r->run, t, v->task);
	tap_table_s64(t, v->cpu);
	tap_cpus_text(&v->idle, &list);
	tap_table_text(t, list.data, list.len);
	tap_buf_release(&list);
}

static void put_worst_members(struct tap_report *r, struct tap_page *p)
{
	const struct tap_violations *b = &balance_of(r)->violations;

	tap_page_array(p, "worst");
	for (unsigned int i = 0; i < b->nr_worst; i++) {
		const struct tap_violation *v = &b->worst[i];

		tap_page_object(p, NULL);
		tap_task_members(p, v->task);
		tap_page_id(p, "throttling_possible", tap_run_throttles(&r->run, v->task));
		tap_page_puts(p, "state", tap_state_name(v->state));
		tap_page_u64(p, "cpu", (uint64_t)v->cpu);
		tap_page_at(p, "from_ns", v->from_ns);
		tap_page_at(p, "to_ns", v->to_ns);
		tap_page_u64(p, "length_ns", v->to_ns - v->from_ns);
		tap_page_cpus(p, "idle_cpus", &v->idle);
		tap_page_object_end(p);
	}
	tap_page_array_end(p);
}

static void put_kind_member(struct tap_page *p, const char *key, uint64_t count, uint64_t ns)
{
	tap_page_object(p, key);
	tap_page_u64(p, "count", count);
	tap_page_u64(p, "total_ns", ns);
	tap_page_object_end(p);
}

static void put_violation_members(struct tap_report *r, struct tap_table *t)
{
	const struct tap_violations *b = &balance_of(r)->violations;
	struct tap_page *p = t->page;

	tap_page_object(p, "violations");
	tap_page_u64(p, "count", b->lengths.count);
	tap_page_u64(p, "total_ns", (uint64_t)b->lengths.sum);
	tap_page_u64_if(p, "p50_ns", b->lengths.count, tap_hist_quantile(&b->lengths, 0.5));
	tap_page_u64_if(p, "p99_ns", b->lengths.count, tap_hist_quantile(&b->lengths, 0.99));
	tap_page_u64_if(p, "max_ns", b->lengths.count, b->lengths.max);
	put_kind_member(p, "waking", b->state_count[TAP_STATE_WAKING],
			b->state_ns[TAP_STATE_WAKING]);
	put_kind_member(p, "preempted", b->state_count[TAP_STATE_PREEMPTED],
			b->state_ns[TAP_STATE_PREEMPTED]);
	put_worst_members(r, p);
	tap_page_object_end(p);
	put_kind_member(p, "own_cpu_idle", b->exits, b->exit_ns);
	put_kind_member(p, "waits", b->waits, b->wait_ns);
}

static void put_violations_title(struct tap_report *r, struct tap_table *t)
{
	const struct tap_violations *b = &balance_of(r)->violations;
	uint64_t sum_ns = (uint64_t)b->lengths.sum;
	struct tap_buf *out = &t->page->buf;

	tap_buf_printf(out, "\n%" PRIu64 " violation%s of work conservation", b->lengths.count,
		       b->lengths.count == 1 ? "" : "s");
	if (b->lengths.count)
		tap_buf_printf(out,
			       ": %.3f ms\n%.2f %% of the window, %.2f %% of all waiting\n"
			       "p50 %.3f us, p99 %.3f us, max %.3f us",
			       (double)sum_ns / 1e6, tap_pct(sum_ns, tap_window_ns(&r->run.window)),
			       tap_pct(sum_ns, b->wait_ns),
			       (double)tap_hist_quantile(&b->lengths, 0.5) / 1e3,
			       (double)tap_hist_quantile(&b->lengths, 0.99) / 1e3,
			       (double)b->lengths.max / 1e3);
	tap_buf_puts(out, "\n\n");
}

static void put_kind(struct tap_table *t, const char *name, bool is_violation, uint64_t count,
		     uint64_t ns)
{
	tap_table_tint(t, is_violation && count ? TAP_TINT_RED : TAP_TINT_NONE);
	tap_table_puts(t, name);
	tap_table_u64(t, count);
	tap_table_u64(t, ns);
	tap_table_row(t);
}

static void put_kinds(struct tap_report *r, struct tap_table *t)
{
	const struct tap_violations *b = &balance_of(r)->violations;

	put_kind(t, "violations, after a wakeup", true, b->state_count[TAP_STATE_WAKING],
		 b->state_ns[TAP_STATE_WAKING]);
	put_kind(t, "violations, after preemption", true, b->state_count[TAP_STATE_PREEMPTED],
		 b->state_ns[TAP_STATE_PREEMPTED]);
	put_kind(t, "none: its own CPU was idle", false, b->exits, b->exit_ns);
	put_kind(t, "all waits", false, b->waits, b->wait_ns);
}

static bool has_worst(const struct tap_report *r)
{
	return nr_worst(r);
}

static void put_worst_title(struct tap_report *r, struct tap_table *t)
{
	tap_buf_printf(&t->page->buf, "\nthe longest %u\n", nr_worst(r));
}

static void release_balance(struct tap_report *r)
{
	tap_balance_release(balance_of(r));
}

static const struct tap_section sections[] = {
	{ TAP_FOR_PROGRAMS, .put = put_lengths_from },
	{ TAP_FOR_PROGRAMS, .key = "imbalance", .columns = length_columns + 1, .put = put_imbalance,
	  .is_object = true },
	{ TAP_FOR_PROGRAMS, .key = "cpus", .columns = length_columns, .put = put_cpus },
	{ TAP_FOR_PROGRAMS, .put = put_violation_members },
	{ TAP_FOR_PEOPLE, .put = put_lengths_title },
	{ TAP_FOR_PEOPLE, .columns = length_columns, .put = put_lengths },
	{ TAP_FOR_PEOPLE, .put = put_violations_title },
	{ TAP_FOR_PEOPLE, .columns = kind_columns, .put = put_kinds },
	{ TAP_FOR_PEOPLE, has_worst, .put = put_worst_title },
	{ TAP_FOR_PEOPLE, has_worst, .columns = worst_columns, .row = put_worst, .nr = nr_worst },
	{ TAP_FOR_SHEETS, .columns = worst_columns, .row = put_worst, .nr = nr_worst },
	TAP_NOTE_THROTTLING,
	{ 0 }
};

const struct tap_report_type tap_report_balance = {
	.cmd = {
		.name = "balance",
		.help = "load per CPU, and tasks that waited while a CPU idled",
		.operands = TAP_CMD_FILE,
		.example = "schedtap balance --worst 5",
		.opts = options,
		.opts_size = sizeof(struct balance_opts),
		.defaults = &(const struct balance_opts){ .worst = 10 },
	},
	.size = sizeof(struct balance),
	.needs = TAP_NEEDS_SWITCHES | TAP_NEEDS_MIGRATIONS,
	.watchers = (const struct tap_report_watcher[]){
		{ &tap_balance_ops, offsetof(struct balance, balance) }, { 0 } },
	.sections = sections,
	.want_signal = want_signal,
	.begin = begin_balance,
	.release = release_balance,
};
