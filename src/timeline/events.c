// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/events.h"

#include <errno.h>

#include "timeline/cpus.h"
#include "timeline/holes.h"
#include "timeline/intervals.h"
#include "timeline/lives.h"

/*
 * A wakeup chooses the CPU right after sched_waking, with interrupts off (try_to_wake_up()). This
 * limit is used only where sched_wakeup was not recorded.
 */
#define PLACED_WITHIN_NS 10000u
#define FLAGS_IN_INTERRUPT 0x58 /* TRACE_FLAG_HARDIRQ, TRACE_FLAG_SOFTIRQ, TRACE_FLAG_NMI */

/*
 * End the interval of what the CPU ran until now. Return: 1 if that was certainly @task; 0 if not;
 * -errno.
 */
static int leave_cpu(struct tap_timeline *t, struct tap_cpu *c, const struct task *task,
		     uint64_t now)
{
	bool fits = c->known && tap_task_whole(c->task) == task;
	int ret;

	if (!fits && (c->known || c->unfit)) {
		c->breaks += tap_window_has(&t->opts.window, now);
		/* without a survey this is a new hole: any task may have run here */
		if (!t->opts.survey && c->since_ns < now)
			tap_hole_see(t, now);
		tap_cpu_break(t, (unsigned int)(c - t->cpus));
	}
	c->unfit = false;
	ret = tap_cpu_close(t, c, now);
	return ret ? ret : fits;
}

/*
 * Return the state in which the task was switched out. It is throttled if a sched_throttle came
 * just before the switch. @cut: events before the switch may be missing. @fits: the task ran on
 * this CPU all the time; if not, it may have been switched out and in again in a hole since that
 * sched_throttle.
 */
static enum tap_state left_state(const struct tap_timeline *t, struct task *task,
				 enum tap_state left_as, bool fits, bool cut)
{
	/*
	 * a sched_throttle at the start of a state in which the task did not run belongs to the
	 * switch that began that state
	 */
	bool is_before =
		task->pub.state != TAP_STATE_RUNNING && task->pub.state != TAP_STATE_UNKNOWN;

	if (left_as != TAP_STATE_PREEMPTED)
		return left_as;
	if (!task->throttles_ns || task->throttles_ns < task->pub.since_ns + is_before)
		return cut && t->opts.throttling ? TAP_STATE_UNKNOWN : left_as;
	if (!fits && task->throttles_ns < t->hole_end_ns)
		return TAP_STATE_UNKNOWN;
	task->waited = TAP_STATE_PREEMPTED;
	return TAP_STATE_THROTTLED;
}

/*
 * Return true if a waking came while the task ran and may end the sleep that begins now.
 * sched_wakeup marks the end of a wakeup (ttwu_runnable()), so without sched_waking the answer is
 * no. A hole after the waking may hide another waking, or the end of this one.
 */
static bool is_woken_before(const struct tap_timeline *t, const struct task *task)
{
	return task->phase == TAP_PHASE_ASLEEP && task->woken_running_ns && t->has_waking &&
	       task->woken_running_ns >= t->hole_end_ns;
}

/*
 * Set the phase of a task that was switched out and may have been woken before. If sched_wakeup is
 * recorded, a wakeup without one is still in progress, however early it began. Otherwise the task's
 * next event decides; but an early wakeup is ignored if events are missing without a recorded loss.
 */
static void fall_asleep(const struct tap_timeline *t, struct task *task, uint64_t now)
{
	if (!is_woken_before(t, task))
		task->woken_running_ns = 0;
	if (!task->woken_running_ns) {
		if (task->phase == TAP_PHASE_ASLEEP && t->hole_end_ns &&
		    now - t->hole_end_ns <= TAP_ON_ITS_WAY_OUT_NS)
			task->phase = TAP_PHASE_ASLEEP_DOUBTFUL;
		return;
	}
	if (t->has_wakeup || now - task->woken_running_ns <= TAP_ON_ITS_WAY_OUT_NS)
		task->phase = TAP_PHASE_ASLEEP_WOKEN;
	else if (!t->has_breaks)
		task->phase = TAP_PHASE_ASLEEP_WOKEN_EARLY;
}

static int switch_out(struct tap_timeline *t, const struct tap_sched_fields *f,
		      const struct tap_event *ev, struct task *task, bool fits, bool cut)
{
	const struct tap_prev_state *left_as;
	const uint64_t now = ev->ts_ns;
	int ret;

	fits &= tap_task_rule(task, TAP_SIGN_OUT)->fits;
	if (!fits)
		task->counted_ns = 0;
	task->kept = true;
	tap_task_set_comm(task, f->from_comm, ev);
	left_as = tap_prev_states_get(&t->prev_states, (uint64_t)tap_num_get(&f->value, ev));
	if (!left_as)
		return -ENOMEM;
	if (!fits && task->pub.state == TAP_STATE_RUNNING)
		tap_cpu_break_of(t, task);
	/* the waking came while the task ran, before its CPU's first event */
	if (task->pub.state == TAP_STATE_WAKING)
		task->woken_running_ns = task->pub.woken_ns;
	task->pub.slices += fits && tap_window_has(&t->opts.window, now);
	if (left_as->state == TAP_STATE_DEAD)
		ret = tap_task_end(t, task, now, fits, left_as->text);
	else
		ret = tap_task_change(
			t, task,
			&(struct transition){
				.next = left_state(t, task, left_as->state, fits, cut),
				.ts_ns = now,
				.fits = fits,
				.end = left_as->text,
				.next_cpu = -1,
			});
	task->pub.cpu = task->pub.run_cpu = ev->cpu;
	task->placed = false;
	task->dequeued = f->delayed.size && !tap_num_get(&f->delayed, ev);
	tap_task_note_seen(task);
	fall_asleep(t, task, now);
	return ret;
}

