/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kinds of events that programs tell of: each layout once, however many programs have it, and
 * checked once. Texts come from programs and are hostile.
 */
#ifndef TAP_RECORD_USER_KINDS_H
#define TAP_RECORD_USER_KINDS_H

#include <stdbool.h>

#include <schedtap/event.h>

#include "base/buf.h"
#include "base/map.h"

#define TAP_USER_NAME_MAX 63u /* characters of a system's and of an event's name */
#define TAP_USER_TEXT_MAX (64u << 10) /* bytes of a format text */
#define TAP_USER_TEXTS_MAX (256ull << 20) /* of all format texts together */

/* One layout of one event: programs (and objects) that agree in all three texts share it. */
struct tap_user_kind {
	const char *system, *name; /* tap_user_name_ok(); nothing else gets here */
	const char *text; /* the format text, "ID: 0" */
	size_t len;
	unsigned int nr; /* counts the kinds of a set from 0 */
	struct tap_format *fmt; /* NULL if it cannot be recorded */
	/* its print format is replaced by its fields: not every reader would survive it */
	bool plain;
	const char *why; /* .. because of this; else NULL */
};

struct tap_user_kinds {
	struct tap_user_kind **v;
	unsigned int nr, cap;
	struct tap_map by_hash; /* of all three texts -> place in v */
	uint64_t bytes;
};

void tap_user_kinds_release(struct tap_user_kinds *kinds);

/*
 * Whether it can be the name of a system or of an event: as in the kernel, where it is a folder's
 * in tracefs and a part of SYSTEM:NAME. Printable ASCII without '/', ':' and blanks.
 */
bool tap_user_name_ok(const char *name);

/*
 * The kind with these texts, new or known. @len: of @text. A text that cannot be recorded makes a
 * kind that says why. Return: 0; -EINVAL for names that are none; -E2BIG; -ENOMEM.
 */
int tap_user_kind_get(struct tap_user_kinds *kinds, const char *system, const char *name,
		      const char *text, size_t len, const struct tap_user_kind **out);

/* The format text with @id in place of the 0. */
void tap_user_kind_text(const struct tap_user_kind *kind, unsigned int id, struct tap_buf *out);

#endif
