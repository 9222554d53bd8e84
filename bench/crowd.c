// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Load: many cgroups with many threads, each of which wakes once a second. Before that each process
 * works for 20 ms, so that it is preempted, too. crowd FOLDER CGROUPS THREADS: makes the folder in
 * a cgroup hierarchy, says "ready" on stdout, and removes all when stdin ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORK_NS 20000000
#define STACK_BYTES 16384
#define MAX_CGROUPS 60000

static void fail(const char *what)
{
	fprintf(stderr, "crowd: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *wake(void *arg)
{
	for (;;)
		sleep(1);
	return arg;
}

static void work(void)
{
	struct timespec used;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	while (!used.tv_sec && used.tv_nsec < WORK_NS);
}

static void join_cgroup(const char *folder)
{
	int fd = chdir(folder) ? -1 : open("cgroup.procs", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) != 1 || chdir("/"))
		fail(folder);
	close(fd);
}

static void name_cgroup(char path[PATH_MAX], const char *folder, int nr)
{
	snprintf(path, PATH_MAX, "%s/%d", folder, nr);
}

static pid_t start_process(const char *folder, int nr, int threads)
{
	char path[PATH_MAX];
	pthread_attr_t attr;
	pthread_t t;
	pid_t pid;

	name_cgroup(path, folder, nr);
	if (mkdir(path, 0755))
		fail(path);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	join_cgroup(path);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (int i = 1; i < threads; i++)
		if ((errno = pthread_create(&t, &attr, wake, NULL)))
			fail("pthread_create");
	work();
	wake(NULL);
	_exit(1);
}

static void remove_all(const char *folder, pid_t *pids, int nr)
{
	char path[PATH_MAX];

	for (int i = 0; i < nr; i++)
		kill(pids[i], SIGKILL);
	for (int i = 0; i < nr; i++) {
		waitpid(pids[i], NULL, 0);
		name_cgroup(path, folder, i);
		rmdir(path);
	}
	rmdir(folder);
}

int main(int argc, char **argv)
{
	int nr = argc == 4 ? atoi(argv[2]) : 0, threads = argc == 4 ? atoi(argv[3]) : 0;
	pid_t *pids;
	char c;

	if (nr < 1 || nr > MAX_CGROUPS || threads < 1)
		return 2;
	pids = calloc((size_t)nr, sizeof(*pids));
	if (!pids || mkdir(argv[1], 0755))
		fail(argv[1]);
	/* a signal to the whole job also ends stdin, and then the cgroups are removed */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	for (int i = 0; i < nr; i++)
		pids[i] = start_process(argv[1], i, threads);
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	remove_all(argv[1], pids, nr);
	return 0;
}
