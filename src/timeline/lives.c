// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/lives.h"

#include <errno.h>

#include "timeline/stretches.h"

/* @old: who had its tid, or NULL. @born: its birth is seen. Return: NULL when out of memory. */
static struct task *add(struct tap_timeline *t, int tid, const struct task *old, bool born, uint64_t born_ns)
{
	struct task *task = tap_tasks_add(&t->tasks, tid, born_ns);

	if (!task)
		return NULL;
	task->hidden = t->opts.survey && tap_survey_is_hidden(t->opts.survey, tid);
	task->reused = old;
	task->born = born;
	tap_task_set_listed(task, t->opts.lists);
	return task;
}

int tap_task_see(struct tap_timeline *t, int tid, struct task **out)
{
	*out = tap_tasks_find(&t->tasks, tid);
	if (*out || tid <= 0 || tid >= (int)TAP_MAX_TIDS)
		return 0;
	*out = add(t, tid, NULL, false, t->start_ns);
	return *out ? 0 : -ENOMEM;
}

int tap_task_get(struct tap_timeline *t, int tid, const struct tap_field *comm,
		 const struct tap_event *ev, struct task **out)
{
	struct task *task;
	int ret;

	*out = tap_tasks_find(&t->tasks, tid);
	if (*out)
		return 0;
	ret = tap_task_see(t, tid, out);
	task = *out;
	if (!task)
		return ret;
	if (ev->ts_ns < t->start_ns) /* fed before the window */
		task->pub.since_ns = ev->ts_ns;
	tap_task_set_comm(task, comm, ev);
	return 0;
}

int tap_task_end(struct tap_timeline *t, struct task *task, uint64_t now, bool fits,
		 const char *end)
{
	int ret;

	if (task->pub.state == TAP_DEAD)
		return 0;
	ret = tap_task_change(t, task, &(struct transition){
		.next = TAP_DEAD, .ts_ns = now, .fits = fits, .end = end, .next_cpu = -1,
	});
	task->pub.died_ns = now;
	tap_task_set_listed(task, t->opts.lists);
	return ret;
}

/* Another task has its tid from now on. */
static int replace(struct tap_timeline *t, struct task **task, bool born, uint64_t now)
{
	struct task *old = *task;
	int ret = tap_task_end(t, old, now, false, "");

	if (ret)
		return ret;
	*task = add(t, old->pub.tid, old, born, now);
	return *task ? 0 : -ENOMEM;
}

int tap_task_begin(struct tap_timeline *t, int tid, uint64_t now, struct task **out)
{
	*out = tap_tasks_find(&t->tasks, tid);
	if (*out)
		return replace(t, out, true, now);
	*out = add(t, tid, NULL, true, now);
	return *out ? 0 : -ENOMEM;
}

int tap_task_replace_dead(struct tap_timeline *t, struct task **task,
			  const struct tap_field *comm, const struct tap_event *ev)
{
	int ret;

	if (!*task || (*task)->pub.state != TAP_DEAD)
		return 0;
	ret = replace(t, task, false, ev->ts_ns);
	if (ret)
		return ret;
	(*task)->seen = true; /* it was at work before this, so a waking proves nothing */
	tap_task_set_comm(*task, comm, ev);
	return 0;
}
