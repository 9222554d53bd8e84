// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "show/top/json.h"

/* Append a comma and a member. */
static void add_known(struct tap_buf *out, const char *key, struct tap_known n)
{
	tap_buf_char(out, ',');
	if (n.err)
		tap_buf_printf(out, "\"%s\":null", key);
	else
		tap_top_json_u64(out, key, n.v);
}

static void add_cpus(struct tap_buf *out, const struct tap_accounts_view *v)
{
	tap_buf_puts(out, ",\"cpus\":[");
	for (unsigned int i = 0; i < v->nr_cpus; i++) {
		tap_buf_puts(out, i ? ",{" : "{");
		tap_top_json_u64(out, "cpu", v->cpus[i].cpu);
		tap_buf_char(out, ',');
		tap_top_json_u64(out, "cpu_ns", v->cpus[i].cpu_ns);
		tap_buf_char(out, ',');
		tap_top_json_u64(out, "idle_ns", v->cpus[i].idle_ns);
		tap_buf_puts(out, ",\"switches\":null,\"runnable_ns\":null,\"max_wait_ns\":null}");
	}
	tap_buf_char(out, ']');
}

static void add_cgroups(struct tap_buf *out, const struct tap_accounts_view *v)
{
	tap_buf_puts(out, ",\"cgroups\":[");
	for (unsigned int i = 0; i < v->nr_cgroups; i++) {
		const struct tap_accounts_cgroup *c = &v->cgroups[i];

		tap_buf_puts(out, i ? ",{\"cgroup\":" : "{\"cgroup\":");
		tap_text_json(out, c->path, strlen(c->path));
		add_known(out, "run_ns", c->run_ns);
		tap_buf_puts(out, ",\"waits\":null,\"culprits\":null,\"censored\":null");
		add_known(out, "throttled_ns", c->throttled_ns);
		add_known(out, "pressure_ns", c->pressure_ns);
		tap_buf_char(out, '}');
	}
	tap_buf_char(out, ']');
}

static void add_tasks(struct tap_buf *out, const struct tap_accounts_view *v)
{
	add_known(out, "all_tasks", v->all_tasks);
	if (v->all_tasks.err) {
		tap_buf_puts(out, ",\"tasks\":null");
		return;
	}
	tap_buf_puts(out, ",\"tasks\":[");
	for (unsigned int i = 0; i < v->nr_tasks; i++) {
		const struct tap_top_task task = { .t = &v->tasks[i].t,
						   .knows_waits = true,
						   .knows_switches = v->tasks[i].knows_switches };

		if (i)
			tap_buf_char(out, ',');
		tap_top_json_task(out, &task);
	}
	tap_buf_char(out, ']');
}

/* Append an entry of "unknown" for a key whose numbers are in a file that cannot be used. */
static void add_unread(struct tap_buf *out, const char *key, const char *file, int err)
{
	struct tap_buf why = { 0 };

	if (!err)
		return;
	if (err == -EBADMSG)
		tap_buf_printf(&why, "%s does not have it", file);
	else if (err == -ERANGE)
		tap_buf_printf(&why, "the number in %s decreased", file);
	else
		tap_buf_printf(&why, "cannot read %s: %s", file, strerror(-err));
	tap_top_json_unknown(out, key, tap_buf_str(&why));
	tap_buf_release(&why);
}

static void add_reasons(struct tap_buf *out, const struct tap_top_accounts *r)
{
	static const char *const tally_keys[] = {
		"max_wait_ns",
		"waits",
		"culprits",
		"censored",
		"migrations",
		"llcs",
		"cpus[].switches",
		"cpus[].runnable_ns",
		"cpus[].max_wait_ns",
		"cgroups[].waits",
		"cgroups[].culprits",
		"cgroups[].censored",
		"tasks[].migrations",
		"tasks[].cpu",
		"tasks[].cgroup",
		"tasks[].util",
		"tasks[].prio",
		"tasks[].max_wait_ns",
		"tasks[].waits_by_length",
		"lost",
		"cgroups_without_slot",
		"overhead.ns_per_switch",
	};
	const struct tap_accounts_view *v = r->view;

	tap_buf_puts(out, ",\"unknown\":[");
	for (unsigned int i = 0; i < sizeof(tally_keys) / sizeof(tally_keys[0]); i++)
		tap_top_json_unknown(out, tally_keys[i], r->why);
	add_unread(out, "cpu_ns", "/proc/stat", v->cpus_err);
	add_unread(out, "idle_ns", "/proc/stat", v->cpus_err);
	add_unread(out, "overhead.cpu_pct", "/proc/stat", v->cpus_err);
	add_unread(out, "switches", "/proc/stat", v->switches.err);
	add_unread(out, "all_waits", "/proc/schedstat", v->waits.err ?: v->wait_ns.err);
	add_unread(out, "pressure_ns", "/proc/pressure/cpu", v->pressure_ns.err);
	add_unread(out, "cgroups[].run_ns", "cpu.stat or cpuacct.usage", v->run_err);
	add_unread(out, "cgroups[].throttled_ns", "cpu.stat", v->throttled_err);
	add_unread(out, "cgroups[].pressure_ns", "cpu.pressure", v->cgroup_pressure_err);
	add_unread(out, "all_tasks", "/proc/PID/task/TID/schedstat", v->all_tasks.err);
	add_unread(out, "tasks", "/proc/PID/task/TID/schedstat", v->all_tasks.err);
	tap_buf_char(out, ']');
}

static void add_waits(struct tap_buf *out, const struct tap_accounts_view *v)
{
	if (v->waits.err || v->wait_ns.err) {
		tap_buf_puts(out, ",\"all_waits\":null");
		return;
	}
	tap_buf_puts(out, ",\"all_waits\":{");
	tap_top_json_u64(out, "count", v->waits.v);
	add_known(out, "sum_ns", v->wait_ns);
	tap_buf_char(out, '}');
}

void tap_top_accounts_json(struct tap_buf *out, const struct tap_top_accounts *r)
{
	const struct tap_accounts_view *v = r->view;

	tap_top_json_begin(out, "proc", r->realtime_ns, v->from_ns, v->to_ns);
	tap_buf_puts(out, ",\"waits_begin\":\"queued\"");
	add_known(out, "cpu_ns", (struct tap_known){ v->cpu_ns, v->cpus_err });
	add_known(out, "idle_ns", (struct tap_known){ v->idle_ns, v->cpus_err });
	add_known(out, "switches", v->switches);
	tap_buf_puts(out, ",\"max_wait_ns\":null,\"migrations\":null,\"waits\":null,\"culprits\":"
			  "null,\"censored\":null,\"llcs\":null");
	add_waits(out, v);
	add_known(out, "pressure_ns", v->pressure_ns);
	add_cpus(out, v);
	add_cgroups(out, v);
	add_tasks(out, v);
	tap_buf_puts(out, ",\"overhead\":{\"ns_per_switch\":null,\"cpu_pct\":");
	if (v->cpu_ns)
		tap_buf_printf(out, "%.3f", 100 * (double)r->own_cpu_ns / (double)v->cpu_ns);
	else
		tap_buf_puts(out, "null");
	add_known(out, "own_cpu_ns", (struct tap_known){ .v = r->own_cpu_ns });
	tap_buf_puts(out, "},\"lost\":null,\"cgroups_without_slot\":null");
	add_reasons(out, r);
	tap_buf_puts(out, "}\n");
}
