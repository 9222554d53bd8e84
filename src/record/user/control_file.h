/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads a program's control file (tracepoint/shared.h). The program may be hostile and writes to
 * the file meanwhile, so only copies made with pread() are parsed, and nothing is used before it is
 * checked.
 *
 * Accepted: a head whose version both sides understand, of the process that the link names (in
 * another pid namespace: of any process); areas within the limits of a control file, whose number
 * only grows. A faulty area or event is skipped and counted (.bad): an area outside of the limits;
 * an object whose words, texts or ids do not fit into it; an invalid name; a second ring of the
 * same kind for a CPU; a ring for a CPU that does not exist. An event whose format text cannot be
 * recorded is kept (kinds.h).
 *
 * Limits: TAP_CONTROL_AREAS areas, 16 MiB for an object and 64 MiB for all objects of a program,
 * two rings per CPU; for texts and names those of kinds.h. rings.h checks the contents of rings.
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
	bool wanted, applied, gone; /* state at the last read; gone: its library was unloaded */
	/* the event can have a filter; it has one that the program has not read yet */
	bool takes_filter, new_filter;
	uint64_t word; /* offset of its struct tap_word in the file */
	uint8_t mask; /* its bit in the word's bytes */
};

/*
 * A ring's area as described by the program: within the limits of a control file, but it may lie
 * beyond the end of this one.
 */
struct tap_user_ring {
	uint64_t offset, size;
	unsigned int cpu;
	bool atomic;
};

/* Contents of one control file; all zero before the first read. */
struct tap_user_control {
	struct tap_control head; /* texts end with a NUL, but are untrusted: escape them */
	bool nested; /* thread ids and head.pid are from another pid namespace */
	struct tap_user_event *events;
	unsigned int nr_events, cap_events;
	struct tap_user_ring *rings;
	unsigned int nr_rings, cap_rings;
	unsigned int bad; /* number of events with invalid names and of invalid areas */
	unsigned int bad_rings; /* invalid areas of rings, part of .bad */
	unsigned int bad_events; /* events that cannot be recorded, part of .bad */
	char why_bad[200]; /* the first of .bad_events and the reason; untrusted */

	/* private */
	struct tap_user_object *objects;
	unsigned int nr_objects, cap_objects;
	uint8_t *areas; /* one per area: 1: read */
	uint32_t nr_areas, unread_areas; /* the second: number of areas that were not filled yet */
	uint64_t object_bytes; /* bytes of objects read so far */
};

struct tap_user_control_source {
	int fd;
	int pid; /* pid in the name of the link */
	unsigned int nr_cpus; /* number of possible CPUs */
	struct tap_user_kinds *kinds; /* owner of the events' kinds; must outlive the events */
};

/*
 * Read the file for the first time, or read again what may change: objects that came or went,
 * rings, words. Events may move in memory. Return: 0; -EINVAL: not a control file, an incompatible
 * version, another process's, or it has fewer areas than before; -ENODATA: truncated; -ENOMEM. On
 * error everything read before stays valid.
 */
int tap_user_control_read(struct tap_user_control *c, const struct tap_user_control_source *from,
			  struct tap_err *err);
void tap_user_control_release(struct tap_user_control *c);

#endif
