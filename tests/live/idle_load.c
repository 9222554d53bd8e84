// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * idle_load CPU OTHER PAIRS: makes a task wait for CPU while OTHER may be idle. In each round a
 * victim on CPU is woken by a real-time task that then works there for 5 ms, and sleeps. In every
 * other round the real-time task allows the victim to use OTHER, too, just before it sleeps: too
 * late for the kernel to move it. In the rounds between, the victim may use CPU alone. Prints, as
 * JSON: "victim", its tid; "widened": when it was allowed to use OTHER; "pinned": begin and end of
 * each round between. Times are CLOCK_MONOTONIC. Exit code 3: the user may not have a real-time
 * task.
 */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORK_NS 5000000u
#define MAX_PAIRS 1000
#define MAX_NS 1000000000u /* on a busy machine a pair may take long */

static unsigned int cpu, other;

static unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (unsigned long long)ts.tv_sec * 1000000000u + (unsigned long long)ts.tv_nsec;
}

static void allow(pid_t pid, bool has_other)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (has_other)
		CPU_SET(other, &set);
	if (sched_setaffinity(pid, sizeof(set), &set)) {
		perror("sched_setaffinity");
		exit(1);
	}
}

static void be_victim(int from, int to)
{
	char ball;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpriority(PRIO_PROCESS, 0, -20); /* it does not wait long for others */
	while (read(from, &ball, 1) == 1) {
		allow(0, false);
		if (write(to, &ball, 1) != 1)
			break;
	}
	_exit(0);
}

/* Return: when the victim was allowed to use the other CPU. */
static unsigned long long play(pid_t victim, int to, int from, bool has_other)
{
	unsigned long long end_ns = now_ns() + WORK_NS, allowed_ns = 0;
	char ball = 0;

	if (write(to, &ball, 1) != 1)
		exit(1);
	while (now_ns() < end_ns)
		;
	if (has_other) {
		allow(victim, true);
		allowed_ns = now_ns();
	}
	if (read(from, &ball, 1) != 1)
		exit(1);
	usleep(1000); /* the victim goes to sleep */
	return allowed_ns;
}

int main(int argc, char **argv)
{
	const struct sched_param param = { .sched_priority = 10 };
	static unsigned long long widened[MAX_PAIRS], pinned[MAX_PAIRS][2], end_ns;
	int there[2], back[2], pairs, nr = 0;
	pid_t victim;

	if (argc != 4)
		return 2;
	cpu = (unsigned int)atoi(argv[1]);
	other = (unsigned int)atoi(argv[2]);
	pairs = atoi(argv[3]);
	if (pairs < 1 || pairs > MAX_PAIRS || pipe(there) || pipe(back))
		return 2;
	/* first of all: it does not wait long for CPU itself */
	if (mlockall(MCL_CURRENT) ||
	    sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param)) {
		perror("SCHED_FIFO");
		return 3;
	}
	allow(0, false);
	victim = fork();
	if (!victim)
		be_victim(there[0], back[1]);
	usleep(250000); /* longer than a refresh of a watching program */
	end_ns = now_ns() + MAX_NS;
	for (; nr < pairs && now_ns() < end_ns; nr++) {
		widened[nr] = play(victim, there[1], back[0], true);
		pinned[nr][0] = now_ns();
		play(victim, there[1], back[0], false);
		pinned[nr][1] = now_ns();
	}
	printf("{\"victim\":%d,\"widened\":[", victim);
	for (int i = 0; i < nr; i++)
		printf("%s%llu", i ? "," : "", widened[i]);
	printf("],\"pinned\":[");
	for (int i = 0; i < nr; i++)
		printf("%s[%llu,%llu]", i ? "," : "", pinned[i][0], pinned[i][1]);
	puts("]}");
	close(there[1]);
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	return 0;
}
