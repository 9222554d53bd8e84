// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/who.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void task_name(struct tap_who_task *t, const char *comm, size_t len)
{
	if (len >= TAP_WHO_COMM)
		len = TAP_WHO_COMM - 1;
	if (len == t->comm_len && !memcmp(t->comm, comm, len))
		return;
	memcpy(t->comm, comm, len);
	t->comm[len] = '\0';
	t->comm_len = (uint8_t)len;
	free(t->label);
	t->label = NULL;
}

struct tap_who_task *tap_who_task(struct tap_who *who, int tid)
{
	uint64_t *slot = tap_map_put(&who->tasks, (uint64_t)tid);
	struct tap_who_task *t;
	const char *comm;

	if (!slot)
		return NULL;
	if (*slot)
		return (struct tap_who_task *)(uintptr_t)*slot;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	*slot = (uintptr_t)t;
	t->tid = tid;
	t->tgid = tid && who->reader ? tap_reader_tgid(who->reader, tid) : -1;
	comm = tid ? NULL : "<idle>";
	if (tid && who->reader)
		comm = tap_reader_comm(who->reader, tid);
	if (comm)
		task_name(t, comm, strlen(comm));
	return t;
}

/* The number at @i of a JSON array. */
static bool number_at(const json_t *row, size_t i, json_int_t max, json_int_t *v)
{
	const json_t *n = json_array_get(row, i);

	*v = json_integer_value(n);
	return json_is_integer(n) && *v >= 0 && *v <= max;
}

static int add_tasks(struct tap_who *who, const json_t *tasks)
{
	json_int_t tid, tgid, cgroup;
	const json_t *row, *comm;
	size_t i;

	json_array_foreach(tasks, i, row) {
		struct tap_who_task *t;

		if (!number_at(row, 0, INT32_MAX, &tid) || !tid)
			continue;
		t = tap_who_task(who, (int)tid);
		if (!t)
			return -ENOMEM;
		if (number_at(row, 1, INT32_MAX, &tgid))
			t->tgid = (int)tgid;
		if (number_at(row, 3, INT64_MAX, &cgroup))
			t->cgroup = (uint64_t)cgroup;
		comm = json_array_get(row, 2);
		if (json_string_length(comm))
			task_name(t, json_string_value(comm), json_string_length(comm));
	}
	return 0;
}

static int add_cgroups(struct tap_who *who, const json_t *cgroups)
{
	const json_t *row;
	json_int_t id;
	size_t i;

	json_array_foreach(cgroups, i, row) {
		const char *path = json_string_value(json_array_get(row, 1));
		uint64_t *slot;

		if (!path || !number_at(row, 0, INT64_MAX, &id))
			continue;
		slot = tap_map_put(&who->cgroups, (uint64_t)id);
		if (!slot)
			return -ENOMEM;
		*slot = (uintptr_t)path;
	}
	return 0;
}

static int add_own(struct tap_who *who, const json_t *tids)
{
	struct tap_who_task *t;
	json_int_t tid;

	for (size_t i = 0; i < json_array_size(tids); i++) {
		if (!number_at(tids, i, INT32_MAX, &tid))
			continue;
		t = tap_who_task(who, (int)tid);
		if (!t)
			return -ENOMEM;
		t->own = true;
	}
	return 0;
}

static int add_limited(struct tap_who *who, const json_t *ids)
{
	json_int_t id;

	who->knows_quotas = json_is_array(ids);
	for (size_t i = 0; i < json_array_size(ids); i++)
		if (number_at(ids, i, INT64_MAX, &id) && !tap_map_put(&who->limited, (uint64_t)id))
			return -ENOMEM;
	return 0;
}

