/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events made from other records of a perf.data: sched_switch from SWITCH and EXIT records,
 * kernel_stack and user_stack from the callchains of samples. Each has its own format, with an id
 * that no event of the file uses, so readers need no special case. docs/perf-data.md describes
 * their contents.
 */
#ifndef TAP_FILE_PERF_MADE_H
#define TAP_FILE_PERF_MADE_H

#include "file/dat_file.h"
#include "file/perf_blocks.h"
#include "file/perf_maps.h"

/* Values of prev_state, with the kernel's numbers. */
enum tap_perf_left {
	TAP_PERF_LEFT_PREEMPTED = 0,
	TAP_PERF_LEFT_ASLEEP = 1, /* or blocked, or stopped */
	TAP_PERF_LEFT_DEAD = 0x10,
	TAP_PERF_LEFT_UNKNOWN = 0x200,
};

/* A switch derived from SWITCH records. */
struct tap_perf_switch {
	int prev, next; /* tids; -1: unknown */
	enum tap_perf_left left;
};

#define TAP_PERF_MAX_FRAMES 127u

/* The kernel or user addresses of a callchain, innermost first. */
struct tap_perf_chain {
	uint64_t at[TAP_PERF_MAX_FRAMES];
	unsigned int nr;
};

struct tap_perf_made {
	const struct tap_format *sched_switch; /* NULL: no switches are made */
	const struct tap_format *kernel_stack, *user_stack; /* NULL: no stacks are made */
	struct tap_buf text; /* records of user_stack that are being returned */
	struct tap_perf_blocks blocks; /* memory of the made records */
};

/*
 * Add the format of switches to the reader's, unless the file has sched_switch events, which are
 * more detailed. Return: 0; -E2BIG; -ENOMEM.
 */
int tap_perf_made_switches(struct tap_perf_made *m, struct tap_reader *r, struct tap_err *err);

/*
 * Make a switch record in round @round; its memory is released along with that round's. Return: 0;
 * -E2BIG; -ENOMEM.
 */
int tap_perf_made_switch(struct tap_perf_made *m, uint64_t round, const struct tap_perf_switch *s,
			 const unsigned char **data, uint32_t *size, struct tap_err *err);

/* Add the formats of stacks to the reader's. Return: 0; -E2BIG; -ENOMEM. */
int tap_perf_made_stacks(struct tap_perf_made *m, struct tap_reader *r, struct tap_err *err);

/*
 * Make a record like ftrace's kernel_stack from the callchain of the task @pid. Return: as for
 * tap_perf_made_switch().
 */
int tap_perf_made_kernel_stack(struct tap_perf_made *m, uint64_t round, int pid,
			       const struct tap_perf_chain *chain, const unsigned char **data,
			       uint32_t *size, struct tap_err *err);
/*
 * Make a user_stack record with raw addresses in the process @tgid, which tap_perf_made_name()
 * replaces by text. Return: as for tap_perf_made_switch().
 */
int tap_perf_made_user_stack(struct tap_perf_made *m, uint64_t round, int pid,
			     const struct tap_perf_chain *chain, int tgid,
			     const unsigned char **data, uint32_t *size, struct tap_err *err);
/*
 * Give each user_stack in @events the text that schedtap's own recordings have: per frame the file
 * and the offset in it, or the address. Call it when events are returned: all mappings made before
 * them have been read by then. Return: 0; -ENOMEM.
 */
int tap_perf_made_name(struct tap_perf_made *m, struct tap_perf_maps *maps,
		       struct tap_event *const *events, unsigned int nr);

void tap_perf_made_release(struct tap_perf_made *m);

#endif
