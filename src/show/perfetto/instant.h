/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events that Perfetto does not visualize, as instants on a track with all of their fields as
 * arguments.
 */
#ifndef TAP_PERFETTO_INSTANT_H
#define TAP_PERFETTO_INSTANT_H

#include "timeline/sched_fields.h"
#include "show/perfetto/track.h"

/* Conversion of one format. */
struct tap_instant {
	uint64_t name; /* interned; its fields have the numbers after it */
	struct tap_instant_field {
		/* COMM: a name of TAP_TASK_COMM bytes; OTHER: text or a float */
		enum { TAP_INSTANT_NUMBER, TAP_INSTANT_COMM, TAP_INSTANT_OTHER } kind;
		const struct tap_field *field;
		struct tap_num number;
		/*
		 * Encoded head of the annotation: up to and including the value's key. The
		 * annotation's length is filled in later.
		 */
		unsigned char head[8];
		unsigned char head_bytes;
	} * fields; /* owned */
	unsigned int nr_fields;
};

/* Return: 0 or -ENOMEM. */
int tap_instant_init(struct tap_instant *in, struct tap_tracks *t, const struct tap_format *fmt);
void tap_instant_release(struct tap_instant *in);
void tap_instant_put(const struct tap_instant *in, struct tap_tracks *t, uint64_t track,
		     const struct tap_event *ev);

#endif
