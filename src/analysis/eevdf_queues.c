// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/eevdf_queues.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"

/* At least this many stays are kept for later picks. */
#define MIN_LIMIT 1024u

void tap_eevdf_queues_release(struct tap_eevdf_queues *q)
{
	for (unsigned int i = 0; i < q->nr_logs; i++)
		free(q->logs[i].stays);
	free(q->logs);
	free(q->members);
}

/* ---- stays ---- */

static struct tap_eevdf_member *member_get(struct tap_eevdf_queues *q, unsigned int task)
{
	return tap_array_at(&q->members, &q->nr_members, task, sizeof(*q->members), NULL);
}

/* Return the stay of a queued task. */
static struct tap_eevdf_stay *stay_of(const struct tap_eevdf_queues *q,
				      const struct tap_eevdf_member *m)
{
	return &q->logs[m->cpu].stays[m->stay];
}

static void end_queued(struct tap_eevdf_queues *q, struct tap_eevdf_member *m, uint64_t ts_ns)
{
	if (m->is_queued)
		stay_of(q, m)->to_ns = ts_ns;
	m->is_queued = false;
}

/* Begin a new stay. Return: NULL: out of memory. */
static struct tap_eevdf_stay *begin_stay(struct tap_eevdf_queues *q, struct tap_eevdf_member *m,
					 unsigned int task, int cpu, uint64_t ts_ns)
{
	static const struct tap_eevdf_log fresh = { .limit = MIN_LIMIT };
	struct tap_eevdf_log *l =
		tap_array_at(&q->logs, &q->nr_logs, (unsigned int)cpu, sizeof(*q->logs), &fresh);

	end_queued(q, m, ts_ns);
	m->is_seen = true;
	if (!l || (l->nr == l->cap && tap_array_grow(&l->stays, l->nr, &l->cap, sizeof(*l->stays))))
		return NULL;
	m->is_queued = true;
	m->cpu = cpu;
	m->stay = l->nr++;
	l->stays[m->stay] =
		(struct tap_eevdf_stay){ .from_ns = ts_ns, .to_ns = UINT64_MAX, .task = task };
	return &l->stays[m->stay];
}

int tap_eevdf_queue_wakeup(struct tap_eevdf_queues *q, unsigned int task, int cpu, uint64_t ts_ns)
{
	struct tap_eevdf_member *m = member_get(q, task);

	if (!m)
		return -ENOMEM;
	if (m->is_queued && !stay_of(q, m)->is_asleep) /* it is queued already */
		return 0;
	return begin_stay(q, m, task, cpu, ts_ns) ? 0 : -ENOMEM;
}

int tap_eevdf_queue_move(struct tap_eevdf_queues *q, unsigned int task, int to, uint64_t ts_ns,
			 bool is_woken)
{
	struct tap_eevdf_member *m = member_get(q, task);
	struct tap_eevdf_stay *stay;
	bool is_asleep;

	if (!m)
		return -ENOMEM;
	if (!m->is_queued)
		return 0;
	stay = stay_of(q, m);
	is_asleep = stay->is_asleep;
	end_queued(q, m, is_woken ? stay->from_ns : ts_ns);
	if (to < 0)
		return 0;
	stay = begin_stay(q, m, task, to, ts_ns);
	if (!stay)
		return -ENOMEM;
	stay->is_asleep = is_asleep;
	return 0;
}

static void end_stay(struct tap_eevdf_stay *stay, const struct tap_eevdf_member *m,
		     const struct tap_sched_pick *p)
{
	bool changed = stay->has_v && (stay->v != p->v || m->weight != p->weight);

	stay->is_picked = true;
	stay->is_strange = changed && p->tid;
	stay->has_v = p->tid;
	stay->v = p->v;
	stay->deadline = p->deadline;
	stay->weight = p->weight;
	stay->group = p->group;
}

static int note_pick(struct tap_eevdf_queues *q, struct tap_eevdf_member *m, unsigned int task,
		     const struct tap_sched_pick *p)
{
	/* its first event: it waited since before the recording */
	if (!m->is_seen && !begin_stay(q, m, task, p->cpu, 0))
		return -ENOMEM;
	if (m->is_queued) {
		if (m->cpu == p->cpu)
			end_stay(stay_of(q, m), m, p);
		else
			stay_of(q, m)->is_strange = true;
		end_queued(q, m, p->ts_ns);
	}
	if (p->tid) {
		m->group = p->group;
		m->weight = p->weight;
	}
	return 0;
}

int tap_eevdf_queue_pick(struct tap_eevdf_queues *q, unsigned int task,
			 const struct tap_sched_pick *p)
{
	struct tap_eevdf_member *m = member_get(q, task);

	return m ? note_pick(q, m, task, p) : -ENOMEM;
}

int tap_eevdf_queue_end(struct tap_eevdf_queues *q, unsigned int task,
			const struct tap_sched_pick *began, const struct tap_sched_pick *p,
			const int64_t *v)
{
	struct tap_eevdf_member *m = member_get(q, task);
	struct tap_eevdf_stay *stay;

	if (!m || (!m->is_seen && note_pick(q, m, task, began)))
		return -ENOMEM;
	if (!p->prev_queued)
		return 0;
	stay = begin_stay(q, m, task, p->cpu, p->ts_ns);
	if (!stay)
		return -ENOMEM;
	stay->is_asleep = p->prev_delayed;
	stay->has_v = v;
	stay->v = v ? *v : 0;
	return 0;
}

