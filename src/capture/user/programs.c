// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/user/programs.h"

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
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "capture/machine.h"
#include "capture/tracefs/instance.h"
#include "capture/user/clock.h"
#include "capture/user/kinds.h"
#include "capture/user/nested.h"
#include "recording/spool.h"

/* A folder that changed just now may change again without another time stamp: a tick is 10 ms. */
#define SETTLED_NS 50000000
#define OBJECT_MAX_BYTES (16ull << 20)
#define OBJECTS_MAX_BYTES (64ull << 20) /* of one program */
#define FOLDERS_MAX 4096u
#define ALL_USERS UINT32_MAX
#define LINK_MAX_CHARS 64
#define SHARER_TRIES 8 /* where processes are started all the time */

struct tap_user_folder {
	char *path;
	uid_t uid;
	uint64_t dev, ino; /* as of the last look; 0: it was not there */
	struct timespec mtime;
	unsigned int nr; /* of its programs that are known */
	bool settled; /* nothing can have changed while mtime did not */
};

struct tap_user_object {
	uint32_t area; /* its place among the areas */
	uint64_t offset; /* of its words */
	unsigned int nr; /* of words */
	unsigned int first, events; /* those of its events that are in the program's */
};

struct tap_user_set {
	struct tap_user_folder **folders;
	unsigned int nr_folders;
	struct tap_user_program **programs;
	unsigned int nr, cap;
	struct tap_map by_name; /* hash of folder and link -> program */
	struct tap_map by_ino; /* of the control file -> program */
	struct tap_user_kinds kinds;
	bool all_users;
	unsigned int nr_cpus; /* that this machine may have */
};

static int64_t age_ns(struct timespec then)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)(now.tv_sec - then.tv_sec) * 1000000000 + now.tv_nsec - then.tv_nsec;
}

/* ---- folders ---- */

int tap_user_add_folder(struct tap_user_set *set, const char *path, uid_t uid)
{
	struct tap_user_folder *f = calloc(1, sizeof(*f)), **more;

	for (unsigned int i = 0; i < set->nr_folders; i++) {
		if (!strcmp(set->folders[i]->path, path) || set->nr_folders == FOLDERS_MAX) {
			free(f);
			return 0;
		}
	}
	more = reallocarray(set->folders, set->nr_folders + 1, sizeof(*more));
	if (more)
		set->folders = more;
	if (!f || !more || !(f->path = strdup(path))) {
		free(f);
		return -ENOMEM;
	}
	f->uid = uid;
	set->folders[set->nr_folders++] = f;
	return 0;
}

const char *tap_user_folder_at(const struct tap_user_set *set, unsigned int i, uid_t *uid)
{
	if (i >= set->nr_folders)
		return NULL;
	*uid = set->folders[i]->uid;
	return set->folders[i]->path;
}

static bool is_private(const char *path, uid_t uid)
{
	struct stat st;

	return !lstat(path, &st) && st.st_uid == uid && !(st.st_mode & 077);
}

/*
 * Adds @parent/<prefix>UID@tail for each user's folder that is there; those where anybody may make one (there is no
 * tail) only if they are that user's, also with a dot and more behind UID. @only: of this user; ALL_USERS.
 */
static int add_users(struct tap_user_set *set, const char *parent, const char *prefix,
		     const char *tail, uid_t only)
{
	DIR *d = opendir(parent);
	struct dirent *e;
	int ret = 0;

	while (d && !ret && (e = readdir(d))) {
		const char *digits = e->d_name + strlen(prefix);
		char path[PATH_MAX], *end;
		unsigned long uid;

		if (strncmp(e->d_name, prefix, strlen(prefix)) || *digits < '0' || *digits > '9')
			continue;
		errno = 0;
		uid = strtoul(digits, &end, 10);
		if ((*end && (*tail || *end != '.')) || errno || uid >= ALL_USERS || (only != ALL_USERS && only != uid))
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", parent, e->d_name, tail);
		if (*tail || is_private(path, (uid_t)uid))
			ret = tap_user_add_folder(set, path, (uid_t)uid);
	}
	if (d)
		closedir(d);
	return ret;
}

static int add_all_users(struct tap_user_set *set)
{
	return add_users(set, "/run/user", "", "/schedtap", ALL_USERS)
		       ?: add_users(set, "/dev/shm", "schedtap-", "", ALL_USERS);
}

