// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tally's programs (tally_maps.h). One program on sched_switch counts everything: the kernel
 * keeps when each task was queued and how long it waited before that (struct sched_info), so no
 * program on wakeups is needed.
 *
 * A wait is the time from the queueing of a task until it is switched in. The time that a wakeup
 * takes before it queues the task, such as an interrupt of another CPU, is not part of it. With
 * tap_from_waking a wait begins at sched_waking or sched_wakeup_new, which have programs, too.
 *
 * The program runs at each switch of the machine: it has no loop over a map, no hash table and no
 * probe read, except at the end of a long wait (tap_count_idle()).
 */
#include "kernel_types.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "cgroup.h"
#include "tally_maps.h"
#include "task.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define TAP_PF_KTHREAD 0x00200000
#define TAP_TASK_WAKING 0x200
#define TAP_CGROUP_DEPTH 16 /* limit of ancestors to look at when no slot is free */
#define TAP_COMPARE_NS 1000000u /* minimum time between comparisons of the clocks */
#define TAP_COMPARE_GROUP 100 /* comparisons in one group of struct tap_tally_cpu */
#ifndef TAP_CACHE_BITS /* a test has fewer */
#define TAP_CACHE_BITS 12
#endif
#define TAP_FOLDED 8192
#define TAP_CLOCKS_NS 100000 /* by which the estimated difference of two clocks may be wrong */

const volatile u32 tap_nr_slots = 1, tap_nr_cpus = 1;

/* true: waits begin at the waking; false: at the queueing */
const volatile bool tap_from_waking = false;

/* true: count the waits of each task by length */
const volatile bool tap_counts_tasks = false;

/* true: the task that runs tap_tally_join, and its descendants, count in a slot of their own */
const volatile bool tap_has_command = false;

/*
 * For a test that compares single waits, and lets two tallies take the same time at a switch.
 * @reason: as tap_find_queueing() returns it.
 */
#ifndef TAP_WAIT_ENDED
#define TAP_WAIT_ENDED(next, wait, kind, reason)
#define TAP_SWITCH_CLOCK() bpf_ktime_get_ns()
#endif

/* in a map of their own, so that the reader can map them */
struct tap_tally_variables tap_tally SEC(".bss.tally");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tap_tally_row);
} tap_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tap_tally_cpu);
} tap_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tap_tally_slot);
} tap_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TAP_TALLY_TAGS);
	__type(key, u32);
	__type(value, struct tap_tally_tag);
} tap_tags SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tap_tally_task_count);
} tap_task_waits SEC(".maps");

/* The command's processes: addresses of their signal_struct, at index tgid % TAP_TALLY_TAGS. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} tap_command SEC(".maps");

/* cgroup id -> slot */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u32);
} tap_slot_of_id SEC(".maps");

/*
 * Cgroups for which no slot was free: cgroup id -> an ancestor's slot. Without this map, cgroups
 * that share an entry of the cache would be counted as new ones again and again.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TAP_FOLDED);
	__type(key, u64);
	__type(value, u32);
} tap_folded SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, u32);
} tap_free_slots SEC(".maps");

/*
 * Cgroups with their slots: the low 48 bits of a struct cgroup's address, and the slot, in one word
 * so that no CPU sees half of an entry.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << TAP_CACHE_BITS);
	__type(key, u32);
	__type(value, u64);
} tap_slot_cache SEC(".maps");

/* The reader waits for running programs by an update of this map of maps. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 1);
			__type(key, u32);
			__type(value, u64);
		});
} tap_fence SEC(".maps");

/* ---- a task's tag ---- */

static __always_inline struct tap_tally_tag *tap_tag(struct task_struct *p)
{
	u32 i = (u32)p->pid % TAP_TALLY_TAGS;

	return bpf_map_lookup_elem(&tap_tags, &i);
}

static __always_inline u64 *tap_command_at(struct task_struct *p)
{
	u32 i = (u32)p->tgid % TAP_TALLY_TAGS;

	return bpf_map_lookup_elem(&tap_command, &i);
}

