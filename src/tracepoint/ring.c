// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes records into rings (shared.h has the layout). Each CPU has its own ring. Threads with a
 * restartable sequence area write with one (rseq.h): a record is complete once `head` has moved.
 * Other threads write into separate rings with atomic operations: they first reserve the space, and
 * the record is complete once its first word is not zero, which is written last.
 *
 * When a ring is full, it closes at the end of its last sub-buffer: events are lost until the next
 * sub-buffer is free. They are counted, with the times of the first and the last, and the first
 * record of the next sub-buffer reports them.
 */
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracepoint/clock.h"
#include "tracepoint/internal.h"
#include "tracepoint/rseq.h"

#define SUB_WORDS                                                                                  \
	((TAP_SUB_HEADER + sizeof(struct tap_record_head) + sizeof(struct tap_sub_info)) / 8)
#define EVENT_ONE ((uint64_t)1 << 32) /* one event in a sub-buffer's commit word */
#define TYPE_STAMP 31u
#define TYPE_PADDING 29u
#define SPINS 10000u /* while another thread takes the next sub-buffer */
#define TRIES 1000u /* attempts to complete a sequence that is aborted again and again */
#define MAKING_TRIES 10000u /* each waits 0.1 ms */
#define CHECK_EACH 1024u /* check after this many lost events */
/* a recorder that drains nothing for this time is taken for dead */
#define RECORDER_NS 10000000000ull

static bool use_cycles;
/*
 * If the clock is the CPU's counter, records take a fast path: one for rseq, one for atomic
 * operations. The way is known once the first ring is made; until then all threads take the slow
 * path, which makes the ring.
 */
enum { WAY_ANY, WAY_RSEQ, WAY_ATOMIC };
static int way;
ptrdiff_t tap_rseq_offset;
static uint64_t lost_without_ring;

/* The beginning of a sub-buffer. */
struct sub_start {
	uint64_t ts, commit;
	struct tap_record_head head;
	struct tap_sub_info info;
};
_Static_assert(sizeof(struct sub_start) == SUB_WORDS * 8, "a sub-buffer begins with whole words");

/* ---- the clock ---- */

/*
 * Choose the clock when the first ring is made. It never changes afterwards, and a child after a
 * fork keeps its parent's. A controller says which clock to use: it has checked what the kernel
 * thinks of the counter, so that the program need not open a file.
 */
static void choose_clock(void)
{
	static bool chosen;

	if (!chosen)
		use_cycles = __atomic_load_n(&tap_control->use_clock, __ATOMIC_RELAXED) ==
			     TAP_CLOCK_CYCLES;
	chosen = true;
	tap_control->clock = use_cycles ? TAP_CLOCK_CYCLES : TAP_CLOCK_MONO;
	if (use_cycles)
		__atomic_store_n(&way, tap_rseq_is_on() ? WAY_RSEQ : WAY_ATOMIC, __ATOMIC_RELAXED);
}

/* Not inline: keeps the stack frames of its callers small. */
static __attribute__((noinline)) uint64_t mono_now(void)
{
	return tap_mono_ns();
}

static inline uint64_t clock_now(void)
{
	return tap_likely(use_cycles) ? tap_cycles() : mono_now();
}

/* Read both clocks at the same moment: take the middle of the fastest of three attempts. */
static void clock_pair(uint64_t *stamp, uint64_t *mono_ns)
{
	uint64_t best = UINT64_MAX;

	*stamp = *mono_ns = tap_mono_ns();
	for (unsigned int i = 0; use_cycles && i < 3; i++) {
		uint64_t before = tap_cycles(), mono = tap_mono_ns(), took = tap_cycles() - before;

		if (took >= best)
			continue;
		best = took;
		*stamp = before + took / 2;
		*mono_ns = mono;
	}
}

/* Join two 32-bit words that are adjacent in memory. */
static inline uint64_t join_words(uint32_t first, uint32_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint64_t)second << 32 | first;
#else
	return (uint64_t)first << 32 | second;
