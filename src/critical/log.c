// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "critical/log.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/array.h"

#define BLOCK_BYTES ((size_t)2 << 20) /* a huge page: a fault is dear where the hypervisor has part in it */
#define FIRST_ENTRIES 6u
#define MOST_ENTRIES 508u /* 4 KiB, with what stands before them */
#define BY_BITS 28u

/*
 * A state of the task and how long it lasted. Of one that lasted for more than .ns can say, the entry before holds the
 * upper half, and has no state.
 */
struct tap_log_entry {
	uint32_t ns;
	unsigned int state : 4, by : BY_BITS;
};

#define UPPER_HALF 15u

struct tap_log_chunk {
	struct tap_log_chunk *before, *behind;
	uint64_t from_ns;
	uint32_t nr, cap;
	struct tap_log_entry entries[];
};

void tap_critical_log_release(struct tap_critical_log *l)
{
	for (unsigned int i = 0; i < l->nr_blocks; i++)
		free(l->blocks[i]);
	free(l->blocks);
	free(l->tasks);
}

/* ---- writing ---------------------------------------------------------------------------------- */

/* Return: NULL when out of memory. */
static void *get_bytes(struct tap_critical_log *l, size_t bytes)
{
	void *block;

	if (!l->nr_blocks || l->used + bytes > BLOCK_BYTES) {
		if (tap_array_grow(&l->blocks, l->nr_blocks, &l->cap_blocks, sizeof(*l->blocks)))
			return NULL;
		block = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);
		if (!block)
			return NULL;
		madvise(block, BLOCK_BYTES, MADV_HUGEPAGE);
		l->blocks[l->nr_blocks++] = block;
		l->used = 0;
	}
	l->used += bytes;
	return (char *)l->blocks[l->nr_blocks - 1] + l->used - bytes;
}

/* Tasks that do little have little; those that do much, large ones. Return: 0 or -ENOMEM. */
static int add_chunk(struct tap_critical_log *l, struct tap_task_log *t)
{
	uint32_t cap = t->last ? t->last->cap * 2 + 4 : FIRST_ENTRIES;
	struct tap_log_chunk *c;

	if (cap > MOST_ENTRIES)
		cap = MOST_ENTRIES;
	c = get_bytes(l, sizeof(*c) + cap * sizeof(*c->entries));
	if (!c)
		return -ENOMEM;
	*c = (struct tap_log_chunk){ .before = t->last, .from_ns = t->to_ns, .cap = cap };
	if (t->last)
		t->last->behind = c;
	t->last = c;
	return 0;
}

/* The task was in this state since what was told last. */
static int add(struct tap_critical_log *l, struct tap_task_log *t, unsigned int state, uint32_t by, uint64_t to_ns)
{
	uint64_t ns = to_ns - t->to_ns;
	bool is_long = ns > UINT32_MAX;
	struct tap_log_chunk *c = t->last;

	if (!c || c->nr + is_long >= c->cap) {
		if (add_chunk(l, t))
			return -ENOMEM;
		c = t->last;
	}
	if (is_long)
		c->entries[c->nr++] = (struct tap_log_entry){ .ns = (uint32_t)(ns >> 32), .state = UPPER_HALF };
	c->entries[c->nr++] = (struct tap_log_entry){ .ns = (uint32_t)ns, .state = state, .by = by };
	t->to_ns = to_ns;
	return 0;
}

static struct tap_task_log *log_of(struct tap_critical_log *l, const struct tap_task *task)
{
	return tap_array_at(&l->tasks, &l->nr_tasks, task->index, sizeof(*l->tasks), NULL);
}

int tap_critical_log_wakeup(struct tap_critical_log *l, const struct tap_task *task, uint32_t by, bool is_new)
{
	struct tap_task_log *t = log_of(l, task);

	if (!t)
		return -ENOMEM;
	t->woken_by = by < 1u << BY_BITS ? by : TAP_WOKEN_NOT_KNOWN;
	if (is_new && !t->last)
		t->born_by = t->woken_by;
	return 0;
}

static struct tap_log_entry *last_of(const struct tap_task_log *t)
{
	return t->last ? &t->last->entries[t->last->nr - 1] : NULL;
}

/* The sleep that was told last is not certain any more: whatever ended it was in vain. */
static void take_back(struct tap_task_log *t, enum tap_state state)
{
	struct tap_log_entry *last = last_of(t);

	if (last && last->state == state)
		last->state = TAP_UNKNOWN;
}

int tap_critical_log_stretch(struct tap_critical_log *l, const struct tap_stretch *s)
{
	struct tap_task_log *t = log_of(l, s->task);
	uint32_t by = TAP_WOKEN_NOT_KNOWN;

	if (!t)
		return -ENOMEM;
	if (s->back != TAP_UNKNOWN)
		take_back(t, s->back);
	if (!t->last)
		t->from_ns = t->to_ns = s->from_ns;
	if (s->to_ns <= t->to_ns)
		return 0;
	if (s->from_ns > t->to_ns && add(l, t, TAP_UNKNOWN, TAP_WOKEN_NOT_KNOWN, s->from_ns))
		return -ENOMEM;
	if (tap_state_is_sleep(s->state))
		by = s->next == TAP_WAKING ? t->woken_by : s->next == s->state ? TAP_WOKEN_NOT_YET : TAP_WOKEN_NOT_KNOWN;
	return add(l, t, s->state, by, s->to_ns);
}

void tap_critical_log_correct(struct tap_critical_log *l, const struct tap_task *task, enum tap_woken by)
{
	struct tap_log_entry *last = task->index < l->nr_tasks ? last_of(&l->tasks[task->index]) : NULL;

	if (last && tap_state_is_sleep(last->state) && (last->by >= TAP_WOKEN_BY_TASK || last->by == TAP_WOKEN_INTERRUPT))
		last->by = by;
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* The last entry of a chunk that ends at @to_ns, or the one before @p->entry. */
static void read_entry(struct tap_log_place *p, const struct tap_log_chunk *c, unsigned int entry, uint64_t to_ns)
{
	const struct tap_log_entry *e = &c->entries[entry];
	uint64_t ns = e->ns;

	if (entry && e[-1].state == UPPER_HALF) {
		ns |= (uint64_t)e[-1].ns << 32;
		entry--;
	}
	*p = (struct tap_log_place){
		.chunk = c, .entry = entry, .from_ns = to_ns - ns, .to_ns = to_ns, .state = e->state, .woken_by = e->by,
	};
}

/* To the last entry of the chunk in which there is something from before @ns. Return: whether there is one. */
static bool find_chunk(const struct tap_task_log *t, struct tap_log_place *p, uint64_t ns)
{
	const struct tap_log_chunk *c = p->chunk ? p->chunk : t->last;

	while (c && c->from_ns >= ns)
		c = c->before;
	while (c && c->behind && c->behind->from_ns < ns)
		c = c->behind;
	if (c)
		read_entry(p, c, c->nr - 1, c->behind ? c->behind->from_ns : t->to_ns);
	return c;
}

const struct tap_log_place *tap_critical_log_before(struct tap_critical_log *l, unsigned int task, uint64_t ns)
{
	struct tap_task_log *t = task < l->nr_tasks ? &l->tasks[task] : NULL;
	struct tap_log_place *p = t ? &t->place : NULL;

	if (!p)
		return NULL;
	if ((!p->chunk || p->to_ns < ns || p->chunk->from_ns >= ns) && !find_chunk(t, p, ns))
		return NULL;
	while (p->from_ns >= ns)
		read_entry(p, p->chunk, p->entry - 1, p->from_ns);
	return p;
}
