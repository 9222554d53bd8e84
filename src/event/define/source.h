/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file of definitions, and errors that point into it. */
#ifndef TAP_DEFINE_SOURCE_H
#define TAP_DEFINE_SOURCE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <schedtap/err.h>

#define TAP_SOURCE_MAX_BYTES (1u << 20)

struct tap_source {
	struct tap_source *next;
	char *path;
	char *text; /* with a NUL; lines that a backslash continues are joined */
	uint32_t len;
	uint32_t *lines; /* where each line of the file begins in it */
	unsigned int nr_lines;
	dev_t dev; /* of the file; 0 of a text that comes from none */
	ino_t ino;
};

/*
 * Both add to the list at *list, which owns it.
 * Return: 0; -EFBIG above the bound; -EINVAL of what is no text; -errno of open or read; -ENOMEM.
 */
int tap_source_read(struct tap_source **list, const char *path, struct tap_err *err);
int tap_source_add(struct tap_source **list, const char *path, const char *text, size_t len,
		   struct tap_err *err);
void tap_source_free(struct tap_source *list);

unsigned int tap_source_line(const struct tap_source *s, uint32_t at); /* from 1 */

/* "PATH:LINE: sentence", that line and a caret below what is at @at. Return: -EINVAL. */
int tap_source_fail(const struct tap_source *s, uint32_t at, struct tap_err *err, const char *fmt,
		    va_list ap);

#endif
