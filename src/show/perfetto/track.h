/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracks, which are rows of the picture that are not ftrace's: counters, slices and instants. A
 * track is described once, when it is first asked for, and has a number.
 */
#ifndef TAP_PERFETTO_TRACK_H
#define TAP_PERFETTO_TRACK_H

#include <schedtap/event.h>

#include "base/map.h"
#include "show/perfetto/proto.h"

struct tap_tracks {
	struct tap_buf *out; /* borrowed: packets are added to it */
	/* inside */
	struct tap_map by_key; /* -> number */
	uint64_t nr;
	uint64_t nr_names;
	/* the sequence's clock: of the last stamp that was counted from the one before */
	uint64_t clock_ns;
};

/* Before all else. No stamp is likely to be before @ns. */
void tap_tracks_begin(struct tap_tracks *t, struct tap_buf *out, uint64_t ns);
void tap_tracks_release(struct tap_tracks *t);

/* A packet of theirs begins. @flags: TAP_PF_NEEDS_INCREMENTAL: it has numbers that were interned
 * before; 0. Return: for tap_proto_end(). */
size_t tap_tracks_packet(struct tap_tracks *t, unsigned int flags);
/* The time of the packet that has begun. */
void tap_tracks_stamp(struct tap_tracks *t, uint64_t ts_ns);

struct tap_track {
	/* What it is of, for tap_track(): the kind is the caller's, and of one kind no two have the
	 * same id. */
	unsigned int kind;
	uint64_t id;
	uint64_t parent; /* the number of the track that it stands below; 0: none */
	const char *name;
	size_t len;
	const char *unit; /* of a counter; NULL: it is none */
	int tid, tgid; /* of a thread, whose own row it stands below; tgid 0: of none */
};

/* Return: its number; 0: it was not described yet. */
uint64_t tap_track_find(const struct tap_tracks *t, unsigned int kind, uint64_t id);
/* Return: its number; 0 when out of memory. */
uint64_t tap_track(struct tap_tracks *t, const struct tap_track *track);
/* One that its caller keeps the number of: nobody finds it. Return: its number. */
uint64_t tap_track_add(struct tap_tracks *t, const struct tap_track *track);

void tap_track_count(struct tap_tracks *t, uint64_t track, uint64_t ts_ns, int64_t value);

/* A packet with an event of a track, to which annotations may be added until its end. */
struct tap_track_event {
	size_t packet, event; /* inside */
};
/*
 * Names that come again and again are written once. @fields: of annotations, or NULL. Return: a
 * number: the event's name has that, and its fields have the next ones.
 */
uint64_t tap_tracks_intern(struct tap_tracks *t, const char *event, const struct tap_field *fields,
			   unsigned int nr);

/* @type: TAP_PF_TEV_BEGIN, _END, _INSTANT. @name: NULL: none. */
struct tap_track_event tap_track_event(struct tap_tracks *t, uint64_t track, uint64_t ts_ns,
				       unsigned int type, const char *name, size_t len);
/* The same, with a name and with annotations that were interned. */
struct tap_track_event tap_track_instant(struct tap_tracks *t, uint64_t track, uint64_t ts_ns,
					 uint64_t name);
void tap_track_event_end(struct tap_tracks *t, struct tap_track_event ev);
void tap_track_annotate_text(struct tap_tracks *t, uint64_t name, const char *text, size_t len);
void tap_track_annotate_real(struct tap_tracks *t, uint64_t name, double v);

/* A slice of which both ends are known, without more. */
void tap_track_slice(struct tap_tracks *t, uint64_t track, uint64_t from_ns, uint64_t to_ns,
		     const char *name, size_t len);

#endif
