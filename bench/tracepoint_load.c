// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tracepoint_load off|on|mono EVENTS [THREADS [FILTER]]: each thread passes the tracepoint EVENTS
 * times after one warm-up pass. on: enabled, with the CPU's counter as clock; mono: with
 * CLOCK_MONOTONIC; off: disabled unless a recorder enables it. The recorder gets FILTER by
 * $SCHEDTAP. Prints ns of CPU time per event. With -DLTTNG the tracepoint is one of LTTng-UST,
 * which a session enables.
 */
#ifdef LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoint_lttng.h"
#define trace_request(args...) lttng_ust_tracepoint(bench, request, args)
#else
#define CREATE_TRACE_POINTS
#include "tracepoint_events.h"

#include "tracepoint/shared.h"
#endif

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 1024

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

	trace_request(0, 0, path); /* the first pass creates the ring */
	before = cpu_ns();
	for (long i = 0; i < events; i++)
		trace_request((int)i, (uint64_t)i * 3, path);
	*ns = (cpu_ns() - before) / (double)events;
	return NULL;
}

#ifndef LTTNG
/*
 * Enable the event as a controller does: write the clock and the first byte of the event's word.
 * Return: false on failure.
 */
static bool switch_on(uint8_t clock)
{
	char file[512];
	int fd;

	snprintf(file, sizeof(file), "%s/schedtap/%d-0", getenv("XDG_RUNTIME_DIR"), (int)getpid());
	fd = open(file, O_RDWR | O_CLOEXEC);
	if (fd < 0 || pwrite(fd, &clock, 1, offsetof(struct tap_control, use_clock)) != 1)
		return false;
	*(volatile uint8_t *)__tracepoint_request.on = 1;
	return !close(fd);
}
#endif

#ifndef LTTNG
static bool set_filter(const char *filter)
{
	char pid[16];
	pid_t child;
	int status;

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	child = fork();
	if (!child) {
		execl(getenv("SCHEDTAP"), "schedtap", "tracefs", "--pid", pid, "filter",
		      "tracepoint_events:request", filter, NULL);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}
#endif

int main(int argc, char **argv)
{
	int threads_nr = argc > 3 ? atoi(argv[3]) : 1;
	double ns[THREADS_MAX], sum = 0;
	pthread_t threads[THREADS_MAX];

	if (argc < 3 || threads_nr < 1 || threads_nr > THREADS_MAX)
		return 2;
	events = atol(argv[2]);
#ifndef LTTNG
	if (argc > 4 && !set_filter(argv[4]))
		return 1;
	if (strcmp(argv[1], "off") != 0 &&
	    !switch_on(!strcmp(argv[1], "on") ? TAP_CLOCK_CYCLES : TAP_CLOCK_MONO))
		return 1;
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
