// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Read the recordings of both sides and compare them. */
#include "show/report/diff.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/stats/bootstrap.h"
#include "show/out/markdown.h"

#define OPTS struct tap_diff_opts
const struct tap_opt tap_diff_options[] = {
	TAP_OPTION(OPTS, metrics, "metric", 'm', "METRIC", TAP_OPT_STRINGS,
		   "only metrics that match this glob, such as 'latency.*.p99'; repeatable"),
	TAP_OPTION(OPTS, between, "between", 0, "START,DONE", TAP_OPT_STRING,
		   "add metrics of requests, which last from a START event to a DONE event (see "
		   "schedtap-critical(1))"),
	TAP_OPTION(OPTS, by, "by", 0, "WHAT", TAP_OPT_STRING,
		   "'task': metrics of each task name; with --between: the field that pairs START "
		   "and DONE"),
	TAP_OPTION(OPTS, min_effect, "min-effect", 0, "PCT", TAP_OPT_STRING,
		   "ignore differences smaller than PCT of the median of A [" TAP_DIFF_MIN_EFFECT
		   "]"),
	TAP_OPT_PIDS(OPTS, input.select.tgids),
	TAP_OPT_TIDS(OPTS, input.select.tids),
	TAP_OPT_COMMS(OPTS, input.select.comms),
	TAP_OPT_CGROUPS(OPTS, input.select.cgroups),
	TAP_OPT_WINDOW(OPTS, input.window),
	{ .name = "markdown",
	  .help = "print tables in Markdown",
	  .type = TAP_OPT_CHOICE,
	  .offset = offsetof(OPTS, input.style),
	  .choice = &tap_style_markdown },
#define TAP_STYLE(name, help) TAP_STYLE_OPTION(OPTS, input.style, name, help)
#include "show/out/styles.h"
	TAP_OPT_WIDE(OPTS, wide),
	{ 0 }
};

/* Quantiles that are compared between two single recordings. */
static const double parts[TAP_DIFF_PARTS] = { 0.5, 0.9, 0.99, 0.999 };
static const char *const part_names[TAP_DIFF_PARTS] = { "p50", "p90", "p99", "p999" };

static unsigned int nr_all(const struct tap_diff *d)
{
	return d->sides->nr_a + d->sides->nr_b;
}

/* ---- options ---- */

static int read_min_effect(const char *text, double *part, struct tap_err *err)
{
	char *end;

	*part = strtod(text, &end) / 100;
	if (end == text || (*end && strcmp(end, "%")) || !(*part >= 0 && *part <= 100))
		return tap_err_set(err, -EINVAL,
				   "bad --min-effect '%.100s': expected a percentage of side A's "
				   "median, such as 2%%",
				   text);
	return 0;
}

static bool is_by_task(const struct tap_diff_opts *opts)
{
	return opts->by && !opts->between;
}

static struct tap_measured_opts how_to_measure(const struct tap_diff_opts *opts)
{
	return (struct tap_measured_opts){
		.input = &opts->input,
		.by_task = is_by_task(opts),
		.between = opts->between,
		.between_by = opts->by,
	};
}

int tap_diff_check(const struct tap_diff_opts *opts, bool is_bench, struct tap_err *err)
{
	const struct tap_measured_opts how = how_to_measure(opts);
	double part;
	int ret = opts->between ? tap_request_source_init(&(struct tap_request_source){ 0 },
							  opts->between, opts->by, err)
				: 0;

	if (ret)
		return ret;
	if (opts->by && !opts->between && strcmp(opts->by, "task"))
		return tap_err_set(err, -EINVAL,
				   "bad --by '%.100s': without --between, --by takes only 'task'",
				   opts->by);
	return read_min_effect(opts->min_effect, &part, err)
		       ?: is_bench ? tap_measured_check_bench(&how, "schedtap bench", err)
				   : 0;
}

static bool wants_metric(void *ctx, const char *name)
{
	const struct tap_strings *globs = &((struct tap_diff *)ctx)->opts->metrics;

	for (unsigned int i = 0; i < globs->nr; i++)
		if (!fnmatch(globs->v[i], name, 0))
			return true;
	return !globs->nr;
}

/* Refuse recordings that are given twice: they would fake a difference. */
static int check_files(const struct tap_diff *d, struct tap_err *err)
{
	struct stat *st = calloc(nr_all(d), sizeof(*st));
	int ret = 0;

	if (!st)
		return tap_err_nomem(err);
	for (unsigned int i = 0; i < nr_all(d); i++) {
		if (stat(d->measured[i].path, &st[i]))
			continue; /* reading the file will report the error */
		for (unsigned int k = 0; !ret && k < i; k++)
			if (st[k].st_ino == st[i].st_ino && st[k].st_dev == st[i].st_dev)
				ret = tap_err_set(err, -EINVAL,
						  "'%.300s' is the same recording as '%.300s' %s: "
						  "give each recording only once",
						  d->measured[i].path, d->measured[k].path,
						  k < d->sides->nr_a && i >= d->sides->nr_a
							  ? "on the other side"
							  : "on the same side");
	}
	free(st);
	return ret;
}

