// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <schedtap/reader.h>

#include "file/dat_write.h"
#include "file/meta.h"
#include "file/pack_data.h"
#include "file/rebuild.h"
#include "file/sums.h"

#define HEAD_MAX_BYTES (((size_t)1 << 30) - 1)
#define EMPTY_PAGE_SIZE 4096u

struct packer {
	const char *path, *target, *cmdlines;
	const struct tap_pack_moment *moment;
	int dir, parent; /* .dir: the spool folder; .parent: the target's folder */
	struct tap_pack_out out;
	int packed_dir; /* folder of .out while it is written, under the name .packed */
	char *packed;
	struct tap_spool_file *parts; /* page files by buffer, then by CPU */
	struct tap_pages *pages; /* range of each part when it was examined: files may still grow */
	unsigned int nr_parts;
	struct tap_dat_front front;
	struct tap_dat_buffer *buffers;
	struct tap_dat_cpu *cpus; /* of all buffers; one per part */
	unsigned int nr_buffers;
	/* file offsets of the u64 that refers to the options, and of these options */
	uint64_t more_at, options_at;
	struct tap_sums sums;
	/* checksums of all blocks, by buffer, then by CPU; unused if compressed */
	uint32_t *blocks;
	int level;
	struct tap_packer_data *data;
	void (*note)(void *ctx, const char *sentence);
	void *note_ctx;
	struct tap_err *err;
};

static int fail_write(struct packer *p, int ret)
{
	errno = -ret;
	if (p->moment)
		return tap_err_set(p->err, ret, "cannot write '%.300s': %m", p->target);
	return tap_err_set(p->err, ret,
			   "cannot write '%.300s': %m; the recorded data is safe in the folder "
			   "'%.300s': run `schedtap repair%s` to make a recording file from it",
			   p->target, p->path, ret == -ENOSPC ? " -o FILE-ON-ANOTHER-DISK" : "");
}

static int fail_part(struct packer *p, int ret, const char *file)
{
	errno = -ret;
	return tap_err_set(p->err, ret, "cannot read '%.300s/%.255s': %m", p->path, file);
}

/* Read a whole file of the folder. Return: 0; -ENOENT; -EFBIG; -errno. */
static int read_small(struct packer *p, const char *file, size_t max, struct tap_buf *out)
{
	int fd = openat(p->dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), ret = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		ret = -errno;
	else if (!S_ISREG(st.st_mode))
		ret = -EINVAL;
	else if ((uint64_t)st.st_size > max)
		ret = -EFBIG;
	else if (!tap_buf_reserve(out, (size_t)st.st_size))
		ret = out->err;
	else
		ret = tap_pread_all(fd, out->data, (size_t)st.st_size, 0);
	close(fd);
	if (!ret)
		out->len = (size_t)st.st_size;
	return ret;
}

static void note_damage(struct packer *p, const char *sentence)
{
	if (p->note)
		p->note(p->note_ctx, sentence);
}

static bool parse_copy(struct packer *p)
{
	struct tap_buf copy = { 0 };
	bool fits = !read_small(p, TAP_SPOOL_HEAD_COPY, HEAD_MAX_BYTES, &copy) &&
		    !tap_dat_front_parse(copy.data, copy.len, &p->front, NULL);

	tap_buf_release(&copy);
	return fits;
}

/*
 * Use a rebuilt head. @why: the error about head.dat; replaced if more is known. Return: 0; -errno.
 */
static int parse_rebuilt(struct packer *p, struct tap_err *why)
{
	struct tap_buf meta = { 0 }, head = { 0 };
	int ret = read_small(p, "meta.json", TAP_META_MAX_BYTES, &meta);

	ret = ret ?: tap_rebuild_head(meta.data, meta.len, &head, why);
	ret = ret ?: tap_dat_front_parse(head.data, head.len, &p->front, why);
	tap_buf_release(&head);
	tap_buf_release(&meta);
	return ret;
}

/* Parse head.dat; if it is damaged, use its copy or rebuild it. Return: 0; -errno for head.dat. */
static int parse_head(struct packer *p, const struct tap_buf *head, struct tap_err *why)
{
	int ret = tap_dat_front_parse(head->data, head->len, &p->front, why);

	if (ret != -EINVAL)
		return ret;
	if (parse_copy(p)) {
		note_damage(p, "head.dat is damaged: its copy is used");
		return 0;
	}
	if (parse_rebuilt(p, why))
		return ret;
	note_damage(p, "head.dat and its copy are damaged: the formats that are built into "
		       "schedtap are used");
	return 0;
}

