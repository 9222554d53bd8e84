// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/names.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "file/follow.h"

#define MAX_PAIRS 4
#define CACHE_SIZE 1024u

/* The fields of one kind of event that contain names. */
struct plan {
	struct {
		const struct tap_field *tid, *comm;
	} pairs[MAX_PAIRS];
	unsigned int nr_pairs;
	const struct tap_field *cgroup;
	/* path of a cgroup, the field with its id, and its hierarchy; all NULL if absent */
	const struct tap_field *path, *path_of, *hierarchy;
};

/*
 * Collects names. Nearly every event repeats the name from the task's last event: .cache recognizes
 * that without a lookup in the hash table.
 */
struct collector {
	struct tap_names *names;
	struct plan *plans; /* unordered; added at the first event of a kind */
	unsigned int nr_plans, cap_plans;
	uint32_t by_id[UINT16_MAX + 1]; /* event id -> index into plans + 1 */
	struct tap_name cache[CACHE_SIZE];
	uint64_t last_cgroup;
};

static const struct tap_field *number_field(const struct tap_format *fmt, const char *name)
{
	const struct tap_field *f = tap_format_field(fmt, name);

	return f && f->kind == TAP_FIELD_NUMBER ? f : NULL;
}

static const struct tap_field *find_tid_field(const struct tap_format *fmt, const char *comm)
{
	/* task_rename has newcomm, and pid */
	size_t prefix = strcmp(comm, "newcomm") ? strlen(comm) - strlen("comm") : 0;
	char name[64];

	if (prefix > sizeof(name) - sizeof("pid"))
		return NULL;
	memcpy(name, comm, prefix);
	strcpy(name + prefix, "pid");
	return number_field(fmt, name);
}

static bool is_comm(const struct tap_field *f)
{
	size_t len = strlen(f->name);

	/* a lean sched_switch has a next_comm without room for a name (events/lean.h) */
	if (f->kind != TAP_FIELD_STRING && (f->kind != TAP_FIELD_CHARS || f->size < 2))
		return false;
	return !strcmp(f->name, "comm") || !strcmp(f->name, "newcomm") ||
	       (len > 5 && !strcmp(f->name + len - 5, "_comm"));
}

