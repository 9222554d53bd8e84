// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/thread.h"

#include <errno.h>
#include <signal.h>

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
