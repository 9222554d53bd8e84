/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tally: the waits of all tasks, counted in the kernel by cgroup, kind and length, and what ran
 * meanwhile. Included by the programs (tally.bpf.c) and by their reader (src/record/tally/).
 *
 * Numbers of cgroups are in one of two banks. The reader changes the bank that the programs use,
 * waits until no program uses the other one any more, and takes the numbers out of it. So all the
 * numbers that it takes belong to the same instant.
 */
#ifndef TAP_BPF_TALLY_MAPS_H
#define TAP_BPF_TALLY_MAPS_H

/* How far a task migrated. */
enum tap_tally_scope {
	TAP_TALLY_LLC, /* between CPUs that share the last level of cache */
	TAP_TALLY_NODE, /* between others of the same NUMA node */
	TAP_TALLY_SYSTEM,
	TAP_TALLY_SCOPES,
};

/* Variables of the programs. */
struct tap_tally_variables {
	unsigned long long no_free_slot; /* number of new cgroups that count with an ancestor */
	unsigned long long command_migrations; /* of the tasks of TAP_TALLY_COMMAND */
	unsigned long long migrations[TAP_TALLY_SCOPES]; /* of all tasks */
	/* number of readings; its lowest bit is the bank that the programs use */
	unsigned int epoch;
	unsigned int pad;
};

/* How a task came to wait. */
enum tap_tally_kind {
	TAP_TALLY_WAKING, /* it was woken, or is new */
	TAP_TALLY_PREEMPTED, /* it was switched out while it could have gone on */
	TAP_TALLY_THROTTLED, /* it was switched out because its cgroup's quota was used up */
	TAP_TALLY_KINDS,
};

/* Why the length of a wait is not known. */
enum tap_tally_censored {
	TAP_TALLY_UNSEEN, /* the task has not been switched out since the tally began */
	TAP_TALLY_OTHER_TASK, /* the task's entry in "tap_tags" was taken by another task */
	TAP_TALLY_NO_STAMP, /* the kernel does not know when the task was queued */
	TAP_TALLY_NEGATIVE, /* the kernel's sums of the task have gone back */
	/*
	 * The task migrated while its dequeue was delayed (since v6.12): the kernel may count part
	 * of its sleep as a wait.
	 */
	TAP_TALLY_DELAYED_DEQUEUE,
	TAP_TALLY_REASONS,
};

/* Slots of "tap_rows" that are not those of a cgroup. */
#define TAP_TALLY_IDLE 0u
#define TAP_TALLY_KERNEL 1u /* kernel threads, whatever their cgroup */
#define TAP_TALLY_ROOT 2u /* the root cgroup, and cgroups of which no ancestor has a slot */
#define TAP_TALLY_COMMAND 3u /* tasks of a command, whatever their cgroup; unused without one */
#define TAP_TALLY_FIRST_FREE 4u

/*
 * Buckets are those of a Prometheus native histogram with schema 3, in seconds: bucket n, from 1 to
 * 216, has the waits above 2^(n / 8.0 - 22 - 1 / 8.0) s, up to and including 2^(n / 8.0 - 22) s.
 * Bucket 0 has those up to 2^-22 s (238 ns), bucket 217 those above 2^5 s.
 */
#define TAP_TALLY_SUB_BUCKETS 8
#define TAP_TALLY_FIRST_OCTAVE -22
#define TAP_TALLY_OCTAVES 27
#define TAP_TALLY_BUCKETS (TAP_TALLY_OCTAVES * TAP_TALLY_SUB_BUCKETS + 2)
#define TAP_TALLY_UNIT_BITS 40 /* the bucket is found from the wait in units of 2^-40 s */

