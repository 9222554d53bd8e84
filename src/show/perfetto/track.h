/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracks: rows in Perfetto for counters, slices and instants that are not ftrace events. A track is
 * described once, when it is first requested, and has a number.
 */
#ifndef TAP_PERFETTO_TRACK_H
#define TAP_PERFETTO_TRACK_H

#include <schedtap/event.h>

#include "base/map.h"
#include "show/perfetto/machine.h"

struct tap_tracks {
	struct tap_buf *out; /* borrowed: packets are appended to it */
	const struct tap_pf_machine *machine; /* borrowed */
	/* private */
	struct tap_map by_key; /* maps kind and id to the number */
	uint64_t nr;
	uint64_t nr_names;
	/* the sequence's incremental clock: the trace's time that was last written as a difference
	 */
	uint64_t clock_ns;
};

/*
 * Call it first. All times are on the machine's clock; they should not be before @ns.
 */
void tap_tracks_begin(struct tap_tracks *t, struct tap_buf *out,
		      const struct tap_pf_machine *machine, uint64_t ns);
void tap_tracks_release(struct tap_tracks *t);

/*
 * Begin a packet. @flags: TAP_PF_NEEDS_INCREMENTAL if it refers to interned names; or 0. Return:
 * the argument for tap_proto_end().
 */
size_t tap_tracks_packet(struct tap_tracks *t, unsigned int flags);
/* Write the time stamp of the packet that has begun. */
void tap_tracks_stamp(struct tap_tracks *t, uint64_t ts_ns);

struct tap_track {
	/* Identity for tap_track(): the caller defines the kinds; ids are unique within a kind. */
	unsigned int kind;
	uint64_t id;
	uint64_t parent; /* number of the parent track; 0: none */
	const char *name;
	size_t len;
	bool is_below; /* only shown below its parent, which has the machine's name */
	const char *unit; /* unit of a counter; NULL: the track is not a counter */
	int tid, tgid; /* the thread at whose own row the track is shown; .tgid 0: no thread */
};

/* Return: the track's number; 0: not described yet. */
uint64_t tap_track_find(const struct tap_tracks *t, unsigned int kind, uint64_t id);
/* Describe the track if needed. Return: its number; 0 if out of memory. */
uint64_t tap_track(struct tap_tracks *t, const struct tap_track *track);
/*
 * Describe a track without an identity, so that tap_track_find() does not find it. Return: its
 * number.
 */
uint64_t tap_track_add(struct tap_tracks *t, const struct tap_track *track);

void tap_track_count(struct tap_tracks *t, uint64_t track, uint64_t ts_ns, int64_t value);

/* A packet with a track's event; annotations may be added until tap_track_event_end(). */
struct tap_track_event {
	size_t packet, event; /* private */
};
/*
 * Intern names that are used often, so that they are written only once. @fields: for annotations,
 * or NULL. Return: the number of the event's name; the fields have the numbers after it.
 */
uint64_t tap_tracks_intern(struct tap_tracks *t, const char *event, const struct tap_field *fields,
			   unsigned int nr);

/* Begin an event. @type: TAP_PF_TEV_BEGIN, _END, _INSTANT. @name: may be NULL. */
struct tap_track_event tap_track_event(struct tap_tracks *t, uint64_t track, uint64_t ts_ns,
				       unsigned int type, const char *name, size_t len);
/* Begin an instant whose name and annotations use interned names. */
struct tap_track_event tap_track_instant(struct tap_tracks *t, uint64_t track, uint64_t ts_ns,
					 uint64_t name);
void tap_track_event_end(struct tap_tracks *t, struct tap_track_event ev);
void tap_track_annotate_text(struct tap_tracks *t, uint64_t name, const char *text, size_t len);
void tap_track_annotate_real(struct tap_tracks *t, uint64_t name, double v);

/* Write a slice with known ends and no annotations. */
void tap_track_slice(struct tap_tracks *t, uint64_t track, uint64_t from_ns, uint64_t to_ns,
		     const char *name, size_t len);

#endif
