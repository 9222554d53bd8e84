// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/timeline.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "timeline/letters.h"
#include "timeline/tasks.h"

/*
 * A waking that comes while its task still runs is either over at once (the task stays runnable)
 * or finds it on its way out, with interrupts off: then it is switched out within this time.
 */
#define ON_ITS_WAY_OUT_NS 10000u

/*
 * A wakeup chooses the CPU right behind sched_waking, with interrupts off (try_to_wake_up()). A guess
 * is needed only where sched_wakeup was not recorded.
 */
#define PLACED_WITHIN_NS 10000u

struct tap_timeline {
	struct tap_timeline_opts opts;
	struct tap_observer on; /* all zero where there is none */
	bool told[TAP_NR_STATES]; /* of on.states */
	bool told_lost[TAP_NR_STATES]; /* and of on.lost_states */
	bool have_start, have_end;
	uint64_t start_ns, end_ns; /* end: of the last event as long as !have_end */
	uint64_t now_ns;	   /* of the last event */
	struct tap_cpu *cpus;
	unsigned int nr_cpus, cap_cpus;
	struct tap_tasks tasks;
	struct tap_shapes shapes;
	struct tap_letters letters;
	const struct tap_format *letters_of;
	unsigned int buffer[TAP_NR_SHAPES];
	bool has_waking, has_wakeup, has_migrate, has_breaks;
	bool no_wakeups; /* the survey says so: a sleep lasts until its task runs */

	/* of usual_switch() and usual_waking(): the formats they are for, and when */
	const struct tap_format *switch_fmt, *waking_fmt;
	const struct tap_shape *switches, *wakings;
	uint64_t usual_since_ns; /* what has lasted from then on is touched by no hole yet */
	uint64_t usual_from_ns, usual_ns; /* their first instant, and how many more they are for */
	bool tells_cpus; /* ... what they ran, too */

	/* what the survey knows is told when its time comes */
	uint64_t next_mark_ns;	/* of the next hole or loss */
	uint64_t next_break_ns; /* of the first break that is not in the past */
	unsigned int next_hole, next_loss, next_break;
	uint64_t hole_end_ns; /* of those that have begun, the latest */
};

static const struct tap_format no_format;

const char *tap_state_name(enum tap_state state)
{
	static const char *const names[TAP_NR_STATES] = {
		"unknown", "running", "preempted", "waking", "sleeping", "blocked", "stopped", "dead",
	};

	return names[state];
}

/* ---- time ---- */

static uint64_t clip(const struct tap_timeline *t, uint64_t ns)
{
	if (ns < t->start_ns)
		return t->start_ns;
	return ns > t->end_ns ? t->end_ns : ns;
}

static bool inside(const struct tap_timeline *t, uint64_t ns)
{
	return ns - t->start_ns <= t->end_ns - t->start_ns;
}

/* How much of [from_ns, to_ns] lies in the window. */
static inline uint64_t within(const struct tap_timeline *t, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns >= t->start_ns && to_ns <= t->end_ns)
		return to_ns - from_ns;
	return clip(t, to_ns) - clip(t, from_ns);
}

/* ---- tasks ---- */

/* Return: NULL when out of memory. */
static struct tap_task *add_task(struct tap_timeline *t, int tid, uint64_t born_ns)
{
	struct tap_task *task = tap_tasks_add(&t->tasks, tid, born_ns);

	if (task)
		task->hidden = t->opts.survey && tap_survey_is_hidden(t->opts.survey, tid);
	return task;
}

struct tap_task *tap_timeline_task(const struct tap_timeline *t, int tid)
{
	return tap_tasks_find(&t->tasks, tid);
}

/* Both have TAP_TASK_COMM bytes. As words: the compiler calls memcmp() for what it could compare by itself. */
static inline bool is_same_comm(const char *a, const char *b)
{
	uint64_t x[2], y[2];

	static_assert(sizeof(x) == TAP_TASK_COMM, "two words");
	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]));
}

/* Where the name stands that @f, which is plain, is for. */
static inline const char *plain_comm(const struct tap_field *f, const struct tap_event *ev)
{
	return (const char *)ev->data + f->offset;
}

static void set_comm(struct tap_task *task, const struct tap_field *f, const struct tap_event *ev)
{
	const char *comm;
	uint32_t len;

	if (!f)
		return;
	if (tap_is_plain_comm(f)) {
		memcpy(task->comm, plain_comm(f, ev), TAP_TASK_COMM);
		return;
	}
	comm = tap_field_bytes(f, ev->data, ev->size, &len);
	if (len > TAP_TASK_COMM)
		len = TAP_TASK_COMM;
	memset(task->comm, 0, TAP_TASK_COMM);
	memcpy(task->comm, comm, len);
}

/* One that is new to us. Return: NULL when out of memory. */
static struct tap_task *meet_task(struct tap_timeline *t, int tid, const struct tap_field *comm,
				  const struct tap_event *ev)
{
	struct tap_task *task = add_task(t, tid, t->start_ns);

	if (!task)
		return NULL;
	if (ev->ts_ns < t->start_ns) /* fed before the window */
		task->since_ns = ev->ts_ns;
	set_comm(task, comm, ev);
	return task;
}

/*
 * The task that the event names, added if it is not known: then it has been there all along, in
 * a state that nobody knows. NULL for idle, and for what can be no tid (a file may lie).
 * Return: 0 or -ENOMEM.
 */
static int get_task(struct tap_timeline *t, int tid, const struct tap_field *comm,
		    const struct tap_event *ev, struct tap_task **out)
{
	struct tap_task *task = tap_tasks_find(&t->tasks, tid);

	if (!task && tid > 0 && tid < (int)TAP_MAX_TIDS) {
		task = meet_task(t, tid, comm, ev);
		if (!task)
			return -ENOMEM;
	}
	*out = task;
	return 0;
}

/* ---- stretches ---- */

static __attribute__((noinline)) int tell(struct tap_timeline *t, struct tap_task *task,
					  enum tap_state state, enum tap_state next,
					  uint64_t from_ns, uint64_t to_ns, bool whole,
					  const char *end, int next_cpu)
{
	struct tap_stretch s = {
		.task = task, .state = state, .next = next, .whole = whole,
		.from_ns = from_ns, .to_ns = to_ns, .cpu = task->cpu, .end = end,
		.next_cpu = next_cpu,
	};

	if (state == TAP_UNKNOWN && task->back != TAP_UNKNOWN) {
		s.back = task->back;
		s.back_ns = task->back_ns;
		task->back = TAP_UNKNOWN;
	}
	return t->on.stretch(t->opts.ctx, &s);
}

/*
 * The task did not wait after its waking: so that was in vain, as it found the task running or
 * preempted, unseen. That it had slept before was wrong.
 */
static void take_back_sleep(struct tap_timeline *t, struct tap_task *task)
{
	uint64_t ns = within(t, task->slept_from_ns, task->since_ns);

	if (task->state != TAP_WAKING || task->slept == TAP_UNKNOWN)
		return;
	task->total_ns[task->slept] -= ns;
	task->total_ns[TAP_UNKNOWN] += ns;
	task->back = task->slept;
	task->back_ns = task->since_ns - task->slept_from_ns;
}

