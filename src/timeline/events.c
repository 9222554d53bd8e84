// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/events.h"

#include <errno.h>

#include "timeline/cpus.h"
#include "timeline/holes.h"
#include "timeline/intervals.h"
#include "timeline/lives.h"

/*
 * A wakeup chooses the CPU right behind sched_waking, with interrupts off (try_to_wake_up()). A
 * guess is needed only where sched_wakeup was not recorded.
 */
#define PLACED_WITHIN_NS 10000u
#define FLAGS_IN_INTERRUPT 0x58 /* TRACE_FLAG_HARDIRQ, TRACE_FLAG_SOFTIRQ, TRACE_FLAG_NMI */

/* Closes what the CPU ran until now. Return: 1 if that was @task, certainly; 0; -errno. */
static int leave_cpu(struct tap_timeline *t, struct tap_cpu *c, const struct task *task,
		     uint64_t now)
{
	bool fits = c->known && tap_task_whole(c->task) == task;
	int ret;

	if (!fits && (c->known || c->unfit)) {
		c->breaks += tap_window_has(&t->opts.window, now);
		/* the survey did not tell: any task may have run here */
		if (!t->opts.survey && c->since_ns < now)
			tap_hole_see(t, now);
		tap_cpu_break(t, (unsigned int)(c - t->cpus));
	}
	c->unfit = false;
	ret = tap_cpu_close(t, c, now);
	return ret ? ret : fits;
}

/*
 * A sched_throttle said so just before; @cut: it may have been there, and be missing. @fits: the
 * task ran on this CPU all the time; if not, it may have been switched out and in again in a gap
 * since that sched_throttle.
 */
static enum tap_state left_state(const struct tap_timeline *t, struct task *task,
				 enum tap_state left_as, bool fits, bool cut)
{
	/* at the beginning of a state in which the task did not run, it was about the switch that
	 * began this */
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
 * Whether a waking came while the task ran, and may be what ends the sleep that begins. A
 * sched_wakeup is the end of a wakeup (ttwu_runnable()), so without sched_waking the answer is no.
 * A gap after the waking may hide another one, or the end of this one.
 */
static bool is_woken_before(const struct tap_timeline *t, const struct task *task)
{
	return task->phase == TAP_PHASE_ASLEEP && task->woken_running_ns && t->has_waking &&
	       task->woken_running_ns >= t->hole_end_ns;
}

/*
 * The task was switched out, and may have been woken before. If sched_wakeup was recorded, a wakeup
 * without one is not over, however early it came. Else the task's next event decides; where events
 * are missing without a recorded loss, not about early ones.
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
	task->kept = true;
	tap_task_set_comm(task, f->from_comm, ev);
	left_as = tap_prev_states_get(&t->prev_states, (uint64_t)tap_num_get(&f->value, ev));
	if (!left_as)
		return -ENOMEM;
	if (!fits && task->pub.state == TAP_STATE_RUNNING)
		tap_cpu_break_of(t, task);
	/* it was woken while it ran, before anything was seen of its CPU */
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
	tap_task_note_seen(task);
	fall_asleep(t, task, now);
	return ret;
}

/*
 * The wakeup of a task that was just about to sleep: it came while the task was still on its CPU,
 * and was not over when that gave it up. So it was runnable from then on.
 */
static int wake_late(struct tap_timeline *t, struct task *task)
{
	task->pub.woken_ns = task->pub.since_ns;
	tap_task_enter(task, TAP_STATE_WAKING, task->pub.since_ns);
	task->phase = TAP_PHASE_WAKING_INFERRED;
	task->woken_running_ns = 0;
	return tap_watchers_waits(&t->watchers, t, tap_task_pub(task), t->now_ns);
}

/* The event contradicts what was known of the task: corrects that. Return: 0; what a watcher
 * returned. */
static int amend(struct tap_timeline *t, struct task *task, enum tap_sign sign, uint64_t now)
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

