/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf.data in pipe mode, as `perf record -o -` writes it: attrs, features and tracing data are
 * records among the others, because perf cannot seek back to the header. They come before all
 * events.
 */
#ifndef TAP_FILE_PERF_PIPE_H
#define TAP_FILE_PERF_PIPE_H

#include "file/perf_records.h"

#define TAP_PERF_PIPE_HEADER_BYTES 16u /* magic, and this number */

/* Read the attrs and features. Return: 0; -EINVAL; -ENOTSUP; -E2BIG; -ENOMEM. */
int tap_perf_read_pipe(struct tap_perf *p, struct tap_err *err);

#endif
