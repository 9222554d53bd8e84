/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Event definitions. A definition contains a record's layout, its print format, the tracepoints
 * that it can use and the kernel members that it needs. The built-in definitions are the headers of
 * events/, which defs.c turns into user-space tables.
 */
#ifndef TAP_EVENT_DEFS_H
#define TAP_EVENT_DEFS_H

#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "event/format.h"

/* TRACE_NEEDS(): the field (or the whole event, if .field is "") requires what .spec names. */
struct tap_need {
	const char *field;
	/*
	 * "rq.avg_irq": a member of a struct; "sys.cpu_capacity": a file in
	 * /sys/devices/system/cpu/cpu0; '|' separates alternatives
	 */
	const char *spec;
};

struct tap_hook {
	/* the name in BTF without "btf_trace_", or a program's probe (record/program/probe.h) */
	const char *tracepoint;
	unsigned int nr_args; /* used by the definition; the tracepoint may have more */
};

/*
 * First event ID. It is far above the kernel's own IDs (which count from 1), so that both kinds may
 * be in one recording. All IDs are below 0x8000, because KernelShark stores them in 16 signed bits
 * and uses negative ones for its own marks.
 */
#define TAP_DEF_ID_BASE 0x7000u

/* Return true if the hook is a probe: these contain a colon, tracepoint names do not. */
static inline bool tap_hook_is_probe(const struct tap_hook *hook)
{
	return strchr(hook->tracepoint, ':');
}

#define TAP_DEF_MAX_HOOKS 4u
#define TAP_DEF_MAX_NEEDS 16u

/*
 * Maximum size of a record with all its texts, in bytes. It must fit into the slack at the end of a
 * ring (bpf/ring.h) and into one sub-buffer of a trace.dat.
 */
#define TAP_RECORD_MAX_BYTES 4000u
/*
 * Maximum offset of a text or bitmask from the record's start, in bytes: BPF programs mask offsets
 * with 0x3ff (bpf/schedtap.bpf.c).
 */
#define TAP_RECORD_MAX_TEXT_AT 1023u

/* System and group of events that are defined in one line (record/program/one_line.h). */
#define TAP_DEF_LINE_SYSTEM "own"
#define TAP_DEF_LINE_GROUP "one_line"

struct tap_def {
	const char *system, *name;
	/* TRACE_FORM_OF(): it is a short form of this event, and its records have that name */
	const char *form_of; /* or NULL */
	const char *group; /* events/<group>.h; -e GROUP selects it */
	/* TP_printk() with REC instead of __entry: "a=%d" " b=%d", REC->a, REC->b */
	const char *print_fmt;
	const char *params; /* TP_PROTO(): "struct task_struct *p, int dest_cpu" */
	const char *condition; /* TP_CONDITION(), or NULL */
	const char *assign; /* TP_fast_assign() with REC instead of __entry */
	const struct tap_field *fields; /* without the common fields */
	unsigned int nr_fields;
	const struct tap_hook *hooks; /* none if the recorder itself writes the event */
	unsigned int nr_hooks;
	const struct tap_need *needs;
	unsigned int nr_needs;
	uint32_t size; /* size of a record's fixed part, in bytes */
	unsigned int id; /* the event ID in its records */
};

static inline const char *tap_def_record_name(const struct tap_def *def)
{
	return def->form_of ? def->form_of : def->name;
}

/* Return true if -e can select it: the recorder does not write it itself or choose its form. */
static inline bool tap_def_is_selectable(const struct tap_def *def)
{
	return def->nr_hooks && !def->form_of;
}

/* Return the built-in definition at @index, in the order of events/all.h; NULL after the last. */
const struct tap_def *tap_def_at(unsigned int index);

/* Find a built-in definition. @system: NULL for any. Return: NULL if it does not exist. */
const struct tap_def *tap_def_find(const char *system, const char *name);

/*
 * Return true for a built-in definition. A user's definition may replace a built-in one of the same
 * name.
 */
static inline bool tap_def_is_built_in(const struct tap_def *def)
{
	return def && tap_def_find(def->system, def->name) == def;
}

/*
 * Tables from numbers to texts (char *) that replace calls in a print format. NULL: no texts for
 * that call.
 */
struct tap_def_texts {
	const struct tap_map *cgroups; /* for tp_cgroup_path(id): paths */
	/* for tp_stack(number): frames, quoted as in a string of a format text */
	const struct tap_map *stacks;
};

/*
 * Write a definition's format text, byte for byte as a kernel (6.2 or later) prints it.
 * @absent: one flag per field: true leaves out the field and its part of the print format.
 *          NULL: no field is absent.
 * @texts: replacements for calls in the print format; NULL keeps the calls.
 */
void tap_def_format(const struct tap_def *def, const bool *absent,
		    const struct tap_def_texts *texts, struct tap_buf *out);
/*
 * Parse the text of tap_def_format() with this machine's sizes. @fmt: to be freed by
 * tap_format_free().
 * Return: 0 or -errno.
 */
int tap_def_parse(const struct tap_def *def, const bool *absent, struct tap_format **fmt,
		  struct tap_err *err);

#endif
