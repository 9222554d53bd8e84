// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * overruns SEED FAULT: a schedule that follows EEVDF (overrun_rules.h) on some CPUs, as an input of
 * tests/mkdat. The same arguments make the same text. Tasks of any nice value and slice run, sleep,
 * wake each other and are moved; real-time tasks and interrupts take time away; requests to
 * reschedule are lazy or not.
 *
 * FAULT: none, or a rule of `schedtap eevdf` that the schedule breaks a few times. Comments in the
 * text say what is true:
 *
 *   # truth RULE TID NS     the rule was broken, by the pick or at the end of the run at this time
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "truth/overrun_rules.h"

#define MAX_CPUS 4
#define MAX_TASKS 12
#define MS 1000000
#define LONGEST_TICK_NS (10 * MS) /* recordings do not contain HZ: assume 100 */

enum fault { NONE, NOT_ELIGIBLE, BEYOND_SLICE, LAG, BEYOND_DEADLINE, NR_FAULTS };
static const char *const fault_names[NR_FAULTS] = { "none", "not_eligible", "beyond_slice", "lag",
						    "beyond_deadline" };

static const int weights[40] = {
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
	9548,  7620,  6100,  4904,  3906,  3121,  2501,	 1991,	1586,  1277,
	1024,  820,   655,   526,   423,   335,	  272,	 215,	172,   137,
	110,   87,    70,    56,    45,	   36,	  29,	 23,	18,    15,
};

struct task {
	struct entity se;
	int tid, nice, cpu;
	bool is_awake, is_running, is_owed; /* .is_owed: its lag was made */
	int64_t burst_ns, sleep_ns; /* typical ones; 0: it never sleeps */
	int64_t left_ns; /* of its burst */
	int64_t wake_ns, enqueue_ns; /* when it is woken, and queued; INT64_MAX: not so */
};

struct cpu {
	struct queue q;
	struct task *curr; /* NULL: idle, or a real-time task runs */
	int64_t rt_until_ns; /* a real-time task runs; 0: none does */
	int64_t rt_ns; /* when the next one comes */
	/* the next tick; .curr's numbers are of this time; interrupts since then */
	int64_t tick_ns, clock_ns, stolen_ns;
	bool is_lazy; /* the request waits for the next tick */
	bool is_recorded; /* the pick of what runs */
	bool is_slice_over; /* .curr has used up a slice since it was picked, or picked again */
	int64_t hold_ns; /* BEYOND_SLICE: no reschedule before; 0: none is held */
	struct task *victim;
	int64_t slice_ns; /* the longest that was in the queue so far */
};

struct sim {
	uint64_t rng;
	enum fault fault;
	enum version version;
	struct cpu cpus[MAX_CPUS];
	struct task tasks[MAX_TASKS];
	int nr_cpus, nr_tasks;
	int64_t now, begin_ns, end_ns, hz_ns, balance_ns;
	bool has_lazy, has_rt;
	unsigned int switches;
};

static uint64_t dice(struct sim *s, uint64_t sides)
{
	s->rng ^= s->rng << 13;
	s->rng ^= s->rng >> 7;
	s->rng ^= s->rng << 17;
	return (s->rng * 0x9e3779b97f4a7c15ull >> 16) % sides;
}

/* Any size between is as likely as its double. */
static int64_t spread(struct sim *s, double from, double to)
{
	return (int64_t)(from * pow(to / from, (double)dice(s, 1000000) / 1e6));
}

static int64_t lag_ns(const struct queue *q, const struct entity *se)
{
	return (int64_t)((__int128)(avg_vruntime(q) - se->v) * se->weight / 1024);
}

/* ---- events ---- */

static bool is_recorded(const struct sim *s)
{
	return s->now >= s->begin_ns;
}

static int tid_on(const struct cpu *c, int cpu)
{
	return c->rt_until_ns ? 900 + cpu : c->curr ? c->curr->tid : 0;
}

static void print_begin(const struct sim *s, int cpu, const char *event)
{
	printf("%" PRId64 " %d %d %s", s->now, cpu, tid_on(&s->cpus[cpu], cpu), event);
}

