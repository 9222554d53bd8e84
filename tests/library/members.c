/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * members FILE: every function of struct tap_watcher_ops is called at least once. The recording
 * needs a fork, a wakeup, a migration and lost events. A function that is added to the struct makes
 * this fail until it is called here, too.
 */
#include <stdio.h>
#include <string.h>

#include <schedtap/run.h>

#define FIRST offsetof(struct tap_watcher_ops, begin)
#define NR ((sizeof(struct tap_watcher_ops) - FIRST) / sizeof(void (*)(void)))
#define CALLED(member)                                                                             \
	(called[(offsetof(struct tap_watcher_ops, member) - FIRST) / sizeof(void (*)(void))] = 1)

static int called[NR];

static int on_begin(void *ctx, const struct tap_timeline *t)
{
	(void)ctx, (void)t, CALLED(begin);
	return 0;
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	(void)ctx, (void)t, (void)s, CALLED(interval);
	return 0;
}

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	(void)ctx, (void)t, (void)s, CALLED(cpu);
	return 0;
}

static int on_wakeup(void *ctx, const struct tap_timeline *t, const struct tap_wakeup *w)
{
	(void)ctx, (void)t, (void)w, CALLED(wakeup);
	return 0;
}

static int on_migration(void *ctx, const struct tap_timeline *t, const struct tap_migration *m)
{
	(void)ctx, (void)t, (void)m, CALLED(migration);
	return 0;
}

static int on_waits(void *ctx, const struct tap_timeline *t, struct tap_task *task, uint64_t ts_ns)
{
	(void)ctx, (void)t, (void)task, (void)ts_ns, CALLED(waits);
	return 0;
}

static bool wants(void *ctx, const struct tap_format *fmt)
{
	(void)ctx, (void)fmt, CALLED(wants);
	return true;
}

static int before(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	(void)ctx, (void)t, (void)ev, CALLED(before);
	return 0;
}

static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	(void)ctx, (void)t, (void)ev, CALLED(event);
	return 0;
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	(void)ctx, (void)t, CALLED(end);
	return 0;
}

int main(int argc, char **argv)
{
	const struct tap_watcher_ops ops = {
		.size = sizeof(ops),
		.states = TAP_STATE_ALL,
		.begin = on_begin,
		.interval = on_interval,
		.cpu = on_cpu,
		.wakeup = on_wakeup,
		.migration = on_migration,
		.waits = on_waits,
		.wants = wants,
		.before = before,
		.event = on_event,
		.end = on_end,
	};
	const struct tap_watcher watcher = { .ops = &ops };
	struct tap_err err = { .text = "usage: members FILE" };
	struct tap_reader *reader = NULL;
	int missing = 0;

	if (argc != 2 || tap_reader_open(argv[1], &reader, &err) ||
	    tap_run(reader, NULL, &watcher, 1, &err))
		return fprintf(stderr, "%s\n", err.text), 1;
	tap_reader_free(reader);
	for (unsigned int i = 0; i < NR; i++) {
		if (!called[i])
			fprintf(stderr, "the function at offset %zu was not called\n",
				FIRST + i * sizeof(void (*)(void)));
		missing |= !called[i];
	}
	return missing;
}
