// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "perfetto/track.h"

#include "perfetto/fields.h"

void tap_tracks_release(struct tap_tracks *t)
{
	tap_map_release(&t->by_key);
}

static size_t begin_packet(struct tap_tracks *t)
{
	size_t packet = tap_proto_begin(t->out, TAP_PF_PACKET);

	tap_proto_u64(t->out, TAP_PF_PACKET_SEQUENCE, TAP_PF_SEQUENCE_TRACKS);
	if (!t->has_begun)
		tap_proto_u64(t->out, TAP_PF_PACKET_FLAGS, TAP_PF_INCREMENTAL_CLEARED);
	t->has_begun = true;
	return packet;
}

static void describe(struct tap_tracks *t, uint64_t number, const struct tap_track *track)
{
	size_t packet = begin_packet(t), desc = tap_proto_begin(t->out, TAP_PF_PACKET_TRACK), part;

	tap_proto_u64(t->out, TAP_PF_TRACK_UUID, number);
	if (track->parent)
		tap_proto_u64(t->out, TAP_PF_TRACK_PARENT, track->parent);
	if (track->tgid) {
		part = tap_proto_begin(t->out, TAP_PF_TRACK_THREAD);
		tap_proto_s64(t->out, TAP_PF_THREAD_DESC_PID, track->tgid);
		tap_proto_s64(t->out, TAP_PF_THREAD_DESC_TID, track->tid);
		tap_proto_end(t->out, part);
	} else {
		tap_proto_text(t->out, TAP_PF_TRACK_NAME, track->name, track->len);
	}
	if (track->unit) {
		part = tap_proto_begin(t->out, TAP_PF_TRACK_COUNTER);
		tap_proto_text(t->out, TAP_PF_COUNTER_UNIT_NAME, track->unit, strlen(track->unit));
		tap_proto_end(t->out, part);
	}
	tap_proto_end(t->out, desc);
	tap_proto_end(t->out, packet);
}

uint64_t tap_track(struct tap_tracks *t, const struct tap_track *track)
{
	const uint64_t parts[] = { track->kind, track->id };
	uint64_t *number = tap_map_put(&t->by_key, tap_map_key(parts, sizeof(parts)));

	if (!number)
		return 0;
	if (!*number) {
		*number = t->by_key.nr;
		describe(t, *number, track);
	}
	return *number;
}

struct tap_track_event tap_track_event(struct tap_tracks *t, uint64_t track, uint64_t ts_ns, unsigned int type, const char *name, size_t len)
{
	struct tap_track_event ev;

	ev.packet = begin_packet(t);
	tap_proto_u64(t->out, TAP_PF_PACKET_TIMESTAMP, ts_ns);
	ev.event = tap_proto_begin(t->out, TAP_PF_PACKET_TRACK_EVENT);
	tap_proto_u64(t->out, TAP_PF_TEV_TYPE, type);
	tap_proto_u64(t->out, TAP_PF_TEV_TRACK, track);
	if (name)
		tap_proto_text(t->out, TAP_PF_TEV_NAME, name, len);
	return ev;
}

void tap_track_event_end(struct tap_tracks *t, struct tap_track_event ev)
{
	tap_proto_end(t->out, ev.event);
	tap_proto_end(t->out, ev.packet);
}

void tap_track_count(struct tap_tracks *t, uint64_t track, uint64_t ts_ns, int64_t value)
{
	struct tap_track_event ev = tap_track_event(t, track, ts_ns, TAP_PF_TEV_COUNTER_VALUE, NULL, 0);

	tap_proto_s64(t->out, TAP_PF_TEV_COUNTER, value);
	tap_track_event_end(t, ev);
}

static size_t begin_annotation(struct tap_tracks *t, const char *name)
{
	size_t begun = tap_proto_begin(t->out, TAP_PF_TEV_ANNOTATION);

	tap_proto_text(t->out, TAP_PF_ANNOTATION_NAME, name, strlen(name));
	return begun;
}

void tap_track_annotate_text(struct tap_tracks *t, const char *name, const char *text, size_t len)
{
	size_t begun = begin_annotation(t, name);

	tap_proto_text(t->out, TAP_PF_ANNOTATION_STRING, text, len);
	tap_proto_end(t->out, begun);
}

void tap_track_annotate_number(struct tap_tracks *t, const char *name, uint64_t v, bool is_signed)
{
	size_t begun = begin_annotation(t, name);

	tap_proto_u64(t->out, is_signed ? TAP_PF_ANNOTATION_INT : TAP_PF_ANNOTATION_UINT, v);
	tap_proto_end(t->out, begun);
}

void tap_track_annotate_real(struct tap_tracks *t, const char *name, double v)
{
	size_t begun = begin_annotation(t, name);
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	tap_proto_fixed64(t->out, TAP_PF_ANNOTATION_DOUBLE, bits);
	tap_proto_end(t->out, begun);
}

void tap_track_slice(struct tap_tracks *t, uint64_t track, uint64_t from_ns, uint64_t to_ns, const char *name, size_t len)
{
	tap_track_event_end(t, tap_track_event(t, track, from_ns, TAP_PF_TEV_BEGIN, name, len));
	tap_track_event_end(t, tap_track_event(t, track, to_ns, TAP_PF_TEV_END, NULL, 0));
}
