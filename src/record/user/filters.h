/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters of programs' events (-f). A program gets a list of steps (tracepoint/steps.h), so that it
 * does not record unwanted events. The recorder also applies the filter to each drained record, so
 * a program that cannot filter, has not begun to, or is hostile only causes useless work.
 */
#ifndef TAP_RECORD_USER_FILTERS_H
#define TAP_RECORD_USER_FILTERS_H

#include "event/expr/filter.h"
#include "tracepoint/steps.h"

struct tap_user_filter {
	struct tap_filter *filter;
	char *text;
	struct tap_steps *steps; /* compiled for the program; NULL: it cannot be compiled */
	const char *why; /* the reason if steps is NULL; else NULL */
	/* reads common_pid, which in the program may be an id of another pid namespace */
	bool reads_tid;
};

/*
 * Compile a filter. @fmt: borrowed until the filter is freed. Return: 0; -EINVAL with a message if
 * the filter is invalid for this event, or uses the running task's name or earlier records, which
 * are unknown when a program's record is drained; -ENOMEM.
 */
int tap_user_filter_new(const struct tap_format *fmt, const char *text,
			struct tap_user_filter **out, struct tap_err *err);
void tap_user_filter_free(struct tap_user_filter *f);

/*
 * Return true if the filter accepts a record. @rec: @size bytes, at least fmt->min_size, as they
 * will be recorded.
 */
static inline bool tap_user_filter_match(const struct tap_user_filter *f, const void *rec,
					 uint32_t size, unsigned int cpu)
{
	const struct tap_filter_about about = { .cpu = (int)cpu };

	return tap_filter_match(f->filter, rec, size, &about);
}

#endif
