/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters of programs' events (-f). The program is given a list of steps (tracepoint/steps.h), so
 * that it does not record what is not wanted; the recorder asks the filter itself of each record
 * that it drains. So a program that cannot filter, has not done so yet, or lies, changes nothing
 * but what is recorded for nothing.
 */
#ifndef TAP_RECORD_USER_FILTERS_H
#define TAP_RECORD_USER_FILTERS_H

#include "event/expr/filter.h"
#include "tracepoint/steps.h"

struct tap_user_filter {
	struct tap_filter *filter;
	char *text;
	struct tap_steps *steps; /* NULL: programs cannot run it */
	const char *why; /* .. because of this; else NULL */
	bool reads_tid; /* as the program knows it, which may be in another pid namespace */
};

/*
 * @fmt: borrowed until it is freed. Return: 0; -EINVAL with a sentence: it makes no sense for this
 * event, or asks for the running task's name or for earlier records, which are not known when a
 * program's event is recorded; -ENOMEM.
 */
int tap_user_filter_new(const struct tap_format *fmt, const char *text,
			struct tap_user_filter **out, struct tap_err *err);
void tap_user_filter_free(struct tap_user_filter *f);

/* @rec: of @size bytes, fmt->min_size at least, as it will be recorded. */
static inline bool tap_user_filter_match(const struct tap_user_filter *f, const void *rec,
					 uint32_t size, unsigned int cpu)
{
	const struct tap_filter_about about = { .cpu = (int)cpu };

	return tap_filter_match(f->filter, rec, size, &about);
}

#endif
