// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/report/diff.h"

#include <errno.h>

#include "base/stats/median.h"
#include "show/out/markdown.h"
#include "show/out/table.h"

/* ---- values, for people ---- */

/* Unit and precision of a row's values. */
struct scale {
	double by;
	const char *unit;
	/* decimals, 0 to 3: the greatest value has four digits, or more from 10000 on */
	int places;
};

static struct scale scale_of(enum tap_metric_unit unit, double greatest)
{
	static const struct scale ns[] = {
		{ 1, "ns" }, { 1e-3, "us" }, { 1e-6, "ms" }, { 1e-9, "s" }
	};
	static const struct scale others[] = {
		[TAP_METRIC_PCT] = { 1, "%" },
		[TAP_METRIC_PER_S] = { 1, "/s" },
		[TAP_METRIC_KHZ] = { 1e-3, "MHz" },
		[TAP_METRIC_COUNT] = { 1, "" },
	};
	struct scale s = unit == TAP_METRIC_NS ? ns[greatest >= 1e9   ? 3
						    : greatest >= 1e6 ? 2
								      : greatest >= 1e3]
					       : others[unit];

	s.places = 3;
	for (greatest *= s.by; s.places && greatest >= 9.9995; greatest /= 10)
		s.places--;
	return s;
}

static struct scale row_scale(const struct tap_compared *c)
{
	return scale_of(c->unit, fmax(fabs(c->a.median), fabs(c->b.median)));
}

/* Add a cell with the text of @b, and release @b. */
static void put_text(struct tap_table *t, struct tap_buf *b)
{
	tap_table_text(t, b->data, b->len);
	tap_buf_release(b);
}

/*
 * Add a cell "2.113 [2.050, 2.200]". @after: a unit other than the column's, appended to the cell.
 */
static void put_value(struct tap_table *t, const struct scale *s, double value,
		      struct tap_confidence i, bool is_signed, const char *after)
{
	const char *fmt = is_signed ? "%+.*f" : "%.*f";
	struct tap_buf b = { 0 };

	tap_buf_printf(&b, fmt, s->places, value * s->by);
	if (!isnan(i.low)) {
		tap_buf_puts(&b, " [");
		tap_buf_printf(&b, fmt, s->places, i.low * s->by);
		tap_buf_puts(&b, ", ");
		tap_buf_printf(&b, fmt, s->places, i.high * s->by);
		tap_buf_puts(&b, "]");
	}
	tap_buf_puts(&b, after);
	put_text(t, &b);
}

/* Add the difference's cell, in percent of A's median unless that is 0. */
static void put_shift(struct tap_table *t, const struct tap_compared *c)
{
	static const char *const units[] = {
		[TAP_METRIC_NS] = " ns",   [TAP_METRIC_PCT] = " points", [TAP_METRIC_PER_S] = " /s",
		[TAP_METRIC_KHZ] = " MHz", [TAP_METRIC_COUNT] = "",
	};
	const struct scale plain =
		scale_of(c->unit == TAP_METRIC_NS ? TAP_METRIC_COUNT : c->unit, fabs(c->shift));
	struct scale s = { 100 / fabs(c->a.median), "%", 1 };

	if (isnan(c->shift_pct)) {
		put_value(t, &plain, c->shift, c->interval, true, units[c->unit]);
		return;
	}
	if (fabs(c->shift_pct) >= 100)
		s.places = 0;
	put_value(t, &s, c->shift, c->interval, true, "");
}

static void put_p(struct tap_table *t, double p)
{
	struct tap_buf b = { 0 };

	if (isnan(p)) {
		tap_table_none(t);
		return;
	}
	tap_buf_printf(&b, p < 0.0001 ? "<0.0001" : "%.4f", p);
	put_text(t, &b);
}

static void put_verdict(struct tap_table *t, const struct tap_compared *c)
{
	struct tap_buf b = { 0 };

	if (c->verdict == TAP_COMPARE_WORSE || c->verdict == TAP_COMPARE_BETTER)
		tap_table_tint(t, c->verdict == TAP_COMPARE_WORSE ? TAP_TINT_RED : TAP_TINT_CYAN);
	tap_buf_puts(&b, tap_compare_verdict_name(c->verdict));
	if (c->verdict == TAP_COMPARE_UNCLEAR && c->more)
		tap_buf_printf(&b, ": %u more", c->more);
	put_text(t, &b);
}

