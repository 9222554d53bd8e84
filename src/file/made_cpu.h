/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The records of one CPU while a recording is made (made.h). Events that are earlier than their
 * predecessor go into another run, so that each run is in the order of time; the runs are merged
 * once all events are there.
 */
#ifndef TAP_FILE_MADE_CPU_H
#define TAP_FILE_MADE_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "file/page.h"

struct tap_made;

#define TAP_MADE_BLOCK_PAGES 64u /* sub-buffers that are written at once */

struct tap_made_cpu {
	int fd; /* -1: no event yet */
	bool is_open; /* .page is being filled */
	uint64_t loss, missed; /* before the next one, and before this one; 0: none */
	uint64_t last_ns;
	uint64_t bytes; /* of the file */
	unsigned char *block;
	unsigned int nr_pages; /* of .block that are full */
	struct tap_page page;
	struct tap_made_cpu *later; /* the next run, which ends before this one; owned */
};

/* Make room for a record. Return: its bytes, not cleared; NULL: failed. */
unsigned char *tap_made_put(struct tap_made *m, struct tap_made_cpu *c, uint64_t ts_ns,
			    uint32_t size);
/* Write all records into the file. Return: 0 or -errno. */
int tap_made_flush(struct tap_made *m, struct tap_made_cpu *c);
void tap_made_cpu_release(struct tap_made_cpu *c);

/* Replace the runs of a CPU, of which the first is flushed, by one. Return: 0 or -errno. */
int tap_made_merge(struct tap_made *m, struct tap_made_cpu *c);

#endif
