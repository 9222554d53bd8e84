// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/drawn/lanes.h"

#include <errno.h>
#include <stdlib.h>

static unsigned int nr_cpus(const struct tap_run *run)
{
	unsigned int of_machine = tap_reader_info(run->rec.reader)->nr_cpus,
		     nr = run->survey.nr_cpus;

	if (of_machine > nr)
		nr = of_machine;
	return nr < TAP_MAX_CPUS ? nr : TAP_MAX_CPUS;
}

int tap_lanes_init(struct tap_lanes *lanes, const struct tap_run *run)
{
	const unsigned int nr = nr_cpus(run);

	*lanes = (struct tap_lanes){ .nr_cpus = nr };
	lanes->cpus = calloc((size_t)nr + 1, sizeof(*lanes->cpus));
	lanes->by_cpu = calloc((size_t)nr + 1, sizeof(*lanes->by_cpu));
	if (!lanes->cpus || !lanes->by_cpu)
		return -ENOMEM;
	for (unsigned int cpu = 0; cpu < nr; cpu++) {
		lanes->by_cpu[cpu] = tap_run_cpu(run, (int)cpu) ? lanes->nr : TAP_NO_LANE;
		if (tap_run_cpu(run, (int)cpu))
			lanes->cpus[lanes->nr++] = cpu;
	}
	return 0;
}

void tap_lanes_release(struct tap_lanes *lanes)
{
	free(lanes->cpus);
	free(lanes->by_cpu);
	*lanes = (struct tap_lanes){ 0 };
}
