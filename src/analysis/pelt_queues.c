// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/pelt_queues.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "timeline/sched_fields.h"

/* A task that sleeps and may still be queued (delayed dequeue), or was woken from that. */
struct late {
	const struct tap_task *task;
	bool dequeued; /* the task is not queued, but its group's entity may be */
	bool woken;
	bool stale; /* entities above may have another number of tasks than there are */
};

struct tap_pelt_queue {
	const struct tap_task **tasks; /* owned; known tasks that run or wait there, of any class */
	unsigned int nr, cap;
	struct late *late; /* owned */
	unsigned int nr_late, cap_late;
	unsigned int hidden_min, hidden_max; /* bounds for the number of other fair tasks there */
	/* time when a task was dequeued and no sleeping task was left; 0: not so */
	uint64_t all_dequeued_ns;
};

struct tap_pelt_member {
	int cpu_plus_1; /* CPU plus one of the queue whose .tasks it is in; 0: none */
	bool from_event; /* .cgroup is known from the scheduler (sched_pelt_se) */
	uint64_t cgroup;
};

/* The fields of one format. */
struct tap_queue_reading {
	enum what { UNREAD, NOTHING, WAKEUP, COUNT, ENTITY } what;
	struct tap_num tid, cpu, cgroup, change, queued, runnable;
};

static struct tap_pelt_queue *get_queue(struct tap_pelt_queues *q, int cpu)
{
	static const struct tap_pelt_queue fresh = { .hidden_max = TAP_PELT_ANY_NUMBER };

	return tap_array_at(&q->queues, &q->nr_queues, (unsigned int)cpu, sizeof(fresh), &fresh);
}

/* Check a CPU number of an event: it may have any value. */
static bool is_cpu(const struct tap_pelt_queues *q, int cpu)
{
	unsigned int nr;

	tap_timeline_cpus(q->timeline, &nr);
	return cpu >= 0 && (unsigned int)cpu < nr;
}

static struct tap_pelt_member *get_member(struct tap_pelt_queues *q, const struct tap_task *task)
{
	return tap_array_at(&q->members, &q->nr_members, task->index, sizeof(*q->members), NULL);
}

static enum tap_cpu_what what_runs(const struct tap_pelt_queues *q, int cpu,
				   const struct tap_task **task)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(q->timeline, &nr);

	*task = cpus[cpu].task;
	return tap_cpu_what(&cpus[cpu]);
}

static int report_change(struct tap_pelt_queues *q, int cpu, uint64_t ts_ns)
{
	return q->opts.change(q->opts.ctx, q->timeline, cpu, ts_ns);
}

static void reset_hidden(struct tap_pelt_queue *queue)
{
	queue->hidden_min = 0;
	queue->hidden_max = TAP_PELT_ANY_NUMBER;
}

static void look_for_losses(struct tap_pelt_queues *q, uint64_t ts_ns)
{
	if (ts_ns <= q->at_ns)
		return;
	if (tap_losses_between(&q->losses, q->at_ns, ts_ns))
		for (unsigned int i = 0; i < q->nr_queues; i++)
			reset_hidden(&q->queues[i]);
	q->at_ns = ts_ns;
}

/* ---- which task is in which queue ---- */

static void report_late(const struct tap_pelt_queues *q, int cpu, const struct tap_task *task,
			uint64_t ts_ns)
{
	if (q->opts.late)
		q->opts.late(q->opts.ctx, cpu, task, ts_ns);
}

static bool is_late(const struct tap_pelt_queues *q, const struct tap_task *task)
{
	for (unsigned int cpu = 0; cpu < q->nr_queues; cpu++)
		for (unsigned int i = 0; i < q->queues[cpu].nr_late; i++)
			if (q->queues[cpu].late[i].task == task &&
			    !q->queues[cpu].late[i].dequeued && !q->queues[cpu].late[i].woken)
				return true;
	return false;
}

static void drop_late(struct tap_pelt_queues *q, const struct tap_task *task)
{
	for (unsigned int cpu = 0; cpu < q->nr_queues; cpu++) {
		struct tap_pelt_queue *queue = &q->queues[cpu];

		for (unsigned int i = 0; i < queue->nr_late; i++)
			if (queue->late[i].task == task)
				queue->late[i--] = queue->late[--queue->nr_late];
	}
}

