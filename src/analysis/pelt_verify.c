// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/pelt_verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "timeline/sched_fields.h"

/* Limit for intervals between two updates, which come at least once in 1024 us of the PELT clock.
 */
#define MAX_SPANS 4096u
/* Clocks may diverge between two updates by CLOCK_NS plus 1/CLOCK_PART of the time. */
#define CLOCK_NS 50000u
#define CLOCK_PART 16u
/*
 * A value that exceeds the possible range by at most this is an error; by more, a task joined or
 * left.
 */
#define ATTACH_LEAST 4u

/* An interval in one state. For a task .nr and .weight are 1 while it is queued. */
struct span {
	bool runs;
	unsigned int nr;
	uint64_t weight, to_ns;
};

/*
 * A compared value. It counts once the next one comes, because an event shortly after it may show
 * that it could not be predicted.
 */
struct judged {
	bool pending;
	enum tap_pelt_between between;
	uint64_t error;
	struct tap_pelt_errors what;
};

/* The current state of one average. */
struct value {
	struct tap_pelt_verified *verified; /* results; NULL: the average is not wanted */
	struct tap_pelt_range sums;
	bool known; /* .sums is valid */
	uint64_t last;
	struct judged judged;
};

enum { UTIL, RUNNABLE, LOAD, NR_VALUES };

enum kind { OF_TASK, OF_QUEUE, OF_ENTITY, OF_RT, OF_DL };

static const struct {
	enum tap_pelt_average first;
	unsigned int nr;
} kinds[] = {
	[OF_TASK] = { TAP_PELT_UTIL, NR_VALUES },
	[OF_QUEUE] = { TAP_PELT_UTIL, NR_VALUES },
	[OF_ENTITY] = { TAP_PELT_UTIL_ENTITY, NR_VALUES },
	[OF_RT] = { TAP_PELT_UTIL_RT, 1 },
	[OF_DL] = { TAP_PELT_UTIL_DL, 1 },
};

/* A task, queue or entity, with the averages that one event updates and that share a clock. */
struct tap_pelt_track {
	enum kind kind;
	const struct tap_task *task; /* NULL: not a task */
	struct tap_pelt_group group; /* a group on .cpu, if .task is NULL */
	int cpu;
	bool known; /* .values and .unit are valid at .at_ns */
	uint64_t at_ns, unit;
	int last_cpu, prio;
	uint64_t cgroup;
	struct span *spans; /* owned; intervals since .at_ns */
	unsigned int nr, cap;
	enum tap_pelt_between between; /* classification so far of the interval since .at_ns */
	/* by value: why it is not predicted, or TAP_PELT_STEADY */
	enum tap_pelt_between untold[NR_VALUES];
	uint64_t woken_ns, moved_ns;
	struct value values[NR_VALUES];
	bool wanted;
};

struct tap_pelt_on_cpu {
	struct tap_pelt_track **tracks; /* owned */
	unsigned int nr, cap;
};

/* The fields of one format. */
struct tap_pelt_reading {
	enum what { UNREAD, NOTHING, WAKEUP, ENTITY, QUEUE } what;
	enum kind kind; /* only for QUEUE */
	struct tap_num tid, cpu, cgroup, update_time, values[NR_VALUES];
};

static const char *const between_names[] = {
	[TAP_PELT_STEADY] = "steady",
	[TAP_PELT_MOVED] = "migration",
	[TAP_PELT_CLOCK] = "clock",
	[TAP_PELT_FIRST] = "first",
	[TAP_PELT_SAME] = "repeated",
	[TAP_PELT_ATTACHED] = "attach or detach",
	[TAP_PELT_DELAYED] = "delayed dequeue",
	[TAP_PELT_HELD] = "throttled",
	[TAP_PELT_LOST] = "lost",
	[TAP_PELT_UNTOLD] = "unknown",
};

const char *tap_pelt_between_name(enum tap_pelt_between between)
{
	return between_names[between];
}

static const char *const average_names[] = {
	[TAP_PELT_UTIL] = "util",
	[TAP_PELT_RUNNABLE] = "runnable",
	[TAP_PELT_LOAD] = "load",
	[TAP_PELT_UTIL_RT] = "util_rt",
	[TAP_PELT_UTIL_DL] = "util_dl",
	[TAP_PELT_UTIL_ENTITY] = "util_entity",
	[TAP_PELT_RUNNABLE_ENTITY] = "runnable_entity",
	[TAP_PELT_LOAD_ENTITY] = "load_entity",
};

const char *tap_pelt_average_name(enum tap_pelt_average average)
{
	return average_names[average];
}

/* ---- the interval since the last update ---- */

/*
 * Classify the interval since the last update. The first classification stays, but one that
 * prevents prediction replaces one that does not.
 */
static void classify_interval(struct tap_pelt_track *t, enum tap_pelt_between between)
{
	bool is_compared = t->between < TAP_PELT_NR_COMPARED;

	if (is_compared && (between >= TAP_PELT_NR_COMPARED || t->between == TAP_PELT_STEADY))
		t->between = between;
}

