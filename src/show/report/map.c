// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap map: the task on each CPU over time, with a column per CPU and a row per change. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/array.h"
#include "analysis/cpu_changes.h"
#include "show/report/report.h"

static const struct tap_opt options[] = { TAP_REPORT_OPTIONS, { 0 } };

#define BESIDE_CPUS 22 /* width of the time column and blanks */
#define CPU_WIDTH 3 /* a mark and a short name: 64 CPUs take 192 columns */

enum column {
	COL_CPUS,
	COL_TIME,
	COL_CPU,
	COL_WHAT,
	COL_TID,
	COL_TGID,
	COL_COMM,
	COL_LEGEND,
	NR_COLUMNS,
};

static const struct tap_column map_columns[NR_COLUMNS + 1] = {
	[COL_CPUS] = { NULL, NULL, TAP_CELL_LABEL }, /* the title lists the CPU numbers */
	[COL_TIME] = { "time_ns", "time", TAP_CELL_AT, .width = 17 },
	[COL_CPU] = { "cpu", NULL, TAP_CELL_INT },
	[COL_WHAT] = { "what", NULL, TAP_CELL_TEXT },
	[COL_TID] = { "tid", NULL, TAP_CELL_INT },
	[COL_TGID] = { "tgid", NULL, TAP_CELL_INT },
	[COL_COMM] = { "comm", NULL, TAP_CELL_TEXT },
	[COL_LEGEND] = { NULL, "task [tid/tgid]", TAP_CELL_LABEL },
};

struct shown_cpu {
	int cpu;
	bool changed;
	char name[TAP_SHORT_NAME_BYTES]; /* the name shown: a task's short name, or a mark */
	enum tap_tint tint;
};

struct map {
	struct tap_report report;
	struct tap_cpu_changes changes;
	struct tap_column columns[NR_COLUMNS + 1];
	struct shown_cpu *cpus; /* owned; in column order */
	unsigned int nr_cpus, nr_hidden; /* .nr_hidden CPUs do not fit the terminal */
	/* owned; by task index: 1 + the number of the short name; 0: no name yet */
	uint32_t *names;
	unsigned int nr_tasks;
	uint32_t nr_names;
	uint64_t row_ns; /* time of the row being collected */
	bool row_open;
	struct tap_buf title, line, legend;
};

/*
 * Return the number of CPU columns that fit the terminal next to the time; the legend may be
 * wrapped.
 */
static unsigned int cpus_that_fit(const struct map *m)
{
	unsigned int columns = m->report.opts->wide ? 0 : m->report.screen->columns;

	if (!columns || tap_report_audience(&m->report) != TAP_FOR_PEOPLE)
		return UINT_MAX;
	return columns > BESIDE_CPUS + CPU_WIDTH ? (columns - BESIDE_CPUS) / CPU_WIDTH : 1;
}

/* Make a column for each of the recording's CPUs that -C selects. */
static int find_cpus(struct map *m)
{
	unsigned int nr = tap_reader_info(m->report.run.rec.reader)->nr_cpus,
		     most = cpus_that_fit(m);

	m->cpus = calloc(nr + 1, sizeof(*m->cpus));
	if (!m->cpus)
		return -ENOMEM;
	for (unsigned int cpu = 0; cpu < nr; cpu++) {
		if (!tap_run_cpu(&m->report.run, (int)cpu))
			continue;
		if (m->nr_cpus == most) {
			m->nr_hidden++;
			continue;
		}
		m->cpus[m->nr_cpus++] =
			(struct shown_cpu){ .cpu = (int)cpu, .name = "?", .tint = TAP_TINT_YELLOW };
		tap_buf_printf(&m->title, "%*u", CPU_WIDTH, cpu);
	}
	tap_buf_str(&m->title);
	return m->title.err;
}

static int by_cpu(const void *key, const void *elem)
{
	return *(const int *)key - ((const struct shown_cpu *)elem)->cpu;
}

