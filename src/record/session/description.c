// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/session/description.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "event/define/source.h"
#include "event/select/mount.h"
#include "file/names.h"
#include "file/rebuild.h"
#include "record/backend.h"
#include "record/machine.h"
#include "record/session/running.h"

/* JSON strings are UTF-8: replace bytes >= 0x80 of other encodings by '?'. */
static json_t *any_string(const char *text)
{
	json_t *j = json_string(text);
	char *copy = j ? NULL : strdup(text);

	for (char *p = copy; p && *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	j = j ?: json_string(copy);
	free(copy);
	return j;
}

static json_t *command_line(void)
{
	struct tap_buf words = { .max = 1 << 20 };
	json_t *command = json_array();

	if (!tap_buf_read_file(&words, "/proc/self/cmdline"))
		for (size_t at = 0; at < words.len; at += strlen(words.data + at) + 1)
			json_array_append_new(command, any_string(words.data + at));
	tap_buf_release(&words);
	return command;
}

/* Events have initial pids: a thread whose initial pid is not known is left out. */
void tap_description_add_tid(struct tap_description *d, const struct tap_pids *pids, pid_t tid)
{
	uint32_t initial = tap_pids_initial(pids, (uint32_t)tid);

	if (initial)
		json_array_append_new(json_object_get(d->meta, "own_tids"), json_integer(initial));
}

void tap_description_set_command(struct tap_description *d, const struct tap_pids *pids, pid_t pid)
{
	uint32_t initial = tap_pids_initial(pids, (uint32_t)pid);

	if (initial)
		json_object_set_new(d->meta, "command_tid", json_integer(initial));
}

#define LINE_BYTES 4096u /* maximum length of a command line; the rest is cut */

/* Return: the arguments of a process; NULL: it has none, like kernel threads, or it has ended. */
static json_t *read_words(uint64_t own_pid)
{
	char path[64], line[LINE_BYTES + 1];
	json_t *words = NULL;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%llu/cmdline", (unsigned long long)own_pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	len = read(fd, line, LINE_BYTES);
	close(fd);
	if (len > 0) {
		line[len] = 0;
		words = json_array();
		for (size_t at = 0; at < (size_t)len; at += strlen(line + at) + 1)
			json_array_append_new(words, any_string(line + at));
	}
	return words;
}

/* Read command lines if the user asked for them: they may contain secrets. Return: 0 or -ENOMEM. */
static int read_command_lines(const struct tap_description *d, const struct tap_pids *pids,
			      struct tap_task_list *list)
{
	const struct tap_map *own = pids->nested ? &pids->initial : &list->tgids;
	int ret = 0;

	if (!json_object_get(d->meta, "command_lines"))
		return 0;
	tap_map_for_each(own, s) {
		const uint64_t pid = pids->nested ? s->value : s->key,
			       *tgid = tap_map_get(&list->tgids, pid);
		json_t *words = !ret && tgid && *tgid == pid ? read_words(s->key) : NULL;

		if (!words)
			continue;
		ret = tap_map_set(&list->command_lines, pid, (uint64_t)(uintptr_t)words);
		if (ret)
			json_decref(words);
	}
	return ret;
}

/* Read all tasks and their cgroups into @list. Return: 0 or -ENOMEM. */
static int read_tasks(struct tap_description *d, struct tap_pids *pids, struct tap_task_list *list)
{
	int ret = tap_pids_tasks(pids, &list->tgids, &list->comms)
			  ?: tap_pids_affinities(pids, &list->comms, &list->affinities);

	list->has_affinities = !ret;
	ret = ret ?: read_command_lines(d, pids, list);
	return ret ?: tap_pids_cgroups(pids, &d->cgroups, &list->members, &list->limited);
}

/* Return: a random id for this run of the recorder; NULL: out of memory, or no random numbers. */
static json_t *recorder_id(void)
{
	unsigned char random[16];
	char text[2 * sizeof(random) + 1];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return NULL;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(text + 2 * i, 3, "%02x", random[i]);
	return json_string(text);
}

int tap_description_begin(struct tap_description *d, struct tap_pids *pids, bool with_lines)
{
	d->meta = json_pack("{s:s, s:b, s:o, s:o, s:o, s:[o], s:[], s:{s:o, s:i, s:b}}", "tool",
			    "schedtap " TAP_VERSION, "complete", 0, "host", tap_machine_host(),
			    "command_line", command_line(), "cpus", tap_machine_cpus(), "clocks",
			    tap_machine_clocks(), "own_tids", "recorder", "id", recorder_id(),
			    "file", 1, "continues", 0);
	if (!d->meta)
		return -ENOMEM;
	if (with_lines)
		json_object_set_new(d->meta, "command_lines", json_array());
	d->hierarchy = tap_cgroup_hierarchy();
	if (d->hierarchy >= 0)
		json_object_set_new(d->meta, "cgroup_hierarchy", json_integer(d->hierarchy));
	tap_description_add_tid(d, pids, gettid());
	return read_tasks(d, pids, &d->began);
}

int tap_description_read_tasks(struct tap_description *d, struct tap_pids *pids)
{
	d->hierarchy = tap_cgroup_hierarchy();
	return read_tasks(d, pids, &d->began);
}

int tap_description_read_names(struct tap_description *d, struct tap_pids *pids)
{
	struct tap_map tgids = { 0 }, comms = { 0 };
	int ret = tap_pids_tasks(pids, &tgids, &comms);

	tap_map_for_each(&comms, c)
		ret = ret
			      ?: tap_map_set(&d->began.tgids, c->key, *tap_map_get(&tgids, c->key))
			      ?: tap_machine_put_text(&d->began.comms, c->key,
						      (const char *)(uintptr_t)c->value);
	tap_map_release(&tgids);
	tap_machine_release_texts(&comms);
	return ret;
}

int tap_description_copy(const struct tap_description *from, struct tap_description *to)
{
	int ret = 0;

	*to = (struct tap_description){ .meta = json_deep_copy(from->meta),
					.hierarchy = from->hierarchy };
	tap_map_for_each(&from->cgroups, c)
		ret = ret
			      ?: tap_machine_put_text(&to->cgroups, c->key,
						      (const char *)(uintptr_t)c->value);
	if (to->meta && !ret)
		return 0;
	tap_description_release(to);
	*to = (struct tap_description){ 0 };
	return -ENOMEM;
}

void tap_description_set_file(struct tap_description *d, unsigned int file, bool continues)
{
	json_t *recorder = json_object_get(d->meta, "recorder");

	json_object_set_new(recorder, "file", json_integer(file));
	json_object_set_new(recorder, "continues", json_boolean(continues));
}

static json_t *list_triggers(const struct tap_plan *plan)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < plan->nr_triggers; i++)
		json_array_append_new(list, any_string(plan->triggers[i].text));
	return list;
}