static int add_span(struct tap_pelt_track *t, struct span span)
{
	struct span *last = t->nr ? &t->spans[t->nr - 1] : NULL;

	if (!t->known || span.to_ns <= t->at_ns || (last && span.to_ns <= last->to_ns))
		return 0;
	if (last && last->runs == span.runs && last->nr == span.nr && last->weight == span.weight) {
		last->to_ns = span.to_ns;
		return 0;
	}
	if (t->nr == MAX_SPANS) {
		classify_interval(t, TAP_PELT_UNTOLD);
		return 0;
	}
	if (tap_array_grow(&t->spans, t->nr, &t->cap, sizeof(*t->spans)))
		return -ENOMEM;
	t->spans[t->nr++] = span;
	return 0;
}

static int add_queued(struct tap_pelt_track *t, bool is_queued, uint64_t to_ns)
{
	return add_span(t, (struct span){ .nr = is_queued, .weight = is_queued, .to_ns = to_ns });
}

/*
 * Add a task's state. A woken task is queued from its sched_wakeup on, which comes after
 * sched_waking. If sched_wakeup is not recorded, the update that follows sched_waking within
 * TAP_PELT_SAME_SWITCH_NS still ends the sleep.
 */
static int add_state(struct tap_pelt_verify *v, struct tap_pelt_track *t, enum tap_state state,
		     uint64_t from_ns, uint64_t to_ns)
{
	bool is_woken = t->woken_ns >= from_ns && t->woken_ns <= to_ns;
	int ret;

	if (state == TAP_STATE_UNKNOWN)
		classify_interval(t, TAP_PELT_UNTOLD);
	if (state == TAP_STATE_THROTTLED)
		classify_interval(t, TAP_PELT_HELD);
	if (state == TAP_STATE_RUNNING)
		return add_span(t, (struct span){ true, 1, 1, to_ns });
	if (state != TAP_STATE_WAKING)
		return add_queued(t, tap_state_is_wait(state), to_ns);
	if (!v->queues.has_wakeups)
		return add_queued(t, to_ns - from_ns >= TAP_PELT_SAME_SWITCH_NS, to_ns);
	ret = add_queued(t, false, is_woken ? t->woken_ns : to_ns);
	return ret || !is_woken ? ret : add_queued(t, true, to_ns);
}

/* ---- prediction ---- */

static uint64_t contribution_of(enum tap_pelt_average average, const struct span *s)
{
	switch (average) {
	case TAP_PELT_LOAD:
		return s->weight;
	case TAP_PELT_RUNNABLE:
	case TAP_PELT_RUNNABLE_ENTITY:
		return 1024 * (uint64_t)s->nr;
	default:
		return s->runs ? 1024 : 0;
	}
}

static uint64_t factor_of(const struct tap_pelt_track *t, enum tap_pelt_average average)
{
	return t->kind == OF_TASK && average == TAP_PELT_LOAD ? tap_pelt_weight(t->prio) : 1;
}

/*
 * Advance the sums over the spans between two times of the recording's clock. @from and @to: these
 * times in units of the PELT clock.
 */
static void advance_sums(const struct tap_pelt_track *t, struct tap_pelt_range *sums,
			 enum tap_pelt_average average, struct tap_window times, uint64_t from,
			 uint64_t to)
{
	uint64_t ns = times.to_ns - times.from_ns, at = from;

	for (unsigned int i = 0; i < t->nr && at < to; i++) {
		const struct span *s = &t->spans[i];
		bool is_last = i + 1 == t->nr || s->to_ns >= times.to_ns;
		uint64_t next = to;

		if (s->to_ns <= times.from_ns)
			continue;
		if (!is_last && !i && s->to_ns - t->at_ns < TAP_PELT_SAME_SWITCH_NS)
			continue;
		if (!is_last)
			next = from + (uint64_t)((unsigned __int128)(to - from) *
						 (s->to_ns - times.from_ns) / ns);
		tap_pelt_advance_range(sums, at, next, contribution_of(average, s));
		at = next;
	}
	/* has an effect only if the spans end before @to */
	tap_pelt_advance_range(sums, at, to, 0);
}

/* Return the time when a task that came from another CPU was attached to its new one. */
static uint64_t attached_ns(const struct tap_pelt_track *t, uint64_t ts_ns)
{
	uint64_t ns = t->moved_ns;

	if (t->woken_ns > ns)
		ns = t->woken_ns;
	return ns < t->at_ns || ns > ts_ns ? t->at_ns : ns;
}

static void predict_sums(const struct tap_pelt_track *t, const struct value *v, uint64_t ts_ns,
			 uint64_t unit, struct tap_pelt_range *sums)
{
	enum tap_pelt_average average = v->verified->average;
	uint64_t factor = factor_of(t, average), middle_ns, left, came;
	struct tap_pelt_range averages;

	*sums = v->sums;
	if (t->between != TAP_PELT_MOVED) {
		advance_sums(t, sums, average, (struct tap_window){ t->at_ns, ts_ns }, t->unit,
			     unit);
		return;
	}
	middle_ns = attached_ns(t, ts_ns);
	left = t->unit + ((middle_ns - t->at_ns) >> 10);
	came = unit - ((ts_ns - middle_ns) >> 10);
	advance_sums(t, sums, average, (struct tap_window){ t->at_ns, middle_ns }, t->unit, left);
	/* attaching recalculates the sum from the average, so the fraction is lost */
	averages = tap_pelt_averages(sums, left, factor);
	sums->lo = tap_pelt_sums(averages.lo, came, factor).lo;
	sums->hi = tap_pelt_sums(averages.hi, came, factor).lo;
	advance_sums(t, sums, average, (struct tap_window){ middle_ns, ts_ns }, came, unit);
}