/*
 * Use the description in meta.json, which is newer. If it is missing or damaged, keep that of
 * head.dat.
 */
static void load_meta(struct packer *p)
{
	struct tap_buf meta = { 0 };
	size_t len;

	if (!read_small(p, "meta.json", TAP_META_MAX_BYTES, &meta) && meta.len) {
		len = meta.len;
		if (!tap_meta_open(meta.data, &len)) {
			note_damage(p, "meta.json is damaged: the description in head.dat is used");
		} else {
			if (len < meta.len && memcmp(meta.data + len, ",", 1) == 0)
				meta.data[len++] = '}';
			tap_dat_front_set_meta(&p->front, meta.data, len);
		}
	}
	tap_buf_release(&meta);
}

static int load_head(struct packer *p)
{
	struct tap_buf bytes = { 0 };
	struct tap_err why = { 0 };
	int ret = read_small(p, "head.dat", HEAD_MAX_BYTES, &bytes);

	if (ret) {
		fail_part(p, ret, "head.dat");
		goto out;
	}
	ret = parse_head(p, &bytes, &why);
	if (ret) {
		tap_err_set(p->err, ret, "cannot use '%.300s/head.dat': %s", p->path, why.text);
		goto out;
	}
	if (p->moment) {
		tap_dat_front_set_meta(&p->front, p->moment->meta, strlen(p->moment->meta));
		tap_dat_front_set_cmdlines(&p->front, p->moment->cmdlines);
		goto out;
	}
	load_meta(p);
	if (p->cmdlines)
		tap_dat_front_set_cmdlines(&p->front, p->cmdlines);
out:
	tap_buf_release(&bytes);
	return ret;
}

static int make_head(struct packer *p, const struct tap_head *head)
{
	int ret = tap_dat_front_make(head, &p->front);

	return ret ? fail_write(p, ret) : 0;
}

/* The top-level buffer comes first, whatever its number: other tools assume that. */
static int compare_buffers(const struct tap_spool_name *x, const struct tap_spool_name *y)
{
	int cmp = !!*x->name - !!*y->name;

	cmp = cmp ?: (x->buffer > y->buffer) - (x->buffer < y->buffer);
	cmp = cmp ?: strcmp(x->name, y->name);
	cmp = cmp ?: strcmp(x->clock, y->clock);
	return cmp ?: (x->page_size > y->page_size) - (x->page_size < y->page_size);
}