/* Charges one stretch of a task's life to a state, and tells of it. */
static int close_stretch(struct tap_timeline *t, struct tap_task *task, enum tap_state state,
			 enum tap_state next, uint64_t from_ns, uint64_t to_ns, bool whole,
			 const char *end, int next_cpu)
{
	task->total_ns[state] += within(t, from_ns, to_ns);
	if (!(next == TAP_UNKNOWN ? t->told_lost : t->told)[state])
		return 0;
	if (to_ns < t->start_ns) {
		if (state == TAP_UNKNOWN)
			task->back = TAP_UNKNOWN;
		return 0;
	}
	/* an empty one has nothing to say, but that a sleep is taken back */
	if (to_ns == from_ns && !whole && task->back == TAP_UNKNOWN)
		return 0;
	return tell(t, task, state, next, from_ns, to_ns, whole, end, next_cpu);
}

/* Return: where the first hole that touches the time from @from_ns on begins. */
static uint64_t first_hole(const struct tap_timeline *t, uint64_t from_ns)
{
	const struct tap_hole *holes = t->opts.survey ? t->opts.survey->holes : NULL;
	unsigned int low = 0, high = t->next_hole;

	/* without a survey: only that there was one, so it may have begun at once */
	if (!holes)
		return from_ns;
	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (holes[mid].to_ns > from_ns)
			high = mid;
		else
			low = mid + 1;
	}
	return holes[low].from_ns > from_ns ? holes[low].from_ns : from_ns;
}

/* A task that runs is on a CPU whose chain holds: holes are elsewhere. */
static bool is_touched(const struct tap_timeline *t, const struct tap_task *task)
{
	return task->state != TAP_RUNNING && t->hole_end_ns > task->since_ns;
}

/*
 * A stretch that is not known to have lasted until now. A hole touched it: it is certain up to
 * there, if what ends it fits. If that does not fit, nobody knows when it really ended.
 */
static int leave_uncertain(struct tap_timeline *t, struct tap_task *task, enum tap_state next,
			   uint64_t now, bool fits, int next_cpu)
{
	uint64_t from = task->since_ns, sure = from;
	int ret = 0;

	/* it may have run anywhere */
	if (is_touched(t, task) || task->hidden || (!fits && t->has_breaks))
		task->run_cpu = -1;
	if (!fits)
		take_back_sleep(t, task);
	task->slept = TAP_UNKNOWN;
	if (fits && !task->doubtful && task->state != TAP_UNKNOWN)
		sure = first_hole(t, from);
	if (sure > from)
		ret = close_stretch(t, task, task->state, TAP_UNKNOWN, from, sure, false, "", -1);
	task->state = TAP_UNKNOWN;
	task->since_ns = sure;
	if (ret || next == TAP_UNKNOWN)
		return ret;
	return close_stretch(t, task, TAP_UNKNOWN, next, sure, now, false, "", next_cpu);
}

static void enter(struct tap_task *task, enum tap_state state, uint64_t now, bool certain)
{
	task->state = state;
	task->since_ns = now;
	task->certain = certain;
	task->doubtful = false;
}

/* Whether the task can have been in its state until now, as far as its own events tell. */
static bool lasted(const struct tap_task *task, bool fits)
{
	return fits && (!task->hidden || task->state == TAP_RUNNING);
}

/*
 * The task goes from its state to another. @fits: whether what ends the state is what can end
 * it: else something was missed.
 */
static int change(struct tap_timeline *t, struct tap_task *task, enum tap_state next, uint64_t now,
		  bool fits, const char *end, int next_cpu)
{
	int ret;

	fits = lasted(task, fits);
	if (fits && !is_touched(t, task) && task->state != TAP_UNKNOWN) {
		ret = close_stretch(t, task, task->state, next, task->since_ns, now, task->certain,
				    end, next_cpu);
		enter(task, next, now, true);
		task->slept = TAP_UNKNOWN;
		return ret;
	}
	ret = leave_uncertain(t, task, next, now, fits, next_cpu);
	if (next != TAP_UNKNOWN)
		enter(task, next, now, true);
	return ret;
}

/* The task's life is over: nothing of it is counted from here on. */
static int die(struct tap_timeline *t, struct tap_task *task, uint64_t now, bool fits,
	       const char *end)
{
	int ret;

	if (task->state == TAP_DEAD)
		return 0;
	ret = change(t, task, TAP_DEAD, now, fits, end, -1);
	task->died_ns = now;
	return ret;
}

/* A task of this tid begins its life: whoever had the tid before is gone. */
static int reborn(struct tap_timeline *t, struct tap_task **task, uint64_t now)
{
	struct tap_task *old = *task, *new;
	int ret = die(t, old, now, false, "");

	if (ret)
		return ret;
	new = add_task(t, old->tid, now);
	if (!new)
		return -ENOMEM;
	memcpy(new->comm, old->comm, TAP_TASK_COMM);
	new->reused = true;
	*task = new;
	return 0;
}

/* ---- CPUs ---- */

/* Return: 0 or -ENOMEM. */
static int add_cpus(struct tap_timeline *t, unsigned int nr)
{
	if (nr > t->cap_cpus) {
		unsigned int cap = t->cap_cpus ? 2 * t->cap_cpus : 8;
		struct tap_cpu *cpus;

		if (cap < nr)
			cap = nr;
		cpus = reallocarray(t->cpus, cap, sizeof(*cpus));
		if (!cpus)
			return -ENOMEM;
		t->cpus = cpus;
		t->cap_cpus = cap;
	}
	while (t->nr_cpus < nr)
		t->cpus[t->nr_cpus++] = (struct tap_cpu){ 0 };
	return 0;
}

static __attribute__((noinline)) int tell_cpu(struct tap_timeline *t, const struct tap_cpu *c,
					      uint64_t from_ns, uint64_t to_ns)
{
	struct tap_cpu_stretch s = {
		.cpu = (int)(c - t->cpus), .task = c->known ? c->task : NULL,
		.from_ns = clip(t, from_ns), .to_ns = clip(t, to_ns),
		.what = c->task ? TAP_CPU_RUN : TAP_CPU_IDLE,
	};

	if (!c->known)
		s.what = c->offline ? TAP_CPU_OFFLINE : TAP_CPU_UNKNOWN;

	return s.to_ns > s.from_ns ? t->on.cpu(t->opts.ctx, &s) : 0;
}

/* Accounts for the CPU's time up to @now, to what it is known to run. */
static int close_cpu(struct tap_timeline *t, struct tap_cpu *c, uint64_t now)
{
	uint64_t from = c->since_ns, *sum = &c->run_ns;

	if (now < from) /* a loss may begin before the CPU's last event */
		return 0;
	if (!c->known)
		sum = c->offline ? &c->offline_ns : &c->unknown_ns;
	else if (!c->task)
		sum = &c->idle_ns;
	*sum += within(t, from, now);
	c->since_ns = now;
	if (!t->on.cpu || (c->known && t->on.unknown_cpus_only))
		return 0;
	return tell_cpu(t, c, from, now);
}

