// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tracepoint_stall EVENTS: measure how long a real-time thread is delayed by its first event, and
 * by the slowest of EVENTS more at intervals of 10 us. A recorder enables them. Prints, in us: the
 * first event, the slowest one, the longest interval between two clock reads with nothing in
 * between (of the same number), and the first access to a page.
 */
#define CREATE_TRACE_POINTS
#include "tracepoint_events.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define APART_US 10
#define PAGES 64

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double longest(long nr, bool event)
{
	double most = 0;

	for (long i = 0; i < nr; i++) {
		double start = now_us(), took;

		if (event)
			trace_request((int)i, (uint64_t)i * 3, "fifteen_chars__");
		took = now_us() - start;
		most = took > most ? took : most;
		while (now_us() - start < APART_US)
			;
	}
	return most;
}

static double page_touch(void)
{
	char *p = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	double start = now_us();

	for (int i = 0; p != MAP_FAILED && i < PAGES; i++)
		((volatile char *)p)[i * 4096] = 1;
	return (now_us() - start) / PAGES;
}

int main(int argc, char **argv)
{
	const struct sched_param param = { .sched_priority = 1 };
	double first, most;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (argc != 2 || sched_setaffinity(0, sizeof(set), &set) ||
	    sched_setscheduler(0, SCHED_FIFO, &param))
		return 2;
	longest(100, false); /* warm up the clock's page and code */
	first = longest(1, true);
	most = longest(atol(argv[1]), true);
	printf("%.1f %.1f %.1f %.1f\n", first, most, longest(atol(argv[1]), false), page_touch());
	return 0;
}