static void print_truth(const struct sim *s, enum fault rule, const struct task *t)
{
	if (is_recorded(s) && s->fault == rule)
		printf("# truth %s %d %" PRId64 "\n", fault_names[rule], t->tid, s->now);
}

/* sched_pick's numbers are those after the pick. @prev: what ran, if it was of the fair class. */
static void print_pick(const struct sim *s, int cpu, int prev_tid, const struct task *prev,
		       const struct task *next, int next_tid)
{
	const struct queue *q = &s->cpus[cpu].q;
	unsigned int delayed = 0;

	for (unsigned int i = 0; i < q->nr; i++)
		delayed += q->all[i]->delayed;
	printf("%" PRId64 " %d %d schedtap:sched_pick next_pid=%d", s->now, cpu, prev_tid,
	       next_tid);
	if (next) {
		const struct entity *se = &next->se;
		int64_t vtime = avg_vruntime(q);

		printf(" vtime=%" PRId64 " next_lag=%" PRId64 " next_deadline=%" PRId64
		       " next_vprot=%" PRId64 " next_slice=%" PRId64 " next_weight=%" PRId64
		       " group=1 h_nr_queued=%u h_nr_runnable=%u",
		       vtime, vtime - se->v, se->deadline - se->v,
		       s->version >= V6_17 ? se->vprot - se->v : 0, se->slice_ns, se->weight * 1024,
		       q->nr, q->nr - delayed);
	}
	if (prev && prev->se.on_rq)
		printf(" prev_queued=1 prev_delayed=%d prev_lag=%" PRId64, prev->se.delayed,
		       avg_vruntime(q) - prev->se.v);
	putchar('\n');
}

static void print_switch(const struct sim *s, int cpu, int prev_tid, int state, int next_tid)
{
	printf("%" PRId64 " %d %d sched:sched_switch prev_comm=t%d prev_pid=%d prev_prio=%d "
	       "prev_state=%d next_comm=t%d next_pid=%d next_prio=%d\n",
	       s->now, cpu, prev_tid, prev_tid, prev_tid, prev_tid >= 900 ? 50 : 120, state,
	       next_tid, next_tid, next_tid >= 900 ? 50 : 120);
}

/* ---- time ---- */

/* To now. */
static void run(struct sim *s, struct cpu *c)
{
	int64_t ns = s->now - c->clock_ns, counted = ns > c->stolen_ns ? ns - c->stolen_ns : 0;

	c->stolen_ns -= ns - counted;
	c->clock_ns = s->now;
	if (!c->curr || c->rt_until_ns)
		return;
	int64_t deadline = c->curr->se.deadline;

	update_curr(&c->q, counted);
	c->is_slice_over |= c->curr->se.deadline != deadline;
	c->curr->left_ns -= counted;
}

/* ---- faults ---- */

static struct task *task_of(struct entity *se)
{
	return se ? (struct task *)((char *)se - offsetof(struct task, se)) : NULL;
}

static int64_t lag_limit(const struct cpu *c)
{
	int64_t most = 2 * c->slice_ns > LONGEST_TICK_NS ? 2 * c->slice_ns : LONGEST_TICK_NS;

	return most + c->slice_ns + 4 * LONGEST_TICK_NS;
}

/* One that is not eligible, by what can be seen. */
static struct task *wrong_pick(struct sim *s, struct cpu *c)
{
	for (unsigned int i = 0; i < c->q.nr; i++) {
		struct entity *se = c->q.all[i];

		if (se != c->q.curr && !se->delayed && lag_ns(&c->q, se) < -1000 && !dice(s, 6))
			return task_of(se);
	}
	return NULL;
}

static bool should_leave(const struct cpu *c, const struct entity *waiter)
{
	return waiter->on_rq && !waiter->delayed && entity_eligible(&c->q, waiter) &&
	       (waiter->deadline < c->q.curr->deadline || !entity_eligible(&c->q, c->q.curr));
}

/* The request is not heard for longer than two ticks: the first one may ask, and the second one
 * enforce it. */
static void begin_hold(struct sim *s, struct cpu *c, struct task *next)
{
	if (s->fault != BEYOND_SLICE || c->hold_ns || !c->curr || next == c->curr || !next ||
	    dice(s, 16))
		return;
	if (!c->is_recorded || !c->is_slice_over || !should_leave(c, &next->se))
		return;
	c->hold_ns = s->now + 25 * MS + (int64_t)dice(s, 60 * MS);
	c->victim = next;
}