static json_t *list_strings(const struct tap_strings *words)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < words->nr; i++)
		json_array_append_new(list, any_string(words->v[i]));
	return list;
}

/*
 * Return: whether all switches and wakeups of the tasks selected by -p, -t, -c and -g are recorded,
 * except on CPUs that -C excludes. Event filters and triggers may exclude some, and in a nested pid
 * namespace the events have other pids.
 */
static bool has_all_of_them(const struct tap_plan *plan)
{
	bool misses_moves =
		(plan->select->by & TAP_SELECT_CPUS) && (plan->select->by & TAP_SELECT_CGROUPS);

	if (misses_moves || plan->pids.nested || plan->nr_triggers)
		return false;
	for (unsigned int i = 0; i < plan->nr_events; i++)
		if (!strcmp(plan->events[i].system, "sched") && plan->events[i].filter)
			return false;
	/* a switch without names does not show which task is selected by name */
	return !(tap_plan_is_lean(plan) && plan->select->comms.nr);
}

/*
 * Return: whether migrations of selected tasks may be missing: the kernel's filter by tid
 * (set_event_pid) keeps only migrations that a selected task itself causes.
 */
static bool lacks_migrations(const struct tap_plan *plan)
{
	const struct tap_plan_event *ev = tap_plan_find(plan, "sched", "sched_migrate_task");

	return ev && !strcmp(ev->backend->name, "tracefs") &&
	       (plan->select->by & (TAP_SELECT_TGIDS | TAP_SELECT_TIDS));
}