static uint64_t cgroup_of(const struct tap_pelt_track *t)
{
	return t->group.cgroup == TAP_PELT_ROOT ? 0 : t->group.cgroup;
}

static int add_error(struct tap_pelt_errors *e, uint64_t error, const struct tap_pelt_errors *what)
{
	e->exact += !error;
	if (!e->hist.count || error > e->hist.max) {
		e->ts_ns = what->ts_ns;
		e->recorded = what->recorded;
		e->predicted = what->predicted;
		e->task = what->task;
		e->cpu = what->cpu;
		e->cgroup = what->cgroup;
	}
	return tap_hist_add(&e->hist, error);
}

static void count_update(struct tap_pelt_verify *v, struct value *value,
			 enum tap_pelt_between between)
{
	value->verified->updates++;
	value->verified->between[between]++;
	v->between[between]++;
}

static int settle_value(struct tap_pelt_verify *v, struct value *value)
{
	struct judged *j = &value->judged;
	int ret;

	if (!j->pending)
		return 0;
	j->pending = false;
	count_update(v, value, j->between);
	if (j->between >= TAP_PELT_NR_COMPARED)
		return 0;
	ret = add_error(&v->errors[j->between], j->error, &j->what);
	return ret ?: add_error(&value->verified->errors, j->error, &j->what);
}

static void compare_value(struct tap_pelt_track *t, struct value *value, uint64_t ts_ns,
			  uint64_t unit, uint64_t recorded)
{
	uint64_t factor = factor_of(t, value->verified->average);
	struct tap_pelt_range sums, predicted, possible = tap_pelt_sums(recorded, unit, factor);

	predict_sums(t, value, ts_ns, unit, &sums);
	predicted = tap_pelt_averages(&sums, unit, factor);
	value->judged = (struct judged){
		.pending = true,
		.between = t->between,
		.error = recorded < predicted.lo   ? predicted.lo - recorded
			 : recorded > predicted.hi ? recorded - predicted.hi
						   : 0,
		.what = { .ts_ns = ts_ns,
			  .recorded = recorded,
			  .predicted = predicted,
			  .task = t->task,
			  .cpu = t->last_cpu,
			  .cgroup = cgroup_of(t) },
	};
	value->sums = possible;
	/* both ranges are right: keep their intersection */
	if (sums.lo <= possible.hi && sums.hi >= possible.lo) {
		value->sums.lo = sums.lo > possible.lo ? sums.lo : possible.lo;
		value->sums.hi = sums.hi < possible.hi ? sums.hi : possible.hi;
	}
}

/* ---- updates ---- */

static bool was_asleep(const struct tap_pelt_track *t)
{
	for (unsigned int i = 0; i < t->nr; i++)
		if (!t->spans[i].nr && t->spans[i].to_ns - t->at_ns >= TAP_PELT_SAME_SWITCH_NS)
			return true;
	return false;
}

/* Compare the advance of both clocks since the last update. */
static void note_clocks(struct tap_pelt_track *t, uint64_t ts_ns, uint64_t unit)
{
	uint64_t ns = ts_ns - t->at_ns, pelt_ns, apart_ns;

	if (unit < t->unit || unit - t->unit > UINT64_MAX >> 11) {
		classify_interval(t, TAP_PELT_ATTACHED);
		return;
	}
	pelt_ns = (unit - t->unit) << 10;
	apart_ns = ns > pelt_ns ? ns - pelt_ns : pelt_ns - ns;
	if (apart_ns > CLOCK_NS + ns / CLOCK_PART)
		classify_interval(t, TAP_PELT_CLOCK);
}

/*
 * Return true if no schedule leads from the last value to this one. Tasks that join a queue bring
 * their averages with them, and no event shows when a group's averages are propagated.
 */
static bool is_beyond(const struct tap_pelt_track *t, const struct value *v, uint64_t unit,
		      uint64_t recorded)
{
	enum tap_pelt_average average = v->verified->average;
	struct tap_pelt_range idle = v->sums, busy = v->sums;
	uint64_t most = average == TAP_PELT_LOAD ? 0 : 1024;

	for (unsigned int i = 0; i < t->nr; i++)
		if (contribution_of(average, &t->spans[i]) > most)
			most = contribution_of(average, &t->spans[i]);
	tap_pelt_advance_range(&idle, t->unit, unit, 0);
	tap_pelt_advance_range(&busy, t->unit, unit, most);
	return recorded + ATTACH_LEAST < tap_pelt_averages(&idle, unit, 1).lo ||
	       recorded > tap_pelt_averages(&busy, unit, 1).hi + ATTACH_LEAST;
}

