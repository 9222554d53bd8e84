// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/bench/json.h"

#include <math.h>

#include "show/out/table.h"

const struct tap_hist *tap_bench_hist(const struct tap_bench_round *r, enum tap_bench_hist which)
{
	switch (which) {
	case TAP_BENCH_REQUEST:
		return &r->load.request;
	case TAP_BENCH_WAKEUP:
		return &r->load.wakeup;
	default:
		return &r->recorded.waits;
	}
}

double tap_bench_rate(const struct tap_load_result *l)
{
	uint64_t ns = l->to_ns - l->from_ns;

	return ns ? (double)l->operations * 1e9 / (double)ns : 0;
}

double tap_bench_share_pct(const struct tap_load_result *l, unsigned int hog)
{
	double all_ns = 0;

	for (unsigned int i = 0; i < l->nr_cpu_ns; i++)
		all_ns += (double)l->cpu_ns[i];
	return all_ns > 0 ? 100 * (double)l->cpu_ns[hog] * l->nr_cpu_ns / all_ns : 0;
}

void tap_bench_share_range(const struct tap_bench_round *rounds, unsigned int nr, double *least,
			   double *greatest)
{
	*least = INFINITY;
	*greatest = -INFINITY;
	for (unsigned int i = 0; i < nr; i++)
		for (unsigned int k = 0; k < rounds[i].load.nr_cpu_ns; k++) {
			double pct = tap_bench_share_pct(&rounds[i].load, k);

			*least = fmin(*least, pct);
			*greatest = fmax(*greatest, pct);
		}
}

static void put_hist(struct tap_page *p, const char *key, const struct tap_hist *h)
{
	tap_page_object(p, key);
	tap_page_u64(p, "count", h->count);
	if (h->count) {
		tap_page_real(p, "avg_ns", tap_hist_mean(h));
		tap_page_u64(p, "p50_ns", tap_hist_quantile(h, 0.5));
		tap_page_u64(p, "p90_ns", tap_hist_quantile(h, 0.9));
		tap_page_u64(p, "p99_ns", tap_hist_quantile(h, 0.99));
		tap_page_u64(p, "p999_ns", tap_hist_quantile(h, 0.999));
		tap_page_u64(p, "max_ns", h->max);
	}
	tap_page_object_end(p);
}

static void put_options(const struct tap_bench *b, struct tap_page *p)
{
	const struct tap_load_opts *o = &b->load;

	tap_page_object(p, "options");
	tap_page_u64(p, "rounds", b->nr_rounds);
	tap_page_u64(p, "threads", o->threads);
	tap_page_u64(p, "messengers", o->messengers);
	tap_page_u64(p, "duration_ns", o->duration_ns);
	tap_page_u64(p, "warm_up_ns", o->warm_up_ns);
	tap_page_u64_if(p, "work_ns", b->work_ns, b->work_ns);
	tap_page_u64_if(p, "products", o->products, o->products);
	tap_page_bool(p, "record", b->nr_rounds && b->rounds[0].is_recorded);
	tap_page_object_end(p);
}

static void put_others(struct tap_page *p, const struct tap_above *a)
{
	const struct tap_above_task *others = a->others.v;

	tap_page_array(p, "others");
	for (unsigned int i = 0; i < a->others.nr; i++) {
		tap_page_object(p, NULL);
		tap_page_s64(p, "tid", others[i].tid);
		tap_page_text(p, "comm", others[i].comm, strnlen(others[i].comm, TAP_TASK_COMM));
		tap_page_u64(p, "ns", others[i].ns);
		tap_page_object_end(p);
	}
	tap_page_array_end(p);
}

static void put_above(struct tap_page *p, const struct tap_above *a, const char *percentile,
		      bool has_others)
{
	tap_page_object(p, NULL);
	tap_page_puts(p, "above", percentile);
	tap_page_u64(p, "waits", a->waits);
	tap_page_u64(p, "wait_ns", a->ns);
	tap_page_u64(p, "explained", a->explained);
	tap_page_real(p, "explained_pct", tap_pct(a->explained, a->waits));
	tap_page_object(p, "reasons");
	for (enum tap_reason i = 0; i < TAP_NR_REASONS; i++) {
		tap_page_object(p, tap_reason_name(i));
		tap_page_u64(p, "ns", a->reasons[i]);
		tap_page_real(p, "pct", tap_pct(a->reasons[i], a->ns));
		tap_page_object_end(p);
	}
	tap_page_object_end(p);
	tap_page_u64(p, "idle_ns", a->idle_ns);
	tap_page_u64(p, "contended_idle_ns", a->contended_idle_ns);
	if (has_others)
		put_others(p, a);
	tap_page_object_end(p);
}

/* @above: NULL: not recorded. */
static void put_why(struct tap_page *p, const struct tap_above *above, bool has_others)
{
	tap_page_array(p, "why");
	for (unsigned int i = 0; above && i < TAP_BENCH_ABOVE; i++)
		put_above(p, &above[i], tap_bench_percentiles[i].key, has_others);
	tap_page_array_end(p);
}