/*
 * A task was woken while it was going to sleep: the wakeup began while the task was on its CPU and
 * was still in progress when the task left it. So the task has been runnable since it was switched
 * out.
 */
static int wake_late(struct tap_timeline *t, struct task *task)
{
	task->pub.woken_ns = task->pub.since_ns;
	tap_task_enter(task, TAP_STATE_WAKING, task->pub.since_ns);
	task->phase = TAP_PHASE_WAKING_INFERRED;
	task->woken_running_ns = 0;
	return tap_watchers_waits(&t->watchers, t, tap_task_pub(task), t->now_ns);
}

/* Correct the task's state if the event contradicts it. Return: 0, or what a watcher returned. */
static int amend_state(struct tap_timeline *t, struct task *task, enum tap_sign sign, uint64_t now)
{
	switch (tap_task_rule(task, sign)->amend) {
	case TAP_AMEND_LOSE:
		return tap_task_lose(t, task, now);
	case TAP_AMEND_WAKE_LATE:
		return tap_task_is_touched(t, task) ? tap_task_lose(t, task, now)
						    : wake_late(t, task);
	case TAP_AMEND_BREAK:
		tap_cpu_break_of(t, task);
		return 0;
	default:
		return 0;
	}
}

/*
 * Return how long the task that is switched in was queued, by the kernel's account; -1: the account
 * does not tell. If the task was moved while it was queued, it does so only if there was nothing
 * else to count: the task was seen all the time, and left its run queue when it went to sleep.
 * Since v6.12 the load balancer may move a task that sleeps in a run queue, and the kernel counts
 * the task as queued from then on.
 */
static int64_t told_queued_ns(const struct task *task, int cpu, uint64_t now)
{
	uint64_t ns = now - task->pub.since_ns;

	if ((task->dequeued || task->is_new) && ns < UINT32_MAX)
		return task->queued_ns;
	return task->pub.run_cpu == cpu ? task->pub.queued_ns : -1;
}

/* Return true if the task is new and has not been in a run queue, as far as events show. */
static bool is_unborn(const struct task *task)
{
	return task->is_new && task->born && task->phase == TAP_PHASE_UNSEEN;
}

/* Return true if the sched_switch that switches the sleeping task in shows when it was queued. */
static bool tells_queueing(const struct tap_timeline *t, const struct task *task, int64_t queued_ns,
			   uint64_t now)
{
	return t->has_queueings && (tap_task_is_asleep(task) || is_unborn(task)) &&
	       queued_ns >= 0 && tap_queued_fits(queued_ns, (int64_t)(now - task->pub.since_ns));
}

/*
 * End the sleep of the task that is switched in, or begin its life, at the time when the kernel
 * queued it. Return: 0, or what a watcher returned.
 */
static int wake_when_queued(struct tap_timeline *t, struct task *task, int64_t told_ns,
			    uint64_t now)
{
	uint64_t queued_ns = now - (uint64_t)told_ns;
	int ret = 0;

	if (queued_ns < task->pub.since_ns) /* woken on its way to sleep; or the clocks differ */
		queued_ns = task->pub.since_ns;
	if (is_unborn(task)) {
		task->pub.born_ns = queued_ns;
		tap_task_enter(task, TAP_STATE_WAKING, queued_ns);
	} else {
		ret = tap_task_change(t, task,
				      &(struct transition){
					      .next = TAP_STATE_WAKING,
					      .ts_ns = queued_ns,
					      .fits = true,
					      .next_cpu = -1,
					      .late = true,
				      });
	}
	task->pub.woken_ns = queued_ns;
	task->pub.waker_tid = task->pub.waker_cpu = -1;
	task->pub.queued_ns = -1; /* it is the whole wait, not a part of it */
	return ret;
}

/*
 * A task runs on another CPU than before, and migrations are not recorded. It was placed there by
 * its wakeup if that named the CPU; otherwise nobody knows.
 */
static int tell_move(struct tap_timeline *t, struct task *task, int cpu, uint64_t now,
		     bool was_placed)
{
	const struct tap_migration m = {
		.task = tap_task_pub(task),
		.from = task->pub.run_cpu,
		.to = cpu,
		.cpu = cpu,
		.why = was_placed ? TAP_MIGRATE_WAKEUP : TAP_MIGRATE_OTHER,
		.ts_ns = now,
	};

	if (!tap_window_has(&t->opts.window, now))
		return 0;
	task->pub.migrations++;
	return t->watchers.of_moves.nr ? tap_watchers_move(&t->watchers, t, &m) : 0;
}

static int switch_in(struct tap_timeline *t, struct task *task, int cpu, uint64_t now, bool certain)
{
	bool was_placed = task->pub.state == TAP_STATE_WAKING && task->pub.cpu == cpu;
	bool slept = t->no_wakeups && tap_task_is_asleep(task), fits;
	int64_t told_ns = told_queued_ns(task, cpu, now);
	int ret = 0;

	if (tells_queueing(t, task, told_ns, now))
		ret = wake_when_queued(t, task, told_ns, now);
	else if (!slept)
		ret = amend_state(t, task, TAP_SIGN_IN, now);
	if (ret)
		return ret;
	task->woken_running_ns = 0;
	task->is_new = false;
	fits = slept || tap_task_rule(task, TAP_SIGN_IN)->fits;
	/*
	 * A throttled task is switched in only after sched_unthrottle. If that came a moment later,
	 * an interrupt delayed it; or it is missing.
	 */
	if (task->phase == TAP_PHASE_THROTTLED && t->has_breaks)
		fits = false;
	if (fits && !tap_task_is_touched(t, task))
		/* the task waited here in the end, even if no event shows the move */
		task->pub.cpu = cpu;
	if (!t->has_migrate && task->pub.run_cpu >= 0 && task->pub.run_cpu != cpu)
		ret = tell_move(t, task, cpu, now, was_placed);
	ret = ret
		      ?: tap_task_change(
				 t, task,
				 &(struct transition){
					 .next = certain ? TAP_STATE_RUNNING : TAP_STATE_UNKNOWN,
					 .ts_ns = now,
					 .fits = fits,
					 .next_cpu = cpu,
				 });
	task->pub.from_cpu = task->pub.run_cpu;
	task->pub.cpu = task->pub.run_cpu = cpu;
	return ret;
}

