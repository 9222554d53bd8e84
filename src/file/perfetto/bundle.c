// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "file/cursor.h"
#include "file/perfetto/trace.h"

struct bundle {
	uint64_t cpu, clock, ftrace_ns, boot_ns;
	bool has_loss; /* before the bundle's events */
	bool loses; /* an event of the bundle has no time */
	struct tap_proto_in compact;
};

/* Return an event's time; UINT64_MAX: it has none. It is mostly the first field. */
static uint64_t time_of(struct tap_proto_in event)
{
	struct tap_proto_field f;

	while (tap_proto_next(&event, &f))
		if (f.number == NR_EVENT_TIME && f.type == TAP_PROTO_VARINT)
			return f.value;
	return UINT64_MAX;
}

static void keep_event(struct tap_pft *t, struct bundle *b, struct tap_proto_in message)
{
	const uint64_t ts_ns = time_of(message);

	if (ts_ns > TAP_CURSOR_MAX_NS) {
		t->nr_damaged++;
		b->has_loss = b->loses = true;
		return;
	}
	if (tap_array_grow(&t->events, t->nr_events, &t->cap_events, sizeof(*t->events))) {
		tap_made_fail(t->made, -ENOMEM, "not enough memory");
		return;
	}
	t->events[t->nr_events++] = (struct tap_pft_event){ ts_ns, message };
}

static void read_number(struct bundle *b, const struct tap_proto_field *f)
{
	switch (f->number) {
	case NR_BUNDLE_CPU:
		b->cpu = f->value;
		break;
	case NR_BUNDLE_LOST:
		b->has_loss = f->value;
		break;
	case NR_BUNDLE_CLOCK:
		b->clock = f->value;
		break;
	case NR_BUNDLE_FTRACE_TIME:
		b->ftrace_ns = f->value;
		break;
	case NR_BUNDLE_BOOT_TIME:
		b->boot_ns = f->value;
		break;
	}
}

static void read_fields(struct tap_pft *t, struct bundle *b, struct tap_proto_in in)
{
	struct tap_proto_field f;

	t->nr_events = 0;
	while (!t->made->failed && tap_proto_next(&in, &f)) {
		if (f.type != TAP_PROTO_BYTES)
			read_number(b, &f);
		else if (f.number == NR_BUNDLE_EVENT)
			keep_event(t, b, f.bytes);
		else if (f.number == NR_BUNDLE_COMPACT)
			b->compact = f.bytes;
		else if (f.number == NR_BUNDLE_DESCRIPTOR)
			tap_pft_describe(t, f.bytes);
	}
	t->nr_damaged += in.bad;
	b->has_loss |= in.bad;
}

/* qsort() order: by time; events of one time in the file's order. */
static int compare_events(const void *a, const void *b)
{
	const struct tap_pft_event *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->message.at < y->message.at ? -1 : x->message.at > y->message.at;
}

static void sort_events(struct tap_pft *t)
{
	for (unsigned int i = 1; i < t->nr_events; i++)
		if (t->events[i].ts_ns < t->events[i - 1].ts_ns) {
			qsort(t->events, t->nr_events, sizeof(*t->events), compare_events);
			return;
		}
}

/*
 * Return true if the next waking of the columns comes before the next switch. Of the same time: if
 * it wakes the task that is switched in.
 */
static bool is_waking_first(const struct tap_pft_compact *c)
{
	const struct tap_pft_switch *s = &c->next_switch;
	const struct tap_pft_waking *w = &c->next_waking;

	if (!c->has_switch || !c->has_waking)
		return c->has_waking;
	return w->ts_ns < s->ts_ns || (w->ts_ns == s->ts_ns && w->tid == s->next);
}

/* Add rows of the columns up to this time. */
static void add_rows(struct tap_pft *t, unsigned int cpu, struct tap_pft_compact *c,
		     uint64_t until_ns)
{
	while (!t->made->failed && (c->has_switch || c->has_waking)) {
		if (is_waking_first(c)) {
			struct tap_pft_cpu *on = tap_pft_cpu(t, cpu);

			if (!on || c->next_waking.ts_ns > until_ns)
				return;
			c->next_waking.by = tap_pft_running(on);
			tap_pft_add_waking(t, cpu, &c->next_waking);
			tap_pft_compact_next_waking(t, c);
		} else {
			if (c->next_switch.ts_ns > until_ns)
				return;
			tap_pft_add_switch(t, cpu, c->next_switch, true);
			tap_pft_compact_next_switch(t, c);
		}
	}
}

void tap_pft_bundle(struct tap_pft *t, struct tap_proto_in in)
{
	struct tap_pft_compact c = { 0 };
	struct bundle b = { 0 };
	unsigned int cpu;

	read_fields(t, &b, in);
	cpu = b.cpu < UINT32_MAX ? (unsigned int)b.cpu : UINT32_MAX;
	if (b.compact.at)
		tap_pft_compact_begin(t, &c, b.compact);
	if (b.has_loss)
		tap_made_loss(t->made, cpu, TAP_MADE_UNKNOWN);
	if (!t->nr_events && !c.has_switch && !c.has_waking && !c.bad)
		return;
	tap_pft_bundle_clock(t, b.clock, b.ftrace_ns, b.boot_ns);
	sort_events(t);
	for (unsigned int i = 0; !t->made->failed && i < t->nr_events; i++) {
		add_rows(t, cpu, &c, t->events[i].ts_ns);
		tap_pft_add_event(t, cpu, &t->events[i]);
	}
	add_rows(t, cpu, &c, TAP_CURSOR_MAX_NS);
	t->nr_damaged += c.bad || c.has_switch || c.has_waking;
	if (c.bad || c.has_switch || c.has_waking || b.loses)
		tap_made_loss(t->made, cpu, TAP_MADE_UNKNOWN);
}