/*
 * Return: whether children of selected processes are recorded: over tracefs they always are
 * (tracefs/backend.c).
 */
static bool has_children(const struct tap_plan *plan)
{
	const struct tap_plan_event *ev = tap_plan_find(plan, "sched", "sched_switch");

	return plan->follow || (ev && !strcmp(ev->backend->name, "tracefs") &&
				plan->select->tgids.nr && !plan->select->tids.nr);
}

static json_t *selected_cpus(const struct tap_plan *plan)
{
	struct tap_buf text = { 0 };
	json_t *cpus;

	tap_cpus_text(&plan->select->cpus, &text);
	cpus = json_stringn(text.data, text.len);
	tap_buf_release(&text);
	return cpus;
}

static void set_limits(struct tap_description *d, const struct tap_plan *plan)
{
	json_t *only;

	if (!plan->select || !(plan->select->by & (TAP_SELECT_TASKS | TAP_SELECT_CPUS)))
		return;
	if (has_all_of_them(plan))
		only = json_pack("{s:o, s:o, s:o, s:o}", "processes",
				 list_strings(&plan->select->tgids.text), "threads",
				 list_strings(&plan->select->tids.text), "names",
				 list_strings(&plan->select->comms), "cgroups",
				 list_strings(&plan->select->cgroups));
	else
		only = json_object(); /* limited to tasks that are not known for certain */
	if (json_object_size(only) && has_children(plan))
		json_object_set_new(only, "follow", json_true());
	if (json_object_size(only) && lacks_migrations(plan))
		json_object_set_new(only, "lacks_migrations", json_true());
	if (plan->select->by & TAP_SELECT_CPUS)
		json_object_set_new(only, "cpus", selected_cpus(plan));
	json_object_set_new(d->meta, "only", only);
}

int tap_description_set_formats(struct tap_description *d, const struct tap_head *head)
{
	return json_object_set_new(d->meta, "formats", tap_rebuild_formats(head)) ? -ENOMEM : 0;
}

void tap_description_set_events(struct tap_description *d, const struct tap_plan *plan)
{
	static const char *const status[] = { "planned", "on", "absent", "failed" };
	json_t *events = json_array();

	for (unsigned int i = 0; i < plan->nr_events; i++) {
		const struct tap_plan_event *ev = &plan->events[i];
		json_t *e = json_pack("{s:s, s:s, s:s, s:s, s:o*, s:o*}", "system", ev->system,
				      "name", ev->name, "backend", ev->backend->name, "status",
				      status[ev->status], "reason", json_string(ev->reason),
				      "filter", json_string(ev->filter));

		if (ev->is_soft && !ev->is_switched)
			json_object_set_new(e, "only_for_trigger", json_true());
		json_array_append_new(events, e);
	}
	json_object_set_new(d->meta, "events", events);
	set_limits(d, plan);
	if (plan->nr_triggers)
		json_object_set_new(d->meta, "triggers", list_triggers(plan));
}

void tap_description_set_definitions(struct tap_description *d, const struct tap_defs *own)
{
	json_t *definitions = json_array();

	for (const struct tap_source *s = own->sources; s; s = s->next)
		json_array_append_new(definitions,
				      json_pack("{s:o, s:o}", "file", any_string(s->path), "text",
						any_string(s->text)));
	if (own->nr)
		json_object_set(d->meta, "definitions", definitions);
	json_decref(definitions);
}

void tap_description_set_window(struct tap_description *d, uint64_t start_ns, uint64_t end_ns)
{
	json_t *window = json_pack("{s:I}", "start_ns", (json_int_t)start_ns);

	if (end_ns)
		json_object_set_new(window, "end_ns", json_integer((json_int_t)end_ns));
	json_object_set_new(d->meta, "window", window);
}

void tap_description_set_running(struct tap_description *d)
{
	json_t *running = tap_running_read();

	if (running)
		json_object_set_new(d->meta, "running", running);
}

