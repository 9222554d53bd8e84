// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/cpus.h"

#include <errno.h>

#include "base/array.h"
#include "timeline/intervals.h"

int tap_cpu_add(struct tap_timeline *t, unsigned int nr)
{
	if (nr <= t->nr_cpus)
		return 0;
	if (!tap_array_at(&t->cpus, &t->cap_cpus, nr - 1, sizeof(*t->cpus), NULL))
		return -ENOMEM;
	for (; t->nr_cpus < nr; t->nr_cpus++)
		t->cpus[t->nr_cpus].outside = !tap_promise_has_cpu(t->opts.promise, t->nr_cpus);
	if (t->max_cpus < (int)nr)
		t->max_cpus = (int)nr;
	return 0;
}

/*
 * Report an interval to watchers with .early. @from_ns: its start, which may be before the window.
 */
static int report_early(struct tap_timeline *t, struct tap_cpu_interval s, uint64_t from_ns,
			uint64_t to_ns)
{
	s.from_ns = from_ns;
	s.to_ns = to_ns < t->opts.window.to_ns ? to_ns : t->opts.window.to_ns;
	return s.to_ns > s.from_ns
		       ? tap_watchers_cpu(&t->watchers, &t->watchers.of_early_cpus, t, &s)
		       : 0;
}

int tap_cpu_tell(struct tap_timeline *t, const struct tap_cpu *c, uint64_t from_ns, uint64_t to_ns)
{
	const struct tap_watcher_list *to =
		c->known ? &t->watchers.of_cpus : &t->watchers.of_unknown_cpus;
	const struct tap_watcher_list *early = &t->watchers.of_early_cpus;
	struct tap_cpu_interval s;
	int ret = 0;

	if (!to->nr && !early->nr)
		return 0;
	s = (struct tap_cpu_interval){
		.cpu = (int)(c - t->cpus),
		.task = c->known ? c->task : NULL,
		.from_ns = tap_window_clip(&t->opts.window, from_ns),
		.to_ns = tap_window_clip(&t->opts.window, to_ns),
		.what = tap_cpu_what(c),
		.outside = !c->known && c->outside,
		.unseen = c->known == TAP_CPU_KNOWN_UNSEEN,
	};
	if (early->nr)
		ret = report_early(t, s, from_ns, to_ns);
	return ret || s.to_ns <= s.from_ns ? ret : tap_watchers_cpu(&t->watchers, to, t, &s);
}

int tap_cpu_close(struct tap_timeline *t, struct tap_cpu *c, uint64_t now)
{
	uint64_t from = c->since_ns, *sum = &c->run_ns;

	if (now < from) /* a loss may begin before the CPU's last event */
		return 0;
	if (!c->known)
		sum = c->offline ? &c->offline_ns : c->outside ? &c->outside_ns : &c->unknown_ns;
	else if (!c->task)
		sum = &c->idle_ns;
	*sum += tap_window_part_ns(&t->opts.window, from, now);
	c->since_ns = now;
	return tap_cpu_tell(t, c, from, now);
}

static bool runs_on(const struct tap_task *task, unsigned int cpu)
{
	return task->state == TAP_STATE_RUNNING && task->cpu == (int)cpu;
}

int tap_cpu_lose(struct tap_timeline *t, unsigned int cpu, uint64_t now)
{
	struct tap_cpu *c = &t->cpus[cpu];
	struct task *task = tap_task_whole(c->known ? c->task : NULL);
	int ret = tap_cpu_close(t, c, now);

	if (!ret && task && runs_on(&task->pub, cpu)) {
		/* it ran until now, but its slice is not complete */
		ret = tap_task_change(t, task,
				      &(struct transition){
					      .next = TAP_STATE_UNKNOWN,
					      .ts_ns = c->since_ns,
					      .fits = true,
					      .next_cpu = -1,
					      .cut = true,
				      });
	}
	c->known = c->offline = c->unfit = false;
	c->outside = !tap_promise_has_cpu(t->opts.promise, cpu);
	c->cut = true;
	c->task = NULL;
	return ret;
}

void tap_cpu_break(struct tap_timeline *t, unsigned int cpu)
{
	struct tap_cpu *c = &t->cpus[cpu];
	struct task *task = tap_task_whole(c->task);

	c->known = c->outside = false;
	c->task = NULL;
	if (task && runs_on(&task->pub, cpu))
		tap_task_enter(task, TAP_STATE_UNKNOWN, task->pub.since_ns);
}

void tap_cpu_break_of(struct tap_timeline *t, const struct task *task)
{
	t->cpus[task->pub.cpu].unfit = true;
	tap_cpu_break(t, (unsigned int)task->pub.cpu);
}
