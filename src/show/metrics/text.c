// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Text 0.0.4 and OpenMetrics 1.0: a line for each series. */
#include <stdio.h>

#include "base/text.h"
#include "show/metrics/writer.h"

#include "tally_maps.h"

/* Upper limits of the buckets in seconds: 2^-20, 2^-18, ... 2^4, as Prometheus writes them. */
static const char *const limits[] = {
	"9.5367431640625e-07",
	"3.814697265625e-06",
	"1.52587890625e-05",
	"6.103515625e-05",
	"0.000244140625",
	"0.0009765625",
	"0.00390625",
	"0.015625",
	"0.0625",
	"0.25",
	"1.0",
	"4.0",
	"16.0",
};

#define NR_LIMITS (sizeof(limits) / sizeof(limits[0]))
/* Number of the tally's buckets from one limit to the next, and up to the first one. */
#define PER_LIMIT (2 * TAP_TALLY_SUB_BUCKETS)
_Static_assert(-20 - TAP_TALLY_FIRST_OCTAVE == 2, "the first limit is two octaves up");

static void add_head(struct tap_metrics_writer *w, const char *what, const char *text)
{
	bool is_full = w->family->type == TAP_METRIC_COUNTER && w->format == TAP_METRICS_TEXT;

	tap_buf_printf(w->out, "# %s %s%s %s\n", what, w->family->name, is_full ? "_total" : "",
		       text);
}

static void begin(struct tap_metrics_writer *w, const struct tap_metric_family *f)
{
	static const char *const types[] = {
		[TAP_METRIC_COUNTER] = "counter",
		[TAP_METRIC_GAUGE] = "gauge",
		[TAP_METRIC_HISTOGRAM] = "histogram",
	};

	w->family = f;
	add_head(w, "HELP", f->help);
	add_head(w, "TYPE", types[f->type]);
	if (f->is_seconds && w->format == TAP_METRICS_OPENMETRICS)
		add_head(w, "UNIT", "seconds");
}

static void add_quoted(struct tap_metrics_writer *w, const char *value)
{
	tap_buf_clear(&w->value);
	tap_metrics_value(&w->value, value);
	tap_buf_char(&w->labels, '"');
	for (size_t i = 0; i < w->value.len; i++) {
		if (w->value.data[i] == '\\' || w->value.data[i] == '"')
			tap_buf_char(&w->labels, '\\');
		tap_buf_char(&w->labels, w->value.data[i]);
	}
	tap_buf_char(&w->labels, '"');
}

/* Set .labels to a="b",c="d". */
static void set_labels(struct tap_metrics_writer *w, const struct tap_metric_label *labels)
{
	tap_buf_clear(&w->labels);
	for (; labels && labels->name; labels++) {
		if (w->labels.len)
			tap_buf_char(&w->labels, ',');
		tap_buf_puts(&w->labels, labels->name);
		tap_buf_char(&w->labels, '=');
		add_quoted(w, labels->value);
	}
}

/* Begin a line with .labels. @limit: value of the label "le"; NULL: none. */
static void begin_line(struct tap_metrics_writer *w, const char *suffix, const char *limit)
{
	tap_buf_puts(w->out, w->family->name);
	tap_buf_puts(w->out, suffix);
	if (w->labels.len || limit) {
		tap_buf_char(w->out, '{');
		tap_buf_add(w->out, w->labels.data, w->labels.len);
		if (limit) {
			tap_buf_puts(w->out, w->labels.len ? ",le=\"" : "le=\"");
			tap_buf_puts(w->out, limit);
			tap_buf_char(w->out, '"');
		}
		tap_buf_char(w->out, '}');
	}
	tap_buf_char(w->out, ' ');
}

static void end_line(struct tap_metrics_writer *w, uint64_t v, bool is_ns)
{
	if (is_ns)
		tap_text_ns(w->out, v);
	else
		tap_buf_u64(w->out, v);
	tap_buf_char(w->out, '\n');
}

static void number(struct tap_metrics_writer *w, const struct tap_metric_label *labels, uint64_t v)
{
	set_labels(w, labels);
	begin_line(w, w->family->type == TAP_METRIC_COUNTER ? "_total" : "", NULL);
	end_line(w, v, w->family->is_seconds);
}

static void histogram(struct tap_metrics_writer *w, const struct tap_metric_label *labels,
		      const struct tap_metric_histogram *h)
{
	uint64_t count = 0;
	unsigned int i = 0;

	set_labels(w, labels);
	for (unsigned int n = 0; n < NR_LIMITS; n++) {
		for (; i <= PER_LIMIT * (n + 1); i++)
			count += h->buckets[i];
		begin_line(w, "_bucket", limits[n]);
		end_line(w, count, false);
	}
	begin_line(w, "_bucket", "+Inf");
	end_line(w, h->count, false);
	begin_line(w, "_count", NULL);
	end_line(w, h->count, false);
	begin_line(w, "_sum", NULL);
	end_line(w, h->sum_ns, true);
}

static void lengths(struct tap_metrics_writer *w, const struct tap_metric_lengths *h)
{
	uint64_t count = 0;
	char limit[32];

	set_labels(w, NULL);
	for (unsigned int i = 0; i <= h->nr_limits; i++) {
		if (i < h->nr_limits)
			snprintf(limit, sizeof(limit), "%u.0", h->limits[i]);
		count += h->buckets[i];
		begin_line(w, "_bucket", i < h->nr_limits ? limit : "+Inf");
		end_line(w, count, false);
	}
	begin_line(w, "_count", NULL);
	end_line(w, count, false);
	begin_line(w, "_sum", NULL);
	end_line(w, h->sum, false);
}

static void end(struct tap_metrics_writer *w)
{
	(void)w;
}

static void finish(struct tap_metrics_writer *w)
{
	if (w->format == TAP_METRICS_OPENMETRICS)
		tap_buf_puts(w->out, "# EOF\n");
}

void tap_metrics_text_init(struct tap_metrics_writer *w)
{
	w->begin = begin;
	w->number = number;
	w->histogram = histogram;
	w->lengths = lengths;
	w->end = end;
	w->finish = finish;
	w->histogram_series = NR_LIMITS + 3;
}
