// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/user/programs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/proc.h"
#include "record/machine.h"
#include "record/user/clock.h"
#include "record/user/pid_ns.h"

/*
 * A folder that changed less than this ago may change again without a new mtime, whose resolution
 * is a tick of up to 10 ms.
 */
#define SETTLED_NS 50000000
#define SHARER_TRIES 8 /* limit, in case processes are started all the time */

struct tap_user_set {
	struct tap_user_folders folders;
	struct tap_user_program **programs;
	unsigned int nr, cap;
	struct tap_map by_name; /* hash of folder, link's name and inode -> program */
	struct tap_map by_ino; /* inode of the control file -> program */
	struct tap_user_books books;
	struct tap_user_kinds kinds;
	struct tap_pid_ns_walk others; /* valid while a folder is listed */
	unsigned int nr_cpus; /* number of possible CPUs */
};

/* ---- control files ---- */

static int open_same(const struct tap_user_program *p, int flags)
{
	struct stat st;
	int fd = p->sent >= 0 ? tap_user_memory_open(p->sent, flags, p->uid, &st)
			      : tap_user_link_open(p->folder, p->file, p->pid, flags, &st);

	if (fd < 0 || (st.st_dev == p->dev && st.st_ino == p->ino))
		return fd;
	close(fd);
	return -ESTALE;
}

/* Open the program's control file. Return: a descriptor; -errno with a message. */
static int open_control(const struct tap_user_program *p, int flags, struct tap_err *err)
{
	int fd = open_same(p, flags);

	errno = -fd;
	return fd < 0 ? tap_err_set(err, fd, "cannot open the control file of process %d: %m",
				    p->pid)
		      : fd;
}

/*
 * Return a locked program's descriptor, else open the control file. Release it with put_control().
 */
static int get_control(const struct tap_user_program *p, int flags, struct tap_err *err)
{
	return p->fd >= 0 ? p->fd : open_control(p, flags, err);
}

static void put_control(const struct tap_user_program *p, int fd)
{
	if (fd != p->fd)
		close(fd);
}

/* Return true if a line of /proc/PID/maps maps the control file. */
static bool is_mapping(const struct tap_user_program *p, const char *line)
{
	unsigned int major_nr, minor_nr;
	uint64_t ino;

	return sscanf(line, "%*s %*s %*s %x:%x %" SCNu64, &major_nr, &minor_nr, &ino) == 3 &&
	       ino == p->ino && makedev(major_nr, minor_nr) == p->dev;
}

/*
 * Return true if the process with the program's pid was started before the control file was made:
 * else the pid was reused.
 */
static bool same_start(const struct tap_user_program *p)
{
	uint64_t ticks, per_s = (uint64_t)sysconf(_SC_CLK_TCK), made_ns = p->control.head.made_ns;

	return !tap_proc_read_start(p->pid, &ticks) && ticks / per_s <= made_ns / 1000000000 &&
	       ticks * (1000000000 / per_s) <= made_ns;
}

/* Return: 1: the process has the control file mapped; 0: it has not; -errno. */
static int has_mapped(const struct tap_user_program *p, int pid)
{
	char path[32], *line = NULL;
	size_t cap = 0;
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (!found && getline(&line, &cap, f) > 0)
		found = is_mapping(p, line);
	free(line);
	fclose(f);
	return found;
}

bool tap_user_is_unmapped(const struct tap_user_program *p, int pid)
{
	int mapped = has_mapped(p, pid);

	if (mapped < 0) /* it may not be inspected, or does not exist */
		return mapped != -ENOENT && mapped != -ESRCH;
	return !mapped && !tap_proc_has_ended(pid); /* a process that has ended has no mappings */
}

