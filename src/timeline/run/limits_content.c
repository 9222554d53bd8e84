// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/limits_content.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "timeline/sched_fields.h"

/*
 * With fewer, chance is possible: an event that is missing without a recorded loss looks the same.
 */
#define LEAST_MISSED 8u

/* Return true if @ev is a switch. */
static bool read_switch(struct tap_limits_content *c, const struct tap_event *ev, int *prev,
			int *next)
{
	if (!ev->fmt) {
		c->has_losses = true;
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

static uint64_t key_of(int prev, int next)
{
	return (uint64_t)(uint32_t)prev << 32 | (uint32_t)next;
}

int tap_limits_content_event(struct tap_limits_content *c, const struct tap_event *ev)
{
	int prev, next, ret;
	uint64_t *missed;

	if (c->has_losses || !read_switch(c, ev, &prev, &next))
		return 0;
	ret = tap_map_set(&c->switches, key_of(prev, next), 1)
		      ?: tap_map_set(&c->left, (uint32_t)prev, 1);
	if (!ret && c->has_last && ev->cpu == c->cpu && c->last != prev) {
		missed = tap_map_put(&c->missed, (uint32_t)c->last);
		if (!missed || tap_map_set(&c->came, (uint32_t)prev, 1))
			return -ENOMEM;
		++*missed;
	}
	c->has_last = true;
	c->cpu = ev->cpu;
	c->last = next;
	return ret;
}

void tap_limits_content_release(struct tap_limits_content *c)
{
	tap_map_release(&c->switches);
	tap_map_release(&c->missed);
	tap_map_release(&c->came);
	tap_map_release(&c->left);
}

/* Return true if the task cannot be a recorded one, provided that the recording is limited. */
static bool is_other(const struct tap_limits_content *c, uint64_t tid, bool any_hidden)
{
	if (any_hidden)
		return tap_map_get(&c->missed, tid) && tap_map_get(&c->left, tid);
	return tap_map_get(&c->missed, tid) || tap_map_get(&c->came, tid);
}

/*
 * Find the tasks that switch with unrecorded tasks. Return: 0; -EINVAL if two unrecorded tasks
 * switch with each other; -ENOMEM.
 */
static int find_recorded(const struct tap_limits_content *c, bool any_hidden,
			 struct tap_map *recorded)
{
	int ret = 0;

	tap_map_for_each(&c->switches, s) {
		uint64_t prev = s->key >> 32, next = (uint32_t)s->key;
		bool prev_is_other = is_other(c, prev, any_hidden),
		     next_is_other = is_other(c, next, any_hidden);

		if (prev_is_other && next_is_other)
			return -EINVAL;
		if (!ret && prev_is_other != next_is_other)
			ret = tap_map_set(recorded, prev_is_other ? next : prev, 1);
	}
	return ret;
}

/* Return true if some switch involves no recorded task. */
static bool is_contradicted(const struct tap_limits_content *c, const struct tap_map *recorded)
{
	tap_map_for_each(&c->switches, s)
		if (!tap_map_get(recorded, s->key >> 32) &&
		    !tap_map_get(recorded, (uint32_t)s->key))
			return true;
	return false;
}

static uint64_t nr_missed(const struct tap_limits_content *c, bool any_hidden)
{
	uint64_t nr = 0;

	tap_map_for_each(&c->missed, m)
		nr += is_other(c, m->key, any_hidden) ? m->value : 0;
	return nr;
}

static json_t *make_only(const struct tap_map *recorded)
{
	json_t *threads = json_array();
	char tid[16];

	tap_map_for_each(recorded, t) {
		snprintf(tid, sizeof(tid), "%llu", (unsigned long long)t->key);
		json_array_append_new(threads, json_string(tid));
	}
	return json_pack("{s:[], s:o, s:[], s:[], s:b, s:b}", "processes", "threads", threads,
			 "names", "cgroups", "lacks_migrations", 1, "by_content", 1);
}

/* One attempt of tap_limits_content_only(), with or without hidden tasks. */
static int recognise_limits(const struct tap_limits_content *c, bool any_hidden, json_t **only)
{
	struct tap_map recorded = { 0 };
	int ret;

	if (c->has_losses || nr_missed(c, any_hidden) < LEAST_MISSED)
		return 0;
	ret = find_recorded(c, any_hidden, &recorded);
	/* no filter selects the idle task */
	if (!ret && recorded.nr && !tap_map_get(&recorded, 0) && !is_contradicted(c, &recorded)) {
		*only = make_only(&recorded);
		ret = *only ? 0 : -ENOMEM;
	}
	tap_map_release(&recorded);
	return ret == -ENOMEM ? ret : 0;
}

int tap_limits_content_only(const struct tap_limits_content *c, json_t **only)
{
	int ret;

	*only = NULL;
	ret = recognise_limits(c, false, only);
	return ret || *only ? ret : recognise_limits(c, true, only);
}