/* Return: 0 or -ENOMEM. */
static int learn_prev_states(struct tap_timeline *t, const struct tap_sched_fields *f)
{
	bool is_fast;
	int ret;

	if (t->prev_states_of == f->fmt)
		return 0;
	tap_prev_states_release(&t->prev_states);
	ret = tap_prev_states_init(&t->prev_states, f->fmt, f->value.field,
				   t->opts.lists && t->opts.lists->indexed_states);
	t->prev_states_of = ret ? NULL : f->fmt;
	is_fast = !ret && (t->has_migrate || !t->watchers.of_moves.nr);
	t->switch_fmt = is_fast && f->plain ? f->fmt : &t->no_format;
	t->lean_fmt = is_fast && f->lean ? f->fmt : &t->no_format;
	t->switches = f;
	return ret;
}

/* Get the task that is switched in or out, and set its name to @comm. */
static int name_switched(struct tap_timeline *t, int tid, const struct tap_field *comm,
			 const struct tap_event *ev, struct task **out)
{
	int ret = tap_task_get_alive(t, tid, comm, ev, out);

	if (!ret && *out)
		tap_task_set_comm(*out, comm, ev);
	return ret;
}

/* Process a switch for a timeline that tracks only lives. */
static int on_switch_of_lives(struct tap_timeline *t, const struct tap_sched_fields *f,
			      const struct tap_event *ev)
{
	const struct tap_prev_state *left_as;
	struct task *task;
	int ret = learn_prev_states(t, f)
			  ?: name_switched(t, tap_num_int(&f->from, ev), f->from_comm, ev, &task);

	if (ret)
		return ret;
	left_as = tap_prev_states_get(&t->prev_states, (uint64_t)tap_num_get(&f->value, ev));
	if (!left_as)
		return -ENOMEM;
	if (task && left_as->state == TAP_STATE_DEAD)
		ret = tap_task_end(t, task, ev->ts_ns, false, "");
	ret = ret ?: name_switched(t, tap_num_int(&f->tid, ev), f->comm, ev, &task);
	if (!ret && task)
		task->is_new = false;
	return ret;
}

/* A task that is not recorded was switched out: only its name and its death matter. */
static int leave_outside(struct tap_timeline *t, const struct tap_sched_fields *f,
			 const struct tap_event *ev, struct task *task)
{
	const struct tap_prev_state *left_as =
		tap_prev_states_get(&t->prev_states, (uint64_t)tap_num_get(&f->value, ev));

	tap_task_set_comm(task, f->from_comm, ev);
	if (!left_as)
		return -ENOMEM;
	return left_as->state == TAP_STATE_DEAD ? tap_task_end(t, task, ev->ts_ns, false, "") : 0;
}

/*
 * A task that is not recorded, but was until now, is switched in: its state is unknown from now on.
 */
static int enter_outside(struct tap_timeline *t, struct task *task, uint64_t now)
{
	return task->pub.state == TAP_STATE_UNKNOWN ? 0 : tap_task_lose(t, task, now);
}

static int on_switch(struct tap_timeline *t, const struct tap_sched_fields *f,
		     const struct tap_event *ev)
{
	struct tap_cpu *c = &t->cpus[ev->cpu];
	int prev = tap_num_int(&f->from, ev), next = tap_num_int(&f->tid, ev);
	const uint64_t now = ev->ts_ns;
	const struct tap_break *b = NULL;
	struct task *task = tap_task_whole(c->task);
	int ret = learn_prev_states(t, f);
	bool cut = c->cut || c->unfit;
	bool keeps_prev = tap_promise_keeps(t->opts.promise, prev, f->from_comm, ev);
	bool keeps_next = tap_promise_keeps(t->opts.promise, next, f->comm, ev);

	/* .known is also false before the CPU's first event */
	if (!keeps_prev && !c->known && !cut)
		c->outside = true;
	c->cut = false;
	if (!c->known || (task ? task->pub.tid : 0) != prev)
		ret = ret ?: tap_task_get(t, prev, f->from_comm, ev, &task);
	ret = ret ?: tap_task_replace_dead(t, &task, f->from_comm, ev);
	/* the task ran since before the recording */
	if (!ret && task && f->from_prio.size && task->pub.prio == TAP_PRIO_UNKNOWN)
		task->pub.prio = tap_num_int(&f->from_prio, ev);
	ret = ret ?: leave_cpu(t, c, task, now);
	if (ret > 0 || (ret == 0 && keeps_prev))
		ret = task ? switch_out(t, f, ev, task, ret, cut) : 0;
	else if (!ret && task)
		ret = leave_outside(t, f, ev, task);
	if (ret >= 0)
		ret = tap_task_get_alive(t, next, f->comm, ev, &task);
	if (!ret && task && tap_task_seems_other(t, task, f->comm, ev)) {
		ret = tap_task_lose(t, task, now);
		tap_task_set_comm(task, f->comm, ev);
	}
	if (ret)
		return ret;
	c->switches += tap_window_has(&t->opts.window, now);
	if (now >= t->next_break_ns)
		b = tap_break_find(t, ev->cpu, now);
	c->unfit = b && b->what == TAP_BREAK_MISSED;
	c->offline = b && b->what == TAP_BREAK_OFFLINE;
	c->outside = !b && !keeps_next;
	c->known = !b && keeps_next && next >= 0 && next < (int)TAP_MAX_TIDS;
	c->task = c->known ? tap_task_pub(task) : NULL;
	if (!task)
		return 0;
	if (f->prio.size)
		task->pub.prio = tap_num_int(&f->prio, ev);
	tap_task_note_queued(task, f, ev, t->hole_end_ns);
	if (!keeps_next)
		return enter_outside(t, task, now);
	tap_task_note_seen(task);
	task->kept = true;
	return switch_in(t, task, ev->cpu, now, c->known);
}

