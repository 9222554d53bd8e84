/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading the control file (tracepoint/shared.h) of a program, who may be hostile, and who writes
 * to it meanwhile: what is parsed is a copy, made with pread(), and nothing of it is used before it
 * was checked.
 *
 * Accepted: a head of this or a later release that says that we understand it, of the process that
 * the link names (in another pid namespace: of any); areas within what a control file can be, which
 * only become more. What is wrong with one area or event leaves that out, and is counted (.bad): an
 * area that lies elsewhere, an object whose words, texts or ids do not fit into it, a name that is
 * none, a second ring of a kind for a CPU, a ring of a CPU that is none. A format text that cannot
 * be recorded is an event all the same (kinds.h).
 *
 * Bounds: TAP_CONTROL_AREAS areas, 16 MiB of an object and 64 MiB of all of them, two rings for
 * each CPU of the machine; of texts and names those of kinds.h. What is in rings: rings.h.
 */
#ifndef TAP_RECORD_USER_CONTROL_FILE_H
#define TAP_RECORD_USER_CONTROL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <schedtap/event.h>

#include "tracepoint/shared.h"

struct tap_user_kind;
struct tap_user_kinds;
struct tap_user_object;

struct tap_user_event {
	const struct tap_user_kind *kind;
	uint16_t id; /* common_type in this program's records */
	bool wanted, applied, gone; /* as of the last read; gone: its library was unloaded */
	/* it can have one; it has one that the program has not looked at so far */
	bool takes_filter, new_filter;
	uint64_t word; /* where its struct tap_word lies */
	uint8_t mask; /* its bit there */
};

/* A ring's area, as the program tells it; inside the bounds of a control file, not of this one. */
struct tap_user_ring {
	uint64_t offset, size;
	unsigned int cpu;
	bool atomic;
};

/* What one file says; all 0 before the first read. */
struct tap_user_control {
	struct tap_control head; /* its texts end with a NUL, and are hostile: escape them */
	bool nested; /* its threads' numbers are another pid namespace's, as is head.pid */
	struct tap_user_event *events;
	unsigned int nr_events, cap_events;
	struct tap_user_ring *rings;
	unsigned int nr_rings, cap_rings;
	unsigned int bad; /* events without proper names, areas that make no sense */
	unsigned int bad_rings; /* of .bad */
	unsigned int bad_events; /* of .bad: they cannot be recorded */
	char why_bad[200]; /* the first of them, with the reason; hostile */

	/* inside */
	struct tap_user_object *objects;
	unsigned int nr_objects, cap_objects;
	uint8_t *areas; /* one per area: 1: read */
	uint32_t nr_areas, unread_areas; /* the second: they were not yet filled */
	uint64_t object_bytes; /* read so far */
};

struct tap_user_control_source {
	int fd;
	int pid; /* as the link to it says */
	unsigned int nr_cpus; /* that this machine may have */
	struct tap_user_kinds *kinds; /* where its events' kinds are, as long as its events are */
};

/*
 * Reads it for the first time, or anew what changes: objects that came or went, rings, words.
 * Events may move. Return: 0; -EINVAL: it is none, of another version, another process's, or has
 * fewer areas than before; -ENODATA: it was cut off; -ENOMEM. What was read before stays readable.
 */
int tap_user_control_read(struct tap_user_control *c, const struct tap_user_control_source *from,
			  struct tap_err *err);
void tap_user_control_release(struct tap_user_control *c);

#endif
