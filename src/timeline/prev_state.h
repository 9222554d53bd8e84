/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a prev_state means. Its bits differ between kernels, so the recording's own print format
 * is asked, once per value: the letters that it prints behind "prev_state=" mean the same
 * everywhere.
 */
#ifndef TAP_TIMELINE_PREV_STATE_H
#define TAP_TIMELINE_PREV_STATE_H

#include "event/print/print.h"
#include <schedtap/event.h>
#include <schedtap/timeline.h>

#define TAP_PREV_STATE_TEXT 16u /* bytes of "S|T|X...", with its NUL */
#define TAP_PREV_STATES 1024u /* values below it are kept */

struct tap_prev_state {
	enum tap_state state;
	char text[TAP_PREV_STATE_TEXT]; /* as the recording prints it */
};

struct tap_prev_states {
	struct tap_printer *printer;
	const struct tap_format *fmt;
	const struct tap_field *field; /* prev_state */
	unsigned char *rec; /* a record that is zero but for it */
	struct tap_prev_state *by_value[TAP_PREV_STATES]; /* made when first asked for */
	struct tap_prev_state other; /* of values above: the last one asked for */
	uint64_t other_value;
};

/* Return: 0 or -ENOMEM. */
int tap_prev_states_init(struct tap_prev_states *p, const struct tap_format *sched_switch,
			 const struct tap_field *prev_state);
void tap_prev_states_release(struct tap_prev_states *p);

const struct tap_prev_state *tap_prev_states_make(struct tap_prev_states *p, uint64_t value);

/* Return: NULL when out of memory; borrowed until a value above TAP_PREV_STATES is asked for. */
static inline const struct tap_prev_state *tap_prev_states_get(struct tap_prev_states *p,
							       uint64_t value)
{
	if (value < TAP_PREV_STATES && p->by_value[value])
		return p->by_value[value];
	return tap_prev_states_make(p, value);
}

#endif