static const struct tap_column people_columns[] = {
	{ NULL, "metric", TAP_CELL_TEXT, .width = 24 },
	{ NULL, "unit", TAP_CELL_TEXT },
	{ NULL, "A", TAP_CELL_TEXT, .width = 8, .rank = 1 },
	{ NULL, "B", TAP_CELL_TEXT, .width = 8, .rank = 2 },
	{ NULL, "median B-A, %", TAP_CELL_TEXT, .width = 8 },
	{ NULL, "p", TAP_CELL_TEXT, .width = 6, .rank = 3 },
	{ NULL, "verdict", TAP_CELL_TEXT },
	{ 0 }
};

static void put_for_people(struct tap_table *t, const struct tap_compared *c)
{
	const struct scale s = row_scale(c);

	tap_table_puts(t, c->name);
	tap_table_puts(t, s.unit);
	put_value(t, &s, c->a.median, c->a.interval, false, "");
	put_value(t, &s, c->b.median, c->b.interval, false, "");
	put_shift(t, c);
	put_p(t, c->p_adjusted);
	put_verdict(t, c);
	tap_table_row(t);
}

/* ---- for programs ---- */

#define REAL(key)                                                                                  \
	{                                                                                          \
		key, NULL, TAP_CELL_REAL, .places = 6                                              \
	}
static const struct tap_column columns[] = { { "metric", NULL, TAP_CELL_TEXT },
					     { "unit", NULL, TAP_CELL_TEXT },
					     REAL("a_median"),
					     REAL("a_low"),
					     REAL("a_high"),
					     REAL("b_median"),
					     REAL("b_low"),
					     REAL("b_high"),
					     REAL("shift"),
					     REAL("shift_low"),
					     REAL("shift_high"),
					     REAL("shift_pct"),
					     REAL("p"),
					     REAL("p_adjusted"),
					     { "verdict", NULL, TAP_CELL_TEXT },
					     { "more", NULL, TAP_CELL_COUNT },
					     { 0 } };

static void put_interval(struct tap_table *t, double value, struct tap_confidence i)
{
	tap_table_real(t, value);
	tap_table_real(t, i.low);
	tap_table_real(t, i.high);
}

static void put_values(struct tap_page *p, const char *key, const struct tap_compared_side *side)
{
	tap_page_array(p, key);
	for (unsigned int i = 0; i < side->nr; i++)
		tap_page_real(p, NULL, side->v[i]);
	tap_page_array_end(p);
}

static void put_for_programs(struct tap_table *t, const struct tap_compared *c)
{
	tap_table_puts(t, c->name);
	tap_table_puts(t, tap_metric_unit_name(c->unit));
	put_interval(t, c->a.median, c->a.interval);
	put_interval(t, c->b.median, c->b.interval);
	put_interval(t, c->shift, c->interval);
	tap_table_real(t, c->shift_pct);
	tap_table_real(t, c->p);
	tap_table_real(t, c->p_adjusted);
	tap_table_puts(t, tap_compare_verdict_name(c->verdict));
	tap_table_u64_if(t, c->verdict == TAP_COMPARE_UNCLEAR && c->more, c->more);
	put_values(t->page, "a", &c->a);
	put_values(t->page, "b", &c->b);
	tap_table_row(t);
}

/* ---- sections ---- */

/* Return the mark of lines outside of tables: a comment in text, a list item in Markdown. */
static const char *line_mark(const struct tap_diff *d)
{
	return d->page.style == &tap_style_markdown ? "-" : "#";
}

/* Append ", 2 worse (NAME, NAME)", if there are metrics with this verdict. */
static void put_count(struct tap_buf *b, const struct tap_comparison *c,
		      enum tap_compare_verdict verdict)
{
	bool is_named = verdict == TAP_COMPARE_WORSE || verdict == TAP_COMPARE_BETTER;
	struct tap_buf names = { 0 };
	unsigned int nr = 0;

