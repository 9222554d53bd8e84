// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The results for people. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/stats/median.h"
#include "base/text.h"
#include "show/bench/json.h"
#include "show/out/table.h"

#define SHOWN_OTHERS 3u /* tasks that are named in one line */

static const char *plural(unsigned int nr)
{
	return nr == 1 ? "" : "s";
}

/* ---- what was run ---- */

static void put_shape(const struct tap_bench *b, struct tap_buf *out)
{
	const struct tap_load_opts *o = &b->load;

	switch (o->kind) {
	case TAP_LOAD_MESSAGES:
	case TAP_LOAD_MIXED:
		tap_buf_printf(out, "%u messenger%s, %u worker%s%s, ", o->messengers,
			       plural(o->messengers), o->messengers * o->threads,
			       plural(o->messengers * o->threads),
			       o->kind == TAP_LOAD_MIXED ? ", a hog for each CPU" : "");
		if (b->work_ns)
			tap_text_time(out, b->work_ns);
		else
			tap_buf_printf(out, "%llu matrix products",
				       (unsigned long long)o->products);
		tap_buf_puts(out, b->work_ns ? " of work per request, " : " per request, ");
		return;
	case TAP_LOAD_PIPE:
		tap_buf_puts(out, "2 processes, ");
		return;
	case TAP_LOAD_GROUPS:
		tap_buf_printf(out, "%u group%s of %u senders and %u receivers, ", o->messengers,
			       plural(o->messengers), o->threads, o->threads);
		return;
	default:
		tap_buf_printf(out, "%u thread%s, ", o->threads, plural(o->threads));
	}
}

static void put_head(const struct tap_bench *b, struct tap_buf *out)
{
	tap_buf_printf(out, "%s: ", b->name);
	put_shape(b, out);
	tap_buf_printf(out, "%u round%s", b->nr_rounds, plural(b->nr_rounds));
	if (b->load.kind != TAP_LOAD_GROUPS) {
		tap_buf_puts(out, " of ");
		tap_text_time(out, b->load.duration_ns);
		tap_buf_puts(out, " after ");
		tap_text_time(out, b->load.warm_up_ns);
		tap_buf_puts(out, " of warm-up");
	}
	tap_buf_char(out, '\n');
}

static void put_rate(const struct tap_bench *b, const struct tap_bench_sum *s, struct tap_buf *out)
{
	tap_buf_printf(out, "%.0f %s/s", s->seconds > 0 ? (double)s->operations / s->seconds : 0,
		       b->unit);
	for (unsigned int i = 0; b->nr_rounds > 1 && i < b->nr_rounds; i++)
		tap_buf_printf(out, "%s%.0f",
			       i ? ", " : " (by round: ", tap_bench_rate(&b->rounds[i].load));
	tap_buf_puts(out, b->nr_rounds > 1 ? ")\n" : "\n");
}

/* ---- latencies ---- */

static const struct tap_column columns[] = {
	{ NULL, "latency", TAP_CELL_TEXT, .width = 16 },
	{ NULL, "count", TAP_CELL_COUNT, .width = 10, .rank = 2 },
	{ NULL, "p50", TAP_CELL_NS },
	{ NULL, "p99", TAP_CELL_NS, .same_unit = true },
	{ NULL, "p99.9", TAP_CELL_NS, .same_unit = true },
	{ NULL, "max", TAP_CELL_NS, .same_unit = true },
	{ NULL, "p99 of the rounds", TAP_CELL_TEXT, .rank = 1 },
	{ 0 }
};

/* The interval of the median if there are enough rounds for one, else the range. */
static void put_range(struct tap_table *t, const double *p99, unsigned int nr)
{
	struct tap_confidence i = { p99[0], p99[nr - 1] };
	struct tap_buf text = { 0 };

	if (nr >= TAP_MEDIAN_MIN)
		i = tap_median_interval(p99, nr);
	tap_text_time(&text, (uint64_t)i.low);
	tap_buf_puts(&text, " .. ");
	tap_text_time(&text, (uint64_t)i.high);
	tap_buf_puts(&text, nr >= TAP_MEDIAN_MIN ? " (95 %)" : "");
	tap_table_text(t, text.data, text.len);
	tap_buf_release(&text);
}

