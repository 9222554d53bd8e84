// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/out/pelt.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS_OF_MANY 4u /* rows per strip, if there are more than this many strips */

/* Replace @b by the name of the series' CPU, task, cgroup or domain. Return: its text. */
static const char *subject_text(struct tap_buf *b, const struct tap_out_pelt *o)
{
	const struct tap_pelt_series *s = o->series;

	tap_buf_clear(b);
	switch (s->subject) {
	case TAP_PELT_DOMAIN:
		tap_buf_puts(b, "CPUs ");
		tap_cpus_text(&s->span, b);
		break;
	case TAP_PELT_TASK:
		if (o->label) {
			tap_buf_add(b, o->label, o->label_len);
			break;
		}
		tap_text_escape(b, s->comm, strnlen(s->comm, sizeof(s->comm)));
		tap_buf_printf(b, " [%d]", s->tid);
		break;
	case TAP_PELT_CGROUP:
		if (o->path)
			tap_text_escape(b, o->path, strlen(o->path));
		else
			tap_buf_printf(b, "cgroup %" PRIu64, s->cgroup);
		tap_buf_printf(b, " on CPU %d", s->cpu);
		break;
	case TAP_PELT_CPU:
		tap_buf_printf(b, "CPU %d", s->cpu);
		break;
	}
	return tap_buf_str(b);
}

/* ---- plot ---- */

static bool is_of_strip(const struct tap_out_pelt *o, const struct tap_pelt_series *s)
{
	return s && (s->signal == o->series->signal || (o->line && s->signal == o->line->signal));
}

/* Return the upper edge that all series of this strip's signals share. */
static uint64_t top_of(const struct tap_out_pelt *strip, const struct tap_out_pelt *series,
		       unsigned int nr)
{
	const struct tap_pelt_signal *signal = strip->series->signal;
	uint64_t max = 1, top = 1024;

	for (unsigned int i = 0; i < 2 * nr; i++) {
		const struct tap_pelt_series *s = i % 2 ? series[i / 2].line : series[i / 2].series;

		if (!is_of_strip(strip, s))
			continue;
		max = s->hist.max > max ? s->hist.max : max;
		max = s->below.max > max ? s->below.max : max;
	}
	if (signal->scale != TAP_PELT_1024)
		return tap_plot_top(max);
	while (top < max && top <= UINT64_MAX / 2)
		top *= 2;
	return top;
}

static void add_figures(struct tap_buf *b, const struct tap_plot *p,
			const struct tap_pelt_series *s)
{
	tap_buf_puts(b, s->signal->name);
	if (tap_pelt_known_ns(s) && s->signal->is_signed)
		tap_buf_printf(b, "  min %" PRId64, tap_pelt_min(s));
	if (tap_pelt_known_ns(s))
		tap_buf_printf(b, "  avg %.1f  max %" PRId64 "  known %.1f %%\n", tap_pelt_mean(s),
			       tap_pelt_max(s),
			       tap_pct(tap_pelt_known_ns(s), tap_window_ns(&p->window)));
	else
		tap_buf_puts(b, "  not known\n");
}

/* The title of a strip. With two series, each gets a line with its symbol. */
static void add_title(struct tap_buf *b, const struct tap_plot *p, const struct tap_out_pelt *o)
{
	struct tap_buf name = { 0 };

	tap_buf_printf(b, "%s  ", subject_text(&name, o));
	if (o->line) {
		tap_plot_mark(b, p, false);
		tap_buf_char(b, ' ');
	}
	add_figures(b, p, o->series);
	if (o->line) {
		tap_buf_blanks(b, tap_text_width(name.data, name.len) + 2);
		tap_plot_mark(b, p, true);
		tap_buf_char(b, ' ');
		add_figures(b, p, o->line);
	}
	tap_buf_release(&name);
}

static double column_average(const struct tap_pelt_column *c)
{
	return c->ns ? (double)c->sum / (double)c->ns : 0;
}

static void add_strip(struct tap_buf *b, const struct tap_plot *p, const struct tap_out_pelt *o,
		      struct tap_plot_column *columns, uint64_t top)
{
	const struct tap_pelt_series *s = o->series;

	add_title(b, p, o);
	for (unsigned int i = 0; i < p->columns; i++) {
		const struct tap_pelt_column *c = &s->columns[i],
					     *line = o->line ? &o->line->columns[i] : NULL;

		columns[i] = (struct tap_plot_column){
			.known = c->ns,
			.avg = column_average(c),
			.min = (double)c->min,
			.max = (double)c->max,
			.has_line = line && line->ns,
			.line = line ? column_average(line) : 0,
		};
	}
	if (s->signal->is_signed)
		tap_plot_signed_strip(b, p, columns, top);
	else
		tap_plot_strip(b, p, columns, top);
	tap_buf_char(b, '\n');
}

