// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Built twice, with TAP_STATIC_KEYS=load and =patch. Every case runs in a process of its own, which
 * finds the code as it was built; one that dies or hangs is a failure.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <schedtap/kernel/linux/jump_label.h>
#include <schedtap/kernel/linux/jump_label_ratelimit.h>
#include <schedtap/kernel/linux/static_call.h>
#include "tracepoint/static_key_sites.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define NOINLINE __attribute__((noinline))
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

/* What a case says: NULL, or what is wrong; or "SKIP why". */
#define WANT(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return "not so: " #condition;                                              \
	} while (0)

static const char *self;

/* What hangs with the lock has all signals blocked: alarm() would wait with it. */
static void kill_after(int seconds)
{
	struct sigevent kill = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct itimerspec when = { .it_value.tv_sec = seconds };
	timer_t timer;

	if (!timer_create(CLOCK_MONOTONIC, &kill, &timer))
		timer_settime(timer, 0, &when, NULL);
}

/* ---- branches ---- */

#define CONFIG_YES 1

static DEFINE_STATIC_KEY_FALSE(false_key);
static DEFINE_STATIC_KEY_TRUE(true_key);
static DEFINE_STATIC_KEY_ARRAY_TRUE(true_keys, 2);
static DEFINE_STATIC_KEY_ARRAY_FALSE(false_keys, 2);
static DEFINE_STATIC_KEY_MAYBE(CONFIG_YES, maybe_yes);
static DEFINE_STATIC_KEY_MAYBE_RO(CONFIG_NO, maybe_no);
static DEFINE_STATIC_KEY_DEFERRED_TRUE(deferred_true, 1);
static DEFINE_STATIC_KEY_DEFERRED_FALSE(deferred_false, 1);
static struct static_key plain_key = STATIC_KEY_INIT;
static struct static_key unused_key = STATIC_KEY_INIT;
DEFINE_STATIC_KEY_FALSE(shared_key);

#define BRANCH(name, condition)                                                                    \
	static NOINLINE bool name(void)                                                            \
	{                                                                                          \
		if (condition)                                                                     \
			return true;                                                               \
		return false;                                                                      \
	}
BRANCH(false_unlikely, static_branch_unlikely(&false_key))
BRANCH(false_likely, static_branch_likely(&false_key))
BRANCH(false_usdt, TAP_BRANCH_USDT(&false_key.key, "schedtap_test", "usdt"))
BRANCH(true_unlikely, static_branch_unlikely(&true_key))
BRANCH(true_likely, static_branch_likely(&true_key))
BRANCH(plain_false, static_key_false(&plain_key))
BRANCH(true_1, static_branch_unlikely(&true_keys[1]))
BRANCH(false_0, static_branch_likely(&false_keys[0]))
BRANCH(false_1, static_branch_likely(&false_keys[1]))
BRANCH(is_maybe_yes, static_branch_maybe(CONFIG_YES, &maybe_yes))
BRANCH(is_maybe_no, static_branch_maybe(CONFIG_NO, &maybe_no))
BRANCH(deferred_1, static_branch_unlikely(&deferred_true.key))
BRANCH(deferred_0, static_branch_unlikely(&deferred_false.key))
BRANCH(shared_unlikely, static_branch_unlikely(&shared_key))

struct kind {
	const char *name;
	struct static_key *key;
	bool (*branches[3])(void);
};

static const struct kind kinds[] = {
	{ "static_key_false", &false_key.key, { false_unlikely, false_likely, false_usdt } },
	{ "static_key_true", &true_key.key, { true_unlikely, true_likely } },
	{ "static_key", &plain_key, { plain_false } },
	{ "a key without branches", &unused_key, { NULL } },
};

static bool all_say(const struct kind *k, bool on)
{
	for (size_t i = 0; i < TABLE(k->branches) && k->branches[i]; i++)
		if (k->branches[i]() != on)
			return false;
	return true;
}

/* ---- counting ---- */

/* + inc, - dec, e enable, d disable, f inc if it is on; a number is the count then */
static const char *const counts[] = {
	"0 +1 -0", "0 +1 +2 -1 -0 -0", "0 -0 +1",	   "0 e1 e1 d0 d0", "0 e1 +2 e2 d2 -1 d0",
	"0 f0 +1", "0 +1 f2 -1 -0",    "0 +1 -0 +1 -0 +1", "0 e1 -0",
};

static bool step(struct static_key *key, char what)
{
	switch (what) {
	case '+':
		return static_key_slow_inc(key);
	case '-':
		static_key_slow_dec(key);
		return true;
	case 'e':
		static_key_enable(key);
		return true;
	case 'd':
		static_key_disable(key);
		return true;
	case 'f':
		return static_key_fast_inc_not_disabled(key) == (static_key_count(key) > 0);
	}
	return true;
}

