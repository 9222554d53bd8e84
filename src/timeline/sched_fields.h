/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The events that the timeline reads, and where in each their fields lie: looked up by name once.
 */
#ifndef TAP_TIMELINE_SCHED_FIELDS_H
#define TAP_TIMELINE_SCHED_FIELDS_H

#include <string.h>

#include <schedtap/event.h>

/* What an event tells. */
enum tap_sched_kind {
	TAP_SCHED_NONE, /* of no use to the timeline */
	TAP_SCHED_SWITCH,
	TAP_SCHED_WAKING,
	TAP_SCHED_WAKEUP,
	TAP_SCHED_WAKEUP_NEW,
	TAP_SCHED_NEWTASK,
	TAP_SCHED_FORK,
	TAP_SCHED_EXEC,
	TAP_SCHED_MIGRATE,
	TAP_SCHED_RENAME,
	TAP_SCHED_IOWAIT,
	TAP_SCHED_SETPRIO, /* priority inheritance */
	TAP_SCHED_HOTPLUG, /* for the survey alone */
	TAP_SCHED_THROTTLE,
	TAP_SCHED_UNTHROTTLE,
	TAP_SCHED_CGROUP_ATTACH, /* a task moves to another */
	TAP_SCHED_CGROUP_NAMED, /* any event that names a task and its cgroup */
	TAP_NR_SCHED_KINDS,
};

enum { TAP_NUM_S32 = 1, TAP_NUM_U32, TAP_NUM_64, TAP_NUM_U8 };

/* A number field, ready to be read. size 0: the format has none such. */
struct tap_num {
	uint32_t offset;
	uint8_t size;
	uint8_t plain; /* TAP_NUM_S32, ...: of this machine's order; 0: otherwise */
	const struct tap_field *field;
};

/* Of one format. */
struct tap_sched_fields {
	enum tap_sched_kind kind;
	struct tap_num current; /* common_pid */
	struct tap_num flags; /* common_flags */
	struct tap_num tid; /* switched in, woken, forked, moved, ... */
	struct tap_num prio; /* its priority */
	struct tap_num from; /* switch: the task switched out. exec: old_pid. migrate: CPU.
			      * attach: number of the hierarchy */
	/* of the task switched out. attach: 1: all threads of its process */
	struct tap_num from_prio;
	struct tap_num value; /* switch: prev_state. wakeup: target_cpu. migrate: to which CPU.
			       * iowait: ns. hotplug: which CPU. cgroup: id.
			       * newtask: CLONE_ flags */
	const struct tap_field *comm, *from_comm; /* or NULL */
	/* A switch or a waking as nearly all kernels lay it out: all of the above are there, as
	 * ints of this machine's order, prev_state of 64 bits and names of TAP_TASK_COMM bytes. */
	bool plain;
	const struct tap_format *fmt;
	unsigned int buffer; /* of those that have this kind, the one that counts: who reads says */
	struct tap_sched_fields *older; /* that was added before */
};

#define TAP_TASK_COMM 16u
#define TAP_NO_BUFFER UINT32_MAX
#define TAP_NR_IDS 65536u

/* The fields of a recording's formats, by id: NULL until they are asked for. */
struct tap_sched_formats {
	struct tap_sched_fields **by_id; /* owned, also what they point to */
	/* to walk over all ids takes longer than to read a small recording */
	struct tap_sched_fields *newest;
};

/* The field of this name, if it is a number, or text; else NULL. */
const struct tap_field *tap_number_field(const struct tap_format *fmt, const char *name);
const struct tap_field *tap_text_field(const struct tap_format *fmt, const char *name);
enum tap_sched_kind tap_sched_kind(const struct tap_format *fmt);
/* Return: 0 or -ENOMEM. */
int tap_sched_formats_init(struct tap_sched_formats *s);
void tap_sched_formats_release(struct tap_sched_formats *s);
/* Return: the format's fields, added if need be, which stay; NULL when out of memory. */
struct tap_sched_fields *tap_sched_formats_add(struct tap_sched_formats *s,
					       const struct tap_format *fmt);
/* @f: a number, or NULL for none. */
void tap_num_init(struct tap_num *n, const struct tap_field *f);

static inline bool tap_is_plain_comm(const struct tap_field *f)
{
	return f->kind == TAP_FIELD_CHARS && f->size == TAP_TASK_COMM;
}

/* What is known to be TAP_NUM_S32. */
static inline int tap_num_s32(const struct tap_num *n, const struct tap_event *ev)
{
	int32_t v;

	memcpy(&v, (const char *)ev->data + n->offset, sizeof(v));
	return v;
}

/* What is known to be TAP_NUM_64. */
static inline uint64_t tap_num_u64(const struct tap_num *n, const struct tap_event *ev)
{
	uint64_t v;

	memcpy(&v, (const char *)ev->data + n->offset, sizeof(v));
	return v;
}

/* The record holds at least fmt->min_size bytes: the reader sees to it. -1: no such field. */
static inline int64_t tap_num_get(const struct tap_num *n, const struct tap_event *ev)
{
	if (__builtin_expect(n->plain == TAP_NUM_S32, 1))
		return tap_num_s32(n, ev);
	if (n->plain == TAP_NUM_U32)
		return (uint32_t)tap_num_s32(n, ev);
	if (n->plain == TAP_NUM_64)
		return (int64_t)tap_num_u64(n, ev);
	if (n->plain == TAP_NUM_U8)
		return ((const unsigned char *)ev->data)[n->offset];
	return n->size ? (int64_t)tap_field_u64(n->field, ev->data, ev->size) : -1;
}

/* The same of a tid, a CPU, a priority. -1 also: it is no int. */
static inline int tap_num_int(const struct tap_num *n, const struct tap_event *ev)
{
	int64_t big;

	if (__builtin_expect(n->plain == TAP_NUM_S32, 1))
		return tap_num_s32(n, ev);
	big = tap_num_get(n, ev);
	return big == (int32_t)big ? (int)big : -1;
}

#endif