/*
 * Return true if the update is in the same period as the last one. The kernel recalculates averages
 * only when a period is over: within it the value is unchanged, unless a task joined or left.
 */
static bool is_same_period(const struct tap_pelt_track *t, uint64_t unit)
{
	return t->between != TAP_PELT_MOVED && unit / TAP_PELT_PERIOD == t->unit / TAP_PELT_PERIOD;
}

static enum tap_pelt_between between_of(const struct tap_pelt_track *t, const struct value *v,
					uint64_t unit, uint64_t recorded)
{
	if (t->between >= TAP_PELT_NR_COMPARED)
		return t->between;
	if (t->untold[v - t->values])
		return t->untold[v - t->values];
	if (recorded > UINT32_MAX || !factor_of(t, v->verified->average))
		return TAP_PELT_UNTOLD;
	if (!v->known)
		return TAP_PELT_FIRST;
	if (is_same_period(t, unit))
		return recorded == v->last ? TAP_PELT_SAME : TAP_PELT_ATTACHED;
	if (t->kind == OF_TASK && v->verified->average == TAP_PELT_LOAD && was_asleep(t))
		return TAP_PELT_DELAYED;
	if (t->kind != OF_TASK && is_beyond(t, v, unit, recorded))
		return TAP_PELT_ATTACHED;
	return t->between;
}

/*
 * A task joined or left the queue within a period: its average was added to, or subtracted from,
 * the queue's average, and the equivalent sum to its sum.
 */
static void attach_task(struct value *value, uint64_t unit, uint64_t recorded)
{
	int64_t divider = tap_pelt_divider(unit),
		by = ((int64_t)recorded - (int64_t)value->last) * divider;
	struct tap_pelt_range *sums = &value->sums;

	sums->lo = (int64_t)sums->lo + by > divider ? sums->lo + (uint64_t)(by - divider) : 0;
	sums->hi = (int64_t)sums->hi + by + divider > 0 ? sums->hi + (uint64_t)(by + divider) : 0;
}

/*
 * Continue the sum after an update that was not compared. A queue's average that is reported within
 * a period is older than its sum.
 */
static void continue_sums(const struct tap_pelt_track *t, struct value *value,
			  enum tap_pelt_between between, uint64_t ts_ns, uint64_t unit,
			  uint64_t recorded)
{
	uint64_t factor = factor_of(t, value->verified->average);
	bool is_same = is_same_period(t, unit),
	     goes_on = between == TAP_PELT_SAME ||
		       (between == TAP_PELT_ATTACHED && t->kind != OF_TASK && is_same &&
			t->between < TAP_PELT_NR_COMPARED);

	if (goes_on) {
		predict_sums(t, value, ts_ns, unit, &value->sums);
		if (between == TAP_PELT_ATTACHED)
			attach_task(value, unit, recorded);
		return;
	}
	value->known = factor && recorded <= UINT32_MAX &&
		       (t->kind == OF_TASK || (t->known && !is_same && between != TAP_PELT_LOST));
	if (value->known)
		value->sums = tap_pelt_sums(recorded, unit, factor);
}

static int update_value(struct tap_pelt_verify *v, struct tap_pelt_track *t, struct value *value,
			uint64_t ts_ns, uint64_t unit, uint64_t recorded)
{
	enum tap_pelt_between between = between_of(t, value, unit, recorded);
	int ret = settle_value(v, value);

	if (between < TAP_PELT_NR_COMPARED) {
		compare_value(t, value, ts_ns, unit, recorded);
	} else {
		count_update(v, value, between);
		continue_sums(t, value, between, ts_ns, unit, recorded);
	}
	value->last = recorded;
	return ret;
}

static int add_verified(struct tap_pelt_verify *v, struct tap_pelt_track *t, struct value *value,
			enum tap_pelt_average average)
{
	struct tap_pelt_verified *new;

	if (tap_array_grow(&v->verified, v->nr, &v->cap, sizeof(*v->verified)))
		return -ENOMEM;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	*new = (struct tap_pelt_verified){
		.average = average,
		.task = t->task,
		.cpu = t->cpu,
		.cgroup = cgroup_of(t),
		.errors.hist = TAP_HIST_INIT,
	};
	v->verified[v->nr++] = value->verified = new;
	t->wanted = true;
	return 0;
}

/* Allocate a copy of @t and fill in its .values. Return: NULL: out of memory. */
static struct tap_pelt_track *new_track(struct tap_pelt_verify *v, const struct tap_pelt_track *t)
{
	struct tap_pelt_track *new = malloc(sizeof(*new));

	if (!new)
		return NULL;
	*new = *t;
	for (unsigned int i = 0; i < kinds[t->kind].nr; i++) {
		enum tap_pelt_average average = kinds[t->kind].first + i;

		if (!v->opts.want(v->opts.ctx, average, t->task, t->cpu, cgroup_of(t)) ||
		    !add_verified(v, new, &new->values[i], average))
			continue;
		free(new);
		return NULL;
	}
	return new;
}

