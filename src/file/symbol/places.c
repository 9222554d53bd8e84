// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/symbol/places.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/proc.h"
#include "file/symbol/elf_names.h"
#include "file/symbol/file.h"
#include "file/symbol/maps.h"
#include "file/symbol/named.h"
#include "file/symbol/perf_map.h"

#define MAX_PLACES (1u << 20)
#define MAX_PLACES_OF (MAX_PLACES / 4) /* per object, so that one program cannot use them all */
#define MAX_OBJECTS (1u << 14)
#define MAX_OPEN 256u
/* Above these limits all processes are forgotten; those that still run are read again. */
#define MAX_PROCESSES 4096u
#define MAX_MAPPINGS (1u << 20)

#define SAME_PROGRAM_NS 1000000000u /* time until a process is checked for an exec */
#define MISS_NS 1000000u
#define READ_NS 20000000u /* minimum time between two reads of a process's maps */
#define READ_SHARE 50u /* reading maps may take 1/50 of the time */

enum kind {
	OF_FILE, /* .at: offset in the file */
	OF_KERNEL, /* [vdso]; .at: offset in it */
	OF_PROCESS, /* memory without a file; .at: address */
};

/* A file, or a process's memory without a file, that contains places. */
struct object {
	enum kind kind;
	char *path; /* as in maps */
	uint64_t ino; /* both as in maps */
	dev_t dev;
	int fd; /* the file or perf map; < 0: not open, as too many are or opening failed */
	struct tap_file_id id;
	int tgid; /* process in which it was first seen, and the start time of that */
	uint64_t start;
	struct tap_map numbers; /* .at -> place */
	uint32_t next; /* next object with the same hash; 0: none */
};

struct place {
	uint32_t object;
	uint64_t at;
	char *name; /* owned; NULL: not named yet */
};

struct process {
	int tgid;
	struct tap_maps maps;
	uint64_t start; /* as in /proc/PID/stat */
	dev_t exe_dev;
	ino_t exe_ino;
	uint32_t object; /* for its memory without a file */
	/* when to check for an exec, and when maps may be read again */
	uint64_t look_ns, read_ns;
	uint64_t miss_ns; /* when an unknown address may trigger a check for an exec */
};

struct tap_places {
	/*
	 * Protects the following members. An object's members never change, except .numbers and
	 * .next.
	 */
	pthread_mutex_t lock;
	struct object *objects; /* [0] is unused */
	struct place *places; /* [0] is unused */
	unsigned int nr_objects, cap_objects, nr_places, cap_places, nr_open;
	struct tap_map by_hash; /* hash_of() -> the newest object */
	struct tap_map processes; /* tgid -> struct process * */
	struct process *last;
	size_t nr_mappings;
};

/* ---- objects ---- */

static uint64_t hash_of(enum kind kind, const struct tap_mapping *m)
{
	return (m->ino ^ (uint64_t)m->dev << 40) * 4 + kind;
}

/* Open the file or perf map. Return: a descriptor; -errno. */
static int open_object(struct object *o, const struct tap_mapping *m, const char *path)
{
	struct stat st;
	int fd = -ENOENT;

	if (o->kind == OF_FILE) {
		fd = tap_file_open_mapped(o->tgid, m, path, &st);
		if (fd >= 0)
			o->id = tap_file_id(&st);
	} else if (o->kind == OF_PROCESS) {
		fd = tap_perf_map_open(o->tgid);
	}
	return fd;
}

/* Return the new object's index; 0: out of memory, or too many. */
static uint32_t add_object(struct tap_places *p, struct object *o, const struct tap_mapping *m,
			   const char *path)
{
	if (p->nr_objects == MAX_OBJECTS ||
	    tap_array_grow(&p->objects, p->nr_objects, &p->cap_objects, sizeof(*p->objects)))
		return 0;
	o->path = strdup(path);
	if (!o->path)
		return 0;
	o->fd = open_object(o, m, path);
	if (o->fd >= 0 && p->nr_open == MAX_OPEN) {
		close(o->fd);
		o->fd = -EMFILE;
	}
	p->nr_open += o->fd >= 0;
	p->objects[p->nr_objects] = *o;
	return p->nr_objects++;
}

static bool is_same(const struct object *is, const struct object *o, const char *path)
{
	return is->kind == o->kind && is->ino == o->ino && is->dev == o->dev &&
	       (o->ino || !strcmp(is->path, path));
}