/* ---- forgetting ---- */

static const struct tap_eevdf_log *log_find(const struct tap_eevdf_queues *q, int cpu)
{
	return (unsigned int)cpu < q->nr_logs ? &q->logs[cpu] : NULL;
}

void tap_eevdf_queue_forget(struct tap_eevdf_queues *q, int cpu, const struct tap_sched_pick *p,
			    uint64_t from_ns)
{
	struct tap_eevdf_log *l = &q->logs[cpu];
	bool none_sleeps = p->tid && p->nr_queued <= p->nr_runnable;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < l->nr; i++) {
		struct tap_eevdf_stay *s = &l->stays[i];
		struct tap_eevdf_member *m = &q->members[s->task];
		bool lasts = m->is_queued && m->cpu == cpu && m->stay == i;

		if (lasts && s->is_asleep && none_sleeps && m->group == p->group)
			end_queued(q, m, p->ts_ns);
		if (s->to_ns <= from_ns)
			continue;
		if (lasts)
			m->stay = kept;
		l->stays[kept++] = *s;
	}
	l->nr = kept;
	l->known_from_ns = from_ns > l->known_from_ns ? from_ns : l->known_from_ns;
	l->limit = MIN_LIMIT + 2 * kept;
}

/* ---- the waiters of a run ---- */

/* Add a stay to the run. Return: false if the run cannot be judged. */
static bool add_waiter(const struct tap_eevdf_queues *q, const struct tap_eevdf_stay *s,
		       const struct tap_sched_pick *began, struct tap_eevdf_run *run)
{
	const struct tap_eevdf_member *m = &q->members[s->task];
	uint64_t weight = s->is_picked ? s->weight : m->weight;

	if (s->is_picked && !weight)
		return true;
	if (weight && (s->is_picked ? s->group : m->group) != began->group)
		return true;
	/* treated like a task that no event names: add_hidden() finds it */
	if (!weight && s->from_ns <= run->from_ns && s->to_ns >= run->to_ns)
		return true;
	if (!weight || s->is_strange || run->nr_waiters == TAP_EEVDF_WAITERS ||
	    (s->is_asleep && !s->has_v))
		return false;
	run->waiters[run->nr_waiters++] = (struct tap_eevdf_waiter){
		.from_ns = s->from_ns,
		.to_ns = s->to_ns,
		.weight = (double)weight,
		.is_asleep = s->is_asleep,
		.v = s->has_v ? tap_eevdf_since(s->v, began) : NAN,
		.deadline = s->is_picked ? tap_eevdf_since(s->deadline, began) : NAN,
	};
	return true;
}

/* Return the sleeping task with the lowest v, which leaves first. */
static struct tap_eevdf_waiter *first_to_leave(struct tap_eevdf_run *run)
{
	struct tap_eevdf_waiter *first = NULL;

	for (unsigned int i = 0; i < run->nr_waiters; i++) {
		struct tap_eevdf_waiter *w = &run->waiters[i];

		if (w->is_asleep && !w->may_leave && (!first || w->v < first->v))
			first = w;
	}
	return first;
}

static uint32_t nr_asleep(const struct tap_sched_pick *p)
{
	return p->nr_queued > p->nr_runnable ? p->nr_queued - p->nr_runnable : 0;
}

/*
 * Picks show how many tasks sleep in the queue. Drop sleeping tasks that had left before the run,
 * and mark those that left during it.
 */
static void limit_asleep(struct tap_eevdf_run *run, const struct tap_sched_pick *began,
			 const struct tap_sched_pick *ended)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < run->nr_waiters; i++)
		nr += run->waiters[i].is_asleep;
	for (; nr > nr_asleep(began); nr--) {
		struct tap_eevdf_waiter *gone = first_to_leave(run);

		*gone = run->waiters[--run->nr_waiters];
	}
	for (unsigned int i = 0; i < run->nr_waiters; i++) {
		struct tap_eevdf_waiter *w = &run->waiters[i];

		w->may_leave = w->is_asleep && w->to_ns < run->to_ns;
		nr -= w->may_leave;
	}
	for (; nr > nr_asleep(ended); nr--)
		first_to_leave(run)->may_leave = true;
}

/*
 * Return true if the stay overlaps the run. The task picked at the run's end may have been woken in
 * the same ns.
 */
static bool is_during(const struct tap_eevdf_stay *s, const struct tap_eevdf_run *run)
{
	if (s->to_ns <= run->from_ns)
		return false;
	return s->is_picked && s->to_ns == run->to_ns
		       ? true
		       : s->from_ns < run->to_ns && s->from_ns < s->to_ns;
}

bool tap_eevdf_queue_run(const struct tap_eevdf_queues *q, const struct tap_sched_pick *began,
			 const struct tap_sched_pick *ended, struct tap_eevdf_run *run)
{
	const struct tap_eevdf_log *l = log_find(q, began->cpu);

	if (!l || run->from_ns < l->known_from_ns)
		return false;
	for (unsigned int i = 0; i < l->nr; i++) {
		const struct tap_eevdf_stay *s = &l->stays[i];

		if (is_during(s, run) && !add_waiter(q, s, began, run))
			return false;
	}
	limit_asleep(run, began, ended);
	return true;
}
