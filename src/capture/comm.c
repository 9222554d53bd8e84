// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/comm.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

/* Behind a [set], or NULL where it does not end: then '[' is a letter. */
static const char *set_end(const char *p)
{
	p += p[1] == '!' || p[1] == '^' ? 2 : 1;
	do {
		const char kind = *p ? p[1] : '\0', *named = NULL;

		if (*p == '[' && (kind == ':' || kind == '.' || kind == '='))
			for (named = p + 2; *named && !(named[0] == kind && named[1] == ']'); named++)
				;
		if (named && *named)
			p = named + 1;
		else if (*p == '\\' && p[1])
			p++;
		else if (!*p)
			return NULL;
		p++;
	} while (*p != ']');
	return p + 1;
}

static const char *element_end(const char *p)
{
	const char *end = *p == '[' ? set_end(p) : NULL;

	return end ? end : p + (*p == '\\' && p[1] ? 2 : 1);
}

/* Which bytes the element matches: fnmatch() is asked. Return: -ENOMEM, or 0 and @p is behind it. */
static int read_element(const char **p, bool in[256])
{
	const char *end = element_end(*p);
	char *element = strndup(*p, (size_t)(end - *p));

	if (!element)
		return -ENOMEM;
	for (unsigned int c = 0; c < 256; c++)
		in[c] = c && !fnmatch(element, (char[]){ (char)c, '\0' }, 0);
	free(element);
	*p = end;
	return 0;
}

static int add_glob(struct tap_comm_glob *g, const char *p, unsigned int *states)
{
	bool in[256];

	g->start |= 1ULL << *states;
	while (*p) {
		if (*p == '*') {
			g->star |= 1ULL << *states;
			p++;
			continue;
		}
		if (read_element(&p, in))
			return -ENOMEM;
		for (unsigned int c = 0; c < 256; c++)
			g->step[c] |= (unsigned long long)in[c] << *states;
		if (++*states == TAP_COMM_STATES)
			return -E2BIG;
	}
	g->accept |= 1ULL << (*states)++;
	return 0;
}

int tap_comm_glob_make(struct tap_comm_glob *g, const char *const *globs, unsigned int nr)
{
	unsigned int states = 0;
	int ret = 0;

	*g = (struct tap_comm_glob){ 0 };
	for (unsigned int i = 0; i < nr && !ret; i++)
		ret = states < TAP_COMM_STATES ? add_glob(g, globs[i], &states) : -E2BIG;
	return ret;
}

/*
 * ']' and '-' mean themselves in front, the latter as a range; behind ']' it does at the end. '!' does
 * everywhere but in front, and a set of it alone is none.
 */
static void put_set(bool in[256], struct tap_buf *out)
{
	bool negate = in[1], bracket = in[']'] != negate, dash = in['-'] != negate;
	bool mark = in['!'] != negate;

	in[']'] = in['-'] = in['!'] = negate;
	tap_buf_puts(out, negate ? "[!" : "[");
	tap_buf_puts(out, bracket ? "]" : dash ? "---" : "");
	for (unsigned int c = 1, last; c < 256; c = last + 1) {
		for (last = c; last < 255 && in[last + 1] == in[c]; last++)
			;
		if (in[c] == negate)
			continue;
		tap_buf_char(out, (char)c);
		if (last > c + 1)
			tap_buf_char(out, '-');
		if (last > c)
			tap_buf_char(out, (char)last);
	}
	tap_buf_puts(out, mark ? "!" : "");
	tap_buf_puts(out, bracket && dash ? "-]" : "]");
}

static void put_element(bool in[256], bool first, struct tap_buf *out)
{
	unsigned int nr = 0, any = 0;

	for (unsigned int c = 1; c < 256; c++)
		if (in[c]) {
			nr++;
			any = c;
		}
	if (nr == 255) {
		tap_buf_char(out, '?');
	} else if (nr == 1) {
		if (first || strchr("*?[\\", (int)any))
			tap_buf_char(out, '\\');
		tap_buf_char(out, (char)any);
	} else {
		put_set(in, out);
	}
}

/* What begins with "***", '\\', '?' or '[' goes to the kernel's glob_match(), and to nobody else. */
int tap_comm_glob_for_tracefs(const char *glob, struct tap_buf *out)
{
	bool in[256], first = true;

	for (const char *p = glob; *p; first = false) {
		if (*p == '*') {
			tap_buf_puts(out, first ? "***" : "*");
			p++;
		} else if (read_element(&p, in)) {
			return -ENOMEM;
		} else if (!memchr(in, true, sizeof(in))) {
			return -EINVAL;
		} else {
			put_element(in, first, out);
		}
	}
	return 0;
}
