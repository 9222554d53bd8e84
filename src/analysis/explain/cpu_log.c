// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/explain/cpu_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define QUEUES 64u /* slots of .last_of */

/* Lasts from .from_ns until the next interval begins. */
struct interval {
	uint64_t from_ns;
	const struct tap_task *task;
	int prio;
	enum tap_cpu_what what;
	bool is_served;
	unsigned int pick, nr_picked; /* index of the first in .picks, and number */
};

/* A change within an interval. It applies from .from_ns until the next point. */
struct point {
	uint64_t from_ns;
	/* enum tap_in_irq, tap_in_idle and tap_asked, as bytes since a log has many points */
	unsigned char irq, idle, asked;
	uint64_t asked_ns;
	uint64_t repicked_ns; /* when the running task was last picked again */
	bool has_prio; /* the task's priority has changed to .prio since it was switched in */
	int prio;
};

struct tap_cpu_log {
	struct interval intervals[TAP_CPU_LOG_ENTRIES];
	struct point points[TAP_CPU_LOG_ENTRIES];
	struct tap_picked_run *picks; /* owned */
	unsigned int nr_intervals, nr_points, nr_picks, cap_picks;
	/*
	 * by queue (modulo QUEUES): the queue's last run whose V at the end is not known yet, as
	 * its index in .picks plus 1; 0: none
	 */
	unsigned int last_of[QUEUES];
	struct tap_picked next; /* the pick for the next switch */
	int now_tid; /* tid of the running task */
	unsigned int nr_now;
	struct tap_picked_run now_picked[TAP_PICK_LEVELS + 1];
	/*
	 * tids of the tasks that run for a deadline server, after the next switch and now; 0: none
	 */
	int next_served, now_served;
	bool has_exits; /* sched_exit was recorded on this CPU */
	uint64_t end_ns; /* end of the last interval */
	bool has_idle;
	unsigned int nr_irqs, nr_softirqs; /* nesting depth */
	int first_prio; /* if .now.has_prio: the priority before the first change */
	/* the state before the first of .points, and after the last one */
	struct point before, now;
};

void tap_cpu_logs_release(struct tap_cpu_logs *l)
{
	for (unsigned int i = 0; i < l->nr_cpus; i++) {
		if (!l->cpus[i])
			continue;
		free(l->cpus[i]->picks);
		free(l->cpus[i]);
	}
	free(l->cpus);
}

/* Return: NULL when out of memory. */
static inline struct tap_cpu_log *log_get(struct tap_cpu_logs *l, int cpu)
{
	struct tap_cpu_log **place =
		tap_array_at(&l->cpus, &l->nr_cpus, (unsigned int)cpu, sizeof(*place), NULL);

	if (place && !*place)
		*place = calloc(1, sizeof(**place));
	return place ? *place : NULL;
}

static bool has_log(const struct tap_cpu_logs *l, int cpu)
{
	return (unsigned int)cpu < l->nr_cpus && l->cpus[cpu];
}

static bool is_full(const struct tap_cpu_log *log)
{
	/* one call may add two intervals and a point */
	return log->nr_intervals + 2 > TAP_CPU_LOG_ENTRIES ||
	       log->nr_points + 2 > TAP_CPU_LOG_ENTRIES;
}

static int add_point(struct tap_cpu_log *log, uint64_t ts_ns, enum tap_in_idle idle,
		     enum tap_asked asked)
{
	log->now = (struct point){
		.from_ns = ts_ns,
		.idle = idle,
		.asked = asked,
		.asked_ns = log->now.asked ? log->now.asked_ns : ts_ns,
		.repicked_ns = log->now.repicked_ns,
		.has_prio = log->now.has_prio,
		.prio = log->now.prio,
		.irq = log->nr_irqs	  ? TAP_IN_IRQ
		       : log->nr_softirqs ? TAP_IN_SOFTIRQ
					  : TAP_IN_NO_IRQ,
	};
	log->points[log->nr_points++] = log->now;
	return is_full(log);
}

/*
 * Reset the state that cannot outlast a switch or a loss: no interrupt handler runs across a
 * switch, even if its exit event is missing.
 */