/* Where somebody else has the user's name in /dev/shm: as src/tracepoint/folder.c does. */
static int add_other(struct tap_user_set *set, uid_t uid)
{
	unsigned int known = set->nr_folders;
	int ret = add_users(set, "/dev/shm", "schedtap-", "", uid);
	char path[64];
	uint32_t number;

	if (ret || set->nr_folders > known || getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		return ret;
	snprintf(path, sizeof(path), "/dev/shm/schedtap-%u.%x", uid, number);
	return tap_user_add_folder(set, path, uid);
}

int tap_user_add_folders(struct tap_user_set *set)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	uid_t uid = geteuid();
	char path[PATH_MAX];
	int ret = 0;

	set->all_users = !uid;
	if (runtime && *runtime == '/' &&
	    snprintf(path, sizeof(path), "%s/schedtap", runtime) < (int)sizeof(path))
		ret = tap_user_add_folder(set, path, uid);
	snprintf(path, sizeof(path), "/run/user/%u/schedtap", uid);
	ret = ret ?: tap_user_add_folder(set, path, uid);
	snprintf(path, sizeof(path), "/dev/shm/schedtap-%u", uid);
	if (!access(path, F_OK) && !is_private(path, uid))
		return ret ?: add_other(set, uid);
	return ret ?: tap_user_add_folder(set, path, uid);
}

bool tap_user_of_all(const struct tap_user_set *set)
{
	return set->all_users;
}

/* Return: a descriptor; -errno; -EPERM for what is not the user's alone. */
static int open_folder(const struct tap_user_folder *f, struct stat *st)
{
	int fd = open(f->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, st) && (st->st_uid == f->uid || st->st_uid == geteuid()) &&
	    !(st->st_mode & 077))
		return fd;
	close(fd);
	return -EPERM;
}

/* ---- control files ---- */

/* The pid in the name of a link, PID-NUMBER; 0 if it is none. */
static int link_pid(const char *name)
{
	long pid = 0;
	const char *c = name;

	if (*c < '1' || *c > '9' || strlen(name) >= sizeof(((struct tap_user_program *)0)->file))
		return 0;
	for (; *c >= '0' && *c <= '9' && pid <= INT_MAX / 10; c++)
		pid = 10 * pid + *c - '0';
	if (*c++ != '-' || !*c || pid > INT_MAX)
		return 0;
	return c[strspn(c, "0123456789abcdef")] ? 0 : (int)pid;
}

static uint64_t own_pid_ns(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? TAP_INITIAL_PID_NS : st.st_ino;
}

/* The pid namespace that the name of a link tells, if it is not our own; else 0. */
static uint64_t link_pid_ns(const char *name)
{
	const char *ns = strchr(name, '-') + 2; /* behind one digit */
	uint64_t nr = *ns ? strtoull(ns, NULL, 16) : TAP_INITIAL_PID_NS;

	return nr == own_pid_ns() ? 0 : nr;
}

/* The filesystem of what memfd_create() makes; 0: none. */
static dev_t memory_dev(void)
{
	static dev_t dev;
	struct stat st;
	int fd;

	if (dev)
		return dev;
	fd = memfd_create("schedtap", MFD_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st))
		dev = st.st_dev;
	if (fd >= 0)
		close(fd);
	return dev;
}

/*
 * Opens once more what @at is open for: so that a lock on it is our own. Return: a descriptor; -EPERM for what no
 * program of ours makes; -errno.
 */
static int open_memory(int at, int flags, uid_t owner, struct stat *st)
{
	char path[40];
	int fd, seals;

	if (fstat(at, st))
		return -errno;
	/* anything else is not even opened: a device, a pipe, a file system of somebody's own */
	if (!S_ISREG(st->st_mode) || st->st_dev != memory_dev() || st->st_uid != owner)
		return -EPERM;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	seals = fcntl(fd, F_GET_SEALS);
	if (seals >= 0 && seals & F_SEAL_SHRINK)
		return fd;
	close(fd);
	return -EPERM;
}

/* What stands in the link @name: /proc/PID/fd/N. Return: false: something else. */
static bool read_link(int dir, const char *name, char to[LINK_MAX_CHARS], uid_t owner)
{
	struct stat st;
	ssize_t len;
	int pid, fd, end = 0;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISLNK(st.st_mode) || st.st_uid != owner)
		return false;
	len = readlinkat(dir, name, to, LINK_MAX_CHARS - 1);
	to[len > 0 ? len : 0] = '\0';
	return sscanf(to, "/proc/%9d/fd/%9d%n", &pid, &fd, &end) == 2 && !to[end] && !strpbrk(to, "+- ");
}

