/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files with definitions, and errors that point into them. */
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
	/* NUL-terminated; lines that end with a backslash are joined with the next one */
	char *text;
	uint32_t len;
	uint32_t *lines; /* where each line of the file starts in .text */
	unsigned int nr_lines;
	dev_t dev; /* the file's device; 0 if the text does not come from a file */
	ino_t ino;
};

/*
 * Add a file or a text to the list at *list, which owns it. Return: 0; -EFBIG above
 * TAP_SOURCE_MAX_BYTES; -EINVAL if it is not a text; -errno of open or read; -ENOMEM.
 */
int tap_source_read(struct tap_source **list, const char *path, struct tap_err *err);
int tap_source_add(struct tap_source **list, const char *path, const char *text, size_t len,
		   struct tap_err *err);
void tap_source_free(struct tap_source *list);

unsigned int tap_source_line(const struct tap_source *s, uint32_t at); /* 1 is the first line */

/*
 * Report an error: "PATH:LINE: sentence", the line, and a caret below the character at @at. Return:
 * -EINVAL.
 */
int tap_source_fail(const struct tap_source *s, uint32_t at, struct tap_err *err, const char *fmt,
		    va_list ap);

#endif
