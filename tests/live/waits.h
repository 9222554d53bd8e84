/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_LIVE_WAITS_H
#define TAP_LIVE_WAITS_H

/* A wait that the tally saw end. */
struct wait_record {
	unsigned int tid;
	unsigned int kind, reason; /* enum tap_tally_kind, enum tap_tally_censored */
	unsigned int pad;
	unsigned long long run; /* number of the task's runs before (sched_info.pcount) */
	unsigned long long ns;
	unsigned long long wakeup_ns; /* of a wait from the waking: until it was queued */
};

#endif
