// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "metric/paths.h"

#include <errno.h>
#include <math.h>

int tap_paths_init(struct tap_paths *p)
{
	p->watch.command = p->task ? 0 : p->opts.command;
	p->walk.log = &p->watch.log;
	return tap_event_stacks_are_in(p->survey) ? tap_event_stacks_new(p->opts.info, p->survey, &p->watch.stacks) : 0;
}

void tap_paths_release(struct tap_paths *p)
{
	tap_event_stacks_free(p->watch.stacks);
	tap_critical_watch_release(&p->watch);
	tap_requests_release(&p->requests);
	tap_request_times_release(&p->times);
	tap_walk_release(&p->walk);
}

static bool is_of_request(const struct tap_paths *p, const struct tap_format *fmt)
{
	return p->opts.requests && tap_request_source_wants(p->opts.requests, fmt);
}

bool tap_paths_want(const struct tap_paths *p, const struct tap_format *fmt)
{
	return tap_critical_watch_wants(&p->watch, fmt) || is_of_request(p, fmt);
}

int tap_paths_event(struct tap_paths *p, const struct tap_event *ev)
{
	struct tap_timeline *timeline = *p->watch.timeline;
	int ret = p->watch.stacks ? tap_event_stacks_ops.event(p->watch.stacks, timeline, ev) : 0;

	if (ret || !ev->fmt || !tap_paths_want(p, ev->fmt))
		return ret;
	ret = tap_critical_watch_event(&p->watch, ev);
	if (!ret && is_of_request(p, ev->fmt) && ev->ts_ns >= tap_timeline_window(timeline).from_ns)
		ret = tap_request_source_event(p->opts.requests, &p->requests, timeline, ev);
	return ret;
}

/* ---- metrics ---------------------------------------------------------------------------------- */

const char *tap_request_time_name(unsigned int i)
{
	return i == 0 ? "all" : i == 1 ? "others" : tap_path_state_name(i - 2);
}

const struct tap_hist *tap_request_time(const struct tap_request_times *t, unsigned int i)
{
	return i == 0 ? &t->all : i == 1 ? &t->others : &t->states[i - 2];
}

static int add_path(struct tap_paths *p, const struct tap_task *task)
{
	struct tap_window life = tap_critical_watch_life(&p->watch, task);
	struct tap_path path = { 0 };
	int ret = tap_path_find(&path, &p->walk, task->index, life.from_ns, life.to_ns);

	p->tasks.ns += path.all.ns;
	for (unsigned int s = 0; s < TAP_NR_PATH_STATES; s++)
		p->tasks.state_ns[s] += path.all.state_ns[s];
	tap_path_release(&path);
	return ret;
}

static int add_paths(struct tap_paths *p, struct tap_metrics *out)
{
	bool is_over = !p->task && !p->watch.command;
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(*p->watch.timeline, &nr);
	int ret = 0;

	for (unsigned int i = 0; !ret && !is_over && i < nr; i++) {
		if (!tap_task_life_ns(*p->watch.timeline, tasks[i]) ||
		    !(p->task ? p->task(p->ctx, tasks[i]) : tasks[i]->tid == p->watch.command))
			continue;
		ret = add_path(p, tasks[i]);
		is_over = !p->task; /* others had the command's tid after it */
	}
	return ret ?: tap_metrics_add(out, TAP_METRIC_PCT, TAP_BETTER_LESS, p->tasks.ns ?
				      100 * (double)tap_path_scheduling_ns(&p->tasks) / (double)p->tasks.ns : NAN,
				      "critical.waiting.share");
}

static int add_times(const struct tap_request_times *t, unsigned int i, struct tap_metrics *out)
{
	const struct tap_hist *h = tap_request_time(t, i);
	const char *name = tap_request_time_name(i);
	int ret = 0;

	for (unsigned int k = 0; !ret && k < TAP_NR_QUANTILES - 1; k++)
		ret = tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, (double)tap_hist_quantile(h, tap_quantiles[k].part),
				      "critical.between.%s.%s", name, tap_quantiles[k].name);
	return ret ?: tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, (double)h->max, "critical.between.%s.max", name);
}

static int add_requests(struct tap_paths *p, struct tap_metrics *out)
{
	double all_ns;
	int ret;

	tap_requests_end(&p->requests);
	if (p->task)
		tap_requests_keep(&p->requests, *p->watch.timeline, p->task, p->ctx);
	ret = tap_requests_add_up(&p->requests, &p->walk, &p->times);
	if (ret || !p->requests.nr)
		return ret;
	for (unsigned int i = 0; !ret && i < TAP_NR_REQUEST_TIMES; i++)
		ret = add_times(&p->times, i, out);
	all_ns = (double)p->times.all.sum;
	return ret ?: tap_metrics_add(out, TAP_METRIC_PCT, TAP_BETTER_LESS, all_ns ?
				      100 * (double)tap_request_times_scheduling_ns(&p->times) / all_ns : NAN,
				      "critical.between.waiting.share");
}

int tap_paths_end(struct tap_paths *p, struct tap_metrics *out)
{
	int ret = p->opts.of_tasks ? add_paths(p, out) : 0;

	return ret || !p->opts.requests ? ret : add_requests(p, out);
}
