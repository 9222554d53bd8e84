// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The program's side of the control file (shared.h). The file is opened by its name whenever it has
 * to grow, and closed again: programs close descriptors that they do not know.
 */
#include "tracepoint/clock.h"
#include "tracepoint/internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_BYTES (2ull * TAP_CONTROL_PAGE) /* that are there from the start: with the first 64 areas */

char tap_control_path[PATH_MAX];

static bool tried;
static int held_fd = -1; /* of the file, while it is made */
static dev_t file_dev;
static ino_t file_ino;
static uint64_t file_bytes;

struct tap_area *tap_control_area(uint32_t nr)
{
	return (struct tap_area *)((char *)tap_control + TAP_CONTROL_PAGE) + nr;
}

/* Nobody else may be able to put something in the folder, or to look into it. */
static bool folder_is_ours(const char *folder)
{
	struct stat st;

	return !lstat(folder, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 077);
}

static bool use_folder(char *folder, size_t size, const char *base, const char *name)
{
	if (strlen(base) + strlen(name) >= size || *base != '/')
		return false;
	strcpy(stpcpy(folder, base), name);
	return folder_is_ours(folder) || (!mkdir(folder, 0700) && folder_is_ours(folder));
}

/* Those of shared.h's readers, in the same order. */
static bool find_folder(char *folder, size_t size)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	char base[64];

	if (xdg && use_folder(folder, size, xdg, "/schedtap"))
		return true;
	*tap_put_number(stpcpy(base, "/run/user/"), geteuid(), 10) = '\0';
	if (use_folder(folder, size, base, "/schedtap"))
		return true;
	*tap_put_number(stpcpy(base, "/dev/shm/schedtap-"), geteuid(), 10) = '\0';
	return use_folder(folder, size, base, "");
}

/* Makes bytes of the file be really there: a store into a hole of a full disk would end us. */
static int fill_hole(int fd, uint64_t offset, uint64_t bytes)
{
	int ret;

	do
		ret = posix_fallocate(fd, (off_t)offset, (off_t)bytes);
	while (ret == EINTR);
	return -ret;
}

static int grow(int fd, uint64_t bytes)
{
	int ret;

	if (file_bytes + bytes > TAP_CONTROL_MAX_BYTES)
		return -EFBIG;
	ret = fill_hole(fd, file_bytes, bytes);
	if (ret)
		return ftruncate(fd, (off_t)file_bytes) ? -errno : ret;
	file_bytes += bytes;
	return 0;
}

/* What is written is there. */
static int append(int fd, const void *data, uint64_t bytes)
{
	if (file_bytes + bytes > TAP_CONTROL_MAX_BYTES)
		return -EFBIG;
	if (pwrite(fd, data, bytes, (off_t)file_bytes) != (ssize_t)bytes)
		return ftruncate(fd, (off_t)file_bytes) ? -errno : -ENOSPC;
	file_bytes += tap_page_up(bytes);
	return 0;
}

/* The table of areas has room for many and is filled page by page. */
static int begin_file(int fd)
{
	file_bytes = tap_page_up(TAP_CONTROL_HEAD);
	return fill_hole(fd, 0, FIRST_BYTES);
}

