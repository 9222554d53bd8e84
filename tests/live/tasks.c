// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tasks with names of their own, for tasks.t.
 *
 *   tasks sleep NAME...      a process of each name, which naps all the time; until killed
 *   tasks children N NAME    a line on stdin; N children that end at once, then one called NAME
 *   tasks at_once N NAME     a line on stdin; N children that are there together, then one called
 * NAME tasks pid PID NAME       makes a process PID called NAME, if need be one after the other
 * until it is tasks thread NAME       a line on stdin; a thread called NAME
 *
 * A process called NAME sleeps ten times, a millisecond each.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void be(const char *name, long naps)
{
	prctl(PR_SET_NAME, name);
	for (long i = 0; i != naps; i++)
		usleep(1000);
}

static pid_t start(const char *name, long naps)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	be(name, naps);
	_exit(0);
}

static void children(volatile long nr)
{
	while (nr--) {
		if (!vfork())
			_exit(0);
		wait(NULL);
	}
}

static void at_once(long nr)
{
	int gate[2];
	char byte;

	if (pipe(gate))
		exit(1);
	for (long i = 0; i < nr; i++) {
		if (fork())
			continue;
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) != 0);
	}
	close(gate[1]);
	while (wait(NULL) > 0)
		;
}

/* Only root may say which number was the last one; others take numbers as well. */
static int has_pid(pid_t want, const char *name)
{
	for (int i = 0; i < 1000; i++) {
		FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "w");
		pid_t pid;

		if (!f || fprintf(f, "%d", want - 1) < 0 || fclose(f))
			return 2;
		pid = fork();
		if (!pid && getpid() == want)
			be(name, 10);
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		if (pid == want)
			return 0;
	}
	return 3;
}

static void *thread(void *name)
{
	be(name, 10);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	long number = argc > 3 ? atol(argv[2]) : 0;
	pthread_t id;

	if (!strcmp(what, "sleep")) {
		for (int i = 2; i < argc; i++)
			start(argv[i], -1);
		return pause();
	}
	if (!strcmp(what, "pid"))
		return has_pid((pid_t)number, argv[3]);
	if (getchar() == EOF)
		return 1;
	if (!strcmp(what, "thread"))
		return pthread_create(&id, NULL, thread, argv[2]) || pthread_join(id, NULL);
	if (!strcmp(what, "children"))
		children(number);
	else if (!strcmp(what, "at_once"))
		at_once(number);
	else
		return 1;
	waitpid(start(argv[3], 10), NULL, 0);
	return 0;
}
