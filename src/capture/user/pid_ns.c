// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/user/pid_ns.h"

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

/* The task's number in the innermost namespace: the last in its list. Return: 0: not known. */
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

/* Return: whether the process is in the namespace. */
static int is_in(const char *task, uint64_t ns)
{
	char path[320];
	struct stat st;

	snprintf(path, sizeof(path), "%s/ns/pid", task);
	return !stat(path, &st) && st.st_ino == ns;
}

/* @ns: 0: any. Return: the first of a folder's tasks that has @nr there; 0. */
static int find_task(const char *folder, uint64_t ns, int nr)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	char task[300];
	int found = 0;

	while (d && !found && (e = readdir(d))) {
		snprintf(task, sizeof(task), "%s/%s", folder, e->d_name);
		if (*e->d_name >= '1' && *e->d_name <= '9' && (!ns || is_in(task, ns)) && own_number(task) == nr)
			found = atoi(e->d_name);
	}
	if (d)
		closedir(d);
	return found;
}

int tap_pid_ns_process(uint64_t ns, int pid)
{
	return find_task("/proc", ns, pid);
}

uint32_t tap_pid_ns_thread(int pid, uint32_t tid)
{
	char folder[40];

	snprintf(folder, sizeof(folder), "/proc/%d/task", pid);
	return (uint32_t)find_task(folder, 0, (int)tid);
}
