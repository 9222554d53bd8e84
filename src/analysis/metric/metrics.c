// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/metric/metrics.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

const char *tap_metric_unit_name(enum tap_metric_unit unit)
{
	static const char *const names[] = {
		[TAP_METRIC_NS] = "ns",	      [TAP_METRIC_PCT] = "pct",
		[TAP_METRIC_PER_S] = "per_s", [TAP_METRIC_KHZ] = "khz",
		[TAP_METRIC_COUNT] = "count",
	};

	return names[unit];
}

const struct tap_quantile tap_quantiles[TAP_NR_QUANTILES] = {
	{ "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p999", 0.999 }
};

void tap_metrics_release(struct tap_metrics *m)
{
	for (unsigned int i = 0; i < m->nr; i++)
		free(m->v[i].name);
	free(m->v);
	*m = (struct tap_metrics){ 0 };
}

int tap_metrics_add(struct tap_metrics *m, enum tap_metric_unit unit, enum tap_metric_better better,
		    double value, const char *fmt, ...)
{
	va_list args;
	char *name;
	int len;

	if (isnan(value))
		return 0;
	if (tap_array_grow(&m->v, m->nr, &m->cap, sizeof(*m->v)))
		return -ENOMEM;
	va_start(args, fmt);
	len = vasprintf(&name, fmt, args);
	va_end(args);
	if (len < 0)
		return -ENOMEM;
	m->v[m->nr++] = (struct tap_metric){ name, unit, better, value, -INFINITY, INFINITY };
	return 0;
}

struct tap_metric *tap_metrics_find(const struct tap_metrics *m, const char *name)
{
	for (unsigned int i = 0; i < m->nr; i++)
		if (!strcmp(m->v[i].name, name))
			return &m->v[i];
	return NULL;
}