/* Return the id of the newest process; 0 if unknown. */
static int newest_pid(void)
{
	FILE *f = fopen("/proc/loadavg", "re");
	int pid = 0;

	if (f && fscanf(f, "%*s %*s %*s %*s %d", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	return pid;
}

/*
 * Return a process other than the program and the recorder that has the control file mapped; 0:
 * none.
 */
static int search_sharer(const struct tap_user_program *p)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int found = 0;

	while (d && !found && (e = readdir(d))) {
		int pid = *e->d_name >= '1' && *e->d_name <= '9' ? atoi(e->d_name) : 0;

		if (pid && pid != p->pid && pid != getpid() && has_mapped(p, pid) > 0)
			found = pid;
	}
	if (d)
		closedir(d);
	return found;
}

/*
 * Find a process other than the program and the recorder that has the control file mapped. One may
 * have forked and ended before its mappings were read: then there is a newer process, so search
 * again. Return: its pid; 0: none.
 */
static int find_sharer(const struct tap_user_program *p)
{
	int found = 0, seen = -1, newest;

	for (int i = 0; i < SHARER_TRIES && !found && (newest = newest_pid()) != seen; i++) {
		seen = newest;
		found = search_sharer(p);
	}
	return found;
}

/* Read a byte of struct tap_control. Return: 0 also if the program is not locked. */
static uint8_t get_byte(const struct tap_user_program *p, size_t at)
{
	uint8_t byte;

	return p->fd >= 0 && pread(p->fd, &byte, 1, (off_t)at) == 1 ? byte : 0;
}

bool tap_user_has_children(struct tap_user_program *p)
{
	if (!get_byte(p, offsetof(struct tap_control, forked)))
		return false;
	if (!p->sharer || has_mapped(p, p->sharer) <= 0)
		p->sharer = find_sharer(p);
	return p->sharer;
}

bool tap_user_is_alive(struct tap_user_program *p)
{
	char path[32];
	int mapped;

	p->alive = p->foreign;
	if (p->foreign)
		return true;
	if (!p->ino) { /* the control file could not be opened */
		snprintf(path, sizeof(path), "/proc/%d", p->pid);
		return p->alive = !access(path, F_OK);
	}
	mapped = has_mapped(p, p->pid);
	/* a process that may not be inspected, such as a set-uid program */
	p->alive = mapped > 0 || ((mapped == -EACCES || mapped == -EPERM) && same_start(p));
	if (!p->alive && (p->with_children || get_byte(p, offsetof(struct tap_control, shared))))
		p->alive = tap_user_has_children(p);
	return p->alive;
}

/* Read changes of the control file. */
static int read_control(struct tap_user_set *set, struct tap_user_program *p, int fd,
			struct tap_err *err)
{
	const struct tap_user_control_source from = { fd, p->pid, set->nr_cpus, &set->kinds };

	return tap_user_control_read(&p->control, &from, err);
}

int tap_user_refresh(struct tap_user_set *set, struct tap_user_program *p, struct tap_err *err)
{
	int fd = get_control(p, O_RDONLY, err), ret;

	if (fd < 0)
		return fd;
	ret = read_control(set, p, fd, err);
	put_control(p, fd);
	return ret;
}

/* ---- the set ---- */

int tap_user_new(struct tap_user_set **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->nr_cpus = tap_machine_nr_cpus();
	tap_user_books_init(&(*out)->books);
	return 0;
}

int tap_user_new_own(struct tap_user_set **out)
{
	return tap_user_new(out) ?: tap_user_folders_add_own(&(*out)->folders);
}

struct tap_user_folders *tap_user_folders(struct tap_user_set *set)
{
	return &set->folders;
}

static void program_free(struct tap_user_program *p)
{
	tap_user_unlock(p);
	if (p->sent >= 0)
		close(p->sent);
	tap_user_control_release(&p->control);
	free(p);
}

void tap_user_free(struct tap_user_set *set)
{
	if (!set)
		return;
	for (unsigned int i = 0; i < set->nr; i++)
		program_free(set->programs[i]);
	tap_user_folders_release(&set->folders);
	free(set->programs);
	tap_map_release(&set->by_name);
	tap_map_release(&set->by_ino);
	tap_user_books_release(&set->books);
	tap_user_kinds_release(&set->kinds);
	free(set);
}

/*
 * Hash a link. The inode is included because names are reused, by a later program with the same pid
 * or by the same process after exec.
 */
static uint64_t name_key(const struct tap_user_folder *f, const char *name, uint64_t ino)
{
	uint64_t key = (uintptr_t)f ^ ino << 32 ^ ino >> 32;

	for (; *name; name++)
		key = (key ^ (unsigned char)*name) * 0x100000001b3ull;
	return key;
}

static struct tap_user_program *program_new(int pid, uid_t uid, const struct stat *st)
{
	struct tap_user_program *p = calloc(1, sizeof(*p));

	if (p)
		*p = (struct tap_user_program){ .pid = pid,
						.uid = uid,
						.fd = -1,
						.sent = -1,
						.dev = st->st_dev,
						.ino = st->st_ino };
	return p;
}

static int map_program(struct tap_map *map, uint64_t key, struct tap_user_program *p)
{
	uint64_t *slot = tap_map_put(map, key);

	if (slot)
		*slot = (uintptr_t)p;
	return slot ? 0 : -ENOMEM;
}

/*
 * Make a program known by its link, if that was seen, and by its control file, if that could be
 * opened.
 */
static int map_both(struct tap_map *by_name, struct tap_map *by_ino, struct tap_user_program *p)
{
	int ret = *p->file ? map_program(by_name, name_key(p->folder, p->file, p->link_ino), p) : 0;

	return ret || !p->ino ? ret : map_program(by_ino, p->ino, p);
}

static int add_program(struct tap_user_set *set, struct tap_user_program *p)
{
	if (tap_array_grow(&set->programs, set->nr, &set->cap, sizeof(*set->programs)) ||
	    map_both(&set->by_name, &set->by_ino, p))
		return -ENOMEM;
	set->programs[set->nr++] = p;
	return 0;
}

static struct tap_user_program *find_by_ino(const struct tap_user_set *set, const struct stat *st)
{
	const uint64_t *slot = tap_map_get(&set->by_ino, st->st_ino);

	return slot ? (struct tap_user_program *)(uintptr_t)*slot : NULL;
}

static void set_link(struct tap_user_program *p, const struct tap_user_folder *f,
		     const struct dirent *e)
{
	p->folder = f;
	p->link_ino = e->d_ino;
	p->seen = true;
	strcpy(p->file, e->d_name);
}

/*
 * Read a new program and add it. Return: 0, also if its file is invalid, which is noted as its
 * reason; -ENOMEM.
 */
static int read_new(struct tap_user_set *set, struct tap_user_program *p, int fd)
{
	struct tap_err why = { 0 };
	int ret = read_control(set, p, fd, &why);

	tap_user_is_alive(p);
	if (ret && ret != -ENOMEM) {
		snprintf(p->control.head.reason, sizeof(p->control.head.reason), "%.255s",
			 why.text);
		p->ino = p->dev = 0; /* another link may lead to the valid file */
	}
	ret = ret == -ENOMEM ? ret : add_program(set, p);
	if (ret)
		program_free(p);
	return ret;
}

/* Add a program whose control file cannot be opened. Return: 1; -ENOMEM. */
static int add_closed(struct tap_user_set *set, struct tap_user_folder *f, const struct dirent *e,
		      uid_t owner, int code)
{
	struct tap_user_program *p =
		program_new(tap_user_link_pid(e->d_name), owner, &(struct stat){ 0 });
	int ret;

	if (!p)
		return -ENOMEM;
	set_link(p, f, e);
	p->alive = true;
	p->foreign = tap_user_link_pid_ns(e->d_name);
	errno = -code;
	snprintf(p->control.head.reason, sizeof(p->control.head.reason),
		 p->foreign ? "the program runs in another PID namespace"
			    : "cannot open the program's control file: %m");
	ret = add_program(set, p);
	if (ret)
		program_free(p);
	return ret ? ret : 1;
}

/*
 * Handle a link whose control file cannot be opened. Return: 1 if a program was added; 0; -ENOMEM.
 */
static int add_unopened(struct tap_user_set *set, struct tap_user_folder *f, int dir,
			const struct dirent *e, uid_t owner, int code)
{
	if (code == -EPERM) /* not a link of a program */
		return 0;
	/* its process has ended or called exec: remove the stale link */
	if (code == -ENOENT && !tap_user_link_pid_ns(e->d_name)) {
		unlinkat(dir, e->d_name, 0);
		return 0;
	}
	/* a temporary error: look again at the next scan */
	if (code != -ENOENT && code != -EACCES) {
		f->settled = false;
		return 0;
	}
	return add_closed(set, f, e, owner, code);
}

/* Find the process of a link from another pid namespace. Return: as tap_pid_ns_process(). */
static int find_process(struct tap_pid_ns_walk *walk, int dir, const char *name, uint64_t ns)
{
	int pid = tap_pid_ns_process(walk, ns, tap_user_link_pid(name));
	struct stat st;

	/*
	 * a link that is older than the walk, but whose process the walk did not find, is stale;
	 * else walk again
	 */
	if (pid || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !tap_pid_ns_may_miss(walk, &st.st_ctim))
		return pid;
	tap_pid_ns_forget(walk);
	return tap_pid_ns_process(walk, ns, tap_user_link_pid(name));
}

/* Add a new link. Return: 1 if a program was added or its link became known; 0; -ENOMEM. */
static int add_link(struct tap_user_set *set, struct tap_user_folder *f, int dir,
		    const struct dirent *e, uid_t owner)
{
	uint64_t ns = tap_user_link_pid_ns(e->d_name);
	int pid = ns ? find_process(&set->others, dir, e->d_name, ns)
		     : tap_user_link_pid(e->d_name),
	    fd, ret;
	struct tap_user_program *p;
	struct stat st;

	if (pid < 0)
		return pid;
	fd = tap_user_link_open(f, e->d_name, pid, O_RDONLY, &st);
	if (fd < 0)
		return add_unopened(set, f, dir, e, owner, fd);
	p = find_by_ino(set, &st);
	/*
	 * known: the program sent its control file, or this is a second link to it, which is
	 * ignored
	 */
	if (p) {
		close(fd);
		if (*p->file)
			return 0;
		set_link(p, f, e);
		return map_program(&set->by_name, name_key(f, p->file, p->link_ino), p) ?: 1;
	}
	p = program_new(pid, owner, &st);
	if (p)
		set_link(p, f, e);
	ret = p ? read_new(set, p, fd) : -ENOMEM;
	close(fd);
	return ret ? ret : 1;
}

/* Return true if the file's program was recorded already: its message may arrive late. */
static bool is_file_taken(const struct tap_user_set *set, int fd, uid_t uid)
{
	struct tap_control head;

	return !tap_pread_all(fd, &head, sizeof(head), 0) &&
	       tap_user_books_has(&set->books, tap_user_identity(uid, &head));
}

int tap_user_add_sent(struct tap_user_set *set, const struct tap_user_sent *sent)
{
	struct tap_user_program *p;
	struct stat st;
	/* open it again: a lock on the descriptor that was sent would be the program's, too */
	int fd = tap_user_memory_open(sent->fd, O_RDWR, sent->uid, &st), ret = 0;

	close(sent->fd);
	if (fd < 0)
		return 0;
	if (is_file_taken(set, fd, sent->uid)) {
		close(fd);
		return 0;
	}
	p = find_by_ino(set, &st);
	if (!p && (p = program_new(sent->pid, sent->uid, &st)) != NULL) {
		p->sent = fd;
		return read_new(set, p, fd);
	}
	ret = p ? 0 : -ENOMEM;
	if (p && p->fd < 0 && p->sent < 0 && !p->was_locked) {
		p->sent = fd;
		p->sent_is_new = true;
	} else {
		close(fd);
	}
	return ret;
}

static int list_folder(struct tap_user_set *set, struct tap_user_folder *f, int fd, uid_t owner)
{
	int changed = 0, ret = 0;
	struct dirent *e;
	DIR *d = fdopendir(fd);

	if (!d)
		return -errno;
	while (ret >= 0 && (e = readdir(d))) {
		uint64_t *slot = tap_map_get(&set->by_name, name_key(f, e->d_name, e->d_ino));

		if (!tap_user_link_pid(e->d_name) || (!slot && f->nr == TAP_USER_PROGRAMS_MAX))
			continue;
		if (slot)
			((struct tap_user_program *)(uintptr_t)*slot)->seen = true;
		else
			ret = add_link(set, f, dirfd(d), e, owner);
		f->nr += ret > 0;
		changed |= ret > 0;
	}
	closedir(d);
	tap_pid_ns_forget(&set->others);
	return ret < 0 ? ret : changed;
}

/* Mark the folder's programs as not seen, and count them. */
static void clear_seen(struct tap_user_set *set, struct tap_user_folder *f)
{
	f->nr = 0;
	for (unsigned int i = 0; i < set->nr; i++) {
		if (set->programs[i]->folder != f)
			continue;
		set->programs[i]->seen = false;
		f->nr++;
	}
}

/* Return true if an earlier entry is the same folder; $XDG_RUNTIME_DIR is usually /run/user/UID. */
static bool is_twin(const struct tap_user_set *set, unsigned int i, const struct stat *st)
{
	while (i--)
		if (set->folders.v[i]->dev == st->st_dev && set->folders.v[i]->ino == st->st_ino)
			return true;
	return false;
}

static bool same_folder(const struct tap_user_folder *f, const struct stat *st)
{
	return f->settled && f->dev == st->st_dev && f->ino == st->st_ino &&
	       f->mtime.tv_sec == st->st_mtim.tv_sec && f->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

static int64_t age_ns(struct timespec then)
{
	return (int64_t)tap_clock_ns(CLOCK_REALTIME) - then.tv_sec * 1000000000LL - then.tv_nsec;
}

/* Return: 1 if the folder's programs may have changed; 0; -errno. */
static int scan_folder(struct tap_user_set *set, unsigned int i)
{
	struct tap_user_folder *f = set->folders.v[i];
	struct stat st;
	int fd = tap_user_folder_open(f, &st);

	if (fd >= 0 && is_twin(set, i, &st)) {
		close(fd);
		fd = -ENOENT;
	}
	if (fd < 0) {
		bool was_there = f->ino;

		clear_seen(set, f);
		f->dev = f->ino = 0;
		return was_there;
	}
	if (same_folder(f, &st)) {
		close(fd);
		return 0;
	}
	clear_seen(set, f);
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->mtime = st.st_mtim;
	f->settled = age_ns(st.st_mtim) > SETTLED_NS;
	return list_folder(set, f, fd, st.st_uid); /* closes fd */
}

static bool is_used(const struct tap_user_program *p)
{
	return p->seen || p->kept || p->fd >= 0;
}

/* Remove programs whose links are gone. Return: true if there were any. */
static bool forget_unseen(struct tap_user_set *set)
{
	struct tap_map by_name = { 0 }, by_ino = { 0 };
	unsigned int kept = 0, nr = set->nr;

	for (unsigned int i = 0; i < nr; i++)
		kept += is_used(set->programs[i]);
	if (kept == nr)
		return false;
	set->nr = 0;
	for (unsigned int i = 0; i < nr; i++) {
		struct tap_user_program *p = set->programs[i];

		if (!is_used(p)) {
			program_free(p);
			continue;
		}
		set->programs[set->nr++] = p;
		/*
		 * if out of memory the program may be added again, but is not read twice, because
		 * it is taken
		 */
		(void)map_both(&by_name, &by_ino, p);
	}
	tap_map_release(&set->by_name);
	tap_map_release(&set->by_ino);
	set->by_name = by_name;
	set->by_ino = by_ino;
	return true;
}

int tap_user_scan(struct tap_user_set *set, struct tap_err *err)
{
	bool changed = false;
	int ret = set->folders.all_users ? tap_user_folders_add_users(&set->folders) : 0;

	for (unsigned int i = 0; i < set->folders.nr && ret >= 0; i++) {
		ret = scan_folder(set, i);
		changed |= ret > 0;
	}
	changed |= forget_unseen(set);
	errno = -ret;
	return ret < 0 ? tap_err_set(err, ret,
				     "cannot search for running programs with tracepoints: %m")
		       : changed;
}

struct tap_user_program *tap_user_program_at(const struct tap_user_set *set, unsigned int i)
{
	return i < set->nr ? set->programs[i] : NULL;
}

const struct tap_user_kind *tap_user_kind_at(const struct tap_user_set *set, unsigned int nr)
{
	return nr < set->kinds.nr ? set->kinds.v[nr] : NULL;
}

/* ---- books ---- */

const char *tap_user_session_id(const struct tap_user_set *set)
{
	return set->books.id;
}

void tap_user_take(struct tap_user_set *set, const struct tap_user_program *p)
{
	tap_user_books_take(&set->books, tap_user_identity(p->uid, &p->control.head));
}

bool tap_user_is_taken(const struct tap_user_set *set, const struct tap_user_program *p)
{
	return tap_user_books_has(&set->books, tap_user_identity(p->uid, &p->control.head));
}

void tap_user_cross_off(const struct tap_user_set *set, const struct tap_user_program *p)
{
	tap_user_books_cross_off(&set->books, &set->folders, p->uid, &p->control.head);
}

unsigned int tap_user_close_books(struct tap_user_set *set,
				  void (*fn)(void *ctx, const struct tap_user_entry *e), void *ctx)
{
	return tap_user_books_close(&set->books, &set->folders, fn, ctx);
}

/* ---- control ---- */

int tap_user_lock(struct tap_user_program *p, struct tap_err *err)
{
	int fd = open_control(p, O_RDWR, err), pid;
	struct stat st;

	if (fd < 0)
		return fd;
	if (!flock(fd, LOCK_EX | LOCK_NB)) {
		/* safe to map: the file cannot shrink */
		void *head = mmap(NULL, TAP_CONTROL_PAGE, PROT_READ, MAP_SHARED, fd, 0);

		p->head = head == MAP_FAILED ? NULL : head;
		p->fd = fd;
		p->was_locked = true;
		if (p->sent >= 0)
			close(p->sent);
		p->sent = -1;
		return 0;
	}
	pid = fstat(fd, &st) ? 0 : tap_proc_lock_holder(&st);
	close(fd);
	if (pid)
		return tap_err_set(err, -EBUSY, "process %d is already recording program %d", pid,
				   p->pid);
	return tap_err_set(err, -EBUSY, "another recorder is already recording program %d", p->pid);
}

void tap_user_unlock(struct tap_user_program *p)
{
	if (p->head)
		munmap((void *)p->head, TAP_CONTROL_PAGE);
	if (p->fd >= 0)
		close(p->fd);
	p->head = NULL;
	p->fd = -1;
}

/*
 * Wake the watcher thread. It sleeps while the word has the value that it last read, so change the
 * word first. The kernel finds the futex through the recorder's mapping; if the file were truncated
 * meanwhile, the system call would fail instead of raising SIGBUS here.
 */
static void wake_watcher(int fd)
{
	const size_t at = offsetof(struct tap_control, wake);
	uint8_t byte;
	unsigned char *page;

	if (pread(fd, &byte, 1, (off_t)at) != 1)
		return;
	byte++;
	if (pwrite(fd, &byte, 1, (off_t)at) != 1)
		return;
	page = mmap(NULL, TAP_CONTROL_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return;
	syscall(SYS_futex, page + at, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	munmap(page, TAP_CONTROL_PAGE);
}

/* Write one byte, but not past the end, which would extend a truncated file. */
static int put_byte(int fd, uint64_t at, uint8_t byte)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if ((uint64_t)st.st_size <= at)
		return -ENODATA;
	return pwrite(fd, &byte, 1, (off_t)at) == 1 ? 0 : -errno;
}

static int close_written(const struct tap_user_program *p, int fd, int ret, struct tap_err *err)
{
	if (!ret && p->control.head.has_thread)
		wake_watcher(fd);
	put_control(p, fd);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write to the control file of process %d: %m",
				 p->pid)
		   : 0;
}

int tap_user_want(struct tap_user_program *p, struct tap_user_event *ev, bool on,
		  struct tap_err *err)
{
	off_t at = (off_t)(ev->word + offsetof(struct tap_word, wanted));
	int fd = get_control(p, O_RDWR, err), ret;
	uint8_t byte = 0;

	if (fd < 0)
		return fd;
	if (on && tap_user_clock_choose() == TAP_CLOCK_CYCLES)
		put_byte(fd, offsetof(struct tap_control, use_clock), TAP_CLOCK_CYCLES);
	/*
	 * the byte's other bits belong to other events; two controllers may overwrite each other's
	 * changes
	 */
	ret = tap_pread_all(fd, &byte, 1, at);
	ret = ret ?: put_byte(fd, (uint64_t)at, on ? byte | ev->mask : byte & ~ev->mask & 0xff);
	if (!ret)
		ev->wanted = on;
	return close_written(p, fd, ret, err);
}

/* Check that the file has room for the slot, because writing past the end would extend it. */
static int check_slot(int fd, uint64_t at)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	return (uint64_t)st.st_size < at + TAP_FILTER_SLOT ? -EOPNOTSUPP : 0;
}

/* Write a filter. The stamp is written last: until then there is no filter. */
static int write_slot(int fd, uint64_t at, const char *text, const struct tap_steps *steps)
{
	const struct tap_filter_slot head = { .bytes = steps->bytes,
					      .len = (uint32_t)strlen(text) };
	const uint32_t stamp = (uint32_t)tap_now_ns() | 1;

	if (pwrite(fd, &head, sizeof(head), (off_t)at) != sizeof(head) ||
	    pwrite(fd, text, head.len, (off_t)(at + TAP_FILTER_TEXT)) != (ssize_t)head.len ||
	    pwrite(fd, steps, head.bytes, (off_t)(at + TAP_FILTER_STEPS)) != (ssize_t)head.bytes ||
	    pwrite(fd, &stamp, sizeof(stamp),
		   (off_t)(at + offsetof(struct tap_filter_slot, stamp))) != sizeof(stamp))
		return errno ? -errno : -EIO;
	return 0;
}

static int put_filter(int fd, const struct tap_user_event *ev, const char *text,
		      const struct tap_steps *steps)
{
	const uint64_t at = tap_filter_slot_at(ev->id);
	struct tap_filter_slot was = { 0 };
	int ret = ev->takes_filter ? check_slot(fd, at) : -EOPNOTSUPP;

	ret = ret ?: tap_pread_all(fd, &was, sizeof(was), (off_t)at);
	if (ret || (!steps && !was.stamp))
		return ret;
	if (was.stamp &&
	    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, TAP_FILTER_SLOT))
		return -errno;
	ret = steps ? write_slot(fd, at, text, steps) : 0;
	return ret ?: put_byte(fd, ev->word + offsetof(struct tap_word, filters), 1);
}

