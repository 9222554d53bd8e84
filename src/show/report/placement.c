// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap placement: why wakeups chose their CPUs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hist.h"
#include "analysis/explain/placement.h"
#include "show/report/report.h"

struct placement_opts {
	struct tap_report_opts common;
	bool list;
	const char *at;
};

static const struct tap_opt options[] = {
	TAP_REPORT_OPTIONS,
	TAP_OPTION(struct placement_opts, list, "list", 0, NULL, TAP_OPT_FLAG,
		   "print every placement in time order, one per line"),
	TAP_OPTION(struct placement_opts, at, "at", 0, "TIME", TAP_OPT_STRING,
		   "print the tasks that waited for a CPU at this time, written as in --time"),
	{ 0 }
};

struct placement {
	struct tap_report report;
	struct tap_placements placements;
	struct tap_hist waits_ns[TAP_NR_PLACED_WHY];
	struct energy {
		const struct tap_format *fmt;
		struct tap_num pid, cpu, energy;
	} energy; /* fields of sched_compute_energy, in the format last seen */
	struct {
		const struct tap_format *fmt;
		struct tap_num cpu, state;
	} idle; /* fields of cpu_idle, in the format last seen */
	uint64_t at_ns; /* the time of --at */
	int *capacities; /* owned; by CPU: capacity + 1; 0: unknown */
	unsigned int nr_capacities;
	struct tap_buf text;
};

static struct placement *placement_of(const struct tap_report *r)
{
	return (struct placement *)r;
}

static const struct placement_opts *opts_of(const struct tap_report *r)
{
	return (const struct placement_opts *)r->opts;
}

static bool is_list(const struct tap_report *r)
{
	return opts_of(r)->list || opts_of(r)->at;
}

/* Reasons, for people. */
static const char *const texts[TAP_NR_PLACED_WHY] = {
	[TAP_PLACED_UNKNOWN] = "what the CPUs did is not known",
	[TAP_PLACED_ENERGY] = "takes the least energy",
	[TAP_PLACED_PREVIOUS_IDLE] = "ran there last, and idle",
	[TAP_PLACED_IDLE] = "idle, where it ran last was not",
	[TAP_PLACED_WAKER] = "its waker's, neither idle",
	[TAP_PLACED_PREVIOUS] = "ran there last, none idle",
	[TAP_PLACED_NO_REASON] = "no reason in the events",
};

/* ---- rows ---- */

static const struct tap_column list_columns[] = {
	{ "time_ns", "time s", TAP_CELL_AT, .width = 18 },
	TAP_TASK_COLUMNS("", "task", 26),
	TAP_TASK_COLUMNS("waker_", "woken by", 26),
	{ "waker_cpu", "on", TAP_CELL_INT, .width = 3 },
	{ "previous_cpu", "was", TAP_CELL_INT, .width = 3 },
	{ "previous_idle_state", "idle", TAP_CELL_INT, .width = 4, .rank = 2 },
	{ "previous_capacity", "capacity", TAP_CELL_INT, .width = 8, .rank = 3 },
	{ "cpu", "CPU", TAP_CELL_INT, .width = 3 },
	{ "idle_state", "idle", TAP_CELL_INT, .width = 4, .rank = 2 },
	{ "capacity", "capacity", TAP_CELL_INT, .width = 8, .rank = 3 },
	{ "idle", "others idle", TAP_CELL_COUNT, .width = 11, .rank = 1 },
	{ "wait_ns", "wait", TAP_CELL_NS, .width = 10, .unit = TAP_UNIT_US },
	{ "why", NULL, TAP_CELL_TEXT },
	{ NULL, "why", TAP_CELL_LABEL },
	{ 0 }
};

/* Return: the CPU's capacity; -1: the recording does not include it. */
static int capacity_of(const struct placement *all, int cpu)
{
	return cpu >= 0 && (unsigned int)cpu < all->nr_capacities ? all->capacities[cpu] - 1 : -1;
}

/* Add a cell "takes the least energy: CPU 4: 120, CPU 0: 233". */
static void put_why(struct placement *all, struct tap_table *t, const struct tap_placed *p)
{
	struct tap_buf *b = &all->text;

	tap_buf_clear(b);
	tap_buf_puts(b, texts[p->why]);
	for (unsigned int i = 0; i < p->nr_energies; i++)
		tap_buf_printf(b, "%s CPU %d: %jd", i ? "," : ":", p->energies[i].cpu,
			       (intmax_t)p->energies[i].energy);
	tap_table_text(t, b->data, b->len);
}

