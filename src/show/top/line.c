// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/wall.h"
#include "record/tally/waits.h"
#include "show/top/top.h"

static void add_time(struct tap_buf *out, const char *name, uint64_t ns)
{
	tap_buf_printf(out, " %s ", name);
	tap_text_time(out, ns);
}

static void add_waits(struct tap_buf *out, const struct tap_tally_view *v, enum tap_tally_kind kind)
{
	struct tap_waits w = { 0 };
	uint64_t max_ns = tap_top_max_wait(v, kind), p99_ns;

	for (unsigned int i = 0; i < v->nr_slots; i++)
		tap_waits_add(&w, &v->rows[i], kind);
	if (!w.count)
		return;
	tap_buf_printf(out, "  %s", tap_wait_kinds[kind]);
	p99_ns = tap_waits_quantile(&w, 0.99);
	if (kind == TAP_TALLY_WAKING)
		add_time(out, "p50", tap_waits_quantile(&w, 0.5));
	/* a quantile is only known within a bucket, but it is not above the longest wait */
	add_time(out, "p99", p99_ns < max_ns ? p99_ns : max_ns);
	add_time(out, "max", max_ns);
}

static void add_culprit(struct tap_buf *out, const struct tap_tally_view *v)
{
	struct tap_top_culprit *list;
	unsigned int nr = tap_top_culprits(v, NULL, &list);
	uint64_t all_ns = 0;

	for (unsigned int i = 0; i < nr; i++)
		all_ns += list[i].ns;
	if (nr) {
		tap_buf_puts(out, "  culprit ");
		tap_text_escape(out, list->name, strlen(list->name));
		tap_buf_printf(out, " %.0f %%", 100 * (double)list->ns / (double)all_ns);
	}
	free(list);
}

/* The line is about what is wrong: this part is missing where nothing is. */
static void add_idle_while_waiting(struct tap_buf *out, const struct tap_tally_view *v)
{
	uint64_t ns = tap_top_idle_while_waiting(v);

	if (!ns)
		return;
	tap_buf_char(out, ' ');
	add_time(out, "idle while waiting", ns);
}

void tap_top_rate(struct tap_buf *out, uint64_t switches, uint64_t ns)
{
	double rate = (double)switches * 1e9 / (double)ns;

	if (rate < 1000)
		tap_buf_printf(out, "  %.0f switches/s", rate);
	else
		tap_buf_printf(out, "  %.1f k switches/s", rate / 1000);
}

void tap_top_clock(struct tap_buf *out, int64_t realtime_ns)
{
	struct tap_wall wall = { .is_known = true, .shown = TAP_SHOW_TOD };
	char at[TAP_WALL_TEXT];

	tap_buf_add(out, at,
		    tap_wall_text(&wall, (uint64_t)realtime_ns, at) - strlen(".000000000"));
}

void tap_top_line(struct tap_buf *out, const struct tap_top_refresh *r)
{
	const struct tap_tally_view *v = r->view;
	double idle_ns = (double)v->run_ns[TAP_TALLY_IDLE], overhead = tap_top_overhead(r);

	if (r->realtime_ns)
		tap_top_clock(out, r->realtime_ns);
	else /* of a recording that does not know the time of day */
		tap_text_ns(out, v->to_ns);
	if (v->cpu_ns)
		tap_buf_printf(out, "  %.0f %% busy", 100 * (1 - idle_ns / (double)v->cpu_ns));
	tap_top_rate(out, tap_top_switches(v), v->to_ns - v->from_ns);
	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++)
		add_waits(out, v, k);
	add_culprit(out, v);
	add_idle_while_waiting(out, v);
	if (!isnan(overhead))
		tap_buf_printf(out, "  overhead %.1f %%", overhead);
	tap_buf_printf(out, "  censored %llu  lost %llu\n", (unsigned long long)tap_top_censored(v),
		       (unsigned long long)v->missed);
}