static struct tap_pelt_track *task_track(struct tap_pelt_verify *v, const struct tap_task *task)
{
	struct tap_pelt_track **slot =
		tap_array_at(&v->tasks, &v->nr_tasks, task->index, sizeof(*v->tasks), NULL);

	if (slot && !*slot)
		*slot = new_track(
			v, &(struct tap_pelt_track){ .kind = OF_TASK, .task = task, .cpu = -1 });
	return slot ? *slot : NULL;
}

static struct tap_pelt_track *cpu_track(struct tap_pelt_verify *v, int cpu, enum kind kind,
					uint64_t cgroup)
{
	struct tap_pelt_on_cpu *on =
		tap_array_at(&v->cpus, &v->nr_cpus, (unsigned int)cpu, sizeof(*on), NULL);
	struct tap_pelt_track *t;

	if (!on)
		return NULL;
	for (unsigned int i = 0; i < on->nr; i++)
		if (on->tracks[i]->kind == kind && on->tracks[i]->group.cgroup == cgroup)
			return on->tracks[i];
	if (tap_array_grow(&on->tracks, on->nr, &on->cap, sizeof(*on->tracks)))
		return NULL;
	t = new_track(v, &(struct tap_pelt_track){
				 .kind = kind,
				 .group = { cgroup, tap_cgroups_path(v->opts.cgroups, cgroup) },
				 .cpu = cpu,
			 });
	if (t)
		on->tracks[on->nr++] = t;
	return t;
}

static int update_track(struct tap_pelt_verify *v, struct tap_pelt_track *t,
			const struct tap_pelt_reading *r, const struct tap_event *ev)
{
	uint64_t unit = (uint64_t)tap_num_get(&r->update_time, ev) >> 10;
	int ret = 0;

	if (!t->known)
		t->between = TAP_PELT_FIRST;
	else if (tap_losses_between(&v->losses, t->at_ns, ev->ts_ns))
		classify_interval(t, TAP_PELT_LOST);
	if (t->between != TAP_PELT_MOVED)
		note_clocks(t, ev->ts_ns, unit);
	else if (unit < (ev->ts_ns - attached_ns(t, ev->ts_ns)) >> 10)
		classify_interval(t, TAP_PELT_ATTACHED);
	for (unsigned int i = 0; i < kinds[t->kind].nr && !ret; i++)
		if (t->values[i].verified)
			ret = update_value(v, t, &t->values[i], ev->ts_ns, unit,
					   (uint64_t)tap_num_get(&r->values[i], ev));
	t->known = unit; /* 0: the task is not attached to a queue */
	t->at_ns = ev->ts_ns;
	t->unit = unit;
	t->between = TAP_PELT_STEADY;
	memset(t->untold, 0, sizeof(t->untold));
	t->nr = 0;
	return ret;
}

/* ---- tasks ---- */

static struct tap_pelt_track *track_of(struct tap_pelt_verify *v, const struct tap_task *task)
{
	struct tap_pelt_track *t = task->index < v->nr_tasks ? v->tasks[task->index] : NULL;

	return t && t->wanted ? t : NULL;
}

/*
 * Return true if the task's state is certain. A task that is queued on a CPU whose chain of
 * switches is broken may run there, unseen. A real-time or deadline task has no average that
 * continues.
 */
static bool is_state_certain(const struct tap_timeline *timeline, const struct tap_task *task)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(timeline, &nr);
	bool is_known = task->cpu >= 0 && (unsigned int)task->cpu < nr && cpus[task->cpu].known;

	return task->prio >= 100 && is_known && tap_timeline_is_certain(timeline, task);
}

static int update_task(struct tap_pelt_verify *v, const struct tap_timeline *timeline,
		       const struct tap_task *task, const struct tap_pelt_reading *r,
		       const struct tap_event *ev)
{
	int cpu = r->cpu.size ? tap_num_int(&r->cpu, ev) : -1, ret;
	uint64_t cgroup = tap_pelt_cgroup_in(&r->cgroup, ev);
	struct tap_pelt_track *t;

	if (task->state == TAP_STATE_DEAD)
		return 0;
	t = task_track(v, task);
	if (!t)
		return -ENOMEM;
	if (!t->wanted)
		return 0;
	if (t->known && (cgroup != t->cgroup || task->prio != t->prio))
		classify_interval(t, TAP_PELT_ATTACHED);
	if (t->known && cpu != t->last_cpu)
		classify_interval(t, t->moved_ns >= t->at_ns ? TAP_PELT_MOVED : TAP_PELT_UNTOLD);
	if (!is_state_certain(timeline, task))
		classify_interval(t, TAP_PELT_UNTOLD);
	t->cgroup = cgroup;
	t->prio = task->prio;
	t->last_cpu = cpu;
	ret = add_state(v, t, task->state, task->since_ns, ev->ts_ns);
	return ret ?: update_track(v, t, r, ev);
}

/* ---- CPUs, and cgroups on them ---- */

/*
 * Return true if the task belongs to the class of these averages. migration/N threads have a
 * real-time priority, but belong to the stop class.
 */
