// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reading a spool folder (spool.h): head.dat, meta.json and the page files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "recording/dat_file.h"

/* A page file's name, taken apart. */
struct page_file {
	char *file;
	unsigned int buffer, cpu;
	uint32_t page_size;
	char *name, *clock; /* inside .parts */
	char *parts;
};

struct page_files {
	struct page_file *v;
	unsigned int nr;
};

/* Return: whether all of @s is a decimal number up to @max. */
static bool parse_number(const char *s, unsigned long max, uint32_t *v)
{
	unsigned long n;
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	n = strtoul(s, &end, 10);
	if (*end || errno || n > max)
		return false;
	*v = (uint32_t)n;
	return true;
}

/* Cuts off what follows the last dot of @s. Return: that, or NULL. */
static char *cut_last(char *s)
{
	char *dot = strrchr(s, '.');

	if (!dot)
		return NULL;
	*dot = '\0';
	return dot + 1;
}

/* "<n>.<name>.<clock>.<page_size>.cpu<k>": only the name may hold dots. */
static bool parse_name(struct page_file *f)
{
	char *cpu = cut_last(f->parts), *size = cut_last(f->parts), *clock = cut_last(f->parts);
	char *name = strchr(f->parts, '.');

	if (!cpu || !size || !clock || !name)
		return false;
	*name++ = '\0';
	f->name = name;
	f->clock = clock;
	return !strncmp(cpu, "cpu", 3) && parse_number(cpu + 3, TAP_DAT_MAX_CPUS - 1, &f->cpu) &&
	       parse_number(size, TAP_DAT_MAX_PAGE_BYTES, &f->page_size) &&
	       parse_number(f->parts, TAP_DAT_MAX_BUFFERS - 1, &f->buffer);
}

static void release_file(struct page_file *f)
{
	free(f->file);
	free(f->parts);
}

static int add_file(struct page_files *files, const char *name, struct tap_err *err)
{
	struct page_file f = { .file = strdup(name), .parts = strdup(name) }, *grown;

	if (!f.file || !f.parts) {
		release_file(&f);
		return tap_dat_nomem(err);
	}
	if (!parse_name(&f)) { /* head.dat, meta.json, something half packed */
		release_file(&f);
		return 0;
	}
	grown = reallocarray(files->v, files->nr + 1, sizeof(*grown));
	if (!grown) {
		release_file(&f);
		return tap_dat_nomem(err);
	}
	files->v = grown;
	files->v[files->nr++] = f;
	return 0;
}

static int compare_files(const void *a, const void *b)
{
	const struct page_file *x = a, *y = b;

	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static int list_files(int dir, struct page_files *files, struct tap_err *err)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		ret = tap_err_set(err, -errno, "cannot list the folder: %m");
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while (!ret && (e = readdir(d)))
		ret = add_file(files, e->d_name, err);
	closedir(d);
	if (files->nr)
		qsort(files->v, files->nr, sizeof(*files->v), compare_files);
	return ret;
}

/* Return: 0; -ENOENT if there is none; -errno. Links and devices are refused. */
static int map_at(struct tap_reader *r, int dir, const char *name, const struct tap_mapping **out,
		  struct tap_err *err)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), ret;

	if (fd < 0)
		return tap_err_set(err, -errno, "cannot open '%.256s' in '%.300s': %m", name,
				   r->path);
	ret = tap_dat_add_map(r, fd, out);
	close(fd);
	if (ret)
		return tap_err_set(err, ret, "cannot map '%.256s' in '%.300s': %s", name, r->path,
				   strerror(-ret));
	return 0;
}

/* A partial page at the end is still being written, or the crash was faster. */
static int add_pages(struct tap_reader *r, int dir, const struct page_file *f, struct tap_err *err)
{
	const struct tap_mapping *m;
	struct tap_stream *s;
	int ret;

	ret = map_at(r, dir, f->file, &m, err);
	if (ret)
		return ret;
	ret = tap_dat_add_stream(r, r->info.nr_buffers - 1, f->cpu, &s, err);
	if (ret)
		return ret;
	s->whole.page = m->data;
	s->whole.pages_end = m->data + (m->len - m->len % f->page_size);
	return 0;
}

static int add_buffers(struct tap_reader *r, int dir, const struct page_files *files,
		       struct tap_err *err)
{
	const struct page_file *before = NULL;

	for (unsigned int i = 0; i < files->nr; before = &files->v[i++]) {
		const struct page_file *f = &files->v[i];
		int ret;

		if (!before || before->buffer != f->buffer) {
			ret = tap_dat_add_buffer(r, f->name, f->clock, f->page_size, err);
			if (ret < 0)
				return ret;
		} else if (before->page_size != f->page_size || strcmp(before->name, f->name)) {
			return tap_dat_bad(r, err, "the page files of a buffer contradict");
		}
		ret = add_pages(r, dir, f, err);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_meta(struct tap_reader *r, int dir, struct tap_err *err)
{
	const struct tap_mapping *m;
	int ret;

	ret = map_at(r, dir, "meta.json", &m, NULL);
	if (ret == -ENOENT)
		return 0;
	if (ret)
		return tap_err_set(err, ret, "cannot read 'meta.json' in '%.300s': %s", r->path,
				   strerror(-ret));
	return m->len ? tap_dat_set_text(&r->meta, m->data, m->len, err) : 0;
}

int tap_dat_read_spool(struct tap_reader *r, int dir, struct tap_err *err)
{
	struct page_files files = { 0 };
	const struct tap_mapping *head;
	int ret;

	r->info.is_spool = true;
	ret = map_at(r, dir, "head.dat", &head, err);
	if (ret == -ENOENT)
		ret = tap_err_set(err, -EINVAL, "'%.300s' is no recording: it has no head.dat",
				  r->path);
	if (!ret)
		ret = tap_dat_read_file(r, err);
	if (!ret)
		ret = read_meta(r, dir, err);
	if (!ret)
		ret = list_files(dir, &files, err);
	if (!ret)
		ret = add_buffers(r, dir, &files, err);
	for (unsigned int i = 0; i < files.nr; i++)
		release_file(&files.v[i]);
	free(files.v);
	return ret;
}