static void put_energies(struct tap_page *page, const struct tap_placed *p)
{
	tap_page_array(page, "energies");
	for (unsigned int i = 0; i < p->nr_energies; i++) {
		tap_page_object(page, NULL);
		tap_page_s64(page, "cpu", p->energies[i].cpu);
		tap_page_s64(page, "energy", p->energies[i].energy);
		tap_page_object_end(page);
	}
	tap_page_array_end(page);
}

static void put_row(struct tap_report *r, const struct tap_placed *p)
{
	struct tap_table *t = &r->rows;

	tap_table_u64(t, p->ts_ns);
	tap_task_cells(&r->run, t, p->task);
	tap_waker_cells(&r->run, t, p->waker, p->task->waker_tid);
	tap_table_s64(t, p->waker_cpu);
	tap_table_s64(t, p->previous);
	tap_table_id(t, p->previous_idle_state);
	tap_table_id(t, capacity_of(placement_of(r), p->previous));
	tap_table_s64(t, p->chosen);
	tap_table_id(t, p->chosen_idle_state);
	tap_table_id(t, capacity_of(placement_of(r), p->chosen));
	tap_table_u64(t, p->nr_idle);
	tap_table_u64(t, p->wait_ns);
	tap_table_puts(t, tap_placed_name(p->why));
	put_why(placement_of(r), t, p);
	put_energies(&r->page, p);
	tap_table_row(t);
}

/* ---- callbacks ---- */

static int on_placed(void *ctx, const struct tap_placed *p)
{
	struct placement *all = ctx;

	if (!tap_run_cpu(&all->report.run, p->chosen))
		return 0;
	if (opts_of(&all->report)->at &&
	    (all->at_ns < p->ts_ns || all->at_ns - p->ts_ns >= p->wait_ns))
		return 0;
	all->report.matched = true;
	if (is_list(&all->report))
		put_row(&all->report, p);
	return tap_hist_add(&all->waits_ns[p->why], p->wait_ns);
}

static bool is_idle_event(const struct tap_format *fmt)
{
	return !strcmp(fmt->system, "power") && !strcmp(fmt->name, "cpu_idle");
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return fmt && (is_idle_event(fmt) || (!strcmp(fmt->system, "schedtap") &&
					      !strcmp(fmt->name, "sched_compute_energy")));
}

static int on_idle(struct placement *all, const struct tap_event *ev)
{
	int cpu = tap_num_int(&all->idle.cpu, ev), state = tap_num_int(&all->idle.state, ev);

	if (!all->idle.cpu.size || !all->idle.state.size || cpu < 0 || cpu >= (int)TAP_MAX_CPUS)
		return 0;
	return tap_placements_idle(&all->placements, cpu, state);
}

static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct placement *all = ctx;
	struct energy *e = &all->energy;
	const struct tap_task *task;

	if (ev->fmt != all->idle.fmt && is_idle_event(ev->fmt)) {
		all->idle.fmt = ev->fmt;
		tap_num_init(&all->idle.cpu, tap_number_field(ev->fmt, "cpu_id"));
		tap_num_init(&all->idle.state, tap_number_field(ev->fmt, "state"));
	}
	if (ev->fmt == all->idle.fmt)
		return on_idle(all, ev);
	if (e->fmt != ev->fmt) {
		e->fmt = ev->fmt;
		tap_num_init(&e->pid, tap_number_field(ev->fmt, "pid"));
		tap_num_init(&e->cpu, tap_number_field(ev->fmt, "dst_cpu"));
		tap_num_init(&e->energy, tap_number_field(ev->fmt, "energy"));
	}
	if (!e->pid.size || !e->cpu.size || !e->energy.size)
		return 0;
	task = tap_timeline_task(t, tap_num_int(&e->pid, ev));
	if (task)
		tap_placements_energy(&all->placements, task, tap_num_int(&e->cpu, ev),
				      (uint64_t)tap_num_get(&e->energy, ev));
	return 0;
}

static const struct tap_watcher_ops events_ops = { .wants = wants_event, .event = on_event };

/* ---- the report ---- */

