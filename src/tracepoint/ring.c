// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Records into rings (shared.h has the layout). A ring belongs to a CPU. Threads with a
 * restartable sequence area write with one (rseq.h): a record is whole once `head` has moved.
 * Other threads write into rings of their own, with atomic operations: they take the space first,
 * and the record is real once its first word is not zero, which is written last.
 *
 * A ring that is full closes at the end of its last sub-buffer: what comes until the next one is
 * free is lost, counted and timed, and the next sub-buffer's first record says so.
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
#define EVENT_ONE ((uint64_t)1 << 32) /* in a sub-buffer's commit word */
#define TYPE_STAMP 31u
#define TYPE_PADDING 29u
#define SPINS 10000u /* for another thread that is taking the next sub-buffer */
#define TRIES 1000u /* of a sequence that is ended again and again */
#define MAKING_TRIES 10000u /* of 0.1 ms */
#define CHECK_EACH 1024u /* losses */
#define RECORDER_NS                                                                                \
	10000000000ull /* one that drains nothing for that long is gone, or as good as that */

static bool use_cycles;
/*
 * Where the clock is the CPU's counter, there is a quick way with rseq and one with atomics. Known
 * with the first ring: until then any thread takes the long way, at whose end the ring is.
 */
enum { WAY_ANY, WAY_RSEQ, WAY_ATOMIC };
static int way;
ptrdiff_t tap_rseq_offset;
static uint64_t lost_without_ring;

/* What stands at the beginning of a sub-buffer. */
struct sub_start {
	uint64_t ts, commit;
	struct tap_record_head head;
	struct tap_sub_info info;
};
_Static_assert(sizeof(struct sub_start) == SUB_WORDS * 8, "a sub-buffer begins with whole words");

/* ---- the clock ---- */

/*
 * When the first ring is made, for good: a child after a fork has its parent's. Controllers say
 * which: they find out what the kernel thinks of the counter, so that the program has no file to
 * open.
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

/* Not inline: callers need no stack of their own. */
static __attribute__((noinline)) uint64_t mono_now(void)
{
	return tap_mono_ns();
}

static inline uint64_t clock_now(void)
{
	return tap_likely(use_cycles) ? tap_cycles() : mono_now();
}

/* Both clocks at one moment: the counter in the middle of the quickest of some tries. */
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

/* Two 32-bit words as they lie in memory. */
static inline uint64_t pair(uint32_t first, uint32_t second)
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

	return pair((uint32_t)both, (uint32_t)(both >> 32));
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

/* Return: the mapping; MAP_FAILED, with errno. A child has rings of its own, and a core file is no
 * place for them. */
static void *map_area(uint32_t nr)
{
	void *p = tap_control_map(nr);

	if (p == MAP_FAILED)
		return p;
	madvise(p, tap_control_area(nr)->size, MADV_DONTFORK);
	madvise(p, tap_control_area(nr)->size, MADV_DONTDUMP);
	return p;
}

/* One that another process of those that share the file has made. Return: 0; -ENOENT: there is
 * none; -errno. */
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

/* A CPU has one of each kind, whoever makes it. Return: false: somebody has been at it for too
 * long. */
