// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/wall.h"
#include "record/tally/waits.h"
#include "show/top/json.h"

static const char *const reasons[] = { "unseen", "other_task", "no_stamp", "negative",
				       "delayed_dequeue" };

void tap_top_json_u64(struct tap_buf *out, const char *key, uint64_t v)
{
	tap_buf_char(out, '"');
	tap_buf_puts(out, key);
	tap_buf_puts(out, "\":");
	tap_buf_u64(out, v);
}

void tap_top_json_begin(struct tap_buf *out, const char *source, int64_t realtime_ns,
			uint64_t from_ns, uint64_t to_ns)
{
	struct tap_wall wall = { .is_known = true };

	tap_buf_printf(out, "{\"schema\":1,\"source\":\"%s\",\"time_wall\":", source);
	if (realtime_ns) {
		tap_buf_char(out, '"');
		tap_wall_add_iso(&wall, out, (uint64_t)realtime_ns);
		tap_buf_puts(out, "\",");
	} else {
		tap_buf_puts(out, "null,");
	}
	tap_top_json_u64(out, "start_ns", from_ns);
	tap_buf_char(out, ',');
	tap_top_json_u64(out, "end_ns", to_ns);
}

void tap_top_json_unknown(struct tap_buf *out, const char *key, const char *why)
{
	/* the first entry has no comma before it */
	tap_buf_puts(out, out->len && out->data[out->len - 1] == '}' ? ",{" : "{");
	tap_buf_printf(out, "\"key\":\"%s\",\"why\":", key);
	tap_text_json(out, why, strlen(why));
	tap_buf_char(out, '}');
}

static void add_waits(struct tap_buf *out, const struct tap_waits *w)
{
	tap_buf_char(out, '{');
	tap_top_json_u64(out, "count", w->count);
	tap_buf_char(out, ',');
	tap_top_json_u64(out, "sum_ns", w->sum_ns);
	for (unsigned int i = 0; i < 3; i++) {
		static const double parts[] = { 0.5, 0.99, 0.999 };
		static const char *const keys[] = { "p50_ns", "p99_ns", "p99_9_ns" };

		tap_buf_char(out, ',');
		if (w->count)
			tap_top_json_u64(out, keys[i], tap_waits_quantile(w, parts[i]));
		else
			tap_buf_printf(out, "\"%s\":null", keys[i]);
	}
	tap_buf_char(out, '}');
}

/* The rows that an object is about: one, or all. */
struct rows {
	const struct tap_tally_row *v;
	unsigned int nr;
};

/* The rows' waits by kind. */
static void add_all_waits(struct tap_buf *out, struct rows rows)
{
	tap_buf_puts(out, ",\"waits\":{");
	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++) {
		struct tap_waits w = { 0 };

		for (unsigned int i = 0; i < rows.nr; i++)
			tap_waits_add(&w, &rows.v[i], k);
		tap_buf_printf(out, "%s\"%s\":", k ? "," : "", tap_wait_kinds[k]);
		add_waits(out, &w);
	}
	tap_buf_char(out, '}');
}

static void add_culprits(struct tap_buf *out, const struct tap_tally_view *v,
			 const struct tap_tally_row *row)
{
	struct tap_top_culprit *list;
	unsigned int nr = tap_top_culprits(v, row, &list);

	tap_buf_puts(out, ",\"culprits\":[");
	for (unsigned int i = 0; i < nr; i++) {
		tap_buf_puts(out, i ? ",{\"culprit\":" : "{\"culprit\":");
		tap_text_json(out, list[i].name, strlen(list[i].name));
		tap_buf_char(out, ',');
		tap_top_json_u64(out, "ns", list[i].ns);
		tap_buf_char(out, '}');
	}
	tap_buf_char(out, ']');
	free(list);
}

static void add_censored(struct tap_buf *out, struct rows rows)
{
	tap_buf_puts(out, ",\"censored\":{");
	for (unsigned int k = 0; k < TAP_TALLY_REASONS; k++) {
		uint64_t nr = 0;

		for (unsigned int i = 0; i < rows.nr; i++)
			nr += rows.v[i].censored[k];
		if (k)
			tap_buf_char(out, ',');
		tap_top_json_u64(out, reasons[k], nr);
	}
	tap_buf_char(out, '}');
}

void tap_top_json_row(struct tap_buf *out, const struct tap_tally_view *view, unsigned int slot)
{
	const struct rows row = { &view->rows[slot], 1 };

	tap_top_json_u64(out, "run_ns", view->run_ns[slot]);
	add_all_waits(out, row);
	add_culprits(out, view, row.v);
	add_censored(out, row);
}

