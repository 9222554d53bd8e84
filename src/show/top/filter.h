/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters of the screens' rows, in the language of schedtap-filter(5), over the numbers of a task:
 * `comm ~ "nginx*" && max_wait > 1ms`.
 */
#ifndef TAP_SHOW_TOP_FILTER_H
#define TAP_SHOW_TOP_FILTER_H

#include "show/top/now.h"

struct tap_top_filter;

/* Compile a filter. Return: 0; -EINVAL with a sentence; -ENOMEM. */
int tap_top_filter_new(struct tap_top_filter **out, const char *text, struct tap_err *err);
void tap_top_filter_free(struct tap_top_filter *f);
/* Return true if the task matches. @ns: of the refresh; numbers of the filter are per second. */
bool tap_top_filter_task(const struct tap_top_filter *f, const struct tap_now_task *t, double ns);
/* The names of all fields, separated by ", ". */
extern const char tap_top_filter_fields[];

#endif