static int end_points(struct tap_cpu_log *log, uint64_t ts_ns, bool is_known)
{
	if (!log->nr_irqs && !log->now.asked && !log->now.has_prio &&
	    (is_known || (!log->nr_softirqs && log->now.idle == TAP_IDLE_NOT_TOLD)))
		return is_full(log);
	log->nr_irqs = 0;
	log->now.has_prio = false;
	if (!is_known)
		log->nr_softirqs = 0;
	return add_point(log, ts_ns, is_known ? log->now.idle : TAP_IDLE_NOT_TOLD, TAP_NOT_ASKED);
}

static unsigned int *last_of(struct tap_cpu_log *log, int queue)
{
	return &log->last_of[(unsigned int)queue % QUEUES];
}

/*
 * Return true if the running entity of this level leaves its queue at the switch. A group is known
 * to leave only if it is the task's own group and has no other queued task.
 */
static bool leaves_queue(const struct tap_cpu_log *log, unsigned int level, bool task_stays)
{
	return !task_stays && (!level || (level == 1 && log->now_picked[0].pick.nr_queued == 1));
}

/* The switch took place: the CPU now runs what was picked for it. */
static void take_next(struct tap_cpu_log *log)
{
	log->now_tid = log->next.tid;
	log->nr_now = log->next.nr;
	for (unsigned int i = 0; i < log->nr_now; i++)
		log->now_picked[i] = (struct tap_picked_run){ .pick = log->next.v[i] };
	log->next.tid = 0;
}

/* Append the picks of the interval that ended at @to_ns to .picks. Return: 0 or -ENOMEM. */
static int add_pick(struct tap_cpu_log *log, const struct tap_task *task, uint64_t to_ns,
		    struct interval *out)
{
	if (!log->next.tid && !log->now_tid)
		return 0;
	for (unsigned int i = 0;
	     task && log->now_tid && log->now_tid == task->tid && i < log->nr_now; i++) {
		struct tap_picked_run *run = &log->now_picked[i];

		if (tap_array_grow(&log->picks, log->nr_picks, &log->cap_picks,
				   sizeof(*log->picks)))
			return -ENOMEM;
		if (!run->end_ns) {
			run->has_left = leaves_queue(log, i, log->next.prev_queued);
			*last_of(log, run->pick.queue) = log->nr_picks + 1;
		}
		run->end_ns = to_ns;
		log->picks[log->nr_picks++] = *run;
		out->nr_picked = i + 1;
	}
	out->pick = log->nr_picks - out->nr_picked;
	take_next(log);
	return 0;
}

/*
 * Set V at the end of a queue's previous run. A queue's virtual time stands still while none of its
 * tasks runs, so the V that a pick reports is that V.
 */
static void put_end_vtime(struct tap_cpu_log *log, const struct tap_picked_entity *picked,
			  bool prev_queued)
{
	unsigned int *last = last_of(log, picked->queue);

	for (unsigned int i = 0; i < log->nr_now; i++) {
		if (log->now_picked[i].pick.queue != picked->queue)
			continue;
		log->now_picked[i].has_left = leaves_queue(log, i, prev_queued);
		tap_picked_put_end(&log->now_picked[i], picked, picked->ts_ns);
		return;
	}
	if (*last && log->picks[*last - 1].pick.queue == picked->queue)
		tap_picked_put_end(&log->picks[*last - 1], picked, log->picks[*last - 1].end_ns);
	*last = 0;
}

/* Advance .now_served at a switch. Return true if @task, which ran until then, was served. */
static bool end_service(struct tap_cpu_log *log, const struct tap_task *task)
{
	bool is_served = task && log->now_served && log->now_served == task->tid;

	log->now_served = log->next_served;
	log->next_served = 0;
	return is_served;
}

/* Return the priority that the CPU's running task had when it was switched in. */
static int prio_of(const struct tap_cpu_log *log, const struct tap_task *task)
{
	return log && log->now.has_prio ? log->first_prio : task->prio;
}

