// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The program's side of the control file (shared.h). Nothing is opened once it is there: by then
 * the program may have another user, another root folder or a seccomp filter.
 */
#include "tracepoint/clock.h"
#include "tracepoint/internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAP_FAMILY_MAX 16u
#define KEPT_FD 200 /* and above: out of the way of programs that count on low numbers */

char tap_control_path[PATH_MAX];
bool tap_control_is_second;

/* Those that this process was forked from, the first one first, and itself, as far as they have had
 * files. */
static uint32_t family[TAP_FAMILY_MAX];
static unsigned int nr_family;
static bool tried;
static bool fresh; /* the descriptor was made just now: it is certainly ours */
static int kept_fd = -1;
static uint64_t file_max; /* bytes that areas may take */
static bool has_filters;

struct tap_area *tap_control_area(uint32_t nr)
{
	return (struct tap_area *)((char *)tap_control + TAP_CONTROL_PAGE) + nr;
}

/* ---- the file ---- */

/*
 * It can never become smaller, so no store into it is a SIGBUS. It is as big as it may ever become,
 * and of that only what is touched is there. Return: a descriptor; -errno.
 */
static int make_memory(void)
{
	int fd = memfd_create("schedtap", MFD_CLOEXEC | MFD_ALLOW_SEALING), high, ret;
	struct rlimit limit;
	uint64_t bytes;

	if (fd < 0)
		return -errno;
	high = fcntl(fd, F_DUPFD_CLOEXEC, KEPT_FD);
	if (high >= 0) { /* else there may not be that many */
		close(fd);
		fd = high;
	}
	bytes = TAP_CONTROL_FILTERS_END;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < bytes)
		/* beyond it is a signal */
		bytes = limit.rlim_cur & ~(rlim_t)(TAP_CONTROL_PAGE - 1);
	has_filters = bytes == TAP_CONTROL_FILTERS_END;
	file_max = bytes < TAP_CONTROL_MAX_BYTES ? bytes : TAP_CONTROL_MAX_BYTES;
	ret = bytes < TAP_CONTROL_HEAD						     ? -EFBIG
	      : ftruncate(fd, (off_t)bytes) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) ? -errno
										     : 0;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* Whether the descriptor is the file's still: the program may have closed it, and opened something
 * else. */
static bool is_kept(void)
{
	struct tap_control c;
	struct stat st;

	if (__atomic_load_n(&fresh, __ATOMIC_RELAXED))
		return true;
	return kept_fd >= 0 && !fstat(kept_fd, &st) && S_ISREG(st.st_mode) &&
	       pread(kept_fd, &c, sizeof(c), 0) == sizeof(c) && c.magic == TAP_CONTROL_MAGIC &&
	       c.pid == tap_control->pid && c.made_ns == tap_control->made_ns;
}

void tap_control_let_go(void)
{
	/* a thread that makes a ring has another lock */
	__atomic_store_n(&fresh, false, __ATOMIC_RELAXED);
}

bool tap_control_send(int socket)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .head = { .cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS,
				.cmsg_len = CMSG_LEN(sizeof(int)) } };
	struct iovec byte = { "", 1 };
	struct msghdr message = { .msg_iov = &byte,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.head), &kept_fd, sizeof(kept_fd));
	return is_kept() && sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* ---- its name ---- */

/* Whether the link leads to the file of another copy of this library in this process, which has
 * @fd. */
static bool is_another_copys(const char *path, int fd)
{
	struct stat st, own;
	char to[64];
	ssize_t len = readlink(path, to, sizeof(to) - 1);
	const char *number;

	to[len > 0 ? len : 0] = '\0';
	number = strrchr(to, '/');
	return number && atoi(number + 1) != fd && !fstat(atoi(number + 1), &st) &&
	       !fstat(fd, &own) && st.st_dev == own.st_dev;
}

/*
 * PID-0, or the next number where another copy of this library has that one; in a pid namespace its
 * inode follows, for another one may share the folder. What else has the name is of a program that
 * is gone, of the same process before exec or of another one with its id.
 */
static int make_link(const char *folder, int fd, uint64_t pid_ns)
{
	char to[64];

	*tap_put_number(stpcpy(tap_put_number(stpcpy(to, "/proc/"), tap_process->pid, 10), "/fd/"),
			(unsigned int)fd, 10) = '\0';
	for (unsigned int i = 0; i < 16; i++) {
		char *end = tap_put_number(stpcpy(stpcpy(tap_control_path, folder), "/"),
					   tap_process->pid, 10);

		*end++ = '-';
		end = tap_put_number(end, i, 16);
		if (pid_ns != TAP_INITIAL_PID_NS)
			end = tap_put_number(end, pid_ns, 16);
		*end = '\0';
		if (!symlink(to, tap_control_path))
			return 0;
		if (errno != EEXIST)
			return -errno;
		tap_control_is_second = is_another_copys(tap_control_path, fd);
		if (!tap_control_is_second)
			return unlink(tap_control_path) || symlink(to, tap_control_path) ? -errno
											 : 0;
	}
	return -EEXIST;
}

/* As the kernel names a program that starts. A child may have been given another name. */
static void fill_comm(char comm[16], bool is_child)
{
	const char *path = (const char *)getauxval(AT_EXECFN),
		   *slash = path ? strrchr(path, '/') : NULL;

	if (is_child || !path)
		prctl(PR_GET_NAME, comm);
	else
		strncpy(comm, slash ? slash + 1 : path, 15);
}

