// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Filters of events. A controller writes a filter into the control file (shared.h); the program
 * copies it and checks the copy, so later changes of the file do not matter. Without a filter, or
 * if it is invalid, all records of the event are written.
 */
#include <sys/mman.h>

#include "tracepoint/internal.h"

/* Indexed by event id; most pages are never touched. */
static struct tap_steps *filters[UINT16_MAX + 1];
struct tap_quick_filter tap_quick_filters[UINT16_MAX + 1];

/*
 * Copy a filter from its slot and check it. Return: NULL: no filter, it is invalid or being
 * written, or out of memory.
 */
static struct tap_steps *copy_filter(char *slot)
{
	struct tap_filter_slot *head = (struct tap_filter_slot *)slot;
	uint32_t stamp = __atomic_load_n(&head->stamp, __ATOMIC_ACQUIRE);
	uint32_t bytes = __atomic_load_n(&head->bytes, __ATOMIC_RELAXED);
	struct tap_steps *list;

	if (!stamp || bytes < sizeof(*list) || bytes > TAP_STEPS_MAX_BYTES)
		return NULL;
	list = tap_pool_get(bytes);
	if (!list)
		return NULL;
	memcpy(list, slot + TAP_FILTER_STEPS, bytes);
	/* reads the stamp: unlike a plain load, this cannot be reordered before the copy */
	if (__atomic_fetch_add(&head->stamp, 0, __ATOMIC_ACQ_REL) == stamp &&
	    tap_steps_check(list, bytes))
		return list;
	tap_pool_put(list, bytes);
	return NULL;
}

static struct tap_steps *load_filter(uint16_t id)
{
	const uint64_t bytes = TAP_FILTER_STEPS + TAP_STEPS_MAX_BYTES;
	char *slot = tap_control_map_at(tap_filter_slot_at(id), bytes);
	struct tap_steps *list;

	if (slot == MAP_FAILED)
		return NULL;
	list = copy_filter(slot);
	munmap(slot, bytes);
	return list;
}

/* @list: NULL: no filter. */
static void set_quick(struct tap_quick_filter *q, const struct tap_steps *list)
{
	static uint32_t turn;
	struct tap_quick_filter now = { 0 };

	__atomic_store_n(&q->what, 0, __ATOMIC_RELAXED);
	if (!list || !tap_steps_quick(list, &now))
		return;
	__atomic_store_n(&q->low, now.low, __ATOMIC_RELEASE);
	__atomic_store_n(&q->span, now.span, __ATOMIC_RELEASE);
	__atomic_store_n(&q->what, now.what | ++turn << 17, __ATOMIC_RELEASE);
}

void tap_filters_take(const struct tracepoint *tp)
{
	/* controllers write no filters for an object that was built before filters existed */
	if (!tap_control || !tap_control_has_filters())
		return;
	for (struct trace_event_call *call = tp->call; call; call = call->next) {
		struct tap_steps *old = filters[call->id], *list = load_filter(call->id);

		set_quick(&tap_quick_filters[call->id], list);
		__atomic_store_n(&filters[call->id], list, __ATOMIC_SEQ_CST);
		__atomic_store_n(&call->filtered, list != NULL, __ATOMIC_RELEASE);
		if (old)
			tap_retire(old, old->bytes);
	}
}

bool tap_filter_passes(const struct trace_event_call *call, const void *rec, size_t size)
{
	const struct tap_steps *list;
	struct tap_thread *self;
	bool passes = true;
	uint64_t was;

	if (__atomic_load_n(&tap_control->shared, __ATOMIC_RELAXED))
		return true;
	self = tap_section_begin(&was);
	if (!self)
		return true;
	list = __atomic_load_n(&filters[call->id], TAP_ORDER_FUNCS);
	if (list)
		passes = tap_steps_match(list, (const unsigned char *)rec, (uint32_t)size);
	tap_section_end(self, was);
	return passes;
}
