/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs whose own events are missing in a recording, by name. */
#ifndef TAP_REPORT_LOST_PROGRAMS_H
#define TAP_REPORT_LOST_PROGRAMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct tap_lost_program {
	const char *comm; /* borrowed from the description */
	int pid; /* 0: not known */
	uint64_t lost;
	bool is_lower_bound;
};

/* @programs: of the description; NULL: it has none. @at: 0 at first. Return: false: there is no
 * further one. */
bool tap_lost_program_next(const json_t *programs, size_t *at, struct tap_lost_program *p);
/* "emit (pid 12): 5, db (pid 13): an unknown number, and 2 more programs"; nothing where no program
 * lost events. */
void tap_lost_programs_text(const json_t *programs, struct tap_buf *text);

#endif
