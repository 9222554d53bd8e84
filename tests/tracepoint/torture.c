// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * torture SECONDS [PROVIDER.so]: threads fire events and end, others want and do not want them as a
 * controller does, register and unregister probes, fork children that fire and fork again, load and
 * unload a library with events, and a timer's signal handler fires in the middle of all that. It
 * passes if it ends: with sanitizers they are the judges.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "tracepoint/rules.h"

static int stop;
static int guarded_on; /* regfunc and unregfunc take turns */
static unsigned long seen, rounds[8];

int rules_reg(void)
{
	if (__atomic_fetch_add(&guarded_on, 1, __ATOMIC_SEQ_CST))
		abort();
	return 0;
}

void rules_unreg(void)
{
	if (__atomic_fetch_sub(&guarded_on, 1, __ATOMIC_SEQ_CST) != 1)
		abort();
}

static bool is_over(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void fire_all(int v)
{
	trace_bare(v);
	trace_plain(v, "some text that is not short enough for a register");
	trace_guarded(v);
	trace_even(v);
	trace_summed((uint64_t)v, (unsigned int)v % 50);
}

/* Memory of its own, that is freed once no probe can run: a probe that runs later is caught. */
struct probe_data {
	unsigned long magic;
};

static void probe(void *data, int v)
{
	const struct probe_data *d = data;

	(void)v;
	if (d->magic != 0x7461705f70726f62)
		abort();
	__atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
}

static void *fire_some(void *unused)
{
	for (int i = 0; i < 2000 && !is_over(); i++)
		fire_all(i);
	return unused;
}

/* Threads that come and go. */
static void *threads(void *unused)
{
	while (!is_over()) {
		pthread_t t[4];

		for (int i = 0; i < 4; i++)
			if (pthread_create(&t[i], NULL, fire_some, NULL))
				abort();
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		rounds[0]++;
	}
	return unused;
}

static void *probes(void *unused)
{
	while (!is_over()) {
		struct probe_data *d = malloc(sizeof(*d));

		d->magic = 0x7461705f70726f62;
		if (register_trace_guarded(probe, d) ||
		    register_trace_prio_bare(probe, d, rand() % 20))
			abort();
		if (rand() % 4 == 0)
			usleep(100);
		if (unregister_trace_guarded(probe, d) || unregister_trace_bare(probe, d))
			abort();
		tracepoint_synchronize_unregister();
		memset(d, 0, sizeof(*d));
		free(d);
		rounds[1]++;
	}
	return unused;
}

static void want(struct tracepoint *tp, void *on)
{
	if (tp->call)
		__atomic_store_n((uint8_t *)tp->on, on ? 1 : 0, __ATOMIC_RELEASE);
}

/* Switches events on and off like a controller in another process: by one byte each. */
static void *controller(void *unused)
{
	int on = 1;

	while (!is_over()) {
		for_each_tracepoint(want, on ? &on : NULL);
		usleep(200);
		rounds[2]++;
		on = rand() % 3;
	}
	for_each_tracepoint(want, NULL);
	return unused;
}

static void in_child(int depth)
{
	pid_t child = depth ? fork() : 0;

	for_each_tracepoint(want, &depth);
	for (int i = 0; i < 300; i++)
		fire_all(i);
	if (depth && !child)
		_exit(0);
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void *forks(void *unused)
{
	while (!is_over()) {
		pid_t child = fork();
		int status = 0;

		if (!child) {
			alarm(60);
			in_child(1);
			_exit(0); /* exit() is not for children of many threads */
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status) {
			fprintf(stderr, "a child ended with status %x\n", status);
			abort();
		}
		rounds[3]++;
	}
	return unused;
}

static void *loads(void *path)
{
	while (path && !is_over()) {
		void *lib = dlopen(path, RTLD_NOW);
		void (*fire)(int) = lib ? (void (*)(int))dlsym(lib, "provider_fire") : NULL;

		if (!fire) {
			fprintf(stderr, "%s\n", dlerror());
			abort();
		}
		for (int i = 0; i < 100; i++)
			fire(i);
		dlclose(lib);
		rounds[4]++;
	}
	return NULL;
}

static void on_signal(int sig)
{
	int saved = errno;

	(void)sig;
	fire_all(7);
	__atomic_fetch_add(&rounds[5], 1, __ATOMIC_RELAXED);
	errno = saved;
}

int main(int argc, char **argv)
{
	void *(*const work[])(void *) = { threads, probes, controller, forks, loads, fire_some };
	struct itimerval every = { .it_interval.tv_usec = 700, .it_value.tv_usec = 700 };
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	struct timespec end, now;
	pthread_t t[6];

	clock_gettime(CLOCK_MONOTONIC, &end);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 6; i++)
		if (pthread_create(&t[i], NULL, work[i], argc > 2 ? argv[2] : NULL))
			abort();
	do {
		usleep(10000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - end.tv_sec) + (double)(now.tv_nsec - end.tv_nsec) / 1e9 <
		 seconds);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	printf("threads %lu, probes %lu, wishes %lu, forks %lu, loads %lu, signals %lu, probed "
	       "%lu; %s\n",
	       rounds[0], rounds[1], rounds[2], rounds[3], rounds[4], rounds[5], seen,
	       tap_trace_reason() ? tap_trace_reason() : "nothing failed");
	return 0;
}
