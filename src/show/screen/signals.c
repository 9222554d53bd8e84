// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/screen/signals.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Signals that do not end a process by default, or cannot be caught. */
#define LEFT_ALONE                                                                                 \
	(TAP_SIGNAL(SIGKILL) | TAP_SIGNAL(SIGSTOP) | TAP_SIGNAL(SIGCHLD) | TAP_SIGNAL(SIGURG) |    \
	 TAP_SIGNAL(SIGTTIN) | TAP_SIGNAL(SIGTTOU))

static struct {
	void (*restore)(void);
	struct sigaction old_actions[NSIG];
	sigset_t old_mask;
	stack_t old_stack;
} taken;
/*
 * Handlers and an eventfd, not a signalfd: that would miss a signal which the kernel delivers to
 * another thread, where it is not blocked.
 */
static atomic_uint noted;
static atomic_int event_fd = -1;
static char stack[64 << 10]; /* for handlers: SIGSEGV may be the end of the thread's own */

static void note(int sig)
{
	uint64_t one = 1;
	int saved = errno;

	atomic_fetch_or(&noted, TAP_SIGNAL(sig));
	(void)!write(event_fd, &one, sizeof(one));
	errno = saved;
}

/* The signal stays blocked until the handler returns, and then ends the process. */
static void die(int sig)
{
	taken.restore();
	signal(sig, SIG_DFL);
	raise(sig);
}

static bool is_among(unsigned int bits, int sig)
{
	return sig < 32 && bits & TAP_SIGNAL(sig);
}

static bool ends_process(const struct sigaction *action, int sig)
{
	return !is_among(LEFT_ALONE, sig) && !(action->sa_flags & SA_SIGINFO) &&
	       action->sa_handler == SIG_DFL;
}

/* Signals other than the noted ones stay as they are if the program handles or ignores them. */
static void take_signal(int sig)
{
	struct sigaction *old = &taken.old_actions[sig];
	struct sigaction action = { .sa_handler = is_among(TAP_SIGNALS_NOTED, sig) ? note : die,
				    .sa_flags = SA_ONSTACK };

	if (sigaction(sig, NULL, old)) /* glibc keeps two for itself */
		return;
	if (is_among(TAP_SIGNALS_NOTED, sig) || ends_process(old, sig))
		sigaction(sig, &action, NULL);
}

static void restore_at_exit(void)
{
	if (event_fd >= 0)
		taken.restore();
}

int tap_terminal_signals_take(void (*restore)(void))
{
	const stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };
	static bool at_exit;
	sigset_t set;
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (!at_exit)
		at_exit = !atexit(restore_at_exit);
	taken.restore = restore;
	noted = 0;
	event_fd = fd;
	sigaltstack(&own, &taken.old_stack);
	sigemptyset(&set);
	for (int sig = 1; sig < NSIG; sig++) {
		take_signal(sig);
		if (is_among(TAP_SIGNALS_NOTED, sig))
			sigaddset(&set, sig);
	}
	pthread_sigmask(SIG_UNBLOCK, &set, &taken.old_mask);
	return fd;
}

void tap_terminal_signals_give_back(void)
{
	int fd = event_fd;

	pthread_sigmask(SIG_SETMASK, &taken.old_mask, NULL);
	for (int sig = 1; sig < NSIG; sig++)
		if (is_among(TAP_SIGNALS_NOTED, sig) || ends_process(&taken.old_actions[sig], sig))
			sigaction(sig, &taken.old_actions[sig], NULL);
	sigaltstack(&taken.old_stack, NULL);
	event_fd = -1;
	close(fd);
}

unsigned int tap_terminal_signals_peek(unsigned int which)
{
	return noted & which;
}

unsigned int tap_terminal_signals_get(unsigned int which)
{
	return atomic_fetch_and(&noted, ~which) & which;
}

void tap_terminal_signals_stop(void)
{
	struct sigaction stops = { .sa_handler = SIG_DFL }, notes;

	sigaction(SIGTSTP, &stops, &notes);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &notes, NULL);
}
