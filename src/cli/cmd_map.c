// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap map: who was where, a column per CPU, a row per change. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "analysis/where.h"
#include "cli/pass.h"
#include "cli/screen.h"

struct map_opts {
	struct tap_pass_opts pass;
};

static const struct tap_opt map_opts[] = {
	TAP_PASS_OPTIONS(struct map_opts),
	{ 0 }
};

#define BESIDE_CPUS 22 /* the time, and blanks */
#define CPU_WIDTH 3 /* a mark and a short name: 64 CPUs take 192 columns */

enum column {
	COL_CPUS, COL_TIME, COL_CPU, COL_WHAT, COL_TID, COL_TGID, COL_COMM, COL_LEGEND, NR_COLUMNS,
};

static const struct tap_column map_columns[NR_COLUMNS + 1] = {
	[COL_CPUS] = { NULL, NULL, TAP_CELL_LABEL }, /* its title: the numbers of the CPUs */
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
	char name[TAP_WHERE_NAME]; /* what it shows */
};

struct view {
	struct tap_pass pass;
	struct tap_where where;
	struct tap_report report;
	struct tap_table table;
	struct tap_column columns[NR_COLUMNS + 1];
	struct shown_cpu *cpus; /* in the order of the columns */
	unsigned int nr_cpus, nr_hidden; /* hidden: those that the terminal has no place for */
	uint32_t *names; /* by task index: 1 + the number of its short name, 0: none yet */
	unsigned int nr_tasks;
	uint32_t nr_names;
	uint64_t row_ns; /* of the row that is being collected */
	bool row_open;
	struct tap_buf title, line, legend;
};

/* How many CPUs have a place on the terminal, beside the time; the legend can go below. */
static unsigned int cpus_that_fit(const struct view *v)
{
	unsigned int columns = v->pass.opts->wide ? 0 : tap_screen_columns();

	if (!columns || tap_pass_style(&v->pass) != TAP_STYLE_TEXT)
		return UINT_MAX;
	return columns > BESIDE_CPUS + CPU_WIDTH ? (columns - BESIDE_CPUS) / CPU_WIDTH : 1;
}

/* The CPUs that the recording has and -C picks. */
static int find_cpus(struct view *v)
{
	unsigned int nr = tap_reader_info(v->pass.in.reader)->nr_cpus, most = cpus_that_fit(v);

	v->cpus = calloc(nr + 1, sizeof(*v->cpus));
	if (!v->cpus)
		return -ENOMEM;
	for (unsigned int cpu = 0; cpu < nr; cpu++) {
		if (!tap_pass_cpu(&v->pass, (int)cpu))
			continue;
		if (v->nr_cpus == most) {
			v->nr_hidden++;
			continue;
		}
		v->cpus[v->nr_cpus++] = (struct shown_cpu){ .cpu = (int)cpu, .name = "?" };
		tap_buf_printf(&v->title, "%*u", CPU_WIDTH, cpu);
	}
	tap_buf_str(&v->title);
	return v->title.err;
}

static int by_cpu(const void *key, const void *elem)
{
	return *(const int *)key - ((const struct shown_cpu *)elem)->cpu;
}

static struct shown_cpu *cpu_find(const struct view *v, int cpu)
{
	return bsearch(&cpu, v->cpus, v->nr_cpus, sizeof(*v->cpus), by_cpu);
}

/* The task's place in .names. Return: NULL when out of memory. */
static uint32_t *name_of(struct view *v, const struct tap_task *task)
{
	if (task->index >= v->nr_tasks) {
		unsigned int nr = task->index * 2 + 64;
		uint32_t *names = reallocarray(v->names, nr, sizeof(*names));

		if (!names)
			return NULL;
		memset(names + v->nr_tasks, 0, (nr - v->nr_tasks) * sizeof(*names));
		v->names = names;
		v->nr_tasks = nr;
	}
	return &v->names[task->index];
}

/* Writes the task's short name; if it is a new one, with its place in the row's legend. */
static int show_task(struct view *v, struct shown_cpu *to, const struct tap_task *task)
{
	uint32_t *name = name_of(v, task), len;
	const char *label;

	if (!name)
		return -ENOMEM;
	if (*name) {
		tap_where_name(to->name, *name - 1);
		return 0;
	}
	*name = ++v->nr_names;
	tap_where_name(to->name, *name - 1);
	label = tap_pass_label(&v->pass, task, &len);
	tap_buf_puts(&v->legend, v->legend.len ? ", " : "");
	tap_buf_puts(&v->legend, to->name);
	tap_buf_puts(&v->legend, " => ");
	tap_buf_add(&v->legend, label, len);
	return v->legend.err;
}

/* Text: all that changed at one time is one row. */
static void end_row(struct view *v)
{
	if (!v->row_open)
		return;
	tap_buf_clear(&v->line);
	for (struct shown_cpu *c = v->cpus; c < v->cpus + v->nr_cpus; c++) {
		tap_buf_char(&v->line, c->changed ? '*' : ' ');
		tap_buf_puts(&v->line, c->name);
		if (!c->name[1])
			tap_buf_char(&v->line, ' ');
		c->changed = false;
	}
	tap_table_text(&v->table, v->line.data, v->line.len);
	tap_table_u64(&v->table, v->row_ns);
	for (int i = COL_CPU; i < COL_LEGEND; i++)
		tap_table_none(&v->table);
	tap_table_text(&v->table, v->legend.data, v->legend.len);
	tap_table_row(&v->table);
	tap_buf_clear(&v->legend);
	v->row_open = false;
}

