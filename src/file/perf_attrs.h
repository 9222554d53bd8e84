/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The attrs of a perf.data: which events it has, and where their records have time, CPU and id. */
#ifndef TAP_FILE_PERF_ATTRS_H
#define TAP_FILE_PERF_ATTRS_H

#include "file/perf_records.h"

/* Add a perf_event_attr and its event ids. Return: 0; -EINVAL; -ENOTSUP; -ENOMEM. */
int tap_perf_add_attr(struct tap_perf *p, struct tap_bytes attr, struct tap_bytes ids,
		      struct tap_err *err);
/*
 * Check all attrs and add the buffer of the events. To be called before the tracing data is read:
 * after that, tap_dat_add_buffer() would check the size of the sub-buffers. Return: 0; -EINVAL if
 * there are no attrs; -ENOTSUP if the events cannot be used; -ENOMEM.
 */
int tap_perf_end_attrs(struct tap_perf *p, struct tap_err *err);

#endif
