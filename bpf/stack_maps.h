/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks on their way from the programs (stacks.h) to the recorder. Read by both. */
#ifndef TAP_BPF_STACK_MAPS_H
#define TAP_BPF_STACK_MAPS_H

#include "ring.h"

#define TAP_STACK_MAX_DEPTH 127 /* kernel.perf_event_max_stack, if nobody changed it */
/* A kernel's stack begins with what runs our program: those frames are walked beyond the depth that is asked for. */
#define TAP_STACK_OWN_FRAMES 8

/* What an event is to have: a bit each of the variable "tap_stacks_of", with the depth above them. */
#define TAP_STACK_KERNEL 1
#define TAP_STACK_USER 2
#define TAP_STACK_DEPTH_SHIFT 8
#define TAP_STACK_EVENTS 256

/*
 * The map "tap_stack_log": a ring as in ring.h, of all CPUs, in which each new stack comes once. Its payload is this,
 * and then the addresses; number 0: nothing.
 */
struct tap_stack_new {
	unsigned int number;
	unsigned int tgid; /* 0: a kernel's */
	unsigned int depth; /* that was asked for */
	unsigned int pad;
	unsigned long long addrs[];
};

/* Behind the ring's words, below TAP_RING_DATA. */
struct tap_stack_counts {
	unsigned int last; /* number that was given */
	unsigned int pad;
	unsigned long long full; /* stacks that were not kept: there were too many */
	unsigned long long unread; /* that could not be read, or for which there was no room at that moment */
};
#define TAP_STACK_COUNTS_AT 1024

#endif
