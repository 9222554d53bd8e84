/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters of events that tracefs has, where they ask for what the kernel's filter files cannot say:
 * that part is evaluated on the pages, before they are written, and what it rejects takes no room
 * there.
 */
#ifndef TAP_RECORD_TRACEFS_SIEVE_H
#define TAP_RECORD_TRACEFS_SIEVE_H

#include "base/map.h"
#include "event/expr/filter.h"

struct tap_sieve { /* all zero: nothing is rejected */
	struct tap_map by_id; /* of the event -> struct tap_filter *, owned */
};

/*
 * Takes a filter apart at its outermost "&&": into what the kernel can do, in its words, and the
 * rest. Either may be empty. Return: 0; -EINVAL with a sentence: it is no filter for @fmt, or the
 * rest cannot be told from pages; -ENOMEM.
 */
int tap_sieve_split(const struct tap_format *fmt, const char *filter, struct tap_buf *kernel,
		    struct tap_buf *rest, struct tap_err *err);

/* Records of this kind have to fit @rest. @fmt is the sieve's then, also on failure. Return: as
 * above. */
int tap_sieve_add(struct tap_sieve *s, struct tap_format *fmt, const char *rest,
		  struct tap_err *err);
void tap_sieve_release(struct tap_sieve *s);

/*
 * Copies a page without the records that do not fit. @size: of both, with the layout of page.h.
 * @left: 0: it need not be kept. What is damaged is copied as it is. Return: how many records were
 * rejected.
 */
uint32_t tap_sieve_page(const struct tap_sieve *s, const unsigned char *from, unsigned char *to,
			uint32_t size, int cpu, uint32_t *left);

#endif