static void put_latency(struct tap_table *t, const struct tap_bench *b, const char *name,
			const struct tap_hist *all, enum tap_bench_hist which)
{
	double *p99 = calloc(b->nr_rounds + 1, sizeof(*p99));
	unsigned int nr = 0;

	if (!p99) {
		t->page->err = t->page->err ?: -ENOMEM;
		return;
	}
	for (unsigned int i = 0; i < b->nr_rounds; i++) {
		const struct tap_hist *h = tap_bench_hist(&b->rounds[i], which);

		if (h->count)
			p99[nr++] = (double)tap_hist_quantile(h, 0.99);
	}
	tap_stats_sort(p99, nr);
	tap_table_puts(t, name);
	tap_table_u64(t, all->count);
	tap_table_u64(t, tap_hist_quantile(all, 0.5));
	tap_table_u64(t, tap_hist_quantile(all, 0.99));
	tap_table_u64(t, tap_hist_quantile(all, 0.999));
	tap_table_u64(t, all->max);
	if (nr > 1)
		put_range(t, p99, nr);
	else
		tap_table_none(t);
	tap_table_row(t);
	free(p99);
}

static void put_latencies(const struct tap_bench *b, const struct tap_bench_sum *s,
			  struct tap_page *p)
{
	bool takes_turns = b->load.kind == TAP_LOAD_YIELD || b->load.kind == TAP_LOAD_HOG;
	struct tap_table t;

	if (!s->request.count && !s->wakeup.count && !s->waits.count)
		return;
	tap_table_begin(&t, p, columns, "latencies");
	if (s->request.count)
		put_latency(&t, b, "request", &s->request, TAP_BENCH_REQUEST);
	if (s->wakeup.count)
		put_latency(&t, b, "wakeup", &s->wakeup, TAP_BENCH_WAKEUP);
	if (s->waits.count)
		put_latency(&t, b, takes_turns ? "recorded turn" : "recorded wakeup", &s->waits,
			    TAP_BENCH_WAITS);
	tap_table_end(&t);
}

/* ---- shares of the hogs ---- */

static void put_shares(const struct tap_bench *b, struct tap_buf *out)
{
	double least, greatest;

	tap_bench_share_range(b->rounds, b->nr_rounds, &least, &greatest);
	if (least <= greatest)
		tap_buf_printf(out,
			       "share of each hog: %.1f .. %.1f %% of an equal share (%.1f %% of "
			       "their CPU time)\n",
			       least, greatest, 100.0 / b->load.threads);
}

/* ---- reasons ---- */

static const char *const reason_texts[TAP_NR_REASONS] = {
	[TAP_REASON_OWN] = "another task of this benchmark ran",
	[TAP_REASON_OTHER] = "another process ran",
	[TAP_REASON_RECORDER] = "schedtap's own recorder ran",
	[TAP_REASON_IDLE] = "the CPU was idle and had to wake up",
	[TAP_REASON_INTERRUPTS] = "interrupts",
	[TAP_REASON_THROTTLED] = "a quota or budget was used up",
	[TAP_REASON_WAKEUP] = "the wakeup was in progress",
	[TAP_REASON_HELD] = "the BPF scheduler held the task back",
	[TAP_REASON_OFFLINE] = "the CPU was offline",
	[TAP_REASON_UNKNOWN] = "unknown",
};

static void put_others(const struct tap_above *a, struct tap_buf *out)
{
	const struct tap_above_task *others = a->others.v;

	for (unsigned int i = 0; i < a->others.nr && i < SHOWN_OTHERS; i++) {
		tap_buf_puts(out, i ? ", " : ": ");
		tap_text_escape(out, others[i].comm, strnlen(others[i].comm, TAP_TASK_COMM));
		tap_buf_printf(out, " [%lld] %.1f %%", (long long)others[i].tid,
			       tap_pct(others[i].ns, a->ns));
	}
}

static void put_reason(const struct tap_above *a, enum tap_reason i, struct tap_buf *out)
{
	if (!a->reasons[i])
		return;
	tap_buf_printf(out, "  %5.1f %%  %s", tap_pct(a->reasons[i], a->ns), reason_texts[i]);
	if (i == TAP_REASON_OTHER)
		put_others(a, out);
	tap_buf_char(out, '\n');
}

