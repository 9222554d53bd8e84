// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/survey.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* How often a task must be switched in, and never seen at work, until it counts as hidden. */
#define HIDDEN_INS 8

/* Where one CPU's chain stands. */
struct tap_survey_cpu {
	bool seen;  /* an event came from it, in this buffer */
	bool known; /* .tid was switched in at .since_ns */
	unsigned int buffer;
	int tid;
	uint64_t since_ns;
	bool idle_at_work; /* its idle task was seen to leave */
	uint8_t idle_ins;
};

int tap_survey_init(struct tap_survey *s, uint64_t start_ns, uint64_t end_ns)
{
	*s = (struct tap_survey){ .start_ns = start_ns, .end_ns = end_ns };
	for (unsigned int i = 0; i < TAP_NR_SHAPES; i++)
		s->buffer[i] = TAP_NO_BUFFER;
	return tap_shapes_init(&s->shapes);
}

static void release_inside(struct tap_survey *s)
{
	tap_shapes_release(&s->shapes);
	free(s->cpus);
	s->cpus = NULL;
}

void tap_survey_release(struct tap_survey *s)
{
	release_inside(s);
	for (unsigned int i = 0; i < TAP_MAX_TIDS / TAP_SURVEY_TIDS; i++)
		free(s->tids[i]);
	free(s->kinds);
	free(s->losses);
	free(s->breaks);
	free(s->holes);
	*s = (struct tap_survey){ 0 };
}

/* Return: NULL when out of memory. */
static struct tap_survey_cpu *get_cpu(struct tap_survey *s, unsigned int cpu)
{
	if (cpu >= s->cap_cpus) {
		unsigned int cap = s->cap_cpus ? s->cap_cpus : 8;
		struct tap_survey_cpu *grown;

		while (cap <= cpu)
			cap *= 2;
		grown = reallocarray(s->cpus, cap, sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + s->cap_cpus, 0, (cap - s->cap_cpus) * sizeof(*grown));
		s->cpus = grown;
		s->cap_cpus = cap;
	}
	if (cpu >= s->nr_cpus)
		s->nr_cpus = cpu + 1;
	return &s->cpus[cpu];
}

/* Hidden as far as is known by now. */
static bool is_hidden(const struct tap_survey *s, int tid, uint8_t ins)
{
	const struct tap_survey_tid *t = tid ? tap_survey_tid(s, tid) : NULL;

	return t && t->ins >= ins && !t->at_work;
}

/* The same of whom a CPU ran; each CPU has an idle task of its own. */
static bool is_hidden_on(const struct tap_survey *s, int cpu, int tid, uint8_t ins)
{
	const struct tap_survey_cpu *c = &s->cpus[cpu];

	return tid ? is_hidden(s, tid, ins) : c->idle_ins >= ins && !c->idle_at_work;
}

static __attribute__((noinline)) struct tap_survey_tid *add_tids(struct tap_survey *s, int tid)
{
	if ((unsigned int)tid >= TAP_MAX_TIDS)
		return &s->nobody;
	s->tids[(unsigned int)tid / TAP_SURVEY_TIDS] = calloc(TAP_SURVEY_TIDS, sizeof(**s->tids));
	return tap_survey_tid(s, tid);
}

/* Return: NULL when out of memory. */
static inline struct tap_survey_tid *get_tid(struct tap_survey *s, int tid)
{
	struct tap_survey_tid *t = tap_survey_tid(s, tid);

	return __builtin_expect(t != NULL, 1) ? t : add_tids(s, tid);
}

/* Neighbours of one CPU become one. Return: how many are left. */
static unsigned int merge_breaks(struct tap_break *b, unsigned int nr)
{
	unsigned int to = 0;

	for (unsigned int i = 0; i < nr; i++) {
		b[to] = b[i];
		if (i + 1 < nr && b[i + 1].cpu == b[i].cpu && b[i + 1].from_ns >= b[i].from_ns)
			b[to].to_ns = b[++i].to_ns;
		to++;
	}
	return to;
}