int tap_cpu_log_interval(struct tap_cpu_logs *l, const struct tap_cpu_interval *s)
{
	/* without a recorded switch, an interrupt may be in progress without a recorded entry */
	enum tap_cpu_what what = s->unseen ? TAP_CPU_UNKNOWN : s->what;
	struct tap_cpu_log *log;
	struct interval over = { 0 };

	/* allocate no log for a CPU that was always unknown: malicious input may have many CPUs */
	if (what == TAP_CPU_UNKNOWN && !has_log(l, s->cpu))
		return 0;
	log = log_get(l, s->cpu);
	if (!log || add_pick(log, s->task, s->to_ns, &over))
		return -ENOMEM;
	if (s->from_ns > log->end_ns)
		log->intervals[log->nr_intervals++] =
			(struct interval){ .from_ns = log->end_ns, .what = TAP_CPU_UNKNOWN };
	log->intervals[log->nr_intervals++] = (struct interval){
		.from_ns = s->from_ns,
		.what = what,
		.task = s->task,
		.prio = s->task ? prio_of(log, s->task) : 0,
		.is_served = end_service(log, s->task),
		.pick = over.pick,
		.nr_picked = over.nr_picked,
	};
	log->end_ns = s->to_ns;
	log->has_idle |= what == TAP_CPU_IDLE;
	return end_points(log, s->to_ns, what == TAP_CPU_RUN || what == TAP_CPU_IDLE);
}

int tap_cpu_log_irq(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, bool is_soft, bool begins)
{
	struct tap_cpu_log *log = log_get(l, cpu);
	unsigned int *nr;

	if (!log)
		return -ENOMEM;
	nr = is_soft ? &log->nr_softirqs : &log->nr_irqs;
	if (!begins && !*nr)
		return 0; /* the entry was not recorded */
	*nr += begins ? 1 : -1u;
	return add_point(log, ts_ns, log->now.idle, log->now.asked);
}

int tap_cpu_log_idle(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, bool enters)
{
	struct tap_cpu_log *log = log_get(l, cpu);

	return log ? add_point(log, ts_ns, enters ? TAP_IDLE_IN : TAP_IDLE_OUT, log->now.asked)
		   : -ENOMEM;
}

int tap_cpu_log_asked(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, enum tap_asked asked)
{
	struct tap_cpu_log *log = log_get(l, cpu);

	if (!log)
		return -ENOMEM;
	return add_point(log, ts_ns, log->now.idle,
			 asked > log->now.asked ? asked : log->now.asked);
}

int tap_cpu_log_prio(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, int old, int new)
{
	struct tap_cpu_log *log = log_get(l, cpu);

	if (!log)
		return -ENOMEM;
	if (!log->now.has_prio)
		log->first_prio = old;
	log->now.has_prio = true;
	log->now.prio = new;
	return add_point(log, ts_ns, log->now.idle, log->now.asked);
}

int tap_cpu_log_picked(struct tap_cpu_logs *l, const struct tap_sched_pick *picked)
{
	struct tap_cpu_log *log = log_get(l, picked->cpu);

	if (!log)
		return -ENOMEM;
	if (log->next.tid) /* the earlier pick's switch ended no interval */
		take_next(log);
	tap_picked_init(&log->next, picked);
	for (unsigned int i = 0; i < log->next.nr; i++)
		put_end_vtime(log, &log->next.v[i], picked->prev_queued);
	return 0;
}

int tap_cpu_log_served(struct tap_cpu_logs *l, int cpu, int tid)
{
	struct tap_cpu_log *log = log_get(l, cpu);

	if (!log)
		return -ENOMEM;
	if (log->next_served) /* the earlier switch ended no interval */
		log->now_served = log->next_served;
	log->next_served = tid;
	return 0;
}

int tap_cpu_log_exited(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, bool is_switch)
{
	struct tap_cpu_log *log = log_get(l, cpu);

	if (!log)
		return -ENOMEM;
	log->has_exits = true;
	if (is_switch)
		return 0;
	log->now.repicked_ns = ts_ns;
	return add_point(log, ts_ns, log->now.idle, TAP_NOT_ASKED); /* the request was served */
}

bool tap_cpu_log_pick_of(const struct tap_cpu_logs *l, int cpu, const struct tap_task *task,
			 struct tap_picked *out)
{
	const struct tap_cpu_log *log =
		cpu >= 0 && (unsigned int)cpu < l->nr_cpus ? l->cpus[cpu] : NULL;
	bool is_next = log && log->next.tid == task->tid;

