// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/pelt_verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "timeline/sched_fields.h"

#define MAX_SPANS 4096u /* between two updates: they come once in 1024 us of the clock and more often */
/*
 * A switch or a wakeup updates who comes and who goes before it is traced, all with one reading of the clock. What lies between such
 * an update and the event that follows it so soon is not the state that seems to end there.
 */
#define SAME_SWITCH_NS 20000u
/* So much may clocks go apart between two updates, and a part of the time. */
#define CLOCK_NS 50000u
#define CLOCK_PART 16u
/* So far beyond what can be is no error, but a task's part that came or went. */
#define ATTACH_LEAST 4u

/* What the time was spent on. */
enum use { OFF, QUEUED, RUNS };

struct span {
	enum use use;
	uint64_t to_ns;
};

/* One average as it goes on. */
struct value {
	struct tap_pelt_verified *verified; /* NULL: not wanted */
	struct tap_pelt_range sums;
	uint64_t last;
};

#define NR_VALUES 3u /* of a task */

/* Whom one event is about, with the averages that go by one clock. */
struct tap_pelt_track {
	const struct tap_task *task; /* or NULL */
	int cpu;
	bool known; /* .values and .unit hold at .at_ns */
	uint64_t at_ns, unit;
	int last_cpu, prio;
	uint64_t cgroup;
	struct span *spans; /* owned; since .at_ns */
	unsigned int nr, cap;
	enum tap_pelt_between between; /* what is known by now */
	uint64_t woken_ns, moved_ns;
	struct value values[NR_VALUES];
	bool wanted;
};

/* Of one format. */
struct tap_pelt_reading {
	enum what { UNREAD, NOTHING, WAKEUP, TASK, CPU } what;
	enum tap_pelt_average average;
	struct tap_num tid, cpu, cgroup, update_time, values[NR_VALUES];
};

static const char *const between_names[] = {
	[TAP_PELT_STEADY] = "steady", [TAP_PELT_MOVED] = "migration", [TAP_PELT_CLOCK] = "clock", [TAP_PELT_FIRST] = "first",
	[TAP_PELT_SAME] = "repeated", [TAP_PELT_ATTACHED] = "attach or detach", [TAP_PELT_DELAYED] = "delayed dequeue",
	[TAP_PELT_HELD] = "throttled", [TAP_PELT_LOST] = "lost", [TAP_PELT_UNTOLD] = "unknown",
};

const char *tap_pelt_between_name(enum tap_pelt_between between)
{
	return between_names[between];
}

static const char *const average_names[] = {
	[TAP_PELT_UTIL] = "util", [TAP_PELT_RUNNABLE] = "runnable", [TAP_PELT_LOAD] = "load",
	[TAP_PELT_UTIL_RT] = "util_rt", [TAP_PELT_UTIL_DL] = "util_dl",
};

const char *tap_pelt_average_name(enum tap_pelt_average average)
{
	return average_names[average];
}

/* ---- what is known of the time between -------------------------------------------------------- */

/* Of what is known to be between the first reason stands; what cannot be predicted before what can. */
static void note(struct tap_pelt_track *t, enum tap_pelt_between between)
{
	bool is_compared = t->between < TAP_PELT_NR_COMPARED;

	if (is_compared && (between >= TAP_PELT_NR_COMPARED || t->between == TAP_PELT_STEADY))
		t->between = between;
}

static int add_span(struct tap_pelt_track *t, enum use use, uint64_t to_ns)
{
	if (!t->known || to_ns <= t->at_ns || (t->nr && to_ns <= t->spans[t->nr - 1].to_ns))
		return 0;
	if (t->nr == MAX_SPANS) {
		note(t, TAP_PELT_UNTOLD);
		return 0;
	}
	if (tap_array_grow(&t->spans, t->nr, &t->cap, sizeof(*t->spans)))
		return -ENOMEM;
	t->spans[t->nr++] = (struct span){ use, to_ns };
	return 0;
}

static enum use use_of(enum tap_state state)
{
	if (state == TAP_RUNNING)
		return RUNS;
	return tap_state_is_wait(state) ? QUEUED : OFF;
}

/*
 * A task is queued from its sched_wakeup on, which comes behind sched_waking. Where that was not recorded, what follows sched_waking so
 * soon is the update that ends the sleep.
 */
