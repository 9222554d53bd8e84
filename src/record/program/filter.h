/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compiles the filter (event/expr/filter.h) of an event into a BPF program that runs before the one
 * that records the event. It computes the fields that the filter names as the definition assigns
 * them, and then tail-calls the recording program or ends.
 */
#ifndef TAP_PROGRAM_FILTER_H
#define TAP_PROGRAM_FILTER_H

#include "event/defs.h"
#include "event/expr/filter.h"
#include "record/program/attach.h"

struct btf;
struct tap_feed;
struct tap_functions;

/* Switches and triggers of an event (bpf/gate.h), which the program evaluates before the filter. */
struct tap_gate {
	const struct tap_functions *functions; /* borrowed */
	uint32_t event; /* the event's index in the maps */
	const struct tap_gate_trigger { /* triggers of this event */
		uint32_t number;
		const struct tap_filter *filter; /* NULL: fires on every event */
	} * triggers;
	unsigned int nr_triggers;
};

struct tap_filter_program {
	struct tap_links links;
	/* File descriptors. next: program array that contains the recording program. */
	int prog, next;
	int *maps; /* globs, and the fields' previous values (event/expr/past.h) */
	unsigned int nr_maps, cap_maps;
	/* fd of a map that counts keys added to the previous values; -1: none */
	int nr_new;
};

/*
 * Maximum number of keys whose previous values are stored. Beyond it the least recently used are
 * evicted, and the next record with such a key counts as its first.
 */
#define TAP_FILTER_MAX_KEYS 65536u

#define TAP_FILTER_PROGRAM_NONE                                                                    \
	((struct tap_filter_program){ .prog = -1, .next = -1, .nr_new = -1 })

/* Programs that the filter program may call. */
struct tap_filter_ways {
	int recorder; /* fd of the recording program, which must not be attached itself */
	int chain; /* fd of a program array */
	/* index in .chain of the program to call if the event does not match; 0: none */
	uint32_t next;
};

/*
 * @filter: NULL: every event matches; @gate must be set then. @gate: NULL: the recording has no
 * triggers.
 * @feed: the recording program's. Return: 0; -EINVAL with a sentence: a field is unavailable;
 * -errno.
 */
int tap_filter_program_load(struct tap_filter_program *p, const struct btf *btf,
			    const struct tap_def *def, const struct tap_feed *feed,
			    const struct tap_filter *filter, const struct tap_gate *gate,
			    const struct tap_filter_ways *ways, struct tap_err *err);
/* Return: 0 or -errno. */
int tap_filter_program_attach(struct tap_filter_program *p, const struct tap_probe *probe);
/* Return: how many keys may have been evicted, because more than TAP_FILTER_MAX_KEYS were added. */
uint64_t tap_filter_program_forgot(const struct tap_filter_program *p);
void tap_filter_program_detach(struct tap_filter_program *p);
void tap_filter_program_release(struct tap_filter_program *p); /* also detaches */

#endif
