// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "base/array.h"
#include "file/perfetto/trace.h"

#define MAX_NAMES 65536u /* of a bundle, far above those of real ones */

static const char no_comm[TAP_PFT_COMM];

static void add_name(struct tap_pft *t, const struct tap_proto_in *name)
{
	if (t->nr_names == MAX_NAMES)
		return;
	if (tap_array_grow(&t->names, t->nr_names, &t->cap_names, sizeof(*t->names))) {
		tap_made_fail(t->made, -ENOMEM, "not enough memory");
		return;
	}
	tap_pft_copy_comm(t->names[t->nr_names++], name);
}

/* Read the next number of a column. Return: false: it has no more, or is damaged. */
static inline bool take(struct tap_pft_compact *c, unsigned int column, uint64_t *v)
{
	struct tap_proto_in *in = &c->columns[column];
	const unsigned char *p = tap_proto_get_varint(in->at, in->end, v);

	if (!p)
		return false;
	in->at = p;
	return true;
}

static inline const char *name_of(const struct tap_pft *t, uint64_t index)
{
	return index < t->nr_names ? t->names[index] : no_comm;
}

/* Begin a row of switches or wakings: there is one if the column of times has one more. */
static bool begin_row(struct tap_pft_compact *c, unsigned int times, uint64_t *delta)
{
	if (take(c, times, delta))
		return true;
	c->bad |= c->columns[times].at < c->columns[times].end;
	return false;
}

void tap_pft_compact_next_switch(struct tap_pft *t, struct tap_pft_compact *c)
{
	struct tap_pft_switch *s = &c->next_switch;
	uint64_t delta, state, next, prio, name;

	c->has_switch = begin_row(c, NR_COMPACT_SWITCH_TIME, &delta);
	if (!c->has_switch)
		return;
	c->has_switch =
		take(c, NR_COMPACT_PREV_STATE, &state) && take(c, NR_COMPACT_NEXT_PID, &next) &&
		take(c, NR_COMPACT_NEXT_PRIO, &prio) && take(c, NR_COMPACT_NEXT_NAME, &name);
	c->bad |= !c->has_switch;
	if (!c->has_switch)
		return;
	s->ts_ns += delta;
	s->prev_state = (int64_t)state;
	s->next = tap_pft_tid(next);
	s->next_prio = (int)prio;
	s->next_comm = name_of(t, name);
}

void tap_pft_compact_next_waking(struct tap_pft *t, struct tap_pft_compact *c)
{
	struct tap_pft_waking *w = &c->next_waking;
	uint64_t delta, tid, cpu, prio, name, flags = 0;

	c->has_waking = begin_row(c, NR_COMPACT_WAKING_TIME, &delta);
	if (!c->has_waking)
		return;
	c->has_waking =
		take(c, NR_COMPACT_WAKING_PID, &tid) && take(c, NR_COMPACT_WAKING_CPU, &cpu) &&
		take(c, NR_COMPACT_WAKING_PRIO, &prio) && take(c, NR_COMPACT_WAKING_NAME, &name);
	c->bad |= !c->has_waking;
	if (!c->has_waking)
		return;
	take(c, NR_COMPACT_WAKING_FLAGS, &flags); /* older traces have none */
	w->ts_ns += delta;
	w->tid = tap_pft_tid(tid);
	w->target_cpu = (int)cpu;
	w->prio = (int)prio;
	w->comm = name_of(t, name);
	w->flags = (unsigned int)flags;
	w->is_column = true;
}

void tap_pft_compact_begin(struct tap_pft *t, struct tap_pft_compact *c, struct tap_proto_in in)
{
	struct tap_proto_field f;

	t->nr_names = 0;
	while (tap_proto_next(&in, &f)) {
		if (f.type != TAP_PROTO_BYTES)
			c->bad |= f.number < NR_COMPACT_COLUMNS;
		else if (f.number == NR_COMPACT_NAME)
			add_name(t, &f.bytes);
		else if (f.number < NR_COMPACT_COLUMNS && c->columns[f.number].at)
			c->bad = true; /* in several pieces, which no writer makes */
		else if (f.number < NR_COMPACT_COLUMNS)
			c->columns[f.number] = f.bytes;
	}
	c->bad |= in.bad;
	tap_pft_compact_next_switch(t, c);
	tap_pft_compact_next_waking(t, c);
}