static int add_state(struct tap_pelt_verify *v, struct tap_pelt_track *t, enum tap_state state, uint64_t from_ns, uint64_t to_ns)
{
	bool is_woken = t->woken_ns >= from_ns && t->woken_ns <= to_ns;
	int ret;

	if (state == TAP_UNKNOWN)
		note(t, TAP_PELT_UNTOLD);
	if (state == TAP_THROTTLED)
		note(t, TAP_PELT_HELD);
	if (state == TAP_WAKING && !v->has_wakeups)
		return add_span(t, to_ns - from_ns < SAME_SWITCH_NS ? OFF : QUEUED, to_ns);
	if (state != TAP_WAKING)
		return add_span(t, use_of(state), to_ns);
	ret = add_span(t, OFF, is_woken ? t->woken_ns : to_ns);
	return ret || !is_woken ? ret : add_span(t, QUEUED, to_ns);
}

/* ---- prediction ------------------------------------------------------------------------------- */

static uint64_t added(enum tap_pelt_average average, enum use use)
{
	if (average == TAP_PELT_LOAD)
		return use != OFF;
	return use == RUNS || (average == TAP_PELT_RUNNABLE && use == QUEUED) ? 1024 : 0;
}

/* sched_prio_to_weight[] by its definition: 1.25 to a step, as the kernel has rounded it. */
static uint64_t weight_of(int prio)
{
	static const uint32_t weights[] = {
		88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586,
		1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
	};

	return prio >= 100 && prio < 140 ? weights[prio - 100] : 0;
}

static uint64_t factor_of(const struct tap_pelt_track *t, enum tap_pelt_average average)
{
	return average == TAP_PELT_LOAD ? weight_of(t->prio) : 1;
}

/* The spans between two moments of the recording's clock, which are these of the PELT clock. */
static void go(const struct tap_pelt_track *t, struct tap_pelt_range *sums, enum tap_pelt_average average, struct tap_window times,
	       uint64_t from, uint64_t to)
{
	uint64_t ns = times.to_ns - times.from_ns, at = from;

	for (unsigned int i = 0; i < t->nr && at < to; i++) {
		const struct span *s = &t->spans[i];
		bool is_last = i + 1 == t->nr || s->to_ns >= times.to_ns;
		uint64_t next = to;

		if (s->to_ns <= times.from_ns)
			continue;
		if (!is_last && !i && s->to_ns - t->at_ns < SAME_SWITCH_NS)
			continue;
		if (!is_last)
			next = from + (uint64_t)((unsigned __int128)(to - from) * (s->to_ns - times.from_ns) / ns);
		tap_pelt_advance_range(sums, at, next, added(average, s->use));
		at = next;
	}
	tap_pelt_advance_range(sums, at, to, 0); /* nothing, but where no span is left */
}

/* When a task that came from another CPU was attached there. */
static uint64_t attached_ns(const struct tap_pelt_track *t, uint64_t ts_ns)
{
	uint64_t ns = t->moved_ns;

	if (t->woken_ns > ns)
		ns = t->woken_ns;
	return ns < t->at_ns || ns > ts_ns ? t->at_ns : ns;
}

static void predict(const struct tap_pelt_track *t, const struct value *v, uint64_t ts_ns, uint64_t unit, struct tap_pelt_range *sums)
{
	enum tap_pelt_average average = v->verified->average;
	uint64_t factor = factor_of(t, average), middle_ns, left, came;
	struct tap_pelt_range averages;

	*sums = v->sums;
	if (t->between != TAP_PELT_MOVED) {
		go(t, sums, average, (struct tap_window){ t->at_ns, ts_ns }, t->unit, unit);
		return;
	}
	middle_ns = attached_ns(t, ts_ns);
	left = t->unit + ((middle_ns - t->at_ns) >> 10);
	came = unit - ((ts_ns - middle_ns) >> 10);
	go(t, sums, average, (struct tap_window){ t->at_ns, middle_ns }, t->unit, left);
	/* what is attached is made of the average: the fraction is gone */
	averages = tap_pelt_averages(sums, left, factor);
	sums->lo = tap_pelt_sums(averages.lo, came, factor).lo;
	sums->hi = tap_pelt_sums(averages.hi, came, factor).lo;
	go(t, sums, average, (struct tap_window){ middle_ns, ts_ns }, came, unit);
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
	}
	return tap_hist_add(&e->hist, error);
}

