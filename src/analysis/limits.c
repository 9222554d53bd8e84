// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool keeps(void *ctx, int tid, const char *comm, uint32_t len)
{
	const struct tap_limits *l = ctx;
	const struct tap_select_task task = { .tid = tid, .comm = comm, .comm_len = comm ? strnlen(comm, len) : 0 };

	if (!tap_select_task_by(l->select, l->select->by & (TAP_SELECT_TIDS | TAP_SELECT_COMMS), &task))
		return false;
	return !(l->select->by & TAP_SELECT_TGIDS) || tap_map_get(&l->tids, (uint64_t)tid);
}

/* The words of one option. Return: how many; *@words: owned, they themselves borrowed from @list; -ENOMEM. */
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

int tap_limits_init(struct tap_limits *l, const json_t *meta)
{
	static const char *const keys[] = { "processes", "threads", "names" };
	const json_t *only = json_object_get(meta, "only");
	const char *const *words[3] = { NULL };
	struct tap_err ignored;
	int nr[3], ret = 0;

	*l = (struct tap_limits){ 0 };
	if (!json_object_size(only))
		return 0;
	for (int i = 0; i < 3; i++) {
		nr[i] = words_of(json_object_get(only, keys[i]), &words[i]);
		ret = nr[i] < 0 ? nr[i] : ret;
	}
	if (!ret)
		ret = tap_select_new(&(struct tap_select_opts){
			.size = sizeof(struct tap_select_opts), .tgids = words[0], .nr_tgids = (unsigned int)nr[0],
			.tids = words[1], .nr_tids = (unsigned int)nr[1], .comms = words[2], .nr_comms = (unsigned int)nr[2],
		}, &l->select, &ignored);
	for (int i = 0; i < 3; i++)
		free((void *)words[i]);
	if (!ret && (l->select->by & TAP_SELECT_TASKS)) {
		l->own = (struct tap_promise){ keeps, l };
		l->promise = &l->own;
	}
	return ret == -ENOMEM ? ret : 0;
}

void tap_limits_release(struct tap_limits *l)
{
	tap_select_free(l->select);
	tap_map_release(&l->tids);
}

int tap_limits_learn(struct tap_limits *l, const struct tap_task *task)
{
	const struct tap_select_task t = { .tid = task->tid, .tgid = tap_task_tgid(task) };

	if (!tap_select_task_by(l->select, TAP_SELECT_TGIDS, &t))
		return 0;
	return tap_map_set(&l->tids, (uint64_t)task->tid, 1);
}
