/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_RECORD_SESSION_STATS_H
#define TAP_RECORD_SESSION_STATS_H

#include <stdbool.h>
#include <stdint.h>

/* Counters of a session, so far; complete after tap_session_finish(). */
struct tap_session_stats {
	uint64_t events, lost;
	bool lost_unknown; /* some losses could not be counted: .lost is a lower bound */
	bool lost_more; /* another process reset a ring: the number of lost events is unknown */
	/* size of the spool while recording, of the file at the end */
	uint64_t bytes;
	uint64_t start_ns, end_ns;
	double ns_per_event, probe_cpu_pct; /* each < 0: not known */
	struct { /* stack traces of events, known at the end */
		uint64_t records, distinct;
		/* .not_kept: too many distinct ones, or too much text; .not_read: reading failed */
		uint64_t not_kept, not_read;
	} stacks;
	double recorder_cpu_pct, recorder_ns_per_event;
};

#endif