#endif
}

static inline uint64_t stamp_words(uint64_t stamp)
{
	uint64_t both = stamp << 5 | TYPE_STAMP;

	return join_words((uint32_t)both, (uint32_t)(both >> 32));
}

/* ---- making rings ---- */

static void use_ring(struct tap_ring *r, char *p, unsigned int cpu)
{
	struct tap_ring_head *head = (struct tap_ring_head *)p;

	r->states = (uint64_t *)(p + TAP_RING_STATES);
	r->subs = (unsigned char *)p + head->subs_offset;
	r->mask = head->bytes - 1;
	r->cpu = cpu;
	__atomic_store_n(&r->head, head, __ATOMIC_RELEASE);
}

/*
 * Map a ring's area. A child makes rings of its own, and core files should not contain rings.
 * Return: MAP_FAILED with errno on error.
 */
static void *map_area(uint32_t nr)
{
	void *p = tap_control_map(nr);

	if (p == MAP_FAILED)
		return p;
	madvise(p, tap_control_area(nr)->size, MADV_DONTFORK);
	madvise(p, tap_control_area(nr)->size, MADV_DONTDUMP);
	return p;
}

/*
 * Use a ring that another process that shares the control file has made. Return: 0; -ENOENT if
 * there is none; -errno.
 */
static int find_made(struct tap_ring *r, unsigned int cpu, bool atomic)
{
	for (uint32_t i = 0; i < __atomic_load_n(&tap_control->areas_nr, __ATOMIC_ACQUIRE); i++) {
		const struct tap_area *a = tap_control_area(i);
		void *p;

		if (__atomic_load_n(&a->kind, __ATOMIC_ACQUIRE) != TAP_AREA_RING || a->nr != cpu ||
		    a->atomic != atomic)
			continue;
		p = map_area(i);
		if (p == MAP_FAILED)
			return -errno;
		use_ring(r, p, cpu);
		return 0;
	}
	return -ENOENT;
}

/* Return: 0, or -errno. */
static int make_ring_area(struct tap_ring *r, unsigned int cpu, bool atomic)
{
	unsigned int shift = __atomic_load_n(&tap_control->ring_shift, __ATOMIC_RELAXED);
	uint64_t bytes, subs_at;
	struct tap_area *a;
	char *p;
	int nr;

	if (shift < TAP_RING_SHIFT_MIN || shift > TAP_RING_SHIFT_MAX)
		shift = TAP_RING_SHIFT;
	bytes = (uint64_t)1 << shift;
	subs_at = TAP_RING_STATES + bytes / TAP_SUB_BYTES * sizeof(uint64_t);
	subs_at = (subs_at + TAP_RING_PAGE - 1) & ~(uint64_t)(TAP_RING_PAGE - 1);
	nr = tap_control_add_area(subs_at + bytes, NULL);
	if (nr < 0)
		return nr;
	p = map_area((uint32_t)nr);
	if (p == MAP_FAILED)
		return -errno;
	*(struct tap_ring_head *)p =
		(struct tap_ring_head){ .bytes = bytes, .subs_offset = subs_at };
	a = tap_control_area((uint32_t)nr);
	a->nr = cpu;
	a->atomic = atomic;
	tap_control_publish((uint32_t)nr, TAP_AREA_RING);
	use_ring(r, p, cpu);
	return 0;
}

/*
 * Lock ring creation, also against processes that share the control file, because a CPU has only
 * one ring of each kind. Return: false if another thread has held the lock for 1 s.
 */