static bool is_of(enum kind kind, const struct tap_task *task)
{
	return kind == OF_DL
		       ? task->prio < 0
		       : task->prio >= 0 && task->prio < 100 && !tap_comm_is_stopper(task->comm);
}

static int add_class(struct tap_pelt_track *t, enum tap_cpu_what what, const struct tap_task *task,
		     uint64_t to_ns)
{
	if (what == TAP_CPU_UNKNOWN || what == TAP_CPU_OFFLINE ||
	    (what == TAP_CPU_RUN && task->prio == TAP_PRIO_UNKNOWN))
		classify_interval(t, TAP_PELT_UNTOLD);
	return add_span(t, (struct span){ .runs = what == TAP_CPU_RUN && is_of(t->kind, task),
					  .to_ns = to_ns });
}

static int add_held(struct tap_pelt_verify *v, const struct tap_timeline *timeline,
		    struct tap_pelt_track *t, uint64_t to_ns)
{
	struct tap_pelt_held held =
		tap_pelt_queues_held(&v->queues, timeline, t->cpu, &t->group, to_ns);

	if (to_ns <= t->at_ns) /* already covered by the last update */
		return 0;
	if (!held.runs_known)
		t->untold[UTIL] = TAP_PELT_UNTOLD;
	if (held.stale && t->kind == OF_ENTITY)
		t->untold[RUNNABLE] = TAP_PELT_DELAYED;
	if (held.nr != held.nr_max)
		t->untold[RUNNABLE] = TAP_PELT_UNTOLD;
	if (held.late)
		t->untold[LOAD] = TAP_PELT_DELAYED;
	if (!held.weight_known || t->kind == OF_ENTITY)
		t->untold[LOAD] = TAP_PELT_UNTOLD;
	return add_span(t, (struct span){ held.runs, held.nr, held.weight, to_ns });
}

static bool is_of_queues(const struct tap_pelt_track *t)
{
	return t->wanted && (t->kind == OF_QUEUE || t->kind == OF_ENTITY);
}

/* .change of the queues: add the state that ends now to the CPU's tracks. */
static int on_change(void *ctx, const struct tap_timeline *timeline, int cpu, uint64_t ts_ns)
{
	struct tap_pelt_verify *v = ctx;
	int ret = 0;

	for (unsigned int i = 0; (unsigned int)cpu < v->nr_cpus && i < v->cpus[cpu].nr && !ret; i++)
		if (is_of_queues(v->cpus[cpu].tracks[i]))
			ret = add_held(v, timeline, v->cpus[cpu].tracks[i], ts_ns);
	return ret;
}

/*
 * Classify the interval for all queues on this CPU that the task is in, or may be in. Groups above
 * them have events of their own when changes are propagated.
 */
static void note_task(struct tap_pelt_verify *v, int cpu, const struct tap_task *task,
		      enum tap_pelt_between between)
{
	for (unsigned int i = 0; cpu >= 0 && (unsigned int)cpu < v->nr_cpus && i < v->cpus[cpu].nr;
	     i++) {
		struct tap_pelt_track *t = v->cpus[cpu].tracks[i];
		enum tap_pelt_place place = tap_pelt_place_of(&v->queues, task, &t->group);

		if (is_of_queues(t) && place != TAP_PELT_OUTSIDE &&
		    (t->kind == OF_QUEUE || between != TAP_PELT_ATTACHED))
			classify_interval(t, between);
	}
}

/*
 * .late of the queues. Queues above the task's own apply the new number of tasks to all the time
 * since their last update, and no event shows when they do. An update shortly before belongs to the
 * same switch and did so already.
 */
static void on_late(void *ctx, int cpu, const struct tap_task *task, uint64_t ts_ns)
{
	struct tap_pelt_verify *v = ctx;

	for (unsigned int i = 0; (unsigned int)cpu < v->nr_cpus && i < v->cpus[cpu].nr; i++) {
		struct tap_pelt_track *t = v->cpus[cpu].tracks[i];
		enum tap_pelt_place place = tap_pelt_place_of(&v->queues, task, &t->group);

		if (!is_of_queues(t) || place == TAP_PELT_OUTSIDE || place == TAP_PELT_DIRECT)
			continue;
		if (!t->untold[RUNNABLE])
			t->untold[RUNNABLE] = TAP_PELT_DELAYED;
		if (ts_ns - t->at_ns < TAP_PELT_SAME_SWITCH_NS)
			t->values[RUNNABLE].judged.between = TAP_PELT_DELAYED;
	}
}

