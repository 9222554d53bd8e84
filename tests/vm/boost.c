// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Priority inheritance: a thread of SCHED_FIFO waits for a mutex of a fair one, which is boosted
 * (sched_pi_setprio). */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define PRIO 20
#define HOLD_US 20000u

static pthread_mutex_t mutex;

static void *wait_for_it(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static int start_fifo(pthread_t *thread)
{
	pthread_attr_t attr;

	return pthread_attr_init(&attr) ||
	       pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED) ||
	       pthread_attr_setschedpolicy(&attr, SCHED_FIFO) ||
	       pthread_attr_setschedparam(&attr, &(struct sched_param){ PRIO }) ||
	       pthread_create(thread, &attr, wait_for_it, NULL);
}

int main(void)
{
	pthread_mutexattr_t attr;
	pthread_t thread;

	if (pthread_mutexattr_init(&attr) ||
	    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) ||
	    pthread_mutex_init(&mutex, &attr))
		return 1;
	pthread_mutex_lock(&mutex);
	if (start_fifo(&thread)) {
		fputs("boost: no thread\n", stderr);
		return 1;
	}
	usleep(HOLD_US);
	pthread_mutex_unlock(&mutex);
	return pthread_join(thread, NULL) != 0;
}