/*
 * Return the waker's tid, or -1: not known. The current task of an interrupt is not the waker: if
 * only sched_wakeup is recorded, the event may come from the IPI that completes the wakeup on the
 * CPU where the task will run.
 */
static int waker_of(const struct tap_sched_fields *f, const struct tap_event *ev)
{
	if (f->kind == TAP_SCHED_WAKEUP && tap_num_int(&f->value, ev) == ev->cpu)
		return -1;
	return tap_num_int(&f->current, ev);
}

int tap_wakeup_tell(struct tap_timeline *t, const struct tap_sched_fields *f,
		    const struct tap_event *ev, struct task *task, bool is_new)
{
	struct tap_wakeup w = {
		.task = tap_task_pub(task),
		.cpu = ev->cpu,
		.ts_ns = ev->ts_ns,
		.is_new = is_new,
		.target_cpu = tap_cpu_named(t, tap_num_int(&f->value, ev)),
		.waker_tid = waker_of(f, ev),
		.in_interrupt = f->flags.size && tap_num_get(&f->flags, ev) & FLAGS_IN_INTERRUPT,
	};

	if (!tap_window_has(&t->opts.window, ev->ts_ns))
		return 0;
	w.waker = tap_timeline_task(t, tap_num_int(&f->current, ev));
	return tap_watchers_wakeup(&t->watchers, t, &w);
}

static void note_waker(const struct tap_timeline *t, struct task *task, int waker,
		       const struct tap_sched_fields *f, const struct tap_event *ev)
{
	task->pub.woken_ns = ev->ts_ns;
	task->pub.waker_tid = waker;
	task->pub.waker_cpu = ev->cpu;
	task->placed = false;
	tap_task_note_seen(task);
	if (f->value.size)
		task->pub.cpu = tap_cpu_named(t, tap_num_int(&f->value, ev));
	if (f->prio.size)
		task->pub.prio = tap_num_int(&f->prio, ev);
}

/*
 * Begin a wait at a waking. A waking usually proves that the task slept. But a task that was
 * preempted on its way to sleep is in a run queue all the time, so no wait begins. So a waking
 * counts only if the task's state was known, or if nothing at all is known of the task and nothing
 * was lost.
 *
 * After an inferred wait, a waking shows that the earlier wakeup had already completed: the task
 * slept and did not run. But it may have run if switches are missing without a recorded loss.
 */
static int begin_wait(struct tap_timeline *t, struct task *task, uint64_t now)
{
	const struct tap_rule *rule = tap_task_rule(task, TAP_SIGN_WAKING);
	bool is_inferred = task->phase == TAP_PHASE_WAKING_INFERRED;
	bool waits = rule->next == TAP_PHASE_WAKING && !tap_task_is_touched(t, task) &&
		     !(is_inferred && t->has_breaks);
	/* TAP_STATE_UNKNOWN also if the task was not seen before */
	enum tap_state state = is_inferred ? TAP_STATE_UNKNOWN : task->pub.state;
	uint64_t from = task->pub.since_ns;
	int ret;

	task->woken_running_ns = waits ? 0 : now; /* otherwise it may run, unseen */
	ret = tap_task_change(t, task,
			      &(struct transition){
				      .next = waits ? TAP_STATE_WAKING : TAP_STATE_UNKNOWN,
				      .ts_ns = now,
				      .fits = rule->fits,
				      .next_cpu = -1,
			      });
	if (waits) {
		task->slept = state;
		task->slept_from_ns = from;
	}
	return ret;
}

/* Process the first event of a wakeup: sched_waking, or sched_wakeup if only that is recorded. */
static int on_waking(struct tap_timeline *t, const struct tap_sched_fields *f,
		     const struct tap_event *ev, struct task *task)
{
	const uint64_t now = ev->ts_ns;
	int by = tap_num_int(&f->current, ev), waker = waker_of(f, ev);
	const struct tap_rule *rule;
	int ret = tap_task_replace_dead(t, &task, f->comm, ev);

	if (t->watchers.of_wakeups.nr)
		ret = ret ?: tap_wakeup_tell(t, f, ev, task, false);
	if (ret)
		return ret;
	task->is_new = false;
	if (by == task->pub.tid) /* the task woke itself: it runs and goes on running */
		return 0;
	rule = tap_task_rule(task, TAP_SIGN_WAKING);
	if (rule->ends) {
		/* watchers need to know the CPU on which it waits from now on */
		if (task->pub.cpu < 0 && f->value.size)
			task->pub.cpu = tap_cpu_named(t, tap_num_int(&f->value, ev));
		ret = begin_wait(t, task, now);
		note_waker(t, task, waker, f, ev);
		return ret;
	}
	/*
	 * a task that was switched out in state R while going to sleep stays runnable; events of
	 * two CPUs may have equal time stamps
	 */
	if (!rule->next || now == task->pub.since_ns)
		return 0;
	task->phase = (enum tap_phase)rule->next;
	task->woken_running_ns = now;
	task->pub.waker_tid = waker;
	task->pub.waker_cpu = ev->cpu;
	return 0;
}

