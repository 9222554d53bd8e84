// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>

#include "show/top/top.h"

uint64_t tap_top_switches(const struct tap_tally_view *view)
{
	uint64_t nr = 0;

	for (unsigned int i = 0; i < view->nr_cpus; i++)
		nr += view->cpus[i].switches;
	return nr;
}

uint64_t tap_top_max_wait(const struct tap_tally_view *view, enum tap_tally_kind kind)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < view->nr_cpus; i++)
		if (view->cpus[i].max_wait_ns[kind] > ns)
			ns = view->cpus[i].max_wait_ns[kind];
	return ns;
}

uint64_t tap_top_censored(const struct tap_tally_view *view)
{
	uint64_t nr = 0;

	for (unsigned int i = 0; i < view->nr_slots; i++)
		for (unsigned int k = 0; k < TAP_TALLY_REASONS; k++)
			nr += view->rows[i].censored[k];
	return nr;
}

uint64_t tap_top_idle_while_waiting(const struct tap_tally_view *view)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < view->nr_llcs; i++)
		ns += view->llcs[i].idle_while_waiting_ns;
	return ns;
}

double tap_top_overhead(const struct tap_top_refresh *r)
{
	double probes_ns = (double)r->ns_per_switch * (double)tap_top_switches(r->view);

	if (!r->ns_per_switch || !r->view->cpu_ns)
		return NAN;
	return 100 * (probes_ns + (double)r->own_cpu_ns) / (double)r->view->cpu_ns;
}
