// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/identity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/run/meta_rows.h"

/* The start of a program that records events of its own. */
struct tap_program_start {
	uint64_t ns;
	int tid;
	char comm[TAP_TASK_COMM];
};

/* Truncate: a kernel thread's name in /proc is longer than its comm in events. */
static void set_comm(char *to, const char *comm, size_t len)
{
	memset(to, 0, TAP_TASK_COMM);
	memcpy(to, comm, len < TAP_TASK_COMM ? len : TAP_TASK_COMM - 1);
}

/* Parse the column that says when a row was read. */
static unsigned int when_of(const json_t *when)
{
	const char *text = json_string_value(when);

	if (text && !strcmp(text, "began"))
		return TAP_LISTED_BEGAN;
	if (text && !strcmp(text, "ended"))
		return TAP_LISTED_ENDED;
	if (text && !strcmp(text, "both"))
		return TAP_LISTED_BEGAN | TAP_LISTED_ENDED;
	return TAP_LISTED_SOMETIME;
}

static int add_tasks(struct tap_lists *lists, const json_t *tasks)
{
	json_int_t tid, tgid, cgroup;
	const json_t *row, *comm;
	const char *cpus;
	size_t i;

	json_array_foreach(tasks, i, row) {
		struct tap_listed l = { 0 };

		if (!tap_meta_number(row, 0, INT32_MAX, &tid) || !tid)
			continue;
		if (tap_meta_number(row, 1, INT32_MAX, &tgid))
			l.tgid = (int)tgid;
		if (tap_meta_number(row, 3, INT64_MAX, &cgroup))
			l.cgroup = (uint64_t)cgroup;
		comm = json_array_get(row, 2);
		if (json_is_null(json_array_get(row, 5)))
			l.cpus = TAP_CPUS_ALL;
		cpus = json_string_value(json_array_get(row, 5));
		if (cpus && tap_lists_cpus(lists, cpus, &l.cpus))
			return -ENOMEM;
		if (json_string_length(comm))
			set_comm(l.comm, json_string_value(comm), json_string_length(comm));
		if (tap_lists_add(lists, (int)tid, when_of(json_array_get(row, 4)), &l))
			return -ENOMEM;
	}
	return 0;
}