static int on_wakeup(struct tap_timeline *t, const struct tap_sched_fields *f,
		     const struct tap_event *ev, struct task *task)
{
	int ret = amend_state(t, task, TAP_SIGN_WAKEUP, ev->ts_ns);
	const struct tap_rule *rule = tap_task_rule(task, TAP_SIGN_WAKEUP);

	if (rule->next)
		task->phase = (enum tap_phase)rule->next;
	/* if the task runs: the wakeup found it running and has completed */
	task->woken_running_ns = 0;
	if (task->pub.state == TAP_STATE_WAKING) {
		/* otherwise the event may belong to another wait */
		if (f->value.size && !tap_task_is_touched(t, task))
			task->pub.cpu = tap_cpu_named(t, tap_num_int(&f->value, ev));
		task->placed = true;
	}
	return ret;
}

/*
 * A child starts in its parent's cgroup (cgroup_fork()). A task list was read later, maybe after
 * the child was moved: it counts only if moves are not recorded.
 */
static void inherit_cgroup(const struct tap_timeline *t, struct task *child,
			   const struct task *parent)
{
	const struct tap_lists *lists = t->opts.lists;
	/* a list read at the end may describe a later task with the parent's tid */
	bool is_certain = parent && parent->pub.cgroup &&
			  (parent->pub.cgroup_told || !(parent->born || parent->reused));

	if (!is_certain || (child->pub.cgroup && !(lists && lists->has_moves)))
		return;
	child->pub.cgroup = parent->pub.cgroup;
	child->pub.cgroup_told = true;
}

/*
 * Add the task that the event shows to be born. *@task is NULL for invalid tids. Return: 0 or
 * -errno.
 */
static int begin_task(struct tap_timeline *t, const struct tap_sched_fields *f,
		      const struct tap_event *ev, struct task **task)
{
	int ret = tap_task_begin(t, tap_num_int(&f->tid, ev), ev->ts_ns, task);

	if (ret || !*task)
		return ret;
	tap_task_set_comm(*task, f->comm, ev);
	(*task)->is_new = true;
	(*task)->counted_ns = ev->ts_ns;
	return 0;
}

static int on_fork(struct tap_timeline *t, const struct tap_sched_fields *f,
		   const struct tap_event *ev)
{
	struct task *task = tap_tasks_find(&t->tasks, tap_num_int(&f->tid, ev));

	if (!task || !task->is_new || !task->is_told) {
		int ret = begin_task(t, f, ev, &task);

		if (!ret && task)
			inherit_cgroup(t, task,
				       tap_tasks_find(&t->tasks, tap_num_int(&f->current, ev)));
		return ret;
	}
	task->is_told = false;
	tap_task_set_comm(task, f->comm, ev);
	return 0;
}

/* Process task_newtask, which the kernel traces just before sched_process_fork. */
static int on_newtask(struct tap_timeline *t, const struct tap_sched_fields *f,
		      const struct tap_event *ev)
{
	const uint64_t clone_thread = 0x10000, clone_into_cgroup = 0x200000000;
	uint64_t flags = (uint64_t)tap_num_get(&f->value, ev);
	struct task *task, *parent;
	int ret = tap_task_get_alive(t, tap_num_int(&f->current, ev), f->comm, ev, &parent)
			  ?: begin_task(t, f, ev, &task);

	if (ret || !task)
		return ret;
	task->is_told = true;
	if (!(flags & clone_into_cgroup))
		inherit_cgroup(t, task, parent);
	if (!(flags & clone_thread)) {
		tap_task_set_tgid(task, task->pub.tid);
	} else if (parent) {
		if (parent->pub.tgid_told)
			tap_task_set_tgid(task, parent->pub.tgid);
		/* the parent may be forgotten too: no task may point to another */
		if (t->opts.forgets)
			task->pub.tgid =
				tap_task_tgid(&parent->pub) > 0 ? tap_task_tgid(&parent->pub) : 0;
		else
			task->pub.tgid_of =
				parent->pub.tgid_of ? parent->pub.tgid_of : &parent->pub;
	}
	return 0;
}

/*
 * Process sched_wakeup_new. The task's life is counted from here: it could not run before, even if
 * the fork was recorded.
 */
static int on_wakeup_new(struct tap_timeline *t, const struct tap_sched_fields *f,
			 const struct tap_event *ev)
{
	struct task *task = tap_tasks_find(&t->tasks, tap_num_int(&f->tid, ev));
	int ret = 0;

	if (!task || !task->is_new)
		ret = tap_task_begin(t, tap_num_int(&f->tid, ev), ev->ts_ns, &task);
	if (ret || !task)
		return ret;
	task->is_new = false;
	task->pub.born_ns = ev->ts_ns;
	tap_task_set_comm(task, f->comm, ev);
	if (t->watchers.of_wakeups.nr)
		ret = tap_wakeup_tell(t, f, ev, task, true);
	if (!tap_promise_keeps(t->opts.promise, task->pub.tid, f->comm, ev))
		return ret;
	task->kept = true;
	tap_task_enter(task, TAP_STATE_WAKING, ev->ts_ns);
	note_waker(t, task, waker_of(f, ev), f, ev);
	task->placed = true;
	if (!ret)
		ret = tap_watchers_waits(&t->watchers, t, tap_task_pub(task), ev->ts_ns);
	return ret;
}

