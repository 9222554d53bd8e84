// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/kernel/programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/proc.h"
#include "record/bpf/stats.h"
#include "record/kernel/file.h"

/* A program as a reading found it. */
struct found {
	struct tap_bpf_program shown; /* its .type: not set */
	char type[24];
	uint64_t loaded_ns; /* with the id: identity of the program, for ids are reused */
	uint64_t calls, run_ns; /* since it was loaded, while anyone had them counted */
	bool is_new; /* the reading before did not find it */
};

struct reading {
	struct found *v; /* by ascending id, as the kernel lists them */
	unsigned int nr, cap;
};

struct tap_bpf_programs {
	int stats_fd;
	struct reading last, now;
	struct tap_bpf_program *list;
	unsigned int list_cap;
	struct btf *btf; /* of .btf_id: programs of an object share it */
	uint32_t btf_id;
};

/* Keep libbpf from printing to stderr. */
static struct btf *load_btf(uint32_t id)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	struct btf *btf = btf__load_from_kernel_by_id(id);

	libbpf_set_print(print);
	return btf;
}

/* Return: the type id of the program's first function; 0: unknown. */
static uint32_t type_of_function(int fd)
{
	struct bpf_func_info function = { 0 };
	struct bpf_prog_info info = {
		.func_info = (uintptr_t)&function,
		.nr_func_info = 1,
		.func_info_rec_size = sizeof(function),
	};
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &len) || !info.nr_func_info ? 0 : function.type_id;
}

/* Return: borrowed until the next call; NULL: unknown. */
static const char *name_of_function(struct tap_bpf_programs *p, int fd, uint32_t btf_id)
{
	uint32_t type_id = type_of_function(fd);
	const struct btf_type *t;

	if (!type_id || !btf_id)
		return NULL;
	if (btf_id != p->btf_id) {
		btf__free(p->btf);
		p->btf = load_btf(btf_id);
		p->btf_id = btf_id;
	}
	t = p->btf ? btf__type_by_id(p->btf, type_id) : NULL;
	return t && btf_is_func(t) ? btf__name_by_offset(p->btf, t->name_off) : NULL;
}

/* Set what does not change while the program is loaded. */
static void describe(struct tap_bpf_programs *p, struct found *f, int fd,
		     const struct bpf_prog_info *info)
{
	const char *type = libbpf_bpf_prog_type_str(info->type), *name = NULL;
	size_t len = strnlen(info->name, sizeof(info->name));

	if (type)
		tap_file_copy(f->type, sizeof(f->type), type, strlen(type));
	else
		snprintf(f->type, sizeof(f->type), "type %u", info->type);
	if (len == sizeof(info->name) - 1) /* may be cut */
		name = name_of_function(p, fd, info->btf_id);
	if (name && *name)
		tap_file_copy(f->shown.name, sizeof(f->shown.name), name, strlen(name));
	else
		tap_file_copy(f->shown.name, sizeof(f->shown.name), info->name, len);
	f->shown.id = info->id;
	f->loaded_ns = info->load_time;
	f->is_new = true;
}

/* Return: the program in the reading before; NULL. @at: where to search from; moves on. */
static const struct found *find_last(const struct reading *last, unsigned int *at,
				     const struct bpf_prog_info *info)
{
	while (*at < last->nr && last->v[*at].shown.id < info->id)
		++*at;
	return *at < last->nr && last->v[*at].shown.id == info->id &&
			       last->v[*at].loaded_ns == info->load_time
		       ? &last->v[*at]
		       : NULL;
}

static int add_program(struct tap_bpf_programs *p, int fd, unsigned int *at)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);
	const struct found *last;
	struct found f = { 0 };

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	last = find_last(&p->last, at, &info);
	if (last) {
		f = *last;
		f.is_new = false;
	} else {
		describe(p, &f, fd, &info);
	}
	f.shown.calls = info.run_cnt - f.calls;
	f.shown.run_ns = info.run_time_ns - f.run_ns;
	f.calls = info.run_cnt;
	f.run_ns = info.run_time_ns;
	if (tap_array_grow(&p->now.v, p->now.nr, &p->now.cap, sizeof(f)))
		return -ENOMEM;
	p->now.v[p->now.nr++] = f;
	return 0;
}

