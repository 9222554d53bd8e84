/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_RECORD_SESSION_STATS_H
#define TAP_RECORD_SESSION_STATS_H

#include <stdbool.h>
#include <stdint.h>

/* How it goes, and at the end, how it went. */
struct tap_session_stats {
	uint64_t events, lost; /* of all but tracefs while running, of all at the end */
	bool lost_unknown; /* of some losses the number is not known: .lost is a lower bound */
	bool lost_more; /* others reset a ring: nobody knows how many were in it */
	uint64_t bytes; /* of pages while running, of the file at the end */
	uint64_t start_ns, end_ns;
	double ns_per_event, probe_cpu_pct; /* each < 0: not known */
	struct { /* of events, at the end */
		uint64_t records, distinct;
		uint64_t not_kept, not_read; /* of which no record or no text tells */
	} stacks;
	double recorder_cpu_pct, recorder_ns_per_event;
};

#endif
