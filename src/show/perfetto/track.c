// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/perfetto/track.h"

#include "base/text.h"
#include "show/perfetto/clock.h"

void tap_tracks_release(struct tap_tracks *t)
{
	tap_map_release(&t->by_key);
}

/* Time stamps are written as differences, which are shorter: nearly all are in order. */
void tap_tracks_begin(struct tap_tracks *t, struct tap_buf *out,
		      const struct tap_pf_machine *machine, uint64_t ns)
{
	const uint64_t at_ns = tap_pf_time(machine, ns);
	size_t packet, part;

	*t = (struct tap_tracks){ .out = out, .machine = machine, .clock_ns = at_ns };
	packet = tap_tracks_packet(t, TAP_PF_INCREMENTAL_CLEARED);
	part = tap_proto_begin(out, TAP_PF_PACKET_CLOCKS);
	tap_proto_clock(out, TAP_PF_CLOCK_BOOTTIME, at_ns, false);
	tap_proto_clock(out, TAP_PF_CLOCK_OF_SEQUENCE, at_ns, true);
	tap_proto_end(out, part);
	part = tap_proto_begin(out, TAP_PF_PACKET_DEFAULTS);
	tap_proto_u64(out, TAP_PF_PACKET_CLOCK_ID, TAP_PF_CLOCK_OF_SEQUENCE);
	tap_proto_end(out, part);
	tap_proto_end(out, packet);
}

size_t tap_tracks_packet(struct tap_tracks *t, unsigned int flags)
{
	size_t packet = tap_pf_packet(t->out, t->machine, TAP_PF_SEQUENCE_TRACKS);

	if (flags)
		tap_proto_u64(t->out, TAP_PF_PACKET_FLAGS, flags);
	return packet;
}

#define STAMP_BYTES (4 * TAP_PROTO_VARINT_BYTES)

/* @p must have room for STAMP_BYTES. */
static unsigned char *write_stamp(struct tap_tracks *t, unsigned char *p, uint64_t ts_ns)
{
	const uint64_t at_ns = tap_pf_time(t->machine, ts_ns);

	/* reported late, such as the beginning of a wait that has ended */
	if (at_ns < t->clock_ns) {
		p = tap_proto_write_u64(p, TAP_PF_PACKET_CLOCK_ID, TAP_PF_CLOCK_BOOTTIME);
		return tap_proto_write_u64(p, TAP_PF_PACKET_TIMESTAMP, at_ns);
	}
	p = tap_proto_write_u64(p, TAP_PF_PACKET_TIMESTAMP, at_ns - t->clock_ns);
	t->clock_ns = at_ns;
	return p;
}

void tap_tracks_stamp(struct tap_tracks *t, uint64_t ts_ns)
{
	if (tap_buf_reserve(t->out, STAMP_BYTES))
		tap_proto_wrote(t->out, write_stamp(t, tap_proto_at(t->out), ts_ns));
}

/* Write the track's name: "CPU 0 util", or "HOST: CPU 0 util" if the trace has several machines. */
static void put_track_name(struct tap_tracks *t, const struct tap_track *track)
{
	size_t name = tap_proto_begin(t->out, TAP_PF_TRACK_NAME);

	if (t->machine->name && !track->is_below) {
		tap_text_utf8(t->out, t->machine->name, strlen(t->machine->name));
		tap_buf_puts(t->out, ": ");
	}
	tap_text_utf8(t->out, track->name, track->len);
	tap_proto_end(t->out, name);
}

uint64_t tap_track_add(struct tap_tracks *t, const struct tap_track *track)
{
	const uint64_t number = tap_pf_unique(t->machine, ++t->nr);
	size_t packet = tap_tracks_packet(t, 0),
	       desc = tap_proto_begin(t->out, TAP_PF_PACKET_TRACK), part;

	tap_proto_u64(t->out, TAP_PF_TRACK_UUID, number);
	if (track->parent)
		tap_proto_u64(t->out, TAP_PF_TRACK_PARENT, track->parent);
	if (track->tgid) {
		part = tap_proto_begin(t->out, TAP_PF_TRACK_THREAD);
		tap_proto_s64(t->out, TAP_PF_THREAD_DESC_PID, track->tgid);
		tap_proto_s64(t->out, TAP_PF_THREAD_DESC_TID, track->tid);
		tap_proto_end(t->out, part);
	} else {
		put_track_name(t, track);
	}
	if (track->unit) {
		part = tap_proto_begin(t->out, TAP_PF_TRACK_COUNTER);
		tap_proto_text(t->out, TAP_PF_COUNTER_UNIT_NAME, track->unit, strlen(track->unit));
		tap_proto_end(t->out, part);
	}
	tap_proto_end(t->out, desc);
	tap_proto_end(t->out, packet);
	return number;
}

/*
 * Mix kind and id. Ids are numbers and addresses of few kinds, so a collision is as unlikely as
 * between random 64-bit numbers.
 */
static uint64_t key_of(unsigned int kind, uint64_t id)
{
	return id * 0x9e3779b97f4a7c15u + kind * 0xbf58476d1ce4e5b9u;
}

uint64_t tap_track_find(const struct tap_tracks *t, unsigned int kind, uint64_t id)
{
	const uint64_t *number = tap_map_get(&t->by_key, key_of(kind, id));

	return number ? *number : 0;
}

uint64_t tap_track(struct tap_tracks *t, const struct tap_track *track)
{
	uint64_t *number = tap_map_put(&t->by_key, key_of(track->kind, track->id));

	if (!number)
		return 0;
	if (!*number)
		*number = tap_track_add(t, track);
	return *number;
}

