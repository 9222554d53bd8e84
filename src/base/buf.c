// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/digits.h"

void tap_buf_release(struct tap_buf *b)
{
	free(b->data);
	*b = (struct tap_buf){ .max = b->max };
}

/*
 * Record an error. Setting cap to len makes every later add reach tap_buf_reserve_slow(), which
 * then refuses it.
 */
static int set_error(struct tap_buf *b, int err)
{
	b->err = err;
	b->cap = b->len;
	return 0;
}

int tap_buf_reserve_slow(struct tap_buf *b, size_t more)
{
	size_t max = b->max ? b->max : TAP_BUF_MAX;
	size_t cap = b->cap ? b->cap : 256;
	char *data;

	if (b->err)
		return 0;
	if (b->len > max || more > max - b->len)
		return set_error(b, -EFBIG);
	while (cap < b->len + more)
		cap *= 2;
	if (cap > max)
		cap = max;
	data = realloc(b->data, cap);
	if (!data)
		return set_error(b, -ENOMEM);
	b->data = data;
	b->cap = cap;
	return 1;
}

void tap_buf_printf(struct tap_buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int len;

	va_start(ap, fmt);
	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len >= 0 && tap_buf_reserve(b, (size_t)len + 1)) {
		vsnprintf(b->data + b->len, (size_t)len + 1, fmt, again);
		b->len += (size_t)len;
	}
	va_end(again);
}

void tap_buf_u64(struct tap_buf *b, uint64_t v)
{
	unsigned int len = tap_nr_digits(v);

	if (!tap_buf_reserve(b, len))
		return;
	b->len += len;
	tap_digits_before(b->data + b->len, v);
}

void tap_buf_s64(struct tap_buf *b, int64_t v)
{
	if (v < 0)
		tap_buf_char(b, '-');
	tap_buf_u64(b, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/*
 * FLT_DIG or DBL_DIG digits may be too few to read back the same number; FLT_DECIMAL_DIG or
 * DBL_DECIMAL_DIG always suffice. Take the shortest that works.
 */
void tap_buf_real(struct tap_buf *b, double v, bool is_float)
{
	int digits = is_float ? FLT_DIG : DBL_DIG,
	    most = is_float ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
	char tmp[32] = "nan"; /* not by printf(), which would print a NaN's sign */
	double back;

	while (!isnan(v) && digits <= most) {
		snprintf(tmp, sizeof(tmp), "%.*g", digits++, v);
		back = is_float ? (double)strtof(tmp, NULL) : strtod(tmp, NULL);
		if (back == v)
			break;
	}
	tap_buf_puts(b, tmp);
}

const char *tap_buf_str(struct tap_buf *b)
{
	if (!tap_buf_reserve(b, 1))
		return "";
	b->data[b->len] = '\0';
	return b->data;
}

int tap_buf_read_file(struct tap_buf *b, const char *path)
{
	size_t max = b->max ? b->max : TAP_BUF_MAX;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		size_t room = max - b->len < 4096 ? max - b->len : 4096;
		char more;

		if (!tap_buf_reserve(b, room))
			break;
		/* buffer full at its maximum size: check whether the file ends here too */
		n = room ? read(fd, b->data + b->len, room) : read(fd, &more, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (!room) {
			set_error(b, -EFBIG);
			break;
		}
		b->len += (size_t)n;
	}
	n = n < 0 ? -errno : b->err;
	close(fd);
	return (int)n;
}

int tap_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int tap_pwrite_all(int fd, const void *data, size_t len, uint64_t offset)
{
	const char *p = data;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int tap_pread_all(int fd, void *data, size_t len, off_t offset)
{
	char *p = data;

	while (len) {
		ssize_t n = pread(fd, p, len, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENODATA;
		p += n;
		offset += n;
		len -= (size_t)n;
	}
	return 0;
}

off_t tap_find_data(int fd, off_t from, off_t end)
{
	off_t data = lseek(fd, from, SEEK_DATA);

	if (data < 0 && errno != ENXIO)
		return from; /* the file system does not support SEEK_DATA */
	return data < 0 || data > end ? end : data;
}