/* Called at each event while it lasts. */
static void check_hold(struct cpu *c)
{
	if (c->hold_ns && c->victim && !should_leave(c, &c->victim->se))
		c->victim = NULL;
}

/* ---- the scheduler ---- */

static void pull(struct sim *s, int cpu);

/* pick_next_entity(): what sleeps is dequeued on the way. */
static struct task *pick_next(struct sim *s, struct cpu *c)
{
	while (c->q.nr) {
		struct entity *se = pick_eevdf(&c->q, true);

		if (!se->delayed) {
			struct task *wrong = s->fault == NOT_ELIGIBLE ? wrong_pick(s, c) : NULL;

			return wrong ? wrong : task_of(se);
		}
		if (c->q.curr == se)
			c->q.curr = NULL;
		finish_delayed(&c->q, se);
	}
	return NULL;
}

static void set_next(struct sim *s, struct cpu *c, struct task *next)
{
	c->curr = next;
	c->q.curr = next ? &next->se : NULL;
	if (!next)
		return;
	set_protect_slice(&c->q, &next->se);
	next->is_running = true;
	if (s->fault == BEYOND_DEADLINE && s->version >= V6_17 && !dice(s, 5)) {
		next->se.vprot =
			next->se.deadline + virtual_of(1000 + (int64_t)dice(s, 5 * MS), &next->se);
		print_truth(s, BEYOND_DEADLINE, next);
	}
}

/* What the events show of the pick against the rules. */
static void tell_truth(struct sim *s, struct cpu *c, struct task *prev, struct task *next)
{
	if (prev && c->victim && c->hold_ns && s->now >= c->hold_ns && prev->se.on_rq &&
	    !prev->se.delayed)
		print_truth(s, BEYOND_SLICE, prev);
	if (!next || c->q.nr < 2)
		return;
	if (!entity_eligible(&c->q, &next->se))
		print_truth(s, NOT_ELIGIBLE, next);
	if (next->is_owed && lag_ns(&c->q, &next->se) > lag_limit(c))
		print_truth(s, LAG, next);
	next->is_owed = false;
}

static void switch_to(struct sim *s, int cpu, struct task *prev, struct task *next, int prev_tid,
		      int prev_state, int next_tid)
{
	struct cpu *c = &s->cpus[cpu];

	if (is_recorded(s)) {
		print_pick(s, cpu, prev_tid, prev, next, next_tid);
		print_switch(s, cpu, prev_tid, prev_state, next_tid);
	}
	tell_truth(s, c, prev, next);
	c->is_recorded = is_recorded(s);
	c->hold_ns = 0;
	c->victim = NULL;
	s->switches++;
}

static void schedule(struct sim *s, int cpu)
{
	struct cpu *c = &s->cpus[cpu];
	struct task *prev = c->curr, *next;
	int prev_tid = tid_on(c, cpu), next_tid, state = 0;
	bool was_rt = c->rt_until_ns;

	run(s, c);
	if (was_rt && s->now < c->rt_until_ns)
		return;
	if (prev && !prev->is_awake) {
		dequeue_entity(&c->q, &prev->se, true);
		state = 1;
	} else if (prev) {
		state = 256;
	}
	if (was_rt) {
		state = 1;
		prev = NULL;
		c->rt_until_ns = 0;
	}
	next = pick_next(s, c);
	if (!next && !was_rt)
		pull(s, cpu);
	next = next ? next : pick_next(s, c);
	begin_hold(s, c, prev && prev->is_awake ? next : NULL);
	if (c->hold_ns > s->now && prev && prev->is_awake)
		next = prev;
	c->q.resched = c->is_lazy = c->is_slice_over = false;
	if (next == prev && c->hold_ns && c->hold_ns <= s->now)
		c->hold_ns = 0; /* no other task waited */
	if (next == prev && (prev || !was_rt))
		return;
	if (prev)
		prev->is_running = false;
	set_next(s, c, next);
	next_tid = next ? next->tid : 0;
	if (next_tid != prev_tid)
		switch_to(s, cpu, prev, next, prev_tid, state, next_tid);
}

