/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The meaning of sched_switch's prev_state. Its bits differ between kernels, but the letters that
 * the recording's own print format prints after "prev_state=" do not. So each value is printed
 * once, and the letters are interpreted.
 */
#ifndef TAP_TIMELINE_PREV_STATE_H
#define TAP_TIMELINE_PREV_STATE_H

#include "event/print/print.h"
#include <schedtap/event.h>
#include <schedtap/timeline.h>

#define TAP_PREV_STATE_TEXT 16u /* max length of a text such as "D+", with its NUL */
#define TAP_PREV_STATES 1024u /* lower values are cached */

struct tap_prev_state {
	enum tap_state state;
	char text[TAP_PREV_STATE_TEXT]; /* what the recording's print format prints */
};

struct tap_prev_states {
	struct tap_printer *printer;
	const struct tap_format *fmt;
	const struct tap_field *field; /* the field prev_state */
	unsigned char *rec; /* a record of zeros, except for prev_state */
	struct tap_prev_state *by_value[TAP_PREV_STATES]; /* filled on first use */
	bool indexed; /* see struct tap_lists */
	struct tap_prev_state other; /* the value asked for last of those that are not cached */
	uint64_t other_value;
};

/* Prepare for one sched_switch format, which must outlive @p. Return: 0 or -ENOMEM. */
int tap_prev_states_init(struct tap_prev_states *p, const struct tap_format *sched_switch,
			 const struct tap_field *prev_state, bool indexed);
void tap_prev_states_release(struct tap_prev_states *p);

const struct tap_prev_state *tap_prev_states_make(struct tap_prev_states *p, uint64_t value);

/*
 * Return the meaning of @value, borrowed: until release if @value is below TAP_PREV_STATES,
 * otherwise until the next value that is not. NULL: out of memory.
 */
static inline const struct tap_prev_state *tap_prev_states_get(struct tap_prev_states *p,
							       uint64_t value)
{
	if (value < TAP_PREV_STATES && p->by_value[value])
		return p->by_value[value];
	return tap_prev_states_make(p, value);
}

#endif
