/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A growing byte buffer with a maximum size. Functions that add data do not return errors: the
 * first failure (-ENOMEM, or -EFBIG above the maximum) is stored in .err, later additions do
 * nothing, and the caller checks .err once, at the end.
 */
#ifndef TAP_BASE_BUF_H
#define TAP_BASE_BUF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include <schedtap/err.h>

struct tap_buf {
	char *data; /* owned; not NUL-terminated unless tap_buf_str() was called */
	size_t len, cap;
	size_t max; /* bytes; 0: TAP_BUF_MAX */
	int err; /* 0 or the first -errno */
};

#define TAP_BUF_MAX ((size_t)1 << 30)

void tap_buf_release(struct tap_buf *b);
/* Make room for @more bytes. Return: 1 if there is room, 0 on failure (.err is set). */
int tap_buf_reserve_slow(struct tap_buf *b, size_t more);

static inline int tap_buf_reserve(struct tap_buf *b, size_t more)
{
	return more <= b->cap - b->len || tap_buf_reserve_slow(b, more);
}

static inline void tap_buf_clear(struct tap_buf *b)
{
	b->len = 0;
	b->err = 0;
}

static inline void tap_buf_add(struct tap_buf *b, const void *data, size_t len)
{
	if (len && tap_buf_reserve(b, len)) {
		memcpy(b->data + b->len, data, len);
		b->len += len;
	}
}

/* Add @n spaces. */
static inline void tap_buf_blanks(struct tap_buf *b, size_t n)
{
	if (!n || !tap_buf_reserve(b, n))
		return;
	memset(b->data + b->len, ' ', n);
	b->len += n;
}

static inline void tap_buf_char(struct tap_buf *b, char c)
{
	if (tap_buf_reserve(b, 1))
		b->data[b->len++] = c;
}

static inline void tap_buf_puts(struct tap_buf *b, const char *s)
{
	tap_buf_add(b, s, strlen(s));
}

void tap_buf_printf(struct tap_buf *b, const char *fmt, ...) TAP_PRINTF(2, 3);
void tap_buf_u64(struct tap_buf *b, uint64_t v); /* decimal */
/*
 * Add the shortest decimal that reads back as @v (as a float if @is_float), or "inf", "-inf" or
 * "nan".
 */
void tap_buf_real(struct tap_buf *b, double v, bool is_float);
void tap_buf_s64(struct tap_buf *b, int64_t v);
/* Add a terminating NUL, which .len does not count. Return: the text, or "" on failure. */
const char *tap_buf_str(struct tap_buf *b);

/*
 * Append all of @path, including files whose size the kernel does not report (tracefs, /proc).
 * Return: 0; -EFBIG above @b's maximum size; -errno of open() or read().
 */
int tap_buf_read_file(struct tap_buf *b, const char *path);

/* Write all of @data; retry after short writes and EINTR. Return: 0 or -errno. */
int tap_write_all(int fd, const void *data, size_t len);
/* Write all of @data at @offset; retry after short writes and EINTR. Return: 0 or -errno. */
int tap_pwrite_all(int fd, const void *data, size_t len, uint64_t offset);
/* Read exactly @len bytes at @offset. Return: 0; -ENODATA if the file ends earlier; -errno. */
int tap_pread_all(int fd, void *data, size_t len, off_t offset);
/*
 * Find the first offset at or after @from that does not lie in a hole of the file. Return: the
 * offset, at most @end; @from if the file system cannot report holes.
 */
off_t tap_find_data(int fd, off_t from, off_t end);

#endif
