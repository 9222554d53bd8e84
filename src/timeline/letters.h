/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a prev_state means. Its bits differ between kernels, so the recording's own print format
 * is asked, once per value: what it prints behind "prev_state=" is the letter, and letters mean
 * the same everywhere.
 */
#ifndef TAP_TIMELINE_LETTERS_H
#define TAP_TIMELINE_LETTERS_H

#include "event/print.h"
#include "timeline/timeline.h"

#define TAP_LETTERS_MAX 16u   /* bytes of "S|T|X...", with its NUL */
#define TAP_LETTERS_SMALL 1024u

struct tap_letter {
	enum tap_state state;
	char text[TAP_LETTERS_MAX];
};

struct tap_letters {
	struct tap_printer *printer;
	const struct tap_format *fmt;
	const struct tap_field *field; /* prev_state */
	unsigned char *rec;	       /* a record that is zero but for it */
	struct tap_letter *small[TAP_LETTERS_SMALL]; /* by value, made when first met */
	struct tap_letter other; /* of values above: the last one asked for */
	uint64_t other_value;
};

/* Return: 0 or -ENOMEM. */
int tap_letters_init(struct tap_letters *l, const struct tap_format *sched_switch,
		     const struct tap_field *prev_state);
void tap_letters_release(struct tap_letters *l);

const struct tap_letter *tap_letters_make(struct tap_letters *l, uint64_t value);

/* Return: NULL when out of memory; borrowed until a value above TAP_LETTERS_SMALL is asked for. */
static inline const struct tap_letter *tap_letters_get(struct tap_letters *l, uint64_t value)
{
	if (value < TAP_LETTERS_SMALL && l->small[value])
		return l->small[value];
	return tap_letters_make(l, value);
}

#endif
