// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/bench/bench.h"

double tap_bench_others_pct(const struct tap_bench_round *r)
{
	double all_ns = (double)(r->after.at_ns - r->before.at_ns) * r->after.nr_cpus,
	       others_ns = (double)(r->after.busy_ns - r->before.busy_ns) - (double)r->load.used_ns;

	if (r->is_recorded)
		return r->recorded.cpus_ns
			       ? 100 * (double)r->recorded.other_ns / (double)r->recorded.cpus_ns
			       : 0;
	return others_ns > 0 && all_ns > 0 ? 100 * others_ns / all_ns : 0;
}

static int add_recorded(struct tap_bench_sum *s, const struct tap_bench_recorded *r)
{
	int ret = tap_hist_merge(&s->waits, &r->waits);

	s->lost += r->lost;
	s->censored += r->censored;
	s->switches += r->switches;
	s->migrations += r->migrations;
	s->nr_recorded++;
	for (unsigned int i = 0; !ret && i < TAP_BENCH_ABOVE; i++)
		ret = tap_above_merge(&s->above[i], &r->above[i]);
	return ret;
}

static int add_round(struct tap_bench_sum *s, const struct tap_bench_round *r)
{
	const struct tap_load_result *l = &r->load;
	int ret = tap_hist_merge(&s->request, &l->request) ?:
		  tap_hist_merge(&s->wakeup, &l->wakeup) ?:
		  tap_hist_merge(&s->rate, &l->rate);

	s->operations += l->operations;
	s->seconds += (double)(l->to_ns - l->from_ns) * 1e-9;
	s->others_pct += tap_bench_others_pct(r);
	tap_bench_machine_add(&s->machine, &r->before, &r->after);
	return !ret && r->is_recorded ? add_recorded(s, &r->recorded) : ret;
}

int tap_bench_sum(struct tap_bench_sum *s, const struct tap_bench *b)
{
	int ret = 0;

	*s = (struct tap_bench_sum){
		.request = TAP_HIST_INIT,
		.wakeup = TAP_HIST_INIT,
		.rate = TAP_HIST_INIT,
		.waits = TAP_HIST_INIT,
	};
	for (unsigned int i = 0; !ret && i < b->nr_rounds; i++)
		ret = add_round(s, &b->rounds[i]);
	if (b->nr_rounds)
		s->others_pct /= b->nr_rounds;
	for (unsigned int i = 0; i < TAP_BENCH_ABOVE; i++)
		tap_above_end(&s->above[i]);
	return ret;
}

void tap_bench_sum_release(struct tap_bench_sum *s)
{
	tap_hist_release(&s->request);
	tap_hist_release(&s->wakeup);
	tap_hist_release(&s->rate);
	tap_hist_release(&s->waits);
	for (unsigned int i = 0; i < TAP_BENCH_ABOVE; i++)
		tap_above_release(&s->above[i]);
}