	for (unsigned int i = 0; i < c->nr; i++) {
		if (c->v[i].verdict != verdict || ++nr > 2)
			continue;
		tap_buf_puts(&names, nr == 1 ? "" : ", ");
		tap_text_escape(&names, c->v[i].name, strlen(c->v[i].name));
	}
	if (nr > 2)
		tap_buf_printf(&names, " and %u more", nr - 2);
	if (nr)
		tap_buf_printf(b, b->len ? ", %u %s" : "%u %s", nr,
			       tap_compare_verdict_name(verdict));
	if (nr && is_named)
		tap_buf_printf(b, " (%s)", tap_buf_str(&names));
	tap_buf_release(&names);
}

static unsigned int least_samples(const struct tap_diff *d)
{
	return d->nr_a < d->nr_b ? d->nr_a : d->nr_b;
}

/* Print the first line: the number of metrics with each verdict. */
static void put_result(struct tap_diff *d)
{
	static const enum tap_compare_verdict order[] = {
		TAP_COMPARE_WORSE, TAP_COMPARE_BETTER,	TAP_COMPARE_CHANGED,
		TAP_COMPARE_SAME,  TAP_COMPARE_UNCLEAR,
	};
	struct tap_buf counts = { 0 }, b = { 0 };
	bool differs = false;

	for (unsigned int i = 0; i < sizeof(order) / sizeof(*order); i++) {
		if (order[i] == TAP_COMPARE_SAME)
			differs = counts.len;
		put_count(&counts, &d->comparison, order[i]);
	}
	if (least_samples(d) < TAP_COMPARE_MIN)
		tap_buf_printf(&b,
			       "%s Result: too few %ss for a verdict, which takes %u on each side",
			       line_mark(d), d->sample, TAP_COMPARE_MIN);
	else
		tap_buf_printf(&b, "%s Result: %s%s", line_mark(d),
			       differs ? "" : "no difference shown: ", tap_buf_str(&counts));
	tap_page_sentence(&d->page, b.data, b.len);
	tap_buf_release(&counts);
	tap_buf_release(&b);
}

static void put_head(struct tap_diff *d)
{
	const struct tap_diff_sides *s = d->sides;

	for (unsigned int side = 0; side < 2; side++) {
		const char *const *paths = side ? s->b : s->a;
		unsigned int nr = side ? s->nr_b : s->nr_a, samples = side ? d->nr_b : d->nr_a;
		struct tap_buf b = { 0 };

		tap_buf_printf(&b, "%s %c: ", line_mark(d), 'A' + side);
		tap_text_escape(&b, paths[0], strlen(paths[0]));
		if (nr > 1) {
			tap_buf_puts(&b, nr > 2 ? " to " : " and ");
			tap_text_escape(&b, paths[nr - 1], strlen(paths[nr - 1]));
		}
		tap_buf_printf(&b, ", %u %s%s", samples, d->sample, samples == 1 ? "" : "s");
		tap_page_sentence(&d->page, b.data, b.len);
		tap_buf_release(&b);
	}
}

static void put_lines(struct tap_diff *d, const char *before, const struct tap_buf *lines)
{
	struct tap_buf b = { 0 };

	for (size_t from = 0, len; from < lines->len; from += len + 1) {
		const char *end = memchr(lines->data + from, '\n', lines->len - from);

		len = end ? (size_t)(end - lines->data) - from : lines->len - from;
		tap_buf_clear(&b);
		tap_buf_puts(&b, before);
		tap_text_escape(&b, lines->data + from, len);
		tap_page_sentence(&d->page, b.data, b.len);
	}
	tap_buf_release(&b);
}

static void put_warnings(struct tap_diff *d)
{
	struct tap_buf mark = { 0 };

	tap_buf_printf(&mark, "%s warning: ", line_mark(d));
	put_lines(d, tap_buf_str(&mark), &d->warnings);
	tap_buf_release(&mark);
}

static bool any_more(const struct tap_comparison *c)
{
	for (unsigned int i = 0; i < c->nr; i++)
		if (c->v[i].more)
			return true;
	return false;
}

