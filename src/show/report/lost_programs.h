/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that lost their own events (user-space tracepoints) in a recording. */
#ifndef TAP_REPORT_LOST_PROGRAMS_H
#define TAP_REPORT_LOST_PROGRAMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct tap_lost_program {
	const char *comm; /* borrowed from the recording's description */
	int pid; /* 0: unknown */
	uint64_t lost;
	bool is_lower_bound;
};

/*
 * Iterate over programs that lost events. @programs: from the recording's description; NULL if it
 * lists none. @at: 0 before the first call. Return: false after the last program.
 */
bool tap_lost_program_next(const json_t *programs, size_t *at, struct tap_lost_program *p);
/*
 * Append "emit (pid 12): 5, db (pid 13): an unknown number, and 2 more programs"; nothing if no
 * program lost events.
 */
void tap_lost_programs_text(const json_t *programs, struct tap_buf *text);

#endif