static int update_cpu(struct tap_pelt_verify *v, const struct tap_timeline *timeline,
		      const struct tap_pelt_reading *r, const struct tap_event *ev, enum kind kind)
{
	int cpu = tap_num_int(&r->cpu, ev), ret;
	uint64_t cgroup = tap_pelt_cgroup_in(&r->cgroup, ev);
	const struct tap_cpu *cpus;
	struct tap_pelt_track *t;
	unsigned int nr;

	/* 0: an autogroup */
	if (!cgroup || (cgroup == TAP_PELT_ROOT) != (v->opts.subject == TAP_PELT_CPU))
		return 0;
	cpus = tap_timeline_cpus(timeline, &nr);
	if (cpu < 0 || (unsigned int)cpu >= nr)
		return 0;
	t = cpu_track(v, cpu, kind, cgroup);
	if (!t)
		return -ENOMEM;
	if (!t->wanted)
		return 0;
	t->last_cpu = cpu;
	ret = is_of_queues(t) ? add_held(v, timeline, t, ev->ts_ns)
			      : add_class(t, tap_cpu_what(&cpus[cpu]), cpus[cpu].task, ev->ts_ns);
	return ret ?: update_track(v, t, r, ev);
}

/* ---- events ---- */

static void note_wakeup(struct tap_pelt_verify *v, const struct tap_timeline *timeline,
			const struct tap_pelt_reading *r, const struct tap_event *ev)
{
	const struct tap_task *task = tap_timeline_task(timeline, tap_num_int(&r->tid, ev));
	struct tap_pelt_track *t = task ? track_of(v, task) : NULL;

	if (t)
		t->woken_ns = ev->ts_ns;
}

static int update_entity(struct tap_pelt_verify *v, const struct tap_timeline *timeline,
			 const struct tap_pelt_reading *r, const struct tap_event *ev)
{
	int tid = tap_num_int(&r->tid, ev);
	const struct tap_task *task = tid < 0 ? NULL : tap_timeline_task(timeline, tid);

	if (v->opts.subject == TAP_PELT_TASK)
		return task ? update_task(v, timeline, task, r, ev) : 0;
	return tid < 0 && v->opts.subject == TAP_PELT_CGROUP
		       ? update_cpu(v, timeline, r, ev, OF_ENTITY)
		       : 0;
}

static const struct {
	const char *system, *name;
	enum what what;
	enum kind kind;
} formats[] = {
	{ "schedtap", "sched_pelt_se", ENTITY, OF_TASK },
	{ "schedtap", "sched_pelt_cfs", QUEUE, OF_QUEUE },
	{ "schedtap", "sched_pelt_rt", QUEUE, OF_RT },
	{ "schedtap", "sched_pelt_dl", QUEUE, OF_DL },
	{ "sched", "sched_wakeup", WAKEUP, 0 },
	{ "sched", "sched_wakeup_new", WAKEUP, 0 },
};

static int format_of(const struct tap_format *fmt)
{
	int i = (int)(sizeof(formats) / sizeof(*formats)) - 1;

	while (i >= 0 &&
	       (strcmp(formats[i].system, fmt->system) || strcmp(formats[i].name, fmt->name)))
		i--;
	return i;
}

/* Return true if the format has all required fields. */
static bool is_whole(const struct tap_pelt_reading *r, enum tap_pelt_subject subject)
{
	bool has_values = r->update_time.size && r->values[UTIL].size && r->values[RUNNABLE].size &&
			  r->values[LOAD].size;

	switch (r->what) {
	case WAKEUP:
		return subject == TAP_PELT_TASK && r->tid.size;
	case ENTITY:
		return r->tid.size && has_values && (subject == TAP_PELT_TASK || r->cpu.size);
	default:
		return subject != TAP_PELT_TASK && r->cpu.size && has_values;
	}
}

static void read_format(struct tap_pelt_reading *r, const struct tap_format *fmt,
			enum tap_pelt_subject subject)
{
	int i = format_of(fmt);

	r->what = i < 0 ? NOTHING : formats[i].what;
	r->kind = i < 0 ? 0 : formats[i].kind;
	tap_num_init(&r->tid, tap_number_field(fmt, "pid"));
	tap_num_init(&r->cpu, tap_number_field(fmt, "cpu"));
	tap_num_init(&r->cgroup, tap_number_field(fmt, "cgroup"));
	tap_num_init(&r->update_time, tap_number_field(fmt, "update_time"));
	tap_num_init(&r->values[UTIL], tap_number_field(fmt, "util"));
	tap_num_init(&r->values[RUNNABLE], tap_number_field(fmt, "runnable"));
	tap_num_init(&r->values[LOAD], tap_number_field(fmt, "load"));
	if (!is_whole(r, subject))
		r->what = NOTHING;
}

/* ---- the watchers ---- */

static int on_task_interval(void *ctx, const struct tap_timeline *timeline,
			    const struct tap_interval *s)
{
	struct tap_pelt_track *t = track_of(ctx, s->task);

	(void)timeline;
	return t ? add_state(ctx, t, s->state, s->from_ns, s->to_ns) : 0;
}

static int on_interval(void *ctx, const struct tap_timeline *timeline, const struct tap_interval *s)
{
	struct tap_pelt_verify *v = ctx;

	(void)timeline;
	if (s->next == TAP_STATE_DEAD || s->state == TAP_STATE_DEAD)
		note_task(v, s->task->cpu, s->task, TAP_PELT_ATTACHED);
	if ((s->next == TAP_STATE_THROTTLED || s->state == TAP_STATE_THROTTLED) &&
	    v->opts.subject == TAP_PELT_CGROUP)
		note_task(v, s->task->cpu, s->task, TAP_PELT_HELD);
	return 0;
}