/* A thread that calls execve(2) gets the leader's tid, but its tgid and signal_struct stay. */
static __always_inline bool tap_is_command(struct task_struct *p)
{
	u64 *process = tap_has_command ? tap_command_at(p) : NULL;

	return process && *process == (u64)p->signal;
}

/* ---- a task's slot ---- */

/* The verifier allows no arithmetic with a pointer, but a pointer that was in a map is a number. */
static __always_inline u64 tap_address(u64 *in_map, struct cgroup *cgrp)
{
	*(volatile u64 *)in_map = (u64)cgrp;
	return *(volatile u64 *)in_map;
}

static __always_inline u64 *tap_cached_slot(u64 address)
{
	u32 i = (u32)(address >> 6) * 0x9e3779b1u >> (32 - TAP_CACHE_BITS);

	return bpf_map_lookup_elem(&tap_slot_cache, &i);
}

/* All slots are taken: the nearest ancestor with a slot counts for the cgroup. */
static __always_inline u32 tap_slot_of_ancestor(struct cgroup *cgrp)
{
	struct cgroup_subsys_state *css = BPF_CORE_READ(cgrp, self.parent);

#pragma clang loop unroll(disable)
	for (u32 i = 0; css && i < TAP_CGROUP_DEPTH; i++) {
		u64 id = BPF_CORE_READ(css, cgroup, kn, id);
		u32 *slot = bpf_map_lookup_elem(&tap_slot_of_id, &id);

		if (slot)
			return *slot;
		css = BPF_CORE_READ(css, parent);
	}
	return TAP_TALLY_ROOT;
}

static __always_inline u32 tap_fold(struct cgroup *cgrp, u64 id)
{
	u32 *known = bpf_map_lookup_elem(&tap_folded, &id), slot;

	if (known)
		return *known;
	slot = tap_slot_of_ancestor(cgrp);
	bpf_map_update_elem(&tap_folded, &id, &slot, BPF_ANY);
	__sync_fetch_and_add(&tap_tally.no_free_slot, 1);
	return slot;
}

static __always_inline u32 tap_take_slot(struct cgroup *cgrp, u64 id)
{
	u32 nr, *raced;
	struct tap_tally_slot *s;

	if (bpf_map_pop_elem(&tap_free_slots, &nr))
		return tap_fold(cgrp, id);
	s = bpf_map_lookup_elem(&tap_slots, &nr);
	if (!s)
		return TAP_TALLY_ROOT;
	if (bpf_map_update_elem(&tap_slot_of_id, &id, &nr, BPF_NOEXIST)) {
		bpf_map_push_elem(&tap_free_slots, &nr, 0);
		raced = bpf_map_lookup_elem(&tap_slot_of_id, &id);
		return raced ? *raced : tap_slot_of_ancestor(cgrp);
	}
	s->id = id;
	s->parent_id = BPF_CORE_READ(cgrp, self.parent, cgroup, kn, id);
	s->cgroup = (u64)cgrp;
	__sync_lock_test_and_set(&s->state, TAP_TALLY_SLOT_LIVE); /* after the others */
	return nr;
}

static __noinline u32 tap_find_slot(struct cgroup *cgrp)
{
	u64 id = BPF_CORE_READ(cgrp, kn, id);
	u32 *known = bpf_map_lookup_elem(&tap_slot_of_id, &id);

	return known ? *known : tap_take_slot(cgrp, id);
}

static __always_inline u32 tap_slot_of(struct tap_tally_cpu *c, struct task_struct *p)
{
	struct cgroup *cgrp;
	u64 last, address, *cached, entry;

	if (!p->pid)
		return TAP_TALLY_IDLE;
	if (p->flags & TAP_PF_KTHREAD)
		return TAP_TALLY_KERNEL;
	if (tap_is_command(p))
		return TAP_TALLY_COMMAND;
	cgrp = *tap_cgroup_at(p);
	last = c->address;
	address = tap_address(&c->address, cgrp);
	if (address == last) /* of the same cgroup as the task before */
		return c->address_slot;
	cached = tap_cached_slot(address);
	entry = cached ? *cached : 0;
	if ((entry ^ address << 16) >> 16) {
		entry = tap_find_slot(cgrp);
		if (cached)
			*cached = address << 16 | entry;
	}
	return c->address_slot = entry & 0xffff;
}

