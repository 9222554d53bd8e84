// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * emit COUNT USEC [END]: fires rules:plain COUNT times, v = 0, 1, ..., with USEC between them, and ends
 * as END says: exit (the default), _exit, pause (until a signal comes), fork (a child fires as many
 * as its parent, with v from COUNT on), exec (becomes emit COUNT USEC). On stdout: what
 * tap_trace_reason() says.
 */
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

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	useconds_t pause_us = argc > 2 ? (useconds_t)atoi(argv[2]) : 0;
	const char *end = argc > 3 ? argv[3] : "exit";

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