static int add_late(struct tap_pelt_queues *q, int cpu, const struct late *late, uint64_t ts_ns)
{
	struct tap_pelt_queue *queue = get_queue(q, cpu);

	if (!queue ||
	    tap_array_grow(&queue->late, queue->nr_late, &queue->cap_late, sizeof(*queue->late)))
		return -ENOMEM;
	queue->late[queue->nr_late++] = *late;
	if (!late->dequeued)
		report_late(q, cpu, late->task, ts_ns);
	return 0;
}

/*
 * A task was enqueued or dequeued, so the entities of the groups above it have the current number
 * of tasks.
 */
static void refresh_entities(struct tap_pelt_queues *q, int cpu, const struct tap_task *task)
{
	struct tap_pelt_queue *queue = &q->queues[cpu];

	for (unsigned int i = 0; i < queue->nr_late; i++) {
		struct late *late = &queue->late[i];
		const struct tap_pelt_member *m = &q->members[late->task->index];
		struct tap_pelt_group group = { m->cgroup,
						tap_cgroups_path(q->opts.cgroups, m->cgroup) };
		enum tap_pelt_place place = tap_pelt_place_of(q, task, &group);

		if (!m->from_event || place == TAP_PELT_OUTSIDE || place == TAP_PELT_NOWHERE_KNOWN)
			continue;
		late->stale = false;
		if (late->woken)
			queue->late[i--] = queue->late[--queue->nr_late];
	}
}

static int leave_queue(struct tap_pelt_queues *q, const struct tap_task *task, uint64_t ts_ns)
{
	struct tap_pelt_member *m = get_member(q, task);
	struct tap_pelt_queue *queue;
	int ret;

	if (!m || !m->cpu_plus_1)
		return m ? 0 : -ENOMEM;
	queue = &q->queues[m->cpu_plus_1 - 1];
	ret = report_change(q, m->cpu_plus_1 - 1, ts_ns);
	for (unsigned int i = 0; i < queue->nr; i++)
		if (queue->tasks[i] == task)
			queue->tasks[i--] = queue->tasks[--queue->nr];
	m->cpu_plus_1 = 0;
	return ret;
}

/*
 * Drop tasks whose state became unknown: they may be queued or not. Their last interval is reported
 * only when it is over.
 */
static void drop_unknown(struct tap_pelt_queues *q, struct tap_pelt_queue *queue)
{
	for (unsigned int i = 0; i < queue->nr; i++) {
		if (queue->tasks[i]->state != TAP_STATE_UNKNOWN)
			continue;
		q->members[queue->tasks[i]->index].cpu_plus_1 = 0;
		queue->tasks[i--] = queue->tasks[--queue->nr];
		queue->hidden_max = TAP_PELT_ANY_NUMBER;
	}
}

/* A hidden task became known. If there was none, the bounds were wrong: reset them. */
static int reveal_task(struct tap_pelt_queues *q, int cpu, uint64_t ts_ns)
{
	struct tap_pelt_queue *queue = get_queue(q, cpu);
	int ret;

	if (!queue)
		return -ENOMEM;
	if (!queue->hidden_max)
		reset_hidden(queue);
	ret = report_change(q, cpu, ts_ns);
	queue->hidden_min -= queue->hidden_min > 0;
	queue->hidden_max -= queue->hidden_max != TAP_PELT_ANY_NUMBER;
	return ret;
}

static int join_queue(struct tap_pelt_queues *q, const struct tap_task *task, int cpu,
		      uint64_t ts_ns)
{
	struct tap_pelt_member *m = get_member(q, task);
	struct tap_pelt_queue *queue;
	bool was_late;
	int ret;

	if (!m || m->cpu_plus_1 == cpu + 1)
		return m ? 0 : -ENOMEM;
	queue = get_queue(q, cpu);
	if (!queue)
		return -ENOMEM;
	was_late = is_late(q, task);
	ret = leave_queue(q, task, ts_ns) ?: report_change(q, cpu, ts_ns);
	drop_late(q, task);
	if (!was_late) {
		refresh_entities(q, cpu, task);
	} else if (!ret) {
		const struct late late = { task, .woken = true, .stale = true };

		ret = add_late(q, cpu, &late, ts_ns);
	}
	if (ret)
		return ret;
	queue = &q->queues[cpu];
	if (tap_array_grow(&queue->tasks, queue->nr, &queue->cap, sizeof(*queue->tasks)))
		return -ENOMEM;
	queue->tasks[queue->nr++] = task;
	m->cpu_plus_1 = cpu + 1;
	return 0;
}

