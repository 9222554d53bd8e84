/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the scheduler of scx.bpf.c notes of what it does: the referee of what schedtap records of
 * it. */
#ifndef SCX_H
#define SCX_H

enum scx_what {
	SCX_ENQUEUED, /* it put the task into a queue, or (.nr is 0) kept it */
	SCX_WEIGHT, /* the kernel passed it the task's weight */
};

struct scx_note {
	__u64 ts_ns; /* CLOCK_MONOTONIC */
	__u64 dsq, slice, vtime;
	__u32 what, tid, nr, weight;
};

/* Queues of its own; what it puts into no other goes to the CPU's. */
#define SCX_FIFO 7
#define SCX_SORTED 1250999896491ull

#endif
