/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events that the timeline reads, and the offsets of their fields, which are looked up by name
 * once per format.
 */
#ifndef TAP_TIMELINE_SCHED_FIELDS_H
#define TAP_TIMELINE_SCHED_FIELDS_H

#include <string.h>

#include <schedtap/event.h>

/* Kinds of events, by their meaning to the timeline. */
enum tap_sched_kind {
	TAP_SCHED_NONE, /* not used by the timeline */
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
	TAP_SCHED_SETPRIO, /* a priority changed by priority inheritance (sched_pi_setprio) */
	TAP_SCHED_HOTPLUG, /* only used by the survey */
	TAP_SCHED_THROTTLE,
	TAP_SCHED_UNTHROTTLE,
	TAP_SCHED_CGROUP_ATTACH, /* a task moves to another cgroup */
	TAP_SCHED_CGROUP_NAMED, /* any event that names a task and its cgroup */
	TAP_NR_SCHED_KINDS,
};

enum { TAP_NUM_S32 = 1, TAP_NUM_U32, TAP_NUM_64, TAP_NUM_U8, TAP_NUM_16 };

/* A number field, ready to be read. size 0: the format has no such field. */
struct tap_num {
	uint32_t offset;
	uint8_t size;
	/* TAP_NUM_S32, ...: native byte order, read directly; 0: read through .field */
	uint8_t plain;
	const struct tap_field *field;
};

/* The fields of one event format. */
struct tap_sched_fields {
	enum tap_sched_kind kind;
	struct tap_num current; /* common_pid */
	struct tap_num flags; /* common_flags */
	struct tap_num tid; /* the task that is switched in, woken, forked, moved, ... */
	struct tap_num prio; /* priority of .tid */
	/*
	 * switch: tid of the task switched out. wakeup: 0: it was awake already (before Linux 4.3).
	 * exec: old_pid. migrate: source CPU. attach: number of the hierarchy
	 */
	struct tap_num from;
	/* switch: priority of the task switched out. attach: 1: all threads of the process move */
	struct tap_num from_prio;
	/*
	 * switch: prev_state. wakeup: target_cpu. migrate: destination CPU. iowait: ns. hotplug:
	 * CPU. cgroup: id. newtask: CLONE_ flags
	 */
	struct tap_num value;
	/* switch: next_queued_ns and next_delay_ns of events/sched.h: both, or none */
	struct tap_num queued, delay;
	struct tap_num delayed; /* switch: prev_delayed of events/lean.h */
	const struct tap_field *comm, *from_comm; /* or NULL */
	/*
	 * A sched_switch or sched_waking with the layout of nearly all kernels: all fields above
	 * exist, as native 32-bit ints, with a 64-bit prev_state and names of TAP_TASK_COMM bytes.
	 */
	bool plain;
	/* A sched_switch as events/lean.h has it, in native byte order. */
	bool lean;
	const struct tap_format *fmt;
	/* the buffer whose events of this kind count; set by the survey or the timeline */
	unsigned int buffer;
	struct tap_sched_fields *older; /* the format added before this one */
};

#define TAP_TASK_COMM 16u
#define TAP_NO_BUFFER UINT32_MAX
#define TAP_NR_IDS 65536u

/* The fields of a recording's formats, indexed by format id; NULL until first used. */
struct tap_sched_formats {
	struct tap_sched_fields **by_id; /* owned, also the elements */
	/* list of all formats added: walking all ids takes longer than reading a small recording */
	struct tap_sched_fields *newest;
};

/* Return the field of this name if it is a number, or text, respectively; otherwise NULL. */
const struct tap_field *tap_number_field(const struct tap_format *fmt, const char *name);
const struct tap_field *tap_text_field(const struct tap_format *fmt, const char *name);
enum tap_sched_kind tap_sched_kind(const struct tap_format *fmt);
/* Return: 0 or -ENOMEM. */
int tap_sched_formats_init(struct tap_sched_formats *s);
void tap_sched_formats_release(struct tap_sched_formats *s);
/* Return the format's fields, added if needed and valid until release; NULL: out of memory. */
struct tap_sched_fields *tap_sched_formats_add(struct tap_sched_formats *s,
					       const struct tap_format *fmt);
/* Prepare @f for reading. @f: a number field, or NULL: no such field. */
void tap_num_init(struct tap_num *n, const struct tap_field *f);

static inline bool tap_is_plain_comm(const struct tap_field *f)
{
	return f->kind == TAP_FIELD_CHARS && f->size == TAP_TASK_COMM;
}

/* Read a field that is known to be TAP_NUM_S32. */
static inline int tap_num_s32(const struct tap_num *n, const struct tap_event *ev)
{
	int32_t v;

	memcpy(&v, (const char *)ev->data + n->offset, sizeof(v));
	return v;
}

/* Read a field that is known to be TAP_NUM_64. */
static inline uint64_t tap_num_u64(const struct tap_num *n, const struct tap_event *ev)
{
	uint64_t v;

	memcpy(&v, (const char *)ev->data + n->offset, sizeof(v));
	return v;
}

/* Read a field that is known to be TAP_NUM_16. */
static inline uint16_t tap_num_u16(const struct tap_num *n, const struct tap_event *ev)
{
	uint16_t v;

	memcpy(&v, (const char *)ev->data + n->offset, sizeof(v));
	return v;
}

/*
 * Read any number field; -1: no such field. The reader ensures that a record has at least
 * fmt->min_size bytes.
 */
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

/* Read a tid, a CPU or a priority. -1: no such field, or the value does not fit into an int. */
static inline int tap_num_int(const struct tap_num *n, const struct tap_event *ev)
{
	int64_t big;

	if (__builtin_expect(n->plain == TAP_NUM_S32, 1))
		return tap_num_s32(n, ev);
	big = tap_num_get(n, ev);
	return big == (int32_t)big ? (int)big : -1;
}

#endif
