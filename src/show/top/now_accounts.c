// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the screens show where the tally cannot be used: what /proc and the cgroups have. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "show/top/now.h"

static const struct tap_now_waits unknown = { TAP_NOW_UNKNOWN, TAP_NOW_UNKNOWN, TAP_NOW_UNKNOWN,
					      TAP_NOW_UNKNOWN, TAP_NOW_UNKNOWN };

static uint64_t known(struct tap_known n)
{
	return n.err ? TAP_NOW_UNKNOWN : n.v;
}

static int add_cpus(struct tap_now *now, const struct tap_accounts_view *v)
{
	for (unsigned int i = 0; i < v->nr_cpus; i++) {
		const struct tap_accounts_cpu *c = &v->cpus[i];
		double ns = c->cpu_ns ? (double)c->cpu_ns : NAN;

		if (tap_array_grow(&now->cpus, i, &now->cap_cpus, sizeof(*now->cpus)))
			return -ENOMEM;
		now->cpus[i] = (struct tap_now_cpu){ .cpu = c->cpu,
						     .busy = 1 - (double)c->idle_ns / ns,
						     .runnable = NAN,
						     .max_wait_ns = TAP_NOW_UNKNOWN,
						     .switches = TAP_NOW_UNKNOWN };
	}
	now->nr_cpus = v->nr_cpus;
	return 0;
}

static int add_cgroups(struct tap_now *now, const struct tap_accounts_view *v)
{
	for (unsigned int i = 0; i < v->nr_cgroups; i++) {
		const struct tap_accounts_cgroup *c = &v->cgroups[i];

		if (tap_array_grow(&now->cgroups, i, &now->cap_cgroups, sizeof(*now->cgroups)))
			return -ENOMEM;
		now->cgroups[i] = (struct tap_now_cgroup){ .name = c->path,
							   .waits = unknown,
							   .run_ns = known(c->run_ns),
							   .throttled_ns = known(c->throttled_ns) };
	}
	now->nr_cgroups = v->nr_cgroups;
	return 0;
}

static int add_tasks(struct tap_now *now, const struct tap_accounts_view *v)
{
	for (unsigned int i = 0; i < v->nr_tasks; i++) {
		const struct tap_tally_task *t = &v->tasks[i].t;

		if (tap_array_grow(&now->tasks, i, &now->cap_tasks, sizeof(*now->tasks)))
			return -ENOMEM;
		now->tasks[i] = (struct tap_now_task){ .t = t,
						       .wait_ns = t->wait_ns,
						       .p99_ns = TAP_NOW_UNKNOWN,
						       .max_ns = TAP_NOW_UNKNOWN,
						       .migrations = TAP_NOW_UNKNOWN,
						       .cpu = TAP_TALLY_UNKNOWN,
						       .util = TAP_TALLY_UNKNOWN,
						       .prio = TAP_NOW_NO_PRIO };
	}
	now->nr_tasks = v->nr_tasks;
	now->all_tasks = known(v->all_tasks);
	return 0;
}

int tap_now_of_accounts(struct tap_now *now, const struct tap_top_accounts *r)
{
	const struct tap_accounts_view *v = r->view;
	double cpu_ns = v->cpu_ns && !v->cpus_err ? (double)v->cpu_ns : NAN;

	now->from_ns = v->from_ns;
	now->to_ns = v->to_ns;
	now->realtime_ns = r->realtime_ns;
	now->why = r->why;
	now->busy = 1 - (double)v->idle_ns / cpu_ns;
	now->overhead = 100 * (double)r->own_cpu_ns / cpu_ns;
	now->runnable = NAN;
	now->switches = known(v->switches);
	now->lost = now->censored = now->idle_while_waiting_ns = TAP_NOW_UNKNOWN;
	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++)
		now->kinds[k] = unknown;
	now->all = unknown;
	now->all.count = known(v->waits);
	now->all.sum_ns = known(v->wait_ns);
	for (unsigned int i = 0; i < TAP_TALLY_SCOPES; i++)
		now->migrations[i] = TAP_NOW_UNKNOWN;
	return add_cpus(now, v) ?: add_cgroups(now, v) ?: add_tasks(now, v);
}
