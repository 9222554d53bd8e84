/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Definitions of events. One knows its record's layout, its print format, the tracepoints that can
 * feed it and the kernel members that it cannot do without. The built-in ones are events/, read as
 * user-space tables.
 */
#ifndef TAP_EVENT_DEFS_H
#define TAP_EVENT_DEFS_H

#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "event/format.h"

/* TRACE_NEEDS(): without it the field (or, where that is "", the event) does not exist. */
struct tap_need {
	const char *field;
	const char *spec; /* "rq.avg_irq": a member of a struct; "sys.cpu_capacity": a file
			   * of /sys/devices/system/cpu/cpu0; '|' is or */
};

struct tap_hook {
	/* as BTF has it, without "btf_trace_"; or a program's probe (record/program/probe.h) */
	const char *tracepoint;
	unsigned int nr_args; /* that the definition uses: the kernel may have more */
};

/*
 * Ids begin here. Far above the ids that a kernel gives out (it counts from 1), so that both can
 * stand in one recording; all are below 0x8000, for KernelShark keeps ids in 16 signed bits and
 * takes a negative one for a mark of its own.
 */
#define TAP_DEF_ID_BASE 0x7000u

/* No tracepoint's name has a colon. */
static inline bool tap_hook_is_probe(const struct tap_hook *hook)
{
	return strchr(hook->tracepoint, ':');
}

#define TAP_DEF_MAX_HOOKS 4u
#define TAP_DEF_MAX_NEEDS 16u

/* Of a record with all its texts: it is to fit where a ring ends (bpf/ring.h), and on a page of a
 * trace.dat. */
#define TAP_RECORD_MAX_BYTES 4000u
/* Behind the record's start: BPF programs put no text and no mask further (0x3ff in
 * bpf/schedtap.bpf.c). */
#define TAP_RECORD_MAX_TEXT_AT 1023u

/* Of definitions in one line (record/program/one_line.h). */
#define TAP_DEF_LINE_SYSTEM "own"
#define TAP_DEF_LINE_GROUP "one_line"

struct tap_def {
	const char *system, *name;
	const char *group; /* events/<group>.h: what -e GROUP selects */
	/* TP_printk(), with REC for __entry: "a=%d" " b=%d", REC->a, REC->b */
	const char *print_fmt;
	const char *params; /* TP_PROTO(): "struct task_struct *p, int dest_cpu" */
	const char *condition; /* TP_CONDITION(), or NULL */
	const char *assign; /* TP_fast_assign(), with REC for __entry */
	const struct tap_field *fields; /* without the common ones */
	unsigned int nr_fields;
	const struct tap_hook *hooks; /* none: written by the recorder itself */
	unsigned int nr_hooks;
	const struct tap_need *needs;
	unsigned int nr_needs;
	uint32_t size; /* bytes of the fixed part of a record */
	unsigned int id; /* that its records carry */
};

/* The definitions in the order of events/all.h. Return: NULL past the last. */
const struct tap_def *tap_def_at(unsigned int index);

/* Return: NULL if there is none. @system may be NULL. */
const struct tap_def *tap_def_find(const char *system, const char *name);

/* An own definition may have the name of a built-in one, whose place it takes. */
static inline bool tap_def_is_built_in(const struct tap_def *def)
{
	return def && tap_def_find(def->system, def->name) == def;
}

/* Tables, number -> text (char *), that take the place of calls. NULL: of that call's none. */
struct tap_def_texts {
	const struct tap_map *cgroups; /* tp_cgroup_path(id): paths */
	/* tp_stack(number): frames, as they stand in a string of a format text */
	const struct tap_map *stacks;
};

/*
 * Writes the definition's format text, byte for byte as a kernel (6.2 or later) prints it.
 * @absent: one flag per field: left out of the text, with its part of the print format.
 *          NULL: all are there.
 * @texts: what calls in the print format become; NULL leaves them as they are.
 */
void tap_def_format(const struct tap_def *def, const bool *absent,
		    const struct tap_def_texts *texts, struct tap_buf *out);
/* That text, parsed, as this machine records. *fmt: free with tap_format_free(). Return: 0 or
 * -errno. */
int tap_def_parse(const struct tap_def *def, const bool *absent, struct tap_format **fmt,
		  struct tap_err *err);

#endif