static bool counts_as(const struct kind *k, const char *steps)
{
	static_key_disable(k->key);
	for (const char *s = steps; *s; s++) {
		bool done = true;

		if (strchr("+-edf", *s))
			done = step(k->key, *s++);
		else if (*s == ' ')
			continue;
		if (!done || static_key_count(k->key) != *s - '0' ||
		    static_key_enabled(k->key) != (*s != '0') || !all_say(k, *s != '0'))
			return false;
	}
	while (static_key_count(k->key))
		static_key_slow_dec(k->key);
	return true;
}

static const char *counting(void)
{
	static char wrong[128];

	for (size_t k = 0; k < TABLE(kinds); k++)
		for (size_t i = 0; i < TABLE(counts); i++)
			if (!counts_as(&kinds[k], counts[i])) {
				snprintf(wrong, sizeof(wrong), "%s: %s: count %d", kinds[k].name,
					 counts[i], static_key_count(kinds[k].key));
				return wrong;
			}
	return NULL;
}

static const char *at_first(void)
{
	WANT(all_say(&kinds[0], false));
	WANT(all_say(&kinds[1], true));
	WANT(all_say(&kinds[2], false));
	WANT(static_key_enabled(&true_key) && !static_key_enabled(&false_key));
	WANT(!tap_patch_error());
	return NULL;
}

static const char *at_the_end(void)
{
	false_key.key.enabled = INT_MAX;
	WANT(!static_key_slow_inc(&false_key.key));
	WANT(static_key_count(&false_key.key) == INT_MAX);
	return NULL;
}

static const char *arrays(void)
{
	WANT(true_1() && !false_0() && !false_1());
	static_branch_disable(&true_keys[1]);
	static_branch_enable(&false_keys[0]);
	WANT(!true_1() && false_0() && !false_1());
	WANT(static_key_enabled(&true_keys[0]) && !static_key_enabled(&true_keys[1]));
	return NULL;
}

static const char *maybe(void)
{
	WANT(is_maybe_yes() && !is_maybe_no());
	static_branch_disable(&maybe_yes);
	static_branch_enable(&maybe_no);
	WANT(!is_maybe_yes() && is_maybe_no());
	return NULL;
}

static const char *deferred(void)
{
	WANT(deferred_1() && !deferred_0());
	static_branch_slow_dec_deferred(&deferred_true);
	static_branch_deferred_inc(&deferred_false);
	jump_label_rate_limit(&deferred_true, 100);
	static_key_deferred_flush(&deferred_true);
	WANT(!deferred_1() && deferred_0());
	return NULL;
}

static const char *built_both_ways(void)
{
	WANT(!shared_unlikely() && !load_sees_shared_key());
	static_branch_inc(&shared_key);
	WANT(shared_unlikely() && load_sees_shared_key());
	static_branch_dec(&shared_key);
	WANT(!shared_unlikely() && !load_sees_shared_key());
	return NULL;
}

/* ---- static calls ---- */

static int noted;

static int add(int a, int b)
{
	return a + b;
}

static int multiply(int a, int b)
{
	return a * b;
}

static void note(int what)
{
	noted += what;
}

DEFINE_STATIC_CALL(combine, add);
DEFINE_STATIC_CALL_RET0(nothing, add);
DEFINE_STATIC_CALL_NULL(hook, note);
EXPORT_STATIC_CALL_GPL(hook);

static const char *static_calls(void)
{
	int evaluated = 0;

	WANT(static_call(combine)(3, 4) == 7 && static_call(nothing)(3, 4) == 0);
	static_call_update(combine, multiply);
	static_call_update(nothing, add);
	WANT(static_call(combine)(3, 4) == 12 && static_call_mod(nothing)(3, 4) == 7);
	WANT(static_call_query(combine) == multiply && !static_call_query(hook));
	static_call_cond(hook)(++evaluated);
	WANT(evaluated == 1 && noted == 0);
	static_call_update(hook, note);
	static_call_cond(hook)(5);
	WANT(noted == 5);
	return NULL;
}

/* ---- libraries ---- */

/* Beside this program lies static_key_object.c, built as it is. */
static const char *object_path(void)
{
	static char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 64);

	path[len > 0 ? len : 0] = '\0';
	strcpy(strrchr(path, '/') + 1,
	       TAP_PATCHED ? "static_key_object_patch.so" : "static_key_object_load.so");
	return path;
}

