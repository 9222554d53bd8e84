// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/tracefs/instance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/refusal.h"
#include "base/text.h"

#define MAX_TRIES 10 /* a try fails if a sweep removes the new instance within microseconds */
#define REMOVE_TRIES 50 /* one each 10 ms */

static int instance_path(const struct tap_instance *in, char *path, const char *file, va_list ap)
{
	int len = snprintf(path, PATH_MAX, "%s/", in->path), more;

	if (len >= PATH_MAX)
		return -ENAMETOOLONG;
	more = vsnprintf(path + len, (size_t)(PATH_MAX - len), file, ap);
	return more < PATH_MAX - len ? 0 : -ENAMETOOLONG;
}

static int open_file(const struct tap_instance *in, int flags, const char *file, va_list ap)
{
	char path[PATH_MAX];
	int ret = instance_path(in, path, file, ap), fd = ret ? -1 : open(path, flags | O_CLOEXEC);

	return ret ? ret : fd < 0 ? -errno : fd;
}

int tap_instance_open(const struct tap_instance *in, int flags, const char *file, ...)
{
	va_list ap;
	int fd;

	va_start(ap, file);
	fd = open_file(in, flags, file, ap);
	va_end(ap);
	return fd;
}

int tap_instance_put(const struct tap_instance *in, const char *text, const char *file, ...)
{
	va_list ap;
	int ret, fd;

	va_start(ap, file);
	fd = open_file(in, O_WRONLY, file, ap);
	va_end(ap);
	if (fd < 0)
		return fd;
	ret = tap_write_all(fd, text, strlen(text));
	close(fd);
	return ret;
}

int tap_instance_get(const struct tap_instance *in, struct tap_buf *text, const char *file, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int ret;

	va_start(ap, file);
	ret = instance_path(in, path, file, ap);
	va_end(ap);
	return ret ?: tap_buf_read_file(text, path);
}

bool tap_instance_owner(const char *name, pid_t *pid, uint64_t *start)
{
	static const char prefix[] = "schedtap-";
	uint64_t p;

	if (strncmp(name, prefix, sizeof(prefix) - 1))
		return false;
	name += sizeof(prefix) - 1;
	if (tap_text_take_digits(&name, NULL, 10, &p) || !p || p > INT_MAX || *name++ != '-')
		return false;
	*pid = (pid_t)p;
	return !tap_text_take_digits(&name, NULL, 10, start) && !*name;
}

static bool is_left_over(const char *name)
{
	uint64_t start, now;
	pid_t pid;
	int ret;

	if (!tap_instance_owner(name, &pid, &start))
		return false;
	ret = tap_proc_read_start(pid, &now);
	return ret == -ENOENT || ret == -ESRCH || (!ret && now != start);
}

/*
 * rmdir() also switches off the events. The kernel refuses it while a file of the instance is open,
 * as with a recorder in another pid namespace, whose pid is not visible here.
 */
void tap_instance_sweep(const char *root)
{
	char path[PATH_MAX];
	struct dirent *ent;
	DIR *dir;

	if (snprintf(path, sizeof(path), "%s/instances", root) >= (int)sizeof(path))
		return;
	dir = opendir(path);
	if (!dir)
		return;
	while ((ent = readdir(dir)))
		if (is_left_over(ent->d_name))
			unlinkat(dirfd(dir), ent->d_name, AT_REMOVEDIR);
	closedir(dir);
}

static int make_dir(struct tap_instance *in, struct tap_err *err)
{
	int ret = mkdir(in->path, 0700), error;

	/* an earlier recording of this process could not remove it */
	if (ret && errno == EEXIST && !rmdir(in->path))
		ret = mkdir(in->path, 0700);
	if (!ret)
		return 0;
	error = errno;
	switch (error) {
	case EBUSY:
		return tap_err_set(err, -error, "this process already records over tracefs");
	case ENOENT:
		return tap_err_set(err, -EOPNOTSUPP,
				   "the kernel does not support tracefs instances");
	default:
		return tap_err_set(err, -error, "cannot make a trace instance: %s",
				   tap_refusal(TAP_STEP_TRACEFS_INSTANCE, error).text);
	}
}