/* From @now on nobody knows what the CPU runs. */
static int lose_cpu(struct tap_timeline *t, unsigned int cpu, uint64_t now)
{
	struct tap_cpu *c = &t->cpus[cpu];
	struct tap_task *task = c->known ? c->task : NULL;
	int ret = close_cpu(t, c, now);

	if (!ret && task && task->state == TAP_RUNNING && task->cpu == (int)cpu) {
		/* it ran up to here, and its slice does not count as one */
		task->certain = false;
		ret = change(t, task, TAP_UNKNOWN, c->since_ns, true, "", -1);
	}
	c->known = c->broken = c->offline = false;
	c->task = NULL;
	return ret;
}

/* The chain of @cpu does not hold: all since its last switch belongs to nobody. */
static void break_cpu(struct tap_timeline *t, unsigned int cpu)
{
	struct tap_cpu *c = &t->cpus[cpu];
	struct tap_task *task = c->task;

	c->known = false;
	c->task = NULL;
	if (task && task->state == TAP_RUNNING && task->cpu == (int)cpu)
		enter(task, TAP_UNKNOWN, task->since_ns, false);
}

/* A task is seen elsewhere than on the CPU that it was thought to run on. */
static void contradict(struct tap_timeline *t, struct tap_task *task)
{
	t->cpus[task->cpu].broken = true;
	break_cpu(t, (unsigned int)task->cpu);
}

/* ---- what the survey knows ---- */

/* The next instants of usual_switch(): behind all that is known by now, before what comes next. */
static void find_usual(struct tap_timeline *t)
{
	uint64_t end = t->end_ns < t->next_break_ns ? t->end_ns + 1 : t->next_break_ns;

	t->usual_since_ns = t->hole_end_ns > t->start_ns ? t->hole_end_ns : t->start_ns;
	t->usual_from_ns = t->usual_since_ns;
	/* a task that goes to sleep just then may be woken, unseen, on its way out */
	if (t->hole_end_ns && t->hole_end_ns + ON_ITS_WAY_OUT_NS + 1 > t->usual_from_ns)
		t->usual_from_ns = t->hole_end_ns + ON_ITS_WAY_OUT_NS + 1;
	if (t->usual_from_ns < t->hole_end_ns) /* a file may lie */
		end = 0;
	t->usual_ns = t->have_start && t->have_end && t->opts.survey && end > t->usual_from_ns ?
			      end - t->usual_from_ns : 0;
}

static void set_mark(struct tap_timeline *t)
{
	const struct tap_survey *s = t->opts.survey;

	t->next_mark_ns = t->have_start && t->have_end ? UINT64_MAX : 0;
	/* what happens at the time when they begin is still certain */
	if (s && t->next_hole < s->nr_holes && s->holes[t->next_hole].from_ns < t->next_mark_ns)
		t->next_mark_ns = s->holes[t->next_hole].from_ns + 1;
	if (s && t->next_loss < s->nr_kept_losses &&
	    s->losses[t->next_loss].from_ns < t->next_mark_ns)
		t->next_mark_ns = s->losses[t->next_loss].from_ns + 1;
	find_usual(t);
}

static int begin_loss(struct tap_timeline *t, const struct tap_loss *l)
{
	int ret = 0;

	/* of the switches, that is; other buffers' losses are holes, no more */
	if (t->buffer[TAP_SHAPE_SWITCH] != TAP_NO_BUFFER &&
	    t->buffer[TAP_SHAPE_SWITCH] != l->buffer)
		return 0;
	if (l->cpu >= 0) {
		ret = add_cpus(t, (unsigned int)l->cpu + 1);
		return ret ? ret : lose_cpu(t, (unsigned int)l->cpu, l->from_ns);
	}
	for (unsigned int i = 0; !ret && i < t->nr_cpus; i++)
		ret = lose_cpu(t, i, l->from_ns);
	return ret;
}

/* Holes and losses that began before @now. */
static int pass_marks(struct tap_timeline *t, uint64_t now)
{
	const struct tap_survey *s = t->opts.survey;
	int ret = 0;

	while (!ret && t->next_loss < s->nr_kept_losses &&
	       s->losses[t->next_loss].from_ns < now)
		ret = begin_loss(t, &s->losses[t->next_loss++]);
	for (; t->next_hole < s->nr_holes && s->holes[t->next_hole].from_ns < now; t->next_hole++)
		t->hole_end_ns = s->holes[t->next_hole].to_ns; /* they are disjoint */
	set_mark(t);
	return ret;
}

/* Return: what the survey knows of how the task that is switched in now on @cpu leaves it unseen. */
static const struct tap_break *find_break(struct tap_timeline *t, int cpu, uint64_t now)
{
	const struct tap_survey *s = t->opts.survey;
	unsigned int i;

	while (t->next_break < s->nr_breaks && s->breaks[t->next_break].from_ns < now)
		t->next_break++;
	t->next_break_ns = t->next_break < s->nr_breaks ? s->breaks[t->next_break].from_ns :
							  UINT64_MAX;
	find_usual(t);
	for (i = t->next_break; i < s->nr_breaks && s->breaks[i].from_ns == now; i++)
		if (s->breaks[i].cpu == cpu)
			return &s->breaks[i];
	return NULL;
}

/* ---- events ---- */

static bool is_asleep(const struct tap_task *task)
{
	return tap_state_is_sleep(task->state);
}

/* A task that was thought to be dead is seen: its tid was given out again, unseen. */
static int revive(struct tap_timeline *t, struct tap_task **task, uint64_t now)
{
	int ret;

	if (!*task || (*task)->state != TAP_DEAD)
		return 0;
	ret = reborn(t, task, now);
	(*task)->seen = true; /* it was at work before this, so a waking proves nothing */
	return ret;
}

/*
 * Where some tasks are hidden, so may be an exit, and the fork that gives the tid out again. Who
 * waits does not change its name meanwhile: then it is another, or ran unseen, or was renamed from
 * outside (/proc/TID/comm).
 */
static inline bool is_renamed(const struct tap_timeline *t, const struct tap_task *task,
			      const struct tap_field *comm, const struct tap_event *ev)
{
	const char *now;
	uint32_t len;

	if (!t->has_breaks || !comm || !*task->comm)
		return false;
	if (tap_is_plain_comm(comm))
		return !is_same_comm(plain_comm(comm, ev), task->comm);
	now = tap_field_bytes(comm, ev->data, ev->size, &len);
	return len && strncmp(now, task->comm, len < TAP_TASK_COMM ? len : TAP_TASK_COMM);
}

/* Closes what the CPU ran until now. Return: 1 if that was @task, certainly; 0; -errno. */
static int leave_cpu(struct tap_timeline *t, struct tap_cpu *c, const struct tap_task *task,
		     uint64_t now)
{
	bool fits = c->known && c->task == task;
	int ret;

	if (!fits && (c->known || c->broken)) {
		c->breaks += inside(t, now);
		/* the survey did not tell: any task may have run here */
		if (!t->opts.survey && c->since_ns < now)
			t->hole_end_ns = now;
		break_cpu(t, (unsigned int)(c - t->cpus));
	}
	c->broken = false;
	ret = close_cpu(t, c, now);
	return ret ? ret : fits;
}