static void put_name(struct tap_buf *out, unsigned int field, uint64_t number, const char *name)
{
	size_t begun = tap_proto_begin(out, field);

	tap_proto_u64(out, TAP_PF_INTERNED_IID, number);
	tap_proto_text(out, TAP_PF_INTERNED_TEXT, name, strlen(name));
	tap_proto_end(out, begun);
}

uint64_t tap_tracks_intern(struct tap_tracks *t, const char *event, const struct tap_field *fields,
			   unsigned int nr)
{
	const uint64_t first = t->nr_names + 1;
	size_t packet = tap_tracks_packet(t, 0),
	       names = tap_proto_begin(t->out, TAP_PF_PACKET_INTERNED);

	put_name(t->out, TAP_PF_INTERNED_EVENT_NAME, first, event);
	for (unsigned int i = 0; i < nr; i++)
		put_name(t->out, TAP_PF_INTERNED_ANNOTATION_NAME, first + 1 + i, fields[i].name);
	tap_proto_end(t->out, names);
	tap_proto_end(t->out, packet);
	t->nr_names += 1 + nr;
	return first;
}

/*
 * Begin a message of less than 128 bytes, whose length is filled in at its end. @p must have room.
 */
static unsigned char *write_begin(unsigned char *p, unsigned int field)
{
	*p++ = (unsigned char)(field << 3 | TAP_PROTO_BYTES);
	return p + 1;
}

/*
 * Maximum size of a packet up to its event's name: 7 keys and lengths, a sequence, a machine, a
 * track, a name.
 */
#define HEAD_BYTES (STAMP_BYTES + 80u)

/*
 * Begin an event. Events are most of a trace, so they are written with one reservation instead of
 * one per field.
 * @name: interned; 0: none.
 */
static inline __attribute__((always_inline)) struct tap_track_event
begin_event(struct tap_tracks *t, uint64_t track, uint64_t ts_ns, unsigned int type,
	    unsigned int flags, uint64_t name)
{
	struct tap_track_event ev = { 0 };
	unsigned char *p;

	if (!tap_buf_reserve(t->out, HEAD_BYTES))
		return ev;
	p = write_begin(tap_proto_at(t->out), TAP_PF_PACKET);
	ev.packet = (size_t)(p - (unsigned char *)t->out->data);
	p = tap_pf_write_origin(p, t->machine, TAP_PF_SEQUENCE_TRACKS);
	if (flags)
		p = tap_proto_write_u64(p, TAP_PF_PACKET_FLAGS, flags);
	p = write_stamp(t, p, ts_ns);
	p = write_begin(p, TAP_PF_PACKET_TRACK_EVENT);
	ev.event = (size_t)(p - (unsigned char *)t->out->data);
	p = tap_proto_write_u64(p, TAP_PF_TEV_TYPE, type);
	p = tap_proto_write_u64(p, TAP_PF_TEV_TRACK, track);
	if (name)
		p = tap_proto_write_u64(p, TAP_PF_TEV_NAME_IID, name);
	tap_proto_wrote(t->out, p);
	return ev;
}

struct tap_track_event tap_track_event(struct tap_tracks *t, uint64_t track, uint64_t ts_ns,
				       unsigned int type, const char *name, size_t len)
{
	struct tap_track_event ev = begin_event(t, track, ts_ns, type, 0, 0);

	if (name)
		tap_proto_text(t->out, TAP_PF_TEV_NAME, name, len);
	return ev;
}

struct tap_track_event tap_track_instant(struct tap_tracks *t, uint64_t track, uint64_t ts_ns,
					 uint64_t name)
{
	return begin_event(t, track, ts_ns, TAP_PF_TEV_INSTANT, TAP_PF_NEEDS_INCREMENTAL, name);
}

void tap_track_event_end(struct tap_tracks *t, struct tap_track_event ev)
{
	tap_proto_end(t->out, ev.event);
	tap_proto_end(t->out, ev.packet);
}

void tap_track_count(struct tap_tracks *t, uint64_t track, uint64_t ts_ns, int64_t value)
{
	struct tap_track_event ev = begin_event(t, track, ts_ns, TAP_PF_TEV_COUNTER_VALUE, 0, 0);

	tap_proto_s64(t->out, TAP_PF_TEV_COUNTER, value);
	tap_track_event_end(t, ev);
}

static size_t begin_annotation(struct tap_tracks *t, uint64_t name)
{
	size_t begun = tap_proto_begin(t->out, TAP_PF_TEV_ANNOTATION);

	tap_proto_u64(t->out, TAP_PF_ANNOTATION_NAME_IID, name);
	return begun;
}

void tap_track_annotate_text(struct tap_tracks *t, uint64_t name, const char *text, size_t len)
{
	size_t begun = begin_annotation(t, name);

	tap_proto_text(t->out, TAP_PF_ANNOTATION_STRING, text, len);
	tap_proto_end(t->out, begun);
}

void tap_track_annotate_real(struct tap_tracks *t, uint64_t name, double v)
{
	size_t begun = begin_annotation(t, name);
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	tap_proto_fixed64(t->out, TAP_PF_ANNOTATION_DOUBLE, bits);
	tap_proto_end(t->out, begun);
}

void tap_track_slice(struct tap_tracks *t, uint64_t track, uint64_t from_ns, uint64_t to_ns,
		     const char *name, size_t len)
{
	tap_track_event_end(t, tap_track_event(t, track, from_ns, TAP_PF_TEV_BEGIN, name, len));
	tap_track_event_end(t, tap_track_event(t, track, to_ns, TAP_PF_TEV_END, NULL, 0));
}
