// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The page of `summary` as one JSON object: everything, in nanoseconds. */
#include "out/out.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"

static void add_key(struct tap_buf *b, const char *key)
{
	if (b->len && b->data[b->len - 1] != '{')
		tap_buf_char(b, ',');
	tap_text_json(b, key, strlen(key));
	tap_buf_char(b, ':');
}

static void add_u64(struct tap_buf *b, const char *key, uint64_t v)
{
	add_key(b, key);
	tap_buf_u64(b, v);
}

static void add_bool(struct tap_buf *b, const char *key, bool v)
{
	add_key(b, key);
	tap_buf_puts(b, v ? "true" : "false");
}

static void add_text(struct tap_buf *b, const char *key, const char *s)
{
	add_key(b, key);
	if (s && *s)
		tap_text_json(b, s, strlen(s));
	else
		tap_buf_puts(b, "null");
}

/* What the meta says, unchanged. */
static void add_meta(struct tap_buf *b, const char *key, const json_t *v)
{
	char *text = v ? json_dumps(v, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;

	add_key(b, key);
	tap_buf_puts(b, text ? text : "null");
	free(text);
}

static void add_kinds(struct tap_buf *b, const struct tap_summary *s)
{
	struct tap_buf name = { 0 };

	add_key(b, "kinds");
	tap_buf_char(b, '[');
	for (unsigned int i = 0; i < s->nr_kinds; i++) {
		tap_buf_clear(&name);
		tap_buf_printf(&name, "%s:%s", s->kinds[i].fmt->system, s->kinds[i].fmt->name);
		tap_buf_puts(b, i ? ",{" : "{");
		add_text(b, "event", tap_buf_str(&name));
		add_u64(b, "count", s->kinds[i].count);
		tap_buf_char(b, '}');
	}
	tap_buf_char(b, ']');
	tap_buf_release(&name);
}

static void add_cpus(struct tap_buf *b, const struct tap_timeline *t)
{
	const struct tap_timeline_cpu *cpus;
	unsigned int nr, i, shown = 0;

	cpus = tap_timeline_cpus(t, &nr);
	add_key(b, "cpus");
	tap_buf_char(b, '[');
	for (i = 0; i < nr; i++) {
		if (!cpus[i].seen)
			continue;
		tap_buf_puts(b, shown++ ? ",{" : "{");
		add_u64(b, "cpu", i);
		add_u64(b, "run_ns", cpus[i].run_ns);
		add_u64(b, "idle_ns", cpus[i].idle_ns);
		add_u64(b, "unknown_ns", cpus[i].unknown_ns);
		add_u64(b, "switches", cpus[i].switches);
		add_u64(b, "chain_breaks", cpus[i].chain_breaks);
		add_u64(b, "lost", cpus[i].lost);
		tap_buf_char(b, '}');
	}
	tap_buf_char(b, ']');
}

static void add_task(struct tap_buf *b, const struct tap_timeline_task *t, bool own)
{
	add_key(b, "tid");
	tap_buf_s64(b, t->tid);
	add_key(b, "comm");
	tap_text_json(b, t->comm, strnlen(t->comm, sizeof(t->comm)));
	add_bool(b, "own", own);
	add_u64(b, "run_ns", t->run_ns);
	add_u64(b, "slices", t->slices);
	add_u64(b, "wakeups", t->wakeups);
	add_u64(b, "latency_sum_ns", t->latency_sum_ns);
	if (!t->wakeups)
		return;
	add_u64(b, "latency_max_ns", t->latency_max_ns);
	add_u64(b, "latency_max_at_ns", t->latency_max_at_ns);
}

static void add_tasks(struct tap_buf *b, const struct tap_summary_page *p)
{
	const struct tap_timeline_task *tasks;
	unsigned int nr, i;

	tasks = tap_timeline_tasks(p->summary->timeline, &nr);
	add_key(b, "tasks");
	tap_buf_char(b, '[');
	for (i = 0; i < nr && i < p->top && tasks[i].run_ns; i++) {
		const struct tap_who_task *t = tap_who_task(p->who, tasks[i].tid);

		tap_buf_puts(b, i ? ",{" : "{");
		add_task(b, &tasks[i], t && t->own);
		tap_buf_char(b, '}');
	}
	tap_buf_char(b, ']');
}

static void add_missing(struct tap_buf *b, const json_t *events)
{
	json_t *missing = json_array();
	const char *status;
	json_t *e;
	size_t i;

	json_array_foreach(events, i, e) {
		status = json_string_value(json_object_get(e, "status"));
		if (status && strcmp(status, "on") && json_array_append(missing, e))
			b->err = -ENOMEM;
	}
	add_meta(b, "not_recorded", missing);
	json_decref(missing);
}

void tap_out_summary_json(struct tap_buf *b, const struct tap_summary_page *p)
{
	const struct tap_summary *s = p->summary;
	const json_t *host = json_object_get(p->meta, "host");
	const char *kernel = json_string_value(json_object_get(host, "release"));

	tap_buf_char(b, '{');
	add_text(b, "file", p->file);
	add_bool(b, "packed", !p->info->is_spool);
	add_text(b, "host", json_string_value(json_object_get(host, "hostname")));
	add_text(b, "kernel", kernel ? kernel : p->info->uname);
	add_u64(b, "start_ns", s->start_ns);
	add_u64(b, "end_ns", s->end_ns);
	add_u64(b, "events", s->events);
	add_u64(b, "bytes", s->bytes);
	add_u64(b, "lost", s->lost);
	add_bool(b, "lost_is_lower_bound", s->lost_unknown);
	add_u64(b, "loss_intervals", s->loss_intervals);
	add_meta(b, "price", json_object_get(p->meta, "price"));
	add_kinds(b, s);
	add_cpus(b, s->timeline);
	add_tasks(b, p);
	add_missing(b, json_object_get(p->meta, "events"));
	tap_buf_puts(b, "}\n");
}