static int switch_out(struct tap_timeline *t, const struct tap_shape *s, const struct tap_event *ev,
		      struct tap_task *task, uint64_t now, bool fits, bool counts)
{
	const struct tap_letter *letter;
	int ret;

	set_comm(task, s->from_comm, ev);
	letter = tap_letters_get(&t->letters, (uint64_t)tap_num_get(&s->value, ev));
	if (!letter)
		return -ENOMEM;
	if (!fits && task->state == TAP_RUNNING)
		contradict(t, task);
	/* it was woken while it ran, before anything was seen of its CPU */
	if (task->state == TAP_WAKING)
		task->woken_running_ns = task->woken_ns;
	task->slices += fits && counts;
	if (letter->state == TAP_DEAD)
		ret = die(t, task, now, fits, letter->text);
	else
		ret = change(t, task, letter->state, now, fits, letter->text, -1);
	task->cpu = task->run_cpu = ev->cpu;
	task->placed = false;
	task->seen = true;
	if (!is_asleep(task) || now - task->woken_running_ns > ON_ITS_WAY_OUT_NS)
		task->woken_running_ns = 0;
	/* woken on its way out, or so it may have been unseen */
	task->doubtful = is_asleep(task) &&
			 (task->woken_running_ns || (t->hole_end_ns &&
			  now - t->hole_end_ns <= ON_ITS_WAY_OUT_NS));
	return ret;
}

/*
 * The wakeup of a task that was just about to sleep: it came while the task was still on its CPU,
 * and was not over when that gave it up. So it was runnable from then on.
 */
static void wake_late(struct tap_task *task)
{
	task->state = TAP_WAKING;
	task->woken_ns = task->since_ns;
	task->woken_running_ns = 0;
	task->doubtful = false;
}

/* A sleeper is seen to be awake, and no waking said so since it went to sleep. */
static int wake_unseen(struct tap_timeline *t, struct tap_task *task, uint64_t now)
{
	if (!task->woken_running_ns || is_touched(t, task))
		return change(t, task, TAP_UNKNOWN, now, false, "", -1);
	wake_late(task);
	return 0;
}

static int switch_in(struct tap_timeline *t, struct tap_task *task, int cpu, uint64_t now,
		     bool certain)
{
	bool fits;
	int ret = 0;

	fits = t->no_wakeups && is_asleep(task);
	if (is_asleep(task) && !fits)
		ret = wake_unseen(t, task, now);
	if (ret)
		return ret;
	task->woken_running_ns = 0;
	task->is_new = false;
	if (task->state == TAP_RUNNING)
		contradict(t, task);
	fits |= task->state == TAP_WAKING || task->state == TAP_PREEMPTED;
	if (fits)
		task->cpu = cpu; /* where it waits at last, also if no event said so */
	if (!t->has_migrate && task->run_cpu >= 0 && task->run_cpu != cpu)
		task->migrations += inside(t, now);
	ret = change(t, task, certain ? TAP_RUNNING : TAP_UNKNOWN, now, fits, "", cpu);
	task->from_cpu = task->run_cpu;
	task->cpu = task->run_cpu = cpu;
	return ret;
}

/* Return: 0 or -ENOMEM. */
static int learn_letters(struct tap_timeline *t, const struct tap_shape *s)
{
	int ret;

	tap_letters_release(&t->letters);
	ret = tap_letters_init(&t->letters, s->fmt, s->value.field);
	t->letters_of = ret ? NULL : s->fmt;
	t->switch_fmt = !ret && s->plain ? s->fmt : &no_format;
	t->switches = s;
	return ret;
}

static int on_switch(struct tap_timeline *t, const struct tap_shape *s, const struct tap_event *ev)
{
	struct tap_cpu *c = &t->cpus[ev->cpu];
	int prev = tap_num_int(&s->from, ev), next = tap_num_int(&s->tid, ev);
	const uint64_t now = ev->ts_ns;
	const bool counts = inside(t, now);
	const struct tap_break *b = NULL;
	struct tap_task *task;
	int ret = 0;

	if (t->letters_of != s->fmt)
		ret = learn_letters(t, s);
	task = c->task;
	if (!ret && (!c->known || (task ? task->tid : 0) != prev))
		ret = get_task(t, prev, s->from_comm, ev, &task);
	if (!ret)
		ret = revive(t, &task, now);
	if (!ret)
		ret = leave_cpu(t, c, task, now);
	if (ret >= 0 && task)
		ret = switch_out(t, s, ev, task, now, ret, counts);
	if (ret >= 0)
		ret = get_task(t, next, s->comm, ev, &task);
	if (!ret)
		ret = revive(t, &task, now);
	if (!ret && task && is_renamed(t, task, s->comm, ev)) {
		ret = change(t, task, TAP_UNKNOWN, now, false, "", -1);
		set_comm(task, s->comm, ev);
	}
	if (ret)
		return ret;
	c->switches += counts;
	if (now >= t->next_break_ns)
		b = find_break(t, ev->cpu, now);
	c->broken = b && b->what == TAP_BREAK_MISSED;
	c->offline = b && b->what == TAP_BREAK_OFFLINE;
	c->known = !b && next >= 0 && next < (int)TAP_MAX_TIDS;
	c->task = c->known ? task : NULL;
	if (!task)
		return 0;
	if (s->prio.size)
		task->prio = tap_num_int(&s->prio, ev);
	task->seen = true;
	return switch_in(t, task, ev->cpu, now, c->known);
}

static __attribute__((noinline)) int tell_wakeup(struct tap_timeline *t, const struct tap_shape *s,
						 const struct tap_event *ev, struct tap_task *task,
						 bool is_new)
{
	struct tap_wakeup w = {
		.task = task, .cpu = ev->cpu, .ts_ns = ev->ts_ns, .is_new = is_new,
		.target_cpu = tap_num_int(&s->value, ev),
	};

	if (!inside(t, ev->ts_ns))
		return 0;
	w.waker = tap_timeline_task(t, tap_num_int(&s->current, ev));
	return t->on.wakeup(t->opts.ctx, &w);
}

/*
 * Who was interrupted is not who wakes: where only sched_wakeup was recorded, it may come from the
 * CPU on which the task will run, by the interrupt that tells it so.
 */
static int waker_of(const struct tap_shape *s, const struct tap_event *ev)
{
	if (s->kind == TAP_SHAPE_WAKEUP && tap_num_int(&s->value, ev) == ev->cpu)
		return -1;
	return tap_num_int(&s->current, ev);
}

static void note_waker(struct tap_task *task, int waker, uint64_t now, const struct tap_shape *s,
		       const struct tap_event *ev)
{
	task->woken_ns = now;
	task->waker_tid = waker;
	task->waker_cpu = ev->cpu;
	task->placed = false;
	task->seen = true;
	if (s->value.size)
		task->cpu = tap_num_int(&s->value, ev);
	if (s->prio.size)
		task->prio = tap_num_int(&s->prio, ev);
}

/*
 * A waking proves that the task slept, but for one that was preempted on its way to sleep: that
 * is in a run queue all along, and this is no wait that begins. So only if its state was known, or
 * if nothing at all is known of it, and nothing was lost, does a waking count as one.
 */
