/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Evaluates the parts of filters that the kernel's filter files cannot express. Records of tracefs
 * that do not match are removed from sub-buffers before these are written.
 */
#ifndef TAP_RECORD_TRACEFS_SIEVE_H
#define TAP_RECORD_TRACEFS_SIEVE_H

#include "base/map.h"
#include "event/expr/filter.h"

struct tap_sieve { /* all zero: nothing is removed */
	struct tap_map by_id; /* event id -> struct tap_filter *, owned */
};

/*
 * Split a filter at its outermost "&&" into the part that the kernel can evaluate, in the kernel's
 * syntax, and the rest. Either may be empty. Return: 0; -EINVAL with a sentence: it is not a valid
 * filter for @fmt, or the rest cannot be evaluated from records; -ENOMEM.
 */
int tap_sieve_split(const struct tap_format *fmt, const char *filter, struct tap_buf *kernel,
		    struct tap_buf *rest, struct tap_err *err);

/*
 * Let records of @fmt's event pass only if they match @rest. Takes ownership of @fmt, also on
 * failure. Return: 0; -EINVAL with a sentence; -ENOMEM.
 */
int tap_sieve_add(struct tap_sieve *s, struct tap_format *fmt, const char *rest,
		  struct tap_err *err);
void tap_sieve_release(struct tap_sieve *s);

/*
 * Copy a sub-buffer without the records that do not match. @size: of both, with the layout of
 * page.h. @left: set to 0 if the copy need not be written. A damaged sub-buffer is copied
 * unchanged. Return: the number of removed records.
 */
uint32_t tap_sieve_page(const struct tap_sieve *s, const unsigned char *from, unsigned char *to,
			uint32_t size, int cpu, uint32_t *left);

#endif
