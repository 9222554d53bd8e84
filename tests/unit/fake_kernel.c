// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A kernel's types, for test_types.c: what is compiled is never run. Names are the kernel's where
 * schedtap asks for them; shapes are those that a kernel has somewhere, or could have.
 */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;
typedef long s64;
typedef _Bool bool;
typedef u32 number, again; /* a typedef of a typedef */
typedef struct {
	int counter;
} atomic_t;

struct kernfs_node {
	u8 flags[3];
	u64 id;
};

struct only_declared;

struct cgroup {
	struct only_declared *other;
	struct kernfs_node *const kn;
	int level;
	struct cgroup *ancestors[];
};

struct cgroup_subsys_state {
	const struct cgroup *cgroup;
	void (*release)(struct cgroup *);
};

struct css_set {
	union {
		struct {
			char pad;
			struct cgroup *dfl_cgrp;
		};
		u64 words[4];
	};
};

struct list {
	struct list *next, *prev;
};

/* not the first member, so that it has another place than the BPF programs' */
struct task_group {
	struct list list;
	volatile struct cgroup_subsys_state css;
	u8 tail;
};

enum level { LOW, HIGH = 70000 };

struct sched_avg {
	volatile u64 last_update_time;
	enum level level;
	unsigned long load_avg;
	unsigned long runnable_avg;
	long unsigned util_avg;
	union {
		struct {
			bool is_on : 1;
			unsigned int util_est;
		};
	};
} __attribute__((aligned(64)));

struct uclamp_rq {
	unsigned int value;
	struct {
		u64 value : 11, tasks : 53;
	} bucket[3][2];
};

struct uclamp_se {
	unsigned int before : 3, value : 11, after : 18;
};

struct root_domain {
	atomic_t refcount;
	int (*table)[4];
	struct cpumask *span;
};

struct cpumask {
	unsigned long bits[2];
};

struct cfs_rq {
	u32 nr;
	struct sched_avg avg;
	struct rq *restrict rq;
	struct task_group *tg;
	void *entities[0];
};

struct rq {
	enum level nr_running;
	union {
		const again cpu;
		u8 low;
	};
	struct {
		struct {
			struct {
				u64 cpu_capacity;
			};
		};
	};
	struct uclamp_rq uclamp[2][3];
	struct cfs_rq cfs;
	struct sched_avg avg_rt, avg_dl;
} __attribute__((aligned(64)));

struct sched_entity {
	u8 on_rq;
	struct sched_avg avg;
	struct cfs_rq *cfs_rq, *my_q;
};

struct sched_dl_entity {
	s64 runtime __attribute__((packed, aligned(2)));
	u64 deadline;
	u32 before;
	unsigned int dl_yielded : 1, other : 30, dl_server : 1;
};

struct signal_struct {
	int nr;
	atomic_t live;
};

struct thread_info {
	u64 flags;
	u32 cpu;
};

struct task_struct {
	struct thread_info thread_info;
	const int prio;
	int pid, tgid;
	char comm[16];
	int big[70000];
	int exit_state;
	struct sched_entity se;
	struct sched_dl_entity dl;
	struct css_set *cgroups;
	struct task_group *sched_task_group;
	struct signal_struct *restrict signal;
	struct uclamp_se uclamp[2];
};

struct linux_binprm {
	const char *const filename;
};

/* A compiler leaves out what nothing uses. */
struct kernel {
	struct kernfs_node kernfs_node;
	struct css_set css_set;
	struct task_group task_group;
	struct root_domain root_domain;
	struct cpumask cpumask;
	struct rq rq;
	struct task_struct task_struct;
	struct signal_struct signal_struct;
	struct linux_binprm linux_binprm;
} kernel;

int __traceiter_pelt_rt_tp(void *data, struct rq *rq);
int __traceiter_pelt_dl_tp(void *data, struct rq *rq, int more);
struct cgroup *cgroup_get_from_id(u64 id);

int __traceiter_pelt_rt_tp(void *data, struct rq *rq)
{
	return data == rq;
}

/* with another number of arguments than the events were written for */
int __traceiter_pelt_dl_tp(void *data, struct rq *rq, int more)
{
	return data == rq && more;
}

struct cgroup *cgroup_get_from_id(u64 id)
{
	return id ? 0 : kernel.css_set.dfl_cgrp;
}
