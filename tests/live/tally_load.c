// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tally_load CGROUP WORK_US SLEEP_US SECONDS: enters the cgroup (a folder), works and sleeps in
 * turns, and leaves for the folder above. Prints what the kernel has counted of it, as JSON: time
 * that it ran and waited (/proc/PID/schedstat), and voluntary and other switches
 * (/proc/PID/status). Each is a pair: what it did while it certainly was in the cgroup, and from
 * before it entered until after it had left. "entered_ns": CLOCK_MONOTONIC.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct counts {
	unsigned long long run_ns, wait_ns, waking, preempted;
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void enter(const char *folder, const char *below)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s/cgroup.procs", folder, below);
	f = fopen(path, "w");
	if (!f || fprintf(f, "%d", getpid()) < 0 || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static struct counts count(void)
{
	struct counts c = { 0 };
	char line[256];
	FILE *f = fopen("/proc/self/schedstat", "r");

	if (!f || fscanf(f, "%llu %llu", &c.run_ns, &c.wait_ns) != 2)
		exit(1);
	fclose(f);
	f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "voluntary_ctxt_switches: %llu", &c.waking);
		sscanf(line, "nonvoluntary_ctxt_switches: %llu", &c.preempted);
	}
	fclose(f);
	return c;
}

int main(int argc, char **argv)
{
	struct counts c[4]; /* before it enters, in the cgroup, at the end, after it has left */
	double entered_s, end_s;

	if (argc != 5)
		return 2;
	c[0] = count();
	enter(argv[1], "");
	c[1] = count();
	entered_s = now_s();
	for (end_s = now_s() + atof(argv[4]); now_s() < end_s; usleep((useconds_t)atoi(argv[3])))
		for (double until_s = now_s() + atof(argv[2]) / 1e6; now_s() < until_s;)
			;
	c[2] = count();
	enter(argv[1], "/..");
	c[3] = count();
	printf("{\"entered_ns\":%.0f,\"run_ns\":[%llu,%llu],\"wait_ns\":[%llu,%llu],"
	       "\"waking\":[%llu,%llu],\"preempted\":[%llu,%llu]}\n",
	       entered_s * 1e9, c[2].run_ns - c[1].run_ns, c[3].run_ns - c[0].run_ns,
	       c[2].wait_ns - c[1].wait_ns, c[3].wait_ns - c[0].wait_ns, c[2].waking - c[1].waking,
	       c[3].waking - c[0].waking, c[2].preempted - c[1].preempted,
	       c[3].preempted - c[0].preempted);
	return 0;
}
