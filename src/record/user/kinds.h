/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kinds of events in programs. Each layout is stored and checked once, however many programs have
 * it. Texts come from programs and are untrusted.
 */
#ifndef TAP_RECORD_USER_KINDS_H
#define TAP_RECORD_USER_KINDS_H

#include <stdbool.h>

#include <schedtap/event.h>

#include "base/buf.h"
#include "base/map.h"

#define TAP_USER_NAME_MAX 63u /* characters of a system's name, and of an event's name */
#define TAP_USER_TEXT_MAX (64u << 10) /* bytes of a format text */
#define TAP_USER_TEXTS_MAX (256ull << 20) /* bytes of all format texts together */

/*
 * One layout of one event, shared by all programs and objects in which all three texts are equal.
 */
struct tap_user_kind {
	const char *system, *name; /* valid according to tap_user_name_ok() */
	const char *text; /* the format text, with "ID: 0" */
	size_t len;
	unsigned int nr; /* number of the kind in its set, from 0 */
	struct tap_format *fmt; /* NULL if it cannot be recorded */
	/*
	 * its print format is replaced by a list of its fields, because some readers would fail on
	 * it
	 */
	bool plain;
	const char *why; /* the reason if fmt is NULL; else NULL */
};

struct tap_user_kinds {
	struct tap_user_kind **v;
	unsigned int nr, cap;
	struct tap_map by_hash; /* hash of all three texts -> index in v, plus 1 */
	uint64_t bytes;
};

void tap_user_kinds_release(struct tap_user_kinds *kinds);

/*
 * Return true if @name is a valid name of a system or an event. As in the kernel it must be usable
 * as a folder in tracefs and in SYSTEM:NAME: printable ASCII without '/', ':' and blanks, at most
 * TAP_USER_NAME_MAX characters.
 */
bool tap_user_name_ok(const char *name);

/*
 * Find or add the kind with these texts. @len: of @text. A text that cannot be recorded gives a
 * kind with a reason (.why). Return: 0; -EINVAL for invalid names; -E2BIG; -ENOMEM.
 */
int tap_user_kind_get(struct tap_user_kinds *kinds, const char *system, const char *name,
		      const char *text, size_t len, const struct tap_user_kind **out);

/* Write the format text, with @id in place of 0. */
void tap_user_kind_text(const struct tap_user_kind *kind, unsigned int id, struct tap_buf *out);

#endif