static int open_by_name(void)
{
	struct stat st;
	int fd = open(tap_control_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_dev != file_dev || st.st_ino != file_ino) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

static int open_file(void)
{
	return held_fd >= 0 ? held_fd : open_by_name();
}

static void close_file(int fd)
{
	if (fd != held_fd)
		close(fd);
}

void tap_control_let_go(void)
{
	bool locked = tap_lock_of(&tap_process->areas); /* who makes a ring may be using it */

	if (held_fd >= 0)
		close(held_fd);
	held_fd = -1;
	if (locked)
		tap_unlock_of(&tap_process->areas);
}

/*
 * Whether this process has that file mapped: another copy of this library is linked into it.
 * Without stdio, whose malloc() a signal handler may have interrupted.
 */
static bool is_mapped(ino_t ino)
{
	char text[4096 + 1], want[32];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t kept = 0, want_len;
	bool found = false;
	ssize_t len;

	want_len = (size_t)snprintf(want, sizeof(want), " %llu ", (unsigned long long)ino);
	while (fd >= 0 && !found && (len = read(fd, text + kept, sizeof(text) - 1 - kept)) > 0) {
		size_t all = kept + (size_t)len;

		text[all] = '\0';
		found = strstr(text, want);
		kept = all < want_len ? all : want_len; /* it may lie across two reads */
		memmove(text, text + all - kept, kept);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* Whether a file has rings, which a recorder may yet want to read. */
static bool file_has_rings(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct tap_control c;
	struct tap_area a;
	bool found = false;

	if (fd < 0)
		return false;
	if (pread(fd, &c, sizeof(c), 0) == sizeof(c))
		for (uint32_t i = 0; !found && i < c.areas_nr && i < TAP_CONTROL_AREAS; i++)
			found = pread(fd, &a, sizeof(a), (off_t)(TAP_CONTROL_PAGE + i * sizeof(a))) ==
				sizeof(a) && a.kind == TAP_AREA_RING;
	close(fd);
	return found;
}

static int open_new(void)
{
	int fd = open(tap_control_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? -errno : fd;
}

/*
 * PID-0, or the next number where another copy of this library has that one. What else has the
 * name is of a program that is gone, of the same process before exec or of another one with its
 * id: it goes, unless events are in it.
 */
static int create_file(const char *folder)
{
	struct stat st;

	if (strlen(folder) > PATH_MAX - 32)
		return -ENAMETOOLONG;
	for (unsigned int i = 0; i < 64; i++) {
		char *end = tap_put_number(stpcpy(stpcpy(tap_control_path, folder), "/"), tap_process->pid, 10);
		int fd;

		*end++ = '-';
		*tap_put_number(end, i, 16) = '\0';
		fd = open_new();
		if (fd == -EEXIST && !lstat(tap_control_path, &st) && !is_mapped(st.st_ino) &&
		    !file_has_rings(tap_control_path) && !unlink(tap_control_path))
			fd = open_new();
		if (fd != -EEXIST)
			return fd;
	}
	return -EEXIST;
}

static void fill_head(struct tap_control *c, const struct tap_control *parent)
{
	struct stat ns;

	c->version = TAP_CONTROL_VERSION;
	c->pid = tap_process->pid;
	c->made_ns = tap_boot_ns();
	c->pid_ns = stat("/proc/self/ns/pid", &ns) ? 0 : ns.st_ino;
	c->ring_shift = parent ? parent->ring_shift : 0;
	prctl(PR_GET_NAME, c->comm);
	__atomic_store_n(&c->magic, TAP_CONTROL_MAGIC, __ATOMIC_RELEASE);
}

/* @parent: in a child: its file takes the place of that one's. */
static int make_file(const char *folder, const struct tap_control *parent)
{
	int fd = create_file(folder), ret;
	struct stat st;
	void *head;

	if (fd < 0)
		return fd;
	ret = fstat(fd, &st) ? -errno : begin_file(fd);
	head = ret ? MAP_FAILED :
		     mmap(parent ? tap_control : NULL, TAP_CONTROL_HEAD, PROT_READ | PROT_WRITE,
			  MAP_SHARED | (parent ? MAP_FIXED : 0), fd, 0);
	if (head == MAP_FAILED) {
		ret = ret ? ret : -errno;
		unlink(tap_control_path);
		close(fd);
		return ret;
	}
	held_fd = fd;
	file_dev = st.st_dev;
	file_ino = st.st_ino;
	fill_head(head, parent);
	tap_control = head;
	return 0;
}

static void give_up(int code)
{
	tap_control_path[0] = '\0';
	tap_set_reason("events are off: cannot make a control file: %s", strerror(-code));
}

void tap_control_folder(char folder[PATH_MAX])
{
	strcpy(folder, tap_control_path);
	*strrchr(folder, '/') = '\0';
}

bool tap_control_open(void)
{
	char folder[PATH_MAX - 64];
	int ret;

	if (tried)
		return false;
	tried = true;
	if (getauxval(AT_SECURE)) {
		tap_set_reason("events are off: the program runs with more rights than its user has");
		return false;
	}
	if (!find_folder(folder, sizeof(folder))) {
		tap_set_reason("events are off: no folder for the control file: "
			       "$XDG_RUNTIME_DIR, /run/user/UID and /dev/shm cannot be used");
		return false;
	}
	ret = make_file(folder, NULL);
	if (ret)
		give_up(ret);
	return !ret;
}

void tap_control_open_child(void)
{
	struct tap_control parent = *tap_control;
	char folder[PATH_MAX];
	int ret;

	tap_control_folder(folder);
	ret = make_file(folder, &parent);
	if (ret) {
		tap_control = NULL;
		give_up(ret);
	}
}

bool tap_control_is_drained(void)
{
	int fd = tap_control ? open_by_name() : -ENOENT; /* without the lock: the other one may be closed meanwhile */
	bool locked;

	if (fd < 0)
		return false;
	locked = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return locked;
}

static bool has_rings(void)
{
	for (uint32_t i = 0; i < tap_control->areas_nr; i++)
		if (tap_control_area(i)->kind == TAP_AREA_RING)
			return true;
	return false;
}

/*
 * What a recorder has open it can read to the end; what it may not have seen yet stays, for it to
 * find and to remove.
 */
void tap_control_close(void)
{
	/* a child that has none of its own must not remove its parent's */
	if (!tap_control || !tap_process->pid)
		return;
	if (!has_rings() || !tap_wished || tap_control_is_drained())
		unlink(tap_control_path);
}

/* ---- areas ----------------------------------------------------------------------------------- */

int tap_control_add_area(uint64_t bytes, const void *start)
{
	uint32_t nr = tap_control->areas_nr;
	uint64_t offset = file_bytes, at = TAP_CONTROL_PAGE + nr * sizeof(struct tap_area);
	int fd, ret = 0;

	if (nr >= TAP_CONTROL_AREAS)
		return -ENOSPC;
	fd = open_file();
	if (fd < 0)
		return fd;
	if (at + sizeof(struct tap_area) > FIRST_BYTES)
		ret = fill_hole(fd, at, sizeof(struct tap_area));
	ret = ret ? ret : start ? append(fd, start, bytes) : grow(fd, tap_page_up(bytes));
	close_file(fd);
	if (ret)
		return ret;
	*tap_control_area(nr) = (struct tap_area){ .offset = offset, .size = start ? bytes : tap_page_up(bytes) };
	return (int)nr;
}

void tap_control_publish(uint32_t nr, enum tap_area_kind kind)
{
	__atomic_store_n(&tap_control_area(nr)->kind, kind, __ATOMIC_RELEASE);
	if (nr == tap_control->areas_nr)
		__atomic_store_n(&tap_control->areas_nr, nr + 1, __ATOMIC_RELEASE);
}

void *tap_control_map(uint32_t nr, size_t bytes, void *at)
{
	int fd = open_file();
	void *p;

	if (fd < 0) {
		errno = -fd;
		return MAP_FAILED;
	}
	p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd,
		 (off_t)tap_control_area(nr)->offset);
	close_file(fd);
	return p;
}
