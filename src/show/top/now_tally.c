// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the screens show, from the tally's numbers. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/tally/waits.h"
#include "show/top/now.h"

/* A quantile is only known within a bucket, but it is not above the longest wait. */
static uint64_t quantile(const struct tap_waits *w, double part, uint64_t max_ns)
{
	uint64_t ns = tap_waits_quantile(w, part);

	return ns < max_ns ? ns : max_ns;
}

static struct tap_now_waits summary(const struct tap_waits *w, uint64_t max_ns)
{
	return (struct tap_now_waits){
		.count = w->count,
		.sum_ns = w->sum_ns,
		.p50_ns = quantile(w, 0.5, max_ns),
		.p99_ns = quantile(w, 0.99, max_ns),
		.max_ns = max_ns,
	};
}

static void add_waits(struct tap_now *now, const struct tap_tally_view *v)
{
	struct tap_waits all = { 0 };
	uint64_t max_ns = 0;

	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++) {
		struct tap_waits w = { 0 };

		for (unsigned int i = 0; i < v->nr_slots; i++) {
			if (!tap_tally_has_waits(&v->rows[i], k))
				continue;
			tap_waits_add(&w, &v->rows[i], k);
			tap_waits_add(&all, &v->rows[i], k);
		}
		now->kinds[k] = summary(&w, tap_top_max_wait(v, k));
		if (now->kinds[k].max_ns > max_ns)
			max_ns = now->kinds[k].max_ns;
	}
	now->all = summary(&all, max_ns);
}

static int add_cpus(struct tap_now *now, const struct tap_tally_view *v)
{
	double runnable_ns = 0;

	for (unsigned int i = 0; i < v->nr_cpus; i++) {
		const struct tap_tally_cpu_view *from = &v->cpus[i];
		double ns = from->cpu_ns ? (double)from->cpu_ns : NAN;
		struct tap_now_cpu *c;

		if (tap_array_grow(&now->cpus, i, &now->cap_cpus, sizeof(*now->cpus)))
			return -ENOMEM;
		c = &now->cpus[i];
		*c = (struct tap_now_cpu){ .cpu = from->cpu,
					   .llc = from->llc,
					   .busy = 1 - (double)from->idle_ns / ns,
					   .runnable = v->knows_lengths
							       ? (double)from->runnable_ns / ns
							       : NAN,
					   .switches = from->switches };
		for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++)
			if (from->max_wait_ns[k] > c->max_wait_ns)
				c->max_wait_ns = from->max_wait_ns[k];
		runnable_ns += (double)from->runnable_ns;
	}
	now->nr_cpus = v->nr_cpus;
	now->runnable =
		v->cpu_ns && v->knows_lengths ? runnable_ns / (double)v->cpu_ns * v->nr_cpus : NAN;
	return 0;
}

/* What ran most while a row's tasks waited. */
static void find_culprit(struct tap_now_cgroup *c, const struct tap_tally_view *v,
			 const struct tap_tally_row *row)
{
	struct tap_top_culprit *list;
	unsigned int nr = tap_top_culprits(v, row, &list);
	double all_ns = 0;

	for (unsigned int i = 0; i < nr; i++)
		all_ns += (double)list[i].ns;
	if (nr) {
		c->culprit = list[0].name;
		c->culprit_part = (double)list[0].ns / all_ns;
	}
	free(list);
}

static int add_cgroup(struct tap_now *now, const struct tap_tally_view *v, unsigned int slot)
{
	const struct tap_tally_row *row = &v->rows[slot];
	struct tap_waits w = { 0 };
	struct tap_now_cgroup *c;

	if (tap_array_grow(&now->cgroups, now->nr_cgroups, &now->cap_cgroups, sizeof(*c)))
		return -ENOMEM;
	c = &now->cgroups[now->nr_cgroups++];
	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++)
		if (tap_tally_has_waits(row, k))
			tap_waits_add(&w, row, k);
	*c = (struct tap_now_cgroup){ .name = v->names[slot],
				      .waits = summary(&w, TAP_NOW_UNKNOWN),
				      .run_ns = v->run_ns[slot],
				      .throttled_ns = row->wait_ns[TAP_TALLY_THROTTLED],
				      .slot = slot };
	find_culprit(c, v, row);
	return 0;
}