/* Return the slot of a task that need not run, and take no new one. */
static __always_inline u32 tap_known_slot(struct task_struct *p)
{
	struct cgroup *cgrp;
	u32 *slot;
	u64 id;

	if (p->flags & TAP_PF_KTHREAD)
		return TAP_TALLY_KERNEL;
	if (tap_is_command(p))
		return TAP_TALLY_COMMAND;
	cgrp = *tap_cgroup_at(p);
	id = BPF_CORE_READ(cgrp, kn, id);
	slot = bpf_map_lookup_elem(&tap_slot_of_id, &id);
	return slot ? *slot : tap_slot_of_ancestor(cgrp);
}

static long tap_forget_address(u32 cpu, void *address)
{
	struct tap_tally_cpu *c = bpf_map_lookup_elem(&tap_cpus, &cpu);

	if (c && c->address == *(u64 *)address)
		c->address = 0;
	return 0;
}

/* A cgroup that is released has no tasks any more, and a later one may have the same address. */
SEC("tp_btf/cgroup_release")
int BPF_PROG(tap_tally_release, struct cgroup *cgrp)
{
	u32 cpu = bpf_get_smp_processor_id(), *known, nr;
	struct tap_tally_cpu *c = bpf_map_lookup_elem(&tap_cpus, &cpu);
	u64 id = cgrp->kn->id, address, *cached;
	struct tap_tally_slot *s;

	if (!c)
		return 0;
	address = tap_address(&c->released, cgrp);
	cached = tap_cached_slot(address);
	if (cached) /* of this cgroup, or of one that gets it again */
		*cached = 0;
	bpf_loop(tap_nr_cpus, tap_forget_address, &address, 0);
	known = bpf_map_lookup_elem(&tap_slot_of_id, &id);
	if (!known)
		return 0;
	nr = *known;
	s = bpf_map_lookup_elem(&tap_slots, &nr);
	if (!s || s->cgroup != (u64)cgrp) /* a cgroup of another hierarchy has this id */
		return 0;
	bpf_map_delete_elem(&tap_slot_of_id, &id);
	__sync_lock_test_and_set(&s->state, TAP_TALLY_SLOT_RELEASED);
	return 0;
}

/* ---- time ---- */

static __always_inline void tap_compare_clocks(struct tap_tally_cpu *c, u64 monotonic, u64 clock)
{
	s64 offset = (s64)(monotonic - clock);

	if (c->nr_compared >= TAP_COMPARE_GROUP) {
		c->offset_before_ns = c->offset_ns;
		c->offset_ns = TAP_TALLY_NO_OFFSET;
		c->nr_compared = 0;
	}
	if (offset < c->offset_ns)
		c->offset_ns = offset;
	c->nr_compared++;
	c->compared_ns = clock;
}

/*
 * Return: the time of the switch, as the clock of the run queue. The clock itself may be older: the
 * kernel does not update it if a wakeup has just asked for the switch (rq_clock_skip_update()).
 */
static __always_inline u64 tap_time_of(struct tap_tally_cpu *c, u64 clock)
{
	u64 now = TAP_SWITCH_CLOCK();

	if (!tap_from_waking) { /* else wakings of other CPUs are compared with it */
		if (clock - c->compared_ns >= TAP_COMPARE_NS)
			tap_compare_clocks(c, now, clock);
		now -= tap_tally_offset(c);
		if ((s64)(now - clock) < 0)
			now = clock;
	}
	return (s64)(now - c->since_ns) < 0 ? c->since_ns : now;
}

/* ---- slices ---- */

static __always_inline struct tap_tally_row *tap_row(u32 bank, u32 slot)
{
	u32 i = bank * tap_nr_slots + slot;

	return bpf_map_lookup_elem(&tap_rows, &i);
}

