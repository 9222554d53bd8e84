// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/kernel/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"

/* Return: false: the path is too long. */
static bool format_path(char path[PATH_MAX], const char *format, va_list args)
{
	int len = vsnprintf(path, PATH_MAX, format, args);

	return len >= 0 && len < PATH_MAX;
}

static bool read_start(char text[TAP_FILE_BYTES], const char *path)
{
	/* a FIFO in place of a file must not block */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t len = 0;
	ssize_t n = -1;

	while (fd >= 0 && len < TAP_FILE_BYTES - 1) {
		n = read(fd, text + len, TAP_FILE_BYTES - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : len] = '\0';
	return n >= 0;
}

bool tap_file_start(char text[TAP_FILE_BYTES], const char *path, ...)
{
	char full[PATH_MAX];
	va_list args;
	bool fits;

	*text = '\0';
	va_start(args, path);
	fits = format_path(full, path, args);
	va_end(args);
	return fits && read_start(text, full);
}

void tap_file_copy(char *to, size_t size, const char *text, size_t len)
{
	size_t i = 0;

	for (; i < len && i < size - 1; i++)
		to[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	to[i] = '\0';
}

bool tap_file_line(char *line, size_t size, const char *path, ...)
{
	char full[PATH_MAX], text[TAP_FILE_BYTES];
	va_list args;
	bool fits;

	va_start(args, path);
	fits = format_path(full, path, args);
	va_end(args);
	if (!fits || !read_start(text, full))
		*text = '\0';
	tap_file_copy(line, size, text, strcspn(text, "\n"));
	return *line;
}

int64_t tap_file_number(const char *path, ...)
{
	char full[PATH_MAX];
	va_list args;
	bool fits;

	va_start(args, path);
	fits = format_path(full, path, args);
	va_end(args);
	return fits ? tap_proc_number(full) : -1;
}