void tap_description_end_window(struct tap_description *d, uint64_t end_ns)
{
	json_object_set_new(json_object_get(d->meta, "window"), "end_ns",
			    json_integer((json_int_t)end_ns));
}

void tap_description_set_price(struct tap_description *d, json_t *price,
			       const struct tap_session_stats *st)
{
	json_object_set_new(price, "events", json_integer((json_int_t)st->events));
	json_object_set_new(price, "bytes", json_integer((json_int_t)st->bytes));
	json_object_set_new(price, "lost", json_integer((json_int_t)st->lost));
	if (st->lost_unknown)
		json_object_set_new(price, "lost_is_lower_bound", json_true());
	json_object_set_new(price, "recorder_cpu_pct", json_real(st->recorder_cpu_pct));
	if (st->events)
		json_object_set_new(price, "recorder_ns_per_event",
				    json_real(st->recorder_ns_per_event));
	json_object_set_new(d->meta, "price", price);
}

/*
 * Return: a row of the task table; NULL: the task is not in the list. A task with a comm has a
 * tgid, which is read first.
 */
static json_t *task_row(const struct tap_task_list *list, uint64_t tid)
{
	const uint64_t *comm = tap_map_get(&list->comms, tid),
		       *cgroup = tap_map_get(&list->members, tid);
	const uint64_t *affinity = tap_map_get(&list->affinities, tid);
	const char *cpus = affinity ? (const char *)(uintptr_t)*affinity : NULL;
	json_t *row;

	if (!comm)
		return NULL;
	row = json_pack("[I, I, o, o]", (json_int_t)tid,
			(json_int_t)*tap_map_get(&list->tgids, tid),
			any_string((const char *)(uintptr_t)*comm),
			cgroup ? json_integer((json_int_t)*cgroup) : json_null());
	if (list->has_affinities && (!cpus || *cpus))
		json_array_append_new(row, cpus ? json_string(cpus) : json_null());
	return row;
}

/* @row: takes ownership; may be NULL. */
static void add_row(json_t *tasks, json_t *row, const char *when)
{
	if (!row)
		return;
	json_array_insert_new(row, 4, json_string(when));
	json_array_append_new(tasks, row);
}

static json_t *task_table(const struct tap_description *d)
{
	json_t *tasks = json_array();

	tap_map_for_each(&d->began.comms, t) {
		json_t *row = task_row(&d->began, t->key), *later = task_row(&d->ended, t->key);
		bool same = json_equal(row, later);

		add_row(tasks, row, same ? "both" : "began");
		if (same)
			json_decref(later);
		else
			add_row(tasks, later, "ended");
	}
	tap_map_for_each(&d->ended.comms, t)
		if (!tap_map_get(&d->began.comms, t->key))
			add_row(tasks, task_row(&d->ended, t->key), "ended");
	tap_map_for_each(&d->gone.comms, t)
		json_array_append_new(tasks, task_row(&d->gone, t->key));
	return tasks;
}

static json_t *words_of(const struct tap_task_list *list, uint64_t pid)
{
	const uint64_t *slot = tap_map_get(&list->command_lines, pid);

	return slot ? (json_t *)(uintptr_t)*slot : NULL;
}

static void add_line(json_t *lines, uint64_t pid, const char *when, json_t *words)
{
	json_array_append_new(lines, json_pack("[I, s, O]", (json_int_t)pid, when, words));
}

/* Fill the meta's list of command lines, if it has one. */
static void put_command_lines(const struct tap_description *d)
{
	json_t *lines = json_object_get(d->meta, "command_lines");

	tap_map_for_each(&d->began.command_lines, s) {
		json_t *words = words_of(&d->began, s->key);

		add_line(lines, s->key,
			 json_equal(words, words_of(&d->ended, s->key)) ? "both" : "began", words);
	}
	tap_map_for_each(&d->ended.command_lines, s)
		if (!json_equal(words_of(&d->began, s->key), words_of(&d->ended, s->key)))
			add_line(lines, s->key, "ended", words_of(&d->ended, s->key));
}

