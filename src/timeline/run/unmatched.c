// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/unmatched.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

#define MAX_SHOWN 5u /* names to list if none is similar */

/* ---- names ---- */

struct names {
	char **v; /* owned, and so is each string */
	unsigned int nr, cap;
};

static void names_release(struct names *n)
{
	for (unsigned int i = 0; i < n->nr; i++)
		free(n->v[i]);
	free(n->v);
}

/* When out of memory, skip the name: it is only a suggestion. */
static void names_add(struct names *n, const char *s, size_t len)
{
	if (tap_array_grow(&n->v, n->nr, &n->cap, sizeof(*n->v)))
		return;
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

/* Sort, and drop duplicates. */
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

/* Accept a name that contains the word as similar: a cgroup's path is long. */
static const char *find_nearest(const struct names *n, const char *word)
{
	const char *near = tap_nearest(word, (const char *const *)n->v, n->nr);

	for (unsigned int i = 0; i < n->nr && !near && *word; i++)
		if (strcasestr(n->v[i], word))
			near = n->v[i];
	return near;
}

static void note_word(const struct tap_recording *rec, const char *option, const char *what,
		      const char *word, const struct names *n)
{
	struct tap_buf b = { 0 };
	const char *near = find_nearest(n, word);

	tap_buf_printf(&b, "%s: there is no %s '%.100s'", option, what, word);
	if (near)
		tap_buf_printf(&b, ": did you mean '%.100s'?", near);
	for (unsigned int i = 0; i < n->nr && i < MAX_SHOWN && !near; i++)
		tap_buf_printf(&b, "%s'%.60s'", i ? ", " : "; the recording has ", n->v[i]);
	if (!near && n->nr > MAX_SHOWN)
		tap_buf_printf(&b, " and %u more", n->nr - MAX_SHOWN);
	tap_recording_note(rec, "%s", tap_buf_str(&b));
	tap_buf_release(&b);
}

/* Send a note for each of @words. Releases @n. */
static void note_words(const struct tap_recording *rec, const char *option, const char *what,
		       const struct tap_strings *words, struct names *n)
{
	names_sort(n);
	for (unsigned int i = 0; i < words->nr; i++)
		note_word(rec, option, what, words->v[i], n);
	names_release(n);
}

/* ---- options ---- */

/* Return the next task, from index @i on, that the timeline had; NULL: no more. */
static const struct tap_task *next_task(const struct tap_run *run, unsigned int *i)
{
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(run->timeline, &nr);

	while (*i < nr && !tap_timeline_had(run->timeline, tasks[*i]))
		++*i;
	return *i < nr ? tasks[(*i)++] : NULL;
}

#define for_each_task(run, task) for (unsigned int next_ = 0; (task = next_task(run, &next_));)

/*
 * Return true if the task matches the options in @by at the recording's end, or all options at an
 * earlier time.
 */
static bool matches_options(const struct tap_run *run, unsigned int by, const struct tap_task *task)
{
	return task->selected || tap_pick_task_by(&run->pick, &run->rec.ids.cgroups, by, task);
}

static bool any_task_matches(const struct tap_run *run, unsigned int by)
{
	const struct tap_task *task;

	for_each_task(run, task)
		if (matches_options(run, by, task))
			return true;
	return false;
}

static void note_tgids(const struct tap_run *run)
{
	const struct tap_select_ids *tgids = &run->pick.select->tgids;
	const struct tap_task *task;
	struct names n = { 0 };

	for_each_task(run, task) {
		int tid = task->tid, tgid = tap_task_tgid(task);

		if (tgid >= 0)
			names_add_int(&n, tgid);
		if (tgid < 0 || tid == tgid || !tap_map_get(&tgids->set, (uint64_t)tid))
			continue;
		tap_recording_note(&run->rec,
				   "-p: %d is a thread of process %d: did you mean '-t %d'?", tid,
				   tgid, tid);
		names_release(&n);
		return;
	}
	note_words(&run->rec, "-p", "process", &tgids->text, &n);
}

static void note_tids(const struct tap_run *run)
{
	const struct tap_task *task;
	struct names n = { 0 };

	for_each_task(run, task)
		names_add_int(&n, task->tid);
	note_words(&run->rec, "-t", "thread", &run->pick.select->tids.text, &n);
}

static void note_comms(const struct tap_run *run)
{
	const struct tap_task *task;
	struct names n = { 0 };

	for_each_task(run, task)
		if (*task->comm)
			names_add(&n, task->comm, strnlen(task->comm, TAP_TASK_COMM));
	note_words(&run->rec, "-c", "thread named", &run->pick.select->comms, &n);
}

static void note_cgroups(const struct tap_run *run)
{
	struct names n = { 0 };

	tap_map_for_each(&run->rec.ids.cgroups.paths, s) {
		const char *path = (const char *)(uintptr_t)s->value;

		names_add(&n, path, strlen(path));
	}
	note_words(&run->rec, "-g", "thread in a cgroup", &run->pick.select->cgroups, &n);
}

static bool unmatched_tasks(const struct tap_run *run)
{
	static const struct {
		unsigned int by;
		void (*note)(const struct tap_run *run);
	} options[] = {
		{ TAP_SELECT_TGIDS, note_tgids },
		{ TAP_SELECT_TIDS, note_tids },
		{ TAP_SELECT_COMMS, note_comms },
		{ TAP_SELECT_CGROUPS, note_cgroups },
	};
	unsigned int given = 0;
	bool noted = false;

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (!(run->pick.select->by & options[i].by))
			continue;
		given++;
		if (any_task_matches(run, options[i].by))
			continue;
		options[i].note(run);
		noted = true;
	}
	if (noted || given < 2 || any_task_matches(run, TAP_SELECT_TASKS))
		return noted;
	tap_recording_note(&run->rec, "no thread matches all of the options -p, -t, -c, -g");
	return true;
}

static bool unmatched_cpus(const struct tap_run *run)
{
	unsigned int nr = tap_reader_info(run->rec.reader)->nr_cpus, cpu = 0;

	while (cpu < nr && !tap_select_cpu(run->pick.select, (int)cpu))
		cpu++;
	if (cpu < nr || !(run->pick.select->by & TAP_SELECT_CPUS))
		return false;
	tap_recording_note(&run->rec,
			   "-C: there is no CPU %.100s: the number of CPUs in the recording is %u, "
			   "and the first one is CPU 0",
			   run->pick.select->cpu_list, nr);
	return true;
}

bool tap_unmatched(const struct tap_run *run)
{
	bool noted = unmatched_tasks(run);

	return unmatched_cpus(run) || noted;
}
