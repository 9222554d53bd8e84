// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a controller has written to a word is applied by the first thread that passes a site, which
 * loads the word. A nop loads nothing: programs with patched sites have a thread, the watcher,
 * which sleeps until a controller moves the control file's `wake` and wakes it.
 */
#include "tracepoint/internal.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)64 << 10)

static bool wanted; /* an object with patched sites has been loaded */

static void *watch(void *unused)
{
	uint32_t *wake = &tap_control->wake;

	(void)unused;
	for (;;) {
		uint32_t seen = __atomic_load_n(wake, __ATOMIC_ACQUIRE);

		tap_apply_objects();
		syscall(SYS_futex, wake, FUTEX_WAIT, seen, NULL, NULL, 0);
	}
	return NULL;
}

/* The program's signals are not for this thread. */
static int start(void)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	ret = pthread_create(&thread, &attr, watch, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

void tap_watcher_start(void)
{
	int ret;

	if (!wanted || !tap_control || tap_process->has_thread)
		return;
	ret = start();
	if (ret) {
		tap_set_reason("other processes cannot switch this program's tracepoints: cannot "
			       "start a thread: %s",
			       strerror(ret));
		return;
	}
	tap_process->has_thread = true;
	tap_control->has_thread = 1;
}

void tap_object_is_patched(void)
{
	if (tap_process_init() || !tap_lock())
		return;
	wanted = true;
	tap_watcher_start();
	tap_unlock();
}

/* In a child after a fork: it has no threads but the one that forked. */
bool tap_watcher_is_wanted(void)
{
	return wanted;
}

/* Leaves it to the watcher. Return: whether there is one. */
static bool wake_thread(void)
{
	if (!tap_control || !tap_process->has_thread)
		return false;
	__atomic_fetch_add(&tap_control->wake, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &tap_control->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	return true;
}

void tap_tracepoint_look(struct tracepoint *tp)
{
	int saved = errno;

	/*
	 * whoever has the lock may be this very thread, under a signal handler: the next one
	 * applies it
	 */
	if (!wake_thread() && tap_trylock()) {
		tap_child_set_up();
		tap_apply_wanted(tp);
		tap_unlock();
	}
	errno = saved;
}