static int switch_in(struct tap_timeline *t, struct task *task, int cpu, uint64_t now, bool certain)
{
	bool slept = t->no_wakeups && tap_task_is_asleep(task), fits;
	int ret = slept ? 0 : amend(t, task, TAP_SIGN_IN, now);

	if (ret)
		return ret;
	task->woken_running_ns = 0;
	task->is_new = false;
	fits = slept || tap_task_rule(task, TAP_SIGN_IN)->fits;
	/* A throttled task runs once it may. If that is reported a moment later, an interrupt was
	 * delayed; or the report is missing. */
	if (task->phase == TAP_PHASE_THROTTLED && t->has_breaks)
		fits = false;
	if (fits && !tap_task_is_touched(t, task))
		task->pub.cpu = cpu; /* where it waits at last, also if no event said so */
	if (!t->has_migrate && task->pub.run_cpu >= 0 && task->pub.run_cpu != cpu)
		task->pub.migrations += tap_window_has(&t->opts.window, now);
	ret = tap_task_change(t, task,
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
	int ret;

	if (t->prev_states_of == f->fmt)
		return 0;
	tap_prev_states_release(&t->prev_states);
	ret = tap_prev_states_init(&t->prev_states, f->fmt, f->value.field);
	t->prev_states_of = ret ? NULL : f->fmt;
	t->switch_fmt = !ret && f->plain ? f->fmt : &t->no_format;
	t->switches = f;
	return ret;
}

/* A task comes or goes, and is called @comm. */
static int name_switched(struct tap_timeline *t, int tid, const struct tap_field *comm,
			 const struct tap_event *ev, struct task **out)
{
	int ret = tap_task_get_alive(t, tid, comm, ev, out);

	if (!ret && *out)
		tap_task_set_comm(*out, comm, ev);
	return ret;
}

/* Only who has which tid is asked for. */
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

/* It left its CPU, where it was not recorded: of that only its name counts, and its end. */
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

/* The same of one that was recorded until now: from here on nobody knows what it does. */
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

	if (!keeps_prev && !c->known && !cut) /* also before its first event */
		c->outside = true;
	c->cut = false;
	if (!c->known || (task ? task->pub.tid : 0) != prev)
		ret = ret ?: tap_task_get(t, prev, f->from_comm, ev, &task);
	ret = ret ?: tap_task_replace_dead(t, &task, f->from_comm, ev);
	/* it ran from before the recording */
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
	if (!keeps_next)
		return enter_outside(t, task, now);
	tap_task_note_seen(task);
	task->kept = true;
	return switch_in(t, task, ev->cpu, now, c->known);
}

/*
 * Who was interrupted is not who wakes: where only sched_wakeup was recorded, it may come from the
 * CPU on which the task will run, by the interrupt that tells it so.
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
 * A waking proves that the task slept, but for one that was preempted on its way to sleep: that
 * is in a run queue all along, and this is no wait that begins. So only if its state was known, or
 * if nothing at all is known of it, and nothing was lost, does a waking count as one.
 *
 * After a wait that was only inferred, the waking shows that the wakeup before it was in vain, as
 * the task did not run. Where switches are missing without a recorded loss, the task may have run.
 */
static int begin_wait(struct tap_timeline *t, struct task *task, uint64_t now)
{
	const struct tap_rule *rule = tap_task_rule(task, TAP_SIGN_WAKING);
	bool is_inferred = task->phase == TAP_PHASE_WAKING_INFERRED;
	bool waits = rule->next == TAP_PHASE_WAKING && !tap_task_is_touched(t, task) &&
		     !(is_inferred && t->has_breaks);
	/* unknown also if the task was not seen before */
	enum tap_state state = is_inferred ? TAP_STATE_UNKNOWN : task->pub.state;
	uint64_t from = task->pub.since_ns;
	int ret;

	task->woken_running_ns = waits ? 0 : now; /* or it runs, unseen */
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

/* The first sign of a wakeup: sched_waking, or sched_wakeup where only that was recorded. */
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
	if (by == task->pub.tid) /* by itself: so it runs, and goes on */
		return 0;
	rule = tap_task_rule(task, TAP_SIGN_WAKING);
	if (rule->ends) {
		/* watchers ask where it waits from now on */
		if (task->pub.cpu < 0 && f->value.size)
			task->pub.cpu = tap_cpu_named(t, tap_num_int(&f->value, ev));
		ret = begin_wait(t, task, now);
		note_waker(t, task, waker, f, ev);
		return ret;
	}
	/* a task that went out in state R as it was about to sleep stays runnable; two CPUs' clocks
	 * may show the same time */
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
	int ret = amend(t, task, TAP_SIGN_WAKEUP, ev->ts_ns);
	const struct tap_rule *rule = tap_task_rule(task, TAP_SIGN_WAKEUP);

	if (rule->next)
		task->phase = (enum tap_phase)rule->next;
	task->woken_running_ns = 0; /* if it runs: the wakeup found it running, and is over */
	if (task->pub.state == TAP_STATE_WAKING) {
		/* else it may be another wait's */
		if (f->value.size && !tap_task_is_touched(t, task))
			task->pub.cpu = tap_cpu_named(t, tap_num_int(&f->value, ev));
		task->placed = true;
	}
	return ret;
}