	if (!is_next && (!log || log->now_tid != task->tid))
		return false;
	out->tid = task->tid;
	out->nr = is_next ? log->next.nr : log->nr_now;
	for (unsigned int i = 0; i < out->nr; i++)
		out->v[i] = is_next ? log->next.v[i] : log->now_picked[i].pick;
	return true;
}

bool tap_cpu_log_has_idle(const struct tap_cpu_logs *l, int cpu)
{
	return has_log(l, cpu) && l->cpus[cpu]->has_idle;
}

void tap_cpu_logs_clear(struct tap_cpu_logs *l)
{
	for (unsigned int i = 0; i < l->nr_cpus; i++) {
		if (!l->cpus[i])
			continue;
		l->cpus[i]->nr_intervals = l->cpus[i]->nr_points = l->cpus[i]->nr_picks = 0;
		l->cpus[i]->before = l->cpus[i]->now;
		l->cpus[i]->has_idle = false;
		memset(l->cpus[i]->last_of, 0, sizeof(l->cpus[i]->last_of));
	}
}

/* ---- reading ---- */

/*
 * Return how many of @nr entries begin at @ns or earlier. It searches from the end, since most
 * queries are about recent times.
 */
#define NR_UNTIL(entries, nr, ns)                                                                  \
	({                                                                                         \
		unsigned int n_ = (nr);                                                            \
		while (n_ && (entries)[n_ - 1].from_ns > (ns))                                     \
			n_--;                                                                      \
		n_;                                                                                \
	})

void tap_cpu_log_read(const struct tap_cpu_logs *l, int cpu, uint64_t from_ns, uint64_t to_ns,
		      const struct tap_cpu *now, struct tap_cpu_parts *out)
{
	const struct tap_cpu_log *log =
		cpu >= 0 && (unsigned int)cpu < l->nr_cpus ? l->cpus[cpu] : NULL;

	out->log = log;
	out->survey = l->survey;
	out->has_picks = log && log->nr_picks;
	out->now = now;
	out->at_ns = from_ns;
	out->to_ns = to_ns;
	out->interval = log ? NR_UNTIL(log->intervals, log->nr_intervals, from_ns) : 0;
	out->point = log ? NR_UNTIL(log->points, log->nr_points, from_ns) : 0;
}

static void put_interval(const struct tap_cpu_log *log, const struct interval *s,
			 struct tap_cpu_part *part)
{
	part->what = s->what;
	part->task = s->what == TAP_CPU_RUN ? s->task : NULL;
	part->prio = s->prio;
	part->picked = s->nr_picked ? &log->picks[s->pick] : NULL;
	part->nr_picked = s->nr_picked;
	part->is_served = s->is_served;
}

static void put_point(const struct point *point, struct tap_cpu_part *part)
{
	part->irq = point->irq;
	part->idle = point->idle;
	part->asked = point->asked;
	part->repicks.last_ns = point->repicked_ns;
	part->asked_ns = point->asked_ns;
	if (point->has_prio)
		part->prio = point->prio;
}

/*
 * In a hole, a lazy request may have become a stronger one, on any CPU. Then it is certain only
 * that there was a request.
 */
static void doubt_lazy(const struct tap_survey *survey, struct tap_cpu_part *part)
{
	const struct tap_hole *hole = part->asked == TAP_ASKED_LAZY && survey
					      ? tap_survey_last_hole(survey, part->to_ns)
					      : NULL;

	if (hole && hole->to_ns > part->asked_ns)
		part->asked = TAP_ASKED;
}

/* Describe the state that is not over, from the timeline. */
static void put_now(const struct tap_cpu_parts *p, struct tap_cpu_part *part)
{
	part->what = p->now && p->at_ns >= p->now->since_ns && p->now->known != TAP_CPU_KNOWN_UNSEEN
			     ? tap_cpu_what(p->now)
			     : TAP_CPU_UNKNOWN;
	part->task = part->what == TAP_CPU_RUN ? p->now->task : NULL;
	part->prio = part->task ? prio_of(p->log, part->task) : 0;
	part->picked = p->log && part->task && p->log->now_tid == part->task->tid && p->log->nr_now
			       ? p->log->now_picked
			       : NULL;
	part->nr_picked = part->picked ? p->log->nr_now : 0;
	part->is_served = p->log && part->task && p->log->now_served == part->task->tid;
}

