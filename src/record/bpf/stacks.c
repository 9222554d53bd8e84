// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/bpf/stacks.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "base/clock.h"
#include "record/bpf/planned.h"
#include "record/object/object.h"

#define LOOK_NS 500000000u /* plus the same for each MiB of texts, which each new head repeats */
#define LOOK_SHIFT 20
#define LOG_BYTES (1u << 20) /* new stacks between two drains: a thousand of full depth */

uint32_t tap_bpf_stacks_constant(const struct tap_stack_kinds *kinds)
{
	return (kinds->kernel ? TAP_STACK_KERNEL : 0) | (kinds->user ? TAP_STACK_USER : 0) |
	       kinds->depth << TAP_STACK_DEPTH_SHIFT;
}

static int set_constants(struct bpf_object *obj, const struct tap_plan *plan)
{
	uint32_t of[TAP_STACK_EVENTS] = { 0 }, max = TAP_STACKS_MAX, sets = TAP_STACK_LOOK_SETS;
	uint64_t bytes = LOG_BYTES, seed;
	bool own = false;
	int ret;

	for (unsigned int i = 0; i < plan->nr_events; i++) {
		const struct tap_plan_event *ev = &plan->events[i];

		if (ev->backend->kind != TAP_BY_BPF || !ev->stacks.depth)
			continue;
		if (tap_def_is_built_in(ev->def))
			of[tap_bpf_index(ev->def)] = tap_bpf_stacks_constant(&ev->stacks);
		else
			own = true;
	}
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		return -errno;
	ret = tap_bpf_set(obj, "tap_stacks_of", of, sizeof(of));
	ret = ret ?: tap_bpf_set(obj, "tap_own_has_stacks", &own, sizeof(own));
	ret = ret ?: tap_bpf_set(obj, "tap_stacks_max", &max, sizeof(max));
	ret = ret ?: tap_bpf_set(obj, "tap_stack_log_bytes", &bytes, sizeof(bytes));
	ret = ret ?: tap_bpf_set(obj, "tap_stack_look_sets", &sets, sizeof(sets));
	return ret ?: tap_bpf_set(obj, "tap_stack_seed", &seed, sizeof(seed));
}

int tap_bpf_stacks_size(struct bpf_object *obj, const struct tap_plan *plan)
{
	struct bpf_map *log = bpf_object__find_map_by_name(obj, "tap_stack_log");
	struct bpf_map *numbers = bpf_object__find_map_by_name(obj, "tap_stack_numbers");
	struct bpf_map *seen = bpf_object__find_map_by_name(obj, "tap_stacks_seen");
	int ret;

	if (!plan->has_stacks)
		return 0;
	ret = bpf_map__set_value_size(log, TAP_RING_DATA + LOG_BYTES + TAP_RING_SLACK);
	ret = ret ?: bpf_map__set_max_entries(numbers, TAP_STACKS_MAX);
	if (TAP_STACK_LOOK_SETS)
		ret = ret ?: bpf_map__set_max_entries(seen, TAP_STACK_LOOK_SETS * TAP_STACK_WAYS);
	return ret ?: set_constants(obj, plan);
}

/* If memory runs out, nothing is reported. */
static void note_hidden(struct tap_plan *plan)
{
	for (unsigned int i = 0; i < plan->nr_events; i++) {
		struct tap_plan_event *ev = &plan->events[i];

		if (ev->backend->kind == TAP_BY_BPF && ev->stacks.kernel && !ev->note) {
			ev->note = strdup(
				"stacks: kernel functions have no names because /proc/kallsyms "
				"hides addresses (kernel.kptr_restrict; cap_syslog)");
			return;
		}
	}
}

int tap_bpf_stacks_open(struct tap_bpf_stacks *s, const struct bpf_object *obj,
			struct tap_plan *plan, struct tap_err *err)
{
	int ret;

