// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tracks which threads are in a read-side section, like the kernel's RCU. Each thread that passed
 * an enabled tracepoint has a slot with its thread id. A thread that ends does nothing: its slot is
 * reused once no such thread exists.
 *
 * Readers store into their slot without a fence. A writer that waits for them first removes what
 * they must not see any more, and then makes all threads execute a fence with membarrier(): a
 * reader whose slot still looks empty after that will see the removal.
 */
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tracepoint/internal.h"

#define SLOT_BYTES 64u /* one cache line per slot */
#define CHUNK_SLOTS 1024u
#define CHUNKS 256u
#define TRIES 8u /* slots that a new thread tries to reuse */

/* The slot of all threads that have none of their own. */
static struct tap_thread no_thread;
__thread struct tap_thread *tap_self __attribute__((tls_model("initial-exec"))) = &no_thread;
uint64_t tap_period = 1;
bool tap_readers_fence;

static char *chunks[CHUNKS];
static uint32_t nr_slots; /* slots used at least once */
static uint32_t next_try;

/* Memory that can be reused once all sections that began before @period have ended. */
struct retired {
	struct retired *next;
	void *p;
	size_t bytes;
	uint64_t period;
};

static struct retired *retired;

static int call_membarrier(int cmd)
{
	return (int)syscall(SYS_membarrier, cmd, 0, 0);
}

static struct tap_thread *slot_at(uint32_t i)
{
	char *chunk;

	if (i < TAP_FIRST_SLOTS)
		return &tap_process->slots[i].thread;
	i -= TAP_FIRST_SLOTS;
	chunk = __atomic_load_n(&chunks[i / CHUNK_SLOTS], __ATOMIC_ACQUIRE);
	return chunk ? (struct tap_thread *)(chunk + i % CHUNK_SLOTS * SLOT_BYTES) : NULL;
}

static bool is_gone(int32_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH;
}

/* Take a slot that is free, or whose thread has ended. */
static bool take_slot(struct tap_thread *slot, int32_t tid)
{
	int32_t owner = __atomic_load_n(&slot->tid, __ATOMIC_RELAXED);

	if (owner && !is_gone(owner))
		return false;
	if (!__atomic_compare_exchange_n(&slot->tid, &owner, tid, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	/* its former thread may have ended in a section */
	__atomic_exchange_n(&slot->inside, 0, __ATOMIC_ACQ_REL);
	return true;
}

/* If out of memory, the slot stays unused; a later thread may try again. */
static void add_chunk(char **to)
{
	size_t bytes = CHUNK_SLOTS * SLOT_BYTES;
	char *none = NULL,
	     *chunk = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (chunk == MAP_FAILED)
		return;
	if (madvise(chunk, bytes, MADV_WIPEONFORK) ||
	    !__atomic_compare_exchange_n(to, &none, chunk, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		munmap(chunk, bytes);
}

static struct tap_thread *new_slot(int32_t tid)
{
	uint32_t i = __atomic_fetch_add(&nr_slots, 1, __ATOMIC_SEQ_CST);

	if (i >= TAP_FIRST_SLOTS + CHUNKS * CHUNK_SLOTS) {
		__atomic_fetch_sub(&nr_slots, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	if (!slot_at(i))
		add_chunk(&chunks[(i - TAP_FIRST_SLOTS) / CHUNK_SLOTS]);
	return slot_at(i) && take_slot(slot_at(i), tid) ? slot_at(i) : NULL;
}

static struct tap_thread *find_slot(int32_t tid)
{
	uint32_t nr = __atomic_load_n(&nr_slots, __ATOMIC_RELAXED);
	uint32_t from = __atomic_fetch_add(&next_try, TRIES, __ATOMIC_RELAXED);

	for (uint32_t i = 0; nr && i < TRIES && i < nr; i++) {
		struct tap_thread *slot = slot_at((from + i) % nr);

		if (slot && take_slot(slot, tid))
			return slot;
	}
	return new_slot(tid);
}

void tap_rcu_init(void)
{
	static bool done;

	if (!done && call_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
		__atomic_store_n(&tap_readers_fence, true, __ATOMIC_SEQ_CST);
	done = true;
}

struct tap_thread *tap_thread_join(void)
{
	int32_t tid = (int32_t)syscall(SYS_gettid);
	int saved = errno;
	struct tap_thread *slot = find_slot(tid);

	errno = saved;
	if (!slot)
		return NULL;
	/*
	 * a signal handler has joined this thread meanwhile and given it another slot (or, after a
	 * fork, the same): keep that one
	 */
	if (tap_self != slot && __atomic_load_n(&tap_self->tid, __ATOMIC_RELAXED) == tid) {
		__atomic_store_n(&slot->tid, 0, __ATOMIC_RELEASE);
		return tap_self;
	}
	tap_self = slot;
	return slot;
}

/*
 * Return the oldest period in which a still running section began; UINT64_MAX if no section runs.
 */
static uint64_t oldest_inside(void)
{
	uint32_t nr = __atomic_load_n(&nr_slots, __ATOMIC_ACQUIRE);
	uint64_t oldest = UINT64_MAX;

	for (uint32_t i = 0; i < nr; i++) {
		struct tap_thread *slot = slot_at(i);
		uint64_t inside = slot ? __atomic_load_n(&slot->inside, __ATOMIC_SEQ_CST) : 0;

		if (!inside || inside >= oldest)
			continue;
		if (!is_gone(__atomic_load_n(&slot->tid, __ATOMIC_RELAXED)))
			oldest = inside;
	}
	return oldest;
}

/*
 * Begin a new period. Return: its number: sections that begin in it see all changes made before
 * this call.
 */
static uint64_t next_period(void)
{
	uint64_t period = __atomic_add_fetch(&tap_period, 1, __ATOMIC_SEQ_CST);

	if (!tap_readers_fence)
		call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	return period;
}

static void reclaim_retired(void)
{
	uint64_t oldest = oldest_inside();
	struct retired **at = &retired, *r;

	while ((r = *at)) {
		if (r->period > oldest) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		tap_pool_put(r->p, r->bytes);
		tap_pool_put(r, sizeof(*r));
	}
}

void tap_retire(void *p, size_t bytes)
{
	struct retired *r = tap_pool_get(sizeof(*r));

	if (!r)
		return; /* leak it: a reader may still use it */
	*r = (struct retired){ .next = retired, .p = p, .bytes = bytes, .period = next_period() };
	retired = r;
	reclaim_retired();
}

void tracepoint_synchronize_unregister(void)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	uint64_t period;

	/* no thread was ever in a section, and later ones will see the removal */
	if (!__atomic_load_n(&nr_slots, __ATOMIC_SEQ_CST))
		return;
	period = next_period();

	/*
	 * if the caller is in a section itself (it is a probe), do not wait: its own would never
	 * end
	 */
	while (oldest_inside() < period && !tap_self->inside)
		nanosleep(&pause, NULL);
}
