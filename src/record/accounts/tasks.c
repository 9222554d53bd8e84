// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/accounts/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/text.h"

/* Arguments that the functions for each task pass on. */
struct walk {
	struct tap_task_accounts *to;
	const char *folder; /* a process's folder of tasks */
	struct tap_buf text;
};

static int read_file(struct walk *w, unsigned int tid, const char *name)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/%u/%s", w->folder, tid, name);

	return len < (int)sizeof(path) ? tap_known_read(&w->text, path) : -ENAMETOOLONG;
}

static int read_schedstat(struct walk *w, struct tap_tally_task *t)
{
	int ret = read_file(w, t->tid, "schedstat");
	struct tap_proc_schedstat s;

	ret = ret ?: tap_proc_parse_schedstat(tap_buf_str(&w->text), &s);
	if (ret)
		return ret;
	t->run_ns = s.run_ns;
	t->wait_ns = s.wait_ns;
	t->waits = s.slices;
	return 0;
}

/* Read the name and the start time. The name may contain spaces and parentheses. */
static int read_stat(struct walk *w, struct tap_task_reading *r)
{
	struct tap_tally_task *t = &r->task.t;
	int ret = read_file(w, t->tid, "stat");
	const char *text = tap_buf_str(&w->text), *begin = strchr(text, '('),
		   *end = strrchr(text, ')');
	size_t len;

	if (ret || !begin || !end || end < begin || tap_proc_start(text, &r->start_ticks))
		return ret ?: -EBADMSG;
	len = (size_t)(end - ++begin);
	len = len < sizeof(t->comm) ? len : sizeof(t->comm);
	memcpy(t->comm, begin, len);
	return 0;
}

static void read_status(struct walk *w, struct tap_accounts_task *task)
{
	int ret = read_file(w, task->t.tid, "status");
	const char *text = tap_buf_str(&w->text);
	struct tap_known voluntary = tap_known_value(ret, text, "voluntary_ctxt_switches:\t");
	struct tap_known involuntary = tap_known_value(ret, text, "nonvoluntary_ctxt_switches:\t");

	task->knows_switches = !voluntary.err && !involuntary.err;
	task->t.voluntary = voluntary.v;
	task->t.involuntary = involuntary.v;
}

static bool same_counts(const struct tap_tally_task *a, const struct tap_tally_task *b)
{
	return a->run_ns == b->run_ns && a->wait_ns == b->wait_ns && a->waits == b->waits;
}

/* Return: the task at the last reading, or zero for a new one; NULL if it cannot be compared. */
static const struct tap_accounts_task *comparable(const struct tap_task_accounts *t,
						  const struct tap_task_reading *before,
						  const struct tap_task_reading *now)
{
	static const struct tap_accounts_task none = { .knows_switches = true };

	if (before && before->start_ticks == now->start_ticks)
		return &before->task;
	/* a tick may have begun before the last reading, and ended after it */
	return now->start_ticks + 1 >= t->before.begin_ticks ? &none : NULL;
}

static int add_difference(struct tap_task_accounts *t, const struct tap_accounts_task *before,
			  const struct tap_accounts_task *now)
{
	struct tap_accounts_task d = *now;

	if (now->t.run_ns < before->t.run_ns || now->t.wait_ns < before->t.wait_ns ||
	    now->t.waits < before->t.waits)
		return 0; /* after execve(2) by one of several threads, its tid is the leader's */
	if (tap_array_grow(&t->v, t->nr, &t->cap, sizeof(*t->v)))
		return -ENOMEM;
	d.t.run_ns -= before->t.run_ns;
	d.t.wait_ns -= before->t.wait_ns;
	d.t.waits -= before->t.waits;
	d.knows_switches = now->knows_switches && before->knows_switches &&
			   now->t.voluntary >= before->t.voluntary &&
			   now->t.involuntary >= before->t.involuntary;
	d.t.voluntary = d.knows_switches ? d.t.voluntary - before->t.voluntary : 0;
	d.t.involuntary = d.knows_switches ? d.t.involuntary - before->t.involuntary : 0;
	t->v[t->nr++] = d;
	return 0;
}

static int keep(struct tap_tasks_reading *to, const struct tap_task_reading *r)
{
	if (tap_array_grow(&to->v, to->nr, &to->cap, sizeof(*to->v)) ||
	    tap_map_set(&to->by_tid, r->task.t.tid, to->nr))
		return -ENOMEM;
	to->v[to->nr++] = *r;
	return 0;
}

/*
 * A task whose schedstat has not changed has not been switched out since, so its other files are
 * not read again: most tasks sleep.
 */
static int read_task(struct walk *w, unsigned int tgid, unsigned int tid)
{
	struct tap_task_accounts *t = w->to;
	struct tap_task_reading now = { .task.t = { .tid = tid, .tgid = tgid } };
	const uint64_t *i = tap_map_get(&t->before.by_tid, tid);
	const struct tap_task_reading *before = i ? &t->before.v[*i] : NULL;
	const struct tap_accounts_task *base;
	int ret = read_schedstat(w, &now.task.t);

	if (ret) {
		t->err = t->err ? ret : 0;
		return ret == -ENOMEM ? ret : 0;
	}
	t->err = 0;
	if (before && same_counts(&before->task.t, &now.task.t))
		return keep(&t->now, before);
	if (read_stat(w, &now))
		return 0; /* it has ended */
	read_status(w, &now.task);
	base = comparable(t, before, &now);
	ret = base ? add_difference(t, base, &now.task) : 0;
	return ret ?: keep(&t->now, &now);
}

/* Call @use with each number in a folder's list of names. */
static int each_number(struct walk *w, const char *path, unsigned int tgid,
		       int (*use)(struct walk *w, unsigned int tgid, unsigned int nr))
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int ret = 0;

	while (dir && !ret && (e = readdir(dir))) {
		const char *name = e->d_name;
		uint64_t nr;

		if (!tap_text_take_digits(&name, NULL, 10, &nr))
			ret = use(w, tgid ?: (unsigned int)nr, (unsigned int)nr);
	}
	if (dir)
		closedir(dir);
	return ret;
}

static int read_process(struct walk *w, unsigned int tgid, unsigned int nr)
{
	const char *proc = w->folder;
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/%u/task", proc, nr), ret = 0;

	if (len < (int)sizeof(path)) {
		w->folder = path;
		ret = each_number(w, path, tgid, read_task);
		w->folder = proc;
	}
	return ret;
}

static void release(struct tap_tasks_reading *r)
{
	free(r->v);
	tap_map_release(&r->by_tid);
	*r = (struct tap_tasks_reading){ 0 };
}

int tap_task_accounts_read(struct tap_task_accounts *t, const char *proc)
{
	struct walk w = { .to = t, .folder = proc, .text = { .max = 1 << 16 } };
	int ret;

	release(&t->before);
	t->before = t->now;
	t->now = (struct tap_tasks_reading){ 0 };
	t->now.begin_ticks =
		tap_clock_ns(CLOCK_BOOTTIME) / (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	t->nr = 0;
	t->err = -ENOENT;
	ret = each_number(&w, proc, 0, read_process);
	tap_buf_release(&w.text);
	return ret;
}

void tap_task_accounts_view(const struct tap_task_accounts *t, struct tap_accounts_view *view)
{
	view->tasks = t->v;
	view->nr_tasks = t->nr;
	view->all_tasks = (struct tap_known){ .v = t->err ? 0 : t->now.nr, .err = t->err };
}

void tap_task_accounts_release(struct tap_task_accounts *t)
{
	release(&t->before);
	release(&t->now);
	free(t->v);
}
