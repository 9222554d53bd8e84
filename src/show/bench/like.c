// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines as schbench and hackbench print them, for scripts that parse these. */
#include "show/bench/bench.h"

struct percentile {
	const char *name;
	double part;
	bool starred; /* schbench marks the most important one of a list */
};

static const struct percentile of_latencies[] = { { "50.0", 0.5, false },
						  { "90.0", 0.9, false },
						  { "99.0", 0.99, true },
						  { "99.9", 0.999, false },
						  { 0 } };
static const struct percentile of_rates[] = {
	{ "20.0", 0.2, false }, { "50.0", 0.5, true }, { "90.0", 0.9, false }, { 0 }
};

/* @by: unit of the values in @h that one printed unit has. */
static void put_list(struct tap_buf *out, const char *title, const struct tap_hist *h, uint64_t by,
		     uint64_t seconds, const struct percentile *list)
{
	uint64_t before = 0;

	tap_buf_printf(out, "%s runtime %llu (s) (%llu total samples)\n", title,
		       (unsigned long long)seconds, (unsigned long long)h->count);
	for (; list->name; list++) {
		uint64_t upto = (uint64_t)(list->part * (double)h->count);

		tap_buf_printf(out, "\t%s%sth: %-10llu (%llu samples)\n",
			       list->starred ? "* " : "  ", list->name,
			       (unsigned long long)(tap_hist_quantile(h, list->part) / by),
			       (unsigned long long)(upto - before));
		before = upto;
	}
	tap_buf_printf(out, "\t  min=%llu, max=%llu\n",
		       (unsigned long long)(h->count ? h->min / by : 0),
		       (unsigned long long)(h->max / by));
}

static void put_schbench(const struct tap_bench_sum *s, struct tap_buf *out)
{
	uint64_t seconds = (uint64_t)(s->seconds + 0.5);

	put_list(out, "Wakeup Latencies percentiles (usec)", &s->wakeup, 1000, seconds,
		 of_latencies);
	put_list(out, "Request Latencies percentiles (usec)", &s->request, 1000, seconds,
		 of_latencies);
	put_list(out, "RPS percentiles (requests)", &s->rate, 1, seconds, of_rates);
	tap_buf_printf(out, "average rps: %.2f\n",
		       s->seconds > 0 ? (double)s->operations / s->seconds : 0);
}

/* hackbench runs once, so there is a line for each round. */
static void put_hackbench(const struct tap_bench *b, struct tap_buf *out)
{
	for (unsigned int i = 0; i < b->nr_rounds; i++) {
		const struct tap_load_result *l = &b->rounds[i].load;

		tap_buf_printf(out, "Time: %.3f\n", (double)(l->to_ns - l->from_ns) * 1e-9);
	}
}

void tap_bench_put_like(enum tap_bench_like like, const struct tap_bench *b,
			const struct tap_bench_sum *s, struct tap_buf *out)
{
	if (like == TAP_LIKE_SCHBENCH)
		put_schbench(s, out);
	if (like == TAP_LIKE_HACKBENCH)
		put_hackbench(b, out);
}
