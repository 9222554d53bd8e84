/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Globs over tasks' names, several as one automaton. State n is "n elements matched", an element being
 * what matches one byte: a letter, '?', a [set]. A star is no state: it lets the one in front of it
 * stay. Read by the programs and by user space, which makes it (capture/comm.h).
 */
#ifndef TAP_BPF_COMM_GLOB_H
#define TAP_BPF_COMM_GLOB_H

#define TAP_COMM_LEN 16
#define TAP_COMM_STATES 64

struct tap_comm_glob {
	unsigned long long step[256]; /* by byte: the states that it moves on by one */
	unsigned long long star;      /* the states that any byte leaves where they are */
	unsigned long long start, accept;
};

/* @comm: ends with a NUL, or has TAP_COMM_LEN bytes. */
static inline __attribute__((always_inline)) int
tap_comm_matches(const volatile struct tap_comm_glob *g, const char *comm)
{
	unsigned long long states = g->start;

#ifdef __bpf__
#pragma unroll
#endif
	for (int i = 0; i < TAP_COMM_LEN; i++) {
		unsigned char byte = (unsigned char)comm[i];

		if (!byte)
			break;
		states = (states & g->step[byte]) << 1 | (states & g->star);
	}
	return !!(states & g->accept);
}

#endif