/*
 * A new instance inherits options of the top level that users may have changed, so set them.
 * Without "overwrite", sub-buffers do not show where events were lost. Stack traces would be
 * events that were not selected, so they are off. "disable_on_free" is on: the kernel itself
 * stops tracing and frees the buffer when free_buffer is closed, even by SIGKILL.
 */
static int set_up(struct tap_instance *in, struct tap_err *err)
{
	static const struct {
		const char *file, *text;
		bool optional;
	} table[] = {
		{ "tracing_on", "0" },
		{ "trace_clock", "mono" },
		{ "options/overwrite", "1" },
		{ "options/stacktrace", "0", true },
		{ "options/userstacktrace", "0", true },
		{ "options/record-tgid", "0", true },
		{ "options/disable_on_free", "1", true },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		int ret = tap_instance_put(in, table[i].text, "%s", table[i].file);

		if (ret && (ret != -ENOENT || !table[i].optional))
			return tap_err_set(err, ret,
					   "cannot set '%s' of the trace instance to %s: %s",
					   table[i].file, table[i].text, strerror(-ret));
	}
	return 0;
}

static void forget_path(struct tap_instance *in)
{
	free(in->path);
	in->path = NULL;
}

/* Make the folder, open the file that keeps it from being removed, and change the settings. */
static int make_guarded(struct tap_instance *in, struct tap_err *err)
{
	int ret = make_dir(in, err);

	if (ret)
		return ret;
	in->guard = tap_instance_open(in, O_WRONLY, "free_buffer");
	if (in->guard < 0)
		ret = tap_err_set(err, in->guard, "cannot open a new trace instance: %s",
				  strerror(-in->guard));
	ret = ret ?: set_up(in, err);
	if (ret && in->guard >= 0)
		close(in->guard);
	if (ret)
		in->guard = -1;
	return ret;
}

/*
 * Return: whether a recorder in another pid namespace, to which this process is invisible, removed
 * the instance before its guard was open.
 */
static bool is_swept(int ret)
{
	return ret == -ENOENT || ret == -ENODEV;
}

int tap_instance_make(const char *root, struct tap_instance *in, struct tap_err *err)
{
	unsigned int tries = 0;
	uint64_t start;
	int ret;

	*in = (struct tap_instance){ .guard = -1 };
	ret = tap_proc_read_start(getpid(), &start);
	if (ret)
		return tap_err_set(err, ret, "cannot read '/proc/%d/stat': %s", getpid(),
				   strerror(-ret));
	if (asprintf(&in->path, "%s/instances/schedtap-%d-%" PRIu64, root, getpid(), start) < 0) {
		in->path = NULL;
		return tap_err_nomem(err);
	}
	do
		ret = make_guarded(in, err);
	while (is_swept(ret) && ++tries < MAX_TRIES);
	if (ret) {
		rmdir(in->path);
		forget_path(in);
	}
	return ret;
}

void tap_instance_remove(struct tap_instance *in)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	unsigned int tries = 0;
	int ret;

	if (!in->path)
		return;
	/* if another process has a file open, rmdir() fails: at least stop its events */
	tap_instance_put(in, "0", "events/enable");
	if (in->guard >= 0)
		close(in->guard);
	in->guard = -1;
	/* it may only have looked at the file */
	while ((ret = rmdir(in->path)) && errno == EBUSY && tries++ < REMOVE_TRIES)
		nanosleep(&pause, NULL);
	if (!ret)
		forget_path(in);
}

void tap_instance_release(struct tap_instance *in)
{
	if (in->path)
		rmdir(in->path);
	forget_path(in);
}
