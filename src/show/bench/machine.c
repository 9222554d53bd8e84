// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/bench/machine.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/proc.h"

/* Columns of the line "cpu" in /proc/stat (show_stat() in fs/proc/stat.c), in clock ticks. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, NR_COLUMNS };

static uint64_t read_busy(void)
{
	static const unsigned int busy[] = { USER, NICE, SYSTEM, IRQ, SOFTIRQ };
	uint64_t v[NR_COLUMNS], ticks = 0;
	struct tap_buf stat = { 0 };
	const char *line;

	if (tap_buf_read_file(&stat, "/proc/stat"))
		tap_buf_clear(&stat);
	line = tap_proc_line(tap_buf_str(&stat), "cpu ");
	if (line && tap_proc_numbers(&line, v, NR_COLUMNS) == NR_COLUMNS)
		for (unsigned int i = 0; i < sizeof(busy) / sizeof(*busy); i++)
			ticks += v[busy[i]];
	tap_buf_release(&stat);
	return ticks * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void add_cpu(struct tap_bench_machine *m, const struct tap_cpu_power *p)
{
	if (p->khz > 0)
		m->khz += p->khz;
	if (p->min_khz > 0 && (m->min_khz < 0 || p->min_khz < m->min_khz))
		m->min_khz = p->min_khz;
	if (p->max_khz > m->max_khz)
		m->max_khz = p->max_khz;
	if (p->nr_states > m->nr_states)
		m->nr_states = p->nr_states;
	for (unsigned int i = 0; i < p->nr_states; i++) {
		memcpy(m->states[i].name, p->states[i].name, sizeof(m->states[i].name));
		m->states[i].ns += p->states[i].ns;
	}
}

void tap_bench_machine_read(struct tap_bench_machine *m)
{
	unsigned int nr = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);

	*m = (struct tap_bench_machine){ .nr_cpus = nr, .min_khz = -1, .max_khz = -1 };
	for (unsigned int i = 0; i < nr; i++) {
		struct tap_cpu_power power;

		tap_cpu_power_read(&power, i, "");
		add_cpu(m, &power);
	}
	m->khz = m->khz ? m->khz / nr : -1;
	m->energy_uj = tap_energy_uj("");
	m->busy_ns = read_busy();
	m->at_ns = tap_now_ns();
}

/* The counter of energy wraps around; then the energy of all rounds is unknown. */
void tap_bench_machine_add(struct tap_bench_machine *sum, const struct tap_bench_machine *before,
			   const struct tap_bench_machine *after)
{
	bool known = before->energy_uj >= 0 && after->energy_uj >= before->energy_uj &&
		     sum->energy_uj >= 0;

	sum->at_ns += after->at_ns - before->at_ns;
	sum->nr_cpus = after->nr_cpus;
	sum->busy_ns += after->busy_ns - before->busy_ns;
	sum->energy_uj = known ? sum->energy_uj + after->energy_uj - before->energy_uj : -1;
	sum->khz = after->khz;
	sum->min_khz = after->min_khz;
	sum->max_khz = after->max_khz;
	sum->nr_states = after->nr_states;
	for (unsigned int i = 0; i < after->nr_states; i++) {
		memcpy(sum->states[i].name, after->states[i].name, sizeof(sum->states[i].name));
		sum->states[i].ns += after->states[i].ns - before->states[i].ns;
	}
}
