/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Globs of fnmatch(3) without flags, several as one automaton. State n is "n elements matched", an
 * element being what matches one byte: a letter, '?', a [set]. A star is no state: it lets the one
 * in front of it stay. User space makes the automaton, and the BPF programs read it too.
 */
#ifndef TAP_BASE_GLOB_H
#define TAP_BASE_GLOB_H

#include <stdbool.h>

#define TAP_GLOB_STATES 64

/* {0} matches nothing. */
struct tap_glob {
	unsigned long long step[256]; /* by byte: the states that it moves on by one */
	unsigned long long star; /* the states that any byte leaves where they are */
	unsigned long long start, accept;
};

/* Whether all of @text matches: it ends with a NUL, or has @max bytes. */
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
 * Makes @g match what @glob does, too. A glob takes one state more than it has elements.
 * Return: 0; -E2BIG: there are not so many left, and @g is as it was; -ENOMEM.
 */
int tap_glob_add(struct tap_glob *g, const char *glob);

/*
 * Reads the element, which is no star, that @glob begins with: sets @in to the bytes that it
 * matches, and moves @glob behind it. Return: 0 or -ENOMEM.
 */
int tap_glob_element(const char **glob, bool in[256]);

#endif