static __always_inline void tap_end_slice(struct tap_tally_cpu *c, u32 bank, u64 now)
{
	struct tap_tally_slice *slice = &c->slices[c->nr_slices++ % TAP_TALLY_SLICES];
	struct tap_tally_row *row;
	u64 ns = now - c->since_ns;

	slice->end_ns = now;
	c->since_ns = now;
	if (!c->first_ns) {
		slice->slot = TAP_TALLY_NO_SLOT;
		c->first_ns = now;
		return;
	}
	slice->slot = c->slot;
	row = tap_row(bank, c->slot);
	if (row)
		__sync_fetch_and_add(&row->run_ns, ns);
	if (c->slot == TAP_TALLY_IDLE)
		c->idle_ns[bank & 1] += ns;
}

/* ---- length of the run queue ---- */

/* Since v6.12 a task whose dequeue is delayed is queued while it sleeps. */
static __always_inline u32 tap_runnable(struct rq *rq)
{
	if (bpf_core_field_exists(rq->cfs.h_nr_runnable))
		return rq->nr_running - (rq->cfs.h_nr_queued - rq->cfs.h_nr_runnable);
	if (bpf_core_field_exists(rq->cfs.h_nr_delayed))
		return rq->nr_running - rq->cfs.h_nr_delayed;
	return rq->nr_running;
}

static __always_inline void tap_count_length(struct tap_tally_cpu *c, u32 bank, struct rq *rq,
					     u64 now)
{
	u64 ns = c->switched_ns ? now - c->switched_ns : 0;
	u32 length = tap_tally_length(c->runnable);

	/* the verifier needs the check that clang would leave out */
	asm volatile("" : "+r"(length));
	if (length < TAP_TALLY_LENGTHS)
		c->length_ns[bank & 1][length] += ns;
	c->runnable_ns[bank & 1] += ns * c->runnable;
	c->switched_ns = now;
	c->runnable = tap_runnable(rq);
}

/* ---- waits ---- */

/* By the quota of a cgroup, which real-time tasks do not have. */
static __always_inline bool tap_is_throttled(struct task_struct *p)
{
	return p->prio >= 100 && tp_task_throttled(p);
}

/*
 * When the wait began of a task that is switched out at @now; 0: it has not begun. A task that goes
 * to sleep may already have been woken by another CPU, which waits for the switch
 * (try_to_wake_up()).
 */
static __always_inline u64 tap_began(struct task_struct *prev, bool can_go_on, u64 now)
{
	return can_go_on || prev->__state == TAP_TASK_WAKING ? now : 0;
}

/*
 * Return true if the kernel does not count the wait that begins. A task that is preempted on its
 * way to sleep stays in its queue, but sched_info_depart() only looks at its state, and stores no
 * time stamp. If the task is then moved to another CPU, its stamp is that of the move.
 */
static __always_inline bool tap_is_uncounted(struct task_struct *prev, bool can_go_on)
{
	return !tap_from_waking && can_go_on && prev->__state;
}

/*
 * Return the number to subtract from the kernel's sum of @prev's waits when its next wait ends: the
 * waits before, and the error of the beginning. If the run queue's clock is stale at @now, the
 * kernel takes an older time for the beginning of the wait (sched_info_depart()).
 */
static __always_inline u64 tap_base(struct task_struct *prev, bool can_go_on, u64 now, u64 clock)
{
	return prev->sched_info.run_delay + (can_go_on ? now - clock : 0);
}

/* Note what the next wait of a task that is switched out begins with. */
static __always_inline void tap_switched_out(struct task_struct *prev, bool can_go_on, u64 now,
					     u64 clock)
{
	struct tap_tally_tag *tag = tap_tag(prev);
	bool is_uncounted = tap_is_uncounted(prev, can_go_on);

	if (!tag)
		return;
	*tag = (struct tap_tally_tag){
		.task = (u64)prev,
		.ns = tap_from_waking ? tap_began(prev, can_go_on, now)
		      : is_uncounted  ? now
				      : tap_base(prev, can_go_on, now, clock),
		.is_uncounted = is_uncounted,
		.kind = !can_go_on		 ? TAP_TALLY_WAKING
			: tap_is_throttled(prev) ? TAP_TALLY_THROTTLED
						 : TAP_TALLY_PREEMPTED,
	};
}

