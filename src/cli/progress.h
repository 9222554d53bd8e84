/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Progress of a long operation: a line on a terminal that is rewritten, and erased at the end.
 * Nothing is shown for operations under a second, or if the output is not a terminal.
 */
#ifndef TAP_CLI_PROGRESS_H
#define TAP_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct tap_progress {
	bool on, shown;
	int fd;
	uint64_t next_ns; /* CLOCK_MONOTONIC time of the next update */
	const char *what; /* label such as "pass 1 of 2", borrowed; may be replaced at any time */
};

/* @now_ns: CLOCK_MONOTONIC. */
void tap_progress_start(struct tap_progress *p, int fd, const char *what, uint64_t now_ns);
/* Show @done of @whole, in any unit, if an update is due. */
void tap_progress_show(struct tap_progress *p, uint64_t done, uint64_t whole, uint64_t now_ns);
/*
 * Callback for long operations: tap_progress_show() with the current time. @progress: a struct
 * tap_progress.
 */
void tap_progress_step(void *progress, uint64_t done, uint64_t whole);
/* Erase the line. The next tap_progress_show() that is due prints it again. */
void tap_progress_erase(struct tap_progress *p);

#endif