static const char *sees_library(void)
{
	void *lib = dlopen(object_path(), RTLD_NOW);
	const struct object *o = lib ? dlsym(lib, "object") : NULL;

	if (!o)
		return dlerror();
	WANT(!o->sees_false() && o->sees_true() && o->sees_plain());
	o->toggle(true);
	WANT(o->sees_false() && o->sees_true() && o->sees_plain());
	o->toggle(false);
	WANT(!o->sees_false() && !o->sees_true() && !o->sees_plain());
	WANT(!dlclose(lib));
	WANT(!dlopen(object_path(), RTLD_NOW | RTLD_NOLOAD));
	WANT(!tap_patch_error());
	return NULL;
}

static const char *libraries(void)
{
	const char *wrong = NULL;

	for (int i = 0; i < 3 && !wrong; i++) {
		wrong = sees_library();
		static_branch_inc(
			&false_key); /* goes through all tables: a stale one would crash */
		static_branch_dec(&false_key);
	}
	return wrong;
}

/* ---- what may go wrong with patching ---- */

/* @size: of a read or write; 0: any */
static bool refuse_size(long number, uint32_t size, uint32_t action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | (size ? BPF_JEQ : BPF_JGE) | BPF_K, size, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { TABLE(filter), filter };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static bool refuse(long number, uint32_t action)
{
	return refuse_size(number, 0, action);
}

static const char *start(void)
{
	struct sigaction trap;

	static_key_slow_inc(&unused_key);
	static_key_slow_dec(&unused_key);
	WANT(!sigaction(SIGTRAP, NULL, &trap) && trap.sa_handler == SIG_DFL);
	return at_first();
}

/* the program is started anew: its constructors may not either */
static const char *nothing_before_the_first(void)
{
	if (!refuse(SYS_membarrier, SECCOMP_RET_KILL_PROCESS) ||
	    !refuse(SYS_pwrite64, SECCOMP_RET_KILL_PROCESS))
		return "SKIP no seccomp";
	execl("/proc/self/exe", self, "start", NULL);
	return "not started";
}

#if TAP_PATCHED
/* open() is then refused altogether */
static bool refuse_mem(void)
{
	return refuse(SYS_openat, SECCOMP_RET_ERRNO | EACCES);
}

static bool refuse_mprotect(void)
{
	return refuse(SYS_mprotect, SECCOMP_RET_ERRNO | EACCES);
}

static const char *works(void)
{
	const char *wrong = counting();

	return wrong ? wrong : tap_patch_error();
}

static const char *without_mem(void)
{
	if (!refuse_mem())
		return "SKIP no seccomp";
	return works();
}

static const char *without_proc(void)
{
	if (unshare(CLONE_NEWNS) || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    umount2("/proc", MNT_DETACH))
		return "SKIP /proc cannot be unmounted: no privileges";
	return works();
}

static const char *without_mprotect(void)
{
	if (!refuse_mprotect())
		return "SKIP no seccomp";
	return works();
}

static const char *under_mdwe(void)
{
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
		return "SKIP this kernel has no PR_SET_MDWE";
	return works();
}

static const char *stays(bool on, const char *why)
{
	WANT(all_say(&kinds[0], on));
	WANT(static_key_count(&false_key.key) == on);
	WANT(tap_patch_error() && strstr(tap_patch_error(), why));
	return NULL;
}

static const char *cannot_write(void)
{
	if (!refuse_mem() || !refuse_mprotect())
		return "SKIP no seccomp";
	WANT(!static_key_slow_inc(&false_key.key));
	static_branch_enable(&false_key);
	return stays(false, "/proc/self/mem: Permission denied, mprotect: Permission denied");
}

static const char *cannot_write_back(void)
{
	static_branch_enable(&false_key);
	if (!refuse_mem() || !refuse_mprotect())
		return "SKIP no seccomp";
	static_branch_dec(&false_key);
	static_branch_disable(&false_key);
	return stays(true, "/proc/self/mem: Permission denied, mprotect: Permission denied");
}

static unsigned char *code_of_false_key(int nr)
{
	for (const struct tap_site *s = __start_tap_sites; s < __stop_tap_sites; s++)
		if ((((uintptr_t)&s->key + s->key) & ~3ul) == (uintptr_t)&false_key && !nr--)
			return (unsigned char *)((uintptr_t)&s->code + s->code);
	return NULL;
}

/* The first step is done, the second is not: with the key's other branches it is taken back. */
static const char *cannot_go_on(void)
{
	unsigned char code_at_first[3][4];

	if (!refuse_size(SYS_pwrite64, 4, SECCOMP_RET_ERRNO | EIO) || !refuse_mprotect())
		return "SKIP no seccomp";
	for (size_t i = 0; i < TABLE(code_at_first); i++)
		memcpy(code_at_first[i], code_of_false_key(i), sizeof(code_at_first[i]));
	WANT(!static_key_slow_inc(&false_key.key));
	for (size_t i = 0; i < TABLE(code_at_first); i++)
		WANT(!memcmp(code_at_first[i], code_of_false_key(i), sizeof(code_at_first[i])));
	return stays(false, "/proc/self/mem: Input/output error, mprotect: Permission denied");
}

static const char *cannot_synchronize(void)
{
	if (!refuse(SYS_membarrier, SECCOMP_RET_ERRNO | EPERM))
		return "SKIP no seccomp";
	WANT(!static_key_slow_inc(&false_key.key));
	return stays(false, "membarrier: Operation not permitted");
}

static bool poke(const void *bytes)
{
	int mem = open("/proc/self/mem", O_RDWR);
	bool done = pwrite(mem, bytes, 4, (off_t)(uintptr_t)code_of_false_key(0)) == 4;

	close(mem);
	return done;
}

static const char *foreign(void)
{
	static const unsigned char probe[] = { 0xcc, 0x1f, 0x44, 0x00 };
	unsigned char mine[4], found[4];

	memcpy(mine, code_of_false_key(0), sizeof(mine));
	WANT(poke(probe));
	WANT(!static_key_slow_inc(&false_key.key));
	memcpy(found, code_of_false_key(0), sizeof(found));
	WANT(!memcmp(found, probe, sizeof(found)));
	WANT(static_key_count(&false_key.key) == 0);
	WANT(strstr(tap_patch_error(), "is no longer a branch: cc 1f 44 00"));
	WANT(poke(mine));
	WANT(static_key_slow_inc(&false_key.key) && all_say(&kinds[0], true));
	return NULL;
}
#endif

static const char *no_descriptors(void)
{
	int first = dup(0);

	close(first);
	static_branch_enable(&false_key);
	WANT(dup(0) == first);
	return NULL;
}

/* ---- SIGTRAP stays the program's ---- */

static volatile sig_atomic_t trapped;

static void on_trap(int signal)
{
	(void)signal;
	trapped++;
}

static void trap(void)
{
#if defined(__x86_64__)
	__asm__ volatile("int3");
#else
	raise(SIGTRAP);
#endif
}

static const char *own_trap(void)
{
	signal(SIGTRAP, on_trap);
	trap();
	static_branch_enable(&false_key);
	trap();
	static_branch_disable(&false_key);
	trap();
	WANT(trapped == 3);
	return NULL;
}

static const char *default_trap(void)
{
	int status;
	pid_t pid;

	static_branch_enable(&false_key);
	pid = fork();
	if (!pid) {
		trap();
		_exit(0);
	}
	WANT(waitpid(pid, &status, 0) == pid);
	WANT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP);
	return NULL;
}