/* A real-time task preempts. */
static void begin_rt(struct sim *s, int cpu)
{
	struct cpu *c = &s->cpus[cpu];
	struct task *prev = c->curr;
	int prev_tid = tid_on(c, cpu);

	c->rt_ns = s->now + spread(s, 2 * MS, 100 * MS);
	if (c->rt_until_ns || c->hold_ns || (prev && !prev->is_awake))
		return;
	run(s, c);
	if (is_recorded(s))
		printf("%" PRId64
		       " %d %d sched:sched_waking comm=t%d pid=%d prio=50 target_cpu=%d\n",
		       s->now, cpu, prev_tid, 900 + cpu, 900 + cpu, cpu);
	if (prev)
		prev->is_running = false;
	c->curr = NULL;
	c->q.curr = NULL;
	switch_to(s, cpu, prev, NULL, prev_tid, prev ? 256 : 0, 900 + cpu);
	c->rt_until_ns = s->now + spread(s, 20000, 3 * MS);
}

/* Something asked for a reschedule of what runs: at once, or lazily. */
static void react(struct sim *s, int cpu, bool is_tick)
{
	struct cpu *c = &s->cpus[cpu];

	check_hold(c);
	if (!c->curr && !c->rt_until_ns && c->q.nr) {
		schedule(s, cpu);
		return;
	}
	if (!c->q.resched || c->rt_until_ns)
		return;
	/* in user mode even a lazy request is heard as the tick ends */
	if (s->has_lazy && !c->is_lazy && (!is_tick || dice(s, 2))) {
		c->is_lazy = true;
		return;
	}
	if (!s->has_lazy || is_tick)
		schedule(s, cpu);
}

static void tick(struct sim *s, int cpu)
{
	struct cpu *c = &s->cpus[cpu];

	c->tick_ns += s->hz_ns;
	if (!dice(s, 4))
		c->stolen_ns += (int64_t)dice(s, 100000);
	run(s, c);
	react(s, cpu, true);
}

/* ---- sleeps and wakeups ---- */

static void sleep_now(struct sim *s, int cpu)
{
	struct task *t = s->cpus[cpu].curr;

	t->is_awake = false;
	t->wake_ns = s->now + spread(s, (double)t->sleep_ns / 4, (double)t->sleep_ns * 4);
	schedule(s, cpu);
}

static bool is_idle(const struct cpu *c)
{
	return !c->curr && !c->rt_until_ns && !c->q.nr;
}

static int choose_cpu(struct sim *s, const struct task *t)
{
	int cpu = (int)dice(s, (unsigned int)s->nr_cpus);

	if (t->se.delayed || is_idle(&s->cpus[t->cpu]))
		return t->cpu; /* where it is queued, it stays */
	return is_idle(&s->cpus[cpu]) || !dice(s, 8) ? cpu : t->cpu;
}

static void print_migration(const struct sim *s, int on, const struct task *t, int to)
{
	if (!is_recorded(s))
		return;
	print_begin(s, on, "sched:sched_migrate_task");
	printf(" comm=t%d pid=%d prio=120 orig_cpu=%d dest_cpu=%d\n", t->tid, t->tid, t->cpu, to);
}

static void wake(struct sim *s, struct task *t)
{
	int on = (int)dice(s, (unsigned int)s->nr_cpus), to = choose_cpu(s, t);

	t->wake_ns = INT64_MAX;
	if (is_recorded(s)) {
		print_begin(s, on, "sched:sched_waking");
		printf(" comm=t%d pid=%d prio=120 target_cpu=%d\n", t->tid, t->tid, t->cpu);
	}
	if (to != t->cpu)
		print_migration(s, on, t, to);
	t->cpu = to;
	/* on another CPU's wake list for a while */
	t->enqueue_ns = s->now + 300 + (dice(s, 3) || t->se.delayed ? 0 : (int64_t)dice(s, 40000));
}

