/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ftrace events of one CPU in time order, as Perfetto's FtraceEventBundle. Switches and
 * wakings, which are most events, are stored as columns of numbers (CompactSched), all other events
 * as messages.
 *
 * For a column of switches, Perfetto assumes that each switch's prev task is the previous switch's
 * next task. So a CPU's first switch must be a message, and so must its first waking: Perfetto
 * ignores wakings in columns before the first switch.
 */
#ifndef TAP_PERFETTO_BUNDLE_H
#define TAP_PERFETTO_BUNDLE_H

#include "timeline/sched_fields.h"
#include "show/perfetto/fields.h"
#include "show/perfetto/comm.h"
#include "show/perfetto/machine.h"

#define TAP_BUNDLE_NAMES 256u

struct tap_bundle {
	int cpu;
	const struct tap_pf_machine *machine; /* borrowed */
	/*
	 * CompactSched's packed columns, indexed by field number, each with room for all rows.
	 * Owned, in one allocation.
	 */
	unsigned char *columns, *ends[TAP_PF_COMPACT_FLAGS + 1];
	uint64_t switch_ns, waking_ns; /* previous times in the trace: columns store differences */
	unsigned int nr_switches, nr_wakings, max_rows; /* .max_rows: limit for each of both */
	struct tap_buf events; /* owned; encoded events that are messages */
	char names[TAP_BUNDLE_NAMES][TAP_TASK_COMM]; /* distinct task names */
	unsigned int nr_names;
	uint16_t by_hash[2 * TAP_BUNDLE_NAMES]; /* hash table: index in .names + 1; 0: empty */
	bool has_loss; /* events before it were lost */
	/* the CPU had such an event, in this bundle or an earlier one */
	bool has_waking, has_switch;
	int current; /* the task that the last switch switched in */
	uint64_t message_ns; /* time of the last switch written as a message */
};

/* Return: NULL if out of memory. */
struct tap_bundle *tap_bundle_new(const struct tap_pf_machine *machine, int cpu);
void tap_bundle_free(struct tap_bundle *b);

/*
 * Add a switch or a waking, at a time of the machine's clock, as all times here. @comm:
 * TAP_TASK_COMM bytes. The bundle must not be full.
 */
void tap_bundle_switch(struct tap_bundle *b, uint64_t ts_ns, int64_t prev_state, int next, int prio,
		       const char *comm);
void tap_bundle_waking(struct tap_bundle *b, uint64_t ts_ns, int tid, int prio, int target_cpu,
		       unsigned int flags, const char *comm);
/* Begin an FtraceEvent of this task in .events. Return: the argument for tap_bundle_event_end(). */
size_t tap_bundle_event_begin(struct tap_bundle *b, uint64_t ts_ns, int tid);
void tap_bundle_event_end(struct tap_bundle *b, size_t begun);

/* Return true if the bundle must be put out before more is added. */
bool tap_bundle_is_full(const struct tap_bundle *b);
/* Append the bundle to @out as a TracePacket, and begin the next one. Return: 0 or -ENOMEM. */
int tap_bundle_put(struct tap_bundle *b, struct tap_buf *out);

#endif