static int compare(struct tap_pelt_verify *v, struct tap_pelt_track *t, struct value *value, uint64_t ts_ns, uint64_t unit,
		   uint64_t recorded)
{
	uint64_t factor = factor_of(t, value->verified->average), error;
	struct tap_pelt_range sums, predicted, told = tap_pelt_sums(recorded, unit, factor);
	struct tap_pelt_errors what = { .ts_ns = ts_ns, .recorded = recorded, .task = t->task, .cpu = t->last_cpu };
	int ret;

	predict(t, value, ts_ns, unit, &sums);
	predicted = tap_pelt_averages(&sums, unit, factor);
	what.predicted = predicted;
	error = recorded < predicted.lo ? predicted.lo - recorded : recorded > predicted.hi ? recorded - predicted.hi : 0;
	value->sums = told;
	if (sums.lo <= told.hi && sums.hi >= told.lo) { /* one by the other */
		value->sums.lo = sums.lo > told.lo ? sums.lo : told.lo;
		value->sums.hi = sums.hi < told.hi ? sums.hi : told.hi;
	}
	ret = add_error(&v->errors[t->between], error, &what);
	return ret ?: add_error(&value->verified->errors, error, &what);
}

/* ---- updates ---------------------------------------------------------------------------------- */

static bool slept(const struct tap_pelt_track *t)
{
	for (unsigned int i = 0; i < t->nr; i++)
		if (t->spans[i].use == OFF && t->spans[i].to_ns - t->at_ns >= SAME_SWITCH_NS)
			return true;
	return false;
}

/* What the two clocks tell, once both ends are there. */
static void note_clocks(struct tap_pelt_track *t, uint64_t ts_ns, uint64_t unit)
{
	uint64_t ns = ts_ns - t->at_ns, pelt_ns, apart_ns;

	if (unit < t->unit || unit - t->unit > UINT64_MAX >> 11) {
		note(t, TAP_PELT_ATTACHED);
		return;
	}
	pelt_ns = (unit - t->unit) << 10;
	apart_ns = ns > pelt_ns ? ns - pelt_ns : pelt_ns - ns;
	if (apart_ns > CLOCK_NS + ns / CLOCK_PART)
		note(t, TAP_PELT_CLOCK);
}

/* No schedule leads from there to here: a CPU's tasks bring their past with them, and nothing tells when a group's is passed on. */
static bool is_beyond(const struct tap_pelt_track *t, const struct value *v, uint64_t unit, uint64_t recorded)
{
	struct tap_pelt_range idle = v->sums, busy = v->sums;

	tap_pelt_advance_range(&idle, t->unit, unit, 0);
	tap_pelt_advance_range(&busy, t->unit, unit, 1024);
	return recorded + ATTACH_LEAST < tap_pelt_averages(&idle, unit, 1).lo ||
	       recorded > tap_pelt_averages(&busy, unit, 1).hi + ATTACH_LEAST;
}

static enum tap_pelt_between between_of(const struct tap_pelt_track *t, const struct value *v, uint64_t unit, uint64_t recorded)
{
	bool is_still = t->between != TAP_PELT_MOVED && unit == t->unit;

	if (t->between >= TAP_PELT_NR_COMPARED)
		return t->between;
	if (is_still)
		return recorded == v->last ? TAP_PELT_SAME : TAP_PELT_ATTACHED;
	if (v->verified->average == TAP_PELT_LOAD && slept(t))
		return TAP_PELT_DELAYED;
	if (!t->task && is_beyond(t, v, unit, recorded))
		return TAP_PELT_ATTACHED;
	return t->between;
}

static int update_value(struct tap_pelt_verify *v, struct tap_pelt_track *t, struct value *value, uint64_t ts_ns, uint64_t unit,
			uint64_t recorded)
{
	enum tap_pelt_between between = between_of(t, value, unit, recorded);
	uint64_t factor = factor_of(t, value->verified->average);

	if (recorded > UINT32_MAX || !factor) /* of a load whose weight nobody tells */
		between = TAP_PELT_UNTOLD;
	value->last = recorded;
	value->verified->updates++;
	value->verified->between[between]++;
	v->between[between]++;
	if (between < TAP_PELT_NR_COMPARED)
		return compare(v, t, value, ts_ns, unit, recorded);
	if (between != TAP_PELT_SAME && factor)
		value->sums = tap_pelt_sums(recorded & UINT32_MAX, unit, factor);
	return 0;
}

