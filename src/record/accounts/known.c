// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/accounts/known.h"

#include <errno.h>

#include "base/proc.h"
#include "base/text.h"

struct tap_known tap_known_value(int err, const char *text, const char *key)
{
	struct tap_known n = { .err = err };

	if (!err)
		n.err = tap_proc_value(text, key, &n.v);
	if (n.err)
		n.v = 0;
	return n;
}

struct tap_known tap_known_times(struct tap_known n, uint64_t factor)
{
	if (__builtin_mul_overflow(n.v, factor, &n.v))
		return (struct tap_known){ .err = -ERANGE };
	return n;
}

struct tap_known tap_known_since(struct tap_known before, struct tap_known now)
{
	if (before.err || now.err)
		return (struct tap_known){ .err = now.err ?: before.err };
	if (now.v < before.v)
		return (struct tap_known){ .err = -ERANGE };
	return (struct tap_known){ .v = now.v - before.v };
}

struct tap_known tap_known_pressure(int err, const char *text)
{
	static const char key[] = "total=";
	const char *some = err ? NULL : tap_proc_line(text, "some ");
	const char *at = some ? strstr(some, key) : NULL;
	struct tap_known us = { .err = err ?: -EBADMSG };

	if (!at || memchr(some, '\n', (size_t)(at - some)))
		return us;
	at += strlen(key);
	if (tap_text_take_digits(&at, NULL, 10, &us.v))
		return (struct tap_known){ .err = -EBADMSG };
	us.err = 0;
	return tap_known_times(us, 1000);
}

struct tap_known tap_known_throttled(int err, const char *text)
{
	struct tap_known ns = { .err = err };

	if (!err)
		ns.err = tap_proc_throttled(text, &ns.v);
	if (ns.err)
		ns.v = 0;
	return ns;
}

int tap_known_read(struct tap_buf *text, const char *path)
{
	int ret;

	tap_buf_clear(text);
	ret = tap_buf_read_file(text, path);
	tap_buf_str(text); /* every text that is parsed ends with a NUL */
	return ret ?: text->err;
}