static void thin_breaks(struct tap_survey *s)
{
	unsigned int to = 0;

	for (unsigned int i = 0; i < s->nr_breaks; i++)
		if (!is_hidden_on(s, s->breaks[i].cpu, s->breaks[i].tid, HIDDEN_INS))
			s->breaks[to++] = s->breaks[i];
	s->blurred |= to < s->nr_breaks;
	s->nr_breaks = to > TAP_MAX_HOLES / 2 ? merge_breaks(s->breaks, to) : to;
}

static unsigned int merge_losses(struct tap_loss *l, unsigned int nr)
{
	unsigned int to = 0;

	for (unsigned int i = 0; i < nr; i++) {
		l[to] = l[i];
		if (i + 1 < nr && l[i + 1].cpu == l[i].cpu && l[i + 1].buffer == l[i].buffer &&
		    l[i + 1].from_ns >= l[i].from_ns) {
			i++;
			l[to].to_ns = l[i].to_ns;
			l[to].count = l[to].count && l[i].count ? l[to].count + l[i].count : 0;
		}
		to++;
	}
	return to;
}

static int add_break(struct tap_survey *s, int cpu, int tid, uint64_t from_ns, uint64_t to_ns)
{
	if (s->nr_breaks == TAP_MAX_HOLES)
		thin_breaks(s);
	/* those that are merged keep the place: at worst all of them are of different CPUs */
	if (s->nr_breaks == TAP_MAX_HOLES)
		s->wrong = true;
	else if (tap_array_grow(&s->breaks, s->nr_breaks, &s->cap_breaks, sizeof(*s->breaks)))
		return -ENOMEM;
	else
		s->breaks[s->nr_breaks++] = (struct tap_break){ from_ns, to_ns, cpu, tid };
	return 0;
}

static inline int on_switch(struct tap_survey *s, struct tap_survey_cpu *c,
			    const struct tap_shape *shape, const struct tap_event *ev)
{
	int out = tap_num_int(&shape->from, ev), in = tap_num_int(&shape->tid, ev);
	struct tap_survey_tid *left = get_tid(s, out), *came = get_tid(s, in);
	int ret = 0;

	if (!left || !came)
		return -ENOMEM;
	/* its breaks were taken for those of a hidden task, and thrown away */
	if (__builtin_expect(s->blurred, 0) && is_hidden(s, out, HIDDEN_INS))
		s->wrong = true;
	left->at_work = true;
	came->ins += came->ins < UINT8_MAX;
	c->idle_at_work |= !out;
	c->idle_ins += !in && c->idle_ins < UINT8_MAX;
	if (__builtin_expect(c->known && c->tid != out, 0))
		ret = add_break(s, ev->cpu, c->tid, c->since_ns, ev->ts_ns);
	c->known = true;
	c->tid = in;
	c->since_ns = ev->ts_ns;
	return ret;
}

/* A thread that is not the leader took over the leader's tid. */
static void on_exec(struct tap_survey_cpu *c, const struct tap_shape *shape,
		    const struct tap_event *ev)
{
	if (c->known && c->tid == tap_num_int(&shape->from, ev))
		c->tid = tap_num_int(&shape->tid, ev);
}

