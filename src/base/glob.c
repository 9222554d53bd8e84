// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/glob.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/*
 * Return the end of the [set] at @p. If no ']' ends it, return NULL: then '[' is a plain character.
 */
static const char *set_end(const char *p)
{
	p += p[1] == '!' || p[1] == '^' ? 2 : 1;
	do {
		const char kind = *p ? p[1] : '\0', *named = NULL;

		if (*p == '[' && (kind == ':' || kind == '.' || kind == '='))
			for (named = p + 2; *named && !(named[0] == kind && named[1] == ']');
			     named++)
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

/* Ask fnmatch() about each byte, so that both always agree on what an element matches. */
int tap_glob_element(const char **glob, bool in[256])
{
	const char *end = element_end(*glob);
	char *element = strndup(*glob, (size_t)(end - *glob));

	if (!element)
		return -ENOMEM;
	for (unsigned int c = 0; c < 256; c++)
		in[c] = !fnmatch(element, (char[]){ (char)c, '\0' }, 0);
	free(element);
	*glob = end;
	return 0;
}

/*
 * A glob's accepting state is its last one, so the highest accepting bit gives the number of
 * states.
 */
static unsigned int count_states(const struct tap_glob *g)
{
	return g->accept ? TAP_GLOB_STATES - (unsigned int)__builtin_clzll(g->accept) : 0;
}

int tap_glob_add(struct tap_glob *g, const char *glob)
{
	unsigned int state = count_states(g);
	struct tap_glob more = *g;
	bool in[256];

	if (state == TAP_GLOB_STATES)
		return -E2BIG;
	more.start |= 1ULL << state;
	while (*glob) {
		if (*glob == '*') {
			more.star |= 1ULL << state;
			glob++;
			continue;
		}
		if (tap_glob_element(&glob, in))
			return -ENOMEM;
		for (unsigned int c = 0; c < 256; c++)
			more.step[c] |= (unsigned long long)in[c] << state;
		if (++state == TAP_GLOB_STATES)
			return -E2BIG;
	}
	more.accept |= 1ULL << state;
	*g = more;
	return 0;
}
