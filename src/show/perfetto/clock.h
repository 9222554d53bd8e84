/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A clock's reading in a ClockSnapshot, which contains several clocks at the same time. */
#ifndef TAP_PERFETTO_CLOCK_H
#define TAP_PERFETTO_CLOCK_H

#include "show/perfetto/fields.h"
#include "base/proto.h"

/* @is_incremental: time stamps of this clock are differences from the previous one. */
static inline void tap_proto_clock(struct tap_buf *out, unsigned int id, uint64_t ns,
				   bool is_incremental)
{
	size_t begun = tap_proto_begin(out, TAP_PF_CLOCKS_CLOCK);

	tap_proto_u64(out, TAP_PF_CLOCK_ID, id);
	tap_proto_u64(out, TAP_PF_CLOCK_TIMESTAMP, ns);
	if (is_incremental)
		tap_proto_u64(out, TAP_PF_CLOCK_IS_INCREMENTAL, true);
	tap_proto_end(out, begun);
}

#endif
