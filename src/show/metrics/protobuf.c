// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages of the format "delimited protobuf", io.prometheus.client.MetricFamily
 * (https://github.com/prometheus/client_model): each with its length before it.
 */
#include <math.h>

#include "base/proto.h"
#include "show/metrics/writer.h"

#include "tally_maps.h"

enum { FAMILY_NAME = 1, FAMILY_HELP = 2, FAMILY_TYPE = 3, FAMILY_METRIC = 4 };
enum { METRIC_LABEL = 1, METRIC_GAUGE = 2, METRIC_COUNTER = 3, METRIC_HISTOGRAM = 7 };
enum { LABEL_NAME = 1, LABEL_VALUE = 2 };
enum { NUMBER_VALUE = 1 }; /* of Gauge and Counter */
enum {
	HISTOGRAM_COUNT = 1,
	HISTOGRAM_SUM = 2,
	HISTOGRAM_BUCKET = 3,
	HISTOGRAM_SCHEMA = 5,
	HISTOGRAM_ZERO_THRESHOLD = 6,
	HISTOGRAM_ZERO_COUNT = 7,
	HISTOGRAM_SPAN = 12,
	HISTOGRAM_DELTA = 13,
};
enum { BUCKET_COUNT = 1, BUCKET_LIMIT = 2 };
enum { SPAN_OFFSET = 1, SPAN_LENGTH = 2 };

#define SCHEMA 3 /* 2^3 buckets in an octave */
_Static_assert(1 << SCHEMA == TAP_TALLY_SUB_BUCKETS, "the tally's buckets are those of the schema");
/* Bucket n of the tally is this bucket n of the schema, whose bucket 0 ends at 1 s. */
#define FIRST_BUCKET (TAP_TALLY_FIRST_OCTAVE * TAP_TALLY_SUB_BUCKETS)

static uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static void add_double(struct tap_buf *out, unsigned int field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	tap_proto_fixed64(out, field, bits);
}

static void begin(struct tap_metrics_writer *w, const struct tap_metric_family *f)
{
	static const unsigned int types[] = {
		[TAP_METRIC_COUNTER] = 0, [TAP_METRIC_GAUGE] = 1, [TAP_METRIC_HISTOGRAM] = 4
	};
	size_t name;

	w->family = f;
	tap_buf_char(w->out, 0);
	w->begun = w->out->len;
	name = tap_proto_begin(w->out, FAMILY_NAME);
	tap_buf_puts(w->out, f->name);
	if (f->type == TAP_METRIC_COUNTER)
		tap_buf_puts(w->out, "_total");
	tap_proto_end(w->out, name);
	tap_proto_bytes(w->out, FAMILY_HELP, f->help, strlen(f->help));
	tap_proto_u64(w->out, FAMILY_TYPE, types[f->type]);
}

static void end(struct tap_metrics_writer *w)
{
	tap_proto_end(w->out, w->begun);
}

/* Begin a metric. Return: the argument for its end. */
static size_t begin_metric(struct tap_metrics_writer *w, const struct tap_metric_label *labels)
{
	size_t metric = tap_proto_begin(w->out, FAMILY_METRIC);

	for (; labels && labels->name; labels++) {
		size_t label = tap_proto_begin(w->out, METRIC_LABEL), value;

		tap_proto_bytes(w->out, LABEL_NAME, labels->name, strlen(labels->name));
		value = tap_proto_begin(w->out, LABEL_VALUE);
		tap_metrics_value(w->out, labels->value);
		tap_proto_end(w->out, value);
		tap_proto_end(w->out, label);
	}
	return metric;
}

static void number(struct tap_metrics_writer *w, const struct tap_metric_label *labels, uint64_t v)
{
	size_t metric = begin_metric(w, labels), value;

	value = tap_proto_begin(w->out, w->family->type == TAP_METRIC_COUNTER ? METRIC_COUNTER
									      : METRIC_GAUGE);
	add_double(w->out, NUMBER_VALUE, w->family->is_seconds ? (double)v / 1e9 : (double)v);
	tap_proto_end(w->out, value);
	tap_proto_end(w->out, metric);
}

/* Buckets that follow each other: @offset from the end of the span before. */
static void add_span(struct tap_buf *out, int offset, unsigned int length)
{
	size_t span = tap_proto_begin(out, HISTOGRAM_SPAN);

	tap_proto_u64(out, SPAN_OFFSET, zigzag(offset));
	tap_proto_u64(out, SPAN_LENGTH, length);
	tap_proto_end(out, span);
}

static void add_spans(struct tap_buf *out, const uint64_t *buckets)
{
	int end = -FIRST_BUCKET; /* of the last span; bucket 0 of the schema, at first */
	unsigned int from = 1, to;

	for (; from < TAP_TALLY_BUCKETS; from = to) {
		to = from + 1;
		if (!buckets[from])
			continue;
		while (to < TAP_TALLY_BUCKETS && buckets[to])
			to++;
		add_span(out, (int)from - end, to - from);
		end = (int)to;
	}
	if (end == -FIRST_BUCKET) /* a native histogram has a span, even if it is empty */
		add_span(out, 0, 0);
}

static void add_deltas(struct tap_buf *out, const uint64_t *buckets)
{
	uint64_t before = 0;

	for (unsigned int i = 1; i < TAP_TALLY_BUCKETS; i++) {
		if (!buckets[i])
			continue;
		tap_proto_u64(out, HISTOGRAM_DELTA, zigzag((int64_t)(buckets[i] - before)));
		before = buckets[i];
	}
}

static void histogram(struct tap_metrics_writer *w, const struct tap_metric_label *labels,
		      const struct tap_metric_histogram *h)
{
	size_t metric = begin_metric(w, labels), value;

	value = tap_proto_begin(w->out, METRIC_HISTOGRAM);
	tap_proto_u64(w->out, HISTOGRAM_COUNT, h->count);
	add_double(w->out, HISTOGRAM_SUM, (double)h->sum_ns / 1e9);
	tap_proto_u64(w->out, HISTOGRAM_SCHEMA, zigzag(SCHEMA));
	add_double(w->out, HISTOGRAM_ZERO_THRESHOLD, ldexp(1, TAP_TALLY_FIRST_OCTAVE));
	tap_proto_u64(w->out, HISTOGRAM_ZERO_COUNT, h->buckets[0]);
	add_spans(w->out, h->buckets);
	add_deltas(w->out, h->buckets);
	tap_proto_end(w->out, value);
	tap_proto_end(w->out, metric);
}

static void lengths(struct tap_metrics_writer *w, const struct tap_metric_lengths *h)
{
	size_t metric = begin_metric(w, NULL), value, bucket;
	uint64_t count = 0, total = 0;

	for (unsigned int i = 0; i <= h->nr_limits; i++)
		total += h->buckets[i];
	value = tap_proto_begin(w->out, METRIC_HISTOGRAM);
	tap_proto_u64(w->out, HISTOGRAM_COUNT, total);
	add_double(w->out, HISTOGRAM_SUM, (double)h->sum);
	for (unsigned int i = 0; i < h->nr_limits; i++) {
		count += h->buckets[i];
		bucket = tap_proto_begin(w->out, HISTOGRAM_BUCKET);
		tap_proto_u64(w->out, BUCKET_COUNT, count);
		add_double(w->out, BUCKET_LIMIT, h->limits[i]);
		tap_proto_end(w->out, bucket);
	}
	tap_proto_end(w->out, value);
	tap_proto_end(w->out, metric);
}

static void finish(struct tap_metrics_writer *w)
{
	(void)w;
}

void tap_metrics_protobuf_init(struct tap_metrics_writer *w)
{
	w->begin = begin;
	w->number = number;
	w->histogram = histogram;
	w->lengths = lengths;
	w->end = end;
	w->finish = finish;
	w->histogram_series = 1;
}
