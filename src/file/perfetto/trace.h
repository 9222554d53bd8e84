/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A Perfetto trace while it is translated. perfetto.c walks the packets, bundle.c puts the events
 * of a bundle in order, compact.c reads switches and wakings in columns, switches.c adds these,
 * events.c finds the layouts of all other events, convert.c adds those. tasks.c reads what names
 * tasks, about.c what describes the machine.
 */
#ifndef TAP_FILE_PERFETTO_TRACE_H
#define TAP_FILE_PERFETTO_TRACE_H

#include "base/proto_read.h"
#include "file/made.h"
#include "file/perfetto/numbers.h"

#define TAP_PFT_COMM 16u
#define TAP_PFT_NO_TASK (-1) /* which task a CPU runs is not known */
#define TAP_PFT_MAX_FIELDS 32u /* that are read of an event */
#define TAP_PFT_NR_TABLE 1024u /* numbers of events in a table; others are in a map */

/* How the messages of one number become records. */
struct tap_pft_kind {
	const struct tap_format *fmt; /* NULL: they are only counted */
	/* by number in the message; of a GenericFtraceEvent by order */
	const struct tap_field *fields[TAP_PFT_MAX_FIELDS];
	bool has_text; /* its records have texts of any length */
	uint64_t nr_unknown;
	struct tap_pft_kind *older; /* of all kinds */
};

/* One CPU, between its switches. */
struct tap_pft_cpu {
	int tid, prio; /* of its task; TAP_PFT_NO_TASK; or a number that our export has for it */
	char comm[TAP_PFT_COMM];
	int left; /* the task that the last switch took off the CPU */
	uint64_t switch_ns;
	bool is_found; /* our export found the task running; nothing has confirmed that yet */
};

struct tap_pft_switch {
	uint64_t ts_ns;
	int prev, prev_prio, next, next_prio;
	int64_t prev_state;
	const char *prev_comm, *next_comm; /* TAP_PFT_COMM bytes */
	unsigned int flags;
};

struct tap_pft_waking {
	uint64_t ts_ns;
	int by; /* the waker, or TAP_PFT_NO_TASK */
	int tid, prio, target_cpu;
	const char *comm;
	unsigned int flags;
	bool is_column;
};

/* The columns of a CompactSched: where the values of the next row are. */
struct tap_pft_compact {
	struct tap_proto_in columns[NR_COMPACT_COLUMNS];
	bool has_switch, has_waking; /* the next rows; false: there are no more */
	struct tap_pft_switch next_switch;
	struct tap_pft_waking next_waking;
	bool bad; /* a column is damaged, or shorter than others */
};

struct tap_pft_event {
	uint64_t ts_ns;
	struct tap_proto_in message; /* FtraceEvent */
};

struct tap_pft {
	struct tap_made *made;
	struct tap_pft_kind *by_number[TAP_PFT_NR_TABLE];
	struct tap_map by_other_number, by_name; /* to struct tap_pft_kind * */
	struct tap_pft_kind *newest_kind;
	struct {
		const struct tap_format *fmt;
		const struct tap_field *prev_comm, *prev_pid, *prev_prio, *prev_state, *next_comm,
			*next_pid, *next_prio;
	} of_switch;
	struct {
		const struct tap_format *fmt;
		const struct tap_field *comm, *pid, *prio, *target_cpu;
	} of_waking;
	struct tap_pft_cpu *cpus;
	unsigned int nr_cpus;
	/* of the bundle that is read */
	struct tap_pft_event *events;
	unsigned int nr_events, cap_events;
	char (*names)[TAP_PFT_COMM];
	unsigned int nr_names, cap_names;
	/* about.c */
	unsigned int release; /* the kernel's: 4.14 is 414; 0: not known */
	bool has_clock;
	unsigned int clock; /* of the events: NR_FTRACE_BOOT, ... */
	int64_t behind_boot_ns; /* to be added to a time of the events */
	uint64_t boot_ns, raw_ns, realtime_ns; /* of the same moment; 0: not known */
	/* for notes */
	uint64_t nr_added, nr_damaged, nr_other_clock;
	bool is_cut;
};

