// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/text.h"

#define STAT_START 22 /* field numbers of /proc/PID/stat, as in proc(5) */
#define STAT_PARENT 4
#define STAT_FLAGS 9
#define PF_EXITING 0x4u /* include/linux/sched.h */

int64_t tap_proc_number(const char *path)
{
	struct tap_buf b = { .max = 4096 };
	int64_t v = -1;

	if (!tap_buf_read_file(&b, path) && b.len) {
		b.data[strcspn(tap_buf_str(&b), "\n")] = '\0';
		tap_text_parse_int(b.data, 0, INT64_MAX, &v); /* v stays -1 on failure */
	}
	tap_buf_release(&b);
	return v;
}

const char *tap_proc_line(const char *text, const char *key)
{
	while (text && strncmp(text, key, strlen(key)) != 0) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text ? text + strlen(key) : NULL;
}

int tap_proc_value(const char *text, const char *key, uint64_t *value)
{
	const char *at = tap_proc_line(text, key);

	return at && !tap_text_take_digits(&at, NULL, 10, value) ? 0 : -EBADMSG;
}

unsigned int tap_proc_numbers(const char **at, uint64_t *v, unsigned int max)
{
	unsigned int nr = 0;

	for (; nr < max; nr++) {
		*at += strspn(*at, " ");
		if (tap_text_take_digits(at, NULL, 10, &v[nr]))
			break;
	}
	return nr;
}

int tap_proc_throttled(const char *text, uint64_t *ns)
{
	uint64_t us;

	if (tap_proc_value(text, "throttled_usec ", &us))
		return tap_proc_value(text, "throttled_time ", ns);
	return __builtin_mul_overflow(us, 1000, ns) ? -ERANGE : 0;
}

int tap_proc_parse_schedstat(const char *text, struct tap_proc_schedstat *s)
{
	uint64_t v[3];

	if (tap_proc_numbers(&text, v, 3) < 3)
		return -EBADMSG;
	*s = (struct tap_proc_schedstat){ v[0], v[1], v[2] };
	return 0;
}

size_t tap_proc_comm(const char *path, char *comm, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? 0 : read(fd, comm, size - 1);

	if (fd >= 0)
		close(fd);
	comm[len > 0 ? len : 0] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	return strlen(comm);
}

/* Read field @nr of the text of a /proc/PID/stat file. Fields count as in proc(5). */
static int stat_field(const char *stat, int nr, uint64_t *value)
{
	const char *s = strrchr(stat, ')'); /* the comm field may contain spaces and parentheses */

	for (int field = 2; s && field < nr; field++) {
		s = strchr(s, ' ');
		s = s ? s + 1 : NULL;
	}
	return s && !tap_text_take_digits(&s, NULL, 10, value) ? 0 : -EINVAL;
}

int tap_proc_start(const char *stat, uint64_t *start)
{
	return stat_field(stat, STAT_START, start);
}

static int read_stat_field(pid_t pid, int nr, uint64_t *value)
{
	struct tap_buf stat = { .max = 1 << 16 };
	char path[32];
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	ret = tap_buf_read_file(&stat, path);
	if (!ret)
		ret = stat_field(tap_buf_str(&stat), nr, value);
	tap_buf_release(&stat);
	return ret;
}

int tap_proc_read_start(pid_t pid, uint64_t *start)
{
	return read_stat_field(pid, STAT_START, start);
}

pid_t tap_proc_parent(pid_t pid)
{
	uint64_t parent;

	return read_stat_field(pid, STAT_PARENT, &parent) ? 0 : (pid_t)parent;
}

bool tap_proc_has_ended(pid_t pid)
{
	uint64_t flags;
	int ret = read_stat_field(pid, STAT_FLAGS, &flags);

	return ret ? ret == -ENOENT || ret == -ESRCH : flags & PF_EXITING;
}

int tap_proc_lock_holder(const struct stat *st)
{
	char line[256], inode[32];
	FILE *f = fopen("/proc/locks", "re");
	int pid = 0;

	if (!f)
		return 0;
	snprintf(inode, sizeof(inode), ":%llu ", (unsigned long long)st->st_ino);
	while (!pid && fgets(line, sizeof(line), f)) {
		if (strstr(line, inode))
			sscanf(line, "%*d: FLOCK %*s WRITE %d", &pid);
	}
	fclose(f);
	return pid > 0 ? pid : 0;
}
