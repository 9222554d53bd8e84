// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * watch SPOOL CONDITION...: measure the overhead of checking conditions for the recording in a
 * spool folder: CPU time per event of the recording. Each condition that matches is printed as a
 * line: TIME TID NAME CONDITION.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <schedtap/reader.h>

#include "base/clock.h"
#include "analysis/condition/watch.h"

#define MAX_CONDITIONS 1000

static void die(const struct tap_err *err)
{
	fprintf(stderr, "watch: %s\n", err->text);
	exit(1);
}

static uint64_t count_events(const char *path)
{
	const struct tap_event *const *events;
	struct tap_reader *r;
	struct tap_err err;
	uint64_t nr = 0;
	int n;

	if (tap_reader_open(path, &r, &err))
		die(&err);
	while ((n = tap_reader_batch(r, &events, &err)) > 0)
		nr += (unsigned int)n;
	tap_reader_free(r);
	return nr;
}

static unsigned long show(struct tap_watch *w)
{
	unsigned long nr = 0;
	struct tap_met met;

	for (; tap_watch_take(w, &met); nr++)
		printf("%" PRIu64 " %d %.16s %s\n", met.at_ns, met.tid, met.comm,
		       tap_condition_text(met.condition));
	return nr;
}

int main(int argc, char **argv)
{
	struct tap_condition *conditions[MAX_CONDITIONS];
	unsigned int nr = 0;
	uint64_t events, ns;
	struct tap_watch *w;
	struct tap_err err;

	if (argc < 3 || argc > MAX_CONDITIONS)
		return 2;
	for (; (int)nr < argc - 2; nr++)
		if (tap_condition_parse(argv[nr + 2], &conditions[nr], &err))
			die(&err);
	events = count_events(argv[1]); /* this also fills the page cache */
	if (tap_watch_new(conditions, nr, argv[1], NULL, &w, &err))
		die(&err);
	ns = -tap_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (tap_watch_read(w, INT64_MAX, &err))
		die(&err);
	ns += tap_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	fprintf(stderr, "%" PRIu64 " events, %.1f ns of CPU each; %lu met, %" PRIu64 " dropped\n",
		events, (double)ns / (double)events, show(w), tap_watch_dropped(w));
	tap_watch_free(w);
	while (nr)
		tap_condition_free(conditions[--nr]);
	return 0;
}