	if (!plan->has_stacks)
		return 0;
	s->ring_bytes = LOG_BYTES;
	s->log_bytes = TAP_RING_DATA + LOG_BYTES + TAP_RING_SLACK;
	s->log = tap_bpf_map_array(obj, "tap_stack_log", s->log_bytes);
	s->seen_bytes = TAP_STACK_LOOK_SETS * TAP_STACK_WAYS * sizeof(*s->seen);
	if (s->seen_bytes)
		s->seen = tap_bpf_map_array(obj, "tap_stacks_seen", s->seen_bytes);
	if (!s->log || (s->seen_bytes && !s->seen))
		return tap_err_set(err, -errno, "cannot map the BPF map that holds the stacks: %m");
	ret = tap_stacks_new(&s->table, err);
	if (!ret && !tap_stacks_name_kernel(s->table))
		note_hidden(plan);
	return ret;
}

static void take_shown(struct tap_bpf_stacks *s, const struct tap_stack_shown *shown,
		       unsigned int len)
{
	struct tap_stack_seen seen;
	unsigned int nr;

	if (!s->seen || len < sizeof(*shown))
		return;
	nr = (unsigned int)((len - sizeof(*shown)) / sizeof(*shown->addrs));
	if (tap_stack_sights_add(&s->sights, shown,
				 tap_stacks_count_own(s->table, shown->addrs, nr), nr, &seen))
		tap_stack_sights_put(&s->sights, s->seen, &seen);
}

int tap_bpf_stacks_drain(struct tap_bpf_stacks *s, struct tap_err *err)
{
	struct tap_ring *ring = (struct tap_ring *)s->log;
	uint64_t head, tail;
	int ret = 0;

	if (!s->log)
		return 0;
	/* read once: a task that makes new stacks all the time must not keep the drain here */
	head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	tap_stacks_retry(s->table);
	for (tail = ring->tail; !ret && tail != head;) {
		unsigned char *at = s->log + TAP_RING_DATA + (tail & (s->ring_bytes - 1));
		uint32_t word = __atomic_load_n((uint32_t *)at, __ATOMIC_ACQUIRE),
			 space = word & 0xffff;
		const struct tap_stack_new *stack =
			(const struct tap_stack_new *)(at + sizeof(struct tap_rec));

		if (!word)
			break; /* reserved, not committed */
		if (stack->number)
			ret = tap_stacks_add(
				s->table, stack,
				(unsigned int)(((word >> 16) - sizeof(*stack)) / sizeof(uint64_t)));
		else
			take_shown(s, (const struct tap_stack_shown *)stack, word >> 16);
		memset(at, 0, space);
		tail += space;
		__atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
	}
	return ret ? tap_err_set(err, ret, "out of memory") : 0;
}

static int name_stacks(struct tap_spool *spool, void *ctx, uint64_t arg, struct tap_err *err)
{
	(void)spool;
	(void)arg;
	(void)err;
	tap_stacks_name(ctx);
	return 0;
}

bool tap_bpf_stacks_find(struct tap_bpf_stacks *s, struct tap_page_writer *writer)
{
	uint64_t now = tap_now_ns();
	bool news = false;

	if (!s->table ||
	    now - s->looked_ns < LOOK_NS * (1 + (tap_stacks_count(s->table).bytes >> LOOK_SHIFT)))
		return false;
	s->looked_ns = now;
	if (tap_stacks_hand_over(s->table, &news))
		tap_page_writer_call(writer, name_stacks, s->table, 0);
	return news;
}

void tap_bpf_stacks_add_price(const struct tap_bpf_stacks *s, uint64_t records, json_t *price)
{
	const struct tap_stack_counts *log;
	struct tap_stacks_count count;

	if (!s->table)
		return;
	log = (const struct tap_stack_counts *)(s->log + TAP_STACK_COUNTS_AT);
	count = tap_stacks_count(s->table);
	json_object_set_new(price, "stacks",
			    json_pack("{s:I, s:I, s:I, s:I, s:I}", "records", (json_int_t)records,
				      "distinct", (json_int_t)count.nr, "text_bytes",
				      (json_int_t)count.bytes, "not_kept",
				      (json_int_t)(log->full + count.without), "not_read",
				      (json_int_t)log->unread));
}

void tap_bpf_stacks_release(struct tap_bpf_stacks *s)
{
	if (s->log)
		munmap(s->log, s->log_bytes);
	if (s->seen)
		munmap(s->seen, s->seen_bytes);
	tap_stack_sights_release(&s->sights);
	tap_stacks_free(s->table);
	*s = (struct tap_bpf_stacks){ 0 };
}
