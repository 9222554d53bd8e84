// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/prev_state.h"

#include <errno.h>
#include <stdlib.h>

int tap_prev_states_init(struct tap_prev_states *p, const struct tap_format *sched_switch,
			 const struct tap_field *prev_state, bool indexed)
{
	*p = (struct tap_prev_states){ .fmt = sched_switch,
				       .field = prev_state,
				       .indexed = indexed };
	/* 8: never zero, and room for any number */
	p->rec = calloc(1, sched_switch->min_size + 8);
	if (!p->rec)
		return -ENOMEM;
	return tap_printer_new(sched_switch, &p->printer, NULL);
}

void tap_prev_states_release(struct tap_prev_states *p)
{
	for (unsigned int i = 0; i < TAP_PREV_STATES; i++)
		free(p->by_value[i]);
	tap_printer_free(p->printer);
	free(p->rec);
}

/*
 * Since v4.14 the kernel prints one letter; before, it printed one letter per bit: "D
 * N" was today's "I" (idle).
 */
static enum tap_state parse_letters(const char *letters)
{
	if (!strcmp(letters, "R") || !strcmp(letters, "0") || strchr(letters, '+'))
		return TAP_STATE_PREEMPTED;
	if (strpbrk(letters, "XZx"))
		return TAP_STATE_DEAD;
	if (strchr(letters, 'I') || (strchr(letters, 'D') && strchr(letters, 'N')))
		return TAP_STATE_SLEEPING;
	if (strchr(letters, 'D'))
		return TAP_STATE_BLOCKED;
	if (strpbrk(letters, "TtP"))
		return TAP_STATE_STOPPED;
	return strchr(letters, 'S') ? TAP_STATE_SLEEPING : TAP_STATE_UNKNOWN;
}

static void put_value(const struct tap_prev_states *p, uint64_t value)
{
	unsigned char *at = p->rec + p->field->offset;
	uint32_t size = p->field->size;

	for (uint32_t i = 0; i < size; i++)
		at[p->fmt->big_endian ? size - 1 - i : i] = (unsigned char)(value >> 8 * i);
}

/*
 * Return the bit of a state's index. Bits of states are single, so 3 and 5 to 7 are indices in any
 * case, and above 8 (idle) there are only bits. 4 is a stopped task either way. 8 as a bit would be
 * a traced task, which is rarer than idle kernel threads.
 */
static uint64_t bit_of(uint64_t value)
{
	return value == 3 || (value >= 5 && value <= 8) ? 1u << (value - 1) : value;
}

static int print_value(const struct tap_prev_states *p, uint64_t value, struct tap_prev_state *prev)
{
	static const char before[] = "prev_state=";
	struct tap_buf b = { 0 };
	const char *text, *at;
	size_t len;
	int ret;

	put_value(p, p->indexed ? bit_of(value) : value);
	tap_printer_run(p->printer, p->rec, p->fmt->min_size, &b);
	text = tap_buf_str(&b);
	at = strstr(text, before);
	at = at ? at + strlen(before) : "";
	len = strcspn(at, " ");
	if (len >= TAP_PREV_STATE_TEXT)
		len = TAP_PREV_STATE_TEXT - 1;
	memcpy(prev->text, at, len);
	prev->text[len] = '\0';
	prev->state = parse_letters(prev->text);
	ret = b.err;
	tap_buf_release(&b);
	return ret;
}

const struct tap_prev_state *tap_prev_states_make(struct tap_prev_states *p, uint64_t value)
{
	struct tap_prev_state *prev = &p->other;

	if (value == p->other_value && value >= TAP_PREV_STATES)
		return prev;
	if (value < TAP_PREV_STATES)
		prev = p->by_value[value] = calloc(1, sizeof(*prev));
	else
		p->other_value = value;
	return !prev || print_value(p, value, prev) ? NULL : prev;
}
