// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/user/pid_ns.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "tracepoint/shared.h"

uint64_t tap_pid_ns_own(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? TAP_INITIAL_PID_NS : st.st_ino;
}

/* Return the task's id in its own namespace, the last in the NSpid list; 0 if unknown. */
static int own_number(const char *task)
{
	struct tap_buf text = { .max = 65536 };
	char path[320];
	const char *line = NULL, *last;
	int nr = 0;

	snprintf(path, sizeof(path), "%s/status", task);
	if (!tap_buf_read_file(&text, path))
		line = strstr(tap_buf_str(&text), "\nNSpid:");
	if (line) {
		last = line + strcspn(line + 1, "\n");
		while (last > line && strchr("0123456789", *last))
			last--;
		nr = atoi(last + 1);
	}
	tap_buf_release(&text);
	return nr;
}

/* Return the inode of a task's pid namespace; 0 if it may not be inspected. */
static uint64_t ns_of(const char *task)
{
	char path[320];
	struct stat st;

	snprintf(path, sizeof(path), "%s/ns/pid", task);
	return stat(path, &st) ? 0 : st.st_ino;
}

/*
 * Read the next task of a folder in /proc, and write the task's folder to @task. Return: its id; 0
 * at the end.
 */
static int next_task(DIR *d, const char *folder, char task[static 300])
{
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (*e->d_name < '1' || *e->d_name > '9')
			continue;
		snprintf(task, 300, "%s/%s", folder, e->d_name);
		return atoi(e->d_name);
	}
	return 0;
}

/* The kernel's inodes of namespaces have 32 bits (struct ns_common, inum). */
static uint64_t process_key(uint64_t ns, int pid)
{
	return ns << 32 | (uint32_t)pid;
}

static int walk_processes(struct tap_pid_ns_walk *walk)
{
	uint64_t own = tap_pid_ns_own();
	DIR *d = opendir("/proc");
	char task[300];
	int pid, ret = 0;

	clock_gettime(CLOCK_REALTIME_COARSE, &walk->begun);
	while (!ret && (pid = next_task(d, "/proc", task))) {
		uint64_t ns = ns_of(task);

		if (ns && ns != own)
			ret = tap_map_set(&walk->processes, process_key(ns, own_number(task)),
					  (uint64_t)pid);
	}
	if (d)
		closedir(d);
	walk->made = !ret;
	return ret;
}

int tap_pid_ns_process(struct tap_pid_ns_walk *walk, uint64_t ns, int pid)
{
	int ret = walk->made ? 0 : walk_processes(walk);
	uint64_t *here = ret ? NULL : tap_map_get(&walk->processes, process_key(ns, pid));

	return here ? (int)*here : ret;
}

bool tap_pid_ns_may_miss(const struct tap_pid_ns_walk *walk, const struct timespec *then)
{
	return then->tv_sec > walk->begun.tv_sec ||
	       (then->tv_sec == walk->begun.tv_sec && then->tv_nsec >= walk->begun.tv_nsec);
}

void tap_pid_ns_forget(struct tap_pid_ns_walk *walk)
{
	tap_map_release(&walk->processes);
	*walk = (struct tap_pid_ns_walk){ 0 };
}

uint32_t tap_pid_ns_thread(int pid, uint32_t tid)
{
	char folder[40], task[300];
	DIR *d;
	int nr;

	snprintf(folder, sizeof(folder), "/proc/%d/task", pid);
	d = opendir(folder);
	while ((nr = next_task(d, folder, task)) && own_number(task) != (int)tid)
		;
	if (d)
		closedir(d);
	return (uint32_t)nr;
}
