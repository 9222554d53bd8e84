/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Several events may be recorded at one tracepoint. Entering BPF from a tracepoint costs more than
 * most events do, so only the first event's program is attached; each program tail-calls the next
 * one, whether or not it recorded its event. Each tracepoint has its own program array, because
 * since v6.12 (28ead3eaabc1) the kernel refuses tail calls between programs of different
 * tracepoints.
 */
#ifndef TAP_BPF_CHAIN_H
#define TAP_BPF_CHAIN_H

struct tap_chain {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	/* the loader sets it to the number of recorded events of this tracepoint */
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
};

/*
 * Set by the loader, indexed by event: the entry of the program array to call next, or 0 if there
 * is none, in which case the verifier removes the call.
 */
const volatile u8 tap_chain_next[TAP_NR_EVENTS];
const volatile u8 tap_chain_stamp[TAP_NR_EVENTS]; /* enum tap_stamp */

#define TAP_CHAIN_ON(ctx, tracepoint, event)                                                       \
	do {                                                                                       \
		if (tap_chain_next[index_##event])                                                 \
			bpf_tail_call(ctx, &tap_chain_##tracepoint,                                \
				      tap_chain_next[index_##event]);                              \
	} while (0)

#endif
