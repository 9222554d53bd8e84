// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/latency.h"
#include "analysis/library/by_tid.h"
#include "analysis/library/handle.h"

struct tap_latencies {
	struct tap_latency latency;
	struct tap_map by_tid;
	struct tap_latency_figures figures; /* result of the last getter */
};

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_latencies *h = ctx;

	return tap_latency_ops.interval(&h->latency, t, s);
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	struct tap_latencies *h = ctx;

	return tap_latency_ops.end(&h->latency, t) ?: tap_by_tid_fill(&h->by_tid, t);
}

#define WAITS                                                                                      \
	(TAP_STATE_BIT(TAP_STATE_WAKING) | TAP_STATE_BIT(TAP_STATE_PREEMPTED) |                    \
	 TAP_STATE_BIT(TAP_STATE_THROTTLED))

static const struct tap_watcher_ops ops = {
	.size = sizeof(ops),
	.states = TAP_STATE_BIT(TAP_STATE_UNKNOWN) | WAITS,
	.lost_states = WAITS,
	.interval = on_interval,
	.end = on_end,
};

struct tap_latencies *tap_latencies_new(enum tap_state state, struct tap_err *err)
{
	struct tap_latencies *h;

	if (state != TAP_STATE_WAKING && state != TAP_STATE_PREEMPTED &&
	    state != TAP_STATE_THROTTLED) {
		tap_err_set(
			err, -EINVAL,
			"latencies are of the states waking, preempted and throttled, not of %d",
			(int)state);
		return NULL;
	}
	h = tap_handle_new(sizeof(*h), err);
	if (!h || !tap_latency_init(&h->latency, state, 0))
		return h;
	tap_latencies_free(h);
	tap_err_nomem(err);
	return NULL;
}

void tap_latencies_free(struct tap_latencies *h)
{
	if (!h)
		return;
	tap_latency_release(&h->latency);
	tap_map_release(&h->by_tid);
	free(h);
}

struct tap_watcher tap_latencies_watcher(struct tap_latencies *h)
{
	return (struct tap_watcher){
		.ops = &ops,
		.ctx = h,
		.states = h ? TAP_LATENCY_STATES(h->latency.state) : 0,
		.pick = TAP_PICK_TASKS | TAP_PICK_CPUS,
	};
}

static const struct tap_latency_figures *fill_figures(struct tap_latencies *h,
						      const struct tap_latency_stat *s)
{
	struct tap_latency_figures *f = &h->figures;

	*f = (struct tap_latency_figures){ .count = s->waits.count, .censored = s->censored };
	if (!s->waits.count)
		return f;
	f->min_ns = s->waits.min;
	f->avg_ns = (uint64_t)(tap_hist_mean(&s->waits) + 0.5);
	f->max_ns = s->waits.max;
	f->p50_ns = tap_hist_quantile(&s->waits, 0.5);
	f->p90_ns = tap_hist_quantile(&s->waits, 0.9);
	f->p99_ns = tap_hist_quantile(&s->waits, 0.99);
	f->max_at_ns = s->max_at_ns;
	return f;
}

const struct tap_latency_figures *tap_latencies_all(struct tap_latencies *h)
{
	return fill_figures(h, &h->latency.all);
}

const struct tap_latency_figures *tap_latencies_task(struct tap_latencies *h, int tid)
{
	const struct tap_latency_stat *s;
	unsigned int index;

	if (!tap_by_tid_find(&h->by_tid, tid, &index) || index >= h->latency.nr_tasks)
		return NULL;
	s = &h->latency.tasks[index];
	return s->waits.count || s->censored ? fill_figures(h, s) : NULL;
}