/*
 * Process sched_process_exec. If a thread that is not the leader executes a program, it takes over
 * the leader's tid and goes on running as the leader.
 */
static int on_exec(struct tap_timeline *t, const struct tap_sched_fields *f,
		   const struct tap_event *ev)
{
	struct tap_cpu *c = &t->cpus[ev->cpu];
	struct task *old, *new;
	int ret = tap_task_get(t, tap_num_int(&f->from, ev), NULL, ev, &old)
			  ?: tap_task_get(t, tap_num_int(&f->tid, ev), NULL, ev, &new);

	if (!ret && new) {
		tap_task_set_exec_comm(new, f->comm, ev);
		/* the thread that executes a program is the process's leader from now on */
		tap_task_set_tgid(new, new->pub.tid);
	}
	if (ret || !old || !new || old == new)
		return ret;
	ret = tap_cpu_close(t, c, ev->ts_ns);
	if (!ret) {
		bool fits = old->pub.state == TAP_STATE_RUNNING && old->pub.cpu == ev->cpu;

		ret = tap_task_end(t, old, ev->ts_ns, fits, "");
	}
	ret = ret ?: tap_task_begin(t, tap_num_int(&f->tid, ev), ev->ts_ns, &new);
	if (ret)
		return ret;
	inherit_cgroup(t, new, old);
	tap_task_set_exec_comm(new, f->comm, ev);
	tap_task_set_tgid(new, new->pub.tid);
	new->pub.prio = old->pub.prio;
	new->pub.cpu = new->pub.run_cpu = ev->cpu;
	if (!c->known || tap_task_whole(c->task) != old)
		return 0;
	new->kept = true;
	tap_task_enter(new, TAP_STATE_RUNNING, ev->ts_ns);
	c->task = tap_task_pub(new);
	return 0;
}

/*
 * Return 1 if the task is a CPU's stopper (migration thread), by its name, otherwise 0; -1: the
 * name is not known. In a recording of some tasks the stopper may have no event, but may be in the
 * task lists.
 */
static int is_stopper(const struct tap_timeline *t, int tid)
{
	const struct task *task = tap_tasks_find(&t->tasks, tid);
	struct tap_listed l = { 0 };
	const char *comm = task ? task->pub.comm : l.comm;

	if (!task)
		tap_lists_find(t->opts.lists, tid,
			       TAP_LISTED_BEGAN | TAP_LISTED_SOMETIME | TAP_LISTED_ENDED, &l);
	return *comm ? tap_comm_is_stopper(comm) : -1;
}

/*
 * Find out why a task was moved. A wakeup moves a task at once, on the waker's CPU. The stopper
 * moves a task for other reasons (affinity, exec). A waker that runs out of work may also pull the
 * waiting task to its own CPU: a sched_wakeup in between shows that the wakeup was complete;
 * without sched_wakeup the time since the waking decides. If a hole makes it uncertain, the reason
 * is TAP_MIGRATE_OTHER.
 */
static enum tap_migration_why why_moved(const struct tap_timeline *t,
					const struct tap_sched_fields *f,
					const struct tap_event *ev, const struct task *task)
{
	int by = tap_num_int(&f->current, ev), stopper;

	if (task->is_new)
		return TAP_MIGRATE_WAKEUP;
	if (!tap_state_is_wait(task->pub.state) || tap_task_is_touched(t, task) || task->hidden)
		return TAP_MIGRATE_OTHER;
	if (task->pub.state == TAP_STATE_WAKING && !task->placed &&
	    task->pub.waker_cpu == ev->cpu && task->pub.waker_tid == by)
		return t->has_wakeup || ev->ts_ns - task->pub.woken_ns <= PLACED_WITHIN_NS ||
				       tap_num_int(&f->value, ev) != ev->cpu
			       ? TAP_MIGRATE_WAKEUP
			       : TAP_MIGRATE_OTHER;
	stopper = by ? is_stopper(t, by) : 0;
	return stopper > 0 || (stopper < 0 && t->opts.promise) ? TAP_MIGRATE_OTHER
							       : TAP_MIGRATE_BALANCE;
}

/*
 * A sleeping task was moved. Either a wakeup that began while the task was going to sleep moves it;
 * or the load balancer does, since from v6.12 on a sleeper may stay in its run queue for a while
 * (delayed dequeue); or the task's waking was missed, and its next event will show that.
 */
static int moved_asleep(struct tap_timeline *t, const struct tap_sched_fields *f,
			const struct tap_event *ev, struct task *task)
{
	const struct tap_rule *rule = tap_task_rule(task, TAP_SIGN_MOVED);
	/* long after its waking, the move may be the waker's load balancing */
	bool is_open = t->has_wakeup ||
		       task->pub.since_ns - task->woken_running_ns <= TAP_ON_ITS_WAY_OUT_NS;

	if (rule->amend == TAP_AMEND_WAKE_LATE && is_open && task->pub.waker_cpu == ev->cpu &&
	    task->pub.waker_tid == tap_num_int(&f->current, ev) && !tap_task_is_touched(t, task))
		return wake_late(t, task);
	if (rule->next)
		task->phase = (enum tap_phase)rule->next;
	return 0;
}

