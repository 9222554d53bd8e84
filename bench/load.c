/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads for the benchmarks, on every CPU that this process may use:
 *
 *   load mixed SECONDS            pipes, timers, CPU hogs and forks, more of them than CPUs
 *   load pingpong SECONDS [RATE]  a pair of processes per CPU that exchange a byte, at most RATE
 *                                 round trips per second and pair
 *   load trips N                  one such pair; prints the time of N round trips in ns
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000u
#define BURST_US 500 /* a paced pair makes its round trips, then sleeps for this time */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (cpu >= 0 && sched_setaffinity(0, sizeof(set), &set))
		_exit(1);
}

static void echo(const int *in, const int *out)
{
	char byte;

	close(in[1]);
	while (read(in[0], &byte, 1) == 1 && write(out[1], &byte, 1) == 1)
		;
	_exit(0);
}

/* Make round trips through two pipes until @end_ns. @cpu: where both sides run; -1: anywhere. */
static void pingpong(int cpu, uint64_t end_ns, uint64_t rate)
{
	uint64_t trips = 0, start_ns = now_ns(), due;
	int in[2], out[2];
	char byte = 0;

	pin(cpu);
	if (pipe(in) || pipe(out))
		_exit(1);
	if (!fork())
		echo(in, out);
	for (uint64_t ns = start_ns; ns < end_ns; ns = now_ns()) {
		due = rate ? (ns - start_ns) / 1000 * rate / 1000000 : trips + 1000;
		for (; trips < due; trips++) {
			if (write(in[1], &byte, 1) != 1 || read(out[0], &byte, 1) != 1)
				_exit(1);
		}
		if (rate)
			usleep(BURST_US);
	}
	close(in[1]);
}

static void trips(unsigned long nr)
{
	uint64_t start_ns = now_ns();
	int in[2], out[2];
	char byte = 0;

	if (pipe(in) || pipe(out))
		_exit(1);
	if (!fork()) {
		close(STDOUT_FILENO);
		echo(in, out);
	}
	while (nr--)
		if (write(in[1], &byte, 1) != 1 || read(out[0], &byte, 1) != 1)
			_exit(1);
	printf("%llu\n", (unsigned long long)(now_ns() - start_ns));
	close(in[1]);
}

static void timer(uint64_t end_ns, unsigned int period_us)
{
	while (now_ns() < end_ns)
		usleep(period_us);
}

static void hog(uint64_t end_ns)
{
	while (now_ns() < end_ns)
		;
}

static void forks(uint64_t end_ns)
{
	while (now_ns() < end_ns) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		usleep(2000);
	}
}

static void mixed(int nr_cpus, uint64_t end_ns)
{
	for (int i = 0; i < nr_cpus * 5; i++) {
		if (fork())
			continue;
		switch (i % 5) {
		case 0:
			pingpong(-1, end_ns, 5000);
			break;
		case 1:
			timer(end_ns, 1000);
			break;
		case 2:
			timer(end_ns, 4000 + 100 * (unsigned int)i);
			break;
		case 3:
			hog(end_ns);
			break;
		default:
			forks(end_ns);
		}
		_exit(0);
	}
}

static void pairs(const cpu_set_t *cpus, uint64_t end_ns, uint64_t rate)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, cpus) || fork())
			continue;
		pingpong(cpu, end_ns, rate);
		_exit(0);
	}
}

int main(int argc, char **argv)
{
	uint64_t end_ns, rate;
	cpu_set_t cpus;

	if (argc < 3 || sched_getaffinity(0, sizeof(cpus), &cpus)) {
		fprintf(stderr, "usage: load mixed SECONDS | pingpong SECONDS [RATE] | trips N\n");
		return 2;
	}
	end_ns = now_ns() + (uint64_t)(atof(argv[2]) * NS_PER_S);
	rate = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	if (!strcmp(argv[1], "pingpong"))
		pairs(&cpus, end_ns, rate);
	else if (!strcmp(argv[1], "trips"))
		trips(strtoul(argv[2], NULL, 10));
	else
		mixed(CPU_COUNT(&cpus), end_ns);
	while (wait(NULL) > 0)
		;
	return 0;
}
