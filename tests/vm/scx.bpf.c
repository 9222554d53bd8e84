// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A scheduler for tests: tasks whose name begins with f go into one queue, those with s into a
 * sorted one, those with h it keeps and never runs, and all others go to the CPU's. It has an own
 * shape of what it uses of the kernel's structs.
 */
#include <linux/types.h>
#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_tracing.h>

#include "scx.h"

#define DSQ_LOCAL 0x8000000000000002ull

struct task_struct {
	int pid;
	char comm[16];
} __attribute__((preserve_access_index));

struct sched_ext_ops {
	int (*select_cpu)(struct task_struct *p, int prev_cpu, __u64 flags);
	void (*enqueue)(struct task_struct *p, __u64 flags);
	void (*dispatch)(int cpu, struct task_struct *prev);
	void (*set_weight)(struct task_struct *p, __u32 weight);
	int (*init)(void);
	__u32 timeout_ms;
	char name[128];
};

void scx_bpf_dsq_insert(struct task_struct *p, __u64 dsq, __u64 slice, __u64 flags) __ksym;
void scx_bpf_dsq_insert_vtime(struct task_struct *p, __u64 dsq, __u64 slice, __u64 vtime,
			      __u64 flags) __ksym;
bool scx_bpf_dsq_move_to_local(__u64 dsq) __ksym;
int scx_bpf_create_dsq(__u64 dsq, int node) __ksym;
int scx_bpf_dsq_nr_queued(__u64 dsq) __ksym;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} notes SEC(".maps");

__u64 missed; /* notes for which there was no room */
__u64 vtime;

static void note(const struct scx_note *n)
{
	struct scx_note copy = *n;

	copy.ts_ns = bpf_ktime_get_ns();
	if (bpf_ringbuf_output(&notes, &copy, sizeof(copy), BPF_RB_NO_WAKEUP))
		missed++;
}

/* Dispatch nothing here, so that enqueue() sees every task, woken ones too. */
SEC("struct_ops/select_cpu")
int BPF_PROG(select_cpu, struct task_struct *p, int prev_cpu, __u64 flags)
{
	return prev_cpu;
}

SEC("struct_ops/enqueue")
void BPF_PROG(enqueue, struct task_struct *p, __u64 flags)
{
	struct scx_note n = { .what = SCX_ENQUEUED, .tid = p->pid };

	switch (p->comm[0]) {
	case 'f':
		n.dsq = SCX_FIFO;
		n.slice = 3000000;
		break;
	case 's':
		n.dsq = SCX_SORTED;
		n.slice = 5000000 + p->pid;
		n.vtime = vtime += 1000;
		break;
	case 'h':
		note(&n);
		return;
	default:
		n.dsq = DSQ_LOCAL;
		n.slice = 4000000;
	}
	n.nr = scx_bpf_dsq_nr_queued(n.dsq) + 1;
	note(&n);
	if (n.dsq == SCX_SORTED)
		scx_bpf_dsq_insert_vtime(p, n.dsq, n.slice, n.vtime, flags);
	else
		scx_bpf_dsq_insert(p, n.dsq, n.slice, flags);
}

SEC("struct_ops/dispatch")
void BPF_PROG(dispatch, int cpu, struct task_struct *prev)
{
	scx_bpf_dsq_move_to_local(SCX_SORTED);
	scx_bpf_dsq_move_to_local(SCX_FIFO);
}

SEC("struct_ops/set_weight")
void BPF_PROG(set_weight, struct task_struct *p, __u32 weight)
{
	struct scx_note n = { .what = SCX_WEIGHT, .tid = p->pid, .weight = weight };

	note(&n);
}

SEC("struct_ops/init")
int BPF_PROG(init)
{
	int ret = scx_bpf_create_dsq(SCX_FIFO, -1);

	return ret ? ret : scx_bpf_create_dsq(SCX_SORTED, -1);
}

#define OPS(sched, ms)                                                                             \
	SEC(".struct_ops")                                                                         \
	struct sched_ext_ops sched = {                                                             \
		.select_cpu = (void *)select_cpu,                                                  \
		.enqueue = (void *)enqueue,                                                        \
		.dispatch = (void *)dispatch,                                                      \
		.set_weight = (void *)set_weight,                                                  \
		.init = (void *)init,                                                              \
		.timeout_ms = ms,                                                                  \
		.name = #sched,                                                                    \
	}

/* After so long the kernel throws them out. */
OPS(noted, 30000);
OPS(impatient, 1500);

char _license[] SEC("license") = "GPL";
