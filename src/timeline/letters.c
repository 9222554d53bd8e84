// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/letters.h"

#include <errno.h>
#include <stdlib.h>

int tap_letters_init(struct tap_letters *l, const struct tap_format *sched_switch,
		     const struct tap_field *prev_state)
{
	*l = (struct tap_letters){ .fmt = sched_switch, .field = prev_state };
	l->rec = calloc(1, sched_switch->min_size + 8); /* 8: never empty, and room for any number */
	if (!l->rec)
		return -ENOMEM;
	return tap_printer_new(sched_switch, &l->printer, NULL);
}

void tap_letters_release(struct tap_letters *l)
{
	for (unsigned int i = 0; i < TAP_LETTERS_SMALL; i++)
		free(l->small[i]);
	tap_printer_free(l->printer);
	free(l->rec);
}

/* From v4.14 on a task has one letter; before, bits of their own: "D|N" was what is I now. */
static enum tap_state meaning(const char *letters)
{
	if (!strcmp(letters, "R") || !strcmp(letters, "0") || strchr(letters, '+'))
		return TAP_PREEMPTED;
	if (strpbrk(letters, "XZx"))
		return TAP_DEAD;
	if (strchr(letters, 'I') || (strchr(letters, 'D') && strchr(letters, 'N')))
		return TAP_SLEEPING;
	if (strchr(letters, 'D'))
		return TAP_BLOCKED;
	if (strpbrk(letters, "TtP"))
		return TAP_STOPPED;
	return strchr(letters, 'S') ? TAP_SLEEPING : TAP_UNKNOWN;
}

static void put_value(const struct tap_letters *l, uint64_t value)
{
	unsigned char *at = l->rec + l->field->offset;
	uint32_t size = l->field->size;

	for (uint32_t i = 0; i < size; i++)
		at[l->fmt->big_endian ? size - 1 - i : i] = (unsigned char)(value >> 8 * i);
}

static int ask(const struct tap_letters *l, uint64_t value, struct tap_letter *letter)
{
	static const char before[] = "prev_state=";
	struct tap_buf b = { 0 };
	const char *text, *at;
	size_t len;

	put_value(l, value);
	tap_printer_run(l->printer, l->rec, l->fmt->min_size, &b);
	text = tap_buf_str(&b);
	at = strstr(text, before);
	at = at ? at + strlen(before) : "";
	len = strcspn(at, " ");
	if (len >= TAP_LETTERS_MAX)
		len = TAP_LETTERS_MAX - 1;
	memcpy(letter->text, at, len);
	letter->text[len] = '\0';
	letter->state = meaning(letter->text);
	tap_buf_release(&b);
	return b.err;
}

const struct tap_letter *tap_letters_make(struct tap_letters *l, uint64_t value)
{
	struct tap_letter *letter = &l->other;

	if (value < TAP_LETTERS_SMALL) {
		letter = calloc(1, sizeof(*letter));
		l->small[value] = letter;
		if (!letter)
			return NULL;
	} else if (value == l->other_value) {
		return letter;
	}
	if (value >= TAP_LETTERS_SMALL)
		l->other_value = value;
	return ask(l, value, letter) ? NULL : letter;
}
