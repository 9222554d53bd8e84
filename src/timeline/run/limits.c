// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "timeline/run/limits_command.h"

#define BY_ID ((unsigned int)TAP_SELECT_TGIDS | TAP_SELECT_TIDS)

/*
 * Each event's task names are compared with all patterns. A recorder accepts fewer patterns for
 * scheduler events: the BPF programs have room for 64 bytes of names and for 16 cgroups, and a
 * tracefs filter is limited to one memory page.
 */
#define MAX_NAMES_BYTES 4096u
#define MAX_CGROUPS 64u

static const struct tap_limit_move *move_at(const struct tap_limits *l, int tid, uint64_t ns)
{
	const uint64_t *newest = tap_map_get(&l->newest, (uint64_t)tid);

	for (unsigned int i = newest ? (unsigned int)*newest : 0; i; i = l->moves[i - 1].before)
		if (l->moves[i - 1].ns <= ns)
			return &l->moves[i - 1];
	return NULL;
}

static bool is_inside(const struct tap_limits *l, int tid, uint64_t ns)
{
	const struct tap_limit_move *m = move_at(l, tid, ns);

	return m && m->inside;
}

static bool keeps_task(void *ctx, int tid, uint64_t ns, const char *comm, uint32_t len)
{
	const struct tap_limits *l = ctx;
	const struct tap_select_task task = { .tid = tid,
					      .comm = comm,
					      .comm_len = comm ? strnlen(comm, len) : 0 };

	if ((l->select->by & BY_ID) && !tap_map_get(&l->tids, (uint64_t)tid))
		return false;
	if ((l->select->by & TAP_SELECT_CGROUPS) && !is_inside(l, tid, ns))
		return false;
	return tap_select_task_by(l->select, l->select->by & TAP_SELECT_COMMS, &task);
}

static bool has_moved(void *ctx, int tid, uint64_t from_ns, uint64_t to_ns)
{
	const struct tap_limits *l = ctx;

	return (l->select->by & TAP_SELECT_CGROUPS) &&
	       move_at(l, tid, from_ns) != move_at(l, tid, to_ns);
}

/*
 * Collect the strings of one option. *@words is owned by the caller, the strings are borrowed from
 * @list. Return: the number of strings; -ENOMEM.
 */
static int words_of(const json_t *list, const char *const **words)
{
	size_t nr = json_array_size(list);
	const char **v = calloc(nr + 1, sizeof(*v));
	const json_t *word;
	size_t i;
	int n = 0;

	*words = v;
	if (!v)
		return -ENOMEM;
	json_array_foreach(list, i, word)
		if (json_is_string(word))
			v[n++] = json_string_value(word);
	return n;
}

int tap_limits_set(struct tap_limits *l, json_t *only)
{
	static const char *const keys[] = { "processes", "threads", "names", "cgroups" };
	const char *const *words[4] = { NULL };
	struct tap_err ignored;
	int nr[4], ret = 0;

	l->only = only;
	l->follows = json_is_true(json_object_get(only, "follow"));
	for (int i = 0; i < 4; i++) {
		nr[i] = words_of(json_object_get(only, keys[i]), &words[i]);
		ret = nr[i] < 0 ? nr[i] : ret;
	}
	if (!ret)
		ret = tap_select_new(
			&(struct tap_select_opts){
				.size = sizeof(struct tap_select_opts),
				.tgids = words[0],
				.nr_tgids = (unsigned int)nr[0],
				.tids = words[1],
				.nr_tids = (unsigned int)nr[1],
				.comms = words[2],
				.nr_comms = (unsigned int)nr[2],
				.cgroups = words[3],
				.nr_cgroups = (unsigned int)nr[3],
			},
			&l->select, &ignored);
	for (int i = 0; i < 4; i++)
		free((void *)words[i]);
	if (!ret && (l->select->by & TAP_SELECT_TASKS || l->cpus.nr_words)) {
		l->own = (struct tap_promise){
			.keeps = keeps_task,
			.moved = has_moved,
			.ctx = l,
			.lacks_migrations = l->cpus.nr_words ||
					    json_is_true(json_object_get(only, "lacks_migrations")),
			.cpus = l->cpus.nr_words ? &l->cpus : NULL,
		};
		l->promise = &l->own;
	}
	return ret == -ENOMEM ? ret : 0;
}

