/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs that apply filters (-f) and triggers, and then call the program that records the event
 * (record/program/filter.h).
 */
#ifndef TAP_RECORD_BPF_FILTERS_H
#define TAP_RECORD_BPF_FILTERS_H

#include "record/bpf/load.h"
#include "record/bpf/own.h"
#include "record/program/filter.h"

struct tap_bpf_filters { /* all zero: no filters */
	struct tap_bpf_filter {
		int recorder; /* descriptor of the program that records */
		const struct tap_def *def; /* of its event */
		struct tap_filter_program program;
	} * v;
	unsigned int nr, cap;
};

/*
 * Load the filters of the plan's events. The programs that record them must be loaded before.
 * Return: 0; -EINVAL with a sentence; -errno.
 */
int tap_bpf_filters_load(struct tap_bpf_filters *f, const struct bpf_object *obj,
			 const struct tap_bpf_own *own, struct tap_plan *plan,
			 const struct tap_kernel *kernel, struct tap_err *err);
/*
 * After the last event: report in .afterword of an event how often its filter forgot earlier
 * values.
 */
void tap_bpf_filters_tell(const struct tap_bpf_filters *f, struct tap_plan *plan);
void tap_bpf_filters_release(struct tap_bpf_filters *f);

/* Return: NULL: the program has no filter. */
struct tap_filter_program *tap_bpf_filter_of(const struct tap_bpf_filters *f, int recorder);
/* Return: the descriptor of the filter's program, or @recorder if there is no filter. */
int tap_bpf_front_of(const struct tap_bpf_filters *f, int recorder);

#endif
