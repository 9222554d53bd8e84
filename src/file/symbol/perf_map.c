// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/symbol/perf_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/text.h"
#include "file/symbol/file.h"

#define MAX_BYTES ((off_t)64 << 20)
#define MAX_STATUS 16384u

/* ---- finding the map ---- */

/*
 * Get a number after @field in /proc/PID/status: the @nr-th, or the last one if there are fewer.
 * Return: false: there is none.
 */
static bool status_number(const char *status, const char *field, unsigned int nr, uint64_t *v)
{
	const char *at = strstr(status, field);
	bool found = false;

	for (at += at ? strlen(field) : 0; at && nr && (*at == '\t' || *at == ' '); nr--) {
		at++;
		if (tap_text_take_digits(&at, NULL, 10, v))
			return false;
		found = true;
	}
	return found;
}

/* Get a process's effective uid, and its pid in its own pid namespace. Return: 0; -errno. */
static int who_is(int tgid, uint64_t *euid, uint64_t *own_pid)
{
	struct tap_buf status = { .max = MAX_STATUS };
	char path[32];
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/status", tgid);
	ret = tap_buf_read_file(&status, path);
	/* newlines in a comm are escaped there, so it cannot imitate a field */
	if (!ret && !status_number(tap_buf_str(&status), "\nUid:", 2, euid))
		ret = -EINVAL;
	if (!ret && !status_number(status.data, "\nNSpid:", UINT32_MAX, own_pid))
		*own_pid = (uint64_t)tgid; /* a kernel without pid namespaces */
	tap_buf_release(&status);
	return ret;
}

int tap_perf_map_open(int tgid)
{
	uint64_t euid, own_pid;
	struct stat st;
	char path[48];
	int ret = who_is(tgid, &euid, &own_pid);

	if (ret)
		return ret;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", (unsigned int)own_pid);
	ret = tap_file_open_in(tgid, path, &st);
	if (ret >= 0 && st.st_uid && st.st_uid != euid) {
		close(ret);
		ret = -EPERM;
	}
	return ret;
}

/* ---- parsing the map ---- */

/* Return the first index from @i on without a name: next[i] is i, or leads towards it. */
static size_t next_open(size_t *next, size_t i)
{
	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

static bool take_hex(const char **at, const char *end, uint64_t *v)
{
	if (end - *at > 2 && **at == '0' && ((*at)[1] | 0x20) == 'x')
		*at += 2;
	return !tap_text_take_digits(at, end, 16, v) && *at < end && *(*at)++ == ' ';
}

static void name_line(const char *line, const char *end, struct tap_named *all, size_t nr,
		      size_t *next)
{
	uint64_t start, size;

	if (!take_hex(&line, end, &start) || !take_hex(&line, end, &size) || line == end ||
	    size > UINT64_MAX - start)
		return;
	for (size_t i = next_open(next, tap_named_find(all, nr, start));
	     i < nr && all[i].at - start < size; i = next_open(next, i)) {
		tap_named_set(&all[i], line, (size_t)(end - line));
		next[i] = i + 1;
	}
}

/*
 * Parse from the last line backwards, so each address is named only once, however many lines
 * contain it.
 */
void tap_perf_map_parse(const char *text, size_t len, struct tap_named *all, size_t nr)
{
	size_t *next = malloc((nr + 1) * sizeof(*next));
	const char *end = text + len;

	if (!next)
		return;
	for (size_t i = 0; i <= nr; i++)
		next[i] = i < nr && all[i].name ? i + 1 : i;
	if (end > text && end[-1] == '\n')
		end--;
	while (end > text) {
		const char *before = memrchr(text, '\n', (size_t)(end - text));

		name_line(before ? before + 1 : text, end, all, nr, next);
		end = before ? before : text;
	}
	free(next);
}

void tap_perf_map_name(int fd, struct tap_named *all, size_t nr)
{
	off_t from = 0, size = lseek(fd, 0, SEEK_END);
	struct tap_buf text = { 0 };

	if (size > MAX_BYTES) {
		from = size - MAX_BYTES;
		size = MAX_BYTES;
	}
	if (size <= 0 || !tap_buf_reserve(&text, (size_t)size))
		return;
	/* a line without its start is skipped */
	if (!tap_pread_all(fd, text.data, (size_t)size, from)) {
		const char *first = from ? memchr(text.data, '\n', (size_t)size) : text.data;

		if (first)
			tap_perf_map_parse(first, (size_t)(text.data + size - first), all, nr);
	}
	tap_buf_release(&text);
}
