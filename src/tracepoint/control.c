// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The program's side of the control file (shared.h). After the file is made, nothing is opened any
 * more: by then the program may have another user, another root folder or a seccomp filter.
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
#define KEPT_FD 200 /* lowest descriptor number to use: programs may rely on low numbers */

char tap_control_path[PATH_MAX];
bool tap_control_is_second;

/* The pids of this process and of its ancestors, as far as they had control files; oldest first. */
static uint32_t family[TAP_FAMILY_MAX];
static unsigned int nr_family;
static bool tried;
static bool fresh; /* the program cannot have closed the descriptor yet */
static int kept_fd = -1;
static uint64_t file_max; /* limit of the areas' end in the file, in bytes */
static bool has_filters;

struct tap_area *tap_control_area(uint32_t nr)
{
	return (struct tap_area *)((char *)tap_control + TAP_CONTROL_PAGE) + nr;
}

/* ---- the file ---- */

/*
 * Create the file. It is sealed against shrinking, so no store into a mapping raises SIGBUS. It has
 * its maximum size from the start; it is sparse, so only touched pages take memory. Return: a
 * descriptor; -errno.
 */
static int make_memory(void)
{
	int fd = memfd_create("schedtap", MFD_CLOEXEC | MFD_ALLOW_SEALING), high, ret;
	struct rlimit limit;
	uint64_t bytes;

	if (fd < 0)
		return -errno;
	high = fcntl(fd, F_DUPFD_CLOEXEC, KEPT_FD);
	if (high >= 0) { /* else RLIMIT_NOFILE is too low: keep the low number */
		close(fd);
		fd = high;
	}
	bytes = TAP_CONTROL_FILTERS_END;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < bytes)
		/* growing a file beyond RLIMIT_FSIZE raises SIGXFSZ */
		bytes = limit.rlim_cur & ~(rlim_t)(TAP_CONTROL_PAGE - 1);
	has_filters = bytes == TAP_CONTROL_FILTERS_END;
	file_max = bytes < TAP_CONTROL_MAX_BYTES ? bytes : TAP_CONTROL_MAX_BYTES;
	/* clang-format off */
	ret = bytes < TAP_CONTROL_HEAD ? -EFBIG :
	      ftruncate(fd, (off_t)bytes) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) ? -errno : 0;
	/* clang-format on */
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/*
 * Return true if the descriptor still refers to the control file: the program may have closed it
 * and opened something else with this number.
 */
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
	/* atomic: a thread that makes a ring reads this under another lock */
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

/*
 * Return true if the link leads to the control file of another copy of this library in this
 * process, that is, to another descriptor than @fd.
 */
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
 * Create the link to the descriptor. Its name is PID-0, or PID with the next number if another copy
 * of this library in the process uses that name. In a nested pid namespace the namespace's inode is
 * appended, because programs of other namespaces may share the folder. An existing link that is not
 * another copy's is stale and is replaced: it was made by this process before exec, or by an
 * earlier process with this pid.
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

/*
 * Fill in the name that the kernel gives a program at exec. A child may have been renamed, so its
 * current name is used.
 */
static void fill_comm(char comm[16], bool is_child)
{
	const char *path = (const char *)getauxval(AT_EXECFN),
		   *slash = path ? strrchr(path, '/') : NULL;

	if (is_child || !path)
		prctl(PR_GET_NAME, comm);
	else
		strncpy(comm, slash ? slash + 1 : path, 15);
}

/* @parent: the parent's file in a child; else NULL. */
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

/*
 * Create the file, map it and link it; the link is made last, so whoever follows it finds a
 * complete head. @parent: in a child, the parent's mapping, which the new file replaces; else NULL.
 * Return: 0; -errno.
 */
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

	/* look for the folder again: the child may run as another user, with another folder */
	return tap_folder_find(folder) && !make_file(folder, tap_control);
}

/* Only the link is removed: a recorder that has the file open can still read all of it. */
void tap_control_close(void)
{
	/* a child without a file of its own must not remove its parent's link */
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

	/* no lock: another process may add an area at the same time */
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
	/* old size 0: mremap() makes a second mapping of the same file, which may be longer */
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
