// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/session/description.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/backend.h"
#include "capture/machine.h"
#include "recording/names.h"

/* JSON has no place for bytes that are not UTF-8: those become '?'. */
static json_t *any_string(const char *text)
{
	json_t *j = json_string(text);
	char *copy;

	if (j)
		return j;
	copy = strdup(text);
	for (char *p = copy; p && *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	j = copy ? json_string(copy) : NULL;
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

/* As events have it; nothing if that is not known. */
void tap_description_add_tid(struct tap_description *d, const struct tap_pids *pids, pid_t tid)
{
	uint32_t initial = tap_pids_initial(pids, (uint32_t)tid);

	if (initial)
		json_array_append_new(json_object_get(d->meta, "own_tids"), json_integer(initial));
}

int tap_description_begin(struct tap_description *d, struct tap_pids *pids)
{
	int ret;

	d->meta = json_pack("{s:s, s:b, s:o, s:o, s:o, s:[o], s:[]}", "tool", "schedtap " TAP_VERSION,
			    "complete", 0, "host", tap_machine_host(), "command_line", command_line(),
			    "cpus", tap_machine_cpus(), "clocks", tap_machine_clocks(), "own_tids");
	if (!d->meta)
		return -ENOMEM;
	tap_description_add_tid(d, pids, gettid());
	ret = tap_pids_tasks(pids, &d->tgids, &d->comms);
	return ret ?: tap_pids_cgroups(pids, &d->cgroups, &d->members, &d->limited);
}

void tap_description_set_events(struct tap_description *d, const struct tap_plan *plan)
{
	static const char *const status[] = { "planned", "on", "absent", "failed" };
	json_t *events = json_array();

	for (unsigned int i = 0; i < plan->nr_events; i++) {
		const struct tap_plan_event *ev = &plan->events[i];
		json_t *e = json_pack("{s:s, s:s, s:s, s:s}", "system", ev->system, "name", ev->name,
				      "backend", ev->backend->name, "status", status[ev->status]);

		if (ev->reason)
			json_object_set_new(e, "reason", json_string(ev->reason));
		if (ev->filter)
			json_object_set_new(e, "filter", json_string(ev->filter));
		json_array_append_new(events, e);
	}
	json_object_set_new(d->meta, "events", events);
}

void tap_description_set_window(struct tap_description *d, uint64_t start_ns, uint64_t end_ns)
{
	json_t *window = json_pack("{s:I}", "start_ns", (json_int_t)start_ns);

	if (end_ns)
		json_object_set_new(window, "end_ns", json_integer((json_int_t)end_ns));
	json_object_set_new(d->meta, "window", window);
}

void tap_description_set_price(struct tap_description *d, json_t *price, const struct tap_session_stats *st)
{
	json_object_set_new(price, "events", json_integer((json_int_t)st->events));
	json_object_set_new(price, "bytes", json_integer((json_int_t)st->bytes));
	json_object_set_new(price, "lost", json_integer((json_int_t)st->lost));
	json_object_set_new(price, "recorder_cpu_pct", json_real(st->recorder_cpu_pct));
	if (st->events)
		json_object_set_new(price, "recorder_ns_per_event",
				    json_real(st->recorder_ns_per_event));
	json_object_set_new(d->meta, "price", price);
}

static json_t *task_table(const struct tap_description *d)
{
	json_t *tasks = json_array();

	/* who has a comm has a tgid: it is noted first */
	tap_map_for_each(&d->comms, t) {
		uint64_t *tgid = tap_map_get(&d->tgids, t->key);
		uint64_t *cgroup = tap_map_get(&d->members, t->key);
		json_t *row = json_pack("[I, I, o]", (json_int_t)t->key, (json_int_t)*tgid,
					any_string((const char *)(uintptr_t)t->value));

		if (cgroup)
			json_array_append_new(row, json_integer((json_int_t)*cgroup));
		json_array_append_new(tasks, row);
	}
	return tasks;
}

/* The cgroups that events or tasks name. Return: NULL when out of memory. */
static json_t *cgroup_table(const struct tap_description *d, const struct tap_names *names)
{
	json_t *cgroups = json_array();
	struct tap_map used = { 0 };
	bool ok = true;

	tap_map_for_each(&d->members, m)
		ok &= !!tap_map_put(&used, m->value);
	tap_map_for_each(&d->cgroups, c) {
		const char *path = (const char *)(uintptr_t)c->value;

		if (tap_map_get(&names->cgroups, c->key) || tap_map_get(&used, c->key))
			json_array_append_new(cgroups, json_pack("[I, o]", (json_int_t)c->key,
								 any_string(path)));
	}
	tap_map_release(&used);
	if (ok)
		return cgroups;
	json_decref(cgroups);
	return NULL;
}

static json_t *ids(const struct tap_map *m)
{
	json_t *list = json_array();

	tap_map_for_each(m, s)
		json_array_append_new(list, json_integer((json_int_t)s->key));
	return list;
}

/* Leaves only those that events name: they go into every format text. */
static int keep_seen_cgroups(struct tap_description *d, const struct tap_names *names)
{
	struct tap_map kept = { 0 };

	tap_map_for_each(&d->cgroups, c) {
		uint64_t *slot;

		if (!tap_map_get(&names->cgroups, c->key))
			continue;
		slot = tap_map_put(&kept, c->key);
		if (!slot) {
			tap_map_release(&kept);
			return -ENOMEM;
		}
		*slot = c->value;
	}
	tap_map_for_each(&d->cgroups, c)
		if (!tap_map_get(&kept, c->key))
			free((char *)(uintptr_t)c->value);
	tap_map_release(&d->cgroups);
	d->cgroups = kept;
	return 0;
}

/* Programs that were recorded and are gone: no event of the kernel's may have named them. */
static int add_programs(struct tap_description *d)
{
	size_t i;
	json_t *p;

	json_array_foreach(json_object_get(d->meta, "programs"), i, p) {
		uint64_t pid = (uint64_t)json_integer_value(json_object_get(p, "pid"));
		const char *text = json_string_value(json_object_get(p, "comm"));
		uint64_t *tgid, *comm;
		char *name;

		if (!pid || !text || tap_map_get(&d->comms, pid))
			continue;
		name = strdup(text);
		tgid = name ? tap_map_put(&d->tgids, pid) : NULL;
		comm = tgid ? tap_map_put(&d->comms, pid) : NULL;
		if (!comm) {
			free(name);
			return -ENOMEM;
		}
		*tgid = pid;
		*comm = (uintptr_t)name;
	}
	return 0;
}

static int learn_names(struct tap_description *d, struct tap_pids *pids, const char *spool,
		       struct tap_buf *cmdlines, struct tap_err *err)
{
	struct tap_names names = { 0 };
	struct tap_reader *r = NULL;
	int ret;

	tap_pids_tasks(pids, &d->tgids, &d->comms);
	tap_pids_cgroups(pids, &d->cgroups, &d->members, &d->limited);
	if (add_programs(d))
		return tap_err_set(err, -ENOMEM, "out of memory");
	ret = tap_reader_open(spool, &r, err);
	ret = ret ?: tap_names_collect(r, &names, err);
	if (!ret && (json_object_set_new(d->meta, "cgroups", cgroup_table(d, &names)) ||
		     json_object_set_new(d->meta, "quota_cgroups", ids(&d->limited)) ||
		     keep_seen_cgroups(d, &names)))
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	if (!ret) {
		tap_names_cmdlines(&names, cmdlines);
		tap_map_for_each(&d->comms, t)
			if (!tap_map_get(&names.by_tid, t->key))
				tap_buf_printf(cmdlines, "%u %s\n", (unsigned int)t->key,
					       (const char *)(uintptr_t)t->value);
	}
	tap_names_release(&names);
	tap_reader_free(r);
	return ret;
}

int tap_description_end(struct tap_description *d, struct tap_pids *pids, const char *spool,
			bool complete, struct tap_buf *cmdlines, struct tap_err *err)
{
	int ret;

	json_array_append_new(json_object_get(d->meta, "clocks"), tap_machine_clocks());
	json_object_set_new(d->meta, "complete", json_boolean(complete));
	ret = learn_names(d, pids, spool, cmdlines, err);
	json_object_set_new(d->meta, "tasks", task_table(d));
	return ret;
}

void tap_description_cmdlines(const struct tap_description *d, struct tap_buf *out)
{
	tap_map_for_each(&d->comms, t)
		tap_buf_printf(out, "%u %s\n", (unsigned int)t->key,
			       (const char *)(uintptr_t)t->value);
}

void tap_description_uname(const struct tap_description *d, char *text, size_t size)
{
	const json_t *host = json_object_get(d->meta, "host");

	snprintf(text, size, "Linux %s %s %s %s",
		 json_string_value(json_object_get(host, "hostname")),
		 json_string_value(json_object_get(host, "release")),
		 json_string_value(json_object_get(host, "version")),
		 json_string_value(json_object_get(host, "machine")));
}

char *tap_description_text(const struct tap_description *d)
{
	return json_dumps(d->meta, JSON_COMPACT);
}

void tap_description_release(struct tap_description *d)
{
	json_decref(d->meta);
	tap_map_release(&d->tgids);
	tap_map_release(&d->members);
	tap_map_release(&d->limited);
	tap_machine_release_texts(&d->comms);
	tap_machine_release_texts(&d->cgroups);
}
