// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/probes.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "file/symbol/maps.h"
#include "record/program/probe.h"

static void print_line(const char *source, const char *text, size_t len)
{
	struct tap_buf line = { 0 };

	tap_text_escape(&line, text, len);
	printf("%-9s %s\n", source, tap_buf_str(&line));
	tap_buf_release(&line);
}

int tap_probes_print(const char *path, struct tap_err *err)
{
	struct tap_buf lines = { 0 };
	int ret = tap_probe_list(path, &lines, err);

	for (const char *line = tap_buf_str(&lines), *end; !ret && *line; line = end + 1) {
		end = strchr(line, '\n');
		print_line("usdt", line, (size_t)(end - line));
	}
	tap_buf_release(&lines);
	return ret;
}

/* Return true if an earlier mapping has the same file. */
static bool was_before(const struct tap_maps *m, unsigned int index)
{
	for (unsigned int i = 0; i < index; i++)
		if (m->all[i].ino == m->all[index].ino && m->all[i].dev == m->all[index].dev)
			return true;
	return false;
}

/* Print a file's probes. If it cannot be read, print the reason: it may have probes. */
static unsigned int print_file(const char *root, const char *name)
{
	struct tap_err err = { 0 };
	char path[PATH_MAX + 64];
	size_t len = strlen(name), tail = strlen(" (deleted)");
	int ret;

	snprintf(path, sizeof(path), "%s%s", root, name);
	if (len > tail && !strcmp(name + len - tail, " (deleted)"))
		ret = tap_err_set(&err, -ENOENT, "%s: its probes cannot be listed", path);
	else
		ret = tap_probes_print(path, &err);
	if (ret && ret != -ENODATA)
		print_line("-", err.text, strlen(err.text));
	return !ret;
}

/* Return the path prefix for the process's mount namespace: "" if it is ours. */
static void find_root(pid_t pid, char root[32])
{
	struct stat ours, its;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	*root = '\0';
	if (!stat("/proc/self/ns/mnt", &ours) && !stat(path, &its) && ours.st_ino != its.st_ino)
		snprintf(root, 32, "/proc/%d/root", pid);
}

static int report_failure(pid_t pid, int ret, struct tap_err *err)
{
	switch (ret) {
	case -ENOENT:
	case -ESRCH:
		return tap_err_set(err, -ESRCH, "there is no process %d", pid);
	case -EACCES:
	case -EPERM:
		return tap_err_set(err, -EACCES,
				   "cannot read which files process %d has mapped: it is another "
				   "user's: run as root",
				   pid);
	default:
		return tap_err_set(err, ret, "cannot read '/proc/%d/maps': %s", pid,
				   strerror(-ret));
	}
}

int tap_probes_print_process(pid_t pid, unsigned int *nr, struct tap_err *err)
{
	struct tap_maps m = { 0 };
	char root[32];
	int ret = tap_maps_read(&m, pid);

	*nr = 0;
	find_root(pid, root);
	for (unsigned int i = 0; !ret && i < m.nr; i++) {
		const char *path = tap_mapping_path(&m, &m.all[i]);

		if (*path == '/' && m.all[i].ino && !was_before(&m, i))
			*nr += print_file(root, path);
	}
	tap_maps_release(&m);
	return ret ? report_failure(pid, ret, err) : 0;
}