static int add_verified(struct tap_pelt_verify *v, struct tap_pelt_track *t, struct value *value, enum tap_pelt_average average)
{
	struct tap_pelt_verified *new;

	if (tap_array_grow(&v->verified, v->nr, &v->cap, sizeof(*v->verified)))
		return -ENOMEM;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	*new = (struct tap_pelt_verified){ .average = average, .task = t->task, .cpu = t->cpu, .errors.hist = TAP_HIST_INIT };
	v->verified[v->nr++] = value->verified = new;
	t->wanted = true;
	return 0;
}

/* The track at this index of @tracks, made if need be. Return: NULL when out of memory. */
static struct tap_pelt_track *get_track(struct tap_pelt_verify *v, struct tap_pelt_track ***tracks, unsigned int *nr, unsigned int index,
					const struct tap_task *task, int cpu)
{
	struct tap_pelt_track **slot = tap_array_at(tracks, nr, index, sizeof(**tracks), NULL), *t;
	enum tap_pelt_average first = task ? TAP_PELT_UTIL : index % TAP_PELT_NR_AVERAGES;

	if (!slot || *slot)
		return slot ? *slot : NULL;
	*slot = t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->task = task;
	t->cpu = cpu;
	for (unsigned int i = 0; i < (task ? NR_VALUES : 1u); i++) {
		enum tap_pelt_average average = first + i;

		if (v->opts.want(v->opts.ctx, average, task, cpu) && add_verified(v, t, &t->values[i], average))
			return NULL;
	}
	return t;
}

static int update(struct tap_pelt_verify *v, struct tap_pelt_track *t, const struct tap_pelt_reading *r, const struct tap_event *ev)
{
	uint64_t unit = (uint64_t)tap_num_get(&r->update_time, ev) >> 10;
	int ret = 0;

	if (!t->known)
		t->between = TAP_PELT_FIRST;
	else if (tap_losses_between(&v->losses, t->at_ns, ev->ts_ns))
		note(t, TAP_PELT_LOST);
	if (t->between != TAP_PELT_MOVED)
		note_clocks(t, ev->ts_ns, unit);
	else if (unit < (ev->ts_ns - attached_ns(t, ev->ts_ns)) >> 10)
		note(t, TAP_PELT_ATTACHED);
	for (unsigned int i = 0; i < NR_VALUES && !ret; i++)
		if (t->values[i].verified)
			ret = update_value(v, t, &t->values[i], ev->ts_ns, unit, (uint64_t)tap_num_get(&r->values[i], ev));
	t->known = unit; /* 0: it is attached nowhere */
	t->at_ns = ev->ts_ns;
	t->unit = unit;
	t->between = TAP_PELT_STEADY;
	t->nr = 0;
	return ret;
}

/* ---- tasks ------------------------------------------------------------------------------------ */

static struct tap_pelt_track *track_of(struct tap_pelt_verify *v, const struct tap_task *task)
{
	struct tap_pelt_track *t = task->index < v->nr_tasks ? v->tasks[task->index] : NULL;

	return t && t->wanted ? t : NULL;
}

/* A task that is queued on a CPU whose chain is broken may run there, unseen; a real-time or deadline task has no average that goes on. */
static bool is_told(const struct tap_timeline *timeline, const struct tap_task *task)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(timeline, &nr);
	bool is_known = task->cpu >= 0 && (unsigned int)task->cpu < nr && cpus[task->cpu].known;

	return task->prio >= 100 && is_known && tap_timeline_is_certain(timeline, task);
}

static int update_task(struct tap_pelt_verify *v, const struct tap_pelt_reading *r, const struct tap_event *ev)
{
	struct tap_task *task = tap_timeline_task(*v->opts.timeline, tap_num_int(&r->tid, ev));
	int cpu = r->cpu.size ? tap_num_int(&r->cpu, ev) : -1, ret;
	uint64_t cgroup = r->cgroup.size ? (uint64_t)tap_num_get(&r->cgroup, ev) : 0;
	struct tap_pelt_track *t;

	if (!task || task->state == TAP_DEAD)
		return 0;
	t = get_track(v, &v->tasks, &v->nr_tasks, task->index, task, -1);
	if (!t)
		return -ENOMEM;
	if (!t->wanted)
		return 0;
	if (t->known && (cgroup != t->cgroup || task->prio != t->prio))
		note(t, TAP_PELT_ATTACHED);
	if (t->known && cpu != t->last_cpu)
		note(t, t->moved_ns >= t->at_ns ? TAP_PELT_MOVED : TAP_PELT_UNTOLD);
	if (!is_told(*v->opts.timeline, task))
		note(t, TAP_PELT_UNTOLD);
	t->cgroup = cgroup;
	t->prio = task->prio;
	t->last_cpu = cpu;
	ret = add_state(v, t, task->state, task->since_ns, ev->ts_ns);
	return ret ?: update(v, t, r, ev);
}