/*
 * Read the recorded CPUs into .cpus. It stays empty if they are all CPUs of the machine. Return: 0
 * or -ENOMEM.
 */
static int read_cpus(struct tap_limits *l, const json_t *meta, const json_t *only)
{
	const char *text = json_string_value(json_object_get(only, "cpus"));
	size_t nr = json_array_size(json_object_get(meta, "cpus")), cpu = 0;
	int ret = text ? tap_cpus_parse(&l->cpus, text) : 0;

	while (cpu < nr && tap_cpus_has(&l->cpus, (unsigned int)cpu))
		cpu++;
	if (nr && cpu == nr)
		tap_cpus_release(&l->cpus);
	return ret == -ENOMEM ? ret : 0;
}

static bool has_too_many_patterns(const json_t *only)
{
	size_t i, bytes = 0;
	const json_t *word;

	json_array_foreach(json_object_get(only, "names"), i, word)
		bytes += json_string_length(word) + 1;
	return bytes > MAX_NAMES_BYTES ||
	       json_array_size(json_object_get(only, "cgroups")) > MAX_CGROUPS;
}

int tap_limits_init(struct tap_limits *l, const json_t *meta, const struct tap_cgroups *cgroups)
{
	json_t *only = json_object_get(meta, "only");
	bool refused;

	*l = (struct tap_limits){ .cgroups = cgroups };
	only = only ? json_incref(only) : tap_limits_of_command(meta);
	refused = has_too_many_patterns(only);
	if (json_object_size(only) && !refused)
		return read_cpus(l, meta, only) ?: tap_limits_set(l, only);
	json_decref(only);
	return refused ? -E2BIG : 0;
}

void tap_limits_release(struct tap_limits *l)
{
	json_decref(l->only);
	tap_select_free(l->select);
	tap_cpus_release(&l->cpus);
	tap_timeline_free(l->lives);
	tap_map_release(&l->tids);
	tap_map_release(&l->newest);
	free(l->moves);
}

/*
 * Add tasks that only the lists contain: some tasks appear in no event except the wakeup that names
 * them. Return: 0 or -ENOMEM.
 */
static int see_listed(struct tap_limits *l, unsigned int when)
{
	struct tap_task *ignored;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < l->lists->nr_rows; i++)
		if (l->lists->rows[i].when & when)
			ret = tap_timeline_see(l->lives, l->lists->rows[i].tid, &ignored);
	return ret;
}

static bool fits_by(const struct tap_limits *l, unsigned int by, const struct tap_task *task)
{
	const struct tap_select_task t = {
		.tid = task->tid,
		.tgid = tap_task_tgid(task),
		.cgroup = tap_cgroups_path(l->cgroups, task->cgroup),
	};

	return tap_select_task_by(l->select, l->select->by & by, &t);
}

/* Return: 0 or -ENOMEM. */
static int add_move(struct tap_limits *l, int tid, uint64_t ns, bool inside)
{
	uint64_t *newest = tap_map_put(&l->newest, (uint64_t)tid);

	if (!newest || tap_array_grow(&l->moves, l->nr_moves, &l->cap_moves, sizeof(*l->moves)))
		return -ENOMEM;
	l->moves[l->nr_moves++] = (struct tap_limit_move){ ns, (unsigned int)*newest, inside };
	*newest = l->nr_moves;
	return 0;
}

/* Record a move if the task has entered or left the filter's cgroups. It took place at @ns. */
static int note_cgroup(struct tap_limits *l, const struct tap_task *task, uint64_t ns)
{
	const struct tap_limit_move *last = move_at(l, task->tid, UINT64_MAX);
	bool inside = fits_by(l, TAP_SELECT_CGROUPS, task);

	if (inside == (last && last->inside))
		return 0;
	return add_move(l, task->tid, last && last->ns > ns ? last->ns : ns, inside);
}

