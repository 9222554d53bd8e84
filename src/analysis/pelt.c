// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/pelt.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "analysis/sched_pick.h"

/* clang-format off */
#define CFS(subject, event)                                                                        \
	{ "util", event, "util", subject, TAP_PELT_1024 },                                         \
	{ "load", event, "load", subject, TAP_PELT_OPEN },                                         \
	{ "runnable", event, "runnable", subject, TAP_PELT_1024 }
/* in these classes load is not weighted */
#define CLASS(class)                                                                               \
	{ "util_" class, "sched_pelt_" class, "util", TAP_PELT_CPU, TAP_PELT_1024 },               \
	{ "load_" class, "sched_pelt_" class, "load", TAP_PELT_CPU, TAP_PELT_1024 },               \
	{ "runnable_" class, "sched_pelt_" class, "runnable", TAP_PELT_CPU, TAP_PELT_1024 }
#define UTIL_EST(subject, event)                                                                   \
	{ "util_est", event, "enqueued", subject, TAP_PELT_1024 },                                 \
	{ "util_est_ewma", event, "ewma", subject, TAP_PELT_1024 }
#define UCLAMP(subject, event, prefix)                                                             \
	{ "uclamp", event, "uclamp_avg", subject, TAP_PELT_1024 },                                 \
	{ "uclamp_min", event, prefix "uclamp_min", subject, TAP_PELT_1024 },                      \
	{ "uclamp_max", event, prefix "uclamp_max", subject, TAP_PELT_1024 }
/* clang-format on */
#define CAPACITY(name)                                                                             \
	{                                                                                          \
		name, "sched_cpu_capacity", name, TAP_PELT_CPU, TAP_PELT_1024                      \
	}

const struct tap_pelt_signal tap_pelt_signals[] = {
	CFS(TAP_PELT_CPU, "sched_pelt_cfs"),
	CFS(TAP_PELT_TASK, "sched_pelt_se"),
	{ "load_entity", "sched_pelt_se", "load", TAP_PELT_CGROUP, TAP_PELT_OPEN },
	CLASS("rt"),
	CLASS("dl"),
	CLASS("irq"),
	CLASS("hw"),
	UTIL_EST(TAP_PELT_CPU, "sched_util_est_cfs"),
	UTIL_EST(TAP_PELT_TASK, "sched_util_est_se"),
	UCLAMP(TAP_PELT_CPU, "uclamp_util_cfs", ""),
	UCLAMP(TAP_PELT_TASK, "uclamp_util_se", "task_"),
	CAPACITY("capacity"),
	CAPACITY("capacity_orig"),
	CAPACITY("capacity_curr"),
	{ "overutilized", "sched_overutilized", "overutilized", TAP_PELT_DOMAIN, TAP_PELT_FLAG },
	{ "nr_running", "sched_update_nr_running", "nr_running", TAP_PELT_CPU, TAP_PELT_COUNT },
	{ "nr_runnable", "sched_update_nr_running", "nr_running", TAP_PELT_CPU, TAP_PELT_COUNT,
	  .queued = "h_nr_queued", .runnable = "h_nr_runnable" },
	{ "lag", "sched_pick", "next_lag", TAP_PELT_TASK, TAP_PELT_OPEN, .is_signed = true },
	{ 0 }
};

#define MAX_VALUES 4u /* limit for the values of one event */
#define NEAR_CPUS 256u /* series of CPUs from this number on are searched for each time */

/* The fields of one format, which are looked up by name once. */
struct kind {
	unsigned int nr;
	struct value {
		const struct tap_pelt_signal *signal;
		struct tap_num number, queued, runnable;
	} values[MAX_VALUES];
	struct tap_pelt_series *near[NEAR_CPUS][MAX_VALUES]; /* cache: series by CPU and value */
	const struct tap_field *comm, *path, *span; /* or NULL */
	struct tap_num cpu, tid, cgroup;
	bool is_pick; /* the value is the lag, decoded by .pick */
	struct tap_sched_pick_fields pick;
	bool has_near; /* the CPU alone identifies a value's series, except for cgroups */
	struct kind *older; /* the kind added before this one */
};

/* Intervals in which updates may be missing, sorted and disjoint. */
struct holes {
	struct tap_hole *v; /* owned */
	unsigned int nr, cap;
	unsigned int next; /* the first one that does not end before the last update */
};

