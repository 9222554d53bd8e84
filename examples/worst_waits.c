/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The 10 longest waits for a CPU, each with its reasons.
 *
 *   cc worst_waits.c $(pkg-config --cflags --libs schedtap) -o worst_waits
 *   ./worst_waits trace.dat
 */
#include <stdio.h>

#include <schedtap/analyses.h>

int main(int argc, char **argv)
{
	struct tap_err err = { .text = "usage: worst_waits FILE" };
	struct tap_long_waits *waits = tap_long_waits_new(10, &err);
	const struct tap_watcher watcher = tap_long_waits_watcher(waits);
	const struct tap_long_wait *w;
	struct tap_reader *reader = NULL;

	if (argc != 2 || !waits || tap_reader_open(argv[1], &reader, &err) ||
	    tap_run(reader, NULL, &watcher, 1, &err))
		return fprintf(stderr, "%s\n", err.text), 1;
	for (unsigned int i = 0; (w = tap_long_waits_get(waits, i)); i++)
		printf("%s [%d] waited %.3f ms: %s\n", w->name, w->tid,
		       (double)(w->to_ns - w->from_ns) / 1e6, w->text);
	tap_reader_free(reader);
	tap_long_waits_free(waits);
	return 0;
}