static int compare_parts(const void *a, const void *b)
{
	const struct tap_spool_name *x = &((const struct tap_spool_file *)a)->name;
	const struct tap_spool_name *y = &((const struct tap_spool_file *)b)->name;

	return compare_buffers(x, y) ?: (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static int open_part(struct packer *p, unsigned int i)
{
	return openat(p->dir, p->parts[i].file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* Determine the range of usable sub-buffers in a page file. */
static int find_pages(struct packer *p, unsigned int i)
{
	struct tap_pages *pages = &p->pages[i];
	int ret;

	pages->fd = open_part(p, i);
	if (pages->fd < 0)
		return fail_part(p, -errno, p->parts[i].file);
	ret = tap_pages_find(pages);
	close(pages->fd);
	return ret ? fail_part(p, ret, p->parts[i].file) : 0;
}

/* Determine the range and the size of part @i. */
static int examine_part(struct packer *p, unsigned int i)
{
	const struct tap_spool_name *n = &p->parts[i].name;
	struct tap_pages *pages = &p->pages[i];
	struct stat st;

	pages->page_size = n->page_size;
	if (p->moment) {
		pages->held = tap_spool_held(p->moment->spool);
		pages->lane = tap_held_find(pages->held, n->buffer, n->cpu);
		tap_held_since(pages->held, pages->lane, p->moment->from_ns, &pages->from,
			       &pages->to);
		p->out.whole += pages->to - pages->from;
	} else if (!fstatat(p->dir, p->parts[i].file, &st, AT_SYMLINK_NOFOLLOW)) {
		pages->to = (uint64_t)st.st_size;
		/* the size without holes */
		p->out.whole +=
			st.st_blocks < st.st_size / 512 ? (uint64_t)st.st_blocks * 512 : pages->to;
	}
	return p->moment || n->zstd ? 0 : find_pages(p, i);
}

static int list_parts(struct packer *p)
{
	int ret = p->moment ? tap_spool_list_held(p->moment->spool, compare_parts, &p->parts,
						  &p->nr_parts)
			    : tap_spool_list(p->dir, compare_parts, &p->parts, &p->nr_parts);

	if (ret)
		return ret == -ENOMEM ? fail_write(p, ret) : fail_part(p, ret, ".");
	p->pages = calloc(p->nr_parts + 1, sizeof(*p->pages));
	if (!p->pages)
		return fail_write(p, -ENOMEM);
	for (unsigned int i = 0; !ret && i < p->nr_parts; i++) {
		const struct tap_spool_name *n = &p->parts[i].name;

		/* if any page file is compressed, compress the whole file */
		if (n->zstd && !p->level)
			p->level = TAP_PACK_LEVEL;
		if (n->cpu >= p->front.nr_cpus)
			p->front.nr_cpus = n->cpu + 1;
		ret = examine_part(p, i);
	}
	return ret;
}

/* Count and allocate checksums of blocks; compressed sub-buffers have those of zstd instead. */
static int list_blocks(struct packer *p)
{
	for (unsigned int i = 0; !p->level && i < p->nr_parts; i++)
		p->sums.nr += tap_sums_count(p->pages[i].to - p->pages[i].from,
					     p->pages[i].page_size, TAP_SUMS_BLOCK_BYTES);
	if (p->sums.nr > UINT32_MAX)
		return fail_write(p, -EFBIG);
	p->blocks = calloc(p->sums.nr + 1, sizeof(*p->blocks));
	return p->blocks ? 0 : fail_write(p, -ENOMEM);
}

/* Make an entry per buffer; its CPUs are a range of p->cpus. Offsets and sizes are set later. */
static int list_buffers(struct packer *p)
{
	bool has_top = p->nr_parts && !*p->parts[0].name.name;

	p->buffers = calloc(p->nr_parts + 1, sizeof(*p->buffers));
	p->cpus = calloc(p->nr_parts + 1, sizeof(*p->cpus));
	if (!p->buffers || !p->cpus)
		return fail_write(p, -ENOMEM);
	if (!has_top)
		p->buffers[p->nr_buffers++] = (struct tap_dat_buffer){
			.name = "",
			.clock = "mono",
			.page_size = EMPTY_PAGE_SIZE,
		};
	for (size_t i = 0; i < p->nr_parts; i++) {
		const struct tap_spool_name *n = &p->parts[i].name;

		if (!i || compare_buffers(n, &p->parts[i - 1].name))
			p->buffers[p->nr_buffers++] = (struct tap_dat_buffer){
				.name = n->name,
				.clock = n->clock,
				.page_size = n->page_size,
				.cpus = &p->cpus[i],
			};
		p->cpus[i].cpu = n->cpu;
		p->buffers[p->nr_buffers - 1].nr_cpus++;
	}
	return 0;
}

static int write_front(struct packer *p)
{
	struct tap_buf bytes = { 0 };
	size_t more_at = 0, sums_at = 0;
	int ret;

	tap_dat_front_write(&p->front, p->level, p->sums.nr, &bytes, &more_at, &sums_at);
	ret = bytes.err ?: tap_pwrite_all(p->out.fd, bytes.data, bytes.len, 0);
	p->out.pos = bytes.len;
	p->more_at = more_at;
	p->sums.section_at = sums_at;
	tap_buf_release(&bytes);
	return ret ? fail_write(p, ret) : 0;
}

static int write_pages(struct packer *p, const struct tap_pages *pages)
{
	int ret = 0;

	if (pages->from < pages->to)
		ret = p->level ? tap_pages_compress(p->data, pages, &p->out)
			       : tap_pages_copy(pages, &p->out);
	return ret ? fail_write(p, ret) : 0;
}

static int write_page_file(struct packer *p, size_t i)
{
	const struct tap_spool_file *part = &p->parts[i];
	struct tap_pages *pages = &p->pages[i];
	int ret;

	pages->fd = open_part(p, (unsigned int)i);
	if (pages->fd < 0)
		return fail_part(p, -errno, part->file);
	if (!part->name.zstd)
		ret = write_pages(p, pages);
	else if ((ret = tap_chunks_copy(p->data, pages->fd, pages->page_size, &p->out)))
		fail_write(p, ret);
	close(pages->fd);
	return ret;
}

/* Write one CPU's data, of part @i. */
static int write_part(struct packer *p, size_t i)
{
	int ret;

	p->cpus[i].offset = p->out.pos;
	ret = p->moment ? write_pages(p, &p->pages[i]) : write_page_file(p, i);
	p->cpus[i].size = p->out.pos - p->cpus[i].offset;
	return ret;
}

/* Write one buffer's section. Its header is written last, once the size is known. */
static int write_buffer(struct packer *p, struct tap_dat_buffer *b)
{
	struct tap_buf header = { 0 };
	int ret = 0;

	b->offset = p->out.pos;
	p->out.pos += TAP_DAT_SECTION_HEADER;
	if (!p->level)
		p->out.pos = (p->out.pos + b->page_size - 1) & ~(uint64_t)(b->page_size - 1);
	for (unsigned int i = 0; !ret && i < b->nr_cpus; i++)
		ret = write_part(p, (size_t)(&b->cpus[i] - p->cpus));
	if (ret)
		return ret;
	tap_dat_section_header(TAP_DAT_FLYRECORD, p->level ? TAP_DAT_COMPRESSED : 0,
			       p->out.pos - b->offset - TAP_DAT_SECTION_HEADER, &header);
	ret = header.err;
	ret = ret ?: tap_pwrite_all(p->out.fd, header.data, header.len, b->offset);
	tap_buf_release(&header);
	return ret ? fail_write(p, ret) : 0;
}

/*
 * The options that locate the data precede it, so that a file that was cut remains readable. Space
 * is reserved for them first: their length is known before their contents.
 */
static int write_options(struct packer *p, bool reserve)
{
	struct tap_buf bytes = { 0 };
	int ret;

	tap_dat_buffers_write(p->buffers, p->nr_buffers, &bytes);
	ret = bytes.err;
	if (!ret && reserve) {
		p->options_at = p->out.pos;
		p->out.pos += bytes.len;
		p->sums.front_end = p->out.pos;
	} else if (!ret) {
		ret = tap_pwrite_all(p->out.fd, bytes.data, bytes.len, p->options_at);
		if (!ret)
			ret = tap_pwrite_all(p->out.fd, &p->options_at, sizeof(p->options_at),
					     p->more_at);
	}
	tap_buf_release(&bytes);
	return ret ? fail_write(p, ret) : 0;
}

/*
 * Compute checksums from the written file: its data may have been shared (FICLONERANGE) without
 * passing through memory, and is otherwise still in the page cache.
 */
static int write_checksums(struct packer *p)
{
	uint32_t *blocks = p->blocks;
	int ret = 0;

	for (unsigned int i = 0; !p->level && !ret && i < p->nr_parts; i++) {
		ret = tap_sums_compute(p->out.fd, p->cpus[i].offset, p->cpus[i].size,
				       p->pages[i].page_size, blocks);
		blocks += tap_sums_count(p->cpus[i].size, p->pages[i].page_size,
					 TAP_SUMS_BLOCK_BYTES);
	}
	ret = ret ?: tap_sums_write(p->out.fd, &p->sums, p->blocks, p->out.pos);
	return ret ? fail_write(p, ret) : 0;
}

static int write_file(struct packer *p)
{
	int ret = write_front(p);

	ret = ret ?: write_options(p, true);
	for (unsigned int i = 0; !ret && i < p->nr_buffers; i++)
		ret = write_buffer(p, &p->buffers[i]);
	return ret ?: write_options(p, false) ?: write_checksums(p);
}

/*
 * Return: 1: a regular file exists; 0: nothing exists, or it cannot be examined; -EEXIST: something
 * else exists. Links are not followed: another user may have created them.
 */
static int find_file(const char *path, struct tap_err *err)
{
	struct stat st;

	if (lstat(path, &st))
		return 0;
	if (S_ISLNK(st.st_mode))
		return tap_err_set(err, -EEXIST,
				   "'%.300s' is a symbolic link: name the file that it leads to",
				   path);
	return S_ISREG(st.st_mode)
		       ? 1
		       : tap_err_set(err, -EEXIST,
				     "cannot replace '%.300s': it is not a regular file", path);
}

/* Determine the new name of an existing @file. @old: to be freed; NULL: there is no @file. */
static int find_old(const char *file, char **old, struct tap_err *err)
{
	int ret = find_file(file, err);

	*old = NULL;
	if (ret <= 0)
		return ret;
	if (asprintf(old, "%s.old", file) < 0) {
		*old = NULL;
		return tap_err_nomem(err);
	}
	if (find_file(*old, err) >= 0)
		return 0;
	free(*old);
	*old = NULL;
	return -EEXIST;
}

int tap_pack_check(const char *file, struct tap_err *err)
{
	char *old;
	int ret = find_old(file, &old, err);

	free(old);
	return ret;
}

/*
 * An existing file is kept under another name, as perf does. If the process is killed in between,
 * the spool folder still exists.
 */
static int put_in_place(struct packer *p, const char *old)
{
	int ret;

	if (old && rename(p->target, old))
		return -errno;
	if (!renameat(p->packed_dir, p->packed, AT_FDCWD, p->target))
		return 0;
	ret = -errno;
	if (old)
		rename(old, p->target);
	return ret;
}

/* Give the finished file its name, and make both survive a power cut. */
static int publish_file(struct packer *p)
{
	char *old;
	int ret = find_old(p->target, &old, p->err);

	if (ret)
		return ret;
	ret = fsync(p->out.fd) ? -errno : put_in_place(p, old);
	if (!ret && fsync(p->parent))
		ret = -errno;
	free(old);
	return ret ? fail_write(p, ret) : 0;
}

/*
 * Remove head.dat first: without it the folder is not a recording. If page files were removed first
 * and the process was killed, a repair would replace the complete file by the remaining part.
 */
static void remove_folder(struct packer *p)
{
	unlinkat(p->dir, "head.dat", 0);
	unlinkat(p->dir, TAP_SPOOL_HEAD_COPY, 0);
	unlinkat(p->dir, TAP_SPOOL_HEAD_COPY ".new", 0);
	unlinkat(p->dir, "meta.json", 0);
	unlinkat(p->dir, "meta.json.new", 0);
	unlinkat(p->dir, "head.dat.new", 0);
	for (size_t i = 0; i < p->nr_parts; i++)
		unlinkat(p->dir, p->parts[i].file, 0);
	rmdir(p->path);
}

/*
 * Name the unfinished file: in the spool folder, or if that is on another file system, next to the
 * target, as it will be renamed.
 */
static int name_packed(struct packer *p)
{
	char *copy = strdup(p->target);
	struct stat folder, parent;
	int ret;

	p->parent = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	ret = p->parent < 0 || fstat(p->parent, &parent) || fstat(p->dir, &folder) ? -errno : 0;
	free(copy);
	if (ret)
		return ret;
	p->packed_dir = folder.st_dev == parent.st_dev ? p->dir : AT_FDCWD;
	if (p->packed_dir == p->dir)
		p->packed = strdup("packed");
	else if (asprintf(&p->packed, "%s.packed-%d", p->target, (int)getpid()) < 0)
		p->packed = NULL;
	return p->packed ? 0 : -ENOMEM;
}

static int open_out(struct packer *p)
{
	int ret = name_packed(p);

	if (ret)
		return fail_write(p, ret);
	unlinkat(p->packed_dir, p->packed, 0); /* of an attempt that was killed */
	p->out.fd = openat(p->packed_dir, p->packed,
			   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (p->out.fd < 0 || fchmod(p->out.fd, 0600))
		return fail_write(p, -errno);
	return 0;
}

static int pack_folder(struct packer *p, const struct tap_pack_opts *opts)
{
	int ret = opts->head ? make_head(p, opts->head) : load_head(p);

	ret = ret ?: list_parts(p) ?: list_buffers(p) ?: list_blocks(p);
	if (!ret && p->level && tap_packer_data_new(p->level, &p->data))
		ret = fail_write(p, -ENOMEM);
	return ret ?: open_out(p) ?: write_file(p) ?: publish_file(p);
}

int tap_pack(const char *spool_path, const char *file, const struct tap_pack_opts *opts,
	     struct tap_err *err)
{
	struct packer p = { .path = spool_path,
			    .target = file,
			    .cmdlines = opts->cmdlines,
			    .moment = opts->moment,
			    .parent = -1,
			    .err = err,
			    .out = { .fd = -1, .show = opts->show, .ctx = opts->ctx } };
	int ret;

	p.dir = open(spool_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p.dir < 0)
		return tap_err_set(err, -errno, "cannot open the folder '%.300s': %m", spool_path);
	p.note = opts->note;
	p.note_ctx = opts->ctx;
	if (opts->zstd)
		p.level = opts->level ? opts->level : TAP_PACK_LEVEL;
	ret = pack_folder(&p, opts);
	if (!ret && !p.moment)
		remove_folder(&p);
	else if (ret && p.out.fd >= 0)
		unlinkat(p.packed_dir, p.packed, 0);
	tap_packer_data_free(p.data);
	tap_dat_front_release(&p.front);
	free(p.buffers);
	free(p.cpus);
	free(p.parts);
	free(p.pages);
	free(p.blocks);
	free(p.packed);
	if (p.out.fd >= 0)
		close(p.out.fd);
	if (p.parent >= 0)
		close(p.parent);
	close(p.dir);
	return ret;
}

int tap_pack_check_format(const char *spool_path, struct tap_err *err)
{
	struct tap_err why;
	struct tap_reader *r;
	int ret = tap_reader_open(spool_path, &r, &why);

	tap_reader_free(r);
	/* for a damaged folder, packing saves as much as possible */
	return ret == -ENOTSUP ? tap_err_set(err, ret, "%s", why.text) : 0;
}
