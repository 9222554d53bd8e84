// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Patches code while threads run through it.
 *
 * x86-64: An instruction of five bytes cannot be stored atomically at any address, and through
 * /proc/self/mem not at all. The kernel temporarily puts an int3 there (text_poke_bp()). A program
 * cannot do that: a thread that blocks SIGTRAP, as many libraries' threads and every handler with a
 * full sa_mask do, would be killed by it (force_sig_info_to_task() in kernel/signal.c). Here `test
 * $imm32, %eax` is used instead: it is five bytes long, too, and only changes the flags, which the
 * asm of a branch declares as clobbered:
 *
 * 	0f 1f 44 00 00	nop			e9 12 34 56 78	jmp
 * 	a9 1f 44 00 00	test $..., %eax		a9 12 34 56 78	test $..., %eax
 * 	a9 12 34 56 78	test $..., %eax		a9 1f 44 00 00	test $..., %eax
 * 	e9 12 34 56 78	jmp			0f 1f 44 00 00	nop
 *
 * So only single-byte stores must be atomic; every instruction that a thread can find there ends at
 * the same address and goes one of the two ways, both of which are correct meanwhile; and no trap
 * has to be handled, in this process or in a child. Between the steps membarrier() makes every core
 * that runs the process discard decoded instructions. For code that runs at this very moment,
 * Intel's manual (SDM 3, "Handling Self- and Cross-Modifying Code") guarantees nothing, for int3
 * neither: both methods rely on an instruction that differs by one byte being decoded as either the
 * old or the new one.
 *
 * aarch64: The architecture allows nop and b to replace each other while they are executed (Arm
 * ARM, "Concurrent modification and execution of instructions") if the word is stored atomically.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracepoint/patch.h"

#define CODE_BYTES_MAX 5

enum code { CODE_NOP, CODE_JMP, CODE_BETWEEN, CODE_FOREIGN };

struct step {
	unsigned char from, bytes; /* the bytes of the instruction to write: offset and number */
	bool between; /* write bytes of CODE_BETWEEN, else of the wanted code */
};

/*
 * A set of branches to patch: all branches of one key, or those of one object that do not match
 * their keys.
 */
struct change {
	const struct static_key *key; /* NULL: branches of `object` */
	const struct tap_sites *object;
	bool on; /* the key's new state */
	size_t left_cnt;
	int mem; /* descriptor of /proc/self/mem, or -errno */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sigset_t signals_before; /* signal mask of the thread that has the mutex */
static int cancel_before;
static struct tap_sites *objects;
static char reason[256];
static const char *first_reason;

/* ---- instructions ---- */

static unsigned char *code_of(const struct tap_site *s)
{
	return (unsigned char *)((uintptr_t)&s->code + s->code);
}

static const struct static_key *key_of(const struct tap_site *s)
{
	return (const struct static_key *)(((uintptr_t)&s->key + s->key) & ~(uintptr_t)3);
}

static bool is_likely(const struct tap_site *s)
{
	return s->key & 1;
}

static enum code built_as(const struct tap_site *s)
{
	return s->key & 2 ? CODE_JMP : CODE_NOP;
}

static intptr_t distance_of(const struct tap_site *s)
{
	return (intptr_t)((uintptr_t)&s->target + s->target) - (intptr_t)code_of(s);
}

#if defined(__x86_64__)
#define CODE_BYTES 5
static const struct step steps[] = { { 0, 1, true }, { 1, 4, false }, { 0, 1, false } };

static void assemble_code(const struct tap_site *s, enum code what,
			  unsigned char code[CODE_BYTES_MAX])
{
	static const unsigned char nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	int32_t distance = distance_of(s) - CODE_BYTES;

	memcpy(code, nop, sizeof(nop));
	if (what == CODE_JMP) {
		code[0] = 0xe9;
		memcpy(code + 1, &distance, sizeof(distance));
	} else if (what == CODE_BETWEEN) {
		code[0] = 0xa9;
	}
}
#else
#define CODE_BYTES 4
static const struct step steps[] = { { 0, 4, false } };

static void assemble_code(const struct tap_site *s, enum code what,
			  unsigned char code[CODE_BYTES_MAX])
{
	uint32_t word = 0xd503201f;

	if (what == CODE_JMP)
		word = 0x14000000 | ((distance_of(s) >> 2) & 0x03ffffff);
	for (int i = 0; i < CODE_BYTES; i++)
		/* instructions are little-endian, also where data is big-endian */
		code[i] = word >> 8 * i;
}
#endif

static enum code code_at(const struct tap_site *s)
{
	unsigned char nop[CODE_BYTES_MAX], jmp[CODE_BYTES_MAX], between[CODE_BYTES_MAX];
	const unsigned char *code = code_of(s);