/* Return the object's index, adding it if necessary; 0: out of memory, or too many. */
static uint32_t get_object(struct tap_places *p, const struct process *of, enum kind kind,
			   const struct tap_mapping *m, const char *path)
{
	struct object o = {
		.kind = kind, .ino = m->ino, .dev = m->dev, .tgid = of->tgid, .start = of->start
	};
	const uint64_t *newest = tap_map_get(&p->by_hash, hash_of(kind, m));
	uint32_t nr = newest ? (uint32_t)*newest : 0;

	o.next = nr;
	while (nr && !is_same(&p->objects[nr], &o, path))
		nr = p->objects[nr].next;
	/* a file that was overwritten in place becomes a new object */
	if (nr && (p->objects[nr].fd < 0 || tap_file_is(p->objects[nr].fd, &p->objects[nr].id)))
		return nr;
	nr = add_object(p, &o, m, path);
	if (nr && tap_map_set(&p->by_hash, hash_of(kind, m), nr))
		return 0;
	return nr;
}

static bool begins_with(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/*
 * Return the kind of a mapping. Memory that a program fills with code at run time is OF_PROCESS,
 * even if it has a name but no file that can be opened.
 */
static enum kind kind_of(const struct tap_mapping *m, const char *path)
{
	bool has_no_file;

	if (!strcmp(path, "[vdso]") || !strcmp(path, "[vsyscall]"))
		return OF_KERNEL;
	has_no_file = *path != '/' || begins_with(path, "/memfd:") ||
		      begins_with(path, "/dev/zero") || begins_with(path, "/SYSV") ||
		      begins_with(path, "/anon_hugepage") || !m->ino;
	return has_no_file ? OF_PROCESS : OF_FILE;
}

static void find_object(struct tap_places *p, struct process *of, struct tap_mapping *m)
{
	const char *path = tap_mapping_path(&of->maps, m);
	enum kind kind = kind_of(m, path);
	struct object o = { .kind = kind, .tgid = of->tgid, .start = of->start };

	if (kind != OF_PROCESS) {
		m->object = get_object(p, of, kind, m, path);
		return;
	}
	if (!of->object)
		of->object = add_object(p, &o, m, "");
	m->object = of->object;
}

/* ---- places ---- */

static uint32_t add_place(struct tap_places *p, uint32_t object, uint64_t at)
{
	struct object *o = &p->objects[object];
	const struct place new = { .object = object, .at = at };

	if (p->nr_places == MAX_PLACES || o->numbers.nr == MAX_PLACES_OF ||
	    tap_array_grow(&p->places, p->nr_places, &p->cap_places, sizeof(*p->places)) ||
	    tap_map_set(&o->numbers, at, p->nr_places))
		return 0;
	p->places[p->nr_places] = new;
	return p->nr_places++;
}

static uint64_t at_of(enum kind kind, const struct tap_mapping *m, uint64_t addr)
{
	switch (kind) {
	case OF_FILE:
		return addr - m->start + m->offset;
	case OF_KERNEL:
		return addr - m->start;
	default:
		return addr;
	}
}

static uint32_t number_of(struct tap_places *p, struct process *of, struct tap_mapping *m,
			  uint64_t addr)
{
	const uint64_t *number;
	uint64_t at;

	if (!m->object)
		find_object(p, of, m);
	if (!m->object)
		return 0;
	at = at_of(p->objects[m->object].kind, m, addr);
	number = tap_map_get(&p->objects[m->object].numbers, at);
	return number ? (uint32_t)*number : add_place(p, m->object, at);
}

/* ---- processes ---- */

static void forget_processes(struct tap_places *p)
{
	tap_map_for_each(&p->processes, s) {
		struct process *of = (struct process *)s->value;

		tap_maps_release(&of->maps);
		free(of);
	}
	tap_map_release(&p->processes);
	p->last = NULL;
	p->nr_mappings = 0;
}

static struct process *get_process(struct tap_places *p, int tgid)
{
	const uint64_t *known;
	struct process *of;

	if (p->last && p->last->tgid == tgid)
		return p->last;
	known = tap_map_get(&p->processes, (uint64_t)tgid);
	if (known)
		return p->last = (struct process *)*known;

	if (p->processes.nr >= MAX_PROCESSES || p->nr_mappings >= MAX_MAPPINGS)
		forget_processes(p);
	of = calloc(1, sizeof(*of));
	if (!of || tap_map_set(&p->processes, (uint64_t)tgid, (uint64_t)of)) {
		free(of);
		return NULL;
	}
	of->tgid = tgid;
	of->look_ns = UINT64_MAX; /* nothing to check before the first read */
	return p->last = of;
}

static int stat_exe(const struct process *of, struct stat *st)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", of->tgid);
	return stat(path, st);
}