void tap_out_pelt_plot(struct tap_buf *b, const struct tap_plot *p,
		       const struct tap_out_pelt *series, unsigned int nr)
{
	struct tap_plot_column *columns = calloc(p->columns, sizeof(*columns));
	struct tap_plot strip = *p;

	if (!columns) {
		b->err = -ENOMEM;
		return;
	}
	if (nr > ROWS_OF_MANY && strip.rows > ROWS_OF_MANY)
		strip.rows = ROWS_OF_MANY;
	for (unsigned int i = 0; i < nr; i++)
		add_strip(b, &strip, &series[i], columns, top_of(&series[i], series, nr));
	tap_plot_axis(b, p);
	free(columns);
}

/* ---- figures: text and JSON ---- */

/* clang-format off */
#define SUBJECT { NULL, "subject", TAP_CELL_LABEL, .width = 24 }, \
	{ "signal", "signal", TAP_CELL_TEXT, .width = 13 }
/* clang-format on */
#define VALUE(key, r)                                                                              \
	{                                                                                          \
		key, key, TAP_CELL_INT, .width = 7, .rank = r                                      \
	}
#define SHARE(title)                                                                               \
	{                                                                                          \
		NULL, title, TAP_CELL_REAL, .width = 7, .places = 1                                \
	}

static const struct tap_column figures[] = {
	SUBJECT,
	{ "updates", "updates", TAP_CELL_COUNT, .width = 9, .rank = 4 },
	{ "known_ns", "known", TAP_CELL_NS, .width = 12, .rank = 3 },
	{ "known_pct", "known %", TAP_CELL_REAL, .width = 7, .places = 1 },
	VALUE("min", 5),
	{ "avg", "avg", TAP_CELL_REAL, .width = 9, .places = 1 },
	VALUE("p50", 0),
	VALUE("p90", 1),
	VALUE("p99", 0),
	VALUE("max", 0),
	VALUE("last", 2),
	{ 0 }
};
static const struct tap_column fifths[] = {
	SUBJECT,	  SHARE("0-20%"), SHARE("20-40%"), SHARE("40-60%"), SHARE("60-80%"),
	SHARE("80-100%"), { 0 }
};
static const struct tap_column counts[] = { SUBJECT,	SHARE("0"),  SHARE("1"), SHARE("2"),
					    SHARE("3"), SHARE("4+"), { 0 } };

static void put_subject(struct tap_table *t, const struct tap_out_pelt *o)
{
	struct tap_buf name = { 0 };

	subject_text(&name, o);
	tap_table_text(t, name.data, name.len);
	tap_buf_release(&name);
	tap_table_puts(t, o->series->signal->name);
}

static void put_value(struct tap_table *t, bool known, int64_t v)
{
	if (known)
		tap_table_s64(t, v);
	else
		tap_table_none(t);
}

static void put_figures(struct tap_table *t, const struct tap_pelt_series *s, uint64_t window_ns)
{
	bool known = tap_pelt_known_ns(s);

	tap_table_u64(t, s->updates);
	tap_table_u64(t, tap_pelt_known_ns(s));
	tap_table_real(t, tap_pct(tap_pelt_known_ns(s), window_ns));
	put_value(t, known, tap_pelt_min(s));
	tap_table_real(t, known ? tap_pelt_mean(s) : NAN);
	put_value(t, known, tap_pelt_quantile(s, 0.5));
	put_value(t, known, tap_pelt_quantile(s, 0.9));
	put_value(t, known, tap_pelt_quantile(s, 0.99));
	put_value(t, known, tap_pelt_max(s));
	put_value(t, s->updates, s->last);
}

static void add_text(struct tap_page *r, const char *key, const char *s, size_t len)
{
	if (len)
		tap_page_text(r, key, s, len);
	else
		tap_page_null(r, key);
}

/* For programs: add a member to the row, as do the next two functions. */
static void add_subject(struct tap_page *r, const struct tap_out_pelt *o)
{
	const struct tap_pelt_series *s = o->series;
	struct tap_buf cpus = { 0 };

	switch (s->subject) {
	case TAP_PELT_DOMAIN:
		tap_cpus_text(&s->span, &cpus);
		tap_page_text(r, "cpus", cpus.data, cpus.len);
		tap_buf_release(&cpus);
		return;
	case TAP_PELT_TASK:
		tap_page_id(r, "tid", s->tid);
		tap_page_id(r, "tgid", o->tgid);
		add_text(r, "comm", s->comm, strnlen(s->comm, sizeof(s->comm)));
		return;
	case TAP_PELT_CGROUP:
		tap_page_u64(r, "cgroup", s->cgroup);
		add_text(r, "path", o->path, o->path ? strlen(o->path) : 0);
		break;
	case TAP_PELT_CPU:
		break;
	}
	tap_page_u64(r, "cpu", (uint64_t)s->cpu);
}

