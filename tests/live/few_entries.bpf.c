// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tally's programs with 16 entries for tasks, not 65,536, and 2 for cgroups, not 4096: tasks
 * whose tids differ by a multiple of 16 share one, as do most cgroups.
 */
#define TAP_TALLY_TAGS 16u
#define TAP_CACHE_BITS 1
#include "../../bpf/tally.bpf.c"