/*
 * Read a process's maps. If that fails, the process may have ended: its old maps are kept.
 *
 * The program is looked at before the maps: if the process executes another one meanwhile, the next
 * check finds that. The cost is the CPU time: the read may also wait for a process that holds the
 * lock of its maps and gets no CPU.
 */
static void read_maps(struct tap_places *p, struct process *of)
{
	uint64_t from_ns = tap_now_ns(), cpu_ns = tap_clock_ns(CLOCK_THREAD_CPUTIME_ID), ns, start;
	struct tap_maps now = { 0 };
	struct stat exe;

	if (!stat_exe(of, &exe) && !tap_maps_read(&now, of->tgid) &&
	    !tap_proc_read_start(of->tgid, &start)) {
		if (start != of->start || exe.st_ino != of->exe_ino || exe.st_dev != of->exe_dev)
			of->object = 0;
		of->start = start;
		of->exe_ino = exe.st_ino;
		of->exe_dev = exe.st_dev;
		p->nr_mappings += now.nr - of->maps.nr;
		tap_maps_release(&of->maps);
		of->maps = now;
		now = (struct tap_maps){ 0 };
	}
	tap_maps_release(&now);
	ns = (tap_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) * READ_SHARE;
	of->read_ns = from_ns + (ns < READ_NS ? READ_NS : ns);
	of->look_ns = from_ns + SAME_PROGRAM_NS;
}

/* Check whether the process executed another program, or its pid was reused. */
static void check_process(struct tap_places *p, struct process *of, uint64_t now_ns)
{
	struct stat exe;

	of->look_ns = now_ns + SAME_PROGRAM_NS;
	if (!stat_exe(of, &exe) && (exe.st_ino != of->exe_ino || exe.st_dev != of->exe_dev))
		read_maps(p, of);
}

static uint32_t note_address(struct tap_places *p, struct process *of, uint64_t addr)
{
	/* a third of the cost of CLOCK_MONOTONIC */
	uint64_t now_ns = tap_clock_ns(CLOCK_MONOTONIC_COARSE);
	struct tap_mapping *m;

	if (now_ns >= of->look_ns)
		check_process(p, of, now_ns);
	m = tap_maps_find(&of->maps, addr);
	if (!m && now_ns >= of->read_ns) {
		read_maps(p, of);
		m = tap_maps_find(&of->maps, addr);
		/*
		 * for example a child that has just executed a program, perhaps a short-lived one
		 */
	} else if (!m && now_ns >= of->miss_ns) {
		of->miss_ns = now_ns + MISS_NS;
		check_process(p, of, now_ns);
		m = tap_maps_find(&of->maps, addr);
	}
	return m ? number_of(p, of, m, addr) : 0;
}

uint32_t tap_places_note(struct tap_places *p, int tgid, uint64_t addr)
{
	struct process *of;
	uint32_t nr;

	if (tgid <= 0)
		return 0;
	pthread_mutex_lock(&p->lock);
	of = get_process(p, tgid);
	nr = of ? note_address(p, of, addr) : 0;
	pthread_mutex_unlock(&p->lock);
	return nr;
}

/* ---- names ---- */

/* Find the last component of a path from maps, without " (deleted)". Return: its length. */
static size_t base_name(const char *path, const char **name)
{
	static const char gone[] = " (deleted)";
	size_t len;

	*name = strrchr(path, '/');
	*name = *name ? *name + 1 : path;
	len = strlen(*name);
	if (len >= sizeof(gone) && !strcmp(*name + len - (sizeof(gone) - 1), gone))
		len -= sizeof(gone) - 1;
	return len;
}

static void set_plain(struct tap_named *of, const struct object *o)
{
	struct tap_buf name = { 0 };
	const char *base;

	if (o->kind != OF_PROCESS) {
		size_t len = base_name(o->path, &base);

		tap_buf_add(&name, base, len);
		tap_buf_char(&name, '+');
	}
	tap_buf_printf(&name, "0x%" PRIx64, of->at);
	tap_named_set(of, name.data, name.len);
	tap_buf_release(&name);
}