static void wakeup(struct tap_pelt_verify *v, const struct tap_pelt_reading *r, const struct tap_event *ev)
{
	struct tap_task *task = tap_timeline_task(*v->opts.timeline, tap_num_int(&r->tid, ev));
	struct tap_pelt_track *t = task ? track_of(v, task) : NULL;

	if (t)
		t->woken_ns = ev->ts_ns;
}

/* ---- CPUs ------------------------------------------------------------------------------------- */

/* Whether it is of the class whose average this is. migration/N has the priority of a real-time task, and stands above them. */
static bool is_of(enum tap_pelt_average average, const struct tap_task *task)
{
	if (task->prio == TAP_PRIO_UNKNOWN)
		return false;
	if (average == TAP_PELT_UTIL)
		return task->prio >= 100;
	return average == TAP_PELT_UTIL_DL ? task->prio < 0 : task->prio >= 0 && task->prio < 100 && strncmp(task->comm, "migration/", 10);
}

static int add_cpu(struct tap_pelt_track *t, enum tap_pelt_average average, enum tap_cpu_what what, const struct tap_task *task,
		   uint64_t to_ns)
{
	if (what == TAP_CPU_UNKNOWN || what == TAP_CPU_OFFLINE || (what == TAP_CPU_RUN && task->prio == TAP_PRIO_UNKNOWN))
		note(t, TAP_PELT_UNTOLD);
	return add_span(t, what == TAP_CPU_RUN && is_of(average, task) ? RUNS : OFF, to_ns);
}

static struct tap_pelt_track *cpu_track(struct tap_pelt_verify *v, int cpu, enum tap_pelt_average average)
{
	unsigned int index = (unsigned int)cpu * TAP_PELT_NR_AVERAGES + average;
	struct tap_pelt_track *t = cpu >= 0 && index < v->nr_cpus ? v->cpus[index] : NULL;

	return t && t->wanted ? t : NULL;
}

/* A task came to the fair queue of this CPU, or left it. */
static void attach(struct tap_pelt_verify *v, int cpu)
{
	struct tap_pelt_track *t = cpu_track(v, cpu, TAP_PELT_UTIL);

	if (t)
		note(t, TAP_PELT_ATTACHED);
}

static int update_cpu(struct tap_pelt_verify *v, const struct tap_pelt_reading *r, const struct tap_event *ev)
{
	int cpu = tap_num_int(&r->cpu, ev), ret;
	const struct tap_cpu *cpus;
	struct tap_pelt_track *t;
	unsigned int nr;

	/* the root's alone: 32-bit kernels count above it */
	if (r->cgroup.size && (uint32_t)tap_num_get(&r->cgroup, ev) != 1)
		return 0;
	cpus = tap_timeline_cpus(*v->opts.timeline, &nr);
	if (cpu < 0 || (unsigned int)cpu >= nr)
		return 0;
	t = get_track(v, &v->cpus, &v->nr_cpus, (unsigned int)cpu * TAP_PELT_NR_AVERAGES + r->average, NULL, cpu);
	if (!t)
		return -ENOMEM;
	if (!t->wanted)
		return 0;
	t->last_cpu = cpu;
	ret = add_cpu(t, r->average, tap_cpu_what(&cpus[cpu]), cpus[cpu].task, ev->ts_ns);
	return ret ?: update(v, t, r, ev);
}

/* ---- public ----------------------------------------------------------------------------------- */

static const struct {
	const char *system, *name;
	enum what what;
	enum tap_pelt_average average;
} formats[] = {
	{ "schedtap", "sched_pelt_se", TASK, TAP_PELT_UTIL },
	{ "schedtap", "sched_pelt_cfs", CPU, TAP_PELT_UTIL },
	{ "schedtap", "sched_pelt_rt", CPU, TAP_PELT_UTIL_RT },
	{ "schedtap", "sched_pelt_dl", CPU, TAP_PELT_UTIL_DL },
	{ "sched", "sched_wakeup", WAKEUP, 0 },
	{ "sched", "sched_wakeup_new", WAKEUP, 0 },
};