static bool is_other_class(const struct tap_task *task)
{
	return task->prio != TAP_PRIO_UNKNOWN && task->prio < 100;
}

/* ---- intervals of the timeline ---- */

static int go_to_sleep(struct tap_pelt_queues *q, const struct tap_task *task, int cpu,
		       uint64_t ts_ns)
{
	struct tap_pelt_queue *queue = get_queue(q, cpu);
	bool dequeued;
	int ret;

	if (!queue)
		return -ENOMEM;
	ret = leave_queue(q, task, ts_ns);
	drop_late(q, task);
	dequeued =
		queue->all_dequeued_ns && ts_ns - queue->all_dequeued_ns < TAP_PELT_SAME_SWITCH_NS;
	if (dequeued)
		refresh_entities(q, cpu, task);
	if (ret || is_other_class(task) || (!queue->nr && !queue->hidden_max))
		return ret;
	return add_late(q, cpu,
			&(const struct late){ task, .dequeued = dequeued, .stale = !dequeued },
			ts_ns);
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_pelt_queues *q = ctx;
	struct tap_pelt_member *m = get_member(q, s->task);
	bool was_there = s->state == TAP_STATE_RUNNING || s->state == TAP_STATE_PREEMPTED ||
			 (s->state == TAP_STATE_WAKING && !q->has_wakeups);
	int cpu = s->next == TAP_STATE_RUNNING ? s->next_cpu : s->task->cpu, ret = 0;

	q->timeline = t;
	look_for_losses(q, s->to_ns);
	if (!m)
		return -ENOMEM;
	/* the window's end; the task was on no known CPU; or its switch-in reveals it */
	if (s->next == s->state || !is_cpu(q, cpu) || s->late)
		return 0;
	if (!m->cpu_plus_1 && !is_other_class(s->task) &&
	    (was_there || (s->next == TAP_STATE_RUNNING && s->state != TAP_STATE_WAKING &&
			   s->state != TAP_STATE_THROTTLED)))
		ret = reveal_task(q, cpu, s->to_ns);
	if (ret)
		return ret;
	switch (s->next) {
	case TAP_STATE_WAKING:
		return q->has_wakeups ? leave_queue(q, s->task, s->to_ns)
				      : join_queue(q, s->task, cpu, s->to_ns);
	case TAP_STATE_PREEMPTED:
		/* it was switched out on a CPU where it was not known to run */
		if (!was_there && s->state != TAP_STATE_THROTTLED)
			return 0;
		return join_queue(q, s->task, cpu, s->to_ns);
	case TAP_STATE_RUNNING:
		return join_queue(q, s->task, cpu, s->to_ns);
	case TAP_STATE_UNKNOWN: /* it may still be queued */
		if (m->cpu_plus_1)
			q->queues[m->cpu_plus_1 - 1].hidden_max = TAP_PELT_ANY_NUMBER;
		return leave_queue(q, s->task, s->to_ns);
	case TAP_STATE_THROTTLED:
		return leave_queue(q, s->task, s->to_ns);
	default:
		return go_to_sleep(q, s->task, cpu, s->to_ns);
	}
}

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct tap_pelt_queues *q = ctx;
	struct tap_pelt_queue *queue = get_queue(q, s->cpu);
	int ret;

	q->timeline = t;
	if (!queue)
		return -ENOMEM;
	look_for_losses(q, s->to_ns);
	if (s->what == TAP_CPU_UNKNOWN || s->what == TAP_CPU_OFFLINE)
		reset_hidden(queue);
	ret = report_change(q, s->cpu, s->to_ns);
	if (s->what == TAP_CPU_IDLE)
		queue->hidden_min = queue->hidden_max = queue->nr_late = 0;
	return ret;
}

static int on_migration(void *ctx, const struct tap_timeline *t, const struct tap_migration *m)
{
	struct tap_pelt_queues *q = ctx;
	struct tap_pelt_member *member = get_member(q, m->task);

	q->timeline = t;
	look_for_losses(q, m->ts_ns);
	if (!member || !is_cpu(q, m->to))
		return member ? 0 : -ENOMEM;
	if (member->cpu_plus_1)
		return join_queue(q, m->task, m->to, m->ts_ns);
	if (!tap_state_is_sleep(m->task->state)) /* its wakeup places it */
		return 0;
	/* only the balancer moves sleeping tasks, which it finds in a queue (delayed dequeue) */
	drop_late(q, m->task);
	return add_late(q, m->to, &(const struct late){ m->task, .stale = true }, m->ts_ns);
}