/* Find the fields of events that have both a cgroup and its path. */
static void plan_path(struct plan *p, const struct tap_format *fmt)
{
	static const struct {
		const char *event, *path, *id, *hierarchy;
	} kinds[] = {
		{ "cgroup_mkdir", "path", "id", "root" },
		{ "cgroup_attach_task", "dst_path", "dst_id", "dst_root" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !p->path; i++) {
		const struct tap_field *path = tap_format_field(fmt, kinds[i].path);

		if (strcmp(fmt->system, "cgroup") != 0 || strcmp(fmt->name, kinds[i].event) != 0)
			continue;
		p->path_of = number_field(fmt, kinds[i].id);
		p->hierarchy = number_field(fmt, kinds[i].hierarchy);
		if (path && path->kind == TAP_FIELD_STRING && p->path_of && p->hierarchy)
			p->path = path;
	}
}

static void plan_init(struct plan *p, const struct tap_format *fmt)
{
	*p = (struct plan){ 0 };
	for (unsigned int i = 0; i < fmt->nr_fields && p->nr_pairs < MAX_PAIRS; i++) {
		const struct tap_field *comm = &fmt->fields[i], *tid;

		tid = is_comm(comm) ? find_tid_field(fmt, comm->name) : NULL;
		if (!tid)
			continue;
		p->pairs[p->nr_pairs].tid = tid;
		p->pairs[p->nr_pairs++].comm = comm;
	}
	p->cgroup = number_field(fmt, "cgroup");
	plan_path(p, fmt);
}

static const struct plan *plan_get(struct collector *c, const struct tap_format *fmt)
{
	uint32_t *i = &c->by_id[fmt->id];

	if (!*i) {
		if (tap_array_grow(&c->plans, c->nr_plans, &c->cap_plans, sizeof(*c->plans)))
			return NULL;
		plan_init(&c->plans[c->nr_plans], fmt);
		*i = ++c->nr_plans;
	}
	return &c->plans[*i - 1];
}

static int store_name(struct tap_names *n, const struct tap_name *name)
{
	uint64_t *i = tap_map_put(&n->by_tid, (uint64_t)name->tid);

	if (!i)
		return -ENOMEM;
	/* a new slot holds 0, which may be another task's index */
	if (*i < n->nr_tasks && n->tasks[*i].tid == name->tid) {
		n->tasks[*i] = *name;
		return 0;
	}
	if (tap_array_grow(&n->tasks, n->nr_tasks, &n->cap_tasks, sizeof(*n->tasks)))
		return -ENOMEM;
	*i = n->nr_tasks;
	n->tasks[n->nr_tasks++] = *name;
	return 0;
}

static int learn_task(struct collector *c, uint64_t tid, const char *comm, uint32_t len)
{
	struct tap_name name = { .tid = (int)tid }, *cached = &c->cache[tid % CACHE_SIZE];

	if ((int64_t)tid < 1 || tid > INT32_MAX)
		return 0;
	memcpy(name.comm, comm, len < sizeof(name.comm) ? len : sizeof(name.comm));
	if (!memcmp(cached, &name, sizeof(name)))
		return 0;
	*cached = name;
	return store_name(c->names, &name);
}

/* Store a cgroup's path. Return: 0; -ENOMEM. */
static int learn_path(struct tap_names *names, const struct plan *p, const struct tap_event *ev)
{
	uint64_t id = tap_field_u64(p->path_of, ev->data, ev->size);
	uint64_t *slot;
	uint32_t len;
	const char *path = tap_field_bytes(p->path, ev->data, ev->size, &len);

	if ((int)tap_field_u64(p->hierarchy, ev->data, ev->size) != names->hierarchy || !len || !id)
		return 0;
	slot = tap_map_put(&names->paths, id);
	if (slot && !*slot)
		*slot = (uint64_t)(uintptr_t)strndup(path, len);
	return slot && *slot ? 0 : -ENOMEM;
}

static int learn_names(struct collector *c, const struct tap_event *ev)
{
	const struct plan *p = plan_get(c, ev->fmt);
	int ret = p ? 0 : -ENOMEM;

	for (unsigned int i = 0; !ret && i < p->nr_pairs; i++) {
		uint64_t tid = tap_field_u64(p->pairs[i].tid, ev->data, ev->size);
		uint32_t len;
		const char *comm = tap_field_bytes(p->pairs[i].comm, ev->data, ev->size, &len);

		ret = learn_task(c, tid, comm, len);
	}
	if (!ret && p->cgroup) {
		uint64_t id = tap_field_u64(p->cgroup, ev->data, ev->size);

		if (id != c->last_cgroup && id && !tap_map_put(&c->names->cgroups, id))
			ret = -ENOMEM;
		c->last_cgroup = id;
	}
	return !ret && p->path ? learn_path(c->names, p, ev) : ret;
}

static struct collector *new_collector(struct tap_names *names, struct tap_err *err)
{
	struct collector *c = calloc(1, sizeof(*c));

	if (c)
		c->names = names;
	else
		tap_err_nomem(err);
	return c;
}

static void free_collector(struct collector *c)
{
	free(c->plans);
	free(c);
}

static int learn_event(struct collector *c, const struct tap_event *ev, struct tap_err *err)
{
	return ev->fmt && learn_names(c, ev) ? tap_err_nomem(err) : 0;
}

int tap_names_collect(struct tap_reader *r, struct tap_names *names, struct tap_err *err)
{
	struct collector *c = new_collector(names, err);
	struct tap_event ev;
	int ret;

	if (!c)
		return -ENOMEM;
	while ((ret = tap_reader_next(r, &ev, err)) > 0 && !(ret = learn_event(c, &ev, err)))
		;
	free_collector(c);
	return ret;
}

static int learn_held(struct collector *c, struct tap_follow *f, struct tap_err *err)
{
	const struct tap_event *const *events;
	int ret = 0, nr;

	while (!ret && (nr = tap_follow_batch(f, UINT64_MAX - 1, &events, err)) != 0) {
		ret = nr < 0 ? nr : 0;
		for (int i = 0; i < nr && !ret; i++)
			ret = learn_event(c, events[i], err);
	}
	return ret;
}

int tap_names_collect_held(const char *spool_path, struct tap_held *held, struct tap_names *names,
			   struct tap_err *err)
{
	struct collector *c = new_collector(names, err);
	struct tap_follow *f = NULL;
	int ret;

	if (!c)
		return -ENOMEM;
	ret = tap_follow_open(spool_path, held, false, &f, err);
	ret = ret ?: tap_follow_note(f, err) ?: learn_held(c, f, err);
	tap_follow_free(f);
	free_collector(c);
	return ret;
}

void tap_names_release(struct tap_names *names)
{
	free(names->tasks);
	tap_map_release(&names->by_tid);
	tap_map_release(&names->cgroups);
	tap_map_for_each(&names->paths, p)
		free((char *)(uintptr_t)p->value);
	tap_map_release(&names->paths);
	*names = (struct tap_names){ 0 };
}

void tap_names_cmdlines(const struct tap_names *names, struct tap_buf *out)
{
	for (size_t i = 0; i < names->nr_tasks; i++) {
		const struct tap_name *n = &names->tasks[i];
		size_t len = strnlen(n->comm, sizeof(n->comm));

		tap_buf_s64(out, n->tid);
		tap_buf_char(out, ' ');
		for (size_t k = 0; k < len; k++) {
			unsigned char b = (unsigned char)n->comm[k];

			tap_buf_char(out, b < 0x20 || b == 0x7f ? '?' : (char)b);
		}
		tap_buf_char(out, '\n');
	}
}
