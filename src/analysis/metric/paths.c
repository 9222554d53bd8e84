// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/metric/paths.h"

#include <errno.h>
#include <math.h>

int tap_paths_init(struct tap_paths *p)
{
	p->watch.command = p->all_tasks ? p->opts.command : 0;
	p->walk.log = &p->watch.log;
	return tap_event_stacks_are_in(p->survey)
		       ? tap_event_stacks_new(p->opts.info, p->survey, &p->watch.stacks)
		       : 0;
}

void tap_paths_release(struct tap_paths *p)
{
	tap_event_stacks_free(p->watch.stacks);
	tap_critical_watch_release(&p->watch);
	tap_requests_release(&p->requests);
	tap_request_times_release(&p->times);
	tap_walk_release(&p->walk);
}

unsigned int tap_paths_add_watchers(struct tap_paths *p, struct tap_watcher *v)
{
	unsigned int nr = 0;

	if (p->watch.stacks)
		v[nr++] = (struct tap_watcher){ .ops = &tap_event_stacks_ops,
						.ctx = p->watch.stacks };
	v[nr++] = (struct tap_watcher){ .ops = &tap_critical_watch_ops, .ctx = &p->watch };
	p->request_watch = (struct tap_request_watch){ p->opts.requests, &p->requests };
	if (p->opts.requests)
		v[nr++] = (struct tap_watcher){ .ops = &tap_request_watch_ops,
						.ctx = &p->request_watch };
	return nr;
}

/* ---- metrics ---- */

const char *tap_request_time_name(unsigned int i)
{
	return i == 0 ? "all" : i == 1 ? "others" : tap_path_state_name(i - 2);
}

const struct tap_hist *tap_request_time(const struct tap_request_times *t, unsigned int i)
{
	return i == 0 ? &t->all : i == 1 ? &t->others : &t->states[i - 2];
}

static int add_path(struct tap_paths *p, const struct tap_timeline *t, const struct tap_task *task)
{
	struct tap_window life = tap_critical_watch_life(&p->watch, t, task);
	struct tap_path path = { 0 };
	int ret = tap_path_find(&path, &p->walk, task->index, life.from_ns, life.to_ns);

	p->tasks.ns += path.all.ns;
	for (unsigned int s = 0; s < TAP_NR_PATH_STATES; s++)
		p->tasks.state_ns[s] += path.all.state_ns[s];
	tap_path_release(&path);
	return ret;
}

static int add_paths(struct tap_paths *p, const struct tap_timeline *t, struct tap_metrics *out)
{
	bool is_over = p->all_tasks && !p->watch.command;
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(t, &nr);
	int ret = 0;

	for (unsigned int i = 0; !ret && !is_over && i < nr; i++) {
		if (!tap_task_life_ns(t, tasks[i]) ||
		    !(p->all_tasks ? tasks[i]->tid == p->watch.command : tasks[i]->selected))
			continue;
		ret = add_path(p, t, tasks[i]);
		is_over = p->all_tasks; /* later tasks may have reused the command's tid */
	}
	return ret
		       ?: tap_metrics_add(
				  out, TAP_METRIC_PCT, TAP_BETTER_LESS,
				  p->tasks.ns ? 100 * (double)tap_path_scheduling_ns(&p->tasks) /
							(double)p->tasks.ns
					      : NAN,
				  "critical.waiting.share");
}

static int add_times(const struct tap_request_times *t, unsigned int i, struct tap_metrics *out)
{
	const struct tap_hist *h = tap_request_time(t, i);
	const char *name = tap_request_time_name(i);
	int ret = 0;

	for (unsigned int k = 0; !ret && k < TAP_NR_QUANTILES - 1; k++)
		ret = tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS,
				      (double)tap_hist_quantile(h, tap_quantiles[k].part),
				      "critical.between.%s.%s", name, tap_quantiles[k].name);
	return ret
		       ?: tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, (double)h->max,
					  "critical.between.%s.max", name);
}

static int add_requests(struct tap_paths *p, const struct tap_timeline *t, struct tap_metrics *out)
{
	double all_ns;
	int ret;

	tap_requests_end(&p->requests);
	tap_requests_keep_selected(&p->requests, t);
	ret = tap_requests_add_up(&p->requests, &p->walk, &p->times);
	if (ret || !p->requests.nr)
		return ret;
	for (unsigned int i = 0; !ret && i < TAP_NR_REQUEST_TIMES; i++)
		ret = add_times(&p->times, i, out);
	all_ns = (double)p->times.all.sum;
	return ret
		       ?: tap_metrics_add(out, TAP_METRIC_PCT, TAP_BETTER_LESS,
					  all_ns ? 100 *
							   (double)tap_request_times_scheduling_ns(
								   &p->times) /
							   all_ns
						 : NAN,
					  "critical.between.waiting.share");
}

int tap_paths_end(struct tap_paths *p, const struct tap_timeline *t, struct tap_metrics *out)
{
	int ret = p->opts.of_tasks ? add_paths(p, t, out) : 0;

	return ret || !p->opts.requests ? ret : add_requests(p, t, out);
}
