/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's structs, reduced to the members that the programs use. All BPF code gets kernel
 * types from here. libbpf relocates the offsets at load time (CO-RE), so order and size are
 * irrelevant. A struct with ___ in its name is a variant of the struct before the ___, as other
 * kernel versions have it.
 */
#ifndef TAP_BPF_KERNEL_TYPES_H
#define TAP_BPF_KERNEL_TYPES_H

#include <linux/types.h>
#include <stdbool.h>

typedef __s8 s8;
typedef __s16 s16;
typedef __u8 u8;
typedef __u16 u16;
typedef __s32 s32;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;
typedef int pid_t;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	u64 id;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
	int id;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
	int level;
	struct cgroup *ancestors[]; /* since v6.1 */
};

enum cgroup_subsys_id { cpu_cgrp_id = 1 }; /* the number differs between kernels */

struct css_set {
	struct cgroup_subsys_state *subsys[16];
	struct cgroup *dfl_cgrp;
};

struct hrtimer {
	void *function;
};

struct cfs_bandwidth {
	struct hrtimer period_timer, slack_timer;
};

struct autogroup {
	unsigned long id;
};

struct task_group {
	struct cgroup_subsys_state css;
	struct autogroup *autogroup; /* CONFIG_SCHED_AUTOGROUP */
	struct cfs_bandwidth cfs_bandwidth; /* CONFIG_CFS_BANDWIDTH */
};

struct list_head {
	struct list_head *next;
};

/* until v6.7; since v6.8 util_est is a single u32 */
struct util_est {
	unsigned int enqueued;
	unsigned int ewma;
};

struct sched_avg {
	u64 last_update_time;
	unsigned long load_avg;
	unsigned long runnable_avg;
	unsigned long util_avg;
	unsigned int util_est;
};

struct sched_avg___before_6_8 {
	struct util_est util_est;
};

struct uclamp_rq {
	unsigned int value;
};

struct uclamp_se {
	unsigned int value : 11;
};

struct load_weight {
	unsigned long weight;
};

struct cfs_rq {
	unsigned int h_nr_queued, h_nr_runnable; /* since v6.14 */
	unsigned int h_nr_delayed; /* v6.12 and v6.13 */
	/*
	 * Sum of the entities' weights, and sum of virtual time times weight. In each pair the
	 * first name is v7.0's, the second one v6.6's.
	 */
	u64 sum_weight, avg_load;
	s64 sum_w_vruntime, avg_vruntime;
	/* base of the virtual times in these sums; named zero_vruntime since v6.18 */
	u64 zero_vruntime, min_vruntime;
	unsigned int sum_shift; /* by which weights are shifted right in these sums; since v7.1 */
	struct sched_entity *curr; /* running entity, not included in the sums */
	/*
	 * .throttled: this queue is throttled. .throttle_count: number of throttled queues from
	 * this one up to the root. CONFIG_CFS_BANDWIDTH.
	 */
	int throttled, throttle_count;
	s64 runtime_remaining; /* of the cgroup's quota, ns */
	struct sched_avg avg;
	struct rq *rq; /* CONFIG_FAIR_GROUP_SCHED, for tg too */
	struct task_group *tg;
};

struct rt_rq {
	int rt_throttled; /* since v6.12 only with CONFIG_RT_GROUP_SCHED */
};

struct sched_dl_entity {
	s64 runtime;
	u64 deadline;
	unsigned int dl_throttled : 1;
	unsigned int dl_yielded : 1;
	unsigned int dl_server : 1; /* since v6.8 */
	struct hrtimer dl_timer;
};

struct rq {
	int cpu;
	unsigned int nr_running;
	u64 clock;
	unsigned long cpu_capacity;
	struct sched_avg avg_rt;
	struct sched_avg avg_dl;
	struct sched_avg avg_irq; /* CONFIG_HAVE_SCHED_AVG_IRQ */
	struct sched_avg avg_hw;
	struct uclamp_rq uclamp[2]; /* CONFIG_UCLAMP_TASK */
	struct cfs_rq cfs;
	struct rt_rq rt;
	struct root_domain *rd; /* CONFIG_SMP */
	struct list_head cfs_tasks; /* queued fair tasks, linked by se.group_node */
	struct task_struct *curr;
	struct task_struct *donor; /* since v6.12: the task that the scheduling class picked */
	struct sched_dl_entity fair_server; /* since v6.12 */
	struct sched_dl_entity ext_server; /* since v7.0, CONFIG_SCHED_CLASS_EXT */
};

struct rq___before_6_10 {
	struct sched_avg avg_thermal;
};

struct rq___before_6_7 {
	unsigned long cpu_capacity_orig;
};

