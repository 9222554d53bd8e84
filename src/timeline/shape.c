// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/shape.h"

#include <errno.h>
#include <stdlib.h>

static const struct shape_def {
	const char *system, *name;
	enum tap_shape_kind kind;
	const char *tid, *comm, *prio, *from, *from_comm, *value;
} shape_defs[] = {
	{ .system = "sched", .name = "sched_switch", .kind = TAP_SHAPE_SWITCH, .tid = "next_pid",
	  .comm = "next_comm", .prio = "next_prio", .from = "prev_pid", .from_comm = "prev_comm",
	  .value = "prev_state" },
	{ .system = "sched", .name = "sched_waking", .kind = TAP_SHAPE_WAKING, .tid = "pid",
	  .comm = "comm", .prio = "prio", .value = "target_cpu" },
	{ .system = "sched", .name = "sched_wakeup", .kind = TAP_SHAPE_WAKEUP, .tid = "pid",
	  .comm = "comm", .prio = "prio", .value = "target_cpu" },
	{ .system = "sched", .name = "sched_wakeup_new", .kind = TAP_SHAPE_WAKEUP_NEW, .tid = "pid",
	  .comm = "comm", .prio = "prio", .value = "target_cpu" },
	{ .system = "task", .name = "task_newtask", .kind = TAP_SHAPE_NEWTASK, .tid = "pid",
	  .comm = "comm", .value = "clone_flags" },
	{ .system = "sched", .name = "sched_process_fork", .kind = TAP_SHAPE_FORK,
	  .tid = "child_pid", .comm = "child_comm" },
	{ .system = "sched", .name = "sched_process_exec", .kind = TAP_SHAPE_EXEC, .tid = "pid",
	  .comm = "filename", .from = "old_pid" },
	{ .system = "sched", .name = "sched_migrate_task", .kind = TAP_SHAPE_MIGRATE, .tid = "pid",
	  .comm = "comm", .prio = "prio", .from = "orig_cpu", .value = "dest_cpu" },
	{ .system = "sched", .name = "sched_stat_iowait", .kind = TAP_SHAPE_IOWAIT, .tid = "pid",
	  .comm = "comm", .value = "delay" },
	{ .system = "cpuhp", .name = "cpuhp_exit", .kind = TAP_SHAPE_HOTPLUG, .value = "cpu" },
	{ .system = "task", .name = "task_rename", .kind = TAP_SHAPE_RENAME, .tid = "pid",
	  .comm = "newcomm" },
	{ .system = "cgroup", .name = "cgroup_attach_task", .kind = TAP_SHAPE_CGROUP, .tid = "pid",
	  .comm = "comm", .value = "dst_id" },
	{ .kind = TAP_SHAPE_MEMBER, .tid = "pid", .comm = "comm", .value = "cgroup" },
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
}

static void get_num(struct tap_num *n, const struct tap_format *fmt, const char *name)
{
	const struct tap_field *f = name ? tap_format_field(fmt, name) : NULL;

	tap_num_init(n, f && f->kind == TAP_FIELD_NUMBER ? f : NULL);
}

static const struct tap_field *get_text(const struct tap_format *fmt, const char *name)
{
	const struct tap_field *f = name ? tap_format_field(fmt, name) : NULL;

	return f && (f->kind == TAP_FIELD_CHARS || f->kind == TAP_FIELD_STRING) ? f : NULL;
}

static bool is_meant(const struct shape_def *d, const struct tap_format *fmt)
{
	return !d->name || (!strcmp(d->system, fmt->system) && !strcmp(d->name, fmt->name));
}

/* A kind without the fields that it cannot do without is none. */
static bool is_usable(const struct tap_shape *s)
{
	switch (s->kind) {
	case TAP_SHAPE_SWITCH:
	case TAP_SHAPE_MIGRATE:
		return s->tid.size && s->from.size && s->value.size;
	case TAP_SHAPE_NEWTASK:
	case TAP_SHAPE_IOWAIT:
	case TAP_SHAPE_CGROUP:
	case TAP_SHAPE_MEMBER:
		return s->tid.size && s->value.size;
	case TAP_SHAPE_HOTPLUG:
		return s->value.size;
	case TAP_SHAPE_RENAME:
		return s->tid.size && s->comm;
	default:
		return s->tid.size;
	}
}

static bool is_plain(const struct tap_shape *s)
{
	const struct tap_num *const ints[] = { &s->current, &s->tid, &s->prio };

	for (size_t i = 0; i < sizeof(ints) / sizeof(*ints); i++)
		if (ints[i]->plain != TAP_NUM_S32)
			return false;
	if (!s->comm || !tap_is_plain_comm(s->comm))
		return false;
	if (s->kind == TAP_SHAPE_SWITCH)
		return s->from.plain == TAP_NUM_S32 && s->value.plain == TAP_NUM_64 &&
		       s->from_comm && tap_is_plain_comm(s->from_comm);
	return s->kind == TAP_SHAPE_WAKING && s->value.plain == TAP_NUM_S32;
}

void tap_shape_init(struct tap_shape *s, const struct tap_format *fmt)
{
	const struct shape_def *d = shape_defs;

	while (!is_meant(d, fmt)) /* the last one is meant for all */
		d++;
	*s = (struct tap_shape){ .kind = d->kind, .fmt = fmt, .buffer = TAP_NO_BUFFER };
	get_num(&s->current, fmt, "common_pid");
	get_num(&s->tid, fmt, d->tid);
	get_num(&s->prio, fmt, d->prio);
	get_num(&s->from, fmt, d->from);
	get_num(&s->value, fmt, d->value);
	s->comm = get_text(fmt, d->comm);
	s->from_comm = get_text(fmt, d->from_comm);
	if (!is_usable(s))
		s->kind = TAP_SHAPE_NONE;
	s->plain = is_plain(s);
}

int tap_shapes_init(struct tap_shapes *s)
{
	*s = (struct tap_shapes){ .by_id = calloc(TAP_NR_IDS, sizeof(*s->by_id)) };
	return s->by_id ? 0 : -ENOMEM;
}

void tap_shapes_release(struct tap_shapes *s)
{
	for (struct tap_shape *shape = s->newest, *older; shape; shape = older) {
		older = shape->older;
		free(shape);
	}
	free(s->by_id);
	*s = (struct tap_shapes){ 0 };
}

struct tap_shape *tap_shapes_add(struct tap_shapes *s, const struct tap_format *fmt)
{
	struct tap_shape *shape = malloc(sizeof(*shape));

	if (!shape)
		return NULL;
	tap_shape_init(shape, fmt);
	shape->older = s->newest;
	s->by_id[fmt->id] = s->newest = shape;
	return shape;
}