static int compare_starts(const void *a, const void *b)
{
	const struct tap_who_start *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* The only program of a process may have given itself another name since: the one that was saved. */
static int use_saved_names(struct tap_who *who)
{
	struct tap_map nr = { 0 };
	int ret = 0;

	for (size_t i = 0; i < who->nr_starts && !ret; i++) {
		uint64_t *slot = tap_map_put(&nr, (uint64_t)who->starts[i].tid);

		ret = slot ? 0 : -ENOMEM;
		if (slot)
			++*slot;
	}
	for (size_t i = 0; i < who->nr_starts && !ret; i++) {
		struct tap_who_start *start = &who->starts[i];
		struct tap_who_task *t = tap_who_task(who, start->tid);

		ret = t ? 0 : -ENOMEM;
		if (t && t->comm_len && *tap_map_get(&nr, (uint64_t)start->tid) == 1)
			memcpy(start->comm, t->comm, sizeof(start->comm));
	}
	tap_map_release(&nr);
	return ret;
}

static int add_starts(struct tap_who *who, const json_t *programs)
{
	const json_t *row;
	size_t i;

	who->starts = calloc(json_array_size(programs) + 1, sizeof(*who->starts));
	if (!who->starts)
		return -ENOMEM;
	json_array_foreach(programs, i, row) {
		json_int_t ns = json_integer_value(json_object_get(row, "start_ns"));
		json_int_t tid = json_integer_value(json_object_get(row, "pid"));
		const char *comm = json_string_value(json_object_get(row, "comm"));

		if (ns <= 0 || tid <= 0 || tid > INT32_MAX || !comm)
			continue;
		who->starts[who->nr_starts] = (struct tap_who_start){ .ns = (uint64_t)ns, .tid = (int)tid };
		snprintf(who->starts[who->nr_starts++].comm, TAP_WHO_COMM, "%s", comm);
	}
	qsort(who->starts, who->nr_starts, sizeof(*who->starts), compare_starts);
	return use_saved_names(who);
}

int tap_who_init(struct tap_who *who, const struct tap_reader *reader, const json_t *meta)
{
	int ret;

	*who = (struct tap_who){ .reader = reader };
	ret = add_tasks(who, json_object_get(meta, "tasks"));
	if (!ret)
		ret = add_cgroups(who, json_object_get(meta, "cgroups"));
	if (!ret)
		ret = add_own(who, json_object_get(meta, "own_tids"));
	if (!ret)
		ret = add_limited(who, json_object_get(meta, "quota_cgroups"));
	if (!ret)
		ret = add_starts(who, json_object_get(meta, "programs"));
	if (ret)
		tap_who_release(who);
	return ret;
}

void tap_who_release(struct tap_who *who)
{
	tap_map_for_each(&who->tasks, s) {
		struct tap_who_task *t = (struct tap_who_task *)(uintptr_t)s->value;

		if (t)
			free(t->label);
		free(t);
	}
	tap_map_for_each(&who->kinds, s)
		free((struct tap_who_kind *)(uintptr_t)s->value);
	tap_map_release(&who->tasks);
	tap_map_release(&who->cgroups);
	tap_map_release(&who->limited);
	tap_map_release(&who->kinds);
	free(who->starts);
}

/* The "X_comm" that belongs to the "X_pid" called @tid. */
static const struct tap_field *comm_of(const struct tap_format *fmt, const char *tid)
{
	size_t prefix = strlen(tid) - strlen("pid");
	unsigned int i;

	for (i = fmt->nr_common; i < fmt->nr_fields; i++) {
		const struct tap_field *f = &fmt->fields[i];

		if ((f->kind == TAP_FIELD_CHARS || f->kind == TAP_FIELD_STRING) &&
		    !strncmp(f->name, tid, prefix) && !strcmp(f->name + prefix, "comm"))
			return f;
	}
	return NULL;
}

static bool is_tid(const struct tap_field *f)
{
	size_t len = strlen(f->name);

	return f->kind == TAP_FIELD_NUMBER &&
	       (!strcmp(f->name, "pid") || (len > 4 && !strcmp(f->name + len - 4, "_pid")));
}

static int learn_kind(const struct tap_format *fmt)
{
	if (!strcmp(fmt->system, "task"))
		return !strcmp(fmt->name, "task_newtask") ? TAP_WHO_NEWTASK : TAP_WHO_OTHER;
	if (strcmp(fmt->system, "sched"))
		return TAP_WHO_OTHER;
	if (!strcmp(fmt->name, "sched_process_exec"))
		return TAP_WHO_EXEC;
	return !strcmp(fmt->name, "sched_switch") ? TAP_WHO_SWITCH : TAP_WHO_OTHER;
}

bool tap_who_learns(const struct tap_format *fmt)
{
	return learn_kind(fmt) != TAP_WHO_OTHER;
}

static void kind_init(struct tap_who_kind *k, const struct tap_format *fmt)
{
	unsigned int i;

	k->fmt = fmt;
	k->current = tap_format_field(fmt, "common_pid");
	k->cgroup = tap_format_field(fmt, "cgroup");
	if (k->cgroup && k->cgroup->kind != TAP_FIELD_NUMBER)
		k->cgroup = NULL;
	for (i = fmt->nr_common; i < fmt->nr_fields && k->nr_tasks < TAP_WHO_PAIRS; i++) {
		const struct tap_field *f = &fmt->fields[i];

		if (!is_tid(f))
			continue;
		k->tasks[k->nr_tasks].tid = f;
		k->tasks[k->nr_tasks++].comm = comm_of(fmt, f->name);
	}
	k->learn = learn_kind(fmt);
	k->flags = k->learn == TAP_WHO_NEWTASK ? tap_format_field(fmt, "clone_flags") : NULL;
}

const struct tap_who_kind *tap_who_kind(struct tap_who *who, const struct tap_format *fmt)
{
	uint64_t *slot = tap_map_put(&who->kinds, (uintptr_t)fmt);
	struct tap_who_kind *k;

	if (!slot)
		return NULL;
	if (*slot)
		return (struct tap_who_kind *)(uintptr_t)*slot;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->index = (unsigned int)who->kinds.nr - 1;
	kind_init(k, fmt);
	*slot = (uintptr_t)k;
	return k;
}

/* A task was born, or has executed a program: then it is its process's leader. */
static int learn_process(struct tap_who *who, const struct tap_who_kind *kind,
			 const struct tap_event *ev)
{
	const uint64_t clone_thread = 0x10000;
	const struct tap_field *tid = tap_format_field(ev->fmt, "pid"), *flags = kind->flags;
	struct tap_who_task *t, *parent;
	int tgid;

	if (!tid || (kind->learn == TAP_WHO_NEWTASK && !flags))
		return 0;
	t = tap_who_task(who, (int)tap_field_u64(tid, ev->data, ev->size));
	parent = tap_who_task(who, tap_who_current(kind, ev));
	if (!t || !parent)
		return -ENOMEM;
	tgid = t->tid;
	if (flags && tap_field_u64(flags, ev->data, ev->size) & clone_thread)
		tgid = parent->tgid;
	if (t->tgid != tgid) {
		t->tgid = tgid;
		free(t->label); /* it may tell */
		t->label = NULL;
	}
	return 0;
}

int tap_who_learn(struct tap_who *who, const struct tap_who_kind *kind, const struct tap_event *ev)
{
	if (kind->learn == TAP_WHO_EXEC || kind->learn == TAP_WHO_NEWTASK)
		return learn_process(who, kind, ev);
	if (kind->learn != TAP_WHO_SWITCH)
		return 0;
	for (unsigned int i = 0; i < kind->nr_tasks; i++) {
		int tid = (int)tap_field_u64(kind->tasks[i].tid, ev->data, ev->size);
		struct tap_who_task *t;
		const char *comm;
		uint32_t len;

		/* idle is called <idle>, not after its CPU; -1 is no task */
		if (tid <= 0 || !kind->tasks[i].comm)
			continue;
		t = tap_who_task(who, tid);
		if (!t)
			return -ENOMEM;
		comm = tap_field_bytes(kind->tasks[i].comm, ev->data, ev->size, &len);
		if (len)
			task_name(t, comm, len);
	}
	return 0;
}

int tap_who_advance(struct tap_who *who, uint64_t ns)
{
	for (; who->next_start < who->nr_starts && who->starts[who->next_start].ns <= ns; who->next_start++) {
		const struct tap_who_start *start = &who->starts[who->next_start];
		struct tap_who_task *t = tap_who_task(who, start->tid);

		if (!t)
			return -ENOMEM;
		task_name(t, start->comm, strlen(start->comm));
	}
	return 0;
}

int tap_who_throttles(const struct tap_who *who, uint64_t cgroup)
{
	if (!who->knows_quotas || !cgroup)
		return -1;
	return !!tap_map_get(&who->limited, cgroup);
}

const char *tap_who_cgroup(const struct tap_who *who, uint64_t id)
{
	const uint64_t *slot = tap_map_get(&who->cgroups, id);

	return slot ? (const char *)(uintptr_t)*slot : NULL;
}
