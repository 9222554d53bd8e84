/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Globs of fnmatch(3) without flags, several of them as one automaton. State n of a glob means that
 * n elements have matched; an element matches one byte: a character, '?', or a [set]. A star is not
 * a state: it lets the preceding state match any byte and stay. User space builds the automaton;
 * BPF programs evaluate it as well.
 */
#ifndef TAP_BASE_GLOB_H
#define TAP_BASE_GLOB_H

#include <stdbool.h>

#define TAP_GLOB_STATES 64

/* A zeroed struct matches nothing. */
struct tap_glob {
	unsigned long long step[256]; /* for each byte: the states that advance by one */
	unsigned long long star; /* the states that any byte leaves unchanged */
	unsigned long long start, accept;
};

/* Return true if all of @text matches. @text ends with a NUL or after @max bytes. */
static inline __attribute__((always_inline)) bool
tap_glob_matches(const volatile struct tap_glob *g, const char *text, unsigned int max)
{
	unsigned long long states = g->start;

#ifdef __bpf__
#pragma unroll
#endif
	for (unsigned int i = 0; i < max; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (!byte)
			break;
		states = (states & g->step[byte]) << 1 | (states & g->star);
	}
	return states & g->accept;
}

/*
 * Make @g also match what @glob matches. A glob takes one state more than it has elements.
 * Return: 0; -E2BIG if @g has too few free states; -ENOMEM. On failure @g does not change.
 */
int tap_glob_add(struct tap_glob *g, const char *glob);

/*
 * Read the element at the start of @glob, which must not be a star: set @in to the bytes that
 * match, and move @glob to the end of the element. Return: 0 or -ENOMEM.
 */
int tap_glob_element(const char **glob, bool in[256]);

#endif
