/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The features of a perf.data: formats of its tracepoints, and where and how it was recorded. */
#ifndef TAP_FILE_PERF_FEATURES_H
#define TAP_FILE_PERF_FEATURES_H

#include "file/perf_records.h"

enum { /* in pipe mode these are records of their own */
       TAP_PERF_TRACING_DATA = 1,
       TAP_PERF_BUILD_ID = 2,
};

/* Read feature number @id; unknown ones are ignored. Return: 0; -EINVAL; -ENOTSUP; -ENOMEM. */
int tap_perf_read_feature(struct tap_perf *p, unsigned int id, struct tap_bytes b,
			  struct tap_err *err);

#endif
