// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/sched_fields.h"

#include <errno.h>
#include <stdlib.h>

enum { NEEDS_FROM = 1, NEEDS_VALUE = 2, NEEDS_COMM = 4 };

static const struct field_names {
	const char *system, *name;
	enum tap_sched_kind kind;
	unsigned int needs; /* required fields besides .tid */
	const char *tid, *comm, *prio, *from, *from_comm, *from_prio, *value;
} field_names[] = {
	{ "sched", "sched_switch", TAP_SCHED_SWITCH, NEEDS_FROM | NEEDS_VALUE, .tid = "next_pid",
	  .comm = "next_comm", .prio = "next_prio", .from = "prev_pid", .from_comm = "prev_comm",
	  .from_prio = "prev_prio", .value = "prev_state" },
	{ "sched", "sched_waking", TAP_SCHED_WAKING, .tid = "pid", .comm = "comm", .prio = "prio",
	  .value = "target_cpu" },
	{ "sched", "sched_wakeup", TAP_SCHED_WAKEUP, .tid = "pid", .comm = "comm", .prio = "prio",
	  .from = "success", .value = "target_cpu" },
	{ "sched", "sched_wakeup_new", TAP_SCHED_WAKEUP_NEW, .tid = "pid", .comm = "comm",
	  .prio = "prio", .value = "target_cpu" },
	{ "task", "task_newtask", TAP_SCHED_NEWTASK, NEEDS_VALUE, .tid = "pid", .comm = "comm",
	  .value = "clone_flags" },
	{ "sched", "sched_process_fork", TAP_SCHED_FORK, .tid = "child_pid", .comm = "child_comm" },
	{ "sched", "sched_process_exec", TAP_SCHED_EXEC, .tid = "pid", .comm = "filename",
	  .from = "old_pid" },
	{ "sched", "sched_migrate_task", TAP_SCHED_MIGRATE, NEEDS_FROM | NEEDS_VALUE, .tid = "pid",
	  .comm = "comm", .prio = "prio", .from = "orig_cpu", .value = "dest_cpu" },
	{ "sched", "sched_stat_iowait", TAP_SCHED_IOWAIT, NEEDS_VALUE, .tid = "pid", .comm = "comm",
	  .value = "delay" },
	{ "sched", "sched_pi_setprio", TAP_SCHED_SETPRIO, .tid = "pid", .comm = "comm",
	  .prio = "newprio", .from_prio = "oldprio" },
	{ "schedtap", "sched_throttle", TAP_SCHED_THROTTLE, .tid = "pid", .comm = "comm" },
	{ "schedtap", "sched_throttle_wakeup", TAP_SCHED_THROTTLE, .tid = "pid", .comm = "comm" },
	{ "schedtap", "sched_unthrottle", TAP_SCHED_UNTHROTTLE, .tid = "pid", .comm = "comm" },
	{ "cpuhp", "cpuhp_exit", TAP_SCHED_HOTPLUG, NEEDS_VALUE, .value = "cpu" },
	{ "task", "task_rename", TAP_SCHED_RENAME, NEEDS_COMM, .tid = "pid", .comm = "newcomm" },
	{ "cgroup", "cgroup_attach_task", TAP_SCHED_CGROUP_ATTACH, NEEDS_VALUE, .tid = "pid",
	  .comm = "comm", .from = "dst_root", .from_prio = "threadgroup", .value = "dst_id" },
	{ NULL, NULL, TAP_SCHED_CGROUP_NAMED, NEEDS_VALUE, .tid = "pid", .comm = "comm",
	  .value = "cgroup" },
};

void tap_num_init(struct tap_num *n, const struct tap_field *f)
{
	*n = (struct tap_num){ .field = f };
	if (!f)
		return;
	n->offset = f->offset;
	n->size = (uint8_t)f->size;
	if (f->size == 4 && !f->swap)
		n->plain = f->is_signed ? TAP_NUM_S32 : TAP_NUM_U32;
	else if (f->size == 8 && !f->swap)
		n->plain = TAP_NUM_64;
	else if (f->size == 1 && !f->is_signed)
		n->plain = TAP_NUM_U8;
	else if (f->size == 2 && !f->swap)
		n->plain = TAP_NUM_16;
}

const struct tap_field *tap_number_field(const struct tap_format *fmt, const char *name)
{
	const struct tap_field *f = name ? tap_format_field(fmt, name) : NULL;

	return f && f->kind == TAP_FIELD_NUMBER ? f : NULL;
}

const struct tap_field *tap_text_field(const struct tap_format *fmt, const char *name)
{
	const struct tap_field *f = name ? tap_format_field(fmt, name) : NULL;

	return f && (f->kind == TAP_FIELD_CHARS || f->kind == TAP_FIELD_STRING) ? f : NULL;
}