static int begin_wait(struct tap_timeline *t, struct tap_task *task, uint64_t now)
{
	bool first = task->state == TAP_UNKNOWN && !task->seen && !is_touched(t, task);
	bool known = is_asleep(task) && !is_touched(t, task);
	enum tap_state slept = known ? task->state : TAP_UNKNOWN;
	uint64_t from = task->since_ns;
	int ret;

	task->woken_running_ns = first || known ? 0 : now; /* or it runs, unseen */
	if (!first && !known)
		return change(t, task, TAP_UNKNOWN, now, is_asleep(task), "", -1);
	ret = change(t, task, TAP_WAKING, now, known, "", -1);
	task->slept = slept;
	task->slept_from_ns = from;
	return ret;
}

/* The first sign of a wakeup: sched_waking, or sched_wakeup where only that was recorded. */
static int on_waking(struct tap_timeline *t, const struct tap_shape *s, const struct tap_event *ev)
{
	const uint64_t now = ev->ts_ns;
	int by = tap_num_int(&s->current, ev), waker = waker_of(s, ev);
	struct tap_task *task;
	int ret;

	ret = get_task(t, tap_num_int(&s->tid, ev), s->comm, ev, &task);
	if (!ret)
		ret = revive(t, &task, now);
	if (ret || !task)
		return ret;
	if (t->on.wakeup)
		ret = tell_wakeup(t, s, ev, task, false);
	if (ret)
		return ret;
	task->is_new = false;
	if (by == task->tid) /* by itself: so it runs, and goes on */
		return 0;
	switch (task->state) {
	case TAP_RUNNING:
		/* nor by a clock that shows the same time on another CPU */
		if (now == task->since_ns)
			return 0;
		task->woken_running_ns = now;
		task->waker_tid = waker;
		task->waker_cpu = ev->cpu;
		return 0;
	case TAP_PREEMPTED: /* as it was about to sleep: now it stays runnable */
		return 0;
	default:
		ret = begin_wait(t, task, now);
	}
	note_waker(task, waker, now, s, ev);
	return ret;
}

static int on_wakeup(struct tap_timeline *t, const struct tap_shape *s, const struct tap_event *ev)
{
	struct tap_task *task;
	int ret;

	t->has_wakeup = true;
	if (!t->has_waking)
		return on_waking(t, s, ev);
	ret = get_task(t, tap_num_int(&s->tid, ev), s->comm, ev, &task);
	if (ret || !task)
		return ret;
	if (is_asleep(task))
		ret = wake_unseen(t, task, ev->ts_ns);
	task->woken_running_ns = 0; /* if it runs: the wakeup found it running, and is over */
	if (task->state == TAP_WAKING) {
		if (s->value.size)
			task->cpu = tap_num_int(&s->value, ev);
		task->placed = true;
	}
	return ret;
}

/* A new task for the tid. NULL for what can be no tid. Return: 0 or -errno. */
static int bear(struct tap_timeline *t, const struct tap_shape *s, const struct tap_event *ev,
		struct tap_task **task)
{
	int tid = tap_num_int(&s->tid, ev);
	int ret = 0;

	*task = NULL;
	if (tid <= 0 || tid >= (int)TAP_MAX_TIDS)
		return 0;
	*task = tap_timeline_task(t, tid);
	if (*task)
		ret = reborn(t, task, ev->ts_ns);
	else
		*task = add_task(t, tid, ev->ts_ns);
	if (ret || !*task)
		return ret ? ret : -ENOMEM;
	set_comm(*task, s->comm, ev);
	(*task)->is_new = true;
	return 0;
}

static int on_fork(struct tap_timeline *t, const struct tap_shape *s, const struct tap_event *ev)
{
	struct tap_task *task = tap_timeline_task(t, tap_num_int(&s->tid, ev));

	if (!task || !task->is_new || !task->is_told)
		return bear(t, s, ev, &task);
	task->is_told = false;
	set_comm(task, s->comm, ev);
	return 0;
}

/* The kernel traces it just before the fork. */
static int on_newtask(struct tap_timeline *t, const struct tap_shape *s, const struct tap_event *ev)
{
	const uint64_t clone_thread = 0x10000;
	struct tap_task *task, *parent;
	int ret;

	ret = get_task(t, tap_num_int(&s->current, ev), s->comm, ev, &parent);
	if (!ret)
		ret = revive(t, &parent, ev->ts_ns);
	if (!ret)
		ret = bear(t, s, ev, &task);
	if (ret || !task)
		return ret;
	task->is_told = true;
	if (!((uint64_t)tap_num_get(&s->value, ev) & clone_thread)) {
		task->tgid = task->tid;
	} else if (parent) {
		task->tgid = parent->tgid;
		task->kin = parent->kin ? parent->kin : parent;
	}
	return 0;
}

/* Its life begins here, or a moment ago with the fork, when it could not run yet. */
static int on_wakeup_new(struct tap_timeline *t, const struct tap_shape *s,
			 const struct tap_event *ev)
{
	int tid = tap_num_int(&s->tid, ev);
	struct tap_task *task;
	int ret = 0;

	if (tid <= 0 || tid >= (int)TAP_MAX_TIDS)
		return 0;
	task = tap_timeline_task(t, tid);
	if (!task)
		task = add_task(t, tid, ev->ts_ns);
	else if (!task->is_new)
		ret = reborn(t, &task, ev->ts_ns);
	if (ret || !task)
		return ret ? ret : -ENOMEM;
	task->is_new = false;
	task->born_ns = ev->ts_ns;
	set_comm(task, s->comm, ev);
	if (t->on.wakeup)
		ret = tell_wakeup(t, s, ev, task, true);
	enter(task, TAP_WAKING, ev->ts_ns, true);
	note_waker(task, waker_of(s, ev), ev->ts_ns, s, ev);
	task->placed = true;
	return ret;
}

/* The program's name is the task's, as begin_new_exec() has it: what it does now, it does as that. */
static void set_exec_comm(struct tap_task *task, const struct tap_field *f, const struct tap_event *ev)
{
	uint32_t len = 0, from;
	const char *path = f ? tap_field_bytes(f, ev->data, ev->size, &len) : NULL;

	for (from = len; from && path[from - 1] != '/';)
		from--;
	len -= from;
	if (!len)
		return;
	memset(task->comm, 0, TAP_TASK_COMM);
	memcpy(task->comm, path + from, len < TAP_TASK_COMM ? len : TAP_TASK_COMM - 1);
}

