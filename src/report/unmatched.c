// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/unmatched.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

#define MAX_SHOWN 5u /* names, where none is near */

int tap_there_add(struct tap_there *t, const struct tap_task *task)
{
	if (tap_array_grow(&t->tasks, t->nr_tasks, &t->cap_tasks, sizeof(*t->tasks)))
		return -ENOMEM;
	t->tasks[t->nr_tasks++] = task;
	return 0;
}

void tap_there_release(struct tap_there *t)
{
	free(t->tasks);
	*t = (struct tap_there){ 0 };
}

/* ---- names ---------------------------------------------------------------------------------- */

struct names {
	char **v; /* owned, each of them */
	unsigned int nr;
};

static void names_release(struct names *n)
{
	for (unsigned int i = 0; i < n->nr; i++)
		free(n->v[i]);
	free(n->v);
}

/* Short of memory there are fewer to suggest. */
static void names_add(struct names *n, const char *s, size_t len)
{
	if (!(n->nr & (n->nr - 1))) { /* full at each power of two */
		char **grown = reallocarray(n->v, n->nr ? 2 * n->nr : 1, sizeof(*grown));

		if (!grown)
			return;
		n->v = grown;
	}
	n->v[n->nr] = strndup(s, len);
	n->nr += n->v[n->nr] != NULL;
}

static void names_add_int(struct names *n, int v)
{
	char text[16];

	names_add(n, text, (size_t)snprintf(text, sizeof(text), "%d", v));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In order, each once. */
static void names_sort(struct names *n)
{
	unsigned int nr = 0;

	if (n->nr)
		qsort(n->v, n->nr, sizeof(*n->v), by_name);
	for (unsigned int i = 0; i < n->nr; i++) {
		if (nr && !strcmp(n->v[nr - 1], n->v[i]))
			free(n->v[i]);
		else
			n->v[nr++] = n->v[i];
	}
	n->nr = nr;
}

/* A word that stands within a name is near to it: a cgroup's path is long. */
static const char *nearest(const struct names *n, const char *word)
{
	const char *near = tap_nearest(word, (const char *const *)n->v, n->nr);

	for (unsigned int i = 0; i < n->nr && !near && *word; i++)
		if (strcasestr(n->v[i], word))
			near = n->v[i];
	return near;
}

static void tell_one(const struct tap_recording *rec, const char *option, const char *what,
		     const char *word, const struct names *n)
{
	struct tap_buf b = { 0 };
	const char *near = nearest(n, word);

	tap_buf_printf(&b, "%s: there is no %s '%.100s'", option, what, word);
	if (near)
		tap_buf_printf(&b, ": did you mean '%.100s'?", near);
	for (unsigned int i = 0; i < n->nr && i < MAX_SHOWN && !near; i++)
		tap_buf_printf(&b, "%s'%.60s'", i ? ", " : ", but ", n->v[i]);
	if (!near && n->nr > MAX_SHOWN)
		tap_buf_printf(&b, " and %u more", n->nr - MAX_SHOWN);
	tap_recording_note(rec, "%s", tap_buf_str(&b));
	tap_buf_release(&b);
}

/* Releases @n. */
static void tell(const struct tap_recording *rec, const char *option, const char *what,
		 const struct tap_strings *words, struct names *n)
{
	names_sort(n);
	for (unsigned int i = 0; i < words->nr; i++)
		tell_one(rec, option, what, words->v[i], n);
	names_release(n);
}

/* ---- options -------------------------------------------------------------------------------- */

struct query {
	const struct tap_pick *pick;
	struct tap_recording *rec;
	const struct tap_there *there;
};

static bool fits_any(const struct query *q, unsigned int by)
{
	for (unsigned int i = 0; i < q->there->nr_tasks; i++)
		if (tap_pick_task_by(q->pick, &q->rec->ids.cgroups, by, q->there->tasks[i]))
			return true;
	return false;
}

static void tell_tgids(const struct query *q)
{
	struct names n = { 0 };

	for (unsigned int i = 0; i < q->there->nr_tasks; i++) {
		int tid = q->there->tasks[i]->tid, tgid = tap_task_tgid(q->there->tasks[i]);

		if (tgid >= 0)
			names_add_int(&n, tgid);
		if (tgid < 0 || tid == tgid || !tap_map_get(&q->pick->select->tgids.set, (uint64_t)tid))
			continue;
		tap_recording_note(q->rec, "-p: %d is a thread of process %d: did you mean '-t %d'?",
				   tid, tgid, tid);
		names_release(&n);
		return;
	}
	tell(q->rec, "-p", "process", &q->pick->select->tgids.text, &n);
}

static void tell_tids(const struct query *q)
{
	struct names n = { 0 };

	for (unsigned int i = 0; i < q->there->nr_tasks; i++)
		names_add_int(&n, q->there->tasks[i]->tid);
	tell(q->rec, "-t", "thread", &q->pick->select->tids.text, &n);
}

static void tell_comms(const struct query *q)
{
	struct names n = { 0 };

	for (unsigned int i = 0; i < q->there->nr_tasks; i++)
		if (*q->there->tasks[i]->comm)
			names_add(&n, q->there->tasks[i]->comm, strnlen(q->there->tasks[i]->comm, TAP_TASK_COMM));
	tell(q->rec, "-c", "thread named", &q->pick->select->comms, &n);
}

static void tell_cgroups(const struct query *q)
{
	struct names n = { 0 };

	tap_map_for_each(&q->rec->ids.cgroups.paths, s) {
		const char *path = (const char *)(uintptr_t)s->value;

		names_add(&n, path, strlen(path));
	}
	tell(q->rec, "-g", "thread in a cgroup", &q->pick->select->cgroups, &n);
}

static bool unmatched_tasks(const struct query *q)
{
	static const struct {
		unsigned int by;
		void (*tell)(const struct query *q);
	} options[] = {
		{ TAP_SELECT_TGIDS, tell_tgids },
		{ TAP_SELECT_TIDS, tell_tids },
		{ TAP_SELECT_COMMS, tell_comms },
		{ TAP_SELECT_CGROUPS, tell_cgroups },
	};
	unsigned int given = 0;
	bool told = false;

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (!(q->pick->select->by & options[i].by))
			continue;
		given++;
		if (fits_any(q, options[i].by))
			continue;
		options[i].tell(q);
		told = true;
	}
	if (told || given < 2 || fits_any(q, TAP_SELECT_TASKS))
		return told;
	tap_recording_note(q->rec, "no thread fits all of the options -p, -t, -c, -g");
	return true;
}

static bool unmatched_cpus(const struct query *q)
{
	unsigned int nr = q->there->nr_cpus, cpu = 0;

	while (cpu < nr && !tap_select_cpu(q->pick->select, (int)cpu))
		cpu++;
	if (cpu < nr || !(q->pick->select->by & TAP_SELECT_CPUS))
		return false;
	tap_recording_note(q->rec, "-C: there is no CPU %.100s: the recording has %u, from 0 on",
			   q->pick->select->cpu_list, nr);
	return true;
}

bool tap_unmatched(const struct tap_pick *pick, struct tap_recording *rec,
		   const struct tap_there *there)
{
	const struct query q = { pick, rec, there };
	bool told = unmatched_tasks(&q);

	return unmatched_cpus(&q) || told;
}