/* ---- comparing ---- */

/*
 * Warn about the first recording whose fact differs from that of the first recording that has the
 * fact.
 */
static void compare_fact(struct tap_diff *d, enum tap_fact what)
{
	struct tap_measured *end = d->measured + nr_all(d), *first = d->measured;

	while (first < end && !first->facts.text[what].len)
		first++;
	for (struct tap_measured *m = first; m < end; m++)
		if (tap_facts_differ(&first->facts, first->path, &m->facts, m->path, what,
				     &d->warnings)) {
			tap_buf_char(&d->warnings, '\n');
			return;
		}
}

static void count_losses(struct tap_diff *d)
{
	unsigned int nr = 0;
	const char *path = NULL;

	for (unsigned int i = 0; i < nr_all(d); i++) {
		const struct tap_facts *f = &d->measured[i].facts;

		if (!f->lost && !f->lost_unknown)
			continue;
		path = path ?: d->measured[i].path;
		nr++;
	}
	if (nr)
		tap_buf_printf(&d->warnings,
			       "events were lost in %u of %u recordings, the first is '%.300s': "
			       "uncertain waits do not count\n",
			       nr, nr_all(d), path);
}

/* Warn about runs of bench beside which other processes ran. */
static void count_noisy(struct tap_diff *d)
{
	unsigned int nr = 0;
	const char *path = NULL;
	double most_pct = 0;

	for (unsigned int i = 0; i < nr_all(d); i++) {
		const struct tap_bench_file *f = &d->measured[i].bench;
		double pct = f->nr_rounds ? tap_bench_file_others_pct(f) : 0;

		nr += pct > TAP_BENCH_QUIET_PCT;
		if (pct > most_pct) {
			most_pct = pct;
			path = f->path;
		}
	}
	if (nr)
		tap_buf_printf(&d->warnings,
			       "the machine was not quiet in %u of %u files: other processes took "
			       "up to %.1f %% of the CPUs, in '%.300s'\n",
			       nr, nr_all(d), most_pct, path);
}

/* Warn about recordings without any task that the options select. Return: their number. */
static unsigned int count_unmatched(struct tap_diff *d)
{
	unsigned int nr = 0;
	const char *path = NULL;

	for (unsigned int i = 0; i < nr_all(d); i++) {
		if (!d->measured[i].is_unmatched)
			continue;
		path = path ?: d->measured[i].path;
		nr++;
	}
	if (nr)
		tap_buf_printf(&d->warnings,
			       "no task matches the options in %u of %u recordings, the first is "
			       "'%.300s'\n",
			       nr, nr_all(d), path);
	return nr;
}

/* Collect the recordings' notes, each distinct note once. */
static void collect_notes(struct tap_diff *d)
{
	for (unsigned int i = 0; i < nr_all(d); i++) {
		const char *line = tap_buf_str(&d->measured[i].notes);

		for (size_t len; *line; line += len + 1) {
			len = strcspn(line, "\n");
			if (!memmem(tap_buf_str(&d->warnings), d->warnings.len, line, len + 1))
				tap_buf_add(&d->warnings, line, len + 1);
		}
	}
}

/* Recordings are compared with recordings, and rounds with rounds of the same load. */
static int check_kinds(struct tap_diff *d, struct tap_err *err)
{
	const struct tap_measured *first = &d->measured[0];
	int ret = 0;

	for (unsigned int i = 1; !ret && i < nr_all(d); i++) {
		const struct tap_measured *m = &d->measured[i];
		bool is_bench = m->bench.nr_rounds;

		if (is_bench != (first->bench.nr_rounds != 0))
			ret = tap_err_set(err, -ENODATA,
					  "'%.300s' is JSON of schedtap bench, and '%.300s' is a "
					  "recording: they have no metrics in common",
					  is_bench ? m->path : first->path,
					  is_bench ? first->path : m->path);
		else if (is_bench)
			ret = tap_bench_file_compare(&first->bench, &m->bench, err);
	}
	return ret;
}

/* Return the number of samples in the files from @from on: a recording is one. */
static unsigned int count_samples(const struct tap_diff *d, unsigned int from, unsigned int nr)
{
	unsigned int sum = 0;

	for (unsigned int i = from; i < from + nr; i++)
		sum += d->measured[i].bench.nr_rounds ?: 1;
	return sum;
}

static void count_sides(struct tap_diff *d)
{
	d->sample = d->measured[0].bench.nr_rounds ? "round" : "recording";
	d->nr_a = count_samples(d, 0, d->sides->nr_a);
	d->nr_b = count_samples(d, d->sides->nr_a, d->sides->nr_b);
}

static void list_samples(const struct tap_diff *d, const struct tap_metrics **samples)
{
	for (unsigned int i = 0; i < nr_all(d); i++) {
		const struct tap_measured *m = &d->measured[i];

		if (!m->bench.nr_rounds)
			*samples++ = &m->metrics;
		for (unsigned int k = 0; k < m->bench.nr_rounds; k++)
			*samples++ = &m->bench.rounds[k];
	}
}

