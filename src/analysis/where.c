// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/where.h"

#include <errno.h>
#include <stdlib.h>

struct tap_where_cpu {
	uint64_t told_ns; /* stretches are known up to here; UINT64_MAX: none will come before */
	enum tap_where_what what; /* as the last change told it */
	const struct tap_task *task;
};

/* Return: NULL when out of memory. */
static struct tap_where_cpu *cpu_get(struct tap_where *w, unsigned int cpu)
{
	if (cpu >= w->nr_cpus) {
		struct tap_where_cpu *cpus = reallocarray(w->cpu_state, cpu + 1, sizeof(*cpus));

		if (!cpus)
			return NULL;
		/* a CPU that nobody has seen is unknown until it is seen: nothing waits for it */
		for (unsigned int i = w->nr_cpus; i <= cpu; i++)
			cpus[i] = (struct tap_where_cpu){ .told_ns = UINT64_MAX };
		w->cpu_state = cpus;
		w->nr_cpus = cpu + 1;
	}
	return &w->cpu_state[cpu];
}

static int start(struct tap_where *w)
{
	unsigned int nr;
	const struct tap_cpu *cpus = w->cpus(w->ctx, &nr);

	w->started = true;
	if (nr && !cpu_get(w, nr - 1))
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++)
		if (cpus[i].seen)
			w->cpu_state[i].told_ns = w->start_ns;
	w->safe_ns = w->start_ns;
	return 0;
}

static bool before(const struct tap_where_change *a, const struct tap_where_change *b)
{
	return a->ts_ns != b->ts_ns ? a->ts_ns < b->ts_ns : a->cpu < b->cpu;
}

static int heap_push(struct tap_where *w, const struct tap_where_change *c)
{
	size_t i = w->nr, up;

	if (w->nr == w->cap) {
		size_t cap = w->cap ? w->cap * 2 : 256;
		struct tap_where_change *heap = reallocarray(w->heap, cap, sizeof(*heap));

		if (!heap)
			return -ENOMEM;
		w->heap = heap;
		w->cap = cap;
	}
	w->nr++;
	for (; i && before(c, &w->heap[up = (i - 1) / 2]); i = up)
		w->heap[i] = w->heap[up];
	w->heap[i] = *c;
	return 0;
}

static struct tap_where_change heap_pop(struct tap_where *w)
{
	struct tap_where_change top = w->heap[0], last = w->heap[--w->nr];
	size_t i = 0, down;

	while ((down = 2 * i + 1) < w->nr) {
		if (down + 1 < w->nr && before(&w->heap[down + 1], &w->heap[down]))
			down++;
		if (!before(&w->heap[down], &last))
			break;
		w->heap[i] = w->heap[down];
		i = down;
	}
	w->heap[i] = last;
	return top;
}

/* Tells what begins before .safe_ns, unless the CPU shows it already. */
static int tell(struct tap_where *w)
{
	int ret = 0;

	while (!ret && w->nr && w->heap[0].ts_ns < w->safe_ns) {
		struct tap_where_change c = heap_pop(w);
		struct tap_where_cpu *cpu = &w->cpu_state[c.cpu];

		if (cpu->what == c.what && cpu->task == c.task)
			continue;
		cpu->what = c.what;
		cpu->task = c.task;
		ret = w->change(w->ctx, &c);
	}
	return ret;
}

/* @task: NULL: the CPU is idle. */
static void show(const struct tap_where *w, struct tap_where_change *c, const struct tap_task *task)
{
	c->what = !task ? TAP_WHERE_IDLE : w->wants(w->ctx, task) ? TAP_WHERE_RUN : TAP_WHERE_OTHER;
	c->task = c->what == TAP_WHERE_RUN ? task : NULL;
}

/* @cpu is known up to @ns. */
static void move_on(struct tap_where *w, struct tap_where_cpu *cpu, uint64_t ns)
{
	bool was_last = cpu->told_ns <= w->safe_ns;

	cpu->told_ns = ns;
	if (!was_last)
		return;
	w->safe_ns = ns;
	for (unsigned int i = 0; i < w->nr_cpus; i++)
		if (w->cpu_state[i].told_ns < w->safe_ns)
			w->safe_ns = w->cpu_state[i].told_ns;
}

/* The first CPU that changes wait for is told as it is now, up to @now_ns. */
static int force(struct tap_where *w, uint64_t now_ns)
{
	unsigned int nr;
	const struct tap_cpu *cpus = w->cpus(w->ctx, &nr);
	struct tap_where_cpu *cpu = w->cpu_state;
	struct tap_where_change c = { 0 };
	int ret;

	while (cpu->told_ns != w->safe_ns)
		cpu++;
	c.cpu = (int)(cpu - w->cpu_state);
	c.ts_ns = cpu->told_ns;
	if (c.cpu < (int)nr && cpus[c.cpu].offline)
		c.what = TAP_WHERE_OFFLINE;
	else if (c.cpu < (int)nr && cpus[c.cpu].known)
		show(w, &c, cpus[c.cpu].task);
	ret = heap_push(w, &c);
	move_on(w, cpu, now_ns);
	return ret ? ret : tell(w);
}

static int on_cpu(void *ctx, const struct tap_cpu_stretch *s)
{
	struct tap_where *w = ctx;
	struct tap_where_change c = { .ts_ns = s->from_ns, .cpu = s->cpu };
	struct tap_where_cpu *cpu;
	int ret = w->started ? 0 : start(w);

	if (ret)
		return ret;
	cpu = cpu_get(w, (unsigned int)s->cpu);
	if (!cpu)
		return -ENOMEM;
	if (c.ts_ns < cpu->told_ns && cpu->told_ns != UINT64_MAX) /* its beginning was told */
		c.ts_ns = cpu->told_ns;
	if (s->what == TAP_CPU_OFFLINE)
		c.what = TAP_WHERE_OFFLINE;
	else if (s->what != TAP_CPU_UNKNOWN)
		show(w, &c, s->task);
	if (s->to_ns > c.ts_ns)
		ret = heap_push(w, &c);
	if (ret)
		return ret;
	move_on(w, cpu, s->to_ns);
	ret = tell(w);
	while (!ret && w->nr > TAP_WHERE_MAX && w->safe_ns < s->to_ns)
		ret = force(w, s->to_ns);
	return ret;
}

const struct tap_observer tap_where_observer = { .cpu = on_cpu };

int tap_where_end(struct tap_where *w)
{
	w->safe_ns = UINT64_MAX;
	return tell(w);
}

void tap_where_release(struct tap_where *w)
{
	free(w->cpu_state);
	free(w->heap);
}

unsigned int tap_where_name(char name[TAP_WHERE_NAME], uint64_t n)
{
	static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789";
	const unsigned int nr_letters = 52, nr_chars = 62;
	uint64_t nr_names = nr_letters * nr_chars; /* of this length */
	unsigned int len = 2;

	for (; n >= nr_names; len++) {
		n -= nr_names;
		nr_names *= nr_chars;
	}
	name[0] = chars[n % nr_letters];
	n /= nr_letters;
	for (unsigned int i = 1; i < len; i++, n /= nr_chars)
		name[i] = chars[(n + nr_letters) % nr_chars]; /* digits first */
	name[len] = '\0';
	return len;
}
