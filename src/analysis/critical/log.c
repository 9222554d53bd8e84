// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/critical/log.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/array.h"

/* A huge page: page faults are expensive in a virtual machine. */
#define BLOCK_BYTES ((size_t)2 << 20)
#define FIRST_WORDS 8u
#define MOST_WORDS 1016u /* a chunk of 4 KiB with its header */

/*
 * A task's log is a sequence of records in time order, which can be read from its end: the last
 * word of a record is the state and the duration. In front of it are, for a sleep, what ended it,
 * and then, if the duration does not fit, its high and its low half.
 */
#define STATE_BITS 4u
#define IS_LONG (1u << STATE_BITS)
#define NS_SHIFT (STATE_BITS + 1)
#define SHORT_NS (UINT32_MAX >> NS_SHIFT)

struct tap_log_chunk {
	struct tap_log_chunk *before, *next;
	uint64_t from_ns;
	uint32_t nr, cap;
	uint32_t words[];
};

void tap_critical_log_release(struct tap_critical_log *l)
{
	for (unsigned int i = 0; i < l->nr_blocks; i++)
		free(l->blocks[i]);
	free(l->blocks);
	free(l->tasks);
}

/* ---- writing ---- */

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

/*
 * Append a chunk. Sizes grow, so that tasks that do little take little memory. Return: 0 or
 * -ENOMEM.
 */
static int add_chunk(struct tap_critical_log *l, struct tap_task_log *t)
{
	uint32_t cap = t->last ? t->last->cap * 2 + 8 : FIRST_WORDS;
	struct tap_log_chunk *c;

	if (cap > MOST_WORDS)
		cap = MOST_WORDS;
	c = get_bytes(l, sizeof(*c) + cap * sizeof(*c->words));
	if (!c)
		return -ENOMEM;
	*c = (struct tap_log_chunk){ .before = t->last, .from_ns = t->to_ns, .cap = cap };
	if (t->last)
		t->last->next = c;
	t->last = c;
	return 0;
}

/* Add a state that lasted from the end of the last one to @to_ns. */
static int add_state(struct tap_critical_log *l, struct tap_task_log *t, enum tap_state state,
		     uint32_t by, uint64_t to_ns)
{
	uint64_t ns = to_ns - t->to_ns;
	bool is_long = ns > SHORT_NS, is_sleep = tap_state_is_sleep(state);
	struct tap_log_chunk *c = t->last;

	if (!c || c->nr + 1 + is_sleep + 2 * is_long > c->cap) {
		if (add_chunk(l, t))
			return -ENOMEM;
		c = t->last;
	}
	if (is_sleep)
		c->words[c->nr++] = by;
	if (is_long) {
		c->words[c->nr++] = (uint32_t)(ns >> 32);
		c->words[c->nr++] = (uint32_t)ns;
	}
	c->words[c->nr++] = state | (is_long ? IS_LONG : (uint32_t)ns << NS_SHIFT);
	t->to_ns = to_ns;
	return 0;
}

static struct tap_task_log *log_of(struct tap_critical_log *l, const struct tap_task *task)
{
	return tap_array_at(&l->tasks, &l->nr_tasks, task->index, sizeof(*l->tasks), NULL);
}

int tap_critical_log_wakeup(struct tap_critical_log *l, const struct tap_task *task, uint32_t by,
			    bool is_new)
{
	struct tap_task_log *t = log_of(l, task);

	if (!t)
		return -ENOMEM;
	t->woken_by = by;
	if (is_new && !t->last)
		t->born_by = t->woken_by;
	return 0;
}

static enum tap_state state_of(uint32_t word)
{
	return word & (IS_LONG - 1);
}

/* Return the place of what ended the last state if that was a sleep, else NULL. */
static uint32_t *last_woken_by(const struct tap_task_log *t)
{
	struct tap_log_chunk *c = t->last;
	uint32_t word = c ? c->words[c->nr - 1] : 0;

	return c && tap_state_is_sleep(state_of(word)) ? &c->words[c->nr - (word & IS_LONG ? 4 : 2)]
						       : NULL;
}

int tap_critical_log_interval(struct tap_critical_log *l, const struct tap_interval *s)
{
	struct tap_task_log *t = log_of(l, s->task);
	uint32_t by = TAP_WOKEN_NOT_KNOWN, *last_by;

	if (!t)
		return -ENOMEM;
	last_by = s->back != TAP_STATE_UNKNOWN ? last_woken_by(t) : NULL;
	if (last_by) /* the last wakeup was in vain */
		*last_by = TAP_WOKEN_NOT_KNOWN;
	if (!t->last)
		t->from_ns = t->to_ns = s->from_ns;
	if (s->to_ns <= t->to_ns)
		return 0;
	if (s->from_ns > t->to_ns &&
	    add_state(l, t, TAP_STATE_UNKNOWN, TAP_WOKEN_NOT_KNOWN, s->from_ns))
		return -ENOMEM;
	if (tap_state_is_sleep(s->state))
		by = s->next == TAP_STATE_WAKING ? t->woken_by
		     : s->next == s->state	 ? TAP_WOKEN_NOT_YET
						 : TAP_WOKEN_NOT_KNOWN;
	return add_state(l, t, s->state, by, s->to_ns);
}

void tap_critical_log_correct(struct tap_critical_log *l, const struct tap_task *task, uint32_t by)
{
	uint32_t *last_by =
		task->index < l->nr_tasks ? last_woken_by(&l->tasks[task->index]) : NULL;

	if (last_by && *last_by >= TAP_WOKEN_INTERRUPT && by != TAP_WOKEN_INTERRUPT)
		*last_by = by;
	else if (last_by && *last_by >= TAP_WOKEN_BY_TASK)
		*last_by = by;
}

/* ---- reading ---- */

/* Read the record that ends before word @end of the chunk, and at @to_ns. */
static void read_back(struct tap_log_place *p, const struct tap_log_chunk *c, unsigned int end,
		      uint64_t to_ns)
{
	uint32_t word = c->words[--end];
	uint64_t ns = word >> NS_SHIFT;

	if (word & IS_LONG) {
		end -= 2;
		ns = (uint64_t)c->words[end] << 32 | c->words[end + 1];
	}
	p->chunk = c;
	p->state = state_of(word);
	p->woken_by = tap_state_is_sleep(p->state) ? c->words[--end] : TAP_WOKEN_NOT_KNOWN;
	p->word = end;
	p->to_ns = to_ns;
	p->from_ns = to_ns - ns;
}

/* Go to the end of the last chunk that begins before @ns. Return false if there is none. */
static bool find_chunk(const struct tap_task_log *t, struct tap_log_place *p, uint64_t ns)
{
	const struct tap_log_chunk *c = p->chunk ? p->chunk : t->last;

	while (c && c->from_ns >= ns)
		c = c->before;
	while (c && c->next && c->next->from_ns < ns)
		c = c->next;
	if (c)
		read_back(p, c, c->nr, c->next ? c->next->from_ns : t->to_ns);
	return c;
}

const struct tap_log_place *tap_critical_log_before(struct tap_critical_log *l, unsigned int task,
						    uint64_t ns)
{
	struct tap_task_log *t = task < l->nr_tasks ? &l->tasks[task] : NULL;
	struct tap_log_place *p = t ? &t->place : NULL;

	if (!p)
		return NULL;
	if ((!p->chunk || p->to_ns < ns || p->chunk->from_ns >= ns) && !find_chunk(t, p, ns))
		return NULL;
	while (p->from_ns >= ns)
		read_back(p, p->chunk, p->word, p->from_ns);
	return p;
}