static int on_loss(struct tap_survey *s, const struct tap_event *ev)
{
	/* a file may lie, and say that it begins after its end */
	uint64_t from = ev->lost.first_ns < ev->ts_ns ? ev->lost.first_ns : ev->ts_ns;
	struct tap_survey_cpu *c = NULL;

	if (ev->cpu >= 0) {
		c = get_cpu(s, (unsigned int)ev->cpu);
		if (!c)
			return -ENOMEM;
		c->known = false;
	}
	/* nothing before it: the oldest events were overwritten, from whenever on */
	if (c && (!c->seen || c->buffer != ev->buffer))
		from = 0;
	if (s->nr_kept_losses == TAP_MAX_HOLES)
		s->nr_kept_losses = merge_losses(s->losses, s->nr_kept_losses);
	if (s->nr_kept_losses == TAP_MAX_HOLES)
		s->wrong = true;
	else if (tap_array_grow(&s->losses, s->nr_kept_losses, &s->cap_losses, sizeof(*s->losses)))
		return -ENOMEM;
	else
		s->losses[s->nr_kept_losses++] = (struct tap_loss){
			.cpu = ev->cpu, .buffer = ev->buffer, .from_ns = from, .to_ns = ev->ts_ns,
			.count = ev->lost.count,
		};
	if (ev->ts_ns < s->start_ns || from > s->end_ns)
		return 0;
	s->nr_losses++;
	s->lost_unknown |= !ev->lost.count;
	if (__builtin_add_overflow(s->lost, ev->lost.count, &s->lost))
		s->lost = UINT64_MAX;
	return 0;
}

bool tap_survey_wants(const struct tap_format *fmt, bool one_buffer)
{
	struct tap_shape shape;

	tap_shape_init(&shape, fmt);
	return shape.kind == TAP_SHAPE_SWITCH || shape.kind == TAP_SHAPE_EXEC ||
	       (!one_buffer && shape.kind != TAP_SHAPE_NONE);
}

int tap_survey_event(struct tap_survey *s, const struct tap_event *ev)
{
	const struct tap_shape *shape;
	struct tap_survey_cpu *c;

	if (ev->cpu >= (int)TAP_MAX_CPUS || (ev->cpu < 0 && ev->fmt))
		return 0;
	if (__builtin_expect(!ev->fmt, 0))
		return on_loss(s, ev);
	shape = s->shapes.by_id[ev->fmt->id];
	if (__builtin_expect(!shape, 0)) {
		shape = tap_shapes_add(&s->shapes, ev->fmt);
		if (!shape)
			return -ENOMEM;
	}
	c = (unsigned int)ev->cpu < s->nr_cpus ? &s->cpus[ev->cpu] : NULL;
	if (__builtin_expect(!c, 0)) {
		c = get_cpu(s, (unsigned int)ev->cpu);
		if (!c)
			return -ENOMEM;
	}
	if (__builtin_expect(!c->seen || c->buffer != ev->buffer, 0))
		*c = (struct tap_survey_cpu){ .seen = true, .buffer = ev->buffer };
	if (ev->buffer < s->buffer[shape->kind])
		s->buffer[shape->kind] = ev->buffer;
	if (shape->kind == TAP_SHAPE_SWITCH)
		return on_switch(s, c, shape, ev);
	if (shape->kind == TAP_SHAPE_EXEC)
		on_exec(c, shape, ev);
	return 0;
}

void tap_survey_note(struct tap_survey *s, const struct tap_format *fmt)
{
	struct tap_shape shape;

	tap_shape_init(&shape, fmt);
	if (s->buffer[shape.kind] == TAP_NO_BUFFER)
		s->buffer[shape.kind] = 0; /* the only one */
}

int tap_survey_count(struct tap_survey *s, const struct tap_format *fmt, uint64_t count)
{
	if (!count)
		return 0;
	if (tap_array_grow(&s->kinds, s->nr_kinds, &s->cap_kinds, sizeof(*s->kinds)))
		return -ENOMEM;
	s->kinds[s->nr_kinds++] = (struct tap_survey_kind){ fmt, count };
	s->events += count;
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct tap_survey_kind *x = a, *y = b;
	int order;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	order = strcmp(x->fmt->system, y->fmt->system);
	return order ? order : strcmp(x->fmt->name, y->fmt->name);
}