/* Return the tid that a message has as an int32; TAP_PFT_NO_TASK: it is none. */
static inline int tap_pft_tid(uint64_t v)
{
	return v <= INT32_MAX ? (int)v : TAP_PFT_NO_TASK;
}

/* All functions below that return nothing report failures by ->made->failed. */

/* ---- perfetto.c ---- */
struct tap_pft_cpu *tap_pft_cpu(struct tap_pft *t, unsigned int cpu); /* NULL: failed */

/* ---- bundle.c ---- */
void tap_pft_bundle(struct tap_pft *t, struct tap_proto_in in);

/* ---- compact.c ---- */
/* Find the columns and names, and read the first rows. @c: to be filled. */
void tap_pft_compact_begin(struct tap_pft *t, struct tap_pft_compact *c, struct tap_proto_in in);
void tap_pft_compact_next_switch(struct tap_pft *t, struct tap_pft_compact *c);
void tap_pft_compact_next_waking(struct tap_pft *t, struct tap_pft_compact *c);

/* ---- switches.c ---- */
/* Find the layouts. */
void tap_pft_switches_begin(struct tap_pft *t);
/* Add a switch. Of .prev_... only .prev_state is read if @is_column: the CPU's task is left. */
void tap_pft_add_switch(struct tap_pft *t, unsigned int cpu, struct tap_pft_switch s,
			bool is_column);
void tap_pft_add_waking(struct tap_pft *t, unsigned int cpu, const struct tap_pft_waking *w);
/* Add the tasks that were found running on CPUs which have no switch after that. */
void tap_pft_end_switches(struct tap_pft *t);
/* Return the task that the CPU runs, or TAP_PFT_NO_TASK. */
int tap_pft_running(const struct tap_pft_cpu *c);
/* Copy a name to TAP_PFT_COMM bytes. */
void tap_pft_copy_comm(char to[TAP_PFT_COMM], const struct tap_proto_in *from);

/* ---- events.c ---- */
/* Return how messages of this number are converted; NULL: failed. */
struct tap_pft_kind *tap_pft_kind(struct tap_pft *t, unsigned int number);
/* Return how a GenericFtraceEvent of this name is converted, by its fields; NULL: failed. */
struct tap_pft_kind *tap_pft_generic_kind(struct tap_pft *t, struct tap_proto_in message);
/* Read a GenericEventDescriptor, which describes the messages of a number. */
void tap_pft_describe(struct tap_pft *t, struct tap_proto_in in);
void tap_pft_kinds_release(struct tap_pft *t);
/* Name the unknown events. */
int tap_pft_note_unknown(struct tap_pft *t);

/* ---- convert.c ---- */
void tap_pft_add_event(struct tap_pft *t, unsigned int cpu, const struct tap_pft_event *ev);

/* ---- tasks.c ---- */
void tap_pft_tree(struct tap_pft *t, struct tap_proto_in in);
void tap_pft_track(struct tap_pft *t, struct tap_proto_in in);

/* ---- about.c ---- */
void tap_pft_system(struct tap_pft *t, struct tap_proto_in in);
void tap_pft_clocks(struct tap_pft *t, struct tap_proto_in in);
/* The bundle's events have this clock. @ftrace_ns, @boot_ns: both at the same time; 0: not known.
 */
void tap_pft_bundle_clock(struct tap_pft *t, uint64_t clock, uint64_t ftrace_ns, uint64_t boot_ns);
/* Return the kernel's prev_state with the bits of events/sched.h. */
int64_t tap_pft_prev_state(const struct tap_pft *t, int64_t raw);
/* Put the clock and the wall clock into the reader. Return: the clock's name. */
const char *tap_pft_about_end(struct tap_pft *t);

#endif