static void make_lag(struct sim *s, const struct cpu *c, struct task *t)
{
	if (s->fault != LAG || !c->q.nr || dice(s, 6))
		return;
	t->se.vlag = virtual_of(
		lag_limit(c) + spread(s, 0.2 * (double)lag_limit(c), 2.0 * (double)lag_limit(c)),
		&t->se);
	t->is_owed = true;
}

static void note_slice(struct cpu *c, const struct task *t)
{
	c->slice_ns = t->se.slice_ns > c->slice_ns ? t->se.slice_ns : c->slice_ns;
}

static void enqueue(struct sim *s, struct task *t)
{
	struct cpu *c = &s->cpus[t->cpu];

	t->enqueue_ns = INT64_MAX;
	t->is_awake = true;
	t->left_ns = t->burst_ns ? spread(s, (double)t->burst_ns / 4, (double)t->burst_ns * 4)
				 : INT64_MAX;
	run(s, c);
	if (t->se.delayed) {
		requeue_delayed(&c->q, &t->se);
	} else {
		note_slice(c, t);
		make_lag(s, c, t);
		enqueue_entity(&c->q, &t->se, false);
	}
	check_preempt(&c->q, &t->se);
	react(s, t->cpu, false);
}

/* ---- load balancing ---- */

static struct task *one_to_move(struct sim *s, struct cpu *from)
{
	struct task *found = NULL;

	for (unsigned int i = 0; i < from->q.nr; i++) {
		struct entity *se = from->q.all[i];

		if (se != from->q.curr && !se->delayed && (!found || dice(s, 2)))
			found = task_of(se);
	}
	return from->q.nr > 1 ? found : NULL;
}

static void move(struct sim *s, struct task *t, int to)
{
	struct cpu *from = &s->cpus[t->cpu];

	run(s, from);
	dequeue_entity(&from->q, &t->se, false);
	check_hold(from);
	print_migration(s, to, t, to);
	t->cpu = to;
	run(s, &s->cpus[to]);
	note_slice(&s->cpus[to], t);
	enqueue_entity(&s->cpus[to].q, &t->se, false);
	check_preempt(&s->cpus[to].q, &t->se);
}

/* A CPU becomes idle. */
static void pull(struct sim *s, int cpu)
{
	int from = (int)dice(s, (unsigned int)s->nr_cpus);
	struct task *t = from != cpu ? one_to_move(s, &s->cpus[from]) : NULL;

	if (t && dice(s, 2))
		move(s, t, cpu);
}

static void balance(struct sim *s)
{
	int to = (int)dice(s, (unsigned int)s->nr_cpus),
	    from = (int)dice(s, (unsigned int)s->nr_cpus);
	struct task *t = from != to && s->cpus[from].q.nr > s->cpus[to].q.nr
				 ? one_to_move(s, &s->cpus[from])
				 : NULL;

	/* sd->busy_factor, 16, times 4 ms and more */
	s->balance_ns = s->now + spread(s, 64 * MS, 256 * MS);
	if (!t)
		return;
	move(s, t, to);
	react(s, to, false);
}

/* ---- the simulation ---- */

static void init_task(struct sim *s, int i, bool any_slice)
{
	struct task *t = &s->tasks[i];

	*t = (struct task){ .tid = 100 + i,
			    .nice = dice(s, 2) ? 0 : (int)dice(s, 40) - 20,
			    .cpu = (int)dice(s, (unsigned int)s->nr_cpus),
			    .enqueue_ns = INT64_MAX };
	t->se.weight = weights[t->nice + 20];
	t->se.slice_ns = any_slice && dice(s, 2) ? spread(s, 0.1 * MS, 100 * MS) : 2800000;
	if (dice(s, 3)) {
		t->burst_ns = spread(s, 0.05 * MS, 30 * MS);
		t->sleep_ns = spread(s, 0.1 * MS, 50 * MS);
	}
	t->wake_ns = (int64_t)dice(s, 5 * MS);
}