	assemble_code(s, CODE_NOP, nop);
	assemble_code(s, CODE_JMP, jmp);
	assemble_code(s, CODE_BETWEEN, between);
	if (!memcmp(code, nop, CODE_BYTES))
		return CODE_NOP;
	if (!memcmp(code, jmp, CODE_BYTES))
		return CODE_JMP;
	if (code[0] == between[0] && (!memcmp(code + 1, nop + 1, CODE_BYTES - 1) ||
				      !memcmp(code + 1, jmp + 1, CODE_BYTES - 1)))
		return CODE_BETWEEN;
	return CODE_FOREIGN;
}

/* ---- writing code ---- */

__attribute__((format(printf, 1, 2))) static bool fail_with(const char *fmt, ...)
{
	va_list args;

	if (first_reason)
		return false;
	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	__atomic_store_n(&first_reason, reason, __ATOMIC_RELEASE);
	return false;
}

static int write_through_mem(int mem, unsigned char *to, const unsigned char *from, size_t bytes)
{
	if (mem < 0)
		return mem;
	if (pwrite(mem, from, bytes, (off_t)(uintptr_t)to) == (ssize_t)bytes)
		return 0;
	return errno ? -errno : -EIO;
}

static void store_bytes(unsigned char *to, const unsigned char *from, size_t bytes)
{
	uint32_t word;

	if (bytes == sizeof(word) && !((uintptr_t)to % sizeof(word))) {
		memcpy(&word, from, sizeof(word));
		__atomic_store_n((uint32_t *)(void *)to, word, __ATOMIC_RELEASE);
		return;
	}
	for (size_t i = 0; i < bytes; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
}

/* The page stays executable throughout, because other threads run there. */
static int write_in_place(unsigned char *to, const unsigned char *from, size_t bytes)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), start = (uintptr_t)to & -page;
	size_t size = (((uintptr_t)to + bytes + page - 1) & -page) - start;

	if (mprotect((void *)start, size, PROT_READ | PROT_WRITE | PROT_EXEC))
		return -errno;
	store_bytes(to, from, bytes);
	mprotect((void *)start, size, PROT_READ | PROT_EXEC);
	return 0;
}

/*
 * Write through /proc/self/mem, or through a writable mapping. The former also works where memory
 * must not become executable (systemd's MemoryDenyWriteExecute). It guarantees only that single
 * bytes are written atomically, which is enough on x86-64. arm64's kernel copies four aligned bytes
 * at once (memcpy.S), but does not document that, so there the mapping comes first.
 */
static bool write_code(int mem, unsigned char *to, const unsigned char *from, size_t bytes)
{
	int through_mem = -1, in_place = -1;

#if defined(__x86_64__)
	through_mem = write_through_mem(mem, to, from, bytes);
	if (through_mem)
		in_place = write_in_place(to, from, bytes);
#else
	in_place = write_in_place(to, from, bytes);
	if (in_place)
		through_mem = write_through_mem(mem, to, from, bytes);
#endif
	if (through_mem && in_place)
		return fail_with("cannot write to code: /proc/self/mem: %s, mprotect: %s",
				 strerror(-through_mem), strerror(-in_place));
	__builtin___clear_cache((char *)to, (char *)to + bytes);
	return true;
}

static bool run_membarrier(int command, const char *what)
{
	if (!syscall(SYS_membarrier, command, 0, 0))
		return true;
	return fail_with("cannot %s: membarrier: %s", what, strerror(errno));
}

/* ---- changes ---- */

static enum code wanted_code(const struct change *c, const struct tap_site *s)
{
	bool on = c->key ? c->on : static_key_count(key_of(s)) > 0;