static int format_of(const struct tap_format *fmt)
{
	int i = (int)(sizeof(formats) / sizeof(*formats)) - 1;

	while (i >= 0 && (strcmp(formats[i].system, fmt->system) || strcmp(formats[i].name, fmt->name)))
		i--;
	return i;
}

bool tap_pelt_verify_wants(const struct tap_format *fmt)
{
	return format_of(fmt) >= 0;
}

static void read_format(struct tap_pelt_reading *r, const struct tap_format *fmt, bool tasks)
{
	int i = format_of(fmt);

	r->what = i < 0 ? NOTHING : formats[i].what;
	r->average = i < 0 ? 0 : formats[i].average;
	tap_num_init(&r->tid, tap_number_field(fmt, "pid"));
	tap_num_init(&r->cpu, tap_number_field(fmt, "cpu"));
	tap_num_init(&r->cgroup, tap_number_field(fmt, "cgroup"));
	tap_num_init(&r->update_time, tap_number_field(fmt, "update_time"));
	tap_num_init(&r->values[0], tap_number_field(fmt, "util"));
	tap_num_init(&r->values[1], tap_number_field(fmt, "runnable"));
	tap_num_init(&r->values[2], tap_number_field(fmt, "load"));
	for (unsigned int n = 0; r->what >= TASK && n < NR_VALUES; n++)
		if (!r->update_time.size || !r->values[n].size)
			r->what = NOTHING;
	if ((r->what == TASK && (!tasks || !r->tid.size)) || (r->what == CPU && (tasks || !r->cpu.size)) ||
	    (r->what == WAKEUP && !r->tid.size))
		r->what = NOTHING;
}

int tap_pelt_verify_event(struct tap_pelt_verify *v, const struct tap_event *ev)
{
	struct tap_pelt_reading *r = tap_array_at(&v->reading, &v->nr_reading, ev->fmt->id, sizeof(*r), NULL);

	if (!r)
		return -ENOMEM;
	if (r->what == UNREAD)
		read_format(r, ev->fmt, v->opts.tasks);
	switch (r->what) {
	case WAKEUP:
		wakeup(v, r, ev);
		return 0;
	case TASK:
		return update_task(v, r, ev);
	case CPU:
		return update_cpu(v, r, ev);
	default:
		return 0;
	}
}

int tap_pelt_verify_stretch(struct tap_pelt_verify *v, const struct tap_stretch *s)
{
	struct tap_pelt_track *t = track_of(v, s->task);

	if (s->next == TAP_DEAD || s->state == TAP_DEAD)
		attach(v, s->task->cpu);
	return t ? add_state(v, t, s->state, s->from_ns, s->to_ns) : 0;
}

int tap_pelt_verify_cpu(struct tap_pelt_verify *v, const struct tap_cpu_stretch *s)
{
	int ret = 0;

	for (enum tap_pelt_average average = 0; average < TAP_PELT_NR_AVERAGES && !ret; average++) {
		struct tap_pelt_track *t = cpu_track(v, s->cpu, average);

		ret = t ? add_cpu(t, average, s->what, s->task, s->to_ns) : 0;
	}
	return ret;
}

void tap_pelt_verify_migration(struct tap_pelt_verify *v, const struct tap_migration *m)
{
	struct tap_pelt_track *t = track_of(v, m->task);

	if (t)
		t->moved_ns = m->ts_ns;
	attach(v, m->from);
	attach(v, m->to);
}

void tap_pelt_verify_init(struct tap_pelt_verify *v, const struct tap_pelt_verify_opts *opts)
{
	const struct tap_survey *s = opts->survey;

	*v = (struct tap_pelt_verify){ .opts = *opts, .losses.survey = opts->survey };
	for (unsigned int i = 0; i < TAP_PELT_NR_COMPARED; i++)
		v->errors[i].hist = (struct tap_hist)TAP_HIST_INIT;
	for (unsigned int i = 0; i < s->nr_kinds; i++)
		v->has_wakeups |= !strcmp(s->kinds[i].fmt->system, "sched") && !strcmp(s->kinds[i].fmt->name, "sched_wakeup");
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
	free_tracks(v->cpus, v->nr_cpus);
	free(v->reading);
}