struct tap_pelt {
	struct tap_pelt_opts opts;
	const struct tap_promise *promise; /* or NULL */
	struct holes *losses; /* indexed by buffer */
	struct holes *breaks; /* indexed by CPU */
	unsigned int nr_losses, nr_breaks;
	/* series with points, which get a gap if one comes; used with .point or .keep_points */
	struct tap_pelt_series **live;
	unsigned int nr_live, cap_live;
	uint64_t next_gap_ns; /* start of the next gap of these series */
	struct kind **kinds; /* owned, also the elements; indexed by format id */
	struct kind *newest_kind;
	struct tap_map cgroups; /* cgroup's id -> its number, 1, 2, ... */
	unsigned int nr_lives;
	struct tap_map by_key; /* .key -> struct tap_pelt_series *; 0: its task is dead */
	struct tap_map runners; /* runner_of() -> list of its series, struct tap_pelt_series * */
	/* owned, also the elements; NULL: a dead task's series that is not needed */
	struct tap_pelt_series **series;
	unsigned int nr, cap;
};

/* Return the event's name without the prefix that LISA's module puts before it. */
static const char *event_name(const struct tap_format *fmt)
{
	static const char lisa[] = "lisa__";
	const size_t len = sizeof(lisa) - 1;

	return strncmp(fmt->name, lisa, len) ? fmt->name : fmt->name + len;
}

/* LISA and sched_tp call runnable_avg by its old name. */
static const struct tap_field *find_number(const struct tap_format *fmt, const char *name)
{
	const struct tap_field *f = tap_number_field(fmt, name);

	return f || strcmp(name, "runnable") ? f : tap_number_field(fmt, "RBL_load");
}

/* Look up a signal's fields. Return false if the kernel's event does not have them. */
static bool find_value(const struct tap_pelt_signal *s, const struct tap_format *fmt,
		       struct value *v)
{
	const struct tap_field *field = find_number(fmt, s->field);
	const struct tap_field *queued = s->queued ? tap_number_field(fmt, s->queued) : NULL;
	const struct tap_field *runnable = s->runnable ? tap_number_field(fmt, s->runnable) : NULL;

	if (!field || (s->queued && (!queued || !runnable)))
		return false;
	v->signal = s;
	tap_num_init(&v->number, field);
	tap_num_init(&v->queued, queued);
	tap_num_init(&v->runnable, runnable);
	return true;
}