/*
 * Open a file that was not kept open, or a perf map that did not exist earlier. Return: a
 * descriptor; -errno.
 */
static int open_again(const struct object *o)
{
	struct stat st;
	uint64_t start;

	if (o->kind == OF_FILE)
		return tap_file_open_path(o->tgid, o->path, o->id.dev, o->id.ino, &st);
	return !tap_proc_read_start(o->tgid, &start) && start == o->start
		       ? tap_perf_map_open(o->tgid)
		       : -ESRCH;
}

static void set_names(const struct object *o, struct tap_named *all, size_t nr)
{
	int fd = o->fd >= 0 || o->kind == OF_KERNEL ? o->fd : open_again(o);

	if (o->kind == OF_FILE && fd >= 0 && tap_file_is(fd, &o->id))
		tap_elf_name(fd, TAP_DEBUG_FILES, all, nr);
	if (o->kind == OF_PROCESS && fd >= 0)
		tap_perf_map_name(fd, all, nr);
	if (fd >= 0 && fd != o->fd)
		close(fd);
	for (size_t i = 0; i < nr; i++)
		if (!all[i].name)
			set_plain(&all[i], o);
}

static int compare_at(const void *a, const void *b)
{
	const struct tap_named *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Get the object's places without a name. Return: their number; 0 also if out of memory. */
static size_t get_unnamed(const struct tap_places *p, const struct object *o,
			  struct tap_named **all)
{
	size_t nr = 0;

	*all = calloc(o->numbers.nr, sizeof(**all));
	if (!*all)
		return 0;
	tap_map_for_each(&o->numbers, s)
		if (!p->places[s->value].name)
			(*all)[nr++] =
				(struct tap_named){ .at = s->key, .place = (uint32_t)s->value };
	return nr;
}

/* Name places. Drops the lock, as files are read. */
static void name_object(struct tap_places *p, const struct object *o, struct tap_named *all,
			size_t nr)
{
	pthread_mutex_unlock(&p->lock);
	qsort(all, nr, sizeof(*all), compare_at);
	set_names(o, all, nr);
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < nr; i++)
		p->places[all[i].place].name = all[i].name;
}

const char *tap_places_name(struct tap_places *p, uint32_t place)
{
	const char *name = NULL;

	pthread_mutex_lock(&p->lock);
	if (place && place < p->nr_places && !p->places[place].name) {
		/* p->objects may be reallocated meanwhile */
		struct object o = p->objects[p->places[place].object];
		struct tap_named *all;
		size_t nr = get_unnamed(p, &o, &all);

		if (nr)
			name_object(p, &o, all, nr);
		free(all);
	}
	if (place < p->nr_places)
		name = p->places[place].name;
	pthread_mutex_unlock(&p->lock);
	return name ? name : "?";
}

/* ---- creating and freeing ---- */

void tap_places_free(struct tap_places *p)
{
	if (!p)
		return;
	forget_processes(p);
	for (unsigned int i = 1; i < p->nr_places; i++)
		free(p->places[i].name);
	for (unsigned int i = 1; i < p->nr_objects; i++) {
		if (p->objects[i].fd >= 0)
			close(p->objects[i].fd);
		tap_map_release(&p->objects[i].numbers);
		free(p->objects[i].path);
	}
	free(p->places);
	free(p->objects);
	tap_map_release(&p->by_hash);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* A noting thread may have real-time priority: a naming thread that holds the lock inherits it. */
static int init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;
	int ret = pthread_mutexattr_init(&attr);

	if (ret)
		return -ret;
	/* ignore failure: it may be unsupported */
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	ret = pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return -ret;
}

int tap_places_new(struct tap_places **out, struct tap_err *err)
{
	struct tap_places *p = calloc(1, sizeof(*p));
	int ret;

	*out = NULL;
	if (!p)
		return tap_err_nomem(err);
	ret = init_lock(&p->lock);
	if (ret) {
		free(p);
		return tap_err_set(err, ret, "out of memory");
	}
	if (tap_array_grow(&p->objects, 0, &p->cap_objects, sizeof(*p->objects)) ||
	    tap_array_grow(&p->places, 0, &p->cap_places, sizeof(*p->places))) {
		tap_places_free(p);
		return tap_err_nomem(err);
	}
	p->objects[0] = (struct object){ .fd = -1 };
	p->places[0] = (struct place){ 0 };
	p->nr_objects = p->nr_places = 1;
	*out = p;
	return 0;
}