/* Read what the CPU ran at .at_ns, and limit part->to_ns to the end of that. */
static void read_interval(const struct tap_cpu_parts *p, struct tap_cpu_part *part)
{
	static const struct interval before = { .what = TAP_CPU_UNKNOWN };
	const struct tap_cpu_log *log = p->log;
	/* a CPU without logged intervals is unknown until its present state began */
	uint64_t end_ns = log && log->end_ns				      ? log->end_ns
			  : p->now && tap_cpu_what(p->now) != TAP_CPU_UNKNOWN ? p->now->since_ns
									      : 0;

	if (log && p->interval < log->nr_intervals)
		end_ns = log->intervals[p->interval].from_ns;
	if (p->at_ns >= end_ns) {
		put_now(p, part);
		return;
	}
	if (end_ns < part->to_ns)
		part->to_ns = end_ns;
	put_interval(log, p->interval ? &log->intervals[p->interval - 1] : &before, part);
}

bool tap_cpu_log_last(const struct tap_cpu_logs *l, int cpu, uint64_t from_ns, uint64_t to_ns,
		      struct tap_cpu_part *part)
{
	const struct tap_cpu_log *log =
		cpu >= 0 && (unsigned int)cpu < l->nr_cpus ? l->cpus[cpu] : NULL;
	const struct interval *s =
		log && log->nr_intervals ? &log->intervals[log->nr_intervals - 1] : NULL;

	if (!s || from_ns < s->from_ns || to_ns > log->end_ns || log->now.from_ns > from_ns)
		return false;
	part->from_ns = from_ns;
	part->to_ns = to_ns;
	put_interval(log, s, part);
	put_point(&log->now, part);
	part->repicks.are_known = log->has_exits;
	doubt_lazy(l->survey, part);
	return true;
}

static inline void pass_entries(struct tap_cpu_parts *p, const struct tap_cpu_log *log,
				uint64_t to_ns)
{
	while (p->interval < log->nr_intervals && log->intervals[p->interval].from_ns <= to_ns)
		p->interval++;
	while (p->point < log->nr_points && log->points[p->point].from_ns <= to_ns)
		p->point++;
}

bool tap_cpu_parts_next(struct tap_cpu_parts *p, struct tap_cpu_part *part)
{
	static const struct point nothing = { 0 };
	const struct tap_cpu_log *log = p->log;

	if (p->at_ns >= p->to_ns)
		return false;
	part->from_ns = p->at_ns;
	part->to_ns = p->to_ns;
	read_interval(p, part);
	if (log) {
		put_point(p->point ? &log->points[p->point - 1] : &log->before, part);
		if (p->point < log->nr_points && log->points[p->point].from_ns < part->to_ns)
			part->to_ns = log->points[p->point].from_ns;
		pass_entries(p, log, part->to_ns);
		part->repicks.are_known = log->has_exits;
		doubt_lazy(p->survey, part);
	} else {
		put_point(&nothing, part);
	}
	p->at_ns = part->to_ns;
	return true;
}

void tap_cpu_parts_pass(struct tap_cpu_parts *p, uint64_t to_ns)
{
	if (p->log)
		pass_entries(p, p->log, to_ns);
	p->at_ns = to_ns;
}

bool tap_cpu_parts_block(const struct tap_cpu_parts *p, unsigned int *block, uint64_t *to_ns)
{
	const struct tap_cpu_log *log = p->log;
	unsigned int first = p->interval - 1, next = first + TAP_CPU_LOG_BLOCK;

	if (!log || !p->interval || first % TAP_CPU_LOG_BLOCK || next > log->nr_intervals ||
	    log->intervals[first].from_ns != p->at_ns)
		return false;
	*block = first / TAP_CPU_LOG_BLOCK;
	*to_ns = next < log->nr_intervals ? log->intervals[next].from_ns : log->end_ns;
	return *to_ns <= p->to_ns && *to_ns > p->at_ns;
}
