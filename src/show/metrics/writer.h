/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Metrics in the formats that Prometheus reads: text 0.0.4, OpenMetrics 1.0, and protobuf, which
 * alone has native histograms. A family has one name, and a metric for each set of labels.
 */
#ifndef TAP_SHOW_METRICS_WRITER_H
#define TAP_SHOW_METRICS_WRITER_H

#include <stdint.h>

#include "base/buf.h"

enum tap_metrics_format { TAP_METRICS_TEXT, TAP_METRICS_OPENMETRICS, TAP_METRICS_PROTOBUF };

enum tap_metric_type { TAP_METRIC_COUNTER, TAP_METRIC_GAUGE, TAP_METRIC_HISTOGRAM };

struct tap_metric_family {
	const char *name; /* of a counter: without the "_total" that it gets */
	const char *help;
	enum tap_metric_type type;
	bool is_seconds; /* the numbers are ns, and written as seconds; .name ends with "_seconds"
			  */
};

struct tap_metric_label {
	const char *name; /* NULL: the end of the labels */
	const char *value; /* any bytes but NUL */
};

struct tap_metric_histogram {
	const uint64_t *buckets; /* TAP_TALLY_BUCKETS numbers of waits, of tap_tally_bucket() */
	uint64_t count, sum_ns; /* of the waits */
};

/* A histogram with limits of its own. */
struct tap_metric_lengths {
	const unsigned int *limits; /* inclusive, ascending; the last bucket has none */
	const uint64_t *buckets; /* one more than limits */
	unsigned int nr_limits;
	uint64_t sum;
};

struct tap_metrics_writer {
	struct tap_buf *out;
	enum tap_metrics_format format;
	/* of the format: */
	void (*begin)(struct tap_metrics_writer *w, const struct tap_metric_family *f);
	/* @labels: NULL: none; otherwise ends with a zero element */
	void (*number)(struct tap_metrics_writer *w, const struct tap_metric_label *labels,
		       uint64_t v);
	void (*histogram)(struct tap_metrics_writer *w, const struct tap_metric_label *labels,
			  const struct tap_metric_histogram *h);
	void (*lengths)(struct tap_metrics_writer *w, const struct tap_metric_lengths *h);
	void (*end)(struct tap_metrics_writer *w); /* of the family */
	void (*finish)(struct tap_metrics_writer *w); /* after the last family */
	unsigned int histogram_series; /* number of series that a histogram is stored as */
	/* internal: */
	const struct tap_metric_family *family;
	size_t begun; /* where the family began */
	struct tap_buf labels, value;
};

/* Write to @out. */
void tap_metrics_writer_init(struct tap_metrics_writer *w, enum tap_metrics_format format,
			     struct tap_buf *out);
void tap_metrics_writer_release(struct tap_metrics_writer *w);

/* The formats' own part of tap_metrics_writer_init(). */
void tap_metrics_text_init(struct tap_metrics_writer *w);
void tap_metrics_protobuf_init(struct tap_metrics_writer *w);

/*
 * Add a label's value as all formats have it: control characters, bidirectional controls and bytes
 * that are not UTF-8 as \xHH. A backslash stays as it is, but where it would look like one of these
 * it is \x5C: different values stay different.
 */
void tap_metrics_value(struct tap_buf *out, const char *value);

#endif
