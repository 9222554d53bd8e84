// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/wait_feed.h"

#include "explain/sources.h"

struct wait_feed {
	struct tap_explain_waits waits;
	struct tap_explain_sources sources;
};

static int on_interval(void *ctx, const struct tap_interval *s)
{
	return tap_explain_waits_interval(&((struct wait_feed *)ctx)->waits, s);
}

static int on_cpu(void *ctx, const struct tap_cpu_interval *s)
{
	return tap_explain_waits_cpu(&((struct wait_feed *)ctx)->waits, s);
}

static int on_migration(void *ctx, const struct tap_migration *m)
{
	return tap_explain_waits_migration(&((struct wait_feed *)ctx)->waits, m);
}

static int on_waits(void *ctx, struct tap_task *task, uint64_t ts_ns)
{
	(void)ts_ns;
	return tap_explain_waits_begin(&((struct wait_feed *)ctx)->waits, task);
}

static bool wants(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return tap_explain_source_wants(fmt);
}

static int on_event(void *ctx, const struct tap_event *ev)
{
	struct wait_feed *f = ctx;

	return tap_explain_sources_event(&f->sources, &f->waits, ev);
}

int tap_run_feed_waits(struct tap_run *run, const struct tap_explain_waits_opts *opts, struct tap_err *err)
{
	static const struct tap_observer observer = {
		.states = TAP_EXPLAIN_STATES, .lost_states = TAP_EXPLAIN_STATES, .interval = on_interval, .cpu = on_cpu,
		.migration = on_migration, .waits = on_waits,
	};
	static const struct tap_run_events events = { .wants = wants, .event = on_event };
	struct tap_explain_waits_opts of_run = *opts;
	struct wait_feed f = { 0 };
	int ret;

	of_run.timeline = &run->timeline;
	of_run.has_placing = tap_run_has_event(run, "sched_wakeup");
	tap_explain_waits_init(&f.waits, &of_run);
	ret = tap_run_feed(run, &observer, &events, &f, err);
	tap_explain_waits_release(&f.waits);
	tap_explain_sources_release(&f.sources);
	return ret;
}
