// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tally's programs with 16 entries for tasks, not 65,536, and 2 for cgroups, not 4096: tasks
 * whose tids differ by a multiple of 16 share one, as do most cgroups.
 */
#define TAP_TALLY_TAGS 16u
#define TAP_CACHE_BITS 1

/*
 * First waits are left out. They are known without a tag, and may be longer than the tally: the
 * test takes the tally's age as the limit of all others.
 */
#define TAP_WAIT_ENDED(next, wait, kind, reason)                                                   \
	if ((reason) == TAP_TALLY_REASONS && !(next)->sched_info.pcount)                           \
	return
#define TAP_SWITCH_CLOCK() bpf_ktime_get_ns()

#include "../../bpf/tally.bpf.c"