static __always_inline void tap_add_culprit(struct tap_tally_row *row, u64 slot, u64 ns)
{
	u64 least = ~0ull;
	u32 at = 0;

	for (u32 i = 0; i < TAP_TALLY_CULPRITS; i++) {
		if (row->culprits[i].slot == slot) {
			__sync_fetch_and_add(&row->culprits[i].ns, ns);
			return;
		}
		if (row->culprits[i].ns < least) {
			least = row->culprits[i].ns;
			at = i;
		}
	}
	at %= TAP_TALLY_CULPRITS;
	/*
	 * Another CPU may add to this entry meanwhile: its time then counts for the new culprit,
	 * but no time is lost.
	 */
	__sync_fetch_and_add(&row->other_ns, __sync_lock_test_and_set(&row->culprits[at].ns, 0));
	row->culprits[at].slot = slot;
	__sync_fetch_and_add(&row->culprits[at].ns, ns);
}

/* Split a wait from @since to @now by the slots that ran; the task waited @elsewhere before. */
static __always_inline void tap_count_culprits(struct tap_tally_row *row, u32 slot,
					       struct tap_tally_cpu *c, u64 since, u64 now,
					       u64 elsewhere)
{
	u64 self = 0, idle = 0, kernel = 0;

	/* the current slice is of the same slot: it goes on with this task */
	if (c->since_ns < now) {
		u64 from = c->since_ns > since ? c->since_ns : since;

		self += now - from;
		now = from;
	}
#pragma clang loop unroll(disable)
	for (u32 i = 1; i < TAP_TALLY_SLICES && now > since; i++) {
		struct tap_tally_slice *s = &c->slices[(c->nr_slices - i) % TAP_TALLY_SLICES];
		u64 from = c->slices[(c->nr_slices - i - 1) % TAP_TALLY_SLICES].end_ns;
		u64 ns;

		if (from < since)
			from = since;
		ns = now - from;
		now = from;
		if (s->slot == slot)
			self += ns;
		else if (s->slot == TAP_TALLY_IDLE)
			idle += ns;
		else if (s->slot == TAP_TALLY_KERNEL)
			kernel += ns;
		else if (s->slot == TAP_TALLY_NO_SLOT)
			elsewhere += ns;
		else if (ns)
			tap_add_culprit(row, s->slot, ns);
	}
	elsewhere += now - since;
	if (self)
		__sync_fetch_and_add(&row->self_ns, self);
	if (idle)
		__sync_fetch_and_add(&row->idle_ns, idle);
	if (kernel)
		__sync_fetch_and_add(&row->kernel_ns, kernel);
	if (elsewhere)
		__sync_fetch_and_add(&row->elsewhere_ns, elsewhere);
}

/* ---- CPUs that were idle while a task waited ---- */

/* A long wait, and what was found. Addresses are numbers: the verifier allows arithmetic then. */
struct tap_long_wait {
	u64 since, now;
	u64 allowed, online; /* addresses of CPU masks: the task's, and its root domain's */
	u64 idle_ns; /* of the CPU that was idle longest */
	u32 cpu; /* to look at next */
	u32 home; /* that the task waited for */
};

static __always_inline bool tap_is_in_mask(u64 mask, u32 cpu)
{
	u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (void *)(mask + cpu / 64 * sizeof(word)));
	return word >> cpu % 64 & 1;
}

/* Return: 0 to go on with the LLC's next CPU. */
static long tap_look_at_cpu(u32 nr, struct tap_long_wait *w)
{
	u32 cpu = w->cpu;
	struct tap_tally_cpu *c = bpf_map_lookup_elem(&tap_cpus, &cpu);
	u64 ns;

	if (!c || cpu == w->home)
		return 1;
	w->cpu = c->next_of_llc;
	if (!tap_is_in_mask(w->allowed, cpu) || !tap_is_in_mask(w->online, cpu))
		return 0;
	ns = tap_tally_idle_ns(c, w->since, w->now);
	if (ns > w->idle_ns)
		w->idle_ns = ns;
	return w->idle_ns == w->now - w->since;
}