/* Return: the bucket of a wait. Within 1e-9 above a bucket's upper limit, it may be that bucket. */
static inline __attribute__((always_inline)) unsigned int tap_tally_bucket(unsigned long long ns)
{
	unsigned long long v, rest;
	unsigned int octave = 0, sub = 0, mantissa;

	if (ns >> 43) /* 2.4 hours; a longer wait would overflow */
		return TAP_TALLY_BUCKETS - 1;
	v = ns * 1099 + (ns * 1072961 >> 21); /* 2^40 / 1e9 = 1099.511627776, or less by 7e-11 */
	if (v <= 1ull << (TAP_TALLY_UNIT_BITS + TAP_TALLY_FIRST_OCTAVE))
		return 0;
	rest = --v; /* a bucket includes its upper limit */
	if (rest >> 32) {
		octave += 32;
		rest >>= 32;
	}
	if (rest >> 16) {
		octave += 16;
		rest >>= 16;
	}
	if (rest >> 8) {
		octave += 8;
		rest >>= 8;
	}
	if (rest >> 4) {
		octave += 4;
		rest >>= 4;
	}
	if (rest >> 2) {
		octave += 2;
		rest >>= 2;
	}
	octave += rest >> 1;
	mantissa = (unsigned int)(octave <= 31 ? v << (31 - octave) : v >> (octave - 31));
	octave -= TAP_TALLY_UNIT_BITS + TAP_TALLY_FIRST_OCTAVE;
	if (octave >= TAP_TALLY_OCTAVES)
		return TAP_TALLY_BUCKETS - 1;
	/* 2^31 times 2^(1/8), 2^(2/8), ... 2^(7/8) */
	if (mantissa >= 3037000500u)
		sub = mantissa >= 3611622603u ? 6 + (mantissa >= 3938502376u)
					      : 4 + (mantissa >= 3311872530u);
	else
		sub = mantissa >= 2553802834u ? 2 + (mantissa >= 2784941738u)
					      : mantissa >= 2341847525u;
	return octave * TAP_TALLY_SUB_BUCKETS + sub + 1;
}

/*
 * Culprits that a row has by name. When a ninth one comes, the one with the least waiting makes
 * place for it, and its waiting is counted as that of others.
 */
#define TAP_TALLY_CULPRITS 8

struct tap_tally_culprit {
	unsigned long long ns;
	unsigned long long slot; /* 0: this entry is unused */
};

/* Element of the map "tap_rows", at index bank * slots + slot. All times in ns. */
struct tap_tally_row {
	unsigned long long run_ns; /* without slices that go on */
	unsigned long long wait_ns[TAP_TALLY_KINDS];
	/*
	 * The waits by the slot that ran meanwhile: these and .culprits add up to .wait_ns.
	 * .self_ns: its own cgroup, and the time that it was throttled. .other_ns: cgroups that
	 * are not in .culprits. .elsewhere_ns: it waited for another CPU before, or what ran is
	 * longer ago than the CPU's last TAP_TALLY_SLICES slices.
	 */
	unsigned long long self_ns, idle_ns, kernel_ns, other_ns, elsewhere_ns;
	struct tap_tally_culprit culprits[TAP_TALLY_CULPRITS];
	unsigned int censored[TAP_TALLY_REASONS];
	unsigned int buckets[TAP_TALLY_KINDS][TAP_TALLY_BUCKETS];
};

#define TAP_TALLY_SLICES 16
#define TAP_TALLY_NO_SLOT 0xffffffffu /* of the time before a CPU's first switch */

/* A time in which a CPU ran tasks of one slot. It began when the slice before ended. */
struct tap_tally_slice {
	unsigned long long end_ns;
	unsigned long long slot;
};

/*
 * Lengths of a run queue, by the number of runnable tasks, the one that runs included: 0 to 8, up
 * to 16, up to 32, up to 64, and more.
 */
#define TAP_TALLY_LENGTHS 13

/* Return: index for @nr runnable tasks. */
static inline __attribute__((always_inline)) unsigned int tap_tally_length(unsigned int nr)
{
	return nr <= 8 ? nr : 9u + (nr > 16) + (nr > 32) + (nr > 64);
}

/*
 * Waits of at least this length count in .idle_while_waiting_ns of struct tap_tally_cpu: looking at
 * other CPUs then costs little compared with the wait.
 */
#define TAP_TALLY_LONG_WAIT_NS 1000000u