static int on_waits(void *ctx, const struct tap_timeline *t, struct tap_task *task, uint64_t ts_ns)
{
	struct tap_pelt_queues *q = ctx;

	q->timeline = t;
	look_for_losses(q, ts_ns);
	return q->has_wakeups || !is_cpu(q, task->cpu) ? 0 : join_queue(q, task, task->cpu, ts_ns);
}

/* ---- events ---- */

/* A task with an unknown state was woken: it may have been queued already. */
static int add_hidden(struct tap_pelt_queues *q, const struct tap_task *task, int cpu,
		      uint64_t ts_ns)
{
	struct tap_pelt_queue *queue = get_queue(q, cpu);
	int ret;

	if (!queue || is_other_class(task))
		return queue ? 0 : -ENOMEM;
	ret = report_change(q, cpu, ts_ns);
	queue->hidden_max += queue->hidden_max != TAP_PELT_ANY_NUMBER;
	return ret;
}

static int add_wakeup(struct tap_pelt_queues *q, const struct tap_queue_reading *r,
		      const struct tap_event *ev)
{
	const struct tap_task *task = tap_timeline_task(q->timeline, tap_num_int(&r->tid, ev));
	int cpu = task && r->cpu.size ? tap_num_int(&r->cpu, ev) : task ? task->cpu : -1;

	if (!task || !is_cpu(q, cpu) ||
	    (task->state != TAP_STATE_WAKING && task->state != TAP_STATE_UNKNOWN))
		return 0;
	return task->state == TAP_STATE_WAKING ? join_queue(q, task, cpu, ev->ts_ns)
					       : add_hidden(q, task, cpu, ev->ts_ns);
}

/* Note whether sleeping tasks are left in the queue. */
static void note_dequeued(struct tap_pelt_queue *queue, uint64_t ts_ns, int by, bool is_none)
{
	queue->all_dequeued_ns = is_none && by < 0 ? ts_ns : 0;
	for (unsigned int i = 0; is_none && i < queue->nr_late; i++)
		queue->late[i].dequeued = !queue->late[i].woken;
}

/*
 * Update the bounds of hidden tasks from sched_update_nr_running. The event comes with the queue's
 * lock held, while @by tasks join or leave; the timeline sees these a little later, or has seen
 * them already. @by is 0 if delayed tasks are dequeued: then no runnable task leaves, but one may
 * be about to become a delayed one.
 */
static int update_hidden(struct tap_pelt_queues *q, int cpu, uint64_t ts_ns, int by,
			 unsigned int runnable)
{
	struct tap_pelt_queue *queue = &q->queues[cpu];
	int64_t min = runnable, max;
	int ret;

	drop_unknown(q, queue);
	for (unsigned int i = 0; i < queue->nr; i++) {
		if (queue->tasks[i]->prio == TAP_PRIO_UNKNOWN)
			return 0;
		min -= queue->tasks[i]->prio >= 100;
	}
	max = by > 0 ? min : by < 0 ? min - by : min + 1;
	min = by > 0 ? min - by : min;
	if (min > queue->hidden_max || max < queue->hidden_min)
		reset_hidden(queue);
	ret = report_change(q, cpu, ts_ns);
	if (max < 0)
		return ret;
	if (min > queue->hidden_min)
		queue->hidden_min = (unsigned int)min;
	if (max < queue->hidden_max)
		queue->hidden_max = (unsigned int)max;
	return ret;
}

static int add_count(struct tap_pelt_queues *q, const struct tap_queue_reading *r,
		     const struct tap_event *ev)
{
	int cpu = tap_num_int(&r->cpu, ev), by = tap_num_int(&r->change, ev);
	unsigned int queued = (unsigned int)tap_num_get(&r->queued, ev),
		     runnable = (unsigned int)tap_num_get(&r->runnable, ev);
	struct tap_pelt_queue *queue;

	if (!is_cpu(q, cpu))
		return 0;
	queue = get_queue(q, cpu);
	if (!queue)
		return -ENOMEM;
	note_dequeued(queue, ev->ts_ns, by, queued == runnable);
	return update_hidden(q, cpu, ev->ts_ns, by, runnable);
}

static int add_entity(struct tap_pelt_queues *q, const struct tap_queue_reading *r,
		      const struct tap_event *ev)
{
	const struct tap_task *task = tap_timeline_task(q->timeline, tap_num_int(&r->tid, ev));
	struct tap_pelt_member *m = task ? get_member(q, task) : NULL;

	if (!m)
		return task ? -ENOMEM : 0;
	m->from_event = true;
	m->cgroup = tap_pelt_cgroup_in(&r->cgroup, ev);
	return 0;
}