static struct shown_cpu *cpu_find(const struct map *m, int cpu)
{
	return bsearch(&cpu, m->cpus, m->nr_cpus, sizeof(*m->cpus), by_cpu);
}

/* Return the color of the nth named task; consecutive tasks differ. Red and yellow are reserved. */
static enum tap_tint tint_of(uint32_t nr)
{
	static const enum tap_tint tints[] = { TAP_TINT_CYAN, TAP_TINT_GREEN, TAP_TINT_MAGENTA,
					       TAP_TINT_BLUE };

	return tints[nr % (sizeof(tints) / sizeof(*tints))];
}

static void add_tinted(struct map *m, const char *s, enum tap_tint tint)
{
	bool tinted = m->report.page.color && tint;

	if (tinted)
		tap_tint_add(&m->line, tint);
	tap_buf_puts(&m->line, s);
	if (tinted)
		tap_tint_add(&m->line, TAP_TINT_NONE);
}

/* Show the task's short name on its CPU. If the name is new, add it to the row's legend. */
static int show_task(struct map *m, struct shown_cpu *to, const struct tap_task *task)
{
	uint32_t *name = tap_array_at(&m->names, &m->nr_tasks, task->index, sizeof(*name), NULL),
		 len;
	const char *label;
	bool is_new;

	if (!name)
		return -ENOMEM;
	is_new = !*name;
	if (is_new)
		*name = ++m->nr_names;
	tap_short_name(to->name, *name - 1);
	to->tint = tint_of(*name - 1);
	if (!is_new)
		return 0;
	label = tap_run_label(&m->report.run, task, &len);
	tap_buf_puts(&m->legend, m->legend.len ? ", " : "");
	tap_buf_puts(&m->legend, to->name);
	tap_buf_puts(&m->legend, " => ");
	tap_buf_add(&m->legend, label, len);
	return m->legend.err;
}

/* Text: print one row with all changes that have the same time. */
static void end_row(struct map *m)
{
	if (!m->row_open)
		return;
	tap_buf_clear(&m->line);
	for (struct shown_cpu *c = m->cpus; c < m->cpus + m->nr_cpus; c++) {
		add_tinted(m, c->changed ? "*" : " ", c->changed ? TAP_TINT_BOLD : TAP_TINT_NONE);
		add_tinted(m, c->name, c->tint);
		if (!c->name[1])
			tap_buf_char(&m->line, ' ');
		c->changed = false;
	}
	tap_table_text(&m->report.rows, m->line.data, m->line.len);
	tap_table_u64(&m->report.rows, m->row_ns);
	tap_table_nones(&m->report.rows, COL_LEGEND - COL_CPU);
	tap_table_text(&m->report.rows, m->legend.data, m->legend.len);
	tap_table_row(&m->report.rows);
	tap_buf_clear(&m->legend);
	m->row_open = false;
}

static int text_change(struct map *m, struct shown_cpu *cpu, const struct tap_cpu_change *c)
{
	static const char *const name[] = {
		[TAP_CPU_SHOWS_UNKNOWN] = "?",
		[TAP_CPU_SHOWS_OFFLINE] = "x",
		[TAP_CPU_SHOWS_IDLE] = ".",
		[TAP_CPU_SHOWS_OTHER] = "-",
	};
	static const enum tap_tint tint[] = {
		[TAP_CPU_SHOWS_UNKNOWN] = TAP_TINT_YELLOW,
		[TAP_CPU_SHOWS_OFFLINE] = TAP_TINT_RED,
		[TAP_CPU_SHOWS_OTHER] = TAP_TINT_NONE,
	};

	if (c->ts_ns != m->row_ns)
		end_row(m);
	m->row_open = true;
	m->row_ns = c->ts_ns;
	cpu->changed = true;
	if (c->what == TAP_CPU_SHOWS_RUN)
		return show_task(m, cpu, c->task);
	strcpy(cpu->name, name[c->what]);
	cpu->tint = tint[c->what];
	return 0;
}