int tap_user_put_filter(struct tap_user_program *p, const struct tap_user_event *ev,
			const char *text, const struct tap_steps *steps, struct tap_err *err)
{
	int ret = put_filter(p->fd, ev, text, steps);

	if (ret == -EOPNOTSUPP)
		return tap_err_set(
			err, ret,
			"program %d does not support filters: its libschedtap-tracepoint is too "
			"old, or its file size limit (ulimit -f) is too low",
			p->pid);
	return close_written(p, p->fd, ret, err);
}

int tap_user_get_filter(const struct tap_user_program *p, const struct tap_user_event *ev,
			struct tap_buf *text, struct tap_err *err)
{
	const uint64_t at = tap_filter_slot_at(ev->id);
	int fd = get_control(p, O_RDONLY, err), ret;
	struct tap_filter_slot head = { 0 };

	if (fd < 0)
		return fd;
	ret = ev->takes_filter && !check_slot(fd, at)
		      ? tap_pread_all(fd, &head, sizeof(head), (off_t)at)
		      : 0;
	if (!ret && head.stamp && head.len <= TAP_FILTER_TEXT_MAX &&
	    tap_buf_reserve(text, head.len)) {
		ret = tap_pread_all(fd, text->data + text->len, head.len,
				    (off_t)(at + TAP_FILTER_TEXT));
		text->len += ret ? 0 : head.len;
	}
	put_control(p, fd);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot read the control file of process %d: %m", p->pid)
		   : 0;
}