/*
 * A child begins in its parent's cgroup (cgroup_fork()). What lists say of it is later, and may be
 * to where it was moved: it counts where moves are not recorded.
 */
static void inherit_cgroup(const struct tap_timeline *t, struct task *child,
			   const struct task *parent)
{
	const struct tap_lists *lists = t->opts.lists;
	/* a list of the end may be of a later life of the parent's tid */
	bool is_certain = parent && parent->pub.cgroup &&
			  (parent->pub.cgroup_told || !(parent->born || parent->reused));

	if (!is_certain || (child->pub.cgroup && !(lists && lists->has_moves)))
		return;
	child->pub.cgroup = parent->pub.cgroup;
	child->pub.cgroup_told = true;
}

/* NULL for what can be no tid. Return: 0 or -errno. */
static int begin_task(struct tap_timeline *t, const struct tap_sched_fields *f,
		      const struct tap_event *ev, struct task **task)
{
	int ret = tap_task_begin(t, tap_num_int(&f->tid, ev), ev->ts_ns, task);

	if (ret || !*task)
		return ret;
	tap_task_set_comm(*task, f->comm, ev);
	(*task)->is_new = true;
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

/* The kernel traces it just before the fork. */
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
		if (t->opts.forgets) /* the parent, too: no task may point to another */
			task->pub.tgid =
				tap_task_tgid(&parent->pub) > 0 ? tap_task_tgid(&parent->pub) : 0;
		else
			task->pub.tgid_of =
				parent->pub.tgid_of ? parent->pub.tgid_of : &parent->pub;
	}
	return 0;
}

/* Its life begins here, or a moment ago with the fork, when it could not run yet. */
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