static int on_migrate(struct tap_timeline *t, const struct tap_sched_fields *f,
		      const struct tap_event *ev, struct task *task)
{
	struct tap_migration m = {
		.task = tap_task_pub(task),
		.from = tap_cpu_named(t, tap_num_int(&f->from, ev)),
		.to = tap_cpu_named(t, tap_num_int(&f->value, ev)),
		.cpu = ev->cpu,
		.ts_ns = ev->ts_ns,
	};
	int ret = 0;

	if (f->prio.size)
		task->pub.prio = tap_num_int(&f->prio, ev);
	if (t->has_waking && tap_task_is_asleep(task)) {
		/* the kernel may count the rest of its sleep as time in the queue */
		task->has_delay = false;
		ret = moved_asleep(t, f, ev, task);
	}
	m.why = why_moved(t, f, ev, task);
	if (!ret && tap_window_has(&t->opts.window, ev->ts_ns)) {
		task->pub.migrations++;
		if (t->watchers.of_migrations.nr)
			ret = tap_watchers_migration(&t->watchers, t, &m);
	} else if (!ret && ev->ts_ns < t->opts.window.from_ns) {
		ret = tap_watchers_early_migration(&t->watchers, t, &m);
	}
	task->placed = true;
	if (task->pub.state != TAP_STATE_RUNNING)
		task->pub.cpu = m.to;
	return ret;
}

/*
 * Process sched_throttle. If the current task is throttled, this takes effect at the switch that
 * takes it off its CPU. A task that waits in a throttled run queue, or is woken into one, is
 * throttled at once.
 */
static int on_throttle(struct tap_timeline *t, const struct tap_sched_fields *f,
		       const struct tap_event *ev, struct task *task)
{
	bool slept = t->no_wakeups && tap_task_is_asleep(task);
	const struct tap_rule *rule;
	enum tap_state state;
	int ret;

	if (tap_num_int(&f->current, ev) == task->pub.tid) {
		task->throttles_ns = ev->ts_ns;
		return 0;
	}
	ret = slept ? 0 : amend_state(t, task, TAP_SIGN_THROTTLED, ev->ts_ns);
	if (ret)
		return ret;
	state = slept ? TAP_STATE_WAKING : task->pub.state;
	rule = slept ? &tap_rules[TAP_SIGN_THROTTLED][TAP_PHASE_WAKING]
		     : tap_task_rule(task, TAP_SIGN_THROTTLED);
	/* it already runs on another CPU, or is dead: the clocks of CPUs differ */
	if (!rule->ends)
		return 0;
	if (slept)
		task->pub.waker_tid = -1;
	task->waited = rule->fits && !tap_task_is_touched(t, task) ? state : TAP_STATE_UNKNOWN;
	return tap_task_change(t, task,
			       &(struct transition){
				       .next = TAP_STATE_THROTTLED,
				       .ts_ns = ev->ts_ns,
				       .fits = rule->fits,
				       .next_cpu = -1,
			       });
}

/*
 * Process sched_unthrottle: the task waits as it did before it was throttled. After a hole its kind
 * of wait is unknown.
 */
static int on_unthrottle(struct tap_timeline *t, const struct tap_event *ev, struct task *task)
{
	const struct tap_rule *rule = tap_task_rule(task, TAP_SIGN_UNTHROTTLED);

	if (!rule->ends) /* a waiting task was throttled, unseen */
		return amend_state(t, task, TAP_SIGN_UNTHROTTLED, ev->ts_ns);
	return tap_task_change(
		t, task,
		&(struct transition){
			.next = tap_task_is_touched(t, task) ? TAP_STATE_UNKNOWN : task->waited,
			.ts_ns = ev->ts_ns,
			.fits = rule->fits,
			.next_cpu = -1,
		});
}

static void on_cgroup(struct task *task, uint64_t cgroup)
{
	if (!cgroup) /* the event does not know the cgroup */
		return;
	task->pub.cgroup = cgroup;
	task->pub.cgroup_told = true;
}

/* The task is no longer recorded: its state is unknown from now on. */
static int leave_recorded(struct tap_timeline *t, struct task *task, uint64_t now)
{
	struct tap_cpu *c = task->pub.state == TAP_STATE_RUNNING && task->pub.run_cpu >= 0
				    ? &t->cpus[task->pub.run_cpu]
				    : NULL;
	int ret = 0;

	if (c && c->known && c->task == tap_task_pub(task)) {
		ret = tap_cpu_close(t, c, now);
		c->known = false;
		c->outside = true;
		c->task = NULL;
	}
	if (ret || task->pub.state == TAP_STATE_UNKNOWN)
		return ret;
	return tap_task_change(t, task,
			       &(struct transition){
				       .next = TAP_STATE_UNKNOWN,
				       .ts_ns = now,
				       .fits = !tap_phase_is_doubtful(task->phase),
				       .next_cpu = -1,
				       .cut = true,
			       });
}

static int move_task(struct tap_timeline *t, struct task *task, uint64_t cgroup, uint64_t now)
{
	const struct tap_promise *p = t->opts.promise;

	on_cgroup(task, cgroup);
	if (!p || t->opts.lives_only || !p->moved(p->ctx, task->pub.tid, now - 1, now))
		return 0;
	if (!p->keeps(p->ctx, task->pub.tid, now, task->pub.comm, TAP_TASK_COMM))
		return leave_recorded(t, task, now);
	/* recorded from now on: it may wait already, so its next waking need not begin a wait */
	tap_task_note_seen(task);
	return 0;
}

/*
 * Process cgroup_attach_task, which names one task. If its threadgroup field is set, all threads of
 * the task's process moved. Events without that field: assume so in cgroup v2 (hierarchy 0), which
 * moves single threads only within threaded cgroups.
 */