/* Return the field with a task's name; NULL: there is none, or it has no room for a name. */
static const struct tap_field *comm_field(const struct tap_format *fmt, const char *name)
{
	const struct tap_field *f = tap_text_field(fmt, name);

	return f && (f->kind == TAP_FIELD_STRING || f->size > 1) ? f : NULL;
}

static bool is_meant(const struct field_names *d, const struct tap_format *fmt)
{
	return !d->name || (!strcmp(d->system, fmt->system) && !strcmp(d->name, fmt->name));
}

/* Return true if the format has the fields that its kind requires. */
static bool is_usable(const struct tap_sched_fields *f, const struct field_names *d)
{
	return (f->tid.size || !d->tid) && (f->from.size || !(d->needs & NEEDS_FROM)) &&
	       (f->value.size || !(d->needs & NEEDS_VALUE)) &&
	       (f->comm || !(d->needs & NEEDS_COMM));
}

static void init_queued(struct tap_sched_fields *f, const struct tap_format *fmt)
{
	const struct tap_field *queued = tap_number_field(fmt, "next_queued_ns");
	const struct tap_field *delay = tap_number_field(fmt, "next_delay_ns");

	tap_num_init(&f->queued, delay ? queued : NULL);
	tap_num_init(&f->delay, queued ? delay : NULL);
	tap_num_init(&f->delayed, tap_number_field(fmt, "prev_delayed"));
}

static bool is_plain(const struct tap_sched_fields *f)
{
	if (f->current.plain != TAP_NUM_S32 || f->tid.plain != TAP_NUM_S32 ||
	    f->prio.plain != TAP_NUM_S32 || !f->comm || !tap_is_plain_comm(f->comm))
		return false;
	if (f->kind == TAP_SCHED_SWITCH)
		return f->from.plain == TAP_NUM_S32 && f->value.plain == TAP_NUM_64 &&
		       f->from_comm && tap_is_plain_comm(f->from_comm);
	return f->kind == TAP_SCHED_WAKING && f->value.plain == TAP_NUM_S32;
}

static bool is_lean(const struct tap_sched_fields *f)
{
	return f->kind == TAP_SCHED_SWITCH && f->tid.plain == TAP_NUM_S32 &&
	       f->from.plain == TAP_NUM_S32 && f->prio.plain == TAP_NUM_16 &&
	       f->value.plain == TAP_NUM_16 && f->queued.plain == TAP_NUM_U32 &&
	       f->delay.plain == TAP_NUM_U32 && f->delayed.plain == TAP_NUM_U8 && !f->comm &&
	       !f->from_comm;
}

/* Look up the fields of a format; .buffer stays unset. */
static void fields_init(struct tap_sched_fields *f, const struct tap_format *fmt)
{
	const struct field_names *d = field_names;

	while (!is_meant(d, fmt)) /* the last entry matches every format */
		d++;
	*f = (struct tap_sched_fields){ .kind = d->kind, .fmt = fmt, .buffer = TAP_NO_BUFFER };
	tap_num_init(&f->current, tap_number_field(fmt, "common_pid"));
	tap_num_init(&f->flags, tap_number_field(fmt, "common_flags"));
	tap_num_init(&f->tid, tap_number_field(fmt, d->tid));
	tap_num_init(&f->prio, tap_number_field(fmt, d->prio));
	tap_num_init(&f->from, tap_number_field(fmt, d->from));
	tap_num_init(&f->from_prio, tap_number_field(fmt, d->from_prio));
	tap_num_init(&f->value, tap_number_field(fmt, d->value));
	if (d->kind == TAP_SCHED_SWITCH)
		init_queued(f, fmt);
	f->comm = comm_field(fmt, d->comm);
	f->from_comm = comm_field(fmt, d->from_comm);
	if (!is_usable(f, d))
		f->kind = TAP_SCHED_NONE;
	f->plain = is_plain(f);
	f->lean = is_lean(f);
}

enum tap_sched_kind tap_sched_kind(const struct tap_format *fmt)
{
	struct tap_sched_fields f;

	fields_init(&f, fmt);
	return f.kind;
}

int tap_sched_formats_init(struct tap_sched_formats *s)
{
	*s = (struct tap_sched_formats){ .by_id = calloc(TAP_NR_IDS, sizeof(*s->by_id)) };
	return s->by_id ? 0 : -ENOMEM;
}

void tap_sched_formats_release(struct tap_sched_formats *s)
{
	for (struct tap_sched_fields *f = s->newest, *older; f; f = older) {
		older = f->older;
		free(f);
	}
	free(s->by_id);
	*s = (struct tap_sched_formats){ 0 };
}

struct tap_sched_fields *tap_sched_formats_add(struct tap_sched_formats *s,
					       const struct tap_format *fmt)
{
	struct tap_sched_fields *f = s->by_id[fmt->id];

	if (f)
		return f;
	f = malloc(sizeof(*f));
	if (!f)
		return NULL;
	fields_init(f, fmt);
	f->older = s->newest;
	s->by_id[fmt->id] = s->newest = f;
	return f;
}
