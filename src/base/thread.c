// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"

#define REST_NS 1000000u

int tap_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -ret;
}

void tap_sem_wait(sem_t *sem)
{
	while (sem_wait(sem) && errno == EINTR)
		;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000u),
			       .tv_nsec = (long)(ns % 1000000000u) };

	nanosleep(&ts, NULL);
}

void tap_thread_rest(uint64_t *rested_ns)
{
	uint64_t spent = tap_clock_ns(CLOCK_THREAD_CPUTIME_ID) - *rested_ns;

	if (spent < REST_NS)
		return;
	sleep_ns(spent);
	*rested_ns += spent;
}

void tap_thread_sleep(uint64_t ns, uint64_t *rested_ns)
{
	uint64_t spent = tap_clock_ns(CLOCK_THREAD_CPUTIME_ID) - *rested_ns;

	sleep_ns(ns);
	*rested_ns += spent < ns ? spent : ns;
}