/* ---- at the same time ---- */

#define FLIPS 300

static bool stop;
static long passed;

static void flip(int flips)
{
	for (int i = 0; i < flips; i++) {
		static_branch_inc(&false_key);
		static_branch_dec(&false_key);
	}
}

static void pass(void)
{
	for (size_t i = 0; i < TABLE(kinds[0].branches); i++)
		kinds[0].branches[i]();
	__atomic_fetch_add(&passed, 1, __ATOMIC_RELAXED);
}

static void *pass_until_stop(void *blocked)
{
	sigset_t all;

	sigfillset(&all);
	if (blocked)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		pass();
	return NULL;
}

static const char *passing(void *how)
{
	pthread_t thread;

	WANT(!pthread_create(&thread, NULL, pass_until_stop, how));
	while (!__atomic_load_n(&passed, __ATOMIC_RELAXED))
		sched_yield();
	flip(FLIPS);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	WANT(static_key_count(&false_key.key) == 0 && all_say(&kinds[0], false));
	return tap_patch_error();
}

static const char *passing_thread(void)
{
	return passing(NULL);
}

static const char *passing_blocked_thread(void)
{
	return passing(&stop);
}

static void on_alarm(int signal)
{
	(void)signal;
	pass();
	flip(1);
}

static const char *passing_handler(void)
{
	const struct itimerval every = { { 0, 300 }, { 0, 300 } }, never = { { 0, 0 }, { 0, 0 } };

	signal(SIGVTALRM, on_alarm);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
	while (__atomic_load_n(&passed, __ATOMIC_RELAXED) < 10)
		flip(10);
	setitimer(ITIMER_VIRTUAL, &never, NULL);
	WANT(static_key_count(&false_key.key) == 0 && all_say(&kinds[0], false));
	return NULL;
}