static int text_change(struct view *v, struct shown_cpu *cpu, const struct tap_where_change *c)
{
	static const char *const name[] = {
		[TAP_WHERE_UNKNOWN] = "?", [TAP_WHERE_OFFLINE] = "x", [TAP_WHERE_IDLE] = ".",
		[TAP_WHERE_OTHER] = "-",
	};

	if (c->ts_ns != v->row_ns)
		end_row(v);
	v->row_open = true;
	v->row_ns = c->ts_ns;
	cpu->changed = true;
	if (c->what == TAP_WHERE_RUN)
		return show_task(v, cpu, c->task);
	strcpy(cpu->name, name[c->what]);
	return 0;
}

static void data_change(struct view *v, const struct tap_where_change *c)
{
	static const char *const what[] = {
		[TAP_WHERE_UNKNOWN] = "unknown", [TAP_WHERE_OFFLINE] = "offline",
		[TAP_WHERE_IDLE] = "idle", [TAP_WHERE_RUN] = "run", [TAP_WHERE_OTHER] = "other",
	};
	struct tap_table *t = &v->table;

	tap_table_none(t); /* the CPUs */
	tap_table_u64(t, c->ts_ns);
	tap_table_s64(t, c->cpu);
	tap_table_text(t, what[c->what], strlen(what[c->what]));
	if (c->task) {
		int tgid = tap_pass_tgid(&v->pass, c->task);

		tap_table_s64(t, c->task->tid);
		if (tgid >= 0)
			tap_table_s64(t, tgid);
		else
			tap_table_none(t);
		tap_table_text(t, c->task->comm, strnlen(c->task->comm, TAP_TASK_COMM));
	} else {
		for (int i = COL_TID; i <= COL_COMM; i++)
			tap_table_none(t);
	}
	tap_table_none(t);
	tap_table_row(t);
}

static int on_change(void *ctx, const struct tap_where_change *c)
{
	struct view *v = ctx;
	struct shown_cpu *cpu = cpu_find(v, c->cpu);
	int ret = 0;

	if (!cpu)
		return 0;
	if (v->report.style == TAP_STYLE_TEXT)
		ret = text_change(v, cpu, c);
	else
		data_change(v, c);
	return ret ? ret : v->report.err;
}

static bool wants_task(void *ctx, const struct tap_task *task)
{
	struct view *v = ctx;

	return tap_pass_task(&v->pass, task);
}

static const struct tap_cpu *seen_cpus(void *ctx, unsigned int *nr)
{
	const struct view *v = ctx;

	return tap_timeline_cpus(v->pass.timeline, nr);
}

static void begin(struct view *v)
{
	struct tap_report *r = &v->report;

	tap_pass_begin(&v->pass, r, tap_pass_style(&v->pass));
	memcpy(v->columns, map_columns, sizeof(map_columns));
	v->columns[COL_CPUS].title = v->title.data;
	v->columns[COL_CPUS].width = (unsigned int)v->title.len;
	tap_report_array(r, "cpus");
	for (unsigned int i = 0; r->style == TAP_STYLE_JSON && i < v->nr_cpus; i++)
		tap_buf_printf(&r->buf, i ? ",%d" : "%d", v->cpus[i].cpu);
	tap_report_array_end(r);
	if (v->nr_hidden)
		tap_buf_printf(&r->buf, "hidden: %u CPUs after CPU %d; -C, --wide\n", v->nr_hidden,
			       v->cpus[v->nr_cpus - 1].cpu);
	tap_table_stream(&v->table, r, v->columns, "changes");
}

static int show(struct view *v, struct tap_err *err)
{
	int ret = tap_pass_check(&v->pass, err), written;

	if (ret)
		return ret;
	if (find_cpus(v))
		return tap_err_set(err, -ENOMEM, "out of memory");
	v->where = (struct tap_where){
		.wants = wants_task, .change = on_change, .cpus = seen_cpus, .ctx = v,
		.start_ns = v->pass.start_ns,
	};
	begin(v);
	ret = tap_pass_run(&v->pass, &tap_where_observer, NULL, &v->where, err);
	if (!ret && tap_where_end(&v->where) == -ENOMEM)
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	end_row(v);
	tap_table_end(&v->table);
	written = tap_report_close(&v->report);
	if (!written)
		return ret;
	errno = -written;
	return tap_err_set(err, written, "cannot write the map: %m");
}

static int run_map(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct map_opts *o = opts;
	struct view v = { 0 };
	struct tap_err err = { 0 };
	bool usage = false;
	int ret;

	(void)operands;
	(void)rest;
	ret = tap_pass_open(&v.pass, &o->pass, &usage, &err);
	if (!ret)
		ret = show(&v, &err);
	ret = tap_pass_finish(&v.pass, ret, &err, usage);
	tap_where_release(&v.where);
	free(v.cpus);
	free(v.names);
	tap_buf_release(&v.title);
	tap_buf_release(&v.line);
	tap_buf_release(&v.legend);
	return ret;
}

const struct tap_cmd tap_cmd_map = {
	.name = "map",
	.help = "who was where, a column per CPU",
	.operands = TAP_CMD_FILE,
	.example = "schedtap map -i demo/trace.dat",
	.opts = map_opts,
	.opts_size = sizeof(struct map_opts),
	.run = run_map,
};
