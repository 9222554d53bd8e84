/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks on their way from the programs (stacks.h) to the recorder. Read by both. */
#ifndef TAP_BPF_STACK_MAPS_H
#define TAP_BPF_STACK_MAPS_H

#include "ring.h"

#define TAP_STACK_MAX_DEPTH 127 /* kernel.perf_event_max_stack, if nobody changed it */
/* A kernel's stack begins with what runs our program: those frames are walked beyond the depth that
 * is asked for. */
#define TAP_STACK_OWN_FRAMES 8

/* What an event is to have: a bit each of the variable "tap_stacks_of", with the depth above them.
 */
#define TAP_STACK_KERNEL 1
#define TAP_STACK_USER 2
#define TAP_STACK_DEPTH_SHIFT 8
#define TAP_STACK_EVENTS 256

/*
 * The map "tap_stack_log": a ring as in ring.h, of all CPUs, in which each new stack comes once.
 * Its payload is this, and then the addresses.
 */
struct tap_stack_new {
	/* 0: this is a struct tap_stack_shown, or, where it is too short for one, nothing */
	unsigned int number;
	unsigned int tgid; /* 0: a kernel's */
	unsigned int depth; /* that was asked for */
	unsigned int pad;
	unsigned long long addrs[];
};

#define TAP_STACK_WORDS 256 /* from the program's context on, which is on the stack of the task */

/* A kernel's stack that was walked and has its number: what is in memory there. */
struct tap_stack_shown {
	unsigned int number; /* 0 */
	unsigned int seen_number;
	unsigned long long key; /* what it has in common with those that may be the same */
	unsigned long long top; /* the word below the task's registers */
	unsigned long long nr_words;
	unsigned long long words[TAP_STACK_WORDS];
	unsigned long long addrs[];
};

/* Behind the ring's words, below TAP_RING_DATA. */
struct tap_stack_counts {
	unsigned int last; /* number that was given */
	unsigned int pad;
	unsigned long long full; /* stacks that were not kept: there were too many */
	/* that could not be read, or for which there was no room at that moment */
	unsigned long long unread;
};
#define TAP_STACK_COUNTS_AT 1024

/*
 * Of the map "tap_stacks_seen", which the recorder fills (stack_look.h): where the return addresses
 * of a stack lie. Sets of TAP_STACK_WAYS; a power of two of them.
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
	unsigned long long key; /* 0: nothing is here */
	unsigned int nr; /* addresses that lie behind the context */
	unsigned int words; /* up to the last place */
	/* the outermost address, which lies below the registers; 0: there too */
	unsigned long long top;
	unsigned short places[TAP_STACK_SEEN_FRAMES]; /* words behind the context */
	unsigned long long addrs[TAP_STACK_SEEN_FRAMES];
};

/* The set that a key belongs to. */
static inline __attribute__((always_inline)) unsigned int tap_stack_set(unsigned long long key,
									unsigned int sets)
{
	return (unsigned int)((key * 0x9e3779b97f4a7c15ull) >> 32) & (sets - 1);
}

#endif
