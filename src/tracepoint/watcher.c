// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The watcher thread. What a controller has written to a word is normally applied by the first
 * thread that passes a site, which loads the word. A patched site is a nop and loads nothing, so a
 * program with patched sites has this thread: it sleeps until a controller changes `wake` in the
 * control file and wakes it.
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

static void *watch_words(void *unused)
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

/* Start the thread with all signals blocked: they are for the program's threads. */
static int start_thread(void)
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
	ret = pthread_create(&thread, &attr, watch_words, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

void tap_watcher_start(void)
{
	int ret;

	if (!wanted || !tap_control || tap_process->has_thread)
		return;
	ret = start_thread();
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

/* Return true if a child after a fork, which has only the forking thread, needs a watcher. */
bool tap_watcher_is_wanted(void)
{
	return wanted;
}

/* Wake the watcher. Return: false if there is none. */
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
	 * only try: the lock's holder may be this very thread, interrupted by a signal; the next
	 * thread that passes a site applies the change
	 */
	if (!wake_thread() && tap_trylock()) {
		tap_child_set_up();
		tap_apply_wanted(tp);
		tap_unlock();
	}
	errno = saved;
}
