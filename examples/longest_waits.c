/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The longest wait for a CPU of each task, after a wakeup: what `schedtap latency` calls its max.
 *
 *   cc longest_waits.c $(pkg-config --cflags --libs schedtap) -o longest_waits
 *   ./longest_waits trace.dat
 */
#include <stdio.h>
#include <stdlib.h>

#include <schedtap/run.h>

struct longest {
	uint64_t *ns; /* by task's index */
	unsigned int nr;
};

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct longest *l = ctx;
	unsigned int index = tap_task_index(s->task);
	uint64_t ns = s->to_ns - s->from_ns;

	(void)t;
	/* when it began or how it ended is not known */
	if (!s->whole || s->next != TAP_STATE_RUNNING)
		return 0;
	for (; l->nr <= index; l->nr++) {
		l->ns = realloc(l->ns, (l->nr + 1) * sizeof(*l->ns));
		if (!l->ns)
			abort();
		l->ns[l->nr] = 0;
	}
	if (ns > l->ns[index])
		l->ns[index] = ns;
	return 0;
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	const struct longest *l = ctx;
	unsigned int nr_tasks;
	struct tap_task *const *tasks = tap_timeline_tasks(t, &nr_tasks);

	for (unsigned int i = 0; i < nr_tasks && i < l->nr; i++) {
		size_t len;
		const char *comm = tap_task_comm(tasks[i], &len);

		if (l->ns[i])
			printf("%.*s %d %ju\n", (int)len, comm, tap_task_tid(tasks[i]),
			       (uintmax_t)l->ns[i]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct tap_watcher_ops ops = { .size = sizeof(ops),
					     .states = TAP_STATE_BIT(TAP_STATE_WAKING),
					     .interval = on_interval,
					     .end = on_end };
	struct longest longest = { 0 };
	const struct tap_watcher watcher = { .ops = &ops, .ctx = &longest };
	struct tap_reader *reader = NULL;
	struct tap_err err;

	if (argc != 2 || tap_reader_open(argv[1], &reader, &err) ||
	    tap_run(reader, NULL, &watcher, 1, &err)) {
		fprintf(stderr, "%s\n", argc == 2 ? err.text : "usage: longest_waits FILE");
		return 1;
	}
	tap_reader_free(reader);
	free(longest.ns);
	return 0;
}
