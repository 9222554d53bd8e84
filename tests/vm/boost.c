// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Priority inheritance: a thread of SCHED_FIFO waits for a mutex of a fair one, which is boosted
 * (sched_pi_setprio). */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define PRIO 20
#define MAX_TRIES 20000 /* of 1 ms */

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

/* Whether this thread has a priority of SCHED_FIFO now: proc(5) has it as a negative number. */
static bool is_boosted(void)
{
	FILE *f = fopen("/proc/self/stat", "r");
	long prio = 0;

	if (!f)
		return false;
	/* the name is "boost" */
	if (fscanf(f, "%*d (boost) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %ld",
		   &prio) != 1)
		prio = 0;
	fclose(f);
	return prio < 0;
}

int main(void)
{
	pthread_mutexattr_t attr;
	pthread_t thread;
	int tries = 0;

	if (pthread_mutexattr_init(&attr) ||
	    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) ||
	    pthread_mutex_init(&mutex, &attr))
		return 1;
	pthread_mutex_lock(&mutex);
	if (start_fifo(&thread)) {
		fputs("boost: no thread\n", stderr);
		return 1;
	}
	while (!is_boosted() && tries++ < MAX_TRIES)
		usleep(1000);
	pthread_mutex_unlock(&mutex);
	return pthread_join(thread, NULL) != 0;
}
