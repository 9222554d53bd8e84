/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the loads share. All of this runs in the load's process. */
#ifndef TAP_LOAD_PARTS_H
#define TAP_LOAD_PARTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "record/load/load.h"

enum tap_load_phase { TAP_LOAD_WARM_UP, TAP_LOAD_MEASURE, TAP_LOAD_STOP };

struct tap_load {
	const struct tap_load_opts *opts;
	struct tap_load_result *result;
	char process_name[TAP_LOAD_COMM];
	atomic_int phase;
};

/* Size of a cache line: what one thread writes and others do not must not share one. */
#define TAP_LOAD_LINE 64

/* A thread's own numbers, which only that thread writes. */
struct tap_load_count {
	_Alignas(TAP_LOAD_LINE) struct tap_load *load;
	atomic_ullong operations; /* read by the load's first thread, for .rate */
	struct tap_hist request, wakeup;
	int err; /* 0 or the first -errno */
};

/*
 * The loads. Each runs until the phase is TAP_LOAD_STOP; groups end on their own. Return: 0; -errno
 * with a sentence.
 */
int tap_load_messages(struct tap_load *l, struct tap_err *err);
int tap_load_pipe(struct tap_load *l, struct tap_err *err);
int tap_load_threads(struct tap_load *l, struct tap_err *err); /* yield, fork and hog */
int tap_load_groups(struct tap_load *l, struct tap_err *err);

static inline bool tap_load_measures(struct tap_load *l)
{
	return atomic_load_explicit(&l->phase, memory_order_relaxed) == TAP_LOAD_MEASURE;
}

static inline bool tap_load_stops(struct tap_load *l)
{
	return atomic_load_explicit(&l->phase, memory_order_relaxed) == TAP_LOAD_STOP;
}

/* Return the counts of @nr threads; NULL when out of memory. */
struct tap_load_count *tap_load_counts(struct tap_load *l, unsigned int nr);
/* Count an operation of this length. Call only while the load measures. */
void tap_load_operation(struct tap_load_count *c, uint64_t ns);
void tap_load_wakeup(struct tap_load_count *c, uint64_t ns);
/* Add the counts to the result, and free them. Return: 0; -errno. */
int tap_load_sum(struct tap_load *l, struct tap_load_count *counts, unsigned int nr);

/*
 * Let the warm-up and the measured time pass, then set TAP_LOAD_STOP. @counts: for .rate. @at:
 * called when the measured time begins and when it ends; may be NULL. Return: 0 or -ENOMEM.
 */
int tap_load_pass(struct tap_load *l, struct tap_load_count *counts, unsigned int nr,
		  void (*at)(void *ctx, bool ends), void *ctx);

/* The matrices of one thread: two factors, and the product. */
struct tap_load_work {
	unsigned long *m; /* owned */
	unsigned int size;
};
int tap_load_work_init(struct tap_load_work *w, unsigned int size); /* 0 or -ENOMEM */
void tap_load_work_release(struct tap_load_work *w);
/* Compute the product @nr times. */
void tap_load_do(const struct tap_load_work *w, uint64_t nr);

/* Name the calling thread. */
void tap_load_name(const char *name);

#endif