static void add_cgroups(struct tap_buf *out, const struct tap_tally_view *v)
{
	const char *comma = "";

	tap_buf_puts(out, ",\"cgroups\":[");
	for (unsigned int i = TAP_TALLY_KERNEL; i < v->nr_slots; i++) {
		if (!v->names[i] || tap_tally_is_empty(v, i))
			continue;
		tap_buf_printf(out, "%s{\"cgroup\":", comma);
		tap_text_json(out, v->names[i], strlen(v->names[i]));
		tap_buf_char(out, ',');
		tap_top_json_row(out, v, i);
		tap_buf_char(out, '}');
		comma = ",";
	}
	tap_buf_char(out, ']');
}

static void add_max_waits(struct tap_buf *out, const uint64_t ns[TAP_TALLY_KINDS])
{
	tap_buf_puts(out, ",\"max_wait_ns\":{");
	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++) {
		if (k)
			tap_buf_char(out, ',');
		tap_top_json_u64(out, tap_wait_kinds[k], ns[k]);
	}
	tap_buf_char(out, '}');
}

static void add_migrations(struct tap_buf *out, const uint64_t nr[TAP_TALLY_SCOPES])
{
	tap_buf_puts(out, ",\"migrations\":{");
	for (unsigned int i = 0; i < TAP_TALLY_SCOPES; i++) {
		if (i)
			tap_buf_char(out, ',');
		tap_top_json_u64(out, tap_migration_scopes[i], nr[i]);
	}
	tap_buf_char(out, '}');
}

static void add_llcs(struct tap_buf *out, const struct tap_tally_view *v)
{
	tap_buf_puts(out, ",\"llcs\":[");
	for (unsigned int i = 0; i < v->nr_llcs; i++) {
		tap_buf_puts(out, i ? ",{" : "{");
		tap_top_json_u64(out, "llc", v->llcs[i].llc);
		tap_buf_char(out, ',');
		tap_top_json_u64(out, "idle_while_waiting_ns", v->llcs[i].idle_while_waiting_ns);
		tap_buf_char(out, '}');
	}
	tap_buf_char(out, ']');
}

static void add_cpus(struct tap_buf *out, const struct tap_tally_view *v)
{
	tap_buf_puts(out, ",\"cpus\":[");
	for (unsigned int i = 0; i < v->nr_cpus; i++) {
		tap_buf_puts(out, i ? ",{" : "{");
		tap_top_json_u64(out, "cpu", v->cpus[i].cpu);
		tap_buf_char(out, ',');
		tap_top_json_u64(out, "cpu_ns", v->cpus[i].cpu_ns);
		tap_buf_char(out, ',');
		tap_top_json_u64(out, "idle_ns", v->cpus[i].idle_ns);
		tap_buf_char(out, ',');
		tap_top_json_u64(out, "switches", v->cpus[i].switches);
		tap_buf_char(out, ',');
		if (v->knows_lengths)
			tap_top_json_u64(out, "runnable_ns", v->cpus[i].runnable_ns);
		else
			tap_buf_puts(out, "\"runnable_ns\":null");
		add_max_waits(out, v->cpus[i].max_wait_ns);
		tap_buf_char(out, '}');
	}
	tap_buf_char(out, ']');
}

static void add_cgroup_and_prio(struct tap_buf *out, const struct tap_top_task *task)
{
	tap_buf_puts(out, ",\"cgroup\":");
	if (task->cgroup)
		tap_text_json(out, task->cgroup, strlen(task->cgroup));
	else
		tap_buf_puts(out, "null");
	if (task->is_of_tally)
		tap_buf_printf(out, ",\"prio\":%d", task->t->prio);
	else
		tap_buf_puts(out, ",\"prio\":null");
}

static void add_waits_by_length(struct tap_buf *out, const struct tap_tally_task_waits *w)
{
	if (!w) {
		tap_buf_puts(out, ",\"max_wait_ns\":null,\"waits_by_length\":null");
		return;
	}
	tap_buf_char(out, ',');
	tap_top_json_u64(out, "max_wait_ns", w->max_wait_ns);
	tap_buf_puts(out, ",\"waits_by_length\":[");
	for (unsigned int i = 0; i < TAP_TALLY_TASK_BUCKETS; i++) {
		if (i)
			tap_buf_char(out, ',');
		tap_buf_u64(out, w->buckets[i]);
	}
	tap_buf_char(out, ']');
}