static void add_bands(struct tap_page *r, const struct tap_pelt_series *s)
{
	static const char *const keys[][TAP_PELT_BANDS] = {
		[TAP_PELT_1024] = { "0_20", "20_40", "40_60", "60_80", "80_100" },
		[TAP_PELT_COUNT] = { "0", "1", "2", "3", "4_up" },
	};

	if (s->signal->scale != TAP_PELT_1024 && s->signal->scale != TAP_PELT_COUNT)
		return;
	tap_page_object(r, "residency_ns");
	for (unsigned int i = 0; i < TAP_PELT_BANDS; i++)
		tap_page_u64(r, keys[s->signal->scale][i], s->bands_ns[i]);
	tap_page_object_end(r);
}

static void add_points(struct tap_page *r, const struct tap_pelt_series *s)
{
	struct tap_buf *b = &r->buf;

	tap_page_array(r, "points");
	for (unsigned int i = 0; i < s->nr_points; i++) {
		tap_buf_puts(b, i ? ",[" : "[");
		tap_buf_u64(b, s->points[i].ts_ns);
		tap_buf_char(b, ',');
		if (s->points[i].value == TAP_PELT_GAP)
			tap_buf_puts(b, "null");
		else
			tap_buf_printf(b, "%" PRId64, s->points[i].value);
		tap_buf_char(b, ']');
	}
	tap_page_array_end(r);
}

void tap_out_pelt_figures(struct tap_page *r, const struct tap_out_pelt *series, unsigned int nr,
			  uint64_t window_ns, bool points)
{
	struct tap_table t;

	tap_table_begin(&t, r, figures, "series");
	for (unsigned int i = 0; i < nr; i++) {
		put_subject(&t, &series[i]);
		add_subject(r, &series[i]);
		put_figures(&t, series[i].series, window_ns);
		add_bands(r, series[i].series);
		if (points)
			add_points(r, series[i].series);
		tap_table_row(&t);
	}
	tap_table_end(&t);
}

static double band_pct(const struct tap_pelt_series *s, unsigned int i)
{
	return s->hist.count ? 100.0 * (double)s->bands_ns[i] / (double)s->hist.count : NAN;
}

/* Print a table of the series on this scale, if there are any. */
static void put_bands(struct tap_page *r, const struct tap_out_pelt *series, unsigned int nr,
		      enum tap_pelt_scale scale, const char *title,
		      const struct tap_column *columns)
{
	struct tap_table t;
	bool any = false;

	for (unsigned int i = 0; i < nr; i++) {
		if (series[i].series->signal->scale != scale)
			continue;
		if (!any) {
			tap_buf_puts(&r->buf, title);
			tap_table_begin(&t, r, columns, NULL);
		}
		any = true;
		put_subject(&t, &series[i]);
		for (unsigned int k = 0; k < TAP_PELT_BANDS; k++)
			tap_table_real(&t, band_pct(series[i].series, k));
		tap_table_row(&t);
	}
	if (any)
		tap_table_end(&t);
}

void tap_out_pelt_bands(struct tap_page *r, const struct tap_out_pelt *series, unsigned int nr)
{
	put_bands(r, series, nr, TAP_PELT_1024, "\n% of the time in each fifth of 1024\n", fifths);
	put_bands(r, series, nr, TAP_PELT_COUNT, "\n% of the time at each count\n", counts);
}

/* ---- CSV ---- */

const struct tap_column tap_out_pelt_columns[] = { { "time_ns", NULL, TAP_CELL_AT },
						   { "signal", NULL, TAP_CELL_TEXT },
						   { "cpu", NULL, TAP_CELL_INT },
						   { "tid", NULL, TAP_CELL_INT },
						   { "tgid", NULL, TAP_CELL_INT },
						   { "comm", NULL, TAP_CELL_TEXT },
						   { "cgroup", NULL, TAP_CELL_TEXT },
						   { "value", NULL, TAP_CELL_INT },
						   { 0 } };

static void put_cgroup(struct tap_table *t, const struct tap_out_pelt *o)
{
	char id[24];

	if (o->series->subject != TAP_PELT_CGROUP)
		tap_table_none(t);
	else if (o->path)
		tap_table_puts(t, o->path);
	else
		tap_table_text(t, id, (size_t)sprintf(id, "%" PRIu64, o->series->cgroup));
}

void tap_out_pelt_row(struct tap_table *t, const struct tap_out_pelt *o, uint64_t ts_ns,
		      int64_t value)
{
	const struct tap_pelt_series *s = o->series;

	tap_table_u64(t, ts_ns);
	tap_table_puts(t, s->signal->name);
	if (s->subject == TAP_PELT_TASK) {
		tap_table_none(t);
		tap_table_s64(t, s->tid);
		tap_table_id(t, o->tgid);
		tap_table_text(t, s->comm, strnlen(s->comm, sizeof(s->comm)));
	} else {
		tap_table_s64(t, s->cpu);
		tap_table_nones(t, 3);
	}
	put_cgroup(t, o);
	put_value(t, value != TAP_PELT_GAP, value);
	tap_table_row(t);
}
