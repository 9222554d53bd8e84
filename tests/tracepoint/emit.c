// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * emit COUNT USEC [END]: fires rules:plain COUNT times, v = 0, 1, ..., with USEC between them, and
 * ends as END says: exit (the default), _exit, pause (until a signal comes), fork (a child fires as
 * many as its parent, with v from COUNT on), daemon (as many are fired by a child of a child, which
 * has nothing open, in another session and 300 ms after all others are gone), orphan (the same by a
 * child whose parent was killed), again (COUNT with each SIGUSR1), exec (becomes emit COUNT USEC).
 * On stdout: what tap_trace_reason() says.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "tracepoint/rules.h"

int rules_reg(void)
{
	return 0;
}

void rules_unreg(void)
{
}

static void fire(int from, int count, useconds_t pause_us)
{
	for (int v = from; v < from + count; v++) {
		trace_plain(v, "fifteen_chars__");
		if (pause_us)
			usleep(pause_us);
	}
}

/* Goes on in a child's child. */
static void become_daemon(void)
{
	if (fork())
		exit(0);
	setsid();
	if (fork())
		_exit(0);
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	usleep(300000);
}

static void become_orphan(void)
{
	if (fork())
		raise(SIGKILL);
	usleep(300000);
}

static void fire_again(int count)
{
	sigset_t usr1;
	int sig;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	for (int turn = 1;; turn++) {
		printf("ready %d\n", turn);
		fflush(stdout);
		sigwait(&usr1, &sig);
		fire(0, count, 0);
		printf("fired %d\n", turn);
	}
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	useconds_t pause_us = argc > 2 ? (useconds_t)atoi(argv[2]) : 0;
	const char *end = argc > 3 ? argv[3] : "exit";

	if (!strcmp(end, "again"))
		fire_again(count);
	fire(0, count, pause_us);
	if (!strcmp(end, "fork")) {
		pid_t child = fork();

		if (!child) {
			fire(count, count, pause_us);
			return 0;
		}
		fire(2 * count, count, pause_us);
		waitpid(child, NULL, 0);
	}
	if (!strcmp(end, "daemon") || !strcmp(end, "orphan")) {
		*end == 'd' ? become_daemon() : become_orphan();
		fire(count, count, pause_us);
		return 0;
	}
	puts(tap_trace_reason() ? tap_trace_reason() : "nothing failed");
	fflush(stdout);
	if (!strcmp(end, "pause"))
		pause();
	if (!strcmp(end, "_exit"))
		_exit(0);
	if (!strcmp(end, "exec"))
		execl("/proc/self/exe", argv[0], argv[1], argv[2], NULL);
	return 0;
}