static int compare_ns(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

static int compare_losses(const void *a, const void *b)
{
	return compare_ns(((const struct tap_loss *)a)->from_ns,
			  ((const struct tap_loss *)b)->from_ns);
}

static int compare_breaks(const void *a, const void *b)
{
	return compare_ns(((const struct tap_break *)a)->from_ns,
			  ((const struct tap_break *)b)->from_ns);
}

static int compare_holes(const void *a, const void *b)
{
	return compare_ns(((const struct tap_hole *)a)->from_ns,
			  ((const struct tap_hole *)b)->from_ns);
}

bool tap_survey_counts_loss(const struct tap_survey *s, const struct tap_loss *l)
{
	for (unsigned int i = 0; i < TAP_NR_SHAPES; i++)
		if (s->buffer[i] == l->buffer)
			return true;
	return s->buffer[TAP_SHAPE_SWITCH] == TAP_NO_BUFFER;
}

/* If one task is proven to be hidden, then others that were never seen at work are as well. */
static uint8_t hidden_from(const struct tap_survey *s)
{
	for (unsigned int i = 0; i < s->nr_breaks; i++)
		if (is_hidden_on(s, s->breaks[i].cpu, s->breaks[i].tid, HIDDEN_INS))
			return 0;
	return HIDDEN_INS;
}

static void add_hole(struct tap_survey *s, uint64_t from_ns, uint64_t to_ns)
{
	if (to_ns > from_ns)
		s->holes[s->nr_holes++] = (struct tap_hole){ from_ns, to_ns };
}

static void join_holes(struct tap_survey *s)
{
	unsigned int to = 0;

	qsort(s->holes, s->nr_holes, sizeof(*s->holes), compare_holes);
	for (unsigned int i = 1; i < s->nr_holes; i++) {
		if (s->holes[i].from_ns > s->holes[to].to_ns)
			s->holes[++to] = s->holes[i];
		else if (s->holes[i].to_ns > s->holes[to].to_ns)
			s->holes[to].to_ns = s->holes[i].to_ns;
	}
	s->nr_holes = s->nr_holes ? to + 1 : 0;
}

/* A hidden task that was switched in last has left since, or not: nobody knows. */
static int add_open_breaks(struct tap_survey *s, uint8_t hidden)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < s->nr_cpus; i++)
		if (s->cpus[i].known && is_hidden_on(s, (int)i, s->cpus[i].tid, hidden))
			ret = add_break(s, (int)i, s->cpus[i].tid, s->cpus[i].since_ns, UINT64_MAX);
	return ret;
}

static int find_holes(struct tap_survey *s)
{
	uint8_t hidden = hidden_from(s);

	if (add_open_breaks(s, hidden))
		return -ENOMEM;
	s->holes = calloc((size_t)s->nr_kept_losses + s->nr_breaks + 1, sizeof(*s->holes));
	if (!s->holes)
		return -ENOMEM;
	for (unsigned int i = 0; i < s->nr_kept_losses; i++)
		if (tap_survey_counts_loss(s, &s->losses[i])) /* both of its ends are in it */
			add_hole(s, s->losses[i].from_ns, s->losses[i].to_ns + 1);
	for (unsigned int i = 0; i < s->nr_breaks; i++) {
		int tid = s->breaks[i].tid;

		if (is_hidden(s, tid, 0))
			tap_survey_tid(s, tid)->hidden = true;
		if (!is_hidden_on(s, s->breaks[i].cpu, tid, hidden))
			add_hole(s, s->breaks[i].from_ns, s->breaks[i].to_ns);
	}
	s->has_breaks = s->nr_breaks || s->blurred;
	if (s->wrong)
		add_hole(s, 0, UINT64_MAX);
	join_holes(s);
	return 0;
}

int tap_survey_end(struct tap_survey *s)
{
	if (find_holes(s))
		return -ENOMEM;
	if (s->nr_kinds)
		qsort(s->kinds, s->nr_kinds, sizeof(*s->kinds), by_count);
	if (s->nr_kept_losses)
		qsort(s->losses, s->nr_kept_losses, sizeof(*s->losses), compare_losses);
	if (s->nr_breaks)
		qsort(s->breaks, s->nr_breaks, sizeof(*s->breaks), compare_breaks);
	release_inside(s);
	return 0;
}
