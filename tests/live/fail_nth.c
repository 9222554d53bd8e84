// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * For LD_PRELOAD: lets the Nth allocation or the Nth call to the system of a program fail, once.
 *
 *	FAIL_WHAT   "alloc": malloc() and its like fail with ENOMEM; "call": the wrappers below with
 *EIO FAIL_FROM   "own": only what the program and its other libraries ask for; "bpf": what libbpf,
 *		    and libelf below it, ask for. Of "call", both count as "own".
 *	FAIL_NTH    which one, from 1 on; 0: none
 *	FAIL_LOG    a file: "failed NAME" and the callers when it failed, "count N" at the end
 *
 * Children neither count nor fail. Not wrapped is what undoes (close, unlink, rmdir, munmap), for
 * which there is no second way, and what the C library does within itself (getline, the rest of
 * stdio).
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fts.h>
#include <link.h>
#include <mntent.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum { NONE, ALLOC, CALL };

static int what = NONE, log_fd = -1;
static bool from_bpf;
static unsigned long nth, count;
static struct {
	uintptr_t from, to;
} bpf[8];
static unsigned int nr_bpf;

static bool is_bpf(uintptr_t at)
{
	for (unsigned int i = 0; i < nr_bpf; i++)
		if (at >= bpf[i].from && at < bpf[i].to)
			return true;
	return false;
}

static void log_failure(const char *name)
{
	void *callers[24];

	dprintf(log_fd, "failed %s\n", name);
	backtrace_symbols_fd(callers, backtrace(callers, 24), log_fd);
}

static bool must_fail(int kind, const char *name, void *caller)
{
	if (kind != what || (kind == ALLOC && is_bpf((uintptr_t)caller) != from_bpf) ||
	    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != nth)
		return false;
	what = NONE; /* what the message costs does not count */
	log_failure(name);
	what = kind;
	errno = kind == ALLOC ? ENOMEM : EIO;
	return true;
}

static int find_bpf(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	if (!strstr(info->dlpi_name, "libbpf") && !strstr(info->dlpi_name, "libelf"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum && nr_bpf < sizeof(bpf) / sizeof(bpf[0]); i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X))
			continue;
		bpf[nr_bpf].from = at;
		bpf[nr_bpf++].to = at + info->dlpi_phdr[i].p_memsz;
	}
	return 0;
}

static void be_child(void)
{
	what = NONE;
	log_fd = -1;
}

__attribute__((constructor)) static void set_up(void)
{
	const char *kind = getenv("FAIL_WHAT"), *from = getenv("FAIL_FROM"),
		   *n = getenv("FAIL_NTH");
	const char *path = getenv("FAIL_LOG");

	if (!kind || !from || !n || !path)
		return;
	log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	dl_iterate_phdr(find_bpf, NULL);
	pthread_atfork(NULL, NULL, be_child);
	from_bpf = !strcmp(from, "bpf");
	nth = strtoul(n, NULL, 10);
	unsetenv("LD_PRELOAD"); /* a command that the program starts is not meant */
	what = strcmp(kind, "alloc") ? CALL : ALLOC;
}

__attribute__((destructor)) static void say_count(void)
{
	what = NONE;
	if (log_fd >= 0)
		dprintf(log_fd, "count %lu\n", count);
}

/* dlsym() itself does without memory where there is none. */
static __thread bool resolving;

static void *real(const char *name)
{
	void *f;

	resolving = true;
	f = dlsym(RTLD_NEXT, name);
	resolving = false;
	return f;
}