static int compare_metrics(struct tap_diff *d)
{
	const struct tap_compare_opts opts = {
		.min_effect = d->min_effect,
		.window_is_cost = d->sides->window_is_cost,
		.want = wants_metric,
		.ctx = d,
	};
	const struct tap_metrics **metrics = calloc(d->nr_a + d->nr_b, sizeof(*metrics));
	int ret;

	if (!metrics)
		return -ENOMEM;
	list_samples(d, metrics);
	ret = tap_compare(metrics, d->nr_a, metrics + d->nr_a, d->nr_b, &opts, &d->comparison);
	free(metrics);
	return ret;
}

static bool is_pair(const struct tap_diff *d)
{
	return d->sides->nr_a == 1 && d->sides->nr_b == 1;
}

static int compare_within(struct tap_diff *d)
{
	static const char *const waits[TAP_NR_MEASURED] = { "waking", "preempted", "throttled" };
	const struct tap_measure *a = &d->measured[0].measure, *b = &d->measured[1].measure;
	struct tap_confidence intervals[TAP_DIFF_PARTS];
	struct tap_diff_within *row;
	int ret = 0;

	for (enum tap_measured_wait w = 0; !ret && w < TAP_NR_MEASURED; w++) {
		const struct tap_hist *of_a = &a->waits[w].all.waits,
				      *of_b = &b->waits[w].all.waits;

		if (!of_a->count || !of_b->count || !tap_measure_knows(a, w) ||
		    !tap_measure_knows(b, w))
			continue;
		ret = tap_bootstrap_quantiles((struct tap_blocks){ a->blocks[w], a->nr_blocks },
					      (struct tap_blocks){ b->blocks[w], b->nr_blocks },
					      parts, TAP_DIFF_PARTS, intervals);
		for (unsigned int i = 0; !ret && i < TAP_DIFF_PARTS; i++) {
			row = &d->within[d->nr_within];
			*row = (struct tap_diff_within){
				.a = (double)tap_hist_quantile(of_a, parts[i]),
				.b = (double)tap_hist_quantile(of_b, parts[i]),
				.interval = intervals[i],
			};
			snprintf(row->name, sizeof(row->name), "latency.%s.%s", waits[w],
				 part_names[i]);
			d->nr_within += wants_metric(d, row->name);
		}
	}
	return ret;
}

/* ---- one run ---- */

static int init_diff(struct tap_diff *d, struct tap_err *err)
{
	const struct tap_diff_sides *s = d->sides;

	d->measured = calloc(nr_all(d) + 1, sizeof(*d->measured));
	if (!d->measured)
		return tap_err_nomem(err);
	for (unsigned int i = 0; i < nr_all(d); i++)
		d->measured[i].path = i < s->nr_a ? s->a[i] : s->b[i - s->nr_a];
	return check_files(d, err);
}

static int calculate_diff(struct tap_diff *d, struct tap_err *err)
{
	int ret;

	count_sides(d);
	ret = compare_metrics(d);
	if (!ret && is_pair(d) && !is_by_task(d->opts))
		ret = compare_within(d);
	for (enum tap_fact what = 0; what < TAP_NR_FACTS; what++)
		compare_fact(d, what);
	count_losses(d);
	count_noisy(d);
	collect_notes(d);
	if (ret || d->warnings.err)
		return tap_err_nomem(err);
	/* the first recording's notes name the option, and similar names */
	if (count_unmatched(d) == nr_all(d))
		return tap_err_set(err, -ENODATA, "%s", tap_buf_str(&d->measured[0].notes));
	if (d->comparison.nr)
		return 0;
	if (d->opts->metrics.nr)
		return tap_err_set(err, -ENODATA,
				   "-m '%.100s' matches no metric that all %ss have and that "
				   "differs from 0",
				   d->opts->metrics.v[0], d->sample);
	return tap_err_set(
		err, -ENODATA,
		"there is nothing to compare: no metric that all %ss have differs from 0",
		d->sample);
}

int tap_diff_run(const struct tap_diff_opts *opts, const struct tap_diff_sides *sides,
		 const struct tap_screen *screen, bool *usage, struct tap_err *err)
{
	struct tap_diff d = { .opts = opts, .sides = sides };
	struct tap_measured_opts how = how_to_measure(opts);
	int ret;

	how.has_blocks = is_pair(&d) && !is_by_task(opts);
	how.has_paths = opts->metrics.nr && wants_metric(&d, "critical.waiting.share");
	*usage = true;
	ret = tap_diff_check(opts, false, err) ?:
	      read_min_effect(opts->min_effect, &d.min_effect, err) ?:
	      init_diff(&d, err);
	if (!ret)
		ret = tap_measured_read(d.measured, nr_all(&d), &how, usage, err);
	ret = ret ?: check_kinds(&d, err) ?: calculate_diff(&d, err) ?: tap_diff_show(&d, screen, err);
	for (unsigned int i = 0; d.measured && i < nr_all(&d); i++)
		tap_measured_release(&d.measured[i]);
	free(d.measured);
	tap_comparison_release(&d.comparison);
	tap_buf_release(&d.warnings);
	return ret;
}