static bool begin_making(void)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	uint32_t self = (uint32_t)syscall(SYS_gettid);

	for (unsigned int i = 0; i < MAKING_TRIES; i++) {
		uint32_t other = 0;

		if (__atomic_compare_exchange_n(&tap_control->making, &other, self, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		if (kill((pid_t)other, 0) && errno == ESRCH) /* its holder was killed */
			__atomic_compare_exchange_n(&tap_control->making, &other, 0, false,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		else
			nanosleep(&pause, NULL);
	}
	return false;
}

/* Return: 0; -EBUSY: try again with the next event; another -errno. */
static int make_or_find(struct tap_ring *r, unsigned int cpu, bool atomic)
{
	int ret;

	if (!begin_making())
		return -EBUSY;
	ret = find_made(r, cpu, atomic);
	if (ret == -ENOENT)
		ret = make_ring_area(r, cpu, atomic);
	__atomic_store_n(&tap_control->making, 0, __ATOMIC_RELEASE);
	return ret;
}

/* Remember that a ring could not be made, so that no thread tries again. */
static void note_ringless(unsigned int cpu, int code)
{
	__atomic_store_n(&tap_control->ringless, 1, __ATOMIC_RELAXED);
	if (!tap_trylock())
		return;
	tap_set_reason("events of CPU %u are lost: cannot create a ring: %s", cpu, strerror(-code));
	tap_unlock();
}

static inline bool is_made(const struct tap_ring *r)
{
	return __atomic_load_n(&r->head, __ATOMIC_ACQUIRE);
}

/* Make the ring @arg, an element of tap_process->rings, unless another thread has made it. */
static void make_missing_ring(void *arg)
{
	struct tap_ring *r = arg;
	unsigned int i = (unsigned int)(r - tap_process->rings), cpu = i / TAP_RINGS_KINDS;
	int ret;

	if (is_made(r) || !tap_control || __atomic_load_n(&tap_control->ringless, __ATOMIC_RELAXED))
		return;
	choose_clock();
	ret = make_or_find(r, cpu, i % TAP_RINGS_KINDS == TAP_RINGS_ATOMIC);
	if (ret && ret != -EBUSY)
		note_ringless(cpu, ret);
}

/*
 * Set up a child if need be. Return: true if this process is set up and has a control file; false
 * also if another thread, or code that this signal handler has interrupted, is setting it up.
 */
static bool is_set_up(void)
{
	if (!__atomic_load_n(&tap_process->pid, __ATOMIC_ACQUIRE) && tap_trylock()) {
		tap_child_set_up();
		tap_unlock();
	}
	return __atomic_load_n(&tap_process->pid, __ATOMIC_ACQUIRE) && tap_control;
}

/*
 * Make a ring at the first event on a CPU. Other threads wait for it, which takes as long as
 * extending a file, so that no event is lost because another thread makes the ring. Return: NULL:
 * no ring, the event is lost.
 */
static __attribute__((noinline)) struct tap_ring *make_ring(struct tap_ring *r)
{
	int saved = errno;

	if (is_set_up() && !__atomic_load_n(&tap_control->ringless, __ATOMIC_RELAXED))
		tap_on_own_stack(make_missing_ring, r);
	errno = saved;
	return is_made(r) ? r : NULL;
}

static inline struct tap_ring *ring_of(size_t cpu, unsigned int kind)
{
	struct tap_ring *r = &tap_process->rings[cpu * TAP_RINGS_KINDS + kind];

	/* keeps compilers from computing the address again for each member */
	__asm__("" : "+r"(r));
	return r;
}

static inline struct tap_ring *find_ring(unsigned int kind, unsigned int cpu)
{
	struct tap_ring *r;

	if (tap_unlikely(cpu >= TAP_MAX_CPUS))
		return NULL;
	r = ring_of(cpu, kind);
	return tap_likely(is_made(r)) ? r : make_ring(r);
}

/* ---- losses ---- */

/*
 * Switch to overwriting if the recorder seems to be dead, since a killed recorder never makes room
 * again. A live recorder changes `drained` whenever it finds new data.
 */
static void check_recorder(void)
{
	static uint64_t since;
	static uint8_t seen;
	uint64_t now = mono_now();
	uint8_t drained = __atomic_load_n(&tap_control->drained, __ATOMIC_RELAXED);

	if (drained != __atomic_load_n(&seen, __ATOMIC_RELAXED) ||
	    !__atomic_load_n(&since, __ATOMIC_RELAXED)) {
		__atomic_store_n(&seen, drained, __ATOMIC_RELAXED);
		__atomic_store_n(&since, now, __ATOMIC_RELAXED);
	} else if (now - __atomic_load_n(&since, __ATOMIC_RELAXED) > RECORDER_NS) {
		__atomic_store_n(&tap_control->mode, TAP_RING_OVERWRITE, __ATOMIC_RELAXED);
	}
}

static void count_loss(struct tap_ring *r)
{
	uint64_t now = clock_now(), none = 0, nr;

	__atomic_compare_exchange_n(&r->head->lost_first, &none, now, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	__atomic_store_n(&r->head->lost_last, now, __ATOMIC_RELAXED);
	nr = __atomic_fetch_add(&r->head->lost, 1, __ATOMIC_RELEASE);
	if (nr % CHECK_EACH == CHECK_EACH - 1)
		check_recorder();
}

void tap_record_lose(void)
{
	__atomic_fetch_add(tap_control ? &tap_control->lost : &lost_without_ring, 1,
			   __ATOMIC_RELAXED);
}

/* ---- sub-buffers ---- */

static unsigned char *sub_at(const struct tap_ring *r, uint64_t position)
{
	return r->subs + (position & r->mask & ~(uint64_t)(TAP_SUB_BYTES - 1));
}

static uint64_t *commit_of(const struct tap_ring *r, uint64_t position)
{
	return (uint64_t *)(sub_at(r, position) + 8);
}

static uint64_t *state_of(const struct tap_ring *r, uint64_t position)
{
	return &r->states[(position & r->mask) / TAP_SUB_BYTES];
}

static bool is_free(const struct tap_ring *r, uint64_t position)
{
	return __atomic_load_n(&tap_control->mode, __ATOMIC_RELAXED) == TAP_RING_OVERWRITE ||
	       !(__atomic_load_n(state_of(r, position), __ATOMIC_ACQUIRE) & 0xff);
}

static void fill_start(const struct tap_ring *r, uint64_t events, struct sub_start *s)
{
	const struct tap_ring_head *h = r->head;
	uint64_t stamp, mono_ns;

	clock_pair(&stamp, &mono_ns);
	*s = (struct sub_start){
		.ts = stamp,
		.commit = sizeof(s->head) + sizeof(s->info),
		.head = { .length = sizeof(s->info) + 4 },
		.info = { .type = TAP_ID_SUB,
			  .tid = __atomic_load_n(&tap_self->tid, __ATOMIC_RELAXED),
			  .mono_ns = mono_ns,
			  .events = events,
			  .lost = __atomic_load_n(&h->lost, __ATOMIC_ACQUIRE),
			  .lost_first = __atomic_load_n(&h->lost_first, __ATOMIC_RELAXED),
			  .lost_last = __atomic_load_n(&h->lost_last, __ATOMIC_RELAXED) },
	};
	memcpy(&s->head, &(uint64_t){ stamp_words(stamp) }, 8);
}

static inline uint64_t room_at(uint64_t position) /* 0: at a boundary */
{
	return -position & (TAP_SUB_BYTES - 1);
}

/* The sub-buffer's first record has reported the events lost so far. */
static void clear_losses(struct tap_ring *r, const struct sub_start *s)
{
	if (s->info.lost_first)
		__atomic_store_n(&r->head->lost_first, 0, __ATOMIC_RELAXED);
}

/* ---- with restartable sequences ---- */

/*
 * A sequence writes the commit word, or a sub-buffer's state, before head. If it is aborted between
 * the two, the commit word counts a record that does not exist, or the state marks a sub-buffer as
 * taken that is not. Both can be detected: the commit word's bytes do not match head, and the state
 * contains the number of the taken sub-buffer.
 */
static uint64_t true_commit(uint64_t commit, uint64_t head)
{
	uint32_t used = head % TAP_SUB_BYTES - TAP_SUB_HEADER;

	return (uint32_t)commit == used ? commit : (commit - EVENT_ONE) >> 32 << 32 | used;
}

static uint64_t taken_state(uint64_t boundary)
{
	return boundary / TAP_SUB_BYTES << 8 | 1;
}

/* Correct the commit word, and advance head within its sub-buffer by @step. */
static void settle_rseq(struct tap_ring *r, struct rseq *rs, uint64_t head, uint64_t step)
{
	uint64_t *commit = commit_of(r, head), value = true_commit(*commit, head);
	struct tap_rseq_op op = { .position = &r->head->head,
				  .expected = head,
				  .step = step,
				  .other = commit,
				  .other_value = value,
				  .to = commit,
				  .first = value,
				  .bytes = sizeof(value) };

	tap_rseq_commit(rs, r->cpu, &op);
}

/* Number of events in all sub-buffers before @boundary. */
static uint64_t events_before(const struct tap_ring *r, uint64_t boundary)
{
	const struct sub_start *last = (const struct sub_start *)sub_at(r, boundary - 1);

	return boundary ? last->info.events + (last->commit >> 32) : 0;
}

/*
 * Try to take the sub-buffer at @boundary. Return: false if it is not free; true also if the
 * sequence was aborted.
 */
static bool take_sub_rseq(struct tap_ring *r, struct rseq *rs, uint64_t boundary)
{
	struct sub_start start;
	struct tap_rseq_op op = { .position = &r->head->head,
				  .expected = boundary,
				  .step = sizeof(start),
				  .other = state_of(r, boundary),
				  .other_value = taken_state(boundary),
				  .to = sub_at(r, boundary),
				  .from = &start,
				  .bytes = sizeof(start) };

	if (*op.other != op.other_value && !is_free(r, boundary))
		return false;
	fill_start(r, events_before(r, boundary), &start);
	op.first = start.ts;
	if (tap_rseq_commit(rs, r->cpu, &op))
		clear_losses(r, &start);
	return true;
}

/*
 * Write a record into @r. The stamp is taken after the load of head, so records are in the order of
 * their stamps. Return: false: not written, because the sequence was aborted, or the sub-buffer is
 * full or not taken yet (then its commit word does not match head).
 */
static inline __attribute__((always_inline)) bool put_rseq(struct rseq *rs, struct tap_ring *r,
							   uint32_t cpu, const uint64_t *rec,
							   uint64_t bytes, bool cycles)
{
	uint64_t head = __atomic_load_n(&r->head->head, __ATOMIC_RELAXED);
	uint64_t at = head % TAP_SUB_BYTES;
	unsigned char *to = r->subs + (head & r->mask);
	uint64_t *commit = (uint64_t *)(to - at + 8);
	struct tap_rseq_op op = { .position = &r->head->head,
				  .expected = head,
				  .step = bytes,
				  .other = commit,
				  .other_value = *commit + bytes + EVENT_ONE,
				  .to = to,
				  .from = rec,
				  .bytes = bytes };

	if (tap_unlikely(at + bytes > TAP_SUB_BYTES ||
			 (uint32_t)*commit != (uint32_t)at - TAP_SUB_HEADER))
		return false;
	op.first = stamp_words(cycles ? tap_cycles() : tap_mono_ns());
	return tap_rseq_commit(rs, cpu, &op);
}

/* The slow path: handles a missing ring, a full sub-buffer and an aborted sequence. */
static __attribute__((noinline)) void commit_rseq(struct rseq *rs, const uint64_t *rec,
						  uint64_t bytes)
{
	for (unsigned int i = 0; i < TRIES; i++) {
		uint32_t cpu = tap_rseq_cpu(rs);
		struct tap_ring *r = find_ring(TAP_RINGS_RSEQ, cpu);
		uint64_t head;

		if (!r)
			break;
		if (put_rseq(rs, r, cpu, rec, bytes, use_cycles))
			return;
		head = __atomic_load_n(&r->head->head, __ATOMIC_RELAXED);
		if (room_at(head)) {
			settle_rseq(r, rs, head, bytes > room_at(head) ? room_at(head) : 0);
		} else if (!take_sub_rseq(r, rs, head)) {
			count_loss(r);
			return;
		}
	}
	tap_record_lose();
}

/* ---- with atomic operations ---- */

/*
 * Return true if all records of the sub-buffer that is about to be overwritten are complete, so
 * that no thread still writes to it.
 */
static bool is_settled(const struct tap_ring *r, uint64_t position)
{
	uint64_t end = __atomic_load_n(state_of(r, position), __ATOMIC_RELAXED) >> 8;

	return !end || (uint32_t)__atomic_load_n(commit_of(r, position), __ATOMIC_ACQUIRE) +
				       TAP_SUB_HEADER ==
			       end;
}

/*
 * Store in the state where the sub-buffer ends that is filled up to @head, unless it is stored
 * already, and mark the rest as empty.
 */
static void close_sub(struct tap_ring *r, uint64_t head)
{
	uint64_t *state = state_of(r, head - 1), end = (head - 1) % TAP_SUB_BYTES + 1;

	if (!head || *state >> 8)
		return;
	/*
	 * byte by byte, because the reader may clear the first byte at any time to free the
	 * sub-buffer
	 */
	for (unsigned int i = 1; i < 4; i++)
		((volatile unsigned char *)state)[i] = (unsigned char)(end >> (8 * i - 8));
	if (end < TAP_SUB_BYTES)
		__atomic_store_n((uint32_t *)(r->subs + (head & r->mask)), TYPE_PADDING,
				 __ATOMIC_RELEASE);
}

/* Advance head to @to, skipping the room that is left. */
static void leave_sub(struct tap_ring *r, uint64_t to)
{
	uint64_t head = __atomic_load_n(&r->head->head, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(&r->head->head, &head, to, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED))
		;
	close_sub(r, head);
}

/*
 * Clear a sub-buffer, because its records become complete one by one. Not with memset(), which
 * valgrind executes byte by byte.
 */
static void clear_sub(unsigned char *sub)
{
	typedef uint64_t two __attribute__((vector_size(16), may_alias));

	for (unsigned int i = 0; i < TAP_SUB_BYTES; i += 8 * sizeof(two)) {
		volatile two *lines = (volatile two *)(sub + i);

		lines[0] = lines[1] = lines[2] = lines[3] = (two){ 0 };
		lines[4] = lines[5] = lines[6] = lines[7] = (two){ 0 };
	}
}

/*
 * Number of events that this sub-buffer has held since the ring was made. The number in all earlier
 * sub-buffers is not known here: threads may have reserved space in the preceding one and not yet
 * counted their records.
 */
static uint64_t events_of(const struct tap_ring *r, uint64_t boundary)
{
	const struct sub_start *s = (const struct sub_start *)sub_at(r, boundary);

	return boundary > r->mask ? s->info.events + (s->commit >> 32) : 0;
}

static void start_sub(struct tap_ring *r, uint64_t boundary)
{
	uint64_t events = events_of(r, boundary);
	struct sub_start start;

	clear_sub(sub_at(r, boundary));
	leave_sub(r, boundary); /* from now on, no other thread moves head: it is at a boundary */
	fill_start(r, events, &start);
	memcpy(sub_at(r, boundary), &start, sizeof(start));
	*state_of(r, boundary) = 1;
	__atomic_store_n(&r->head->head, boundary + sizeof(start), __ATOMIC_RELEASE);
	clear_losses(r, &start);
}

static __attribute__((noinline)) bool next_sub_atomic(struct tap_ring *r, uint64_t head)
{
	uint64_t boundary = head + room_at(head), claimed = boundary;

	/*
	 * one thread takes the sub-buffer: claim is the next boundary, plus 1 while a thread takes
	 * it
	 */
	if (__atomic_compare_exchange_n(&r->head->claim, &claimed, boundary + 1, false,
					__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		bool free = is_free(r, boundary) && is_settled(r, boundary);

		if (free)
			start_sub(r, boundary);
		else
			leave_sub(r, boundary);
		__atomic_store_n(&r->head->claim, boundary + (free ? TAP_SUB_BYTES : 0),
				 __ATOMIC_RELEASE);
		return free;
	}
	for (unsigned int i = 0; i < SPINS; i++)
		if (__atomic_load_n(&r->head->head, __ATOMIC_RELAXED) != head)
			return true;
	return false;
}

/* Copy all words but the first, two at a time, last ones first. @bytes: at least 24. */
static inline void copy_words(unsigned char *to, const unsigned char *from, uint64_t bytes)
{
	typedef uint64_t two __attribute__((vector_size(16), aligned(8), may_alias));
	typedef uint64_t one __attribute__((may_alias));
	uint64_t left = bytes - 8;

	if (left & 8) {
		*(one *)(to + left) = *(const one *)(from + left);
		left -= 8;
	}
	do {
		/* keeps compilers from making this a memcpy() call */
		__asm__("" : "+r"(left) : : "memory");
		left -= 16;
		*(two *)(to + 8 + left) = *(const two *)(from + 8 + left);
	} while (left);
}

/* glibc has getcpu() since 2.29; other C libraries do not define __GLIBC_PREREQ */
#ifdef __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 29)
#define HAS_GETCPU
#endif
#endif

static inline unsigned int current_cpu(void)
{
	unsigned int cpu = 0;

#ifdef HAS_GETCPU
	getcpu(&cpu, NULL); /* sched_getcpu() would try rseq first */
#else
	cpu = (unsigned int)sched_getcpu();
#endif
	return tap_likely(cpu < TAP_MAX_CPUS) ? cpu : 0;
}

/*
 * Write a record at @head of a ring. @at: the ring's head. Return: false if another thread has
 * moved the head.
 */
static inline bool put_atomic(const struct tap_ring *r, struct tap_ring_head *at, uint64_t head,
			      const uint64_t *rec, uint64_t bytes, uint64_t stamp)
{
	unsigned char *to = r->subs + (head & r->mask);
	uint64_t *sub = (uint64_t *)(to - head % TAP_SUB_BYTES);

	if (!__atomic_compare_exchange_n(&at->head, &head, head + bytes, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	copy_words(to, (const unsigned char *)rec, bytes);
	__atomic_store_n((uint64_t *)to, stamp_words(stamp), __ATOMIC_RELEASE);
	__atomic_fetch_add(&sub[1], bytes + EVENT_ONE, __ATOMIC_RELEASE);
	return true;
}

/* The slow path with atomic operations: handles a missing ring and a full sub-buffer. */
static __attribute__((noinline)) void commit_atomic(const uint64_t *rec, uint64_t bytes)
{
	struct tap_ring *r = find_ring(TAP_RINGS_ATOMIC, current_cpu());
	uint64_t head;

	if (!r) {
		tap_record_lose();
		return;
	}
	do {
		head = __atomic_load_n(&r->head->head, __ATOMIC_RELAXED);
		if (bytes > room_at(head) && !next_sub_atomic(r, head)) {
			count_loss(r);
			return;
		}
	} while (bytes > room_at(head) ||
		 !put_atomic(r, r->head, head, rec, bytes,
			     use_cycles ? tap_cycles_after_loads() : mono_now()));
}

/* ---- records ---- */

static inline void fill_head(uint64_t *rec, size_t bytes, const struct trace_event_call *call,
			     uint32_t tid)
{
	/* whole words: loading a word after storing its parts stalls until the stores complete */
	rec[1] = join_words(0, (uint32_t)bytes - 12);
	rec[2] = join_words(call->id, tid);
}

static __attribute__((noinline)) void commit_any(const uint64_t *rec, uint64_t bytes)
{
	if (tap_rseq_is_on() && (int32_t)tap_rseq_cpu(tap_rseq_area()) >= 0)
		commit_rseq(tap_rseq_area(), rec, bytes);
	else
		commit_atomic(rec, bytes);
}

static __attribute__((noinline)) void commit_first(uint64_t *rec, size_t bytes,
						   const struct trace_event_call *call)
{
	tap_thread_join(); /* if out of memory, the tid is recorded as 0 */
	fill_head(rec, bytes, call, (uint32_t)__atomic_load_n(&tap_self->tid, __ATOMIC_RELAXED));
	if (!call->filtered || tap_filter_passes(call, rec + 2, bytes - sizeof(struct tap_record)))
		commit_any(rec, bytes);
}

/*
 * The fast path with rseq: it calls no function, and so needs to save few registers. Return: false
 * if the slow path is needed.
 */
static inline __attribute__((always_inline)) bool put_quickly(const uint64_t *rec, uint64_t bytes)
{
	struct rseq *rs = tap_rseq_area();
	size_t cpu = tap_rseq_cpu(rs);
	struct tap_ring *r;

	if (tap_unlikely(cpu >= TAP_MAX_CPUS))
		return false;
	r = ring_of(cpu, TAP_RINGS_RSEQ);
	return tap_likely(is_made(r)) && put_rseq(rs, r, (uint32_t)cpu, rec, bytes, true);
}

static __attribute__((noinline)) void commit_without_rseq(const uint64_t *rec, uint64_t bytes)
{
	struct tap_ring *r = ring_of(current_cpu(), TAP_RINGS_ATOMIC);
	struct tap_ring_head *at = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE);
	uint64_t head;

	if (tap_likely(at)) {
		head = __atomic_load_n(&at->head, __ATOMIC_RELAXED);
		if (tap_likely(bytes <= room_at(head) &&
			       put_atomic(r, at, head, rec, bytes, tap_cycles_after_loads())))
			return;
	}
	commit_atomic(rec, bytes);
}

static inline __attribute__((always_inline)) void commit_record(uint64_t *rec, size_t bytes)
{
	int known_way = __atomic_load_n(&way, __ATOMIC_RELAXED);

	if (tap_likely(known_way == WAY_RSEQ) && tap_likely(put_quickly(rec, bytes)))
		return;
	if (known_way > WAY_RSEQ)
		commit_without_rseq(rec, bytes);
	else
		commit_any(rec, bytes);
}

/*
 * commit_filtered(), commit_asked() and commit_passed() each end with a tail call of the next one,
 * so that rejecting a record saves no registers.
 */
static __attribute__((noinline)) void commit_passed(uint64_t *rec, size_t bytes)
{
	commit_record(rec, bytes);
}

static __attribute__((noinline)) void commit_asked(uint64_t *rec, size_t bytes,
						   const struct trace_event_call *call)
{
	if (tap_filter_passes(call, rec + 2, bytes - sizeof(struct tap_record)))
		commit_passed(rec, bytes);
}

static __attribute__((noinline)) void commit_filtered(uint64_t *rec, size_t bytes,
						      const struct trace_event_call *call)
{
	int rejects = tap_filter_rejects_quickly(call, rec + 2, bytes - sizeof(struct tap_record));

	if (rejects == 0)
		commit_passed(rec, bytes);
	else if (rejects < 0)
		commit_asked(rec, bytes, call);
}

void tap_record_commit(struct tap_record *rec, size_t bytes, const struct trace_event_call *call)
{
	uint32_t tid = (uint32_t)__atomic_load_n(&tap_self->tid, __ATOMIC_RELAXED);
	uint64_t *words = (uint64_t *)rec;

	if (tap_unlikely(!tid)) {
		commit_first(words, bytes, call);
		return;
	}
	fill_head(words, bytes, call, tid);
	if (tap_unlikely(call->filtered))
		commit_filtered(words, bytes, call);
	else
		commit_record(words, bytes);
}

void tap_record_note_cut(void)
{
	if (tap_control)
		__atomic_fetch_add(&tap_control->cut, 1, __ATOMIC_RELAXED);
}
