// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/origins.h"

#include <errno.h>

#include "timeline/cpus.h"
#include "timeline/intervals.h"
#include "timeline/lives.h"

/*
 * Let the task run from now on; it began to run at an unknown earlier time. If a hole overlaps its
 * last state, that state's end is hidden in the hole.
 */
static int run_task(struct tap_timeline *t, struct task *task, int cpu, uint64_t now)
{
	int ret;

	/* a new task is assumed to have existed since the window's start */
	if (task->pub.since_ns > now)
		task->pub.since_ns = now;
	ret = tap_task_change(t, task,
			      &(struct transition){
				      .next = TAP_STATE_RUNNING,
				      .ts_ns = now,
				      .fits = tap_task_is_touched(t, task),
				      .next_cpu = cpu,
				      .unseen = true,
			      });

	task->phase = TAP_PHASE_RUNNING_UNSEEN;
	task->kept = true;
	task->is_new = false;
	task->woken_running_ns = 0;
	task->pub.from_cpu = -1;
	task->pub.cpu = task->pub.run_cpu = cpu;
	return ret;
}

int tap_origin_begin(struct tap_timeline *t, const struct tap_origin *o)
{
	struct task *task = NULL;
	struct tap_cpu *c;
	int ret;

	if (tap_cpu_add(t, (unsigned int)o->cpu + 1))
		return -ENOMEM;
	c = &t->cpus[o->cpu];
	if (t->now_ns < o->from_ns)
		t->now_ns = o->from_ns;
	ret = o->tid ? tap_task_see_alive(t, o->tid, o->from_ns, &task) : 0;
	/*
	 * events contradict each other, or the file is damaged: leave it to the CPU's first switch
	 */
	if (ret || c->known || c->offline || c->unfit || (o->tid && !task) ||
	    (task && task->pub.state == TAP_STATE_RUNNING))
		return ret;
	ret = tap_cpu_close(t, c, o->from_ns);
	c->since_ns = o->from_ns;
	c->known = TAP_CPU_KNOWN_UNSEEN;
	c->seen = true;
	c->outside = false;
	c->task = tap_task_pub(task);
	return ret || !task ? ret : run_task(t, task, o->cpu, o->from_ns);
}