/* Element of the map "tap_cpus". Times are those of the CPU's rq.clock. */
struct tap_tally_cpu {
	unsigned long long first_ns; /* of the first switch that was seen; 0: none yet */
	unsigned long long since_ns; /* begin of the current slice */
	unsigned int slot; /* of the current slice */
	unsigned int nr_slices; /* that have ended; the last is .slices[(nr_slices - 1) % 16] */
	struct tap_tally_slice slices[TAP_TALLY_SLICES];
	/*
	 * CLOCK_MONOTONIC minus rq.clock: the least of the differences that were taken. A stale
	 * rq.clock makes a difference too large, so the least one is the best; the least of two
	 * groups is kept, so that it follows a clock that is being adjusted.
	 */
	long long offset_ns, offset_before_ns;
	unsigned long long compared_ns; /* when the clocks were last compared */
	unsigned int nr_compared; /* differences in .offset_ns */
	/*
	 * .epoch: of the CPU's last switch. At its first switch in another epoch, the CPU keeps
	 * here what .since_ns, .slot, .switched_ns and .runnable were.
	 */
	unsigned int epoch;
	unsigned long long kept_since_ns, kept_switched_ns;
	unsigned int kept_slot, kept_runnable;
	unsigned int address_slot; /* of the cgroup at .address */
	/* of the struct cgroup whose slot was last asked for; 0: none */
	unsigned long long address;
	unsigned long long released; /* address of the cgroup that was last released on this CPU */
	/* of each bank; .idle_ns: without a slice that goes on */
	unsigned long long switches[2], idle_ns[2];
	unsigned long long max_wait_ns[2][TAP_TALLY_KINDS];
	/*
	 * The last switch, and the number of runnable tasks after it. Up to the next switch this is
	 * taken for the length of the run queue. .runnable_ns: time multiplied by the number.
	 */
	unsigned long long switched_ns;
	unsigned int runnable;
	unsigned int llc, node; /* set by the reader: CPUs with the same number belong together */
	unsigned int next_of_llc; /* set by the reader: the CPUs of an LLC form a ring */
	unsigned long long length_ns[2][TAP_TALLY_LENGTHS], runnable_ns[2];
	/*
	 * Of each bank: how long tasks waited for this CPU while another CPU of its LLC was idle.
	 * For each wait of TAP_TALLY_LONG_WAIT_NS or longer this is the longest time that a single
	 * other CPU was idle between the wait's begin and end (tap_tally_idle_ns()). So it is never
	 * more than the wait, however many CPUs were idle, and less than the time in which any of
	 * them was idle if they took turns. The other CPUs are those that the task may use when the
	 * wait ends, and that are online and in the same root domain: not isolated ones, and not
	 * those of another cpuset partition. Throttled waits do not count, and neither do waits of
	 * tasks that had waited for another CPU before.
	 */
	unsigned long long idle_while_waiting_ns[2];
	unsigned long long long_waiter; /* address of the task whose long wait ended last */
} __attribute__((aligned(64)));

#define TAP_TALLY_NO_OFFSET 0x7fffffffffffffffll /* the clocks were not compared yet */

/* Return: CLOCK_MONOTONIC minus the CPU's rq.clock; TAP_TALLY_NO_OFFSET. */
static inline __attribute__((always_inline)) long long
tap_tally_offset(const struct tap_tally_cpu *c)
{
	return c->offset_ns < c->offset_before_ns ? c->offset_ns : c->offset_before_ns;
}

/* Return: a time, or the end of the wait that is nearer. */
static inline __attribute__((always_inline)) unsigned long long
tap_tally_within(unsigned long long at, unsigned long long since, unsigned long long now)
{
	if (at < since)
		at = since;
	return at < now ? at : now;
}

/*
 * Return: for how long a CPU was certainly idle from @since to @now, which are times of another
 * CPU's rq.clock: at most @now - @since. On x86 the clocks of two CPUs agree within 1 us, because
 * they are the same TSC; clocks_agree() of src/record/tally/tally.c sees to it. Time before the
 * CPU's last TAP_TALLY_SLICES slices, or before its first switch, counts as not idle.
 *
 * The CPU may write meanwhile. It writes .slot after .since_ns, which are read the other way round:
 * an idle slot belongs to .since_ns, or to a slice that has just ended. A slice that changes while
 * it is read may count as what it was before. The sum remains within the limit: each slice only
 * counts from where the one after it begins.
 */
static inline __attribute__((always_inline)) unsigned long long
tap_tally_idle_ns(const struct tap_tally_cpu *c, unsigned long long since, unsigned long long now)
{
	unsigned int slot = *(const volatile unsigned int *)&c->slot;
	unsigned long long from = *(const volatile unsigned long long *)&c->since_ns, ns = 0;
	unsigned int nr = *(const volatile unsigned int *)&c->nr_slices;

	if (!c->first_ns)
		return 0;
	from = tap_tally_within(from, since, now);
	if (slot == TAP_TALLY_IDLE)
		ns = now - from;
	/* of the oldest slice only the end is known */
	for (unsigned int i = 1; i < TAP_TALLY_SLICES && from > since; i++) {
		const struct tap_tally_slice *s = &c->slices[(nr - i) % TAP_TALLY_SLICES];

		now = from;
		from = tap_tally_within(c->slices[(nr - i - 1) % TAP_TALLY_SLICES].end_ns, since,
					now);
		if (s->slot == TAP_TALLY_IDLE)
			ns += now - from;
	}
	return ns;
}