struct sched_entity {
	struct load_weight load;
	struct load_weight h_load; /* since v7.3: weight among all tasks of the CPU */
	u64 vruntime, deadline, slice; /* deadline and slice since v6.6 */
	u64 sum_exec_runtime, nr_migrations;
	u64 vprot; /* since v6.17 */
	unsigned char on_rq; /* an int before v6.12 */
	unsigned char sched_delayed, custom_slice; /* since v6.12 */
	struct sched_avg avg;
	struct list_head group_node;
	int depth; /* number of parents */
	struct sched_entity *parent;
	struct cfs_rq *cfs_rq; /* queue that the entity is on */
	struct cfs_rq *my_q; /* queue of a cgroup's entity; NULL for a task */
};

struct cpumask {
	unsigned long bits[1];
};

struct root_domain {
	struct cpumask *span, *online; /* CONFIG_CPUMASK_OFFSTACK */
};

struct root_domain___on_stack {
	struct cpumask span[1], online[1];
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
	short oom_score_adj;
};

struct thread_info {
	u32 cpu;
};

struct upid {
	int nr;
};

struct pid {
	unsigned int level; /* level of the innermost pid namespace */
	struct upid numbers[1]; /* 0..level */
};

/* x86 */
struct pt_regs {
	unsigned long orig_ax; /* system call number */
};

/*
 * The kernel's atomic_long_t is a typedef for atomic64_t, or for atomic_t where long has 32 bits.
 */
typedef struct {
	long counter;
} atomic_long_t;

/* A dispatch queue of sched_ext. */
struct scx_dispatch_q {
	u32 nr;
	u64 id;
};

struct sched_ext_entity {
	struct scx_dispatch_q *dsq; /* queue that the task is in, or NULL */
	atomic_long_t ops_state; /* enum scx_ops_state in the low bits, sequence number above */
	u64 ddsp_dsq_id; /* id of the queue that the task is about to be put into */
	u32 flags; /* enum scx_ent_flags */
	u32 weight;
	u64 slice, dsq_vtime;
};

enum scx_ent_flags {
	SCX_TASK_QUEUED = 1,
	SCX_TASK_STATE_SHIFT = 8,
	SCX_TASK_STATE_MASK = 0x300,
};

/*
 * Since v7.1 the enumerators of the task state are defined as values within .flags; before that
 * they are plain numbers (enum scx_task_state below) that must be shifted.
 */
enum scx_ent_flags___since_7_1 {
	SCX_TASK_ENABLED___since_7_1 = 0x400,
};

enum scx_task_state {
	SCX_TASK_ENABLED = 3,
};

enum scx_ops_state {
	SCX_OPSS_QUEUED = 2,
	SCX_OPSS_QSEQ_SHIFT = 2,
};

struct sched_ext_ops {
	char name[128];
	u64 sub_cgroup_id; /* since v7.1 */
};

/* A loaded BPF scheduler; since v6.17. */
struct scx_sched {
	struct sched_ext_ops ops;
	int level;
	char *cgrp_path;
};

/* CONFIG_SCHED_INFO */
struct sched_info {
	unsigned long pcount; /* how often the task has got a CPU */
	unsigned long long run_delay; /* ns in queues, without a wait that goes on */
	unsigned long long last_queued; /* rq.clock; 0: the task runs or sleeps */
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state; /* since v5.14 */
	void *stack;
	unsigned int flags;
	pid_t pid;
	pid_t tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid; /* NULL after the task was released */
	int prio, normal_prio; /* with and without inherited priority */
	unsigned int policy;
	int nr_cpus_allowed;
	struct cpumask *cpus_ptr; /* CPUs that it may use; a single one while it may not migrate */
	int exit_state;
	char comm[16] __attribute__((aligned(8))); /* aligned so that it is read as two words */
	u64 start_time; /* CLOCK_MONOTONIC */
	unsigned long nvcsw, nivcsw;
	struct sched_entity se;
	struct sched_dl_entity dl;
	struct css_set *cgroups;
	struct task_group *sched_task_group;
	struct signal_struct *signal;
	struct sched_info sched_info;
	struct uclamp_se uclamp[2]; /* CONFIG_UCLAMP_TASK */
	struct sched_ext_entity scx; /* since v6.12, CONFIG_SCHED_CLASS_EXT */
	bool throttled; /* since v6.18, CONFIG_CFS_BANDWIDTH */
	/* since v6.8: deadline server that picked the task, or NULL */
	struct sched_dl_entity *dl_server;
	u8 is_blocked; /* since v7.2: blocked on a mutex (proxy execution) */
	int preferred_llc; /* since v7.2, CONFIG_SCHED_CACHE */
};

/* before v5.16 on x86, which then got thread_info.cpu */
struct task_struct___cpu {
	unsigned int cpu;
};

struct irqaction {
	const char *name;
};

struct linux_binprm {
	const char *filename;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task; /* NULL in the last call */
};

#pragma clang attribute pop
#endif