static int compare_starts(const void *a, const void *b)
{
	const struct tap_program_start *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

/*
 * If a process ran only one such program, use the comm that was saved with the recording: the
 * process may have renamed itself since the program started.
 */
static int use_saved_names(struct tap_identities *ids)
{
	struct tap_map nr = { 0 };
	int ret = 0;

	for (size_t i = 0; i < ids->nr_starts && !ret; i++) {
		uint64_t *slot = tap_map_put(&nr, (uint64_t)ids->starts[i].tid);

		ret = slot ? 0 : -ENOMEM;
		if (slot)
			++*slot;
	}
	for (size_t i = 0; i < ids->nr_starts && !ret; i++) {
		struct tap_program_start *start = &ids->starts[i];
		const struct tap_task *t = tap_identity(ids, start->tid);

		if (*t->comm && *tap_map_get(&nr, (uint64_t)start->tid) == 1)
			memcpy(start->comm, t->comm, sizeof(start->comm));
	}
	tap_map_release(&nr);
	return ret;
}

static int add_starts(struct tap_identities *ids, const json_t *programs)
{
	const json_t *row;
	size_t i;

	ids->starts = calloc(json_array_size(programs) + 1, sizeof(*ids->starts));
	if (!ids->starts)
		return -ENOMEM;
	json_array_foreach(programs, i, row) {
		json_int_t ns = json_integer_value(json_object_get(row, "start_ns"));
		json_int_t tid = json_integer_value(json_object_get(row, "pid"));
		const char *comm = json_string_value(json_object_get(row, "comm"));

		if (ns <= 0 || tid <= 0 || tid > INT32_MAX || !comm)
			continue;
		ids->starts[ids->nr_starts] =
			(struct tap_program_start){ .ns = (uint64_t)ns, .tid = (int)tid };
		set_comm(ids->starts[ids->nr_starts++].comm, comm, strlen(comm));
	}
	qsort(ids->starts, ids->nr_starts, sizeof(*ids->starts), compare_starts);
	return use_saved_names(ids);
}

/*
 * Look up what the file format saves: trace-cmd's table of comms, or perf's COMM and FORK records.
 */
static void find_saved(const void *reader, int tid, struct tap_listed *l)
{
	const char *comm = tap_reader_comm(reader, tid);
	int tgid = tap_reader_tgid(reader, tid);

	if (comm)
		set_comm(l->comm, comm, strlen(comm));
	l->tgid = tgid > 0 ? tgid : 0;
}

/* Return true if the recording has the event @wanted of all tasks. */
static bool has_all(const json_t *events, const char *wanted)
{
	const json_t *row;
	size_t i;

	json_array_foreach(events, i, row) {
		const char *name = json_string_value(json_object_get(row, "name"));
		const char *status = json_string_value(json_object_get(row, "status"));

		if (name && status && !strcmp(name, wanted) && !strcmp(status, "on"))
			return !json_object_get(row, "filter") &&
			       !json_object_get(row, "only_for_trigger");
	}
	return false;
}

static void find_changes(struct tap_lists *lists, const json_t *meta)
{
	const json_t *hierarchy = json_object_get(meta, "cgroup_hierarchy"),
		     *events = json_object_get(meta, "events");

	lists->has_moves = has_all(events, "cgroup_attach_task");
	lists->has_renames = has_all(events, "task_rename");
	lists->knows_hierarchy = json_is_integer(hierarchy);
	lists->hierarchy = (int)json_integer_value(hierarchy);
}

int tap_identities_init(struct tap_identities *ids, const struct tap_reader *reader,
			const json_t *meta)
{
	int ret;

	*ids = (struct tap_identities){ .lists.ctx = reader };
	ids->lists.saved = reader ? find_saved : NULL;
	find_changes(&ids->lists, meta);
	ret = add_tasks(&ids->lists, json_object_get(meta, "tasks")) ?:
	      tap_cgroups_init(&ids->cgroups, meta) ?:
	      tap_meta_ids(&ids->own, json_object_get(meta, "own_tids"), INT32_MAX) ?:
	      add_starts(ids, json_object_get(meta, "programs"));
	if (ret)
		tap_identities_release(ids);
	return ret;
}

void tap_identities_release(struct tap_identities *ids)
{
	tap_lists_release(&ids->lists);
	tap_cgroups_release(&ids->cgroups);
	tap_map_release(&ids->own);
	free(ids->starts);
	ids->starts = NULL;
}

/*
 * No event mentions the tid, so accept a row of any time: the row may describe any life of the tid.
 */
static const struct tap_task *find_listed(struct tap_identities *ids, int tid)
{
	const unsigned int any = TAP_LISTED_BEGAN | TAP_LISTED_SOMETIME | TAP_LISTED_ENDED;
	struct tap_listed l = { .comm = "<idle>" };

	if (tid)
		tap_lists_find(&ids->lists, tid, any, &l);
	ids->listed = (struct tap_task){ .tid = tid, .tgid = l.tgid, .cgroup = l.cgroup };
	memcpy(ids->listed.comm, l.comm, sizeof(l.comm));
	return &ids->listed;
}

const struct tap_task *tap_identity(struct tap_identities *ids, int tid)
{
	struct tap_task *task = ids->timeline ? tap_timeline_task(ids->timeline, tid) : NULL;

	if (!task && ids->adds && tap_timeline_see(ids->timeline, tid, &task))
		return NULL;
	return task ? task : find_listed(ids, tid);
}

int tap_identities_advance(struct tap_identities *ids, uint64_t ns)
{
	for (; ids->next_start < ids->nr_starts && ids->starts[ids->next_start].ns <= ns;
	     ids->next_start++) {
		const struct tap_program_start *start = &ids->starts[ids->next_start];
		struct tap_task *task;

		if (tap_timeline_see(ids->timeline, start->tid, &task))
			return -ENOMEM;
		if (task)
			tap_task_rename(task, start->comm, sizeof(start->comm));
	}
	return 0;
}