/* A thread that is not the leader takes over the leader's tid: it goes on running as that. */
static int on_exec(struct tap_timeline *t, const struct tap_sched_fields *f,
		   const struct tap_event *ev)
{
	struct tap_cpu *c = &t->cpus[ev->cpu];
	struct task *old, *new;
	int ret = tap_task_get(t, tap_num_int(&f->from, ev), NULL, ev, &old)
			  ?: tap_task_get(t, tap_num_int(&f->tid, ev), NULL, ev, &new);

	if (!ret && new) {
		tap_task_set_exec_comm(new, f->comm, ev);
		tap_task_set_tgid(new, new->pub.tid); /* who executes a program is its leader */
	}
	if (ret || !old || !new || old == new)
		return ret;
	ret = tap_cpu_close(t, c, ev->ts_ns);
	ret = ret
		      ?: tap_task_end(t, old, ev->ts_ns,
				      old->pub.state == TAP_STATE_RUNNING &&
					      old->pub.cpu == ev->cpu,
				      "");
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
 * The stopper of a CPU, by its name. In a recording of some tasks it may have no event, but be in
 * the lists. Return: 1 or 0; -1: the task's name is not known.
 */
static int is_stopper(const struct tap_timeline *t, int tid)
{
	static const char stopper[] = "migration/";
	const struct task *task = tap_tasks_find(&t->tasks, tid);
	struct tap_listed l = { 0 };
	const char *comm = task ? task->pub.comm : l.comm;

	if (!task)
		tap_lists_find(t->opts.lists, tid,
			       TAP_LISTED_BEGAN | TAP_LISTED_SOMETIME | TAP_LISTED_ENDED, &l);
	return *comm ? !strncmp(comm, stopper, strlen(stopper)) : -1;
}

/*
 * Who moves it: a wakeup does at once, where the waker runs; the stopper obeys others. A waker that
 * runs out of work pulls what waits to its own CPU, too: a sched_wakeup in between tells that from
 * placing, and else time does. What a hole leaves open is neither.
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
 * Its wakeup moves it, which came as it was about to sleep. Or a balancer does: from v6.12 on a
 * sleeper may stay in its run queue for a while (delayed dequeue). Or its waking was missed, and
 * what comes next will tell.
 */
static int moved_asleep(struct tap_timeline *t, const struct tap_sched_fields *f,
			const struct tap_event *ev, struct task *task)
{
	const struct tap_rule *rule = tap_task_rule(task, TAP_SIGN_MOVED);
	/* long after its waking, the waker may be a balancer */
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
	if (t->has_waking && tap_task_is_asleep(task))
		ret = moved_asleep(t, f, ev, task);
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
 * Of a task that runs it comes before the switch that takes it off its CPU; of one that waits in
 * the same run queue, or that was woken into one, it is so at once.
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
	ret = slept ? 0 : amend(t, task, TAP_SIGN_THROTTLED, ev->ts_ns);
	if (ret)
		return ret;
	state = slept ? TAP_STATE_WAKING : task->pub.state;
	rule = slept ? &tap_rules[TAP_SIGN_THROTTLED][TAP_PHASE_WAKING]
		     : tap_task_rule(task, TAP_SIGN_THROTTLED);
	/* on another CPU it runs already, or its life is over: a clock that is behind */
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

/* From here on it waits as it did before; behind a hole nobody knows as what. */
static int on_unthrottle(struct tap_timeline *t, const struct tap_event *ev, struct task *task)
{
	const struct tap_rule *rule = tap_task_rule(task, TAP_SIGN_UNTHROTTLED);

	if (!rule->ends) /* a task that waits was throttled, unseen */
		return amend(t, task, TAP_SIGN_UNTHROTTLED, ev->ts_ns);
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
	if (!cgroup) /* of no use: the event does not know it */
		return;
	task->pub.cgroup = cgroup;
	task->pub.cgroup_told = true;
}

/* It is recorded no more: what it does from now on is not known. */
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
	/* from now on recorded: it may wait already, so its next waking need not begin a wait */
	tap_task_note_seen(task);
	return 0;
}

/*
 * The event names one task: with threadgroup set, or unset but not recorded, all threads of its
 * process moved. Version 2 moves no single threads, but within threaded cgroups.
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
	ret = tap_task_replace_dead(t, &task, f->comm, ev); /* whose birth was not recorded */
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

/* Of a task that is not recorded: that a recorded one woke it is told. */
static int on_other_task(struct tap_timeline *t, const struct tap_sched_fields *f,
			 const struct tap_event *ev, struct task *task)
{
	bool wakes = f->kind == TAP_SCHED_WAKING || (f->kind == TAP_SCHED_WAKEUP && !t->has_waking);

	return wakes && t->watchers.of_wakeups.nr ? tap_wakeup_tell(t, f, ev, task, false) : 0;
}

/* What is about a task that has been there before, or is seen now. */
static int on_task(struct tap_timeline *t, const struct tap_sched_fields *f,
		   const struct tap_event *ev)
{
	struct task *task;
	int ret = tap_task_get(t, tap_num_int(&f->tid, ev), f->comm, ev, &task);
	bool keeps;

	t->has_waking |= f->kind == TAP_SCHED_WAKING;
	t->has_wakeup |= f->kind == TAP_SCHED_WAKEUP;
	if (f->kind == TAP_SCHED_MIGRATE && t->opts.promise && t->opts.promise->lacks_migrations)
		return ret; /* of some only: that a task runs on another CPU says it of all */
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