static bool begin_making(void)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	uint32_t self = (uint32_t)syscall(SYS_gettid);

	for (unsigned int i = 0; i < MAKING_TRIES; i++) {
		uint32_t other = 0;

		if (__atomic_compare_exchange_n(&tap_control->making, &other, self, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		if (kill((pid_t)other, 0) && errno == ESRCH) /* it was killed */
			__atomic_compare_exchange_n(&tap_control->making, &other, 0, false,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		else
			nanosleep(&pause, NULL);
	}
	return false;
}

/* Return: 0, or -errno; -EBUSY: it can be tried again. */
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

/* Once: what there is no room for is not asked for again. */
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

/* Makes @arg, a ring of tap_process's, unless another thread has. */
static void make(void *arg)
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

/* Return: whether this process is set up. A child may not be: whoever does that may be interrupted
 * by this thread. */
static bool is_set_up(void)
{
	if (!__atomic_load_n(&tap_process->pid, __ATOMIC_ACQUIRE) && tap_trylock()) {
		tap_child_set_up();
		tap_unlock();
	}
	return __atomic_load_n(&tap_process->pid, __ATOMIC_ACQUIRE) && tap_control;
}

/*
 * By the first event on a CPU. Other threads wait, for as long as it takes to make a file longer:
 * nobody loses events for somebody else makes the ring. Return: NULL: there is none, the event is
 * lost.
 */
static __attribute__((noinline)) struct tap_ring *make_ring(struct tap_ring *r)
{
	int saved = errno;

	if (is_set_up() && !__atomic_load_n(&tap_control->ringless, __ATOMIC_RELAXED))
		tap_on_own_stack(make, r);
	errno = saved;
	return is_made(r) ? r : NULL;
}

static inline struct tap_ring *ring_of(size_t cpu, unsigned int kind)
{
	struct tap_ring *r = &tap_process->rings[cpu * TAP_RINGS_KINDS + kind];

	__asm__("" : "+r"(r)); /* or compilers find each of its members anew */
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
 * A recorder that has been killed will never make room: one that lives moves `drained`, whenever it
 * finds that there is something new.
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

static void lose(struct tap_ring *r)
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

/* What was lost so far is in the stream now. */
static void clear_losses(struct tap_ring *r, const struct sub_start *s)
{
	if (s->info.lost_first)
		__atomic_store_n(&r->head->lost_first, 0, __ATOMIC_RELAXED);
}

/* ---- with restartable sequences ---- */

/*
 * A sequence writes the commit word, or a sub-buffer's state, before head. One that ends between
 * the two leaves a commit word that counts a record which does not exist, or marks a sub-buffer
 * that is not taken. Both can be told: the word's bytes are not where head is, and the state says
 * which time the sub-buffer is taken.
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

/* Makes the commit word true, and moves head from within a sub-buffer by @step. */
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

/* Events in all sub-buffers before @boundary. */
static uint64_t events_before(const struct tap_ring *r, uint64_t boundary)
{
	const struct sub_start *last = (const struct sub_start *)sub_at(r, boundary - 1);

	return boundary ? last->info.events + (last->commit >> 32) : 0;
}

/* Takes the sub-buffer at @boundary, if it can. Return: false: it is not free. */
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
 * Puts a record into @r. The stamp is taken behind the load of head: so the order of records is
 * that of their stamps. Return: false: it is not there, also where the sub-buffer is full or not
 * taken yet (then its commit word is not what it would be with head in it).
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

/* With all that may be in the way: no ring yet, a full sub-buffer, an interrupted sequence. */
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
			lose(r);
			return;
		}
	}
	tap_record_lose();
}

/* ---- with atomic operations ---- */

/*
 * Whether all records of the sub-buffer that is to be written over are there: no thread is at it.
 */
static bool is_settled(const struct tap_ring *r, uint64_t position)
{
	uint64_t end = __atomic_load_n(state_of(r, position), __ATOMIC_RELAXED) >> 8;

	return !end || (uint32_t)__atomic_load_n(commit_of(r, position), __ATOMIC_ACQUIRE) +
				       TAP_SUB_HEADER ==
			       end;
}

/* Says where the sub-buffer ends that was filled up to @head, unless that was said before. */
static void close_sub(struct tap_ring *r, uint64_t head)
{
	uint64_t *state = state_of(r, head - 1), end = (head - 1) % TAP_SUB_BYTES + 1;

	if (!head || *state >> 8)
		return;
	/* the reader may free it at any time: it writes the first byte, this the others */
	for (unsigned int i = 1; i < 4; i++)
		((volatile unsigned char *)state)[i] = (unsigned char)(end >> (8 * i - 8));
	if (end < TAP_SUB_BYTES)
		__atomic_store_n((uint32_t *)(r->subs + (head & r->mask)), TYPE_PADDING,
				 __ATOMIC_RELEASE);
}

