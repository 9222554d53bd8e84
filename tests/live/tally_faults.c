// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tasks that a tally must not count wrongly, for live_faults.t. All of them end with their parent.
 *
 *   tally_faults exec ROUNDS COMMAND...   a thread that is not the leader runs this program again,
 *                                         ROUNDS times, and then the command
 *   tally_faults reuse CGROUP ROUNDS      a process that runs and sleeps for 20 ms, then one with
 *                                         the same tid, and so on, in this cgroup (a folder) and
 *                                         in the parent's in turns
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void work(unsigned int ms)
{
	struct timespec ts;
	double end;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	end = (double)ts.tv_sec + (double)ts.tv_nsec / 1e9 + ms / 1e3;
	do {
		clock_gettime(CLOCK_MONOTONIC, &ts);
	} while ((double)ts.tv_sec + (double)ts.tv_nsec / 1e9 < end);
}

/* ---- exec ---- */

static char **next_command;

static void *run_next(void *unused)
{
	(void)unused;
	usleep(2000); /* let the leader sleep */
	work(1);
	execvp(next_command[0], next_command);
	_exit(127);
}

static int exec_by_thread(char **argv)
{
	char left[16];
	pthread_t thread;
	int rounds = atoi(argv[2]);

	snprintf(left, sizeof(left), "%d", rounds - 1);
	argv[2] = left;
	next_command = rounds > 1 ? argv : argv + 3;
	if (pthread_create(&thread, NULL, run_next, NULL))
		return 1;
	for (;;)
		pause();
}

/* ---- reuse ---- */

static void enter(const char *folder)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	f = fopen(path, "w");
	if (!f || fprintf(f, "%d", getpid()) < 0 || fclose(f))
		_exit(1);
}

static void be_there(const char *cgroup)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (cgroup)
		enter(cgroup);
	for (unsigned int i = 0; i < 5; i++) {
		work(2);
		usleep(2000);
	}
	_exit(0);
}

/* Fork a process with this tid. Other processes may take it: try again. Return: its tid; 0: none.
 */
static pid_t fork_as(pid_t want, const char *cgroup)
{
	for (unsigned int i = 0; i < 100; i++) {
		FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "w");
		pid_t pid;

		if (!f || fprintf(f, "%d", want - 1) < 0 || fclose(f))
			return 0;
		pid = fork();
		if (!pid && getpid() == want)
			be_there(cgroup);
		if (!pid)
			_exit(0);
		if (pid == want)
			return pid;
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/* Print the tid, and how many processes had it. */
static int reuse(const char *cgroup, int rounds)
{
	pid_t first = fork();
	int had = 1;

	if (!first)
		be_there(cgroup);
	waitpid(first, NULL, 0);
	for (int i = 1; i < rounds; i++) {
		had += fork_as(first, i % 2 ? NULL : cgroup) == first;
		while (waitpid(-1, NULL, 0) > 0)
			;
	}
	printf("%d %d\n", first, had);
	return 0;
}

int main(int argc, char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc > 3 && !strcmp(argv[1], "exec"))
		return exec_by_thread(argv);
	if (argc == 4 && !strcmp(argv[1], "reuse"))
		return reuse(argv[2], atoi(argv[3]));
	return 2;
}
