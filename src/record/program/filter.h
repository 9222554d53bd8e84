/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A filter (event/expr/filter.h) of a built-in event as a BPF program that stands in front of the
 * one that records: it computes what the filter names, as the definition assigns it, and ends, or
 * calls the other.
 */
#ifndef TAP_PROGRAM_FILTER_H
#define TAP_PROGRAM_FILTER_H

#include "event/defs.h"
#include "event/expr/filter.h"
#include "record/program/attach.h"

struct btf;
struct tap_feed;
struct tap_functions;

/* What stands in front of the filter where a recording has triggers (bpf/gate.h). */
struct tap_gate {
	const struct tap_functions *functions; /* borrowed */
	uint32_t event; /* its number in the maps */
	const struct tap_gate_trigger { /* of this event */
		uint32_t number;
		const struct tap_filter *filter; /* NULL: always */
	} * triggers;
	unsigned int nr_triggers;
};

struct tap_filter_program {
	struct tap_links links;
	/* descriptors; next: the program array that leads to the one that records */
	int prog, next;
	int *maps; /* what globs are, and the pasts (event/expr/past.h) */
	unsigned int nr_maps, cap_maps;
	int nr_new; /* of a map: how many keys came into the pasts; -1: there are none */
};

/* Above that, those that were not asked for the longest are forgotten, and their next record is as
 * their first. */
#define TAP_FILTER_MAX_KEYS 65536u

#define TAP_FILTER_PROGRAM_NONE                                                                    \
	((struct tap_filter_program){ .prog = -1, .next = -1, .nr_new = -1 })

/* Where the program leads. */
struct tap_filter_ways {
	int recorder; /* descriptor; it must not be attached itself */
	int chain; /* descriptor of a program array, .. */
	uint32_t next; /* .. in which this is to run where the event does not pass; 0: none is */
};

/*
 * @filter: NULL: all pass; then there is a gate. @gate: NULL: there are no triggers. @feed: of the
 * program that records. Return: 0; -EINVAL with a sentence: a field cannot be had there; -errno.
 */
int tap_filter_program_load(struct tap_filter_program *p, const struct btf *btf,
			    const struct tap_def *def, const struct tap_feed *feed,
			    const struct tap_filter *filter, const struct tap_gate *gate,
			    const struct tap_filter_ways *ways, struct tap_err *err);
/* 0 or -errno */
int tap_filter_program_attach(struct tap_filter_program *p, const struct tap_probe *probe);
/* How many keys of its pasts may have been forgotten, as more than TAP_FILTER_MAX_KEYS came. */
uint64_t tap_filter_program_forgot(const struct tap_filter_program *p);
void tap_filter_program_detach(struct tap_filter_program *p);
void tap_filter_program_release(struct tap_filter_program *p); /* detaches, too */

#endif