/* Moves head to @to, over what room is left. */
static void leave_sub(struct tap_ring *r, uint64_t to)
{
	uint64_t head = __atomic_load_n(&r->head->head, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(&r->head->head, &head, to, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED))
		;
	close_sub(r, head);
}

/* Records in it become real one by one. Not by memset(), which valgrind counts by bytes. */
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
 * Events that the sub-buffer has held so far. Of the one before that is not known: there may be
 * threads that have taken their space in it and not yet counted what they write.
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
	leave_sub(r, boundary); /* from now on, nobody else moves head */
	fill_start(r, events, &start);
	memcpy(sub_at(r, boundary), &start, sizeof(start));
	*state_of(r, boundary) = 1;
	__atomic_store_n(&r->head->head, boundary + sizeof(start), __ATOMIC_RELEASE);
	clear_losses(r, &start);
}

static __attribute__((noinline)) bool next_sub_atomic(struct tap_ring *r, uint64_t head)
{
	uint64_t boundary = head + room_at(head), claimed = boundary;

	/* one thread takes it: claim is the next boundary, plus one while somebody is at it */
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

/* All words but the first, of which there are at least two, from behind, two at a time. */
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
		__asm__("" : "+r"(left) : : "memory"); /* or this becomes a call of memcpy() */
		left -= 16;
		*(two *)(to + 8 + left) = *(const two *)(from + 8 + left);
	} while (left);
}

/* other C libraries do not know the word */
#ifdef __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 29)
#define HAS_GETCPU
#endif
#endif

static inline unsigned int current_cpu(void)
{
	unsigned int cpu = 0;

#ifdef HAS_GETCPU
	getcpu(&cpu, NULL); /* sched_getcpu() would look for rseq first */
#else
	cpu = (unsigned int)sched_getcpu();
#endif
	return tap_likely(cpu < TAP_MAX_CPUS) ? cpu : 0;
}

/* @at: the ring's head. Return: false: another thread was quicker. */
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

/* With all that may be in the way, as commit_rseq(). */
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
			lose(r);
			return;
		}
	} while (bytes > room_at(head) ||
		 !put_atomic(r, r->head, head, rec, bytes,
			     use_cycles ? tap_cycles_behind_loads() : mono_now()));
}

/* ---- records ---- */

static inline void fill_head(uint64_t *rec, size_t bytes, const struct trace_event_call *call,
			     uint32_t tid)
{
	/* whole words: what is stored in parts and loaded as one waits for the stores */
	rec[1] = pair(0, (uint32_t)bytes - 12);
	rec[2] = pair(call->id, tid);
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
	tap_thread_join(); /* out of memory: the tid stays 0 */
	fill_head(rec, bytes, call, (uint32_t)__atomic_load_n(&tap_self->tid, __ATOMIC_RELAXED));
	if (!call->filtered || tap_filter_passes(call, rec + 2, bytes - sizeof(struct tap_record)))
		commit_any(rec, bytes);
}

/*
 * The common cases call nothing but at their ends, and so have few registers to save. Return:
 * false: it is not a common case.
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
			       put_atomic(r, at, head, rec, bytes, tap_cycles_behind_loads())))
			return;
	}
	commit_atomic(rec, bytes);
}

static inline __attribute__((always_inline)) void commit(uint64_t *rec, size_t bytes)
{
	int known_way = __atomic_load_n(&way, __ATOMIC_RELAXED);

	if (tap_likely(known_way == WAY_RSEQ) && tap_likely(put_quickly(rec, bytes)))
		return;
	if (known_way > WAY_RSEQ)
		commit_without_rseq(rec, bytes);
	else
		commit_any(rec, bytes);
}

/* Each calls the next one at its end: so those who reject save no registers. */
static __attribute__((noinline)) void commit_passed(uint64_t *rec, size_t bytes)
{
	commit(rec, bytes);
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
		commit(words, bytes);
}

void tap_record_note_cut(void)
{
	if (tap_control)
		__atomic_fetch_add(&tap_control->cut, 1, __ATOMIC_RELAXED);
}