static const struct tap_column columns[] = {
	{ "why", NULL, TAP_CELL_TEXT },
	{ NULL, "placed on a CPU that", TAP_CELL_LABEL, .width = 34 },
	{ "count", "wakeups", TAP_CELL_COUNT, .width = 9 },
	{ "count_pct", "%", TAP_CELL_REAL, .width = 5, .places = 1 },
	{ "avg_ns", "avg wait", TAP_CELL_NS, .width = 9 },
	{ "p99_ns", "p99", TAP_CELL_NS, .width = 9, .same_unit = true },
	{ "max_ns", "max", TAP_CELL_NS, .width = 10, .same_unit = true },
	{ 0 }
};

static void put_reasons(struct tap_report *r, struct tap_table *t)
{
	const struct tap_hist *waits = placement_of(r)->waits_ns;
	uint64_t all = 0;

	for (enum tap_placed_why why = 0; why < TAP_NR_PLACED_WHY; why++)
		all += waits[why].count;
	for (enum tap_placed_why why = 0; why < TAP_NR_PLACED_WHY; why++) {
		if (!waits[why].count)
			continue;
		tap_table_puts(t, tap_placed_name(why));
		tap_table_puts(t, texts[why]);
		tap_table_u64(t, waits[why].count);
		tap_table_real(t, tap_pct(waits[why].count, all));
		tap_table_u64(t, (uint64_t)tap_hist_mean(&waits[why]));
		tap_table_u64(t, tap_hist_quantile(&waits[why], 0.99));
		tap_table_u64(t, waits[why].max);
		tap_table_row(t);
	}
}

static bool is_summary(const struct tap_report *r)
{
	return !is_list(r);
}

/* Read the CPUs' capacities from the recording's description. Return: 0 or -ENOMEM. */
static int read_capacities(struct placement *all)
{
	const json_t *row, *capacity;
	size_t i;

	json_array_foreach(json_object_get(all->report.run.rec.meta, "cpus"), i, row) {
		json_int_t cpu = json_integer_value(json_object_get(row, "cpu"));
		int *place;

		capacity = json_object_get(row, "capacity");
		if (!json_is_integer(capacity) || (uint64_t)json_integer_value(capacity) > 1024 ||
		    cpu < 0 || cpu >= (json_int_t)TAP_MAX_CPUS)
			continue;
		place = tap_array_at(&all->capacities, &all->nr_capacities, (unsigned int)cpu,
				     sizeof(*place), NULL);
		if (!place)
			return -ENOMEM;
		*place = (int)json_integer_value(capacity) + 1;
	}
	return 0;
}

static int begin_placement(struct tap_report *r, struct tap_err *err)
{
	int ret = opts_of(r)->at
			  ? tap_report_find_at(r, opts_of(r)->at, &placement_of(r)->at_ns, err)
			  : 0;

	if (ret)
		return ret;
	if (read_capacities(placement_of(r)))
		return tap_err_nomem(err);
	tap_placements_init(&placement_of(r)->placements, &(const struct tap_placements_opts){
								  .tell = on_placed,
								  .ctx = r,
							  });
	if (is_list(r))
		tap_report_open_rows(r, list_columns, "placements");
	return 0;
}

static void release_placement(struct tap_report *r)
{
	struct placement *all = placement_of(r);

	tap_placements_release(&all->placements);
	for (enum tap_placed_why why = 0; why < TAP_NR_PLACED_WHY; why++)
		tap_hist_release(&all->waits_ns[why]);
	tap_buf_release(&all->text);
	free(all->capacities);
}

static const struct tap_section sections[] = {
	{ TAP_FOR_ALL, is_summary, .key = "reasons", .columns = columns, .put = put_reasons }, { 0 }
};

const struct tap_report_type tap_report_placement = {
	.cmd = {
		.name = "placement",
		.help = "why each wakeup chose its CPU",
		.operands = TAP_CMD_TASK,
		.example = "schedtap placement",
		.opts = options,
		.opts_size = sizeof(struct placement_opts),
		.defaults = &(const struct placement_opts){ .common.top = -1 },
	},
	.size = sizeof(struct placement),
	.needs = TAP_NEEDS_SWITCHES | TAP_NEEDS_WAKEUPS,
	.watchers = (const struct tap_report_watcher[]){
		{ &tap_placements_ops, offsetof(struct placement, placements) },
		{ &events_ops, 0 },
		{ 0 } },
	.sections = sections,
	.begin = begin_placement,
	.release = release_placement,
};