static enum what what_of(const struct tap_format *fmt)
{
	static const struct {
		const char *system, *name;
		enum what what;
	} formats[] = {
		{ "sched", "sched_wakeup", WAKEUP },
		{ "sched", "sched_wakeup_new", WAKEUP },
		{ "schedtap", "sched_update_nr_running", COUNT },
		{ "schedtap", "sched_pelt_se", ENTITY },
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(formats[i].system, fmt->system) && !strcmp(formats[i].name, fmt->name))
			return formats[i].what;
	return NOTHING;
}

static void read_format(struct tap_queue_reading *r, const struct tap_format *fmt)
{
	r->what = what_of(fmt);
	tap_num_init(&r->tid, tap_number_field(fmt, "pid"));
	tap_num_init(&r->cpu, tap_number_field(fmt, r->what == WAKEUP ? "target_cpu" : "cpu"));
	tap_num_init(&r->cgroup, tap_number_field(fmt, "cgroup"));
	tap_num_init(&r->change, tap_number_field(fmt, "change"));
	tap_num_init(&r->queued, tap_number_field(fmt, "h_nr_queued"));
	tap_num_init(&r->runnable, tap_number_field(fmt, "h_nr_runnable"));
	/* kernels before v6.14 report one number for all classes, including sleeping tasks */
	if (r->what == COUNT
		    ? !r->cpu.size || !r->change.size || !r->queued.size || !r->runnable.size
		    : !r->tid.size)
		r->what = NOTHING;
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return fmt && what_of(fmt) != NOTHING;
}

static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_pelt_queues *q = ctx;
	struct tap_queue_reading *r =
		tap_array_at(&q->reading, &q->nr_reading, ev->fmt->id, sizeof(*r), NULL);

	q->timeline = t;
	if (!r)
		return -ENOMEM;
	if (r->what == UNREAD)
		read_format(r, ev->fmt);
	if (r->what == NOTHING)
		return 0;
	look_for_losses(q, ev->ts_ns);
	if (r->what == WAKEUP)
		return add_wakeup(q, r, ev);
	return r->what == COUNT ? add_count(q, r, ev) : add_entity(q, r, ev);
}

const struct tap_watcher_ops tap_pelt_queues_ops = {
	.states = TAP_STATE_ALL,
	.interval = on_interval,
	.cpu = on_cpu,
	.migration = on_migration,
	.waits = on_waits,
	.wants = wants_event,
	.event = on_event,
};

/* ---- queries ---- */

uint64_t tap_pelt_cgroup_in(const struct tap_num *cgroup, const struct tap_event *ev)
{
	uint64_t id = cgroup->size ? (uint64_t)tap_num_get(cgroup, ev) : TAP_PELT_ROOT;

	return (uint32_t)id == TAP_PELT_ROOT ? TAP_PELT_ROOT : id;
}

uint64_t tap_pelt_weight(int prio)
{
	/* each step is a factor of 1.25, with the kernel's rounding */
	static const uint32_t weights[] = {
		88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
		9548,  7620,  6100,  4904,  3906,  3121,  2501,	 1991,	1586,  1277,
		1024,  820,   655,   526,   423,   335,	  272,	 215,	172,   137,
		110,   87,    70,    56,    45,	   36,	  29,	 23,	18,    15,
	};

	return prio >= 100 && prio < 140 ? weights[prio - 100] : 0;
}

static bool is_below(const char *path, const char *root)
{
	size_t len = strlen(root);

	return !strncmp(path, root, len) && (!path[len] || path[len] == '/');
}

enum tap_pelt_place tap_pelt_place_of(const struct tap_pelt_queues *q, const struct tap_task *task,
				      const struct tap_pelt_group *group)
{
	const struct tap_pelt_member *m =
		task->index < q->nr_members ? &q->members[task->index] : NULL;
	bool knows_cgroup = m && m->from_event;
	const char *path;

	if (knows_cgroup && m->cgroup == group->cgroup)
		return TAP_PELT_DIRECT;
	if (group->cgroup == TAP_PELT_ROOT)
		return TAP_PELT_BELOW;
	if (knows_cgroup && (!m->cgroup || m->cgroup == TAP_PELT_ROOT))
		return TAP_PELT_OUTSIDE;
	path = tap_cgroups_path(q->opts.cgroups, knows_cgroup ? m->cgroup : task->cgroup);
	if (!path || !group->path)
		return TAP_PELT_NOWHERE_KNOWN;
	return is_below(path, group->path) ? TAP_PELT_BELOW : TAP_PELT_OUTSIDE;
}