static int on_attach(struct tap_timeline *t, const struct tap_sched_fields *f,
		     const struct tap_event *ev, struct task *task)
{
	uint64_t cgroup = (uint64_t)tap_num_get(&f->value, ev);
	int hierarchy = tap_num_int(&f->from, ev), tgid = tap_task_tgid(&task->pub), ret;
	bool all = f->from_prio.size ? tap_num_get(&f->from_prio, ev) : !hierarchy;
	const struct tap_lists *lists = t->opts.lists;

	if (f->from.size && lists && lists->knows_hierarchy && hierarchy != lists->hierarchy)
		return 0;
	/* a task whose birth was not recorded */
	ret = tap_task_replace_dead(t, &task, f->comm, ev);
	if (!ret && task)
		ret = move_task(t, task, cgroup, ev->ts_ns);
	for (unsigned int i = 0; all && tgid > 0 && !ret && i < t->tasks.nr; i++) {
		struct task *other = tap_task_whole(t->tasks.all[i]);

		if (other != task && other->pub.state != TAP_STATE_DEAD &&
		    tap_task_tgid(&other->pub) == tgid)
			ret = move_task(t, other, cgroup, ev->ts_ns);
	}
	return ret;
}

static void on_iowait(struct tap_timeline *t, const struct tap_sched_fields *f,
		      const struct tap_event *ev, struct task *whole)
{
	struct tap_task *task = &whole->pub;
	uint64_t delay = (uint64_t)tap_num_get(&f->value, ev);
	uint64_t from = delay < ev->ts_ns ? ev->ts_ns - delay : 0;

	task->iowait_ns += tap_window_part_ns(&t->opts.window, from, ev->ts_ns);
	if (task->iowait_ns > task->total_ns[TAP_STATE_BLOCKED])
		task->iowait_ns = task->total_ns[TAP_STATE_BLOCKED];
}

static bool changes_state(enum tap_sched_kind kind)
{
	return kind == TAP_SCHED_WAKING || kind == TAP_SCHED_WAKEUP || kind == TAP_SCHED_MIGRATE ||
	       kind == TAP_SCHED_THROTTLE || kind == TAP_SCHED_UNTHROTTLE ||
	       kind == TAP_SCHED_IOWAIT;
}

/*
 * Process an event of a task that is not recorded: only its wakeup by a recorded task is reported.
 */
static int on_other_task(struct tap_timeline *t, const struct tap_sched_fields *f,
			 const struct tap_event *ev, struct task *task)
{
	bool wakes = f->kind == TAP_SCHED_WAKING || (f->kind == TAP_SCHED_WAKEUP && !t->has_waking);

	return wakes && t->watchers.of_wakeups.nr ? tap_wakeup_tell(t, f, ev, task, false) : 0;
}

/* Process an event that is not a switch, birth or exec. */
static int on_task(struct tap_timeline *t, const struct tap_sched_fields *f,
		   const struct tap_event *ev)
{
	struct task *task;
	int ret;
	bool keeps;

	if (f->kind == TAP_SCHED_WAKEUP && f->from.size && !tap_num_int(&f->from, ev))
		return 0;
	ret = tap_task_get(t, tap_num_int(&f->tid, ev), f->comm, ev, &task);
	t->has_waking |= f->kind == TAP_SCHED_WAKING;
	t->has_wakeup |= f->kind == TAP_SCHED_WAKEUP;
	if (f->kind == TAP_SCHED_MIGRATE && t->opts.promise && t->opts.promise->lacks_migrations)
		/*
		 * only some migrations are recorded, so migrations are detected from the CPUs a
		 * task runs on
		 */
		return ret;
	t->has_migrate |= f->kind == TAP_SCHED_MIGRATE;
	if (ret || !task)
		return ret;
	keeps = tap_promise_keeps(t->opts.promise, task->pub.tid, f->comm, ev);
	if (!keeps && changes_state(f->kind))
		return on_other_task(t, f, ev, task);
	task->kept |= keeps;
	switch (f->kind) {
	case TAP_SCHED_WAKING:
		return on_waking(t, f, ev, task);
	case TAP_SCHED_WAKEUP:
		return t->has_waking ? on_wakeup(t, f, ev, task) : on_waking(t, f, ev, task);
	case TAP_SCHED_MIGRATE:
		return on_migrate(t, f, ev, task);
	case TAP_SCHED_THROTTLE:
		return on_throttle(t, f, ev, task);
	case TAP_SCHED_UNTHROTTLE:
		return on_unthrottle(t, ev, task);
	case TAP_SCHED_IOWAIT:
		on_iowait(t, f, ev, task);
		break;
	case TAP_SCHED_SETPRIO:
		if (f->prio.size)
			task->pub.prio = tap_num_int(&f->prio, ev);
		break;
	case TAP_SCHED_RENAME:
		tap_task_set_comm(task, f->comm, ev);
		break;
	case TAP_SCHED_CGROUP_ATTACH:
		return on_attach(t, f, ev, task);
	default:
		on_cgroup(task, (uint64_t)tap_num_get(&f->value, ev));
	}
	return 0;
}

int tap_event_take(struct tap_timeline *t, const struct tap_sched_fields *f,
		   const struct tap_event *ev)
{
	switch (f->kind) {
	case TAP_SCHED_SWITCH:
		return t->opts.lives_only ? on_switch_of_lives(t, f, ev) : on_switch(t, f, ev);
	case TAP_SCHED_WAKEUP_NEW:
		return on_wakeup_new(t, f, ev);
	case TAP_SCHED_NEWTASK:
		return on_newtask(t, f, ev);
	case TAP_SCHED_FORK:
		return on_fork(t, f, ev);
	case TAP_SCHED_EXEC:
		return on_exec(t, f, ev);
	default:
		return on_task(t, f, ev);
	}
}