static __always_inline u64 tap_online_mask(struct root_domain *rd)
{
	struct root_domain___on_stack *on_stack = (void *)rd;

	if (bpf_core_field_exists(on_stack->online))
		return (u64)&on_stack->online;
	return (u64)BPF_CORE_READ(rd, online);
}

/*
 * Look for a CPU of the LLC that the task at .long_waiter of this CPU could have used, instead of
 * waiting from @since to @now.
 *
 * Not static, and all arguments are numbers: so the verifier looks at this once. A static function
 * is looked at for each way that leads to its call, which takes v7.3 minutes.
 */
__noinline int tap_count_idle(u32 bank, u64 since, u64 now)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct tap_tally_cpu *c = bpf_map_lookup_elem(&tap_cpus, &cpu);
	struct tap_long_wait w = { .since = since, .now = now, .home = cpu };
	struct task_struct *p;

	if (!c || !bpf_core_field_exists(struct rq, rd))
		return 0;
	p = (void *)c->long_waiter;
	if (BPF_CORE_READ(p, nr_cpus_allowed) < 2)
		return 0;
	w.cpu = c->next_of_llc;
	w.allowed = (u64)BPF_CORE_READ(p, cpus_ptr);
	w.online = tap_online_mask(BPF_CORE_READ(p, se.cfs_rq, rq, rd));
	bpf_loop(tap_nr_cpus, tap_look_at_cpu, &w, 0);
	c->idle_while_waiting_ns[bank & 1] += w.idle_ns;
	return 0;
}

/* ---- waits of single tasks ---- */

/*
 * Count a wait in the element @at of tap_task_waits, for the task that has @start. @bucket: of
 * tap_tally_bucket().
 *
 * Not static, and all arguments are numbers, for the verifier: see tap_count_idle().
 */
__noinline int tap_count_task_wait(u32 at, u32 start, u32 epoch, u32 bucket, u64 wait)
{
	struct tap_tally_task_count *t = bpf_map_lookup_elem(&tap_task_waits, &at);
	u32 n = tap_tally_task_bucket(bucket);

	if (!t)
		return 0;
	if (t->epoch != epoch || t->start != start)
		*t = (struct tap_tally_task_count){ .epoch = epoch, .start = start };
	if (wait > t->waits.max_wait_ns)
		t->waits.max_wait_ns = wait;
	/* the verifier needs the check that clang would leave out */
	asm volatile("" : "+r"(n));
	if (n < TAP_TALLY_TASK_BUCKETS)
		t->waits.buckets[n]++;
	return 0;
}

static __always_inline u32 tap_task_waits_at(struct task_struct *p, u32 bank)
{
	return bank * TAP_TALLY_TAGS + (u32)p->pid % TAP_TALLY_TAGS;
}

/* ---- the end of a wait ---- */

/* A wait that has ended. */
struct tap_wait {
	u64 since, before; /* when the task was queued; how long it waited on other CPUs before */
	u32 kind; /* enum tap_tally_kind */
};

/* Read from the kernel's account when the task was queued. Return: as tap_find_queueing(). */
static __always_inline u32 tap_find_stamp(struct task_struct *next, const struct tap_tally_tag *tag,
					  struct tap_wait *w)
{
	w->since = next->sched_info.last_queued;
	if (!w->since)
		return TAP_TALLY_NO_STAMP;
	w->before = next->sched_info.run_delay;
	if (next->sched_info.pcount) { /* it ran before */
		if (tag->task != (u64)next)
			return tag->task ? TAP_TALLY_OTHER_TASK : TAP_TALLY_UNSEEN;
		if (tag->is_censored)
			return TAP_TALLY_DELAYED_DEQUEUE;
		w->before -= tag->ns;
		w->kind = tag->kind;
	}
	if ((s64)w->before < 0) { /* it was queued later than the kernel's clock said: tap_base() */
		w->since -= w->before;
		w->before = 0;
	}
	return TAP_TALLY_REASONS;
}