static int64_t value_of(const struct kind *k, const struct value *v, const struct tap_event *ev)
{
	uint64_t value, sleepers = 0;

	if (k->is_pick)
		return tap_sched_pick_lag_ns(&k->pick, ev);
	value = (uint64_t)tap_num_get(&v->number, ev);
	if (v->signal->queued)
		sleepers = (uint64_t)tap_num_get(&v->queued, ev) -
			   (uint64_t)tap_num_get(&v->runnable, ev);
	/* a damaged file may count more sleeping tasks than tasks */
	value = sleepers < value ? value - sleepers : 0;
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

static __attribute__((noinline)) struct kind *add_kind(struct tap_pelt *p,
						       const struct tap_format *fmt)
{
	const struct tap_pelt_opts *o = &p->opts;
	const struct tap_field *f;
	struct kind *k;

	p->kinds[fmt->id] = k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->older = p->newest_kind;
	p->newest_kind = k;
	for (const struct tap_pelt_signal *s = tap_pelt_signals; s->name; s++) {
		if (strcmp(s->event, event_name(fmt)) ||
		    (o->want_signal && !o->want_signal(o->ctx, s)))
			continue;
		assert(k->nr < MAX_VALUES);
		k->nr += find_value(s, fmt, &k->values[k->nr]);
	}
	tap_num_init(&k->cpu, tap_number_field(fmt, "cpu"));
	tap_num_init(&k->tid, tap_number_field(fmt, "pid"));
	tap_num_init(&k->cgroup, tap_number_field(fmt, "cgroup"));
	/* the sched_tp module records the cgroup's path instead of its id */
	k->path = k->cgroup.size ? NULL : tap_text_field(fmt, "path");
	k->comm = tap_text_field(fmt, "comm");
	k->is_pick = k->nr && tap_sched_pick_init(&k->pick, fmt);
	if (k->is_pick)
		k->tid = k->pick.tid;
	f = tap_format_field(fmt, "span");
	k->span = f && f->kind == TAP_FIELD_DYNAMIC ? f : NULL;
	k->has_near =
		k->nr && k->values[0].signal->subject == TAP_PELT_CPU && k->cpu.size && !k->path;
	return k;
}

/* ---- missing updates ---- */

/* Add a hole; call in order of .from_ns. Return: 0 or -ENOMEM. */
static int add_hole(struct holes **list, unsigned int *nr, unsigned int i, uint64_t from_ns,
		    uint64_t to_ns)
{
	struct tap_hole *last;
	struct holes *h;

	h = tap_array_at(list, nr, i, sizeof(*h), NULL);
	if (!h)
		return -ENOMEM;
	last = h->nr ? &h->v[h->nr - 1] : NULL;
	if (last && from_ns <= last->to_ns) {
		last->to_ns = to_ns > last->to_ns ? to_ns : last->to_ns;
		return 0;
	}
	if (tap_array_grow(&h->v, h->nr, &h->cap, sizeof(*h->v)))
		return -ENOMEM;
	h->v[h->nr++] = (struct tap_hole){ from_ns, to_ns };
	return 0;
}

static int find_holes(struct tap_pelt *p, const struct tap_survey *s)
{
	int ret = 0;

	for (unsigned int i = 0; i < s->nr_kept_losses && !ret; i++)
		ret = add_hole(&p->losses, &p->nr_losses, s->losses[i].buffer, s->losses[i].from_ns,
			       s->losses[i].to_ns);
	for (unsigned int i = 0; i < s->nr_breaks && !ret; i++)
		ret = add_hole(&p->breaks, &p->nr_breaks, (unsigned int)s->breaks[i].cpu,
			       s->breaks[i].from_ns, s->breaks[i].to_ns);
	return ret;
}

static void free_holes(struct holes *list, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		free(list[i].v);
	free(list);
}

/*
 * Return the start of the first hole that ends after @ts_ns: from then on a value set at @ts_ns is
 * not certain. @ts_ns must not decrease between calls.
 */
static inline uint64_t first_hole(struct holes *list, unsigned int nr, unsigned int i,
				  uint64_t ts_ns)
{
	struct holes *h = i < nr ? &list[i] : NULL;

	while (h && h->next < h->nr && h->v[h->next].to_ns <= ts_ns)
		h->next++;
	return h && h->next < h->nr ? h->v[h->next].from_ns : UINT64_MAX;
}

static bool is_partial(const struct tap_pelt *p, const struct tap_timeline *t,
		       const struct tap_pelt_series *s)
{
	const struct tap_task *task;

	if (!p->promise || !p->promise->cpus)
		return false;
	if (s->subject == TAP_PELT_DOMAIN)
		return !tap_cpus_within(&s->span, p->promise->cpus);
	if (s->subject != TAP_PELT_TASK)
		return !tap_promise_has_cpu(p->promise, (unsigned int)s->cpu);
	task = tap_timeline_task(t, s->tid);
	return !task || tap_timeline_roams(t, task);
}

static bool may_have_gaps(const struct tap_pelt *p, const struct tap_pelt_series *s)
{
	return (p->nr_losses || p->nr_breaks) &&
	       (!p->opts.points_alone || s->signal->scale == TAP_PELT_FLAG);
}

static uint64_t known_until(struct tap_pelt *p, const struct tap_pelt_series *s,
			    const struct tap_event *ev)
{
	uint64_t until = first_hole(p->losses, p->nr_losses, ev->buffer, ev->ts_ns), ns;

	/* breaks of a CPU's chain do not matter to a task: its updates are its own events */
	for (unsigned int cpu = 0; cpu < p->nr_breaks && s->subject == TAP_PELT_DOMAIN; cpu++) {
		ns = first_hole(p->breaks, p->nr_breaks, cpu, ev->ts_ns);
		until = ns < until && tap_cpus_has(&s->span, cpu) ? ns : until;
	}
	if (s->subject == TAP_PELT_CPU || s->subject == TAP_PELT_CGROUP) {
		ns = first_hole(p->breaks, p->nr_breaks, (unsigned int)s->cpu, ev->ts_ns);
		until = ns < until ? ns : until;
	}
	/* the hole has begun: the value is known for no time */
	return until > ev->ts_ns ? until : ev->ts_ns;
}

/* ---- whose value an event has ---- */

/* The root cgroup has node number 1; 32-bit kernels have a generation in the upper half. */
static bool is_root(uint64_t cgroup)
{
	return (uint32_t)cgroup == 1;
}

/* Read a domain's CPUs: an array of longs of the recorded kernel. Return: 0 or -ENOMEM. */
static int read_span(struct tap_cpus *span, const struct tap_field *f, const struct tap_event *ev)
{
	uint32_t len, elem = f->elem_size;
	const char *bytes = tap_field_bytes(f, ev->data, ev->size, &len);
	int ret = 0;

	for (uint32_t i = 0; i < len && !ret; i++) {
		uint32_t byte = ev->fmt->big_endian ? i - i % elem + elem - 1 - i % elem : i;

		for (unsigned int bit = 0; byte < len && bit < 8 && !ret; bit++)
			if (bytes[byte] >> bit & 1)
				ret = tap_cpus_add(span, i * 8 + bit);
	}
	return ret;
}

static int first_cpu(const struct tap_cpus *span)
{
	unsigned int cpu = 0;

	while (cpu < span->nr_words * 64 && !tap_cpus_has(span, cpu))
		cpu++;
	return (int)cpu;
}

static void read_comm(const struct kind *k, const struct tap_event *ev, struct tap_pelt_series *s)
{
	uint32_t len;
	const char *text = k->comm ? tap_field_bytes(k->comm, ev->data, ev->size, &len) : NULL;

	if (!text)
		return;
	len = len < sizeof(s->comm) ? len : sizeof(s->comm);
	memcpy(s->comm, text, len);
	memset(s->comm + len, 0, sizeof(s->comm) - len);
}

/*
 * Find out whose value @ev has, and fill in @s. Return: 1; 0: there is no series for it; -ENOMEM.
 */
static int find_subject(const struct kind *k, const struct tap_timeline *t,
			const struct tap_event *ev, struct tap_pelt_series *s)
{
	const struct tap_task *task;
	const char *text;
	uint32_t len;

	if (s->subject == TAP_PELT_DOMAIN) {
		if (!k->span)
			return 0;
		if (read_span(&s->span, k->span, ev))
			return -ENOMEM;
		s->cpu = first_cpu(&s->span);
		return 1;
	}
	if (k->cgroup.size)
		s->cgroup = (uint64_t)tap_num_get(&k->cgroup, ev);
	if (s->subject == TAP_PELT_CGROUP) { /* its entity is in its parent's queue */
		s->cpu = tap_num_int(&k->cpu, ev);
		return tap_num_int(&k->tid, ev) == -1 && k->cgroup.size && s->cgroup &&
		       s->cpu >= 0 && s->cpu < (int)TAP_MAX_CPUS;
	}
	if (s->subject == TAP_PELT_TASK) {
		s->tid = tap_num_int(&k->tid, ev);
		if (k->is_pick) {
			task = tap_timeline_task(t, s->tid);
			/* the task is not known, or another class picked */
			if (!task || !tap_num_get(&k->pick.weight, ev))
				return 0;
			memcpy(s->comm, task->comm, sizeof(s->comm));
			s->cgroup = task->cgroup;
			return 1;
		}
		read_comm(k, ev, s);
		return s->tid > 0; /* -1: the entity is a cgroup */
	}
	s->cpu = tap_num_int(&k->cpu, ev);
	if (k->cgroup.size && !s->cgroup) /* autogroups have no id that distinguishes them */
		return 0;
	if (k->cgroup.size && !is_root(s->cgroup))
		s->subject = TAP_PELT_CGROUP;
	text = k->path ? tap_field_bytes(k->path, ev->data, ev->size, &len) : NULL;
	if (text && (len != 1 || *text != '/')) /* another cgroup than the root */
		return 0;
	return s->cpu >= 0 && s->cpu < (int)TAP_MAX_CPUS;
}

static uint64_t task_runner(int tid)
{
	return UINT64_C(1) << 32 | (uint32_t)tid;
}

/* Return the key of the task or CPU during whose run time the series' values count. */
static uint64_t runner_of(const struct tap_pelt_series *s)
{
	return s->subject == TAP_PELT_TASK ? task_runner(s->tid) : (uint32_t)s->cpu;
}

/* Make a key. Signals, CPUs and tasks are small numbers; cgroups are numbered. */
static uint64_t key_of(const struct tap_pelt_signal *signal, int cpu, uint64_t who)
{
	return (uint64_t)(signal - tap_pelt_signals) << 56 | (uint64_t)cpu << 32 | (uint32_t)who;
}

/* Return: 0 or -ENOMEM. */
static int make_key(struct tap_pelt *p, struct tap_pelt_series *s)
{
	uint64_t who = s->subject == TAP_PELT_TASK ? (uint32_t)s->tid : 0;
	uint64_t *slot;

	if (s->subject == TAP_PELT_CGROUP) {
		slot = tap_map_put(&p->cgroups, s->cgroup);
		if (!slot)
			return -ENOMEM;
		if (!*slot)
			*slot = p->cgroups.nr;
		who = *slot;
	}
	s->key = key_of(s->signal, s->subject == TAP_PELT_TASK ? 0 : s->cpu, who);
	return 0;
}

/* ---- series ---- */

void tap_pelt_series_free(struct tap_pelt_series *s)
{
	if (!s)
		return;
	tap_cpus_release(&s->span);
	tap_hist_release(&s->hist);
	tap_hist_release(&s->below);
	free(s->columns);
	free(s->points);
	free(s);
}

/* Add a series like @like, and take over its .span. Return: NULL: out of memory. */
static struct tap_pelt_series *series_add(struct tap_pelt *p, struct tap_pelt_series *like)
{
	struct tap_pelt_series *s;
	uint64_t *slot;

	if (tap_array_grow(&p->series, p->nr, &p->cap, sizeof(*p->series)))
		return NULL;
	s = malloc(sizeof(*s));
	if (!s)
		return NULL;
	*s = *like;
	s->number = p->nr;
	p->series[p->nr++] = s;
	like->span = (struct tap_cpus){ 0 };
	s->wanted = !p->opts.want || p->opts.want(p->opts.ctx, s);
	if (!s->wanted)
		return s;
	s->columns = p->opts.nr_columns ? calloc(p->opts.nr_columns, sizeof(*s->columns)) : NULL;
	slot = tap_map_put(&p->runners, runner_of(s));
	if (!slot || (p->opts.nr_columns && !s->columns))
		return NULL;
	s->same_runner_next = (struct tap_pelt_series *)(uintptr_t)*slot;
	s->life = s->same_runner_next ? s->same_runner_next->life : p->nr_lives++;
	*slot = (uintptr_t)s;
	return s;
}

static unsigned int band_of(const struct tap_pelt_series *s)
{
	uint64_t last = s->last > 0 ? (uint64_t)s->last : 0;
	uint64_t v = s->signal->scale == TAP_PELT_COUNT ? last
		     : last < 1024			? last * TAP_PELT_BANDS / 1024
							: TAP_PELT_BANDS;

	return v < TAP_PELT_BANDS ? (unsigned int)v : TAP_PELT_BANDS - 1;
}

/* Return the start of column @i of @nr; for @i == @nr the window's end. */
static uint64_t column_from(const struct tap_window *window, unsigned int nr, unsigned int i)
{
	unsigned __int128 ns = tap_window_ns(window);

	return window->from_ns + (uint64_t)(ns * i / nr);
}

static __attribute__((noinline)) void hold_in_columns(struct tap_pelt_series *s,
						      const struct tap_window *window,
						      unsigned int nr, uint64_t from_ns,
						      uint64_t to_ns)
{
	unsigned __int128 offset = from_ns - window->from_ns;
	unsigned int i = (unsigned int)(offset * nr / tap_window_ns(window));

	for (; from_ns < to_ns && i < nr; i++) {
		struct tap_pelt_column *c = &s->columns[i];
		uint64_t end_ns = column_from(window, nr, i + 1);

		if (end_ns <= from_ns) /* empty after rounding: more columns than ns */
			continue;
		if (end_ns > to_ns)
			end_ns = to_ns;
		if (!c->ns)
			c->min = c->max = s->last;
		c->ns += end_ns - from_ns;
		c->sum += (__int128)s->last * (__int128)(end_ns - from_ns);
		c->min = s->last < c->min ? s->last : c->min;
		c->max = s->last > c->max ? s->last : c->max;
		from_ns = end_ns;
	}
}

static inline int hold_value(struct tap_pelt_series *s, const struct tap_window *window,
			     unsigned int nr_columns, uint64_t from_ns, uint64_t to_ns)
{
	s->bands_ns[band_of(s)] += to_ns - from_ns;
	if (s->columns)
		hold_in_columns(s, window, nr_columns, from_ns, to_ns);
	if (s->last < 0)
		return tap_hist_add_weighted(&s->below, -(uint64_t)s->last, to_ns - from_ns);
	return tap_hist_add_weighted(&s->hist, (uint64_t)s->last, to_ns - from_ns);
}

int tap_pelt_series_hold(struct tap_pelt_series *s, const struct tap_window *window,
			 unsigned int nr_columns, uint64_t from_ns, uint64_t to_ns)
{
	return from_ns < to_ns ? hold_value(s, window, nr_columns, from_ns, to_ns) : 0;
}

/*
 * Count that the last value held from @from_ns, or since it is known, to @to_ns. Inline, because
 * schedtap summary does this for every fifth event.
 */
static inline __attribute__((always_inline)) int
count_held(struct tap_pelt *p, struct tap_pelt_series *s, uint64_t from_ns, uint64_t to_ns)
{
	if (p->opts.points_alone)
		return 0;
	if (from_ns < s->at_ns)
		from_ns = s->at_ns;
	if (to_ns > p->opts.window.to_ns)
		to_ns = p->opts.window.to_ns;
	if (to_ns > s->until_ns)
		to_ns = s->until_ns;
	if (!s->known || from_ns >= to_ns)
		return 0;
	s->at_ns = to_ns;
	return hold_value(s, &p->opts.window, p->opts.nr_columns, from_ns, to_ns);
}

/* Return the time since when the series' task or CPU runs; UINT64_MAX: it does not. */
static uint64_t runs_since(const struct tap_timeline *t, const struct tap_pelt_series *s,
			   const struct tap_task *task)
{
	const struct tap_cpu *cpus;
	unsigned int nr;

	if (s->subject == TAP_PELT_TASK)
		return task && task->state == TAP_STATE_RUNNING ? task->since_ns : UINT64_MAX;
	cpus = tap_timeline_cpus(t, &nr);
	if ((unsigned int)s->cpu >= nr || !cpus[s->cpu].known || !cpus[s->cpu].task)
		return UINT64_MAX;
	return cpus[s->cpu].since_ns;
}

int tap_pelt_series_point(struct tap_pelt_series *s, uint64_t ts_ns, int64_t value)
{
	if (tap_array_grow(&s->points, s->nr_points, &s->cap_points, sizeof(*s->points)))
		return -ENOMEM;
	s->points[s->nr_points++] = (struct tap_pelt_point){ .ts_ns = ts_ns, .value = value };
	return 0;
}

static inline int report_point(struct tap_pelt *p, struct tap_pelt_series *s, uint64_t ts_ns,
			       int64_t value)
{
	int ret = p->opts.keep_points ? tap_pelt_series_point(s, ts_ns, value) : 0;

	return ret || !p->opts.point ? ret : p->opts.point(p->opts.ctx, s, ts_ns, value);
}

/* Report gaps of values that became unknown by now. */
static __attribute__((noinline)) int report_gaps(struct tap_pelt *p, uint64_t now_ns)
{
	uint64_t gap_ns = p->next_gap_ns;
	int ret = 0;

	for (; gap_ns <= now_ns && !ret; gap_ns = p->next_gap_ns) {
		unsigned int nr = 0;

		p->next_gap_ns = UINT64_MAX;
		for (unsigned int i = 0; i < p->nr_live; i++) {
			struct tap_pelt_series *s = p->live[i];

			if (s->known && s->until_ns == gap_ns) {
				s->live = false;
				ret = ret ? ret : report_point(p, s, gap_ns, TAP_PELT_GAP);
				continue;
			}
			p->live[nr++] = s;
			if (s->known && s->until_ns < p->next_gap_ns)
				p->next_gap_ns = s->until_ns;
		}
		p->nr_live = nr;
	}
	return ret;
}

static inline int report_update(struct tap_pelt *p, struct tap_pelt_series *s)
{
	if (!s->live && s->until_ns < p->opts.window.to_ns) {
		if (tap_array_grow(&p->live, p->nr_live, &p->cap_live,
				   sizeof(struct tap_pelt_series *)))
			return -ENOMEM;
		p->live[p->nr_live++] = s;
		s->live = true;
	}
	if (s->until_ns < p->next_gap_ns)
		p->next_gap_ns = s->until_ns;
	return report_point(p, s, s->at_ns, s->last);
}

static inline int update_value(struct tap_pelt *p, const struct tap_timeline *t,
			       struct tap_pelt_series *s, const struct tap_event *ev, int64_t value)
{
	bool always = !p->opts.while_running || s->subject == TAP_PELT_DOMAIN;
	const struct tap_task *task = NULL;
	uint64_t since_ns = 0;
	int ret;

	if (s->subject == TAP_PELT_TASK)
		task = tap_timeline_task(t, s->tid);
	/* the kernel releases a dead task: these updates do not count */
	if (task && task->state == TAP_STATE_DEAD)
		return 0;
	if (!always)
		since_ns = runs_since(t, s, task);
	ret = count_held(p, s, since_ns, ev->ts_ns);
	if (ret)
		return ret;
	s->updates++;
	s->known = true;
	s->at_ns = ev->ts_ns;
	s->until_ns = s->partial	    ? ev->ts_ns
		      : may_have_gaps(p, s) ? known_until(p, s, ev)
					    : UINT64_MAX;
	s->last = value;
	if (since_ns == UINT64_MAX || (!p->opts.keep_points && !p->opts.point))
		return 0;
	return report_update(p, s);
}

/* Get the series that @like describes, adding it if needed. Return: NULL: out of memory. */
static struct tap_pelt_series *get_series(struct tap_pelt *p, const struct tap_timeline *t,
					  struct tap_pelt_series *like)
{
	struct tap_pelt_series *s;
	uint64_t *slot;

	if (make_key(p, like))
		return NULL;
	slot = tap_map_put(&p->by_key, like->key);
	if (!slot)
		return NULL;
	s = (struct tap_pelt_series *)(uintptr_t)*slot;
	if (!s) {
		like->partial = is_partial(p, t, like);
		s = series_add(p, like);
		*slot = (uintptr_t)s;
	} else if (like->subject == TAP_PELT_TASK) {
		memcpy(s->comm, like->comm, sizeof(s->comm));
	}
	return s;
}

/* ---- intervals of the timeline ---- */

static struct tap_pelt_series *first_of(const struct tap_pelt *p, uint64_t runner)
{
	uint64_t *slot = tap_map_get(&p->runners, runner);

	return slot ? (struct tap_pelt_series *)(uintptr_t)*slot : NULL;
}

static int count_run(struct tap_pelt *p, uint64_t runner, uint64_t from_ns, uint64_t to_ns)
{
	int ret = 0;

	if (!p->opts.while_running)
		return 0;
	for (struct tap_pelt_series *s = first_of(p, runner); s && !ret; s = s->same_runner_next)
		if (s->subject != TAP_PELT_DOMAIN)
			ret = count_held(p, s, from_ns, to_ns);
	return ret;
}

/* The task died: a new task that reuses its tid gets series of its own. */
static int end_task(struct tap_pelt *p, int tid, uint64_t ts_ns)
{
	struct tap_pelt_series *s = first_of(p, task_runner(tid)), *next;
	int ret = 0;

	if (s)
		*tap_map_get(&p->runners, task_runner(tid)) = 0;
	for (; s && !ret; s = next) {
		next = s->same_runner_next;
		if (!p->opts.while_running)
			ret = count_held(p, s, 0, ts_ns);
		s->known = false;
		*tap_map_get(&p->by_key, s->key) = 0;
		if (p->opts.points_alone) {
			p->series[s->number] = NULL;
			tap_pelt_series_free(s);
		}
	}
	return ret;
}

/* ---- public ---- */

int tap_pelt_new(const struct tap_pelt_opts *opts, struct tap_pelt **out)
{
	struct tap_pelt *p = calloc(1, sizeof(*p));

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->opts = *opts;
	p->promise = opts->survey ? opts->survey->promise : NULL;
	p->kinds = calloc(TAP_NR_IDS, sizeof(*p->kinds));
	p->next_gap_ns = UINT64_MAX;
	if (!p->kinds || (opts->survey && find_holes(p, opts->survey))) {
		tap_pelt_free(p);
		return -ENOMEM;
	}
	*out = p;
	return 0;
}

void tap_pelt_free(struct tap_pelt *p)
{
	if (!p)
		return;
	for (struct kind *k = p->newest_kind, *older; k; k = older) {
		older = k->older;
		free(k);
	}
	for (unsigned int i = 0; i < p->nr; i++)
		tap_pelt_series_free(p->series[i]);
	free(p->kinds);
	tap_map_release(&p->cgroups);
	tap_map_release(&p->by_key);
	tap_map_release(&p->runners);
	free_holes(p->losses, p->nr_losses);
	free_holes(p->breaks, p->nr_breaks);
	free(p->live);
	free(p->series);
	free(p);
}

bool tap_pelt_has_signal(const struct tap_format *fmt,
			 bool (*want)(void *ctx, const struct tap_pelt_signal *s), void *ctx)
{
	const struct tap_pelt_signal *s = tap_pelt_signals;

	while (s->name && (strcmp(s->event, event_name(fmt)) || (want && !want(ctx, s))))
		s++;
	return s->name;
}

bool tap_pelt_wants(const struct tap_format *fmt)
{
	return tap_pelt_has_signal(fmt, NULL, NULL);
}

/*
 * Find a task's series that exists already; *@s is NULL if the value belongs to no series, as most
 * do. Return: true if *@s is certain, otherwise find_series() decides.
 */
static bool find_known(struct tap_pelt *p, const struct kind *k,
		       const struct tap_pelt_signal *signal, const struct tap_event *ev,
		       struct tap_pelt_series **s)
{
	const int tid = tap_num_int(&k->tid, ev);
	const uint64_t *slot;

	*s = NULL;
	if (signal->subject == TAP_PELT_CGROUP)
		return tid != -1; /* -1: the entity is a cgroup, otherwise a task */
	if (signal->subject != TAP_PELT_TASK || (k->is_pick && !p->opts.points_alone))
		return false;
	slot = tid > 0 ? tap_map_get(&p->by_key, key_of(signal, 0, (uint32_t)tid)) : NULL;
	*s = slot ? (struct tap_pelt_series *)(uintptr_t)*slot : NULL;
	if (*s && k->is_pick && !tap_num_get(&k->pick.weight, ev)) { /* another class picked */
		*s = NULL;
		return true;
	}
	if (*s && !p->opts.points_alone)
		read_comm(k, ev, *s);
	return *s || tid <= 0; /* -1: the entity is a cgroup */
}

static bool is_of_cgroup(const struct kind *k, const struct tap_event *ev)
{
	return k->cgroup.size && !is_root((uint64_t)tap_num_get(&k->cgroup, ev));
}

/*
 * Find the series that the event's value belongs to; *@s is NULL if there is none. Return: 0 or
 * -ENOMEM.
 */
static int find_series(struct tap_pelt *p, const struct tap_timeline *t, struct kind *k,
		       unsigned int i, const struct tap_event *ev, struct tap_pelt_series **s)
{
	struct tap_pelt_series like = {
		.signal = k->values[i].signal,
		.subject = k->values[i].signal->subject,
		.hist = TAP_HIST_INIT,
		.below = TAP_HIST_INIT,
	};
	int ret = find_subject(k, t, ev, &like);

	*s = ret > 0 ? get_series(p, t, &like) : NULL;
	tap_cpus_release(&like.span);
	return ret < 0 || (ret && !*s) ? -ENOMEM : 0;
}

static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_pelt *p = ctx;
	struct kind *k = p->kinds[ev->fmt->id] ?: add_kind(p, ev->fmt);
	struct tap_pelt_series **near = NULL;
	bool of_cgroup;
	unsigned int cpu;
	int ret = 0;

	if (!k)
		return -ENOMEM;
	if (ev->ts_ns >= p->next_gap_ns)
		ret = report_gaps(p, ev->ts_ns);
	of_cgroup = is_of_cgroup(k, ev);
	if (of_cgroup && p->opts.cpus_only)
		return ret;
	if (k->has_near && !of_cgroup) {
		cpu = (unsigned int)tap_num_int(&k->cpu, ev);
		near = cpu < NEAR_CPUS ? k->near[cpu] : NULL;
	}
	for (unsigned int i = 0; !ret && i < k->nr; i++) {
		struct tap_pelt_series *s = near ? near[i] : NULL;

		if (!s && !find_known(p, k, k->values[i].signal, ev, &s))
			ret = find_series(p, t, k, i, ev, &s);
		if (near)
			near[i] = s;
		if (!ret && s && s->wanted)
			ret = update_value(p, t, s, ev, value_of(k, &k->values[i], ev));
	}
	return ret;
}