static void *flip_until_stop(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		flip(1);
	return unused;
}

/* Whole branches and a free lock, whatever the other thread was doing. */
static bool child_works(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		kill_after(5);
		if (all_say(&kinds[0], true) || all_say(&kinds[0], false))
			_exit(!static_key_slow_inc(&false_key.key) || !all_say(&kinds[0], true));
		_exit(2);
	}
	return waitpid(pid, &status, 0) == pid && !status;
}

static const char *forks(void)
{
	pthread_t thread;
	bool all = true;

	WANT(!pthread_create(&thread, NULL, flip_until_stop, NULL));
	for (int i = 0; i < 50 && all; i++)
		all = child_works();
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	WANT(all);
	return NULL;
}

static void *flip_until_cancelled(void *unused)
{
	for (;;) {
		flip(1);
		pthread_testcancel();
	}
	return unused;
}

static const char *cancelled(void)
{
	for (int i = 0; i < 30; i++) {
		pthread_t thread;

		WANT(!pthread_create(&thread, NULL, flip_until_cancelled, NULL));
		usleep(100);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	WANT(all_say(&kinds[0], false));
	return NULL;
}

/* ---- cases ---- */

static const struct test_case {
	const char *name;
	const char *(*run)(void);
} cases[] = {
	{ "branches are at first what their keys are", at_first },
	{ "counts and branches follow every step", counting },
	{ "a count does not overflow", at_the_end },
	{ "keys of an array are apart", arrays },
	{ "_MAYBE follows the configuration", maybe },
	{ "rate-limited keys switch at once", deferred },
	{ "files built either way share a key", built_both_ways },
	{ "static calls", static_calls },
	{ "libraries come and go", libraries },
	{ "no barrier, writing or handler before the first branch is patched",
	  nothing_before_the_first },
#if TAP_PATCHED
	{ "patches where /proc/self/mem cannot be opened", without_mem },
	{ "patches where there is no /proc", without_proc },
	{ "patches where mprotect is refused", without_mprotect },
	{ "patches where memory must not become executable", under_mdwe },
	{ "a key stays off where code cannot be written", cannot_write },
	{ "a key stays on where code cannot be written", cannot_write_back },
	{ "what was begun is taken back where it cannot be ended", cannot_go_on },
	{ "a key stays off where cores cannot be synchronized", cannot_synchronize },
	{ "code that somebody else changed is left alone", foreign },
#endif
	{ "no descriptor stays open", no_descriptors },
	{ "the program's handler gets the program's traps", own_trap },
	{ "without one a trap kills", default_trap },
	{ "a thread passes while branches change", passing_thread },
	{ "a thread passes that has all signals blocked", passing_blocked_thread },
	{ "a signal handler passes and switches", passing_handler },
	{ "a fork in between has whole branches and a free lock", forks },
	{ "a thread that is cancelled leaves the lock free", cancelled },
};

static void run(const struct test_case *c, char *answer, size_t size)
{
	int pipes[2], status;
	ssize_t len;
	pid_t pid;

	if (pipe(pipes) || (pid = fork()) < 0) {
		snprintf(answer, size, "cannot fork");
		return;
	}
	if (!pid) {
		const char *wrong;

		kill_after(30);
		dup2(pipes[1], 3);
		wrong = c->run();
		_exit(wrong && write(pipes[1], wrong, strlen(wrong)) < 0);
	}
	close(pipes[1]);
	len = read(pipes[0], answer, size - 1);
	answer[len > 0 ? len : 0] = '\0';
	close(pipes[0]);
	if (waitpid(pid, &status, 0) != pid || status)
		snprintf(answer, size, "ended with status %#x", status);
}

int main(int argc, char **argv)
{
	int failed = 0;

	self = argv[0];
	if (argc > 1) {
		const char *wrong = start();

		return wrong && write(3, wrong, strlen(wrong));
	}
	printf("1..%zu\n", TABLE(cases));
	fflush(stdout);
	for (size_t i = 0; i < TABLE(cases); i++) {
		char answer[512];
		bool skip;

		run(&cases[i], answer, sizeof(answer));
		skip = !strncmp(answer, "SKIP", 4);
		failed += *answer && !skip;
		printf("%sok %zu - %s", *answer && !skip ? "not " : "", i + 1, cases[i].name);
		printf(skip ? " # %s\n" : *answer ? "\n# %s\n" : "%s\n", answer);
		fflush(stdout);
	}
	return failed != 0;
}