/* Return: TAP_TALLY_REASONS; enum tap_tally_censored: the length is not known. */
static __always_inline u32 tap_find_queueing(struct task_struct *next,
					     const struct tap_tally_tag *tag, u64 now,
					     struct tap_wait *w)
{
	u32 reason = TAP_TALLY_REASONS;

	if (tag->task == (u64)next && tag->is_uncounted) {
		w->since = tag->ns;
		w->kind = tag->kind;
	} else {
		reason = tap_find_stamp(next, tag, w);
	}
	if (reason == TAP_TALLY_REASONS && (s64)(now - w->since) < -TAP_CLOCKS_NS)
		return TAP_TALLY_NEGATIVE;
	return reason;
}

static __always_inline u32 tap_find_waking(struct task_struct *next,
					   const struct tap_tally_tag *tag, struct tap_wait *w)
{
	if (tag->task != (u64)next)
		return tag->task ? TAP_TALLY_OTHER_TASK : TAP_TALLY_UNSEEN;
	w->since = tag->ns;
	w->kind = tag->kind;
	return w->since ? TAP_TALLY_REASONS : TAP_TALLY_NO_STAMP;
}

static __always_inline void tap_end_wait(struct tap_tally_row *row, u32 slot,
					 struct tap_tally_cpu *c, u32 bank,
					 struct task_struct *next, u64 now)
{
	struct tap_wait w = { .kind = TAP_TALLY_WAKING };
	struct tap_tally_tag *tag = tap_tag(next);
	u32 reason, bucket;
	u64 wait;

	if (!tag)
		return;
	reason = tap_from_waking ? tap_find_waking(next, tag, &w)
				 : tap_find_queueing(next, tag, now, &w);
	if (reason < TAP_TALLY_REASONS || w.kind >= TAP_TALLY_KINDS) {
		TAP_WAIT_ENDED(next, 0, w.kind, reason);
		if (reason < TAP_TALLY_REASONS)
			__sync_fetch_and_add(&row->censored[reason], 1);
		return;
	}
	if ((s64)(now - w.since) < 0)
		now = w.since;
	wait = w.before + (now - w.since);
	TAP_WAIT_ENDED(next, wait, w.kind, reason);
	__sync_fetch_and_add(&row->wait_ns[w.kind], wait);
	bucket = tap_tally_bucket(wait);
	/* the verifier needs the check that clang would leave out */
	asm volatile("" : "+r"(bucket));
	if (bucket < TAP_TALLY_BUCKETS)
		__sync_fetch_and_add(&row->buckets[w.kind][bucket], 1);
	if (wait > c->max_wait_ns[bank & 1][w.kind])
		c->max_wait_ns[bank & 1][w.kind] = wait;
	if (tap_counts_tasks)
		tap_count_task_wait(tap_task_waits_at(next, bank), (u32)next->start_time, c->epoch,
				    bucket, wait);
	if (w.kind == TAP_TALLY_THROTTLED) {
		__sync_fetch_and_add(&row->self_ns, wait);
		return;
	}
	tap_count_culprits(row, slot, c, w.since, now, w.before);
	if (wait >= TAP_TALLY_LONG_WAIT_NS && !w.before) {
		c->long_waiter = (u64)next;
		tap_count_idle(bank, w.since, now);
	}
}

SEC("tp_btf/sched_switch")
int BPF_PROG(tap_tally_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct rq *rq = prev->se.cfs_rq->rq;
	/*
	 * Before v6.16 the tracepoint passes the state from before a pending signal kept the task
	 * from sleeping (signal_pending_state() in __schedule()).
	 */
	bool can_go_on = preempt || !prev->__state;
	u32 cpu = rq->cpu, epoch = *(volatile u32 *)&tap_tally.epoch, bank = epoch & 1, slot;
	struct tap_tally_cpu *c = bpf_map_lookup_elem(&tap_cpus, &cpu);
	struct tap_tally_row *row;
	u64 now;

	if (!c)
		return 0;
	if (c->epoch != epoch) {
		c->kept_since_ns = c->since_ns;
		c->kept_slot = c->slot;
		c->kept_switched_ns = c->switched_ns;
		c->kept_runnable = c->runnable;
		__sync_lock_test_and_set(&c->epoch, epoch); /* after the others */
	}
	/* the verifier of v6.1 may forget the range of a number on the stack: keep each "& 1" */
	asm volatile("" : "+r"(bank));
	now = tap_time_of(c, rq->clock);
	slot = tap_slot_of(c, next);
	c->switches[bank & 1]++;
	tap_count_length(c, bank, rq, now);
	if (prev->pid)
		tap_switched_out(prev, can_go_on, now, rq->clock);
	if (slot != c->slot || !c->first_ns) {
		tap_end_slice(c, bank, now);
		c->slot = slot;
	}
	if (!next->pid)
		return 0;
	row = tap_row(bank, slot);
	if (row)
		tap_end_wait(row, slot, c, bank, next, now);
	return 0;
}

