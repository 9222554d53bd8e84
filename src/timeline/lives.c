// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/lives.h"

#include <errno.h>

#include "timeline/intervals.h"

/*
 * Add a task. *@out: the task that had the tid before, or NULL; set to the new task, or NULL for
 * invalid tids. @born: its birth was recorded. Return: 0 or -ENOMEM.
 */
static int add_task(struct tap_timeline *t, int tid, bool born, uint64_t born_ns, struct task **out)
{
	bool reused = *out;
	struct task *task;

	*out = NULL;
	if (tid <= 0 || tid >= (int)TAP_MAX_TIDS)
		return 0;
	*out = task = tap_tasks_add(&t->tasks, tid, born_ns);
	if (!task)
		return -ENOMEM;
	task->hidden = t->opts.survey && tap_survey_is_hidden(t->opts.survey, tid);
	task->reused = reused;
	task->born = task->has_delay = born; /* a new task has waited for 0 ns */
	tap_task_set_listed(task, t->opts.lists);
	task->pub.selected = !t->opts.selected.task ||
			     t->opts.selected.task(t->opts.selected.ctx, &task->pub, t->now_ns);
	return 0;
}

int tap_task_see(struct tap_timeline *t, int tid, struct task **out)
{
	*out = tap_tasks_find(&t->tasks, tid);
	return *out ? 0 : add_task(t, tid, false, t->opts.window.from_ns, out);
}

int tap_task_get(struct tap_timeline *t, int tid, const struct tap_field *comm,
		 const struct tap_event *ev, struct task **out)
{
	int ret;

	*out = tap_tasks_find(&t->tasks, tid);
	if (*out)
		return 0;
	ret = tap_task_see(t, tid, out);
	if (!*out)
		return ret;
	if (ev->ts_ns < t->opts.window.from_ns) /* events before the window are fed too */
		(*out)->pub.since_ns = ev->ts_ns;
	tap_task_set_comm(*out, comm, ev);
	return 0;
}

int tap_task_end(struct tap_timeline *t, struct task *task, uint64_t now, bool fits,
		 const char *end)
{
	int ret;

	if (task->pub.state == TAP_STATE_DEAD)
		return 0;
	ret = tap_task_change(t, task,
			      &(struct transition){
				      .next = TAP_STATE_DEAD,
				      .ts_ns = now,
				      .fits = fits,
				      .end = end,
				      .next_cpu = -1,
			      });
	task->pub.died_ns = now;
	tap_task_set_listed(task, t->opts.lists);
	return ret;
}

int tap_task_begin(struct tap_timeline *t, int tid, uint64_t now, struct task **out)
{
	int ret = 0;

	*out = tap_tasks_find(&t->tasks, tid);
	if (*out)
		ret = tap_task_end(t, *out, now, false, "");
	return ret ?: add_task(t, tid, true, now, out);
}

int tap_task_replace_dead(struct tap_timeline *t, struct task **task, const struct tap_field *comm,
			  const struct tap_event *ev)
{
	int ret;

	if (!*task || (*task)->pub.state != TAP_STATE_DEAD)
		return 0;
	ret = add_task(t, (*task)->pub.tid, false, ev->ts_ns, task);
	if (ret)
		return ret;
	/* it existed before this event, so a waking does not prove that it slept */
	tap_task_note_seen(*task);
	tap_task_set_comm(*task, comm, ev);
	return 0;
}

int tap_task_see_alive(struct tap_timeline *t, int tid, uint64_t now, struct task **out)
{
	int ret = tap_task_see(t, tid, out);

	if (ret || !*out || (*out)->pub.state != TAP_STATE_DEAD)
		return ret;
	ret = add_task(t, tid, false, now, out);
	if (!ret && *out)
		tap_task_note_seen(*out);
	return ret;
}

int tap_task_get_alive(struct tap_timeline *t, int tid, const struct tap_field *comm,
		       const struct tap_event *ev, struct task **out)
{
	return tap_task_get(t, tid, comm, ev, out) ?: tap_task_replace_dead(t, out, comm, ev);
}