/* Find the pair of values, one per side, whose difference is nearest to the shift. */
static void find_middle(const struct tap_compared *c, double *a, double *b)
{
	double best = INFINITY;

	for (unsigned int i = 0; i < c->a.nr; i++) {
		for (unsigned int k = 0; k < c->b.nr; k++) {
			double off = fabs(c->b.v[k] - c->a.v[i] - c->shift);

			if (off >= best)
				continue;
			best = off;
			*a = c->a.v[i];
			*b = c->b.v[k];
		}
	}
}

/* If the shift and the difference of the medians have opposite signs, explain why. */
static void put_contradiction(struct tap_buf *out, const struct tap_compared *c)
{
	const struct scale s = row_scale(c);
	double a = 0, b = 0;

	if (c->shift * (c->b.median - c->a.median) >= 0)
		return;
	find_middle(c, &a, &b);
	tap_buf_printf(out,
		       "%s: B's median is %s, but the middle difference is that from A's %.*f to "
		       "B's %.*f %s\n",
		       c->name, c->shift < 0 ? "higher" : "lower", s.places, a * s.by, s.places,
		       b * s.by, s.unit);
}

static void put_notes(struct tap_diff *d)
{
	const struct tap_comparison *c = &d->comparison;
	unsigned int least = least_samples(d);
	struct tap_buf b = { 0 };

	if (d->nr_a > 1 || d->nr_b > 1)
		tap_buf_printf(&b,
			       "median B-A: of the %llu differences between a %s of B and one of "
			       "A, in %% of A's median\n",
			       (unsigned long long)d->nr_a * d->nr_b, d->sample);
	for (unsigned int i = 0; i < c->nr; i++)
		put_contradiction(&b, &c->v[i]);

	if (least < TAP_COMPARE_MIN)
		tap_buf_printf(&b,
			       "a verdict needs %u %ss on each side, and the interval of a median "
			       "%u\n",
			       TAP_COMPARE_MIN, d->sample, TAP_MEDIAN_MIN);
	else
		tap_buf_printf(
			&b,
			"[] 95 %% intervals; p after Mann and Whitney, adjusted for %u metric%s; "
			"verdict: the difference's interval against %g %% of A's median\n",
			c->nr, c->nr == 1 ? "" : "s", 100 * d->min_effect);
	if (least >= TAP_COMPARE_MIN && any_more(c))
		tap_buf_printf(&b,
			       "unclear: N more: about N more %ss on each side would decide, if "
			       "they are like these\n",
			       d->sample);
	if (c->needs > least && c->nr > 1)
		tap_buf_printf(&b,
			       "a difference in one of %u metrics alone needs %u %ss on each side; "
			       "fewer metrics (-m) need fewer\n",
			       c->nr, c->needs, d->sample);
	if (c->nr_partial) {
		tap_buf_printf(&b, "not in every %s, and not compared: %s", d->sample, c->partial);
		if (c->nr_partial > 1)
			tap_buf_printf(&b, " and %u more", c->nr_partial - 1);
		tap_buf_char(&b, '\n');
	}
	put_lines(d, "", &b);
	tap_buf_release(&b);
}

static void put_table(struct tap_diff *d)
{
	bool for_people = tap_page_is_for(&d->page, TAP_FOR_PEOPLE);
	struct tap_table t = { .page = &d->page };

	tap_table_begin(&t, &d->page, for_people ? people_columns : columns, "metrics");
	for (unsigned int i = 0; i < d->comparison.nr; i++)
		(for_people ? put_for_people : put_for_programs)(&t, &d->comparison.v[i]);
	tap_table_end(&t);
}

static const struct tap_column within_people_columns[] = {
	{ NULL, "metric", TAP_CELL_TEXT, .width = 24 }, { NULL, "unit", TAP_CELL_TEXT },
	{ NULL, "A", TAP_CELL_TEXT, .width = 8 },	{ NULL, "B", TAP_CELL_TEXT, .width = 8 },
	{ NULL, "difference", TAP_CELL_TEXT },		{ 0 }
};

