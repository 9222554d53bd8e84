// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tally's programs with 16 entries for tasks, not 65,536: tasks whose tids differ by a multiple
 * of 16 share one.
 */
#define TAP_TALLY_TAGS 16u
#include "../../bpf/tally.bpf.c"