/* @of_slot: index + 1 of the slot's cgroup in @now; 0: it is not there. */
static int add_cgroups(struct tap_now *now, const struct tap_tally_view *v, unsigned int *of_slot)
{
	int ret = 0;

	now->nr_cgroups = 0;
	for (unsigned int i = TAP_TALLY_KERNEL; !ret && i < v->nr_slots; i++) {
		if (!v->names[i] || tap_tally_is_empty(v, i))
			continue;
		ret = add_cgroup(now, v, i);
		of_slot[i] = now->nr_cgroups;
	}
	return ret;
}

static int add_tasks(struct tap_now *now, const struct tap_tally_view *v,
		     const unsigned int *of_slot)
{
	for (unsigned int i = 0; i < v->nr_tasks; i++) {
		const struct tap_tally_task *t = &v->tasks[i];
		unsigned int at = t->slot < v->nr_slots ? of_slot[t->slot] : 0;
		struct tap_now_task *to;

		if (tap_array_grow(&now->tasks, i, &now->cap_tasks, sizeof(*to)))
			return -ENOMEM;
		to = &now->tasks[i];
		*to = (struct tap_now_task){
			.t = t,
			.w = v->task_waits ? &v->task_waits[i] : NULL,
			.cgroup = t->slot < v->nr_slots ? v->names[t->slot] : NULL,
			.culprit = at ? now->cgroups[at - 1].culprit : NULL,
			.wait_ns = v->knows_task_waits ? t->wait_ns : TAP_NOW_UNKNOWN,
			.p99_ns = TAP_NOW_UNKNOWN,
			.max_ns = TAP_NOW_UNKNOWN,
			.migrations = t->migrations,
			.cpu = t->cpu,
			.util = t->util,
			.prio = t->prio,
		};
		if (to->w) {
			to->p99_ns = tap_now_task_quantile(to->w, 0.99);
			to->max_ns = to->w->max_wait_ns;
		}
	}
	now->nr_tasks = v->nr_tasks;
	now->all_tasks = v->all_tasks;
	return 0;
}

static void add_sums(struct tap_now *now, const struct tap_top_refresh *r)
{
	const struct tap_tally_view *v = r->view;

	now->from_ns = v->from_ns;
	now->to_ns = v->to_ns;
	now->realtime_ns = r->realtime_ns;
	now->why = NULL;
	now->from_waking = v->from_waking;
	now->busy = v->cpu_ns ? 1 - (double)v->run_ns[TAP_TALLY_IDLE] / (double)v->cpu_ns : NAN;
	now->overhead = tap_top_overhead(r);
	now->switches = tap_top_switches(v);
	now->lost = v->missed;
	now->censored = tap_top_censored(v);
	now->idle_while_waiting_ns = tap_top_idle_while_waiting(v);
	memcpy(now->migrations, v->migrations, sizeof(now->migrations));
	free(now->culprits);
	now->nr_culprits = tap_top_culprits(v, NULL, &now->culprits);
	now->view = v;
}

int tap_now_of_tally(struct tap_now *now, const struct tap_top_refresh *r)
{
	unsigned int *of_slot = calloc(r->view->nr_slots + 1, sizeof(*of_slot));
	int ret = of_slot ? 0 : -ENOMEM;

	if (!ret) {
		add_sums(now, r);
		add_waits(now, r->view);
		ret = add_cpus(now, r->view);
	}
	ret = ret ?: add_cgroups(now, r->view, of_slot);
	ret = ret ?: add_tasks(now, r->view, of_slot);
	free(of_slot);
	return ret;
}
