// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/timeline.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/fast_path.h"
#include "timeline/holes.h"
#include "timeline/intervals.h"
#include "timeline/lives.h"

const char *tap_state_name(enum tap_state state)
{
	static const char *const names[TAP_NR_STATES] = {
		"unknown", "running", "preempted", "waking",	"sleeping",
		"blocked", "stopped", "dead",	   "throttled",
	};

	return names[state];
}

int tap_timeline_new(const struct tap_timeline_opts *opts, struct tap_timeline **out)
{
	struct tap_timeline *t = calloc(1, sizeof(*t));
	const struct tap_survey *s = opts->survey;

	*out = NULL;
	if (!t)
		return -ENOMEM;
	t->opts = *opts;
	tap_watchers_init(&t->watchers, opts->watchers, opts->nr_watchers, &opts->selected);
	for (unsigned int i = 0; i < TAP_NR_SCHED_KINDS; i++)
		t->buffer[i] = s ? s->buffer[i] : TAP_NO_BUFFER;
	t->has_waking = s && s->buffer[TAP_SCHED_WAKING] != TAP_NO_BUFFER;
	t->has_wakeup = s && s->buffer[TAP_SCHED_WAKEUP] != TAP_NO_BUFFER;
	t->has_queueings = s && tap_survey_has_queueings(s);
	t->no_wakeups = s && !tap_survey_has_wakeups(s) && !t->has_queueings;
	t->has_migrate = s && s->buffer[TAP_SCHED_MIGRATE] != TAP_NO_BUFFER;
	t->has_breaks = s && s->has_breaks;
	t->lacks_cpus = opts->promise && opts->promise->cpus;
	t->switch_fmt = t->waking_fmt = t->lean_fmt = &t->no_format;
	t->next_break_ns = s && s->nr_breaks ? 0 : UINT64_MAX;
	t->max_cpus = opts->nr_cpus ? 0 : (int)TAP_MAX_CPUS;
	tap_holes_await(t);
	if (tap_sched_formats_init(&t->formats) ||
	    tap_cpu_add(t, opts->nr_cpus < TAP_MAX_CPUS ? opts->nr_cpus : TAP_MAX_CPUS)) {
		tap_timeline_free(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void tap_timeline_free(struct tap_timeline *t)
{
	if (!t)
		return;
	tap_tasks_release(&t->tasks);
	tap_prev_states_release(&t->prev_states);
	tap_sched_formats_release(&t->formats);
	free(t->cpus);
	free(t);
}

bool tap_timeline_wants(const struct tap_format *fmt, bool cgroups)
{
	enum tap_sched_kind kind = tap_sched_kind(fmt);

	return kind != TAP_SCHED_NONE && kind != TAP_SCHED_HOTPLUG &&
	       (kind != TAP_SCHED_CGROUP_NAMED || cgroups);
}

bool tap_timeline_tells_identity(const struct tap_format *fmt)
{
	const unsigned int kinds = 1u << TAP_SCHED_SWITCH | 1u << TAP_SCHED_WAKEUP_NEW |
				   1u << TAP_SCHED_NEWTASK | 1u << TAP_SCHED_FORK |
				   1u << TAP_SCHED_EXEC | 1u << TAP_SCHED_RENAME |
				   1u << TAP_SCHED_CGROUP_ATTACH;

	return kinds >> tap_sched_kind(fmt) & 1;
}

/* Time stamps of a damaged file may go backwards: take such an event as of now. */
static __attribute__((noinline, cold)) int late_event(struct tap_timeline *t,
						      const struct tap_event *ev)
{
	struct tap_event later = *ev;

	later.ts_ns = t->now_ns;
	return tap_timeline_event(t, &later);
}

/* Handle an event of a new CPU, format or buffer. Return: 1 if the event counts; 0; -errno. */
static __attribute__((noinline, cold)) int check_new(struct tap_timeline *t,
						     const struct tap_event *ev)
{
	struct tap_sched_fields *f;

	if (ev->cpu < 0 || ev->cpu >= (int)TAP_MAX_CPUS)
		return 0;
	if (tap_cpu_add(t, (unsigned int)ev->cpu + 1))
		return -ENOMEM;
	t->cpus[ev->cpu].seen = true;
	f = tap_sched_formats_add(&t->formats, ev->fmt);
	if (!f)
		return -ENOMEM;
	if (f->kind == TAP_SCHED_NONE)
		return 0;
	/* if several buffers have events of a kind, those of one buffer count */
	if (t->buffer[f->kind] == TAP_NO_BUFFER)
		t->buffer[f->kind] = ev->buffer;
	f->buffer = t->buffer[f->kind];
	if (f->kind == TAP_SCHED_WAKING && f->plain) {
		t->waking_fmt = f->fmt;
		t->wakings = f;
	}
	return f->buffer == ev->buffer;
}

/* Process an event that the fast path did not. Return: 0 or -errno. */
static __attribute__((noinline)) int take_other(struct tap_timeline *t, const struct tap_event *ev)
{
	const struct tap_sched_fields *f;
	int ret;

	if (!ev->fmt)
		return tap_loss_take(t, ev);
	f = t->formats.by_id[ev->fmt->id];
	if (!f || f->buffer != ev->buffer || (unsigned int)ev->cpu >= t->nr_cpus) {
		ret = check_new(t, ev);
		if (ret <= 0)
			return ret;
		f = t->formats.by_id[ev->fmt->id];
	}
	t->cpus[ev->cpu].seen = true;
	ret = tap_event_take(t, f, ev);
	/* switches are off on an unknown CPU: what runs after the event is not known */
	return ret || ev->ts_ns >= t->off_end_ns
		       ? ret
		       : tap_cpu_lose(t, (unsigned int)ev->cpu, ev->ts_ns);
}

static inline int process_event(struct tap_timeline *t, const struct tap_event *ev)
{
	int ret = 0;

	if (__builtin_expect(ev->ts_ns < t->now_ns, 0))
		return late_event(t, ev);
	t->now_ns = ev->ts_ns;
	if (__builtin_expect(ev->ts_ns >= t->next_hole_ns, 0)) {
		ret = tap_holes_begin(t, ev->ts_ns);
		if (ret)
			return ret;
	}
	if (ev->ts_ns - t->fast_from_ns < t->fast_ns && (unsigned int)ev->cpu < t->nr_cpus) {
		if (ev->fmt == t->switch_fmt && ev->buffer == t->switches->buffer)
			ret = tap_fast_switch(t, ev, false);
		else if (ev->fmt == t->waking_fmt && ev->buffer == t->wakings->buffer)
			ret = tap_fast_waking(t, ev);
		else if (ev->fmt == t->lean_fmt && ev->buffer == t->switches->buffer)
			ret = tap_fast_switch(t, ev, true);
	}
	if (__builtin_expect(!ret, 0))
		return take_other(t, ev);
	return ret < 0 ? ret : 0;
}

/* Process an event for a timeline that tracks only lives, which holes do not affect. */
static inline int process_event_lives(struct tap_timeline *t, const struct tap_event *ev)
{
	if (__builtin_expect(ev->ts_ns < t->now_ns, 0))
		return late_event(t, ev);
	t->now_ns = ev->ts_ns;
	if (ev->fmt == t->switch_fmt && ev->buffer == t->switches->buffer &&
	    tap_fast_switch_of_lives(t, ev))
		return 0;
	return take_other(t, ev);
}

int tap_timeline_events(struct tap_timeline *t, const struct tap_event *const *events,
			unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		int ret = t->opts.lives_only ? process_event_lives(t, events[i])
					     : process_event(t, events[i]);

		if (ret)
			return ret;
	}
	return 0;
}

int tap_timeline_end(struct tap_timeline *t)
{
	int ret = tap_holes_begin(t, t->opts.window.to_ns);

	for (unsigned int i = 0; !ret && i < t->nr_cpus; i++) {
		ret = tap_cpu_close(t, &t->cpus[i], t->opts.window.to_ns);
		assert(ret || t->cpus[i].run_ns + t->cpus[i].idle_ns + t->cpus[i].offline_ns +
					      t->cpus[i].outside_ns + t->cpus[i].unknown_ns ==
				      tap_window_ns(&t->opts.window));
	}
	for (unsigned int i = 0; !ret && i < t->tasks.nr; i++)
		ret = tap_task_close(t, tap_task_whole(t->tasks.all[i]));
	return ret ? ret : tap_watchers_end(&t->watchers, t);
}

int tap_timeline_see(struct tap_timeline *t, int tid, struct tap_task **out)
{
	struct task *task;
	int ret = tap_task_see(t, tid, &task);

	*out = tap_task_pub(task);
	return ret;
}

/* Return true if a CPU is thought to run the task. A dead task, whose tid was reused, may be. */
static bool is_on_cpu(const struct tap_timeline *t, const struct tap_task *task)
{
	for (unsigned int i = 0; i < t->nr_cpus; i++)
		if (t->cpus[i].task == task)
			return true;
	return false;
}

void tap_timeline_forget(struct tap_timeline *t, uint64_t ns,
			 void (*forget)(void *ctx, const struct tap_task *task), void *ctx)
{
	for (unsigned int i = 0; i < t->tasks.nr; i++) {
		struct task *task = tap_task_whole(t->tasks.all[i]);

		if (task->pub.state != TAP_STATE_DEAD || task->forgotten ||
		    task->pub.since_ns >= ns || is_on_cpu(t, &task->pub))
			continue;
		forget(ctx, &task->pub);
		tap_tasks_forget(&t->tasks, task);
	}
}

uint64_t tap_timeline_sure_until(const struct tap_timeline *t, const struct tap_task *task)
{
	const struct task *whole = tap_task_whole((struct tap_task *)task);

	if (tap_phase_is_doubtful(whole->phase) || whole->hidden)
		return task->since_ns;
	return tap_task_is_touched(t, whole) ? tap_touched_from(t, whole) : UINT64_MAX;
}

bool tap_timeline_is_certain(const struct tap_timeline *t, const struct tap_task *task)
{
	return task->state != TAP_STATE_UNKNOWN && tap_timeline_sure_until(t, task) == UINT64_MAX;
}

bool tap_timeline_had(const struct tap_timeline *t, const struct tap_task *task)
{
	const struct task *whole = tap_task_whole((struct tap_task *)task);

	return t->opts.lives_only ||
	       (tap_task_life_ns(t, task) && (!t->opts.promise || whole->kept));
}