static int compare_keys(const void *a, const void *b)
{
	const struct tap_pelt_series *x = *(struct tap_pelt_series *const *)a;
	const struct tap_pelt_series *y = *(struct tap_pelt_series *const *)b;

	return (x->key > y->key) - (x->key < y->key);
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	struct tap_pelt *p = ctx;
	int ret = p->next_gap_ns < p->opts.window.to_ns ? report_gaps(p, p->opts.window.to_ns - 1)
							: 0;
	unsigned int nr = 0;

	(void)t;
	for (unsigned int i = 0; i < p->nr && !ret; i++) {
		struct tap_pelt_series *s = p->series[i];

		if (s && s->wanted && (!p->opts.while_running || s->subject == TAP_PELT_DOMAIN))
			ret = count_held(p, s, 0, p->opts.window.to_ns);
	}
	for (unsigned int i = 0; i < p->nr; i++) {
		if (p->series[i] && p->series[i]->updates)
			p->series[nr++] = p->series[i];
		else
			tap_pelt_series_free(p->series[i]);
	}
	p->nr = nr;
	if (nr)
		qsort(p->series, p->nr, sizeof(*p->series), compare_keys);
	return ret;
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *i)
{
	struct tap_pelt *p = ctx;
	int ret = 0;

	(void)t;
	if (i->state == TAP_STATE_RUNNING)
		ret = count_run(p, task_runner(i->task->tid), i->from_ns, i->to_ns);
	if (!ret && i->next == TAP_STATE_DEAD && i->state != TAP_STATE_DEAD)
		ret = end_task(p, i->task->tid, i->to_ns);
	return ret;
}

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *i)
{
	(void)t;
	return i->what == TAP_CPU_RUN ? count_run(ctx, (uint32_t)i->cpu, i->from_ns, i->to_ns) : 0;
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	const struct tap_pelt_opts *o = &((struct tap_pelt *)ctx)->opts;

	return fmt && tap_pelt_has_signal(fmt, o->want_signal, o->ctx);
}