/* A thread that is not the leader takes over the leader's tid: it goes on running as that. */
static int on_exec(struct tap_timeline *t, const struct tap_shape *s, const struct tap_event *ev)
{
	struct tap_cpu *c = &t->cpus[ev->cpu];
	struct tap_task *old, *new;
	int ret;

	ret = get_task(t, tap_num_int(&s->from, ev), NULL, ev, &old);
	if (!ret)
		ret = get_task(t, tap_num_int(&s->tid, ev), NULL, ev, &new);
	if (!ret && new) {
		set_exec_comm(new, s->comm, ev);
		new->tgid = new->tid; /* who executes a program is its leader */
	}
	if (ret || !old || !new || old == new)
		return ret;
	ret = close_cpu(t, c, ev->ts_ns);
	if (!ret)
		ret = die(t, old, ev->ts_ns, old->state == TAP_RUNNING && old->cpu == ev->cpu, "");
	if (!ret)
		ret = reborn(t, &new, ev->ts_ns);
	if (ret)
		return ret;
	set_exec_comm(new, s->comm, ev);
	new->tgid = new->tid;
	new->prio = old->prio;
	new->cpu = new->run_cpu = ev->cpu;
	if (!c->known || c->task != old)
		return 0;
	enter(new, TAP_RUNNING, ev->ts_ns, true);
	c->task = new;
	return 0;
}

/*
 * Who moves it: a wakeup does at once, where the waker runs; the stopper obeys others. A waker that runs out
 * of work pulls what waits to its own CPU, too: a sched_wakeup in between tells that from placing, and
 * else time does. What a hole leaves open is neither.
 */
static enum tap_migration_why why_moved(const struct tap_timeline *t, const struct tap_shape *s,
					const struct tap_task *task, const struct tap_event *ev)
{
	static const char stopper[] = "migration/";
	const struct tap_task *current;
	int by = tap_num_int(&s->current, ev);

	if (task->is_new)
		return TAP_MIGRATE_WAKEUP;
	if (task->state != TAP_WAKING && task->state != TAP_PREEMPTED)
		return TAP_MIGRATE_OTHER;
	if (is_touched(t, task) || task->hidden)
		return TAP_MIGRATE_OTHER;
	if (task->state == TAP_WAKING && !task->placed && task->waker_cpu == ev->cpu &&
	    task->waker_tid == by)
		return t->has_wakeup || ev->ts_ns - task->woken_ns <= PLACED_WITHIN_NS ||
				       tap_num_int(&s->value, ev) != ev->cpu ?
			       TAP_MIGRATE_WAKEUP :
			       TAP_MIGRATE_OTHER;
	current = tap_timeline_task(t, by);
	if (current && !strncmp(current->comm, stopper, strlen(stopper)))
		return TAP_MIGRATE_OTHER;
	return TAP_MIGRATE_BALANCE;
}

/*
 * Its wakeup moves it, which came as it was about to sleep. Or a balancer does: from v6.12 on a sleeper may
 * stay in its run queue for a while (delayed dequeue). Or its waking was missed, and what comes next
 * will tell.
 */
static void moved_asleep(struct tap_timeline *t, struct tap_task *task, const struct tap_shape *s,
			 const struct tap_event *ev)
{
	if (task->woken_running_ns && task->waker_cpu == ev->cpu &&
	    task->waker_tid == tap_num_int(&s->current, ev) && !is_touched(t, task))
		wake_late(task);
	else
		task->doubtful = true;
}

static int on_migrate(struct tap_timeline *t, const struct tap_shape *s, const struct tap_event *ev)
{
	struct tap_migration m = {
		.from = tap_num_int(&s->from, ev),
		.to = tap_num_int(&s->value, ev),
		.cpu = ev->cpu,
		.ts_ns = ev->ts_ns,
	};
	int ret;

	ret = get_task(t, tap_num_int(&s->tid, ev), s->comm, ev, &m.task);
	if (ret || !m.task)
		return ret;
	if (t->has_waking && is_asleep(m.task))
		moved_asleep(t, m.task, s, ev);
	m.why = why_moved(t, s, m.task, ev);
	if (inside(t, ev->ts_ns)) {
		m.task->migrations++;
		if (t->on.migration)
			ret = t->on.migration(t->opts.ctx, &m);
	}
	m.task->placed = true;
	if (m.task->state != TAP_RUNNING)
		m.task->cpu = m.to;
	return ret;
}

static int on_iowait(struct tap_timeline *t, const struct tap_shape *s, const struct tap_event *ev)
{
	uint64_t delay = (uint64_t)tap_num_get(&s->value, ev), from;
	struct tap_task *task;
	int ret = get_task(t, tap_num_int(&s->tid, ev), s->comm, ev, &task);

	if (ret || !task)
		return ret;
	from = delay < ev->ts_ns ? ev->ts_ns - delay : 0;
	task->iowait_ns += clip(t, ev->ts_ns) - clip(t, from);
	if (task->iowait_ns > task->total_ns[TAP_BLOCKED])
		task->iowait_ns = task->total_ns[TAP_BLOCKED];
	return 0;
}

static int on_named(struct tap_timeline *t, const struct tap_shape *s, const struct tap_event *ev)
{
	struct tap_task *task;
	int ret = get_task(t, tap_num_int(&s->tid, ev), s->comm, ev, &task);

	if (ret || !task)
		return ret;
	if (s->kind == TAP_SHAPE_RENAME)
		set_comm(task, s->comm, ev);
	else
		task->cgroup = (uint64_t)tap_num_get(&s->value, ev);
	return 0;
}

/* The survey knows of it already; without one it is a hole that is known too late. */
static int on_loss(struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_loss l = {
		.cpu = ev->cpu, .buffer = ev->buffer, .to_ns = ev->ts_ns, .count = ev->lost.count,
		.from_ns = ev->lost.first_ns < ev->ts_ns ? ev->lost.first_ns : ev->ts_ns,
	};
	int ret = 0;

	if (ev->cpu >= (int)TAP_MAX_CPUS)
		return 0;
	if (ev->cpu >= 0)
		ret = add_cpus(t, (unsigned int)ev->cpu + 1);
	if (ret)
		return ret;
	if (ev->cpu >= 0 && ev->ts_ns >= t->start_ns && !(t->have_end && l.from_ns > t->end_ns))
		t->cpus[ev->cpu].lost += l.count;
	if (t->opts.survey)
		return 0;
	t->hole_end_ns = ev->ts_ns > t->hole_end_ns ? ev->ts_ns : t->hole_end_ns;
	return begin_loss(t, &l);
}

static int on_event(struct tap_timeline *t, const struct tap_shape *s, const struct tap_event *ev)
{
	switch (s->kind) {
	case TAP_SHAPE_SWITCH:
		return on_switch(t, s, ev);
	case TAP_SHAPE_WAKING:
		t->has_waking = true;
		return on_waking(t, s, ev);
	case TAP_SHAPE_WAKEUP:
		return on_wakeup(t, s, ev);
	case TAP_SHAPE_WAKEUP_NEW:
		return on_wakeup_new(t, s, ev);
	case TAP_SHAPE_NEWTASK:
		return on_newtask(t, s, ev);
	case TAP_SHAPE_FORK:
		return on_fork(t, s, ev);
	case TAP_SHAPE_EXEC:
		return on_exec(t, s, ev);
	case TAP_SHAPE_MIGRATE:
		t->has_migrate = true;
		return on_migrate(t, s, ev);
	case TAP_SHAPE_IOWAIT:
		return on_iowait(t, s, ev);
	default:
		return on_named(t, s, ev);
	}
}

/* ---- the usual event ---- */