void tap_top_json_task(struct tap_buf *out, const struct tap_top_task *task)
{
	const struct tap_tally_task *t = task->t;
	const struct {
		const char *key;
		uint64_t v;
		bool is_known;
	} members[] = {
		{ "tid", t->tid, true },
		{ "tgid", t->tgid, true },
		{ "run_ns", t->run_ns, true },
		{ "wait_ns", t->wait_ns, task->knows_waits },
		{ "waits", t->waits, task->knows_waits },
		{ "voluntary_switches", t->voluntary, task->knows_switches },
		{ "migrations", t->migrations, task->is_of_tally },
		{ "involuntary_switches", t->involuntary, task->knows_switches },
		{ "cpu", t->cpu, task->is_of_tally },
		{ "util", t->util, task->is_of_tally && t->util != TAP_TALLY_UNKNOWN },
	};

	tap_buf_puts(out, "{\"comm\":");
	tap_text_json(out, t->comm, strnlen(t->comm, sizeof(t->comm)));
	for (unsigned int i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		tap_buf_char(out, ',');
		if (members[i].is_known)
			tap_top_json_u64(out, members[i].key, members[i].v);
		else
			tap_buf_printf(out, "\"%s\":null", members[i].key);
	}
	add_cgroup_and_prio(out, task);
	add_waits_by_length(out, task->waits);
	tap_buf_char(out, '}');
}

static void add_tasks(struct tap_buf *out, const struct tap_tally_view *v)
{
	tap_buf_char(out, ',');
	tap_top_json_u64(out, "all_tasks", v->all_tasks);
	tap_buf_puts(out, ",\"tasks\":[");
	for (unsigned int i = 0; i < v->nr_tasks; i++) {
		const struct tap_tally_task *t = &v->tasks[i];
		const struct tap_top_task task = {
			.t = t,
			.knows_waits = v->knows_task_waits,
			.knows_switches = true,
			.is_of_tally = true,
			.cgroup = t->slot < v->nr_slots ? v->names[t->slot] : NULL,
			.waits = v->task_waits ? &v->task_waits[i] : NULL,
		};

		if (i)
			tap_buf_char(out, ',');
		tap_top_json_task(out, &task);
	}
	tap_buf_char(out, ']');
}

static void add_overhead(struct tap_buf *out, const struct tap_top_refresh *r)
{
	double pct = tap_top_overhead(r);

	tap_buf_puts(out, ",\"overhead\":{");
	if (isnan(pct))
		tap_buf_puts(out, "\"ns_per_switch\":null,\"cpu_pct\":null");
	else
		tap_buf_printf(out, "\"ns_per_switch\":%llu,\"cpu_pct\":%.3f",
			       (unsigned long long)r->ns_per_switch, pct);
	tap_buf_char(out, ',');
	tap_top_json_u64(out, "own_cpu_ns", r->own_cpu_ns);
	tap_buf_char(out, '}');
}

void tap_top_json(struct tap_buf *out, const struct tap_top_refresh *r)
{
	const struct tap_tally_view *v = r->view;
	const struct rows all = { v->rows, v->nr_slots };
	uint64_t max_ns[TAP_TALLY_KINDS];

	tap_top_json_begin(out, r->is_recorded ? "recording" : "tally", r->realtime_ns, v->from_ns,
			   v->to_ns);
	tap_buf_printf(out, ",\"waits_begin\":\"%s\",", v->from_waking ? "waking" : "queued");
	tap_top_json_u64(out, "cpu_ns", v->cpu_ns);
	tap_buf_char(out, ',');
	tap_top_json_u64(out, "idle_ns", v->run_ns[TAP_TALLY_IDLE]);
	tap_buf_char(out, ',');
	tap_top_json_u64(out, "switches", tap_top_switches(v));
	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++)
		max_ns[k] = tap_top_max_wait(v, k);
	add_max_waits(out, max_ns);
	add_migrations(out, v->migrations);
	add_all_waits(out, all);
	add_culprits(out, v, NULL);
	add_censored(out, all);
	add_llcs(out, v);
	add_cpus(out, v);
	add_cgroups(out, v);
	add_tasks(out, v);
	add_overhead(out, r);
	tap_buf_char(out, ',');
	tap_top_json_u64(out, "lost", v->missed);
	tap_buf_char(out, ',');
	tap_top_json_u64(out, "cgroups_without_slot", v->no_free_slot);
	tap_buf_puts(out, "}\n");
}