static int open_path(const char *path, int flags, uid_t owner, struct stat *st)
{
	int at = open(path, O_PATH | O_CLOEXEC), fd = at < 0 ? -errno : open_memory(at, flags, owner, st);

	if (at >= 0)
		close(at);
	return fd;
}

/* Return: as open_memory(); -EPERM: no such link; -ENOENT: the process, or its descriptor, is gone. */
static int open_link(int dir, const char *name, int flags, uid_t owner, struct stat *st)
{
	char to[LINK_MAX_CHARS];
	int fd;

	if (!read_link(dir, name, to, owner))
		return -EPERM;
	fd = open_path(to, flags, owner, st);
	return fd == -EPERM ? -ENOENT : fd; /* it is another file's by now */
}

/*
 * The control file of a process that has closed its descriptor, by way of its mapping, which root may follow.
 * Return: as open_memory(); -ENOENT: it has none mapped; -EACCES.
 */
static int open_mapping(int pid, int flags, uid_t owner, struct stat *st)
{
	char path[64], *line = NULL;
	unsigned long from, to;
	int fd = -ENOENT;
	size_t cap = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fd == -ENOENT && getline(&line, &cap, f) > 0) {
		/* its first page, which is the control file's head */
		if (sscanf(line, "%lx-%lx %*s 00000000 ", &from, &to) != 2 || !strstr(line, " /memfd:schedtap (deleted)"))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", pid, from, to);
		fd = open_path(path, flags, owner, st);
		if (fd == -EPERM)
			fd = -EACCES;
	}
	free(line);
	fclose(f);
	return fd;
}

/* By its link, or by its mapping. @pid: here; in another namespace than ours a link tells another number. */
static int open_program(const struct tap_user_folder *f, const char *name, int pid, int flags, struct stat *st)
{
	struct stat dir_st;
	int dir = open_folder(f, &dir_st), fd;

	if (dir < 0)
		return dir;
	fd = link_pid_ns(name) ? -ENOENT : open_link(dir, name, flags, dir_st.st_uid, st);
	close(dir);
	return fd == -ENOENT && pid ? open_mapping(pid, flags, dir_st.st_uid, st) : fd;
}

static int open_same(const struct tap_user_program *p, int flags)
{
	struct stat st;
	int fd = p->sent >= 0 ? open_memory(p->sent, flags, p->uid, &st) : open_program(p->folder, p->file, p->pid, flags, &st);

	if (fd < 0 || (st.st_dev == p->dev && st.st_ino == p->ino))
		return fd;
	close(fd);
	return -ESTALE;
}

/* Return: a descriptor of the program's control file; -errno with a sentence. */
static int open_control(const struct tap_user_program *p, int flags, struct tap_err *err)
{
	int fd = open_same(p, flags);

	errno = -fd;
	return fd < 0 ? tap_err_set(err, fd, "cannot open the control file of program %d: %m", p->pid) : fd;
}

/* As open_control(); of a program that is held the one that holds it. */
static int get_control(const struct tap_user_program *p, int flags, struct tap_err *err)
{
	return p->fd >= 0 ? p->fd : open_control(p, flags, err);
}

static void put_control(const struct tap_user_program *p, int fd)
{
	if (fd != p->fd)
		close(fd);
}

/* Whether this line of /proc/PID/maps is the control file's mapping. */
static bool is_mapping(const struct tap_user_program *p, const char *line)
{
	unsigned int major_nr, minor_nr;
	uint64_t ino;

	return sscanf(line, "%*s %*s %*s %x:%x %" SCNu64, &major_nr, &minor_nr, &ino) == 3 && ino == p->ino &&
	       makedev(major_nr, minor_nr) == p->dev;
}

/* Whether the process with the program's pid is not one that was started later. */
static bool same_start(const struct tap_user_program *p)
{
	uint64_t ticks, per_s = (uint64_t)sysconf(_SC_CLK_TCK);

	return !tap_proc_read_start(p->pid, &ticks) && ticks / per_s <= p->made_ns / 1000000000 &&
	       ticks * (1000000000 / per_s) <= p->made_ns;
}

/* Return: 1: the process has the control file mapped; 0; -errno. */
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

	if (mapped < 0) /* it may not be looked into, or is gone */
		return mapped != -ENOENT && mapped != -ESRCH;
	return !mapped && !tap_proc_is_ending(pid); /* then it has nothing mapped any more */
}

/* The id of the newest process; 0: not known. */
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

/* Return: a process beside the program's and our own that has its control file mapped; 0: none. */
static int look_for_sharer(const struct tap_user_program *p)
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