static void init(struct sim *s)
{
	static const int hz[] = { 100, 250, 300, 1000 };
	bool any_slice = dice(s, 4);

	s->version = (enum version)dice(s, NR_VERSIONS);
	s->has_lazy = s->version >= V6_17 && dice(s, 2);
	s->has_rt = !dice(s, 3);
	s->hz_ns = 1000 * MS / hz[dice(s, 4)];
	s->nr_cpus = 1 + (int)dice(s, MAX_CPUS);
	s->nr_tasks = s->nr_cpus + 1 + (int)dice(s, MAX_TASKS - MAX_CPUS);
	s->begin_ns = dice(s, 2) ? 0 : 40 * MS;
	s->end_ns = s->begin_ns + 3000 * (int64_t)MS;
	s->balance_ns = 10 * MS;
	for (int i = 0; i < s->nr_cpus; i++) {
		s->cpus[i] = (struct cpu){ .tick_ns = 1 + (int64_t)dice(s, (uint64_t)s->hz_ns),
					   .rt_ns = s->has_rt ? 5 * MS : INT64_MAX };
		s->cpus[i].q = (struct queue){ .version = s->version, .tick_ns = s->hz_ns };
	}
	for (int i = 0; i < s->nr_tasks; i++)
		init_task(s, i, any_slice);
}

/* When what runs ends its burst, a real-time task its work, or a hold is over. */
static int64_t end_of(const struct sim *s, const struct cpu *c)
{
	int64_t ns = INT64_MAX;

	if (c->rt_until_ns)
		return c->rt_until_ns;
	if (c->curr && c->curr->left_ns != INT64_MAX && c->curr->burst_ns)
		ns = s->now + (c->curr->left_ns > 0 ? c->curr->left_ns : 0) + c->stolen_ns;
	if (c->hold_ns && c->hold_ns < ns)
		ns = c->hold_ns;
	return ns;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t next_ns(const struct sim *s)
{
	int64_t ns = s->balance_ns;

	for (int i = 0; i < s->nr_cpus; i++)
		ns = least(ns, least(least(s->cpus[i].tick_ns, s->cpus[i].rt_ns),
				     end_of(s, &s->cpus[i])));
	for (int i = 0; i < s->nr_tasks; i++)
		ns = least(ns, least(s->tasks[i].wake_ns, s->tasks[i].enqueue_ns));
	return ns > s->now ? ns : s->now + 1;
}

static void step_cpu(struct sim *s, int cpu)
{
	struct cpu *c = &s->cpus[cpu];

	run(s, c);
	if (c->rt_until_ns && s->now >= c->rt_until_ns)
		schedule(s, cpu);
	if (c->hold_ns && s->now >= c->hold_ns)
		schedule(s, cpu);
	if (c->curr && c->curr->burst_ns && c->curr->left_ns <= 0)
		sleep_now(s, cpu);
	if (s->now >= c->tick_ns)
		tick(s, cpu);
	if (s->now >= c->rt_ns)
		begin_rt(s, cpu);
}

static void step(struct sim *s)
{
	s->now = next_ns(s);
	for (int i = 0; i < s->nr_cpus; i++)
		step_cpu(s, i);
	for (int i = 0; i < s->nr_tasks; i++) {
		if (s->now >= s->tasks[i].wake_ns)
			wake(s, &s->tasks[i]);
		if (s->now >= s->tasks[i].enqueue_ns)
			enqueue(s, &s->tasks[i]);
	}
	if (s->now >= s->balance_ns)
		balance(s);
}

int main(int argc, char **argv)
{
	struct sim s = { .rng = argc > 1 ? (strtoull(argv[1], NULL, 10) + 1) * 0x9e3779b97f4a7c15ull
					 : 0 };

	while (argc == 3 && s.fault < NR_FAULTS && strcmp(argv[2], fault_names[s.fault]))
		s.fault++;
	if (argc != 3 || s.fault == NR_FAULTS) {
		fprintf(stderr, "usage: overruns SEED FAULT\n");
		return 2;
	}
	for (int i = 0; i < 8; i++)
		dice(&s, 2);
	init(&s);
	printf("cpus %d\n# version %d, tick %" PRId64 " ns\n", s.nr_cpus, s.version, s.hz_ns);
	if (s.nr_cpus > 1) /* the event is recorded, whether or not the schedule has migrations */
		printf("0 0 0 sched:sched_migrate_task comm=t999 pid=999 prio=120 orig_cpu=0 "
		       "dest_cpu=1\n");
	while (s.now < s.end_ns && s.switches < 4000)
		step(&s);
	return 0;
}