/*
 * Nearly every switch takes a task off a CPU whose chain holds and lets one run that is known to wait,
 * and nearly every waking finds its task asleep. Where that is so, and no break, hole or border of the
 * window is near, this is all that on_switch() and on_waking() would do, in half of the time.
 */

/* The task has been in its state since then, certainly and within the window. */
static inline bool is_usual(const struct tap_timeline *t, const struct tap_task *task)
{
	return task->certain && task->since_ns >= t->usual_since_ns;
}

/* As change() has it. */
static inline __attribute__((always_inline)) int
usual_change(struct tap_timeline *t, struct tap_task *task, enum tap_state next, uint64_t now,
	     const char *end, int next_cpu)
{
	enum tap_state state = task->state;
	uint64_t from = task->since_ns;
	int ret = 0;

	task->total_ns[state] += now - from;
	if (t->told[state])
		ret = t->on.stretch(t->opts.ctx, &(struct tap_stretch){
			.task = task, .state = state, .next = next, .whole = true, .from_ns = from,
			.to_ns = now, .cpu = task->cpu, .end = end, .next_cpu = next_cpu,
		});
	enter(task, next, now, true);
	task->slept = TAP_UNKNOWN;
	return ret;
}

static inline bool can_leave(const struct tap_timeline *t, const struct tap_task *task)
{
	return task->state == TAP_RUNNING && is_usual(t, task) && !task->woken_running_ns;
}

static inline bool can_come(const struct tap_timeline *t, const struct tap_task *task,
			    const struct tap_field *comm, const struct tap_event *ev)
{
	return (task->state == TAP_WAKING || task->state == TAP_PREEMPTED) && is_usual(t, task) &&
	       !task->hidden && !is_renamed(t, task, comm, ev);
}

static inline __attribute__((always_inline)) int
usual_out(struct tap_timeline *t, struct tap_task *task, int cpu, uint64_t now,
	  const struct tap_letter *letter, const char *comm)
{
	int ret;

	memcpy(task->comm, comm, TAP_TASK_COMM);
	task->slices++;
	ret = usual_change(t, task, letter->state, now, letter->text, -1);
	task->cpu = task->run_cpu = cpu;
	task->placed = false;
	task->seen = true;
	return ret;
}

static inline __attribute__((always_inline)) int
usual_in(struct tap_timeline *t, struct tap_task *task, int cpu, uint64_t now, int prio)
{
	int ret;

	if (!t->has_migrate && task->run_cpu >= 0)
		task->migrations += task->run_cpu != cpu;
	task->prio = prio;
	task->cpu = cpu;
	ret = usual_change(t, task, TAP_RUNNING, now, "", cpu);
	task->from_cpu = task->run_cpu;
	task->run_cpu = cpu;
	task->woken_running_ns = 0;
	task->seen = true;
	task->is_new = false;
	return ret;
}

/* Return: 1: done; 0: it is not a usual one; -errno. */
static inline __attribute__((always_inline)) int
usual_switch(struct tap_timeline *t, const struct tap_event *ev)
{
	const struct tap_shape *s = t->switches;
	const int prev = tap_num_s32(&s->from, ev), next = tap_num_s32(&s->tid, ev), cpu = ev->cpu;
	const int prio = tap_num_s32(&s->prio, ev);
	const uint64_t now = ev->ts_ns, value = tap_num_u64(&s->value, ev);
	const char *comm = plain_comm(s->from_comm, ev);
	struct tap_cpu *c = &t->cpus[cpu];
	struct tap_task *out = c->task, *in = tap_tasks_find(&t->tasks, next);
	const struct tap_letter *letter = NULL;
	int ret;

	if (!c->known || c->since_ns < t->usual_since_ns || prev != (out ? out->tid : 0))
		return 0;
	if (out) {
		letter = value < TAP_LETTERS_SMALL ? t->letters.small[value] : NULL;
		if (!letter || letter->state == TAP_DEAD || !can_leave(t, out))
			return 0;
	}
	if (in ? !can_come(t, in, s->comm, ev) : next)
		return 0;
	*(out ? &c->run_ns : &c->idle_ns) += now - c->since_ns;
	if (t->tells_cpus) {
		ret = tell_cpu(t, c, c->since_ns, now);
		if (ret)
			return ret;
	}
	c->since_ns = now;
	c->switches++;
	c->task = in;
	if (out) {
		ret = usual_out(t, out, cpu, now, letter, comm);
		if (ret)
			return ret;
	}
	ret = in ? usual_in(t, in, cpu, now, prio) : 0;
	return ret ? ret : 1;
}

/* As usual_switch(). */
static inline __attribute__((always_inline)) int
usual_waking(struct tap_timeline *t, const struct tap_event *ev)
{
	const struct tap_shape *s = t->wakings;
	const int by = tap_num_s32(&s->current, ev), tid = tap_num_s32(&s->tid, ev), cpu = ev->cpu;
	const int prio = tap_num_s32(&s->prio, ev), target = tap_num_s32(&s->value, ev);
	const uint64_t now = ev->ts_ns;
	struct tap_task *task = tap_tasks_find(&t->tasks, tid);
	enum tap_state slept;
	uint64_t from;
	int ret = 0;

	if (!task || !is_asleep(task) || !is_usual(t, task) || task->doubtful || task->hidden ||
	    by == tid)
		return 0;
	t->cpus[cpu].seen = true;
	if (t->on.wakeup)
		ret = tell_wakeup(t, s, ev, task, false);
	if (ret)
		return ret;
	from = task->since_ns;
	slept = task->state;
	ret = usual_change(t, task, TAP_WAKING, now, "", -1);
	task->slept = slept;
	task->slept_from_ns = from;
	task->cpu = target;
	task->prio = prio;
	task->woken_running_ns = 0;
	task->woken_ns = now;
	task->waker_tid = by;
	task->waker_cpu = cpu;
	task->placed = false;
	task->seen = true;
	task->is_new = false;
	return ret ? ret : 1;
}

/* ---- the outside ---- */

