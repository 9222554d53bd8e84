/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ftrace events of one CPU, in the order of time, as Perfetto takes them: an FtraceEventBundle.
 * Switches and wakings, which are most of a recording, are columns of numbers in it (CompactSched),
 * others messages.
 *
 * Of a column of switches Perfetto takes it that what was switched in before is what is switched
 * out. So the first one of a CPU must be a message, and so must the first waking: those that stand
 * in columns before the first switch are passed over.
 */
#ifndef TAP_PERFETTO_BUNDLE_H
#define TAP_PERFETTO_BUNDLE_H

#include "timeline/sched_fields.h"
#include "show/perfetto/fields.h"
#include "show/perfetto/proto.h"

#define TAP_BUNDLE_NAMES 256u

struct tap_bundle {
	int cpu;
	/* CompactSched's columns, packed, by the numbers of its fields; each has room for all rows.
	 * Owned, in one piece. */
	unsigned char *columns, *ends[TAP_PF_COMPACT_FLAGS + 1];
	uint64_t switch_ns, waking_ns; /* stamps are distances from the one before */
	unsigned int nr_switches, nr_wakings, max_rows; /* .max_rows: of each, before it is full */
	struct tap_buf events; /* of messages: owned */
	char names[TAP_BUNDLE_NAMES][TAP_TASK_COMM]; /* of tasks, each once */
	unsigned int nr_names;
	uint16_t by_hash[2 * TAP_BUNDLE_NAMES]; /* -> index in names, plus one */
	bool has_loss; /* events before it are missing */
	bool has_waking, has_switch; /* also of a bundle before */
	int current; /* whom the last switch let run */
	uint64_t message_ns; /* of the last switch that was a message */
};

/* NULL when out of memory. */
struct tap_bundle *tap_bundle_new(int cpu);
void tap_bundle_free(struct tap_bundle *b);

/* @comm: TAP_TASK_COMM bytes. Not of a bundle that is full. */
void tap_bundle_switch(struct tap_bundle *b, uint64_t ts_ns, int64_t prev_state, int next, int prio,
		       const char *comm);
void tap_bundle_waking(struct tap_bundle *b, uint64_t ts_ns, int tid, int prio, int target_cpu,
		       unsigned int flags, const char *comm);
/* The beginning of an FtraceEvent of this task, in .events. Return: for tap_bundle_event_end(). */
size_t tap_bundle_event_begin(struct tap_bundle *b, uint64_t ts_ns, int tid);
void tap_bundle_event_end(struct tap_bundle *b, size_t begun);

/* Whether it must be put out before there is more. */
bool tap_bundle_is_full(const struct tap_bundle *b);
/* Adds it as a TracePacket, and begins the next one. Return: 0 or -ENOMEM. */
int tap_bundle_put(struct tap_bundle *b, struct tap_buf *out);

#endif