const struct tap_watcher_ops tap_pelt_ops = {
	.states = TAP_STATE_ALL,
	.interval = on_interval,
	.cpu = on_cpu,
	.wants = wants_event,
	.event = on_event,
	.end = on_end,
};
const struct tap_watcher_ops tap_pelt_of_cpus_ops = { .wants = wants_event,
						      .event = on_event,
						      .end = on_end };

struct tap_pelt_series *const *tap_pelt_series(const struct tap_pelt *p, unsigned int *nr)
{
	*nr = p->nr;
	return p->series;
}

uint64_t tap_pelt_known_ns(const struct tap_pelt_series *s)
{
	return s->below.count + s->hist.count;
}

double tap_pelt_mean(const struct tap_pelt_series *s)
{
	uint64_t ns = tap_pelt_known_ns(s);

	return ns ? ((double)s->hist.sum - (double)s->below.sum) / (double)ns : 0;
}

int64_t tap_pelt_min(const struct tap_pelt_series *s)
{
	if (s->below.count)
		return -(int64_t)s->below.max;
	return s->hist.count ? (int64_t)s->hist.min : 0;
}

int64_t tap_pelt_max(const struct tap_pelt_series *s)
{
	if (!s->hist.count && s->below.count)
		return -(int64_t)s->below.min;
	return (int64_t)s->hist.max;
}

int64_t tap_pelt_quantile(const struct tap_pelt_series *s, double part)
{
	double ns = (double)tap_pelt_known_ns(s) * part, below = (double)s->below.count;

	if (!s->below.count)
		return (int64_t)tap_hist_quantile(&s->hist, part);
	if (ns > below)
		return (int64_t)tap_hist_quantile(&s->hist, (ns - below) / (double)s->hist.count);
	/* .below holds absolute values: its quantile counts from the end nearest to 0 */
	return -(int64_t)tap_hist_quantile(&s->below,
					   ((double)(uint64_t)(below - ns) + 0.5) / below);
}