/* Check all tasks for moves at @ns; UINT64_MAX: at each task's creation. */
static int note_cgroups(struct tap_limits *l, uint64_t ns)
{
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(l->lives, &nr);
	int ret = 0;

	for (unsigned int i = 0; !ret && i < nr; i++)
		/* skip earlier lives of the tid: their moves are recorded */
		if (tap_timeline_task(l->lives, tasks[i]->tid) == tasks[i])
			ret = note_cgroup(l, tasks[i], ns == UINT64_MAX ? tasks[i]->born_ns : ns);
	return ret;
}

int tap_limits_begin(struct tap_limits *l, const struct tap_lists *lists)
{
	const struct tap_timeline_opts opts = { .window = { 0, UINT64_MAX },
						.lists = lists,
						.lives_only = true };
	int ret;

	l->lists = lists;
	ret = tap_timeline_new(&opts, &l->lives)
		      ?: see_listed(l, TAP_LISTED_BEGAN | TAP_LISTED_SOMETIME);
	if (!ret && (l->select->by & TAP_SELECT_CGROUPS))
		ret = note_cgroups(l, UINT64_MAX);
	return ret;
}

static const struct tap_task *task_of(const struct tap_limits *l, const struct tap_event *ev,
				      const char *field)
{
	const struct tap_field *tid = tap_number_field(ev->fmt, field);

	return tid ? tap_timeline_task(l->lives, (int)tap_field_u64(tid, ev->data, ev->size))
		   : NULL;
}

/* With --follow, a recorded task's children are recorded too (bpf/tasks.h). */
static int inherit_filter(struct tap_limits *l, const struct tap_task *parent,
			  const struct tap_task *child)
{
	if (!parent || !l->follows)
		return 0;
	if (!tap_map_get(&l->tids, (uint64_t)parent->tid) && !fits_by(l, BY_ID, parent))
		return 0;
	return tap_map_set(&l->tids, (uint64_t)child->tid, 1);
}

static int on_birth(struct tap_limits *l, const struct tap_event *ev, const char *field)
{
	const struct tap_task *child = task_of(l, ev, field);
	int ret = 0;

	if (child && (l->select->by & TAP_SELECT_CGROUPS))
		/* at an execve() the task was born before */
		ret = note_cgroup(l, child, child->born_ns);
	if (!ret && child && (l->select->by & BY_ID))
		ret = inherit_filter(l, task_of(l, ev, "common_pid"), child);
	return ret;
}

uint16_t tap_limits_mark(void *unused, const struct tap_format *fmt)
{
	(void)unused;
	return tap_timeline_tells_identity(fmt) ? (uint16_t)tap_sched_kind(fmt) : 0;
}

int tap_limits_event(struct tap_limits *l, const struct tap_event *ev)
{
	bool moves = ev->mark == TAP_SCHED_CGROUP_ATTACH && (l->select->by & TAP_SELECT_CGROUPS);
	int ret = moves ? note_cgroups(l, UINT64_MAX) : 0;

	ret = ret ?: tap_timeline_event(l->lives, ev);
	if (!ret && moves)
		ret = note_cgroups(l, ev->ts_ns);
	if (!ret && ev->mark == TAP_SCHED_NEWTASK)
		ret = on_birth(l, ev, "pid");
	if (!ret && ev->mark == TAP_SCHED_FORK)
		ret = on_birth(l, ev, "child_pid");
	/* a thread that calls execve() takes its leader's tid */
	if (!ret && ev->mark == TAP_SCHED_EXEC)
		ret = on_birth(l, ev, "pid");
	return ret;
}

int tap_limits_end(struct tap_limits *l)
{
	int ret = see_listed(l, TAP_LISTED_ENDED);
	struct tap_task *const *tasks;
	unsigned int nr;

	if (!ret && (l->select->by & TAP_SELECT_CGROUPS))
		ret = note_cgroups(l, UINT64_MAX);
	tasks = tap_timeline_tasks(l->lives, &nr);
	for (unsigned int i = 0; !ret && (l->select->by & BY_ID) && i < nr; i++)
		if (fits_by(l, BY_ID, tasks[i]))
			ret = tap_map_set(&l->tids, (uint64_t)tasks[i]->tid, 1);
	tap_timeline_free(l->lives);
	l->lives = NULL;
	return ret;
}