/* One that was seen may have forked, and ended, before its mappings were read: then there is a newer one. */
static int find_sharer(const struct tap_user_program *p)
{
	int found = 0, seen = -1, newest;

	for (int i = 0; i < SHARER_TRIES && !found && (newest = newest_pid()) != seen; i++) {
		seen = newest;
		found = look_for_sharer(p);
	}
	return found;
}

/* As it is now. Return: 0 also if the program is not held. */
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
	if (!p->ino) { /* it could not be opened */
		snprintf(path, sizeof(path), "/proc/%d", p->pid);
		return p->alive = !access(path, F_OK);
	}
	mapped = has_mapped(p, p->pid);
	/* one that may not be looked into, such as a set-uid program */
	p->alive = mapped > 0 || ((mapped == -EACCES || mapped == -EPERM) && same_start(p));
	if (!p->alive && (p->with_children || get_byte(p, offsetof(struct tap_control, shared))))
		p->alive = tap_user_has_children(p);
	return p->alive;
}

static int bad_file(const struct tap_user_program *p, struct tap_err *err, int code,
		    const char *what)
{
	return tap_err_set(err, code, "the control file of program %d: %s", p->pid, what);
}

static bool area_ok(const struct tap_area *a)
{
	return a->offset >= TAP_CONTROL_HEAD && a->offset % TAP_CONTROL_PAGE == 0 &&
	       a->offset < TAP_CONTROL_MAX_BYTES && a->size <= TAP_CONTROL_MAX_BYTES - a->offset;
}

