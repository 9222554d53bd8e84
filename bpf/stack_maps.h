/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps that carry stacks from the programs (stacks.h) to the recorder. Included by both. */
#ifndef TAP_BPF_STACK_MAPS_H
#define TAP_BPF_STACK_MAPS_H

#include "ring.h"

#define TAP_STACK_MAX_DEPTH 127 /* default of the sysctl kernel.perf_event_max_stack */
/*
 * A kernel stack begins with the functions that run our program: that many frames are unwound
 * beyond the requested depth.
 */
#define TAP_STACK_OWN_FRAMES 8

/*
 * Bits of an event's entry in the variable "tap_stacks_of"; the requested depth is in the bits
 * above.
 */
#define TAP_STACK_KERNEL 1
#define TAP_STACK_USER 2
#define TAP_STACK_DEPTH_SHIFT 8
#define TAP_STACK_EVENTS 256

/*
 * An entry of the map "tap_stack_log", a ring as in ring.h but shared by all CPUs, to which each
 * new stack is written once. The return addresses follow.
 */
struct tap_stack_new {
	/* 0: the entry is a struct tap_stack_shown, or empty if too short for one */
	unsigned int number;
	unsigned int tgid; /* 0: a kernel stack */
	unsigned int depth; /* requested depth */
	unsigned int pad;
	unsigned long long addrs[];
};

#define TAP_STACK_WORDS 256 /* from the program's context, which is on the task's stack */

/*
 * An entry of "tap_stack_log" for a kernel stack that was unwound and already has a number: its
 * return addresses and the memory that they were found in.
 */
struct tap_stack_shown {
	unsigned int number; /* 0 */
	unsigned int seen_number;
	unsigned long long key; /* stacks with the same key may match (stack_look.h) */
	unsigned long long top; /* the word just below the task's registers */
	unsigned long long nr_words;
	unsigned long long words[TAP_STACK_WORDS];
	unsigned long long addrs[];
};

/*
 * In the ring of "tap_stack_log" at offset TAP_STACK_COUNTS_AT, before its data at TAP_RING_DATA.
 */
struct tap_stack_counts {
	unsigned int last; /* last number assigned */
	unsigned int pad;
	unsigned long long full; /* stacks dropped because tap_stacks_max were stored */
	/* stacks that could not be read, or for which there was no room at that moment */
	unsigned long long unread;
};
#define TAP_STACK_COUNTS_AT 1024

/*
 * The map "tap_stacks_seen", which the recorder fills (stack_look.h), caches where the return
 * addresses of a stack are. It has TAP_STACK_LOOK_SETS sets, a power of two, of TAP_STACK_WAYS
 * entries.
 */
#ifdef __x86_64__
#define TAP_STACK_LOOK_SETS 512u
#else
#define TAP_STACK_LOOK_SETS 0u
#endif
#define TAP_STACK_WAYS 4u
#define TAP_STACK_SEEN_FRAMES 40u

struct tap_stack_seen {
	unsigned int version; /* odd: being written */
	unsigned int number;
	unsigned long long key; /* 0: empty */
	unsigned int nr; /* number of entries in .places and .addrs */
	unsigned int words; /* words to read from the context on to cover all .places */
	/* outermost address, at the word just below the registers; 0: it is in .addrs */
	unsigned long long top;
	unsigned short places[TAP_STACK_SEEN_FRAMES]; /* in words from the context */
	unsigned long long addrs[TAP_STACK_SEEN_FRAMES];
};

/* Return the set that a key belongs to. */
static inline __attribute__((always_inline)) unsigned int tap_stack_set(unsigned long long key,
									unsigned int sets)
{
	return (unsigned int)((key * 0x9e3779b97f4a7c15ull) >> 32) & (sets - 1);
}

#endif