	return on != is_likely(s) ? CODE_JMP : CODE_NOP;
}

static bool is_left(const struct change *c, const struct tap_site *s)
{
	/*
	 * for an object that was just loaded, do not even read matching code: that would cost page
	 * faults
	 */
	if (c->key ? c->key != key_of(s) : built_as(s) == wanted_code(c, s))
		return false;
	return code_at(s) != wanted_code(c, s);
}

static bool count_left(struct change *c, const struct tap_site *s, const struct step *step)
{
	const unsigned char *code = code_of(s);

	(void)step;
	if (!is_left(c, s))
		return true;
	c->left_cnt++;
	if (code_at(s) != CODE_FOREIGN)
		return true;
	return fail_with("the code at %p is no longer a branch: %02x %02x %02x %02x: did a uprobe "
			 "change it?",
			 (const void *)code, code[0], code[1], code[2], code[3]);
}

static bool take_step(struct change *c, const struct tap_site *s, const struct step *step)
{
	unsigned char code[CODE_BYTES_MAX];

	if (!is_left(c, s))
		return true;
	assemble_code(s, step->between ? CODE_BETWEEN : wanted_code(c, s), code);
	/* when undoing steps, write only bytes that were changed: writing the others may fail */
	if (!memcmp(code_of(s) + step->from, code + step->from, step->bytes))
		return true;
	return write_code(c->mem, code_of(s) + step->from, code + step->from, step->bytes);
}

static bool visit_sites(struct change *c, const struct step *step,
			bool (*visit)(struct change *, const struct tap_site *,
				      const struct step *))
{
	for (const struct tap_sites *o = objects; o; o = o->next)
		for (const struct tap_site *s = o->start; s < o->stop; s++)
			if ((!c->object || c->object == o) && !visit(c, s, step))
				return false;
	return true;
}

static bool take_steps(struct change *c)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (!visit_sites(c, &steps[i], take_step) ||
		    !run_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE,
				    "synchronize cores"))
			return false;
	return true;
}

/*
 * membarrier() is registered each time, which is cheap: a child may not have inherited the
 * registration.
 */
static bool change_sites(struct change *c)
{
	bool done;

	if (!visit_sites(c, NULL, count_left))
		return false;
	if (!c->left_cnt)
		return true;
	if (!run_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, "patch code"))
		return false;
	c->mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (c->mem < 0)
		c->mem = -errno;
	done = take_steps(c);
	if (!done && c->key) {
		c->on = !c->on;
		take_steps(c);
	}
	if (c->mem >= 0)
		close(c->mem);
	return done;
}

bool tap_patch_key(const struct static_key *key, bool on)
{
	struct change c = { .key = key, .on = on };

	return change_sites(&c);
}

/* ---- the lock ---- */

void tap_patch_watch_forks(void)
{
	static bool watched; /* not pthread_once(), which makes a system call */

	if (!__atomic_exchange_n(&watched, true, __ATOMIC_ACQ_REL))
		pthread_atfork(tap_patch_lock, tap_patch_unlock, tap_patch_unlock);
}

void tap_patch_lock(void)
{
	sigset_t all, before;
	int cancel;

	tap_patch_watch_forks();
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&mutex);
	signals_before = before;
	cancel_before = cancel;
}

void tap_patch_unlock(void)
{
	sigset_t before = signals_before;
	int cancel = cancel_before;

	pthread_mutex_unlock(&mutex);
	pthread_setcancelstate(cancel, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- objects ---- */

void tap_sites_add(struct tap_sites *sites)
{
	struct change c = { .object = sites };

	tap_patch_lock();
	if (!sites->known) {
		sites->known = true;
		sites->next = objects;
		objects = sites;
		change_sites(&c);
	}
	tap_patch_unlock();
}

void tap_sites_remove(struct tap_sites *sites)
{
	struct tap_sites **link = &objects;

	tap_patch_lock();
	while (*link && *link != sites)
		link = &(*link)->next;
	if (*link)
		*link = sites->next;
	sites->known = false;
	tap_patch_unlock();
}

const char *tap_patch_error(void)
{
	return __atomic_load_n(&first_reason, __ATOMIC_ACQUIRE);
}