int tap_timeline_new(const struct tap_timeline_opts *opts, struct tap_timeline **out)
{
	struct tap_timeline *t = calloc(1, sizeof(*t));
	const struct tap_survey *s = opts->survey;

	*out = NULL;
	if (!t)
		return -ENOMEM;
	t->opts = *opts;
	if (opts->observer)
		t->on = *opts->observer;
	for (unsigned int i = 0; i < TAP_NR_STATES; i++) {
		t->told[i] = t->on.states & TAP_STATE_BIT(i);
		t->told_lost[i] = (t->on.states | t->on.lost_states) & TAP_STATE_BIT(i);
	}
	t->have_start = opts->start_ns;
	t->start_ns = opts->start_ns;
	t->have_end = opts->end_ns && opts->end_ns != UINT64_MAX;
	t->end_ns = t->have_end && opts->end_ns > t->start_ns ? opts->end_ns : t->start_ns;
	for (unsigned int i = 0; i < TAP_NR_SHAPES; i++)
		t->buffer[i] = s ? s->buffer[i] : TAP_NO_BUFFER;
	t->has_waking = s && s->buffer[TAP_SHAPE_WAKING] != TAP_NO_BUFFER;
	t->has_wakeup = s && s->buffer[TAP_SHAPE_WAKEUP] != TAP_NO_BUFFER;
	t->no_wakeups = s && !tap_survey_has_wakeups(s);
	t->has_migrate = s && s->buffer[TAP_SHAPE_MIGRATE] != TAP_NO_BUFFER;
	t->has_breaks = s && s->has_breaks;
	t->tells_cpus = t->on.cpu && !t->on.unknown_cpus_only;
	t->switch_fmt = t->waking_fmt = &no_format;
	t->next_break_ns = s && s->nr_breaks ? 0 : UINT64_MAX;
	set_mark(t);
	if (tap_shapes_init(&t->shapes) ||
	    add_cpus(t, opts->nr_cpus < TAP_MAX_CPUS ? opts->nr_cpus : TAP_MAX_CPUS)) {
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
	tap_letters_release(&t->letters);
	tap_shapes_release(&t->shapes);
	free(t->cpus);
	free(t);
}

bool tap_timeline_wants(const struct tap_format *fmt, bool cgroups)
{
	struct tap_shape s;

	tap_shape_init(&s, fmt);
	return s.kind != TAP_SHAPE_NONE && s.kind != TAP_SHAPE_HOTPLUG && (s.kind != TAP_SHAPE_MEMBER || cgroups);
}

/* A file may lie: time that goes back stands still. */
static __attribute__((noinline, cold)) int late_event(struct tap_timeline *t,
						      const struct tap_event *ev)
{
	struct tap_event later = *ev;

	later.ts_ns = t->now_ns;
	return tap_timeline_event(t, &later);
}

/* What the next event may bring at @now that is not of every day: t->next_mark_ns is before it. */
static __attribute__((noinline)) int pass_mark(struct tap_timeline *t, uint64_t now)
{
	if (!t->have_start) {
		t->have_start = true;
		t->start_ns = now;
	}
	if (!t->have_end && now > t->end_ns)
		t->end_ns = now;
	/* a loss that began in the window may end, and be told, behind it */
	return t->opts.survey ? pass_marks(t, now < t->end_ns ? now : t->end_ns) : 0;
}

/* The CPU or the kind is new, or of no use. Return: 1 if the event counts; 0; -errno. */
static __attribute__((noinline, cold)) int look_at(struct tap_timeline *t,
						   const struct tap_event *ev)
{
	struct tap_shape *s;

	if (ev->cpu < 0 || ev->cpu >= (int)TAP_MAX_CPUS)
		return 0;
	if (add_cpus(t, (unsigned int)ev->cpu + 1))
		return -ENOMEM;
	t->cpus[ev->cpu].seen = true;
	s = t->shapes.by_id[ev->fmt->id];
	if (!s)
		s = tap_shapes_add(&t->shapes, ev->fmt);
	if (!s)
		return -ENOMEM;
	if (s->kind == TAP_SHAPE_NONE)
		return 0;
	/* the same event in several buffers counts once */
	if (t->buffer[s->kind] == TAP_NO_BUFFER)
		t->buffer[s->kind] = ev->buffer;
	s->buffer = t->buffer[s->kind];
	if (s->kind == TAP_SHAPE_WAKING && s->plain) {
		t->waking_fmt = s->fmt;
		t->wakings = s;
	}
	return s->buffer == ev->buffer;
}

/* Return: 0 or -errno. */
static __attribute__((noinline)) int take_other(struct tap_timeline *t, const struct tap_event *ev)
{
	const struct tap_shape *s;

	if (!ev->fmt)
		return on_loss(t, ev);
	s = t->shapes.by_id[ev->fmt->id];
	if (!s || s->buffer != ev->buffer || (unsigned int)ev->cpu >= t->nr_cpus) {
		int ret = look_at(t, ev);

		if (ret <= 0)
			return ret;
		s = t->shapes.by_id[ev->fmt->id];
	}
	t->cpus[ev->cpu].seen = true;
	return on_event(t, s, ev);
}

static inline int take(struct tap_timeline *t, const struct tap_event *ev)
{
	int ret = 0;

	if (__builtin_expect(ev->ts_ns < t->now_ns, 0))
		return late_event(t, ev);
	t->now_ns = ev->ts_ns;
	if (__builtin_expect(ev->ts_ns >= t->next_mark_ns, 0))
		ret = pass_mark(t, ev->ts_ns);
	if (__builtin_expect(ret, 0))
		return ret;
	if (ev->ts_ns - t->usual_from_ns < t->usual_ns && (unsigned int)ev->cpu < t->nr_cpus) {
		if (ev->fmt == t->switch_fmt && ev->buffer == t->switches->buffer)
			ret = usual_switch(t, ev);
		else if (ev->fmt == t->waking_fmt && ev->buffer == t->wakings->buffer)
			ret = usual_waking(t, ev);
	}
	if (__builtin_expect(!ret, 0))
		return take_other(t, ev);
	return ret < 0 ? ret : 0;
}

int tap_timeline_events(struct tap_timeline *t, const struct tap_event *const *events,
			unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		int ret = take(t, events[i]);

		if (ret)
			return ret;
	}
	return 0;
}

static int end_task(struct tap_timeline *t, struct tap_task *task)
{
	/* a task that is hidden from tracing may have woken it, or let it run, unseen */
	bool sure = task->state == TAP_RUNNING || !(task->doubtful || t->has_breaks);
	enum tap_state state = task->state;

	if (state == TAP_DEAD)
		return 0;
	if (state == TAP_UNKNOWN)
		return close_stretch(t, task, state, state, task->since_ns, t->end_ns, false, "", -1);
	task->certain = false; /* it goes on: this is no whole stretch */
	return change(t, task, state, t->end_ns, sure, "", -1);
}

int tap_timeline_end(struct tap_timeline *t)
{
	int ret = 0;

	t->have_end = true;
	if (t->opts.survey)
		ret = pass_marks(t, t->end_ns);
	for (unsigned int i = 0; !ret && i < t->nr_cpus; i++) {
		ret = close_cpu(t, &t->cpus[i], t->end_ns);
		assert(ret || t->cpus[i].run_ns + t->cpus[i].idle_ns + t->cpus[i].offline_ns +
					      t->cpus[i].unknown_ns == t->end_ns - t->start_ns);
	}
	for (unsigned int i = 0; !ret && i < t->tasks.nr; i++)
		ret = end_task(t, t->tasks.all[i]);
	return ret;
}

void tap_timeline_span(const struct tap_timeline *t, uint64_t *start_ns, uint64_t *end_ns)
{
	*start_ns = t->start_ns;
	*end_ns = t->end_ns;
}

const struct tap_cpu *tap_timeline_cpus(const struct tap_timeline *t, unsigned int *nr)
{
	*nr = t->nr_cpus;
	return t->cpus;
}

struct tap_task *const *tap_timeline_tasks(const struct tap_timeline *t, unsigned int *nr)
{
	*nr = t->tasks.nr;
	return t->tasks.all;
}

uint64_t tap_task_life_ns(const struct tap_timeline *t, const struct tap_task *task)
{
	return clip(t, task->died_ns) - clip(t, task->born_ns);
}
