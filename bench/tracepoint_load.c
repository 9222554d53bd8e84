// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tracepoint_load off|on EVENTS [THREADS]: each thread passes the site EVENTS times. Prints ns of CPU time
 * per event. With -DLTTNG the site is one of LTTng-UST; there a session switches it on.
 */
#ifdef LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoint_lttng.h"
#define trace_request(args...) lttng_ust_tracepoint(bench, request, args)
#else
#define CREATE_TRACE_POINTS
#include "tracepoint_events.h"
#endif

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX 64

static char path[] = "fifteen_chars__";
static long events;

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *thread(void *arg)
{
	double *ns = arg, before;

	trace_request(0, 0, path); /* makes the ring */
	before = cpu_ns();
	for (long i = 0; i < events; i++)
		trace_request((int)i, (uint64_t)i * 3, path);
	*ns = (cpu_ns() - before) / (double)events;
	return NULL;
}

int main(int argc, char **argv)
{
	int threads_nr = argc > 3 ? atoi(argv[3]) : 1;
	double ns[THREADS_MAX], sum = 0;
	pthread_t threads[THREADS_MAX];

	if (argc < 3 || threads_nr < 1 || threads_nr > THREADS_MAX)
		return 2;
	events = atol(argv[2]);
#ifndef LTTNG
	/* what a controller writes: the first byte of the event's word in the control file */
	*(volatile uint8_t *)__tracepoint_request.on = !strcmp(argv[1], "on");
#endif
	for (int i = 0; i < threads_nr; i++)
		if (pthread_create(&threads[i], NULL, thread, &ns[i]))
			return 1;
	for (int i = 0; i < threads_nr; i++) {
		pthread_join(threads[i], NULL);
		sum += ns[i];
	}
	printf("%.2f\n", sum / threads_nr);
	return 0;
}
