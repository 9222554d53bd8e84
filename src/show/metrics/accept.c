// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/metrics/accept.h"

#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>

static const struct known {
	const char *type, *parameter, *value; /* .value: what the parameter must be */
	enum tap_metrics_format format;
} known[] = {
	{ "application/vnd.google.protobuf", "encoding", "delimited", TAP_METRICS_PROTOBUF },
	{ "application/openmetrics-text", "version", "1.0.0", TAP_METRICS_OPENMETRICS },
	{ "text/plain", "version", "0.0.4", TAP_METRICS_TEXT },
	{ "text/*", NULL, NULL, TAP_METRICS_TEXT },
	{ "*/*", NULL, NULL, TAP_METRICS_TEXT },
	{ 0 },
};

/* Parameters of a media range. */
struct parameters {
	double quality; /* 0 to 1 */
	bool fit; /* the format's own parameter has the format's value */
};

static void take_parameter(struct parameters *p, char *text, const struct known *k)
{
	char *value = strchr(text, '=');

	if (!value)
		return;
	*value++ = '\0';
	if (!strcasecmp(text, "q"))
		p->quality = strtod(value, NULL);
	else if (k->parameter && !strcasecmp(text, k->parameter))
		p->fit = !strcasecmp(value, k->value);
}

/* @range: "TYPE;PARAMETER=VALUE;..." without blanks. Return: its quality; 0: no such format. */
static double take_range(char *range, enum tap_metrics_format *format)
{
	struct parameters p = { .quality = 1, .fit = true };
	char *rest = NULL, *type = strtok_r(range, ";", &rest), *parameter;
	const struct known *k = known;

	while (k->type && (!type || strcasecmp(type, k->type)))
		k++;
	if (!k->type)
		return 0;
	while ((parameter = strtok_r(NULL, ";", &rest)))
		take_parameter(&p, parameter, k);
	*format = k->format;
	return p.fit ? p.quality : 0;
}

static void remove_blanks(char *s)
{
	char *to = s;

	for (; *s; s++)
		if (*s != ' ' && *s != '\t')
			*to++ = *s;
	*to = '\0';
}

enum tap_metrics_format tap_metrics_accepted(const char *accept)
{
	enum tap_metrics_format best = TAP_METRICS_TEXT, format = best;
	char *copy = strdup(accept ?: ""), *rest = NULL, *range;
	double best_quality = 0, quality;

	if (!copy)
		return best;
	remove_blanks(copy);
	for (range = strtok_r(copy, ",", &rest); range; range = strtok_r(NULL, ",", &rest)) {
		quality = take_range(range, &format);
		if (quality > best_quality) {
			best = format;
			best_quality = quality;
		}
	}
	free(copy);
	return best;
}

const char *tap_metrics_content_type(enum tap_metrics_format format)
{
	static const char *const types[] = {
		[TAP_METRICS_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
		[TAP_METRICS_OPENMETRICS] =
			"application/openmetrics-text; version=1.0.0; charset=utf-8",
		[TAP_METRICS_PROTOBUF] = "application/vnd.google.protobuf; "
					 "proto=io.prometheus.client.MetricFamily; "
					 "encoding=delimited",
	};

	return types[format];
}
