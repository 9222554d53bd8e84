/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events that a perf.data does not hold, but says in other records: sched_switch from its SWITCH
 * and EXIT records, kernel_stack and user_stack from the callchains of samples. Each has a format
 * of its own, with an id that no event of the file has, so that readers need not know of it.
 * docs/perf-data.md says what is in them.
 */
#ifndef TAP_FILE_PERF_MADE_H
#define TAP_FILE_PERF_MADE_H

#include "file/dat_file.h"
#include "file/perf_blocks.h"
#include "file/perf_maps.h"

/* prev_state, by the kernel's own numbers. */
enum tap_perf_left {
	TAP_PERF_LEFT_PREEMPTED = 0,
	TAP_PERF_LEFT_ASLEEP = 1, /* or blocked, or stopped */
	TAP_PERF_LEFT_DEAD = 0x10,
	TAP_PERF_LEFT_UNKNOWN = 0x200,
};

/* A switch as SWITCH records say it. */
struct tap_perf_switch {
	int prev, next; /* -1: not known */
	enum tap_perf_left left;
};

#define TAP_PERF_MAX_FRAMES 127u

/* The addresses of a callchain in the kernel, or in the program, the innermost first. */
struct tap_perf_chain {
	uint64_t at[TAP_PERF_MAX_FRAMES];
	unsigned int nr;
};

struct tap_perf_made {
	const struct tap_format *sched_switch; /* NULL: none are made */
	const struct tap_format *kernel_stack, *user_stack; /* likewise */
	struct tap_buf text; /* records of user_stack that are handed out */
	struct tap_perf_blocks blocks; /* that the records lie in */
};

/*
 * Adds the format of switches to the reader's, unless it has a sched_switch: that says more.
 * Return: 0; -ENOMEM.
 */
int tap_perf_made_switches(struct tap_perf_made *m, struct tap_reader *r, struct tap_err *err);

/*
 * Makes a record of @round, whose block goes with those of its round.
 * Return: 0; -E2BIG; -ENOMEM.
 */
int tap_perf_made_switch(struct tap_perf_made *m, uint64_t round, const struct tap_perf_switch *s,
			 const unsigned char **data, uint32_t *size, struct tap_err *err);

/* Adds the formats of stacks. Return: 0; -ENOMEM. */
int tap_perf_made_stacks(struct tap_perf_made *m, struct tap_reader *r, struct tap_err *err);

/*
 * The stack of the task @pid, as a record of ftrace's kernel_stack: addresses. Return: as
 * tap_perf_made_switch().
 */
int tap_perf_made_kernel_stack(struct tap_perf_made *m, uint64_t round, int pid,
			       const struct tap_perf_chain *chain, const unsigned char **data,
			       uint32_t *size, struct tap_err *err);
/* As addresses in the process @tgid, for tap_perf_made_name(). */
int tap_perf_made_user_stack(struct tap_perf_made *m, uint64_t round, int pid,
			     const struct tap_perf_chain *chain, int tgid,
			     const unsigned char **data, uint32_t *size, struct tap_err *err);
/*
 * Gives each user_stack among @events a text like that of our own: of each frame the file and where
 * in it, or its address. To be called as they are handed out: then all that was mapped before them
 * has been read. Return: 0; -ENOMEM.
 */
int tap_perf_made_name(struct tap_perf_made *m, struct tap_perf_maps *maps,
		       struct tap_event *const *events, unsigned int nr);

void tap_perf_made_release(struct tap_perf_made *m);

#endif
