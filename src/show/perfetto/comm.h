/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of tasks in messages. */
#ifndef TAP_PERFETTO_COMM_H
#define TAP_PERFETTO_COMM_H

#include "base/proto.h"
#include "timeline/sched_fields.h"

/*
 * Add a task's name of TAP_TASK_COMM bytes, which ends at the first NUL. tap_proto_write_comm()
 * writes only the value, the length and the text; @p must have room for TAP_PROTO_COMM_BYTES.
 */
/* maximum: each byte could become U+FFFD */
#define TAP_PROTO_COMM_BYTES (1 + 3 * TAP_TASK_COMM)
unsigned char *tap_proto_write_comm(unsigned char *p, const char *comm);
void tap_proto_comm(struct tap_buf *b, unsigned int field, const char *comm);

#endif