static int on_cpu(void *ctx, const struct tap_timeline *timeline, const struct tap_cpu_interval *s)
{
	struct tap_pelt_verify *v = ctx;
	int ret = 0;

	(void)timeline;
	for (unsigned int i = 0;
	     (unsigned int)s->cpu < v->nr_cpus && i < v->cpus[s->cpu].nr && !ret; i++) {
		struct tap_pelt_track *t = v->cpus[s->cpu].tracks[i];

		ret = t->wanted && !is_of_queues(t) ? add_class(t, s->what, s->task, s->to_ns) : 0;
	}
	return ret;
}

static int on_task_migration(void *ctx, const struct tap_timeline *timeline,
			     const struct tap_migration *m)
{
	struct tap_pelt_track *t = track_of(ctx, m->task);

	(void)timeline;
	if (t)
		t->moved_ns = m->ts_ns;
	return 0;
}

static int on_migration(void *ctx, const struct tap_timeline *timeline,
			const struct tap_migration *m)
{
	(void)timeline;
	note_task(ctx, m->from, m->task, TAP_PELT_ATTACHED);
	note_task(ctx, m->to, m->task, TAP_PELT_ATTACHED);
	return 0;
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return fmt && format_of(fmt) >= 0;
}

static int on_event(void *ctx, const struct tap_timeline *timeline, const struct tap_event *ev)
{
	struct tap_pelt_verify *v = ctx;
	struct tap_pelt_reading *r =
		tap_array_at(&v->reading, &v->nr_reading, ev->fmt->id, sizeof(*r), NULL);

	if (!r)
		return -ENOMEM;
	if (r->what == UNREAD)
		read_format(r, ev->fmt, v->opts.subject);
	switch (r->what) {
	case WAKEUP:
		note_wakeup(v, timeline, r, ev);
		return 0;
	case ENTITY:
		return update_entity(v, timeline, r, ev);
	case QUEUE:
		return update_cpu(v, timeline, r, ev, r->kind);
	default:
		return 0;
	}
}

static int settle_track(struct tap_pelt_verify *v, struct tap_pelt_track *t)
{
	int ret = 0;

	for (unsigned int i = 0; t && i < NR_VALUES && !ret; i++)
		ret = settle_value(v, &t->values[i]);
	return ret;
}

static int on_end(void *ctx, const struct tap_timeline *timeline)
{
	struct tap_pelt_verify *v = ctx;
	int ret = 0;

	(void)timeline;
	for (unsigned int i = 0; i < v->nr_tasks && !ret; i++)
		ret = settle_track(v, v->tasks[i]);
	for (unsigned int cpu = 0; cpu < v->nr_cpus; cpu++)
		for (unsigned int i = 0; i < v->cpus[cpu].nr && !ret; i++)
			ret = settle_track(v, v->cpus[cpu].tracks[i]);
	return ret;
}

const struct tap_watcher_ops tap_pelt_verify_of_tasks_ops = {
	.states = TAP_STATE_ALL,
	.interval = on_task_interval,
	.migration = on_task_migration,
	.wants = wants_event,
	.event = on_event,
	.end = on_end,
};

const struct tap_watcher_ops tap_pelt_verify_of_queues_ops = {
	.states = TAP_STATE_ALL,
	.interval = on_interval,
	.cpu = on_cpu,
	.migration = on_migration,
	.wants = wants_event,
	.event = on_event,
	.end = on_end,
};

/* ---- life ---- */

void tap_pelt_verify_init(struct tap_pelt_verify *v, const struct tap_pelt_verify_opts *opts)
{
	*v = (struct tap_pelt_verify){ .opts = *opts, .losses.survey = opts->survey };
	for (unsigned int i = 0; i < TAP_PELT_NR_COMPARED; i++)
		v->errors[i].hist = (struct tap_hist)TAP_HIST_INIT;
	tap_pelt_queues_init(&v->queues, &(const struct tap_pelt_queues_opts){
						 .survey = opts->survey,
						 .cgroups = opts->cgroups,
						 .change = on_change,
						 .late = on_late,
						 .ctx = v,
					 });
}

static void free_tracks(struct tap_pelt_track **tracks, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (tracks[i])
			free(tracks[i]->spans);
		free(tracks[i]);
	}
	free(tracks);
}

void tap_pelt_verify_release(struct tap_pelt_verify *v)
{
	for (unsigned int i = 0; i < v->nr; i++) {
		tap_hist_release(&v->verified[i]->errors.hist);
		free(v->verified[i]);
	}
	for (unsigned int i = 0; i < TAP_PELT_NR_COMPARED; i++)
		tap_hist_release(&v->errors[i].hist);
	free(v->verified);
	free_tracks(v->tasks, v->nr_tasks);
	for (unsigned int i = 0; i < v->nr_cpus; i++)
		free_tracks(v->cpus[i].tracks, v->cpus[i].nr);
	free(v->cpus);
	free(v->reading);
	tap_pelt_queues_release(&v->queues);
}