/* @parent: in a child; else NULL. */
static void fill_head(struct tap_control *c, const struct tap_control *parent, uint64_t pid_ns)
{
	*c = (struct tap_control){ .version = TAP_CONTROL_VERSION,
				   .min_version = TAP_CONTROL_MIN_VERSION,
				   .head_bytes = sizeof(*c),
				   .pid = tap_process->pid,
				   .made_ns = tap_boot_ns(),
				   .pid_ns = pid_ns,
				   .ring_shift = parent ? parent->ring_shift : 0,
				   .end = parent ? TAP_CONTROL_MAPPED : TAP_CONTROL_HEAD,
				   .parent_ns = parent ? parent->made_ns : 0 };
	fill_comm(c->comm, parent);
	__atomic_store_n(&c->magic, TAP_CONTROL_MAGIC, __ATOMIC_RELEASE);
}

/* @parent: what is mapped in a child, whose own takes its place; else NULL. Whoever follows the
 * link finds it whole. */
static int make_file(const char *folder, struct tap_control *parent)
{
	struct stat ns = { .st_ino = TAP_INITIAL_PID_NS };
	int fd = make_memory(), ret;
	void *head;

	if (fd < 0)
		return fd;
	head = mmap(NULL, TAP_CONTROL_MAPPED, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (head == MAP_FAILED) {
		ret = -errno;
	} else {
		(void)stat("/proc/self/ns/pid", &ns);
		fill_head(head, parent, ns.st_ino);
		ret = make_link(folder, fd, ns.st_ino);
	}
	if (ret) {
		if (head != MAP_FAILED)
			munmap(head, TAP_CONTROL_MAPPED);
		close(fd);
		return ret;
	}
	if (parent && is_kept())
		close(kept_fd);
	if (parent)
		head = mremap(head, TAP_CONTROL_MAPPED, TAP_CONTROL_MAPPED,
			      MREMAP_MAYMOVE | MREMAP_FIXED, parent);
	kept_fd = fd;
	__atomic_store_n(&fresh, true, __ATOMIC_RELAXED);
	tap_control = head;
	if (nr_family < TAP_FAMILY_MAX)
		family[nr_family++] = tap_process->pid;
	return 0;
}

bool tap_control_is_family(uint32_t pid)
{
	for (unsigned int i = 0; i < nr_family; i++)
		if (family[i] == pid)
			return true;
	return pid == tap_process->pid;
}

bool tap_control_open(void)
{
	char folder[TAP_FOLDER_MAX];
	int ret;

	if (tried)
		return false;
	tried = true;
	if (getauxval(AT_SECURE)) {
		tap_set_reason("events are off: the program has more privileges than its user "
			       "(set-user-ID or capabilities)");
		return false;
	}
	if (!tap_folder_find(folder)) {
		tap_set_reason("events are off: there is no folder for the control file: "
			       "$XDG_RUNTIME_DIR, /run/user/UID and /dev/shm cannot be used");
		return false;
	}
	ret = make_file(folder, NULL);
	if (!ret)
		return true;
	tap_control_path[0] = '\0';
	tap_set_reason("events are off: cannot make a control file: %s", strerror(-ret));
	return false;
}

bool tap_control_open_child(void)
{
	char folder[TAP_FOLDER_MAX];

	/* it may be another user's by now, who has a folder of his own */
	return tap_folder_find(folder) && !make_file(folder, tap_control);
}

/* A recorder that has it open can read it to the end. */
void tap_control_close(void)
{
	/* a child that has none of its own must not remove its parent's */
	if (tap_control && tap_process->pid && !tap_process->shared)
		unlink(tap_control_path);
}

/* ---- areas ---- */

int tap_control_add_area(uint64_t bytes, const void *at)
{
	uint64_t offset = tap_control_has(at)
				  ? (uint64_t)((const char *)at - (char *)tap_control)
				  : __atomic_fetch_add(&tap_control->end, tap_page_up(bytes),
						       __ATOMIC_RELAXED);
	uint32_t nr = __atomic_load_n(&tap_control->areas_nr, __ATOMIC_RELAXED);

	/* without a lock: another process may add one at the same time */
	do
		if (nr >= TAP_CONTROL_AREAS || offset > file_max || bytes > file_max - offset)
			return -ENOSPC;
	while (!__atomic_compare_exchange_n(&tap_control->areas_nr, &nr, nr + 1, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	tap_control_area(nr)->offset = offset;
	tap_control_area(nr)->size = bytes;
	return (int)nr;
}

void tap_control_publish(uint32_t nr, enum tap_area_kind kind)
{
	__atomic_store_n(&tap_control_area(nr)->kind, kind, __ATOMIC_RELEASE);
}

bool tap_control_has(const void *p)
{
	uintptr_t start = (uintptr_t)tap_control;

	return (uintptr_t)p >= start && (uintptr_t)p < start + TAP_CONTROL_MAPPED;
}

bool tap_control_has_filters(void)
{
	return has_filters;
}

void *tap_control_map_at(uint64_t offset, uint64_t bytes)
{
	char *p;

	if (is_kept())
		return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kept_fd,
			    (off_t)offset);
	/* 0 bytes of it: a second mapping of the same file, which may be longer */
	p = mremap(tap_control, 0, offset + bytes, MREMAP_MAYMOVE);
	if (p == MAP_FAILED)
		return p;
	munmap(p, offset);
	return p + offset;
}

void *tap_control_map(uint32_t nr)
{
	const struct tap_area *a = tap_control_area(nr);

	return tap_control_map_at(a->offset, a->size);
}

void *tap_control_map_or_find(uint32_t nr)
{
	const struct tap_area *a = tap_control_area(nr);

	return a->offset + a->size <= TAP_CONTROL_MAPPED ? (char *)tap_control + a->offset
							 : tap_control_map(nr);
}