/* List the cgroups of events and tasks. Return: NULL when out of memory. */
static json_t *cgroup_table(const struct tap_description *d, const struct tap_names *names)
{
	json_t *cgroups = json_array();
	struct tap_map used = { 0 };
	bool ok = true;

	tap_map_for_each(&d->began.members, m)
		ok &= !!tap_map_put(&used, m->value);
	tap_map_for_each(&d->ended.members, m)
		ok &= !!tap_map_put(&used, m->value);
	tap_map_for_each(&d->ended.limited, c)
		ok &= !!tap_map_put(&used, c->key);
	tap_map_for_each(&d->cgroups, c) {
		const char *path = (const char *)(uintptr_t)c->value;

		if (tap_map_get(&names->cgroups, c->key) || tap_map_get(&used, c->key))
			json_array_append_new(
				cgroups, json_pack("[I, o]", (json_int_t)c->key, any_string(path)));
	}
	tap_map_release(&used);
	if (ok)
		return cgroups;
	json_decref(cgroups);
	return NULL;
}

/* List the cgroups that had a CPU quota at the start or the end. */
static json_t *quota_cgroups(const struct tap_description *d)
{
	json_t *list = json_array();

	tap_map_for_each(&d->began.limited, c)
		json_array_append_new(list, json_integer((json_int_t)c->key));
	tap_map_for_each(&d->ended.limited, c)
		if (!tap_map_get(&d->began.limited, c->key))
			json_array_append_new(list, json_integer((json_int_t)c->key));
	return list;
}

/*
 * List how long tasks were throttled while recording, for cgroups with a quota at the start and the
 * end.
 */
static json_t *list_throttled(const struct tap_description *d)
{
	json_t *list = json_array();

	tap_map_for_each(&d->ended.limited, c) {
		const uint64_t *before = tap_map_get(&d->began.limited, c->key);

		if (before && c->value >= *before)
			json_array_append_new(list, json_pack("[I, I]", (json_int_t)c->key,
							      (json_int_t)(c->value - *before)));
	}
	return list;
}

/*
 * Keep only cgroups that events name, because every format text repeats all of them. Return: 0 or
 * -ENOMEM.
 */
static int keep_seen_cgroups(struct tap_description *d, const struct tap_names *names)
{
	struct tap_map kept = { 0 };

	int ret = 0;

	tap_map_for_each(&d->cgroups, c)
		if (!ret && tap_map_get(&names->cgroups, c->key))
			ret = tap_machine_put_text(&kept, c->key,
						   (const char *)(uintptr_t)c->value);
	tap_machine_release_texts(&d->cgroups);
	d->cgroups = kept;
	return ret;
}

/* Return: the task's last known name; NULL: not known. */
static const char *name_of(const struct tap_description *d, uint64_t tid)
{
	const uint64_t *comm = tap_map_get(&d->ended.comms, tid);

	comm = comm ?: tap_map_get(&d->began.comms, tid);
	comm = comm ?: tap_map_get(&d->gone.comms, tid);
	return comm ? (const char *)(uintptr_t)*comm : NULL;
}

/*
 * Add user-space programs that were recorded and have ended: the kernel's events may not name them.
 * Return: 0 or -ENOMEM.
 */
static int add_programs(struct tap_description *d)
{
	size_t i;
	json_t *p;

	json_array_foreach(json_object_get(d->meta, "programs"), i, p) {
		uint64_t pid = (uint64_t)json_integer_value(json_object_get(p, "pid"));
		const char *comm = json_string_value(json_object_get(p, "comm"));

		if (pid && comm && !name_of(d, pid) &&
		    (tap_map_set(&d->gone.tgids, pid, pid) ||
		     tap_machine_put_text(&d->gone.comms, pid, comm)))
			return -ENOMEM;
	}
	return 0;
}

