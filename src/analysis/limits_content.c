// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/limits_content.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "timeline/sched_fields.h"

/* Fewer may be chance: an event that is missing unseen breaks a chain as well, and the two tasks need not meet elsewhere. */
#define LEAST_LOST 8u

/* Return: whether it is a switch. A loss leaves too much open. */
static bool read_switch(struct tap_limits_content *c, const struct tap_event *ev, int *prev, int *next)
{
	if (!ev->fmt) {
		c->is_whole = true;
		return false;
	}
	if (ev->fmt != c->fmt) {
		bool is_switch = tap_sched_kind(ev->fmt) == TAP_SCHED_SWITCH;

		c->fmt = ev->fmt;
		c->prev = is_switch ? tap_number_field(ev->fmt, "prev_pid") : NULL;
		c->next = is_switch ? tap_number_field(ev->fmt, "next_pid") : NULL;
	}
	if (!c->prev || !c->next)
		return false;
	*prev = (int)tap_field_u64(c->prev, ev->data, ev->size);
	*next = (int)tap_field_u64(c->next, ev->data, ev->size);
	return true;
}

static int put(struct tap_map *tids, int tid)
{
	return tap_map_set(tids, (uint64_t)tid, 1);
}

int tap_limits_content_find(struct tap_limits_content *c, const struct tap_event *ev)
{
	int prev, next, ret = 0;

	if (c->is_whole || !read_switch(c, ev, &prev, &next))
		return 0;
	if (c->has_last && ev->cpu == c->cpu && c->last != prev) {
		ret = put(&c->others, c->last) ?: put(&c->others, prev);
		c->nr_lost++;
	}
	c->has_last = true;
	c->cpu = ev->cpu;
	c->last = next;
	return ret;
}

int tap_limits_content_check(struct tap_limits_content *c, const struct tap_event *ev)
{
	bool prev_is_other, next_is_other;
	int prev, next;

	if (c->is_whole || c->nr_lost < LEAST_LOST || !read_switch(c, ev, &prev, &next))
		return 0;
	prev_is_other = tap_map_get(&c->others, (uint64_t)prev);
	next_is_other = tap_map_get(&c->others, (uint64_t)next);
	c->is_whole = prev_is_other && next_is_other;
	if (prev_is_other == next_is_other)
		return 0;
	return put(&c->recorded, prev_is_other ? next : prev);
}

void tap_limits_content_release(struct tap_limits_content *c)
{
	tap_map_release(&c->others);
	tap_map_release(&c->recorded);
}

json_t *tap_limits_content_only(const struct tap_limits_content *c)
{
	json_t *threads, *only;
	char tid[16];

	/* no filter means the idle task */
	if (c->is_whole || c->nr_lost < LEAST_LOST || !c->recorded.nr || tap_map_get(&c->recorded, 0))
		return NULL;
	threads = json_array();
	tap_map_for_each(&c->recorded, t) {
		snprintf(tid, sizeof(tid), "%llu", (unsigned long long)t->key);
		json_array_append_new(threads, json_string(tid));
	}
	only = json_pack("{s:[], s:o, s:[], s:[], s:b, s:b}", "processes", "threads", threads, "names", "cgroups", "lacks_migrations", 1,
			 "by_content", 1);
	return only;
}
