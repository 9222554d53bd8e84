// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/define/source.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"

/* Copy the text without backslash-newlines, so that no token contains one. */
static int split_lines(struct tap_source *s, const char *text, size_t len)
{
	unsigned int nr = 1;

	for (size_t i = 0; i < len; i++)
		nr += text[i] == '\n';
	s->text = malloc(len + 1);
	s->lines = calloc(nr, sizeof(*s->lines));
	if (!s->text || !s->lines)
		return -ENOMEM;
	s->nr_lines = 1;
	for (size_t i = 0; i < len; i++) {
		size_t end = i + 1;

		if (text[i] == '\\') {
			while (end < len &&
			       (text[end] == ' ' || text[end] == '\t' || text[end] == '\r'))
				end++;
		}
		if (text[i] == '\\' && end < len && text[end] == '\n')
			i = end;
		else
			s->text[s->len++] = text[i];
		if (text[i] == '\n')
			s->lines[s->nr_lines++] = s->len;
	}
	s->text[s->len] = '\0';
	return 0;
}

int tap_source_add(struct tap_source **list, const char *path, const char *text, size_t len,
		   struct tap_err *err)
{
	struct tap_source *s;

	if (len > TAP_SOURCE_MAX_BYTES)
		return tap_err_set(err, -EFBIG,
				   "definition file '%s' is larger than the limit of %u KiB", path,
				   TAP_SOURCE_MAX_BYTES >> 10);
	if (len && memchr(text, '\0', len))
		return tap_err_set(err, -EINVAL, "definition file '%s' is not a text file", path);
	s = calloc(1, sizeof(*s));
	if (!s)
		return tap_err_nomem(err);
	s->next = *list;
	*list = s;
	s->path = strdup(path);
	return s->path && !split_lines(s, text, len) ? 0 : tap_err_nomem(err);
}

int tap_source_read(struct tap_source **list, const char *path, struct tap_err *err)
{
	struct tap_buf text = { .max = TAP_SOURCE_MAX_BYTES + 1 };
	int ret = tap_buf_read_file(&text, path);
	struct stat st;

	if (ret == -EFBIG)
		ret = tap_source_add(list, path, "", TAP_SOURCE_MAX_BYTES + 1, err);
	else if (ret)
		tap_err_set(err, ret, "cannot read '%s': %s", path, strerror(-ret));
	else
		ret = tap_source_add(list, path, text.data, text.len, err);
	if (!ret && !stat(path, &st)) {
		(*list)->dev = st.st_dev;
		(*list)->ino = st.st_ino;
	}
	tap_buf_release(&text);
	return ret;
}

void tap_source_free(struct tap_source *list)
{
	struct tap_source *next;

	for (; list; list = next) {
		next = list->next;
		free(list->path);
		free(list->text);
		free(list->lines);
		free(list);
	}
}

unsigned int tap_source_line(const struct tap_source *s, uint32_t at)
{
	unsigned int from = 0, to = s->nr_lines;

	while (to - from > 1) {
		unsigned int mid = from + (to - from) / 2;

		if (s->lines[mid] <= at)
			from = mid;
		else
			to = mid;
	}
	return from + 1;
}

#define SHOWN_BEFORE 60
#define SHOWN 76

int tap_source_fail(const struct tap_source *s, uint32_t at, struct tap_err *err, const char *fmt,
		    va_list ap)
{
	unsigned int line = tap_source_line(s, at);
	uint32_t from = s->lines[line - 1], end = line < s->nr_lines ? s->lines[line] : s->len;
	char what[512], shown[SHOWN + 1];

	while (from < at && isspace((unsigned char)s->text[from]))
		from++;
	while (end > from && isspace((unsigned char)s->text[end - 1]))
		end--;
	if (at - from > SHOWN_BEFORE)
		from = at - SHOWN_BEFORE;
	vsnprintf(what, sizeof(what), fmt, ap);
	snprintf(shown, sizeof(shown), "%.*s", (int)(end > from ? end - from : 0), s->text + from);
	for (char *c = shown; *c; c++)
		*c = iscntrl((unsigned char)*c) ? ' ' : *c;
	return tap_err_set(err, -EINVAL, "%s:%u: %s\n %s\n %*s^", s->path, line, what, shown,
			   (int)(at - from), "");
}