enum tap_tally_slot_state {
	TAP_TALLY_SLOT_FREE,
	TAP_TALLY_SLOT_LIVE,
	TAP_TALLY_SLOT_RELEASED, /* the cgroup is gone; the reader gives the slot back */
};

/* Element of the map "tap_slots": the cgroup that has a slot. */
struct tap_tally_slot {
	unsigned long long id, parent_id; /* inode numbers in the hierarchy */
	unsigned long long cgroup; /* address of its struct cgroup */
	unsigned int state; /* enum tap_tally_slot_state */
	unsigned int pad;
};

/* Elements of the map "tap_tags": 1 MiB. Tasks whose tids differ by a multiple share an element. */
#ifndef TAP_TALLY_TAGS /* a test has fewer */
#define TAP_TALLY_TAGS 65536u
#endif

/* Element of the map "tap_tags", at index tid % TAP_TALLY_TAGS: a task that was switched out. */
struct tap_tally_tag {
	unsigned long long task; /* address of its task_struct; 0: unused */
	/*
	 * The kernel's sum of the task's waits until then. With .is_uncounted: when its next wait
	 * begins, rq.clock. If waits begin at the waking: when its next wait begins,
	 * CLOCK_MONOTONIC; 0: it sleeps.
	 */
	unsigned long long ns : 56;
	unsigned long long kind : 6; /* enum tap_tally_kind of its next wait */
	unsigned long long is_uncounted : 1; /* the kernel does not count its next wait */
	unsigned long long is_censored : 1; /* TAP_TALLY_DELAYED_DEQUEUE */
};

/*
 * Waits of a task by length: bucket n has those above the limit of bucket n - 1, up to and
 * including 2^(n - 20) s (0.95 us, 1.9 us, ... 0.25 s). The last bucket has all longer ones.
 */
#define TAP_TALLY_TASK_BUCKETS 20u

/* Return: a task's bucket for a wait that is in @bucket of tap_tally_bucket(). */
static inline __attribute__((always_inline)) unsigned int tap_tally_task_bucket(unsigned int bucket)
{
	unsigned int n =
		bucket <= 2 * TAP_TALLY_SUB_BUCKETS ? 0 : (bucket - 1) / TAP_TALLY_SUB_BUCKETS - 1;

	return n < TAP_TALLY_TASK_BUCKETS ? n : TAP_TALLY_TASK_BUCKETS - 1;
}

/* What the tally adds to the kernel's own numbers of a task. */
struct tap_tally_task_waits {
	unsigned int buckets[TAP_TALLY_TASK_BUCKETS]; /* number of waits that ended, of all kinds */
	unsigned long long max_wait_ns; /* the longest one; 0: none ended */
};

/*
 * Element of the map "tap_task_waits", at index bank * TAP_TALLY_TAGS + tid % TAP_TALLY_TAGS: the
 * waits of one task that ended in one epoch. At the first wait of another task, or in another
 * epoch, the program clears the element. Two CPUs that at the same moment end waits of two tasks
 * that share an element may leave a wait with the wrong one.
 */
struct tap_tally_task_count {
	unsigned int epoch;
	unsigned int start; /* low 32 bits of the task's start time: they identify it */
	struct tap_tally_task_waits waits;
};

/* The kernel's own numbers of a task since it began, as the program tap_each_task writes them. */
struct tap_tally_task {
	unsigned int tid, tgid; /* in the initial pid namespace */
	unsigned long long start_ns; /* CLOCK_MONOTONIC */
	unsigned long long run_ns, wait_ns, waits; /* wait_ns: without a wait that goes on */
	unsigned long long voluntary, involuntary; /* switches to another task */
	unsigned long long migrations;
	char comm[16];
	unsigned int cpu; /* it runs there, or ran last */
	/* of its cgroup or of the nearest ancestor that has one, as in "tap_rows" */
	unsigned int slot;
	unsigned int util; /* util_avg, 0..1024; TAP_TALLY_UNKNOWN */
	int prio; /* the kernel's: 0..99 real-time, 100..139 nice -20 to 19; -1: deadline */
};

#define TAP_TALLY_UNKNOWN 0xffffffffu /* of .util */

#endif
