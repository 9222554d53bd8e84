/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events that hang on one tracepoint share its way into BPF, which costs more than most of them do:
 * only the program of the first is attached, and each calls the next one, whether it has recorded
 * its event or not. An array for each tracepoint, for from v6.12 on (28ead3eaabc1) the kernel lets
 * programs of different tracepoints call each other no more.
 */
#ifndef TAP_BPF_CHAIN_H
#define TAP_BPF_CHAIN_H

struct tap_chain {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1); /* events of this tracepoint that are recorded */
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
};

/* Set by the loader, by the event's index. Where it is 0 there is no next one, and the verifier
 * removes the call. */
const volatile u8 tap_chain_next[TAP_NR_EVENTS];
const volatile u8 tap_chain_stamp[TAP_NR_EVENTS]; /* enum tap_stamp */

#define TAP_CHAIN_ON(ctx, tracepoint, event)                                                       \
	do {                                                                                       \
		if (tap_chain_next[index_##event])                                                 \
			bpf_tail_call(ctx, &tap_chain_##tracepoint,                                \
				      tap_chain_next[index_##event]);                              \
	} while (0)

#endif