#define WRAP(kind, type, failed, name, params, args)                                               \
	type wrap_##name params __asm__(#name);                                                    \
	type wrap_##name params                                                                    \
	{                                                                                          \
		static type(*next) params;                                                         \
                                                                                                   \
		if (kind == ALLOC && resolving)                                                    \
			return failed;                                                             \
		if (!next)                                                                         \
			next = real(#name);                                                        \
		if (must_fail(kind, #name, __builtin_return_address(0)))                           \
			return failed;                                                             \
		return next args;                                                                  \
	}
#define MEMORY(name, params, args) WRAP(ALLOC, void *, NULL, name, params, args)
#define NUMBER(name, params, args) WRAP(CALL, int, -1, name, params, args)
#define SIZE(name, params, args) WRAP(CALL, ssize_t, -1, name, params, args)
#define POINTER(type, name, params, args) WRAP(CALL, type, NULL, name, params, args)

MEMORY(malloc, (size_t a), (a))
MEMORY(calloc, (size_t a, size_t b), (a, b))
MEMORY(realloc, (void *p, size_t a), (p, a))
MEMORY(reallocarray, (void *p, size_t a, size_t b), (p, a, b))
MEMORY(aligned_alloc, (size_t a, size_t b), (a, b))

/* glibc's writes through NULL when it is out of memory itself (seen in 2.36). */
FTS *wrap_fts_open(char *const *paths, int options,
		   int (*cmp)(const FTSENT **, const FTSENT **)) __asm__("fts_open");
FTS *wrap_fts_open(char *const *paths, int options, int (*cmp)(const FTSENT **, const FTSENT **))
{
	FTS *(*next)(char *const *, int, int (*)(const FTSENT **, const FTSENT **)) =
		real("fts_open");
	int before = what;
	FTS *fts;

	if (must_fail(CALL, "fts_open", __builtin_return_address(0)))
		return NULL;
	what = NONE;
	fts = next(paths, options, cmp);
	what = before;
	return fts;
}

/* The variable arguments are handed on as they would lie in registers. */
NUMBER(open, (const char *path, int flags, int mode), (path, flags, mode))
NUMBER(open64, (const char *path, int flags, int mode), (path, flags, mode))
NUMBER(openat, (int dir, const char *path, int flags, int mode), (dir, path, flags, mode))
NUMBER(openat64, (int dir, const char *path, int flags, int mode), (dir, path, flags, mode))
NUMBER(ioctl, (int fd, unsigned long request, long arg), (fd, request, arg))
NUMBER(fcntl, (int fd, int cmd, long arg), (fd, cmd, arg))
NUMBER(fcntl64, (int fd, int cmd, long arg), (fd, cmd, arg))
POINTER(FILE *, fopen, (const char *path, const char *mode), (path, mode))
POINTER(FILE *, fopen64, (const char *path, const char *mode), (path, mode))
POINTER(FILE *, setmntent, (const char *path, const char *mode), (path, mode))
POINTER(DIR *, opendir, (const char *path), (path))
POINTER(DIR *, fdopendir, (int fd), (fd))
POINTER(struct dirent *, readdir, (DIR * dir), (dir))
POINTER(FTSENT *, fts_read, (FTS * fts), (fts))
POINTER(char *, realpath, (const char *path, char *out), (path, out))
SIZE(read, (int fd, void *data, size_t len), (fd, data, len))
SIZE(write, (int fd, const void *data, size_t len), (fd, data, len))
SIZE(pread, (int fd, void *data, size_t len, off_t at), (fd, data, len, at))
SIZE(pread64, (int fd, void *data, size_t len, off_t at), (fd, data, len, at))
SIZE(pwrite, (int fd, const void *data, size_t len, off_t at), (fd, data, len, at))
SIZE(splice, (int in, off_t *in_at, int out, off_t *out_at, size_t len, unsigned int flags),
     (in, in_at, out, out_at, len, flags))
WRAP(CALL, off_t, -1, lseek, (int fd, off_t at, int whence), (fd, at, whence))
WRAP(CALL, off_t, -1, lseek64, (int fd, off_t at, int whence), (fd, at, whence))
WRAP(CALL, void *, (void *)-1, mmap,
     (void *at, size_t len, int prot, int flags, int fd, off_t from),
     (at, len, prot, flags, fd, from))
WRAP(CALL, void *, (void *)-1, mmap64,
     (void *at, size_t len, int prot, int flags, int fd, off_t from),
     (at, len, prot, flags, fd, from))
NUMBER(fsync, (int fd), (fd))
NUMBER(ftruncate, (int fd, off_t len), (fd, len))
NUMBER(fchmod, (int fd, mode_t mode), (fd, mode))
NUMBER(flock, (int fd, int operation), (fd, operation))
NUMBER(rename, (const char *from, const char *to), (from, to))
NUMBER(renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
NUMBER(mkdir, (const char *path, mode_t mode), (path, mode))
NUMBER(mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode))
NUMBER(stat, (const char *path, struct stat *st), (path, st))
NUMBER(lstat, (const char *path, struct stat *st), (path, st))
NUMBER(fstat, (int fd, struct stat *st), (fd, st))
NUMBER(fstat64, (int fd, struct stat64 *st), (fd, st))
NUMBER(stat64, (const char *path, struct stat64 *st), (path, st))
NUMBER(statfs, (const char *path, struct statfs *st), (path, st))
NUMBER(access, (const char *path, int mode), (path, mode))
NUMBER(pipe2, (int *fds, int flags), (fds, flags))
NUMBER(fork, (void), ())
NUMBER(pidfd_open, (pid_t pid, unsigned int flags), (pid, flags))
NUMBER(signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags))
NUMBER(poll, (struct pollfd * fds, nfds_t nr, int ms), (fds, nr, ms))
NUMBER(ppoll, (struct pollfd * fds, nfds_t nr, const struct timespec *ts, const sigset_t *set),
       (fds, nr, ts, set))
NUMBER(epoll_create1, (int flags), (flags))
NUMBER(epoll_ctl, (int fd, int op, int of, void *event), (fd, op, of, event))
NUMBER(epoll_wait, (int fd, void *events, int nr, int ms), (fd, events, nr, ms))
NUMBER(uname, (void *u), (u))
NUMBER(waitpid, (pid_t pid, int *status, int options), (pid, status, options))
WRAP(CALL, int, EAGAIN, pthread_create,
     (pthread_t * t, const pthread_attr_t *a, void *(*f)(void *), void *arg), (t, a, f, arg))
WRAP(CALL, long, -1, syscall, (long nr, long a, long b, long c, long d, long e, long f),
     (nr, a, b, c, d, e, f))