static __always_inline void tap_count_migration(u32 from, u32 to)
{
	struct tap_tally_cpu *a = bpf_map_lookup_elem(&tap_cpus, &from);
	struct tap_tally_cpu *b = bpf_map_lookup_elem(&tap_cpus, &to);

	if (a && b)
		__sync_fetch_and_add(&tap_tally.migrations[a->llc == b->llc	? TAP_TALLY_LLC
							   : a->node == b->node ? TAP_TALLY_NODE
										: TAP_TALLY_SYSTEM],
				     1);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(tap_tally_migrate, struct task_struct *p, int to)
{
	struct tap_tally_tag *tag;

	tap_count_migration(tp_task_cpu(p), to);
	if (tap_is_command(p))
		__sync_fetch_and_add(&tap_tally.command_migrations, 1);
	if (!tp_se_delayed(&p->se))
		return 0;
	tag = tap_tag(p);
	if (tag && tag->task == (u64)p)
		tag->is_censored = 1;
	return 0;
}

/* ---- a command's tasks ---- */

/* Run by the command's process before it sleeps: it counts as the command's from then on. */
SEC("syscall")
int tap_tally_join(void *ctx)
{
	struct task_struct *p = bpf_get_current_task_btf();
	u64 *process = tap_command_at(p);

	if (process)
		*process = (u64)p->signal;
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(tap_tally_fork, struct task_struct *parent, struct task_struct *child)
{
	u64 *process = tap_command_at(child);

	if (!process)
		return 0;
	if (tap_is_command(parent))
		*process = (u64)child->signal;
	else if (*process == (u64)child->signal) /* of a process that has ended */
		*process = 0;
	return 0;
}

/* ---- waits from the waking ---- */

SEC("tp_btf/sched_waking")
int BPF_PROG(tap_tally_waking, struct task_struct *p)
{
	struct tap_tally_tag *tag = tap_tag(p);

	/* a task that runs, or waits already, goes on */
	if (tag && tag->task == (u64)p && tag->kind == TAP_TALLY_WAKING && !tag->ns)
		tag->ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(tap_tally_new, struct task_struct *p)
{
	struct tap_tally_tag *tag = tap_tag(p);

	if (tag)
		*tag = (struct tap_tally_tag){ .task = (u64)p,
					       .ns = bpf_ktime_get_ns(),
					       .kind = TAP_TALLY_WAKING };
	return 0;
}

SEC("iter/task")
int tap_each_task(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct tap_tally_task row = {};

	if (!p)
		return 0;
	row.tid = p->pid;
	row.tgid = p->tgid;
	row.start_ns = p->start_time;
	row.run_ns = p->se.sum_exec_runtime;
	if (bpf_core_field_exists(p->sched_info.run_delay)) {
		row.wait_ns = p->sched_info.run_delay;
		row.waits = p->sched_info.pcount;
	}
	row.voluntary = p->nvcsw;
	row.involuntary = p->nivcsw;
	row.migrations = p->se.nr_migrations;
	row.cpu = tp_task_cpu(p);
	row.slot = tap_known_slot(p);
	row.util = TAP_TALLY_UNKNOWN;
	if (bpf_core_field_exists(p->se.avg.util_avg))
		row.util = p->se.avg.util_avg;
	row.prio = p->prio;
	bpf_core_read(row.comm, sizeof(row.comm), &p->comm);
	bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}
