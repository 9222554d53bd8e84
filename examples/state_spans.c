/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A converter: every state of every task as a span of Chrome's trace event format, which
 * ui.perfetto.dev opens; what is not known is a span of its own.
 *
 *   ./state_spans trace.dat >trace.json
 */
#include <stdio.h>

#include <schedtap/run.h>

static const char *comma = "";

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	(void)ctx;
	(void)t;
	if (s->to_ns == s->from_ns)
		return 0;
	printf("%s\n{\"ph\":\"X\",\"pid\":0,\"tid\":%d,\"name\":\"%s\",\"ts\":%ju.%03ju,\"dur\":%"
	       "ju.%03ju}",
	       comma, tap_task_tid(s->task), tap_state_name(s->state),
	       (uintmax_t)(s->from_ns / 1000), (uintmax_t)(s->from_ns % 1000),
	       (uintmax_t)((s->to_ns - s->from_ns) / 1000),
	       (uintmax_t)((s->to_ns - s->from_ns) % 1000));
	comma = ",";
	return ferror(stdout) ? -1 : 0;
}

static void note(void *ctx, const char *sentence)
{
	(void)ctx;
	fprintf(stderr, "%s\n", sentence);
}

int main(int argc, char **argv)
{
	const struct tap_watcher_ops ops = { .size = sizeof(ops),
					     .states = TAP_STATE_ALL,
					     .interval = on_interval };
	const struct tap_watcher watcher = { .ops = &ops };
	const struct tap_run_opts opts = { .size = sizeof(opts), .note = note };
	struct tap_reader *reader = NULL;
	struct tap_err err;

	if (argc != 2 || tap_reader_open(argv[1], &reader, &err)) {
		fprintf(stderr, "%s\n", argc == 2 ? err.text : "usage: state_spans FILE");
		return 1;
	}
	printf("[");
	if (tap_run(reader, &opts, &watcher, 1, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("\n]\n");
	tap_reader_free(reader);
	return 0;
}