/* Append "pid comm" lines of tasks that no event names. */
static void add_cmdlines(const struct tap_description *d, const struct tap_names *names,
			 struct tap_buf *out)
{
	const struct tap_task_list *const lists[] = { &d->began, &d->ended, &d->gone };
	struct tap_map done = { 0 };

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		tap_map_for_each(&lists[i]->comms, t) {
			uint64_t *slot = tap_map_get(&names->by_tid, t->key)
						 ? NULL
						 : tap_map_put(&done, t->key);

			if (slot && !*slot)
				tap_buf_printf(out, "%u %s\n", (unsigned int)t->key,
					       name_of(d, t->key));
			if (slot)
				*slot = 1;
		}
	}
	tap_map_release(&done);
}

static int collect_names(const struct tap_spool *spool, struct tap_names *names,
			 struct tap_err *err)
{
	struct tap_held *held = tap_spool_held(spool);
	struct tap_reader *r = NULL;
	int ret;

	if (held)
		return tap_names_collect_held(tap_spool_path(spool), held, names, err);
	ret = tap_reader_open(tap_spool_path(spool), &r, err);
	ret = ret ?: tap_names_collect(r, names, err);
	tap_reader_free(r);
	return ret;
}

/* Add the cgroups' paths that events have. Return: 0 or -ENOMEM. */
static int add_paths(struct tap_description *d, struct tap_names *names)
{
	int ret = 0;

	tap_map_for_each(&names->paths, p)
		if (!ret)
			ret = tap_machine_put_text(&d->cgroups, p->key,
						   (const char *)(uintptr_t)p->value)
				      ?: tap_map_put(&names->cgroups, p->key) ? 0
									      : -ENOMEM;
	return ret;
}

static int learn_names(struct tap_description *d, struct tap_pids *pids,
		       const struct tap_spool *spool, struct tap_buf *cmdlines, struct tap_err *err)
{
	struct tap_names names = { .hierarchy = d->hierarchy };
	int ret;

	read_tasks(d, pids, &d->ended);
	if (add_programs(d))
		return tap_err_nomem(err);
	ret = collect_names(spool, &names, err);
	if (!ret && add_paths(d, &names))
		ret = tap_err_nomem(err);
	if (!ret && (json_object_set_new(d->meta, "cgroups", cgroup_table(d, &names)) ||
		     json_object_set_new(d->meta, "quota_cgroups", quota_cgroups(d)) ||
		     json_object_set_new(d->meta, "throttled", list_throttled(d)) ||
		     keep_seen_cgroups(d, &names)))
		ret = tap_err_nomem(err);
	if (!ret) {
		tap_names_cmdlines(&names, cmdlines);
		add_cmdlines(d, &names, cmdlines);
	}
	tap_names_release(&names);
	return ret;
}

int tap_description_end(struct tap_description *d, struct tap_pids *pids,
			const struct tap_spool *spool, bool complete, struct tap_buf *cmdlines,
			struct tap_err *err)
{
	int ret;

	json_array_append_new(json_object_get(d->meta, "clocks"), tap_machine_clocks());
	json_object_set_new(d->meta, "complete", json_boolean(complete));
	ret = learn_names(d, pids, spool, cmdlines, err);
	json_object_set_new(d->meta, "tasks", task_table(d));
	put_command_lines(d);
	return ret;
}

void tap_description_cmdlines(const struct tap_description *d, struct tap_buf *out)
{
	tap_map_for_each(&d->began.comms, t)
		tap_buf_printf(out, "%u %s\n", (unsigned int)t->key,
			       (const char *)(uintptr_t)t->value);
}

char *tap_description_text(const struct tap_description *d)
{
	return json_dumps(d->meta, JSON_COMPACT);
}

static void release_tasks(struct tap_task_list *list)
{
	tap_map_release(&list->tgids);
	tap_map_release(&list->members);
	tap_map_release(&list->limited);
	tap_machine_release_texts(&list->comms);
	tap_machine_release_texts(&list->affinities);
	tap_map_for_each(&list->command_lines, s)
		json_decref((json_t *)(uintptr_t)s->value);
	tap_map_release(&list->command_lines);
}

void tap_description_release(struct tap_description *d)
{
	json_decref(d->meta);
	release_tasks(&d->began);
	release_tasks(&d->ended);
	release_tasks(&d->gone);
	tap_machine_release_texts(&d->cgroups);
}