static void data_change(struct map *m, const struct tap_cpu_change *c)
{
	static const char *const what[] = {
		[TAP_CPU_SHOWS_UNKNOWN] = "unknown", [TAP_CPU_SHOWS_OFFLINE] = "offline",
		[TAP_CPU_SHOWS_IDLE] = "idle",	     [TAP_CPU_SHOWS_RUN] = "run",
		[TAP_CPU_SHOWS_OTHER] = "other",
	};
	struct tap_table *t = &m->report.rows;

	tap_table_none(t); /* no cell for the column of all CPUs, which is for text only */
	tap_table_u64(t, c->ts_ns);
	tap_table_s64(t, c->cpu);
	tap_table_puts(t, what[c->what]);
	if (c->task)
		tap_id_cells(t, c->task);
	else
		tap_table_nones(t, COL_LEGEND - COL_TID);
	tap_table_none(t);
	tap_table_row(t);
}

static int on_change(void *ctx, const struct tap_cpu_change *c)
{
	struct map *m = ctx;
	struct shown_cpu *cpu = cpu_find(m, c->cpu);
	int ret = 0;

	if (!cpu)
		return 0;
	if (tap_page_is_for(&m->report.page, TAP_FOR_PEOPLE))
		ret = text_change(m, cpu, c);
	else
		data_change(m, c);
	return ret ? ret : m->report.page.err;
}

static bool wants_task(void *ctx, const struct tap_task *task)
{
	(void)ctx;
	return task->selected;
}

/* Write the CPUs that the columns stand for. */
static void put_cpus(struct tap_report *r, const struct map *m)
{
	tap_page_array(&r->page, "cpus");
	for (unsigned int i = 0; i < m->nr_cpus; i++)
		tap_page_u64(&r->page, NULL, (uint64_t)m->cpus[i].cpu);
	tap_page_array_end(&r->page);
	if (m->nr_hidden)
		tap_buf_printf(&r->page.buf, "hidden: %u CPUs after CPU %d; -C, --wide\n",
			       m->nr_hidden, m->cpus[m->nr_cpus - 1].cpu);
}

static int begin_map(struct tap_report *r, struct tap_err *err)
{
	struct map *m = (struct map *)r;

	if (find_cpus(m))
		return tap_err_nomem(err);
	m->changes = (struct tap_cpu_changes){
		.wants = wants_task,
		.change = on_change,
		.ctx = m,
	};
	memcpy(m->columns, map_columns, sizeof(map_columns));
	m->columns[COL_CPUS].title = m->title.data;
	m->columns[COL_CPUS].width = (unsigned int)m->title.len;
	tap_report_open_page(r);
	put_cpus(r, m);
	tap_report_open_rows(r, m->columns, "changes");
	return 0;
}

static int end_map(struct tap_report *r, struct tap_err *err)
{
	(void)err;
	end_row((struct map *)r);
	return 0;
}

static void release_map(struct tap_report *r)
{
	struct map *m = (struct map *)r;

	tap_cpu_changes_release(&m->changes);
	free(m->cpus);
	free(m->names);
	tap_buf_release(&m->title);
	tap_buf_release(&m->line);
	tap_buf_release(&m->legend);
}

const struct tap_report_type tap_report_map = {
	.cmd = {
		.name = "map",
		.help = "what ran on each CPU over time, one column per CPU",
		.operands = TAP_CMD_FILE,
		.example = "schedtap map",
		.opts = options,
		.opts_size = sizeof(struct tap_report_opts),
	},
	.size = sizeof(struct map),
	.needs = TAP_NEEDS_SWITCHES,
	.watchers = (const struct tap_report_watcher[]){
		{ &tap_cpu_changes_ops, offsetof(struct map, changes) }, { 0 } },
	.begin = begin_map,
	.end = end_map,
	.release = release_map,
};