/* A CPU has one of each kind: so what a file can make us keep is bounded. */
static int add_ring(const struct tap_user_set *set, struct tap_user_program *p, const struct tap_area *a)
{
	struct tap_user_ring *more;

	if (a->nr >= set->nr_cpus)
		return -EINVAL;
	for (unsigned int i = 0; i < p->nr_rings; i++)
		if (p->rings[i].cpu == a->nr && p->rings[i].atomic == !!a->atomic)
			return -EINVAL;
	more = reallocarray(p->rings, p->nr_rings + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->rings = more;
	more[p->nr_rings++] = (struct tap_user_ring){
		.offset = a->offset,
		.size = a->size,
		.cpu = a->nr,
		.atomic = a->atomic,
	};
	return 0;
}

/* The next of three texts in what is left of @at; NULL: it does not end. */
static const char *take_text(const char **at, const char *end)
{
	const char *text = *at, *nul = memchr(text, '\0', (size_t)(end - text));

	*at = nul ? nul + 1 : end;
	return nul ? text : NULL;
}

static int add_event(struct tap_user_set *set, struct tap_user_program *p,
		     const struct tap_user_event *ev, const char *at, const char *end)
{
	const char *system = take_text(&at, end), *name = take_text(&at, end);
	const char *text = take_text(&at, end);
	struct tap_user_event *more;
	const struct tap_user_kind *kind;
	int ret = -EINVAL;

	if (text)
		ret = tap_user_kind_get(&set->kinds, system, name, text, strlen(text), &kind);
	if (ret) {
		p->bad += ret != -ENOMEM;
		return ret == -ENOMEM ? ret : 0;
	}
	more = p->events;
	if (!(p->nr_events & (p->nr_events - 1))) /* room for a power of two */
		more = reallocarray(more, p->nr_events ? 2 * p->nr_events : 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->events = more;
	more[p->nr_events] = *ev;
	more[p->nr_events++].kind = kind;
	return 0;
}

/* @data: all of the object's area. */
static int add_texts(struct tap_user_set *set, struct tap_user_program *p, const struct tap_area *a,
		     const char *data)
{
	uint64_t at = a->texts;
	uint32_t bytes, place;

	for (uint32_t i = 0; i < a->nr; i++, at += 8 + (((uint64_t)bytes + 7) & ~7ull)) {
		struct tap_user_event ev = { .id = (uint16_t)(a->first_id + i) };
		int ret;

		if (at > a->size || a->size - at < 8)
			return -EINVAL;
		memcpy(&bytes, data + at, sizeof(bytes));
		memcpy(&place, data + at + sizeof(bytes), sizeof(place));
		ev.mask = (uint8_t)(1u << (place >> TAP_WORD_BIT_SHIFT & 7));
		place &= (1u << TAP_WORD_BIT_SHIFT) - 1;
		ev.word = a->offset + place * sizeof(struct tap_word);
		if (bytes > a->size - at - 8 || place >= a->nr)
			return -EINVAL;
		ret = add_event(set, p, &ev, data + at + 8, data + at + 8 + bytes);
		if (ret)
			return ret;
	}
	return 0;
}

static int add_object(struct tap_user_set *set, struct tap_user_program *p, int fd, uint32_t area,
		      const struct tap_area *a)
{
	struct tap_user_object o = {
		.area = area, .offset = a->offset, .nr = a->nr, .first = p->nr_events,
	}, *more;
	char *data;
	int ret;

	if (a->size > OBJECT_MAX_BYTES || a->size > OBJECTS_MAX_BYTES - p->object_bytes ||
	    a->first_id < TAP_ID_FIRST || a->first_id > UINT16_MAX ||
	    a->nr > UINT16_MAX + 1u - a->first_id || a->nr > a->size / sizeof(struct tap_word) ||
	    a->texts % 8 || a->texts / sizeof(struct tap_word) < a->nr)
		return -EINVAL;
	p->object_bytes += a->size;
	more = reallocarray(p->objects, p->nr_objects + 1, sizeof(*more));
	data = malloc(a->size + 1);
	if (more)
		p->objects = more;
	ret = more && data ? tap_pread_all(fd, data, a->size, (off_t)a->offset) : -ENOMEM;
	ret = ret ?: add_texts(set, p, a, data);
	free(data);
	o.events = p->nr_events - o.first;
	if (more && o.events)
		p->objects[p->nr_objects++] = o;
	return ret;
}

/* What is new among the areas; one that is wrong does not hide the others. */
static int read_areas(struct tap_user_set *set, struct tap_user_program *p, int fd,
		      const struct tap_area *areas, struct tap_err *err)
{
	p->unread_areas = 0;
	for (uint32_t i = 0; i < p->nr_areas; i++) {
		const struct tap_area *a = &areas[i];
		int ret = -EINVAL;

		p->unread_areas += a->kind == TAP_AREA_NONE;
		if (p->areas[i] || a->kind == TAP_AREA_NONE)
			continue;
		p->areas[i] = 1;
		if (area_ok(a) && a->kind == TAP_AREA_RING)
			ret = add_ring(set, p, a);
		else if (area_ok(a) && a->kind == TAP_AREA_OBJECT)
			ret = add_object(set, p, fd, i, a);
		if (ret == -ENOMEM)
			return tap_err_set(err, ret, "out of memory");
		p->bad += !!ret;
	}
	return 0;
}

/* The words of each object, and whether it is still there. */
static int read_words(struct tap_user_program *p, int fd, const struct tap_area *areas)
{
	for (unsigned int i = 0; i < p->nr_objects; i++) {
		const struct tap_user_object *o = &p->objects[i];
		struct tap_word *words = malloc(o->nr * sizeof(*words));
		int ret = words ? tap_pread_all(fd, words, o->nr * sizeof(*words), (off_t)o->offset)
				: -ENOMEM;

		for (unsigned int k = 0; k < o->events && !ret; k++) {
			struct tap_user_event *ev = &p->events[o->first + k];
			const struct tap_word *w = &words[(ev->word - o->offset) / sizeof(*w)];

			ev->wanted = w->wanted & ev->mask;
			ev->applied = !(w->applied & TAP_WORD_CHILD) && w->applied & ev->mask;
			ev->gone = areas[o->area].gone;
		}
		free(words);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_head(struct tap_user_program *p, int fd, uint32_t *nr, struct tap_err *err)
{
	struct tap_control c;

	if (tap_pread_all(fd, &c, sizeof(c), 0) || c.magic != TAP_CONTROL_MAGIC)
		return bad_file(p, err, -EINVAL, "it is none, or half made");
	if (c.min_version > TAP_CONTROL_VERSION || c.version < TAP_CONTROL_MIN_VERSION)
		return bad_file(p, err, -EINVAL, "of another version of the library");
	p->nested = c.pid_ns != own_pid_ns();
	p->own_pid = (int)c.pid;
	if ((c.pid != (uint32_t)p->pid && !p->nested) || c.areas_nr > TAP_CONTROL_AREAS ||
	    c.clock > TAP_CLOCK_CYCLES)
		return bad_file(p, err, -EINVAL, "it makes no sense");
	memcpy(p->comm, c.comm, sizeof(p->comm));
	memcpy(p->reason, c.reason, sizeof(p->reason));
	p->comm[sizeof(p->comm) - 1] = p->reason[sizeof(p->reason) - 1] = '\0';
	p->made_ns = c.made_ns;
	p->parent_ns = c.parent_ns;
	p->mode = c.mode;
	p->has_thread = c.has_thread;
	p->clock = (uint8_t)c.clock;
	p->cut = c.cut;
	p->lost = c.lost;
	*nr = c.areas_nr;
	return 0;
}

static int look(struct tap_user_set *set, struct tap_user_program *p, int fd, struct tap_err *err)
{
	struct tap_area *areas;
	uint8_t *seen;
	uint32_t nr = 0;
	int ret = read_head(p, fd, &nr, err);

	if (ret || nr < p->nr_areas)
		return ret ?: bad_file(p, err, -EINVAL, "it has become smaller");
	areas = calloc(nr + 1, sizeof(*areas));
	seen = realloc(p->areas, nr + 1);
	if (seen) {
		memset(seen + p->nr_areas, 0, nr - p->nr_areas);
		p->areas = seen;
		p->nr_areas = nr;
	}
	if (!areas || !seen)
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	else if (tap_pread_all(fd, areas, nr * sizeof(*areas), TAP_CONTROL_PAGE))
		ret = bad_file(p, err, -ENODATA, "it was cut off");
	ret = ret ?: read_areas(set, p, fd, areas, err);
	if (!ret && read_words(p, fd, areas))
		ret = bad_file(p, err, -ENODATA, "it was cut off");
	free(areas);
	return ret;
}

int tap_user_look(struct tap_user_set *set, struct tap_user_program *p, struct tap_err *err)
{
	int fd = get_control(p, O_RDONLY, err), ret;

	if (fd < 0)
		return fd;
	ret = look(set, p, fd, err);
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
	return 0;
}

static void program_free(struct tap_user_program *p)
{
	tap_user_drop(p);
	if (p->sent >= 0)
		close(p->sent);
	free(p->events);
	free(p->rings);
	free(p->objects);
	free(p->areas);
	free(p);
}

void tap_user_free(struct tap_user_set *set)
{
	if (!set)
		return;
	for (unsigned int i = 0; i < set->nr; i++)
		program_free(set->programs[i]);
	for (unsigned int i = 0; i < set->nr_folders; i++) {
		free(set->folders[i]->path);
		free(set->folders[i]);
	}
	free(set->folders);
	free(set->programs);
	tap_map_release(&set->by_name);
	tap_map_release(&set->by_ino);
	tap_user_kinds_release(&set->kinds);
	free(set);
}

/* Names come again: of the next program with that pid, or of the same after exec. */
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
		*p = (struct tap_user_program){ .pid = pid, .uid = uid, .fd = -1, .sent = -1,
						.dev = st->st_dev, .ino = st->st_ino };
	return p;
}

static int map_program(struct tap_map *map, uint64_t key, struct tap_user_program *p)
{
	uint64_t *slot = tap_map_put(map, key);

	if (slot)
		*slot = (uintptr_t)p;
	return slot ? 0 : -ENOMEM;
}

/* So that it is found by its link, if that was seen, and by its control file, if that could be opened. */
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

static void set_link(struct tap_user_program *p, const struct tap_user_folder *f, const struct dirent *e)
{
	p->folder = f;
	p->link_ino = e->d_ino;
	p->seen = true;
	strcpy(p->file, e->d_name);
}

/* Reads what is new to us and adds it. Return: 0, also where it makes no sense, which is noted; -ENOMEM. */
static int read_new(struct tap_user_set *set, struct tap_user_program *p, int fd)
{
	struct tap_err why = { 0 };
	int ret = look(set, p, fd, &why);

	tap_user_is_alive(p);
	if (ret && ret != -ENOMEM) {
		snprintf(p->reason, sizeof(p->reason), "%.255s", why.text);
		p->ino = p->dev = 0; /* another link may be the right one */
	}
	ret = ret == -ENOMEM ? ret : add_program(set, p);
	if (ret)
		program_free(p);
	return ret;
}

/* A program whose control file cannot be had. Return: 1; -ENOMEM. */
static int add_closed(struct tap_user_set *set, struct tap_user_folder *f, const struct dirent *e, uid_t owner,
		      int code)
{
	struct tap_user_program *p = program_new(link_pid(e->d_name), owner, &(struct stat){ 0 });
	int ret;

	if (!p)
		return -ENOMEM;
	set_link(p, f, e);
	p->alive = true;
	p->foreign = link_pid_ns(e->d_name);
	errno = -code;
	snprintf(p->reason, sizeof(p->reason), p->foreign ? "it is of another pid namespace" : "its control file: %m");
	ret = add_program(set, p);
	if (ret)
		program_free(p);
	return ret ? ret : 1;
}

/* A link that leads to no control file. */
static int meet_unopened(struct tap_user_set *set, struct tap_user_folder *f, int dir, const struct dirent *e,
			 uid_t owner, int code)
{
	if (code == -EPERM) /* none of ours */
		return 0;
	if (code == -ENOENT && !link_pid_ns(e->d_name)) { /* of a process that is gone, or was before exec */
		unlinkat(dir, e->d_name, 0);
		return 0;
	}
	if (code != -ENOENT && code != -EACCES) { /* for now */
		f->settled = false;
		return 0;
	}
	return add_closed(set, f, e, owner, code);
}

/* A link that is not known yet. Return: 1: a program; 0: none; -ENOMEM. */
static int meet(struct tap_user_set *set, struct tap_user_folder *f, int dir, const struct dirent *e, uid_t owner)
{
	uint64_t ns = link_pid_ns(e->d_name);
	int pid = ns ? tap_nested_process(ns, link_pid(e->d_name)) : link_pid(e->d_name);
	struct tap_user_program *p;
	struct stat st;
	int fd = open_program(f, e->d_name, pid, O_RDONLY, &st), ret;

	if (fd < 0)
		return meet_unopened(set, f, dir, e, owner, fd);
	p = find_by_ino(set, &st);
	if (p) { /* it sent its control file; or a second link to one, which is no program */
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

int tap_user_add_sent(struct tap_user_set *set, const struct tap_user_sent *sent)
{
	struct tap_user_program *p;
	struct stat st;
	/* once more: the lock on what was sent would be the program's own */
	int fd = open_memory(sent->fd, O_RDWR, sent->uid, &st), ret = 0;

	close(sent->fd);
	if (fd < 0)
		return 0;
	p = find_by_ino(set, &st);
	if (!p && (p = program_new(sent->pid, sent->uid, &st)) != NULL) {
		p->sent = fd;
		return read_new(set, p, fd);
	}
	ret = p ? 0 : -ENOMEM;
	if (p && p->fd < 0 && p->sent < 0)
		p->sent = fd;
	else
		close(fd);
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

		if (!link_pid(e->d_name) || (!slot && f->nr == TAP_USER_PROGRAMS_MAX))
			continue;
		if (slot)
			((struct tap_user_program *)(uintptr_t)*slot)->seen = true;
		else
			ret = meet(set, f, dirfd(d), e, owner);
		f->nr += ret > 0;
		changed |= ret > 0;
	}
	closedir(d);
	return ret < 0 ? ret : changed;
}

/* Counts its programs as well. */
static void unsee(struct tap_user_set *set, struct tap_user_folder *f)
{
	f->nr = 0;
	for (unsigned int i = 0; i < set->nr; i++) {
		if (set->programs[i]->folder != f)
			continue;
		set->programs[i]->seen = false;
		f->nr++;
	}
}

/* Whether an earlier entry names the same folder: $XDG_RUNTIME_DIR is /run/user/UID, as a rule. */
static bool is_twin(const struct tap_user_set *set, unsigned int i, const struct stat *st)
{
	while (i--)
		if (set->folders[i]->dev == st->st_dev && set->folders[i]->ino == st->st_ino)
			return true;
	return false;
}

static bool same_folder(const struct tap_user_folder *f, const struct stat *st)
{
	return f->settled && f->dev == st->st_dev && f->ino == st->st_ino &&
	       f->mtime.tv_sec == st->st_mtim.tv_sec && f->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

/* Return: 1 if its programs may have changed; 0; -errno. */
static int scan_folder(struct tap_user_set *set, unsigned int i)
{
	struct tap_user_folder *f = set->folders[i];
	struct stat st;
	int fd = open_folder(f, &st);

	if (fd >= 0 && is_twin(set, i, &st)) {
		close(fd);
		fd = -ENOENT;
	}
	if (fd < 0) {
		bool was_there = f->ino;

		unsee(set, f);
		f->dev = f->ino = 0;
		return was_there;
	}
	if (same_folder(f, &st)) {
		close(fd);
		return 0;
	}
	unsee(set, f);
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

/* Takes those out whose link is gone. Return: whether there were any. */
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
		/* without memory a program may be met again: the lock keeps it from being read twice */
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
	int ret = set->all_users ? add_all_users(set) : 0;

	for (unsigned int i = 0; i < set->nr_folders && ret >= 0; i++) {
		ret = scan_folder(set, i);
		changed |= ret > 0;
	}
	changed |= forget_unseen(set);
	errno = -ret;
	return ret < 0 ? tap_err_set(err, ret, "cannot look for programs: %m") : changed;
}

struct tap_user_program *tap_user_program_at(const struct tap_user_set *set, unsigned int i)
{
	return i < set->nr ? set->programs[i] : NULL;
}

unsigned int tap_user_nr_kinds(const struct tap_user_set *set)
{
	return set->kinds.nr;
}

const struct tap_user_kind *tap_user_kind_at(const struct tap_user_set *set, unsigned int nr)
{
	return nr < set->kinds.nr ? set->kinds.v[nr] : NULL;
}

/* ---- control ---- */

int tap_user_hold(struct tap_user_program *p, struct tap_err *err)
{
	int fd = open_control(p, O_RDWR, err), pid;
	struct stat st;

	if (fd < 0)
		return fd;
	if (!flock(fd, LOCK_EX | LOCK_NB)) {
		void *head = mmap(NULL, TAP_CONTROL_PAGE, PROT_READ, MAP_SHARED, fd, 0); /* it cannot shrink */

		p->head = head == MAP_FAILED ? NULL : head;
		p->fd = fd;
		if (p->sent >= 0)
			close(p->sent);
		p->sent = -1;
		return 0;
	}
	pid = fstat(fd, &st) ? 0 : tap_lock_holder(&st);
	close(fd);
	if (pid)
		return tap_err_set(err, -EBUSY, "process %d is recording program %d already", pid,
				   p->pid);
	return tap_err_set(err, -EBUSY, "somebody is recording program %d already", p->pid);
}

void tap_user_drop(struct tap_user_program *p)
{
	if (p->head)
		munmap((void *)p->head, TAP_CONTROL_PAGE);
	if (p->fd >= 0)
		close(p->fd);
	p->head = NULL;
	p->fd = -1;
}

/*
 * The thread waits while the word is what it was when it last looked, so it is moved before it is
 * woken. The kernel reaches it through our mapping: a file cut off meanwhile is an error there,
 * not a SIGBUS here.
 */
static void wake(int fd)
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

/* Writes single bytes; not past the end, which would make a file that was cut off grow again. */
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
	if (!ret && p->has_thread)
		wake(fd);
	put_control(p, fd);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write to the control file of program %d: %m", p->pid)
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
	/* the byte's other bits are other events'; two controllers at once may undo each other's */
	ret = tap_pread_all(fd, &byte, 1, at);
	ret = ret ?: put_byte(fd, (uint64_t)at, on ? byte | ev->mask : byte & ~ev->mask & 0xff);
	if (!ret)
		ev->wanted = on;
	return close_written(p, fd, ret, err);
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

void tap_user_set_recording(const struct tap_user_program *p, bool on)
{
	/* a program whose file is no longer what it was is told nothing */
	(void)put_byte(p->fd, offsetof(struct tap_control, recording), on);
}

bool tap_user_has_new_areas(const struct tap_user_program *p)
{
	return p->unread_areas || (p->head && __atomic_load_n(&p->head->areas_nr, __ATOMIC_ACQUIRE) != p->nr_areas);
}

bool tap_user_is_ending(const struct tap_user_program *p)
{
	return get_byte(p, offsetof(struct tap_control, ending)) == TAP_ENDING_NOW;
}

void tap_user_set_stays(const struct tap_user_program *p)
{
	(void)put_byte(p->fd, offsetof(struct tap_control, ending), TAP_ENDING_CHILDREN);
}

void tap_user_set_drained(const struct tap_user_program *p, uint8_t nr)
{
	(void)put_byte(p->fd, offsetof(struct tap_control, drained), nr);
}

int tap_user_remove(const struct tap_user_program *p, struct tap_err *err)
{
	struct tap_user_program now = *p;
	struct stat dir_st, st;
	int dir, ret = 0;

	if (tap_user_is_alive(&now))
		return tap_err_set(err, -EBUSY, "program %d is alive", p->pid);
	dir = *p->file ? open_folder(p->folder, &dir_st) : -ENOENT;
	/* the name may be another program's by now */
	if (dir >= 0 && !fstatat(dir, p->file, &st, AT_SYMLINK_NOFOLLOW) && st.st_ino == p->link_ino)
		ret = unlinkat(dir, p->file, 0) ? -errno : 0;
	if (dir >= 0)
		close(dir);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot remove '%s/%s': %m", p->folder->path, p->file) : 0;
}