static void add_task(const struct tap_pelt_queues *q, const struct tap_pelt_group *group,
		     const struct tap_task *task, struct tap_pelt_held *held)
{
	enum tap_pelt_place place = tap_pelt_place_of(q, task, group);
	uint64_t weight = tap_pelt_weight(task->prio);

	if (place == TAP_PELT_OUTSIDE || is_other_class(task))
		return;
	held->nr += place != TAP_PELT_NOWHERE_KNOWN && weight;
	held->nr_max++;
	held->weight += weight;
	held->weight_known &= place == TAP_PELT_DIRECT && weight;
}

static void add_late_task(const struct tap_pelt_queues *q, const struct tap_pelt_group *group,
			  const struct late *late, struct tap_pelt_held *held)
{
	enum tap_pelt_place place = tap_pelt_place_of(q, late->task, group);

	if (place == TAP_PELT_OUTSIDE)
		return;
	held->late |= !late->dequeued && !late->woken;
	held->stale |= !late->dequeued && late->stale;
	held->weight_known &= late->woken || place == TAP_PELT_DIRECT;
}

static void find_running(const struct tap_pelt_queues *q, int cpu,
			 const struct tap_pelt_group *group, struct tap_pelt_held *held)
{
	const struct tap_task *task = NULL;
	enum tap_cpu_what what = what_runs(q, cpu, &task);
	enum tap_pelt_place place;

	held->runs_known = what == TAP_CPU_IDLE;
	if (what != TAP_CPU_RUN)
		return;
	place = tap_pelt_place_of(q, task, group);
	held->runs = task->prio >= 100 && place != TAP_PELT_OUTSIDE;
	held->runs_known = place == TAP_PELT_OUTSIDE ||
			   (task->prio != TAP_PRIO_UNKNOWN &&
			    (place != TAP_PELT_NOWHERE_KNOWN || task->prio < 100));
}

struct tap_pelt_held tap_pelt_queues_held(struct tap_pelt_queues *q, const struct tap_timeline *t,
					  int cpu, const struct tap_pelt_group *group,
					  uint64_t ts_ns)
{
	struct tap_pelt_queue *queue = get_queue(q, cpu);
	struct tap_pelt_held held = { .weight_known = true };
	const struct tap_task *task;
	bool is_idle;

	q->timeline = t;
	look_for_losses(q, ts_ns);
	find_running(q, cpu, group, &held);
	is_idle = what_runs(q, cpu, &task) == TAP_CPU_IDLE;
	if (!queue) /* out of memory: the next change of this queue returns the error */
		return (struct tap_pelt_held){ .nr_max = TAP_PELT_ANY_NUMBER };
	drop_unknown(q, queue);
	for (unsigned int i = 0; i < queue->nr; i++)
		add_task(q, group, queue->tasks[i], &held);
	if (is_idle)
		return held;
	for (unsigned int i = 0; i < queue->nr_late; i++)
		add_late_task(q, group, &queue->late[i], &held);
	if (group->cgroup == TAP_PELT_ROOT)
		held.nr += queue->hidden_min;
	held.nr_max = queue->hidden_max == TAP_PELT_ANY_NUMBER ? TAP_PELT_ANY_NUMBER
							       : held.nr_max + queue->hidden_max;
	held.weight_known &= !queue->hidden_max;
	return held;
}

/* ---- life ---- */

void tap_pelt_queues_init(struct tap_pelt_queues *q, const struct tap_pelt_queues_opts *opts)
{
	const struct tap_survey *s = opts->survey;

	*q = (struct tap_pelt_queues){ .opts = *opts, .losses.survey = s };
	for (unsigned int i = 0; i < s->nr_kinds; i++)
		q->has_wakeups |= !strcmp(s->kinds[i].fmt->system, "sched") &&
				  !strcmp(s->kinds[i].fmt->name, "sched_wakeup");
}

void tap_pelt_queues_release(struct tap_pelt_queues *q)
{
	for (unsigned int i = 0; i < q->nr_queues; i++) {
		free(q->queues[i].tasks);
		free(q->queues[i].late);
	}
	free(q->reading);
	free(q->queues);
	free(q->members);
}
