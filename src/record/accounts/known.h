/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers that the kernel may not give, and the files that they come from. */
#ifndef TAP_RECORD_ACCOUNTS_KNOWN_H
#define TAP_RECORD_ACCOUNTS_KNOWN_H

#include <stdint.h>

#include "base/buf.h"

/* A number, or why it is unknown. */
struct tap_known {
	uint64_t v; /* 0 if it is unknown */
	/*
	 * 0: it is known. -errno: its file cannot be read. -EBADMSG: the file's text is not what
	 * the kernel writes there. -ERANGE: it decreased, or does not fit into 64 bits.
	 */
	int err;
};

/* Read the number after @key at the beginning of a line. @err: of reading the text, or 0. */
struct tap_known tap_known_value(int err, const char *text, const char *key);
/* Return @n times @factor. */
struct tap_known tap_known_times(struct tap_known n, uint64_t factor);
/* Return @now minus @before; unknown if one of them is, or if @now is less. */
struct tap_known tap_known_since(struct tap_known before, struct tap_known now);

/*
 * Read the total time of tasks that waited for a CPU out of a pressure file (PSI, since v4.20):
 * "some ... total=US". Return: ns.
 */
struct tap_known tap_known_pressure(int err, const char *text);

/* As tap_proc_throttled(). @err: of reading the text, or 0. */
struct tap_known tap_known_throttled(int err, const char *text);

/* Replace @text by a file's. Return: 0; -errno. */
int tap_known_read(struct tap_buf *text, const char *path);

#endif