int tap_user_set_ring(struct tap_user_program *p, enum tap_ring_mode mode, uint8_t shift,
		      struct tap_err *err)
{
	int fd = get_control(p, O_RDWR, err), ret;

	if (fd < 0)
		return fd;
	ret = shift ? put_byte(fd, offsetof(struct tap_control, ring_shift), shift) : 0;
	ret = ret ?: put_byte(fd, offsetof(struct tap_control, mode), (uint8_t)mode);
	return close_written(p, fd, ret, err);
}

void tap_user_tell(const struct tap_user_program *p, size_t at, uint8_t byte)
{
	/* errors are ignored: the program's file is no longer valid then */
	(void)put_byte(p->fd, at, byte);
}

void tap_user_refuse(struct tap_user_program *p)
{
	int fd = get_control(p, O_RDWR, NULL);

	if (fd < 0)
		return;
	(void)put_byte(fd, offsetof(struct tap_control, recording), TAP_RECORDING_NONE);
	put_control(p, fd);
}

bool tap_user_has_unread_areas(const struct tap_user_program *p)
{
	uint32_t nr = p->head ? __atomic_load_n(&p->head->areas_nr, __ATOMIC_ACQUIRE) : 0;

	return nr > p->control.nr_areas && nr <= TAP_CONTROL_AREAS;
}

bool tap_user_has_new_areas(const struct tap_user_program *p)
{
	return p->control.unread_areas || tap_user_has_unread_areas(p);
}

bool tap_user_is_ending(const struct tap_user_program *p)
{
	return get_byte(p, offsetof(struct tap_control, ending)) == TAP_ENDING_NOW;
}

int tap_user_remove(const struct tap_user_program *p, struct tap_err *err)
{
	struct tap_user_program now = *p;
	struct stat dir_st, st;
	int dir, ret = 0;

	if (tap_user_is_alive(&now))
		return tap_err_set(
			err, -EBUSY,
			"cannot remove the control file of process %d: it is still running",
			p->pid);
	dir = *p->file ? tap_user_folder_open(p->folder, &dir_st) : -ENOENT;
	/* the name may belong to another program by now */
	if (dir >= 0 && !fstatat(dir, p->file, &st, AT_SYMLINK_NOFOLLOW) &&
	    st.st_ino == p->link_ino)
		ret = unlinkat(dir, p->file, 0) ? -errno : 0;
	if (dir >= 0)
		close(dir);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot remove '%s/%s': %m", p->folder->path, p->file)
		   : 0;
}