/* @seconds: of the rounds that were recorded. */
static void put_counts(struct tap_page *p, uint64_t switches, uint64_t migrations, double seconds)
{
	tap_page_u64(p, "switches", switches);
	tap_page_real(p, "switches_per_s", (double)switches / seconds);
	tap_page_u64(p, "migrations", migrations);
	tap_page_real(p, "migrations_per_s", (double)migrations / seconds);
}

/* Print the lowest and the highest share of a hog. */
static void put_share(struct tap_page *p, const struct tap_bench_round *rounds, unsigned int nr)
{
	double least, greatest;

	tap_bench_share_range(rounds, nr, &least, &greatest);
	if (least > greatest)
		return;
	tap_page_object(p, "share");
	tap_page_real(p, "min_pct", least);
	tap_page_real(p, "max_pct", greatest);
	tap_page_object_end(p);
}

static void put_kernel(struct tap_page *p, const struct utsname *u)
{
	struct tap_buf text = { 0 };

	tap_buf_printf(&text, "%s %s", u->release, u->version);
	tap_page_text(p, "kernel", text.data, text.len);
	tap_buf_release(&text);
}

static void put_machine(const struct tap_bench *b, const struct tap_bench_machine *m,
			struct tap_page *p)
{
	const struct tap_settings *k = &b->settings;

	tap_page_object(p, "machine");
	put_kernel(p, &b->kernel);
	tap_page_u64(p, "cpus", m->nr_cpus);
	tap_page_puts(p, "scheduler", *k->scheduler ? k->scheduler : NULL);
	tap_page_u64_if(p, "base_slice_ns", k->base_slice_ns >= 0, (uint64_t)k->base_slice_ns);
	tap_page_puts(p, "preemption", *k->preempt ? k->preempt : NULL);
	tap_page_puts(p, "governor", *k->governor ? k->governor : NULL);
	tap_page_u64_if(p, "khz", m->khz > 0, (uint64_t)m->khz);
	tap_page_u64_if(p, "min_khz", m->min_khz > 0, (uint64_t)m->min_khz);
	tap_page_u64_if(p, "max_khz", m->max_khz > 0, (uint64_t)m->max_khz);
	tap_page_u64_if(p, "energy_uj", m->energy_uj >= 0, (uint64_t)m->energy_uj);
	tap_page_array(p, "idle_states");
	for (unsigned int i = 0; i < m->nr_states; i++) {
		tap_page_object(p, NULL);
		tap_page_puts(p, "name", m->states[i].name);
		tap_page_u64(p, "ns", m->states[i].ns);
		tap_page_object_end(p);
	}
	tap_page_array_end(p);
	tap_page_object_end(p);
}

static void put_round(const struct tap_bench_round *r, struct tap_page *p)
{
	const struct tap_load_result *l = &r->load;

	tap_page_object(p, NULL);
	tap_page_u64(p, "from_ns", l->from_ns);
	tap_page_u64(p, "to_ns", l->to_ns);
	tap_page_u64(p, "operations", l->operations);
	tap_page_real(p, "rate", tap_bench_rate(l));
	put_hist(p, "request", &l->request);
	put_hist(p, "wakeup", &l->wakeup);
	if (r->is_recorded) {
		put_hist(p, "recorded", &r->recorded.waits);
		tap_page_u64(p, "lost", r->recorded.lost);
		tap_page_real(p, "recorder_pct",
			      tap_pct(r->recorded.recorder_ns, r->recorded.cpus_ns));
		put_counts(p, r->recorded.switches, r->recorded.migrations,
			   (double)(l->to_ns - l->from_ns) * 1e-9);
		put_why(p, r->recorded.above, false);
	}
	tap_page_real(p, "others_pct", tap_bench_others_pct(r));
	put_share(p, r, 1);
	if (l->nr_cpu_ns) {
		tap_page_array(p, "shares_pct");
		for (unsigned int i = 0; i < l->nr_cpu_ns; i++)
			tap_page_real(p, NULL, tap_bench_share_pct(l, i));
		tap_page_array_end(p);
	}
	tap_page_object_end(p);
}

void tap_bench_put_json(const struct tap_bench *b, const struct tap_bench_sum *s,
			struct tap_page *p)
{
	tap_page_u64(p, "schema", 1);
	tap_page_puts(p, "bench", b->name);
	put_options(b, p);
	tap_page_u64(p, "operations", s->operations);
	tap_page_real(p, "rate", s->seconds > 0 ? (double)s->operations / s->seconds : 0);
	put_hist(p, "request", &s->request);
	put_hist(p, "wakeup", &s->wakeup);
	if (s->nr_recorded) {
		put_hist(p, "recorded", &s->waits);
		put_counts(p, s->switches, s->migrations, s->seconds);
	}
	put_share(p, b->rounds, b->nr_rounds);
	put_why(p, s->nr_recorded ? s->above : NULL, true);
	put_machine(b, &s->machine, p);
	tap_page_real(p, "others_pct", s->others_pct);
	tap_page_bool(p, "quiet", s->others_pct <= TAP_BENCH_QUIET_PCT);
	tap_page_u64(p, "lost", s->lost);
	tap_page_u64(p, "censored", s->censored);
	tap_page_array(p, "rounds");
	for (unsigned int i = 0; i < b->nr_rounds; i++)
		put_round(&b->rounds[i], p);
	tap_page_array_end(p);
	tap_page_puts(p, "recording", b->kept);
}