static int add_programs(struct tap_bpf_programs *p)
{
	unsigned int at = 0;
	uint32_t id = 0;
	int fd, ret = 0;

	while (!ret && !bpf_prog_get_next_id(id, &id)) {
		fd = bpf_prog_get_fd_by_id(id);
		if (fd >= 0) {
			ret = add_program(p, fd, &at);
			close(fd);
		} else if (errno != ENOENT) { /* ENOENT: it is gone meanwhile */
			return -errno;
		}
	}
	return ret ? ret : errno == ENOENT ? 0 : -errno;
}

/* Mark the program that a descriptor of this process, of a program or a link, refers to. */
static void mark_ours(struct reading *now, const char *fd)
{
	char text[TAP_FILE_BYTES];
	uint64_t id;

	if (!tap_file_start(text, "/proc/thread-self/fdinfo/%s", fd) ||
	    tap_proc_value(text, "prog_id:\t", &id))
		return;
	for (unsigned int i = 0; i < now->nr; i++)
		now->v[i].shown.is_ours |= now->v[i].shown.id == id;
}

static bool has_new(const struct reading *r)
{
	for (unsigned int i = 0; i < r->nr; i++)
		if (r->v[i].is_new)
			return true;
	return false;
}

/*
 * libbpf keeps a descriptor of each program that it has loaded. The kernel lists a program shortly
 * before its loader gets the descriptor, so programs are looked for again after a reading in which
 * they were new.
 */
static void find_ours(struct tap_bpf_programs *p)
{
	DIR *dir;
	struct dirent *e;

	if (!has_new(&p->now) && !has_new(&p->last))
		return;
	dir = opendir("/proc/thread-self/fdinfo");
	while (dir && (e = readdir(dir)))
		if (*e->d_name != '.')
			mark_ours(&p->now, e->d_name);
	if (dir)
		closedir(dir);
}

/* On failure the reading before stays, so that the next one counts from there. */
static int take_reading(struct tap_bpf_programs *p, struct tap_err *err)
{
	struct reading last = p->last;
	int ret;

	p->now.nr = 0;
	ret = add_programs(p);
	btf__free(p->btf);
	p->btf = NULL;
	p->btf_id = 0;
	if (ret)
		return tap_err_set(err, ret, "cannot read the BPF programs: %s", strerror(-ret));
	find_ours(p);
	p->last = p->now;
	p->now = last;
	return 0;
}

static int by_run_time(const void *a, const void *b)
{
	const struct tap_bpf_program *x = a, *y = b;

	if (x->run_ns != y->run_ns)
		return x->run_ns > y->run_ns ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

void tap_bpf_programs_close(struct tap_bpf_programs *p)
{
	if (!p)
		return;
	if (p->stats_fd >= 0)
		close(p->stats_fd);
	free(p->last.v);
	free(p->now.v);
	free(p->list);
	free(p);
}

int tap_bpf_programs_open(struct tap_bpf_programs **out, struct tap_err *err)
{
	struct tap_bpf_programs *p = calloc(1, sizeof(*p));
	int ret;

	*out = NULL;
	if (!p)
		return tap_err_nomem(err);
	p->stats_fd = tap_bpf_stats_open(err);
	ret = p->stats_fd < 0 ? p->stats_fd : take_reading(p, err);
	if (ret) {
		tap_bpf_programs_close(p);
		return ret;
	}
	*out = p;
	return 0;
}

int tap_bpf_programs_read(struct tap_bpf_programs *p, const struct tap_bpf_program **list,
			  struct tap_err *err)
{
	int ret = take_reading(p, err);
	struct tap_bpf_program *grown;

	if (ret)
		return ret;
	if (p->last.nr > p->list_cap) {
		grown = reallocarray(p->list, p->last.nr, sizeof(*grown));
		if (!grown)
			return tap_err_nomem(err);
		p->list = grown;
		p->list_cap = p->last.nr;
	}
	for (unsigned int i = 0; i < p->last.nr; i++) {
		p->list[i] = p->last.v[i].shown;
		p->list[i].type = p->last.v[i].type;
	}
	if (p->last.nr)
		qsort(p->list, p->last.nr, sizeof(*p->list), by_run_time);
	*list = p->list;
	return (int)p->last.nr;
}
