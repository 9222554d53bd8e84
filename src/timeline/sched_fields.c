// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/sched_fields.h"

#include <errno.h>
#include <stdlib.h>

static const struct field_names {
	const char *system, *name;
	enum tap_sched_kind kind;
	const char *tid, *comm, *prio, *from, *from_comm, *value;
} field_names[] = {
	{ .system = "sched", .name = "sched_switch", .kind = TAP_SCHED_SWITCH, .tid = "next_pid",
	  .comm = "next_comm", .prio = "next_prio", .from = "prev_pid", .from_comm = "prev_comm",
	  .value = "prev_state" },
	{ .system = "sched", .name = "sched_waking", .kind = TAP_SCHED_WAKING, .tid = "pid",
	  .comm = "comm", .prio = "prio", .value = "target_cpu" },
	{ .system = "sched", .name = "sched_wakeup", .kind = TAP_SCHED_WAKEUP, .tid = "pid",
	  .comm = "comm", .prio = "prio", .value = "target_cpu" },
	{ .system = "sched", .name = "sched_wakeup_new", .kind = TAP_SCHED_WAKEUP_NEW, .tid = "pid",
	  .comm = "comm", .prio = "prio", .value = "target_cpu" },
	{ .system = "task", .name = "task_newtask", .kind = TAP_SCHED_NEWTASK, .tid = "pid",
	  .comm = "comm", .value = "clone_flags" },
	{ .system = "sched", .name = "sched_process_fork", .kind = TAP_SCHED_FORK,
	  .tid = "child_pid", .comm = "child_comm" },
	{ .system = "sched", .name = "sched_process_exec", .kind = TAP_SCHED_EXEC, .tid = "pid",
	  .comm = "filename", .from = "old_pid" },
	{ .system = "sched", .name = "sched_migrate_task", .kind = TAP_SCHED_MIGRATE, .tid = "pid",
	  .comm = "comm", .prio = "prio", .from = "orig_cpu", .value = "dest_cpu" },
	{ .system = "sched", .name = "sched_stat_iowait", .kind = TAP_SCHED_IOWAIT, .tid = "pid",
	  .comm = "comm", .value = "delay" },
	{ .system = "cpuhp", .name = "cpuhp_exit", .kind = TAP_SCHED_HOTPLUG, .value = "cpu" },
	{ .system = "task", .name = "task_rename", .kind = TAP_SCHED_RENAME, .tid = "pid",
	  .comm = "newcomm" },
	{ .system = "cgroup", .name = "cgroup_attach_task", .kind = TAP_SCHED_CGROUP_ATTACH,
	  .tid = "pid", .comm = "comm", .value = "dst_id" },
	{ .kind = TAP_SCHED_CGROUP_NAMED, .tid = "pid", .comm = "comm", .value = "cgroup" },
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

static bool is_meant(const struct field_names *d, const struct tap_format *fmt)
{
	return !d->name || (!strcmp(d->system, fmt->system) && !strcmp(d->name, fmt->name));
}

/* A kind without the fields that it cannot do without is none. */
static bool is_usable(const struct tap_sched_fields *f)
{
	switch (f->kind) {
	case TAP_SCHED_SWITCH:
	case TAP_SCHED_MIGRATE:
		return f->tid.size && f->from.size && f->value.size;
	case TAP_SCHED_NEWTASK:
	case TAP_SCHED_IOWAIT:
	case TAP_SCHED_CGROUP_ATTACH:
	case TAP_SCHED_CGROUP_NAMED:
		return f->tid.size && f->value.size;
	case TAP_SCHED_HOTPLUG:
		return f->value.size;
	case TAP_SCHED_RENAME:
		return f->tid.size && f->comm;
	default:
		return f->tid.size;
	}
}

static bool is_plain(const struct tap_sched_fields *f)
{
	const struct tap_num *const ints[] = { &f->current, &f->tid, &f->prio };

	for (size_t i = 0; i < sizeof(ints) / sizeof(*ints); i++)
		if (ints[i]->plain != TAP_NUM_S32)
			return false;
	if (!f->comm || !tap_is_plain_comm(f->comm))
		return false;
	if (f->kind == TAP_SCHED_SWITCH)
		return f->from.plain == TAP_NUM_S32 && f->value.plain == TAP_NUM_64 &&
		       f->from_comm && tap_is_plain_comm(f->from_comm);
	return f->kind == TAP_SCHED_WAKING && f->value.plain == TAP_NUM_S32;
}

void tap_sched_fields_init(struct tap_sched_fields *f, const struct tap_format *fmt)
{
	const struct field_names *d = field_names;

	while (!is_meant(d, fmt)) /* the last one is meant for all */
		d++;
	*f = (struct tap_sched_fields){ .kind = d->kind, .fmt = fmt, .buffer = TAP_NO_BUFFER };
	get_num(&f->current, fmt, "common_pid");
	get_num(&f->tid, fmt, d->tid);
	get_num(&f->prio, fmt, d->prio);
	get_num(&f->from, fmt, d->from);
	get_num(&f->value, fmt, d->value);
	f->comm = get_text(fmt, d->comm);
	f->from_comm = get_text(fmt, d->from_comm);
	if (!is_usable(f))
		f->kind = TAP_SCHED_NONE;
	f->plain = is_plain(f);
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
	struct tap_sched_fields *f = malloc(sizeof(*f));

	if (!f)
		return NULL;
	tap_sched_fields_init(f, fmt);
	f->older = s->newest;
	s->by_id[fmt->id] = s->newest = f;
	return f;
}
