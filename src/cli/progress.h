/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How far a long reading has come: a line on a terminal that is written over and over, and erased
 * at the end. What takes less than a second shows none, and what is no terminal gets none.
 */
#ifndef TAP_CLI_PROGRESS_H
#define TAP_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct tap_progress {
	bool on, shown;
	int fd;
	uint64_t next_ns; /* CLOCK_MONOTONIC, when it is to be shown next */
	const char *what; /* "pass 1 of 2", borrowed; a new one may be set at any time */
};

/* @now_ns: CLOCK_MONOTONIC. */
void tap_progress_start(struct tap_progress *p, int fd, const char *what, uint64_t now_ns);
/* @done of @whole, of anything. */
void tap_progress_show(struct tap_progress *p, uint64_t done, uint64_t whole, uint64_t now_ns);
/* tap_progress_show(), now, of the struct tap_progress at @progress: to be handed to what takes
 * long. */
void tap_progress_step(void *progress, uint64_t done, uint64_t whole);
/* Erases the line; it comes again if tap_progress_show() is called. */
void tap_progress_erase(struct tap_progress *p);

#endif
