// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The page of `summary` for people: 80 columns, and no more than the main things. */
#include "out/out.h"

#include <inttypes.h>

#include "base/text.h"

#define TOP_KINDS 10u

static double pct(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double per_second(uint64_t count, uint64_t ns)
{
	return ns ? (double)count * 1e9 / (double)ns : 0;
}

static void add_escaped(struct tap_buf *b, const char *s)
{
	tap_text_escape(b, s, strlen(s));
}

/* A member of a member of the meta as text. Return: NULL if there is none. */
static const char *meta_text(const json_t *meta, const char *object, const char *name)
{
	const char *s = json_string_value(json_object_get(json_object_get(meta, object), name));

	return s && *s ? s : NULL;
}

static void add_where(struct tap_buf *b, const struct tap_summary_page *p)
{
	const char *host = meta_text(p->meta, "host", "hostname");
	const char *kernel = meta_text(p->meta, "host", "release");

	if (!kernel && *p->info->uname)
		kernel = p->info->uname;
	tap_buf_puts(b, "recording  ");
	add_escaped(b, p->file);
	tap_buf_puts(b, p->info->is_spool ? " (not packed: its recorder runs or was killed)" : "");
	tap_buf_puts(b, "\nhost       ");
	add_escaped(b, host ? host : "not known");
	tap_buf_puts(b, "\nkernel     ");
	add_escaped(b, kernel ? kernel : "not known");
	tap_buf_char(b, '\n');
}

static void add_lost(struct tap_buf *b, const struct tap_summary *s)
{
	tap_buf_puts(b, "lost       ");
	if (s->lost_unknown)
		tap_buf_puts(b, s->lost ? "at least " : "nobody knows how many");
	if (s->lost || !s->lost_unknown)
		tap_buf_u64(b, s->lost);
	tap_buf_printf(b, " events in %" PRIu64 " interval%s\n", s->loss_intervals,
		       s->loss_intervals == 1 ? "" : "s");
}

static void add_window(struct tap_buf *b, const struct tap_summary *s)
{
	uint64_t ns = s->end_ns - s->start_ns;

	tap_buf_printf(b, "window     %.6f s from ", (double)ns / 1e9);
	tap_text_ns(b, s->start_ns);
	tap_buf_printf(b, "\nevents     %" PRIu64 ", %.0f per second, ", s->events,
		       per_second(s->events, ns));
	if (s->events)
		tap_buf_printf(b, "%.1f bytes each\n", (double)s->bytes / (double)s->events);
	else
		tap_buf_puts(b, "no bytes\n");
	add_lost(b, s);
}

static void add_figure(struct tap_buf *b, const json_t *price, const char *key, int decimals,
		       const char *unit)
{
	const json_t *v = json_object_get(price, key);

	if (json_is_number(v))
		tap_buf_printf(b, "%.*f%s", decimals, json_number_value(v), unit);
	else
		tap_buf_puts(b, "not known");
}

static void add_price(struct tap_buf *b, const json_t *price)
{
	if (!json_is_object(price)) {
		tap_buf_puts(b, "price      not known\n");
		return;
	}
	tap_buf_puts(b, "price      events ");
	add_figure(b, price, "events", 0, "");
	tap_buf_puts(b, ", bytes ");
	add_figure(b, price, "bytes", 0, "");
	tap_buf_puts(b, ", lost ");
	add_figure(b, price, "lost", 0, "");
	tap_buf_puts(b, "\n  probes   ");
	add_figure(b, price, "ns_per_event", 0, " ns per event");
	tap_buf_puts(b, ", share of CPU ");
	add_figure(b, price, "probe_cpu_pct", 2, " %");
	tap_buf_puts(b, "\n  recorder ");
	add_figure(b, price, "recorder_ns_per_event", 0, " ns per event");
	tap_buf_puts(b, ", share of CPU ");
	add_figure(b, price, "recorder_cpu_pct", 2, " %");
	tap_buf_char(b, '\n');
}

/* Adds @s in a column of @width, or wider. */
static void add_column(struct tap_buf *b, const char *s, size_t width)
{
	size_t from = b->len;

	add_escaped(b, s);
	while (b->len - from < width && !b->err)
		tap_buf_char(b, ' ');
}

static void add_kinds(struct tap_buf *b, const struct tap_summary *s)
{
	uint64_t ns = s->end_ns - s->start_ns, rest = 0;
	struct tap_buf name = { 0 };
	unsigned int i;

	tap_buf_printf(b, "\n%-44s %12s %14s\n", "event", "count", "per second");
	for (i = 0; i < s->nr_kinds; i++) {
		const struct tap_summary_kind *k = &s->kinds[i];

		if (i >= TOP_KINDS) {
			rest += k->count;
			continue;
		}
		tap_buf_clear(&name);
		tap_buf_printf(&name, "%s:%s", k->fmt->system, k->fmt->name);
		add_column(b, tap_buf_str(&name), 44);
		tap_buf_printf(b, " %12" PRIu64 " %14.1f\n", k->count, per_second(k->count, ns));
	}
	tap_buf_release(&name);
	if (s->nr_kinds > TOP_KINDS)
		tap_buf_printf(b, "%u more kinds (--json has them)%13s %12" PRIu64 " %14.1f\n",
			       s->nr_kinds - TOP_KINDS, "", rest, per_second(rest, ns));
}

static void add_cpus(struct tap_buf *b, const struct tap_summary *s)
{
	uint64_t ns = s->end_ns - s->start_ns;
	const struct tap_timeline_cpu *cpus;
	unsigned int nr, i;

	cpus = tap_timeline_cpus(s->timeline, &nr);
	tap_buf_printf(b, "\n%-5s%11s %5s%11s %5s%11s %5s %9s %6s %6s\n", "CPU", "run ms", "%",
		       "idle ms", "%", "unknown ms", "%", "switches", "breaks", "lost");
	for (i = 0; i < nr; i++) {
		const struct tap_timeline_cpu *c = &cpus[i];

		if (!c->seen)
			continue;
		tap_buf_printf(b,
			       "%-5u%11.3f %5.1f%11.3f %5.1f%11.3f %5.1f %9" PRIu64 " %6" PRIu64
			       " %6" PRIu64 "\n",
			       i, (double)c->run_ns / 1e6, pct(c->run_ns, ns),
			       (double)c->idle_ns / 1e6, pct(c->idle_ns, ns),
			       (double)c->unknown_ns / 1e6, pct(c->unknown_ns, ns), c->switches,
			       c->chain_breaks, c->lost);
	}
}

static void add_task(struct tap_buf *b, const struct tap_timeline_task *t, bool own, uint64_t ns)
{
	struct tap_buf name = { 0 };

	tap_buf_printf(&name, "%.*s-%d%s", (int)sizeof(t->comm), t->comm, t->tid, own ? "*" : "");
	add_column(b, tap_buf_str(&name), 18);
	tap_buf_release(&name);
	tap_buf_printf(b, " %10.3f %5.1f %6" PRIu64 " %6" PRIu64, (double)t->run_ns / 1e6,
		       pct(t->run_ns, ns), t->slices, t->wakeups);
	if (t->wakeups)
		tap_buf_printf(b, " %7.1f %8.1f %13.6f",
			       (double)t->latency_sum_ns / (double)t->wakeups / 1e3,
			       (double)t->latency_max_ns / 1e3,
			       (double)t->latency_max_at_ns / 1e9);
	tap_buf_char(b, '\n');
}

static void add_tasks(struct tap_buf *b, const struct tap_summary_page *p)
{
	const struct tap_summary *s = p->summary;
	const struct tap_timeline_task *tasks;
	bool any_own = false;
	unsigned int nr, i;

	tasks = tap_timeline_tasks(s->timeline, &nr);
	tap_buf_printf(b, "\n%-18s %10s %5s %6s %6s %7s %8s %13s\n", "task", "run ms", "%",
		       "slices", "wakes", "avg us", "max us", "max at");
	for (i = 0; i < nr && i < p->top && tasks[i].run_ns; i++) {
		const struct tap_who_task *t = tap_who_task(p->who, tasks[i].tid);
		bool own = t && t->own;

		add_task(b, &tasks[i], own, s->end_ns - s->start_ns);
		any_own |= own;
	}
	if (any_own)
		tap_buf_puts(b, "* the recorder itself\n");
}

static void add_missing(struct tap_buf *b, const json_t *events)
{
	bool first = true;
	const json_t *e;
	size_t i;

	json_array_foreach(events, i, e) {
		const char *system = json_string_value(json_object_get(e, "system"));
		const char *name = json_string_value(json_object_get(e, "name"));
		const char *status = json_string_value(json_object_get(e, "status"));
		const char *reason = json_string_value(json_object_get(e, "reason"));

		if (!system || !name || !status || !strcmp(status, "on"))
			continue;
		tap_buf_puts(b, first ? "\nasked for, but not recorded\n" : "");
		first = false;
		add_escaped(b, system);
		tap_buf_char(b, ':');
		add_escaped(b, name);
		tap_buf_char(b, ' ');
		add_escaped(b, status);
		tap_buf_puts(b, ": ");
		add_escaped(b, reason ? reason : "reason not known");
		tap_buf_char(b, '\n');
	}
}

void tap_out_summary_text(struct tap_buf *b, const struct tap_summary_page *p)
{
	add_where(b, p);
	add_window(b, p->summary);
	add_price(b, json_object_get(p->meta, "price"));
	add_kinds(b, p->summary);
	add_cpus(b, p->summary);
	add_tasks(b, p);
	add_missing(b, json_object_get(p->meta, "events"));
}