static const struct tap_column within_columns[] = { { "metric", NULL, TAP_CELL_TEXT },
						    { "unit", NULL, TAP_CELL_TEXT },
						    REAL("a"),
						    REAL("b"),
						    REAL("difference"),
						    REAL("difference_low"),
						    REAL("difference_high"),
						    { 0 } };

static void put_within_row(struct tap_diff *d, struct tap_table *t, const struct tap_diff_within *w)
{
	const struct scale s = scale_of(TAP_METRIC_NS, fmax(w->a, w->b));
	bool for_people = tap_page_is_for(&d->page, TAP_FOR_PEOPLE);

	tap_table_puts(t, w->name);
	tap_table_puts(t, for_people ? s.unit : tap_metric_unit_name(TAP_METRIC_NS));
	if (for_people) {
		put_value(t, &s, w->a, TAP_CONFIDENCE_NONE, false, "");
		put_value(t, &s, w->b, TAP_CONFIDENCE_NONE, false, "");
		put_value(t, &s, w->b - w->a, w->interval, true, "");
	} else {
		tap_table_real(t, w->a);
		tap_table_real(t, w->b);
		put_interval(t, w->b - w->a, w->interval);
	}
	tap_table_row(t);
}

/*
 * Print the comparison within two single recordings. Sheets omit it: they have one table, the
 * metrics.
 */
static void put_within(struct tap_diff *d)
{
	static const char title[] = "within these two runs only: 95 % intervals, by drawing blocks "
				    "of 100 ms or more again";
	bool for_people = tap_page_is_for(&d->page, TAP_FOR_PEOPLE);
	struct tap_table t = { .page = &d->page };

	if (!d->nr_within || tap_page_is_for(&d->page, TAP_FOR_SHEETS))
		return;
	if (for_people) {
		tap_buf_puts(&d->page.buf, "\n");
		tap_page_sentence(&d->page, title, strlen(title));
		tap_buf_puts(&d->page.buf, "\n");
	}
	tap_table_begin(&t, &d->page, for_people ? within_people_columns : within_columns,
			"within");
	for (unsigned int i = 0; i < d->nr_within; i++)
		put_within_row(d, &t, &d->within[i]);
	tap_table_end(&t);
}

static void put_paths(struct tap_page *p, const char *key, const char *const *paths,
		      unsigned int nr)
{
	tap_page_array(p, key);
	for (unsigned int i = 0; i < nr; i++)
		tap_page_puts(p, NULL, paths[i]);
	tap_page_array_end(p);
}

static void put_members(struct tap_diff *d)
{
	struct tap_page *p = &d->page;
	const char *line = tap_buf_str(&d->warnings);

	put_paths(p, "a", d->sides->a, d->sides->nr_a);
	put_paths(p, "b", d->sides->b, d->sides->nr_b);
	tap_page_array(p, "warnings");
	for (size_t len; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		tap_page_text(p, NULL, line, len);
	}
	tap_page_array_end(p);
	tap_page_real(p, "min_effect_pct", 100 * d->min_effect);
	tap_page_u64(p, "needs", d->comparison.needs);
	tap_page_u64(p, "nr_partial", d->comparison.nr_partial);
}

int tap_diff_show(struct tap_diff *d, const struct tap_screen *to, struct tap_err *err)
{
	const struct tap_style *style = tap_input_style(&d->opts->input);
	bool for_people = style->audience == TAP_FOR_PEOPLE;
	int ret;

	if (to->begin)
		to->begin(to->listener.ctx);
	tap_page_open(&d->page, style, to->fd);
	if (style == &tap_style_text && !d->opts->wide) {
		d->page.columns = to->columns;
		d->page.color = to->color;
	}
	if (for_people) {
		put_result(d);
		put_head(d);
		put_warnings(d);
		tap_buf_puts(&d->page.buf, "\n");
	}
	put_members(d);
	put_table(d);
	if (for_people) {
		tap_buf_puts(&d->page.buf, "\n");
		put_notes(d);
	}
	put_within(d);
	ret = tap_page_close(&d->page);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write the comparison: %m") : 0;
}