static void put_above(const struct tap_bench *b, const struct tap_above *a,
		      const struct tap_bench_percentile *percentile, struct tap_buf *out)
{
	bool takes_turns = b->load.kind == TAP_LOAD_YIELD || b->load.kind == TAP_LOAD_HOG;

	if (!a->waits)
		return;
	tap_buf_printf(out, "\nwhy %s took longer than their %s (%llu; %.1f %% have a reason):\n",
		       takes_turns ? "waits for a turn" : "wakeups", percentile->title,
		       (unsigned long long)a->waits, tap_pct(a->explained, a->waits));
	for (enum tap_reason i = 0; i < TAP_NR_REASONS; i++)
		put_reason(a, i, out);
	if (a->idle_ns)
		tap_buf_printf(out,
			       "  %5.1f %%  of this time, another CPU that the task may use "
			       "was idle\n",
			       tap_pct(a->idle_ns, a->ns));
}

/* ---- the machine ---- */

static void put_power(const struct tap_bench_machine *m, struct tap_buf *out)
{
	double cpus_ns = (double)m->at_ns * m->nr_cpus;

	if (m->khz > 0)
		tap_buf_printf(out, "; %.2f GHz", (double)m->khz * 1e-6);
	if (m->khz > 0 && m->min_khz > 0)
		tap_buf_printf(out, " (%.2f-%.2f)", (double)m->min_khz * 1e-6,
			       (double)m->max_khz * 1e-6);
	if (m->energy_uj >= 0 && m->at_ns)
		tap_buf_printf(out, "; %.1f W package",
			       (double)m->energy_uj * 1e3 / (double)m->at_ns);
	for (unsigned int i = 0; i < m->nr_states; i++)
		tap_buf_printf(out, "%s%s %.1f %%", i ? ", " : "; idle: ", m->states[i].name,
			       cpus_ns > 0 ? 100 * (double)m->states[i].ns / cpus_ns : 0);
}

static void put_machine(const struct tap_bench *b, const struct tap_bench_sum *s,
			struct tap_buf *out)
{
	const struct tap_settings *k = &b->settings;

	tap_buf_printf(out, "\nscheduler %s", *k->scheduler ? k->scheduler : "unknown");
	if (k->base_slice_ns >= 0) {
		tap_buf_puts(out, ", base slice ");
		tap_text_time(out, (uint64_t)k->base_slice_ns);
	}
	if (*k->preempt)
		tap_buf_printf(out, ", preemption %s", k->preempt);
	if (*k->governor)
		tap_buf_printf(out, ", governor %s", k->governor);
	put_power(&s->machine, out);
	tap_buf_char(out, '\n');
	if (s->others_pct > TAP_BENCH_QUIET_PCT)
		tap_buf_printf(out, "the machine was not quiet: other processes took %.1f %%\n",
			       s->others_pct);
	else
		tap_buf_printf(out, "other processes took %.1f %% of the CPUs\n", s->others_pct);
	if (s->lost)
		tap_buf_printf(out, "%llu events were lost: waits next to them are left out\n",
			       (unsigned long long)s->lost);
	if (s->censored)
		tap_buf_printf(out, "%llu long waits are left out: their length is uncertain\n",
			       (unsigned long long)s->censored);
}

static void put_for_people(const struct tap_bench *b, const struct tap_bench_sum *s,
			   struct tap_page *p)
{
	put_head(b, &p->buf);
	put_rate(b, s, &p->buf);
	put_latencies(b, s, p);
	if (b->load.kind == TAP_LOAD_HOG)
		put_shares(b, &p->buf);
	for (unsigned int i = 0; i < TAP_BENCH_ABOVE; i++)
		put_above(b, &s->above[i], &tap_bench_percentiles[i], &p->buf);
	put_machine(b, s, &p->buf);
	if (b->kept)
		tap_buf_printf(&p->buf,
			       "recording of the last round: %s; next: schedtap explain -i %s\n",
			       b->kept, b->kept);
}

void tap_bench_put(const struct tap_bench *b, const struct tap_bench_sum *s, struct tap_page *p)
{
	if (tap_page_is_for(p, TAP_FOR_PROGRAMS))
		tap_bench_put_json(b, s, p);
	else
		put_for_people(b, s, p);
}
