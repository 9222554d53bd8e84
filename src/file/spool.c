// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/text.h"
#include "file/cut.h"
#include "file/dat_write.h"
#include "file/meta.h"
#include "file/pack_data.h"
#include "file/sums.h"

#define ZSTD_SUFFIX ".zstd"
#define RING "ring\n" /* contents of the file "held" */

struct page_file {
	int fd; /* -1 until the first write */
	int failed; /* -errno of the first failed write, after which nothing is written; or 0 */
	uint64_t end; /* file size without an incomplete end */
	/* the CPU's data in memory, instead of a file; NULL until there is some */
	struct tap_held_lane *lane;
	struct tap_buf later; /* sub-buffers for the next folder, see tap_spool_cut() */
};

struct spool_buffer {
	char *prefix; /* its page files' names up to the CPU */
	uint32_t page_size;
	struct page_file *cpus;
	unsigned int nr_cpus;
};

struct tap_spool {
	char *path;
	int dir, head; /* head.dat is kept open for its lock */
	bool is_for_kills; /* the folder must survive a killed recorder, but not a power cut */
	struct spool_buffer *buffers[TAP_SPOOL_MAX_BUFFERS];
	unsigned int nr_buffers;
	_Atomic uint64_t bytes; /* sub-buffers written so far; other threads read this */
	_Atomic uint64_t folder_bytes; /* size of this folder's page files */
	_Atomic int failed; /* first -errno of this folder's page files */
	int (*room)(void *ctx, uint64_t bytes); /* see tap_spool_set_room(); may be NULL */
	void *room_ctx;
	uint64_t cut_ns; /* 0: events of any time go into this folder */
	struct tap_held *held; /* NULL: sub-buffers are written to files */
	struct tap_packer_data *packer; /* NULL: sub-buffers are not compressed */
	/* TAP_PACK_CHUNK_BYTES; NULL until needed */
	unsigned char *from_pipe;
};

void tap_head_defaults(struct tap_head *head)
{
	head->header_page = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
	head->header_event = "# compressed entry header\n"
			     "\ttype_len    :    5 bits\n"
			     "\ttime_delta  :   27 bits\n"
			     "\tarray       :   32 bits\n"
			     "\n"
			     "\tpadding     : type == 29\n"
			     "\ttime_extend : type == 30\n"
			     "\ttime_stamp : type == 31\n"
			     "\tdata max type_len  == 28\n";
}

int tap_spool_lock(const char *spool_path, struct tap_err *err)
{
	int dir = open(spool_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd, ret, pid;
	struct stat st;

	if (dir < 0)
		return tap_err_set(err, -errno, "cannot open the folder '%.300s': %m", spool_path);
	fd = openat(dir, "head.dat", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ret = fd < 0 ? -errno : 0;
	close(dir);
	if (ret)
		return tap_err_set(err, ret, "cannot open '%.300s/head.dat': %m", spool_path);
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	pid = errno == EWOULDBLOCK && !fstat(fd, &st) ? tap_proc_lock_holder(&st) : 0;
	close(fd);
	if (pid)
		return tap_err_set(err, -EBUSY, "process %d is still recording to '%.300s'", pid,
				   spool_path);
	return tap_err_set(err, -EBUSY, "another recorder is still recording to '%.300s'",
			   spool_path);
}

/* Set the error for a folder that already exists. Return: -EEXIST. */
static int explain_existing(const char *path, struct tap_err *err)
{
	int fd = tap_spool_lock(path, err);

	if (fd == -EBUSY && err)
		err->code = -EEXIST;
	if (fd == -EBUSY)
		return -EEXIST;
	if (fd < 0)
		return tap_err_set(
			err, -EEXIST,
			"'%.300s' already exists and is not a readable recording: remove it", path);
	close(fd);
	return tap_err_set(err, -EEXIST,
			   "'%.300s' contains an interrupted recording: run `schedtap repair "
			   "'%.300s'` to make a recording file from it",
			   path, path);
}

/* Remove all files except page files, the head first: without it the folder is not a recording. */
static void remove_own_files(int dir)
{
	static const char *const files[] = {
		"head.dat",	"meta.json",	 TAP_SPOOL_HEAD_COPY,
		"head.dat.new", "meta.json.new", TAP_SPOOL_HEAD_COPY ".new",
		"packed",	TAP_SPOOL_HELD
	};

	for (unsigned int i = 0; i < sizeof(files) / sizeof(*files); i++)
		unlinkat(dir, files[i], 0);
}

/* Remove all page files, without allocating memory except in opendir(). */
static void remove_page_files(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct tap_spool_name name;
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (tap_spool_parse_name(e->d_name, &name))
			unlinkat(dir, e->d_name, 0);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

enum tap_spool_kind tap_spool_kind(int dir)
{
	int fd = openat(dir, TAP_SPOOL_HELD, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[sizeof(RING)];
	ssize_t n;

	if (fd < 0)
		return TAP_SPOOL_RECORDING;
	n = read(fd, text, sizeof(text));
	close(fd);
	return n == sizeof(RING) - 1 && !memcmp(text, RING, sizeof(RING) - 1) ? TAP_SPOOL_RING
									      : TAP_SPOOL_FLIGHT;
}

enum tap_spool_kind tap_spool_remove_held(const char *path)
{
	int lock = tap_spool_lock(path, NULL),
	    dir = lock < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	enum tap_spool_kind kind = dir >= 0 ? tap_spool_kind(dir) : TAP_SPOOL_RECORDING;

	if (kind)
		remove_own_files(dir);
	if (dir >= 0)
		close(dir);
	if (lock >= 0)
		close(lock);
	return kind && !rmdir(path) ? kind : TAP_SPOOL_RECORDING;
}

void tap_spool_remove_left(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0)
		return;
	remove_own_files(dir);
	remove_page_files(dir);
	close(dir);
	rmdir(path);
}

/* The name of a new folder survives a power cut only after its parent was synced. */
static int sync_parent(const char *path)
{
	char *copy = strdup(path);
	int fd, ret = 0;

	if (!copy)
		return -ENOMEM;
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	if (fd < 0)
		return -errno;
	if (fsync(fd))
		ret = -errno;
	close(fd);
	return ret;
}

/* Create an empty file with mode 0600, whatever the umask. */
static int create_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int ret;

	if (fd < 0)
		return -errno;
	if (!fchmod(fd, 0600))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

static int open_folder(struct tap_spool *s, struct tap_err *err)
{
	int ret;

	if (mkdir(s->path, 0700)) {
		if (errno == EEXIST)
			return tap_spool_remove_held(s->path) ? open_folder(s, err)
							      : explain_existing(s->path, err);
		return tap_err_set(err, -errno, "cannot make the folder '%.300s': %m", s->path);
	}
	s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->dir >= 0 && !fchmod(s->dir, 0700))
		return 0;
	ret = tap_err_set(err, -errno, "cannot open the folder '%.300s': %m", s->path);
	rmdir(s->path);
	return ret;
}

int tap_head_write(const struct tap_head *head, struct tap_buf *out)
{
	struct tap_dat_front front;
	size_t more_at, sums_at = 0;
	int ret = tap_dat_front_make(head, &front);

	if (ret)
		return ret;
	tap_dat_front_write(&front, 0, 0, out, &more_at, &sums_at);
	tap_sums_seal(out, sums_at);
	tap_dat_front_release(&front);
	return out->err;
}

/*
 * Replace the file @name. The new file is locked before it gets a name that others could find.
 * @sync: sync it before the rename. Return: its descriptor; -errno, with the old file in place.
 */
static int replace_file(const struct tap_spool *s, const char *name, const void *data, size_t len,
			bool sync)
{
	char made[NAME_MAX + 1];
	int fd, ret;

	snprintf(made, sizeof(made), "%s.new", name);
	unlinkat(s->dir, made, 0);
	fd = create_file(s->dir, made);
	if (fd < 0)
		return fd;
	ret = flock(fd, LOCK_EX | LOCK_NB) ? -errno : tap_write_all(fd, data, len);
	if (!ret && ((sync && fsync(fd)) || renameat(s->dir, made, s->dir, name)))
		ret = -errno;
	if (!ret)
		return fd;
	close(fd);
	unlinkat(s->dir, made, 0);
	return ret;
}

static int sync_folder(const struct tap_spool *s)
{
	return fsync(s->dir) ? -errno : sync_parent(s->path);
}

static int create_head(struct tap_spool *s, const struct tap_buf *head, bool sync,
		       struct tap_err *err)
{
	int ret = head->err;

	s->head = ret ?: replace_file(s, "head.dat", head->data, head->len, sync);
	if (s->head >= 0) {
		int copy = replace_file(s, TAP_SPOOL_HEAD_COPY, head->data, head->len, sync);

		if (copy >= 0)
			close(copy);
		else
			ret = copy;
	}
	ret = s->head < 0 ? s->head : ret ?: sync ? sync_folder(s) : 0;
	if (!ret)
		return 0;
	unlinkat(s->dir, "head.dat", 0);
	unlinkat(s->dir, TAP_SPOOL_HEAD_COPY, 0);
	rmdir(s->path);
	errno = -ret;
	return tap_err_set(err, ret, "cannot write '%.300s/head.dat': %m", s->path);
}

/* Create an empty folder. */
static int create_folder(const char *file, struct tap_spool **out, struct tap_err *err)
{
	struct tap_spool *s = calloc(1, sizeof(*s));
	int ret;

	*out = NULL;
	if (!s)
		return tap_err_nomem(err);
	s->dir = s->head = -1;
	if (asprintf(&s->path, "%s" TAP_SPOOL_SUFFIX, file) < 0) {
		s->path = NULL;
		ret = tap_err_nomem(err);
	} else {
		ret = open_folder(s, err);
	}
	if (ret)
		tap_spool_free(s);
	else
		*out = s;
	return ret;
}

int tap_spool_create_from(const char *file, const struct tap_buf *head, bool sync,
			  struct tap_spool **out, struct tap_err *err)
{
	int ret = create_folder(file, out, err) ?: create_head(*out, head, sync, err);

	if (ret) {
		tap_spool_free(*out);
		*out = NULL;
	}
	return ret;
}

int tap_spool_create(const char *file, const struct tap_head *head, struct tap_spool **out,
		     struct tap_err *err)
{
	struct tap_buf bytes = { 0 };
	int ret = tap_head_write(head, &bytes);

	*out = NULL;
	ret = ret ? tap_err_set(err, ret, "out of memory")
		  : tap_spool_create_from(file, &bytes, true, out, err);
	tap_buf_release(&bytes);
	return ret;
}

static void buffer_free(struct spool_buffer *b)
{
	for (unsigned int i = 0; i < b->nr_cpus; i++) {
		if (b->cpus[i].fd >= 0)
			close(b->cpus[i].fd);
		tap_buf_release(&b->cpus[i].later);
	}
	free(b->cpus);
	free(b->prefix);
	free(b);
}

void tap_spool_free(struct tap_spool *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->nr_buffers; i++)
		buffer_free(s->buffers[i]);
	if (s->head >= 0)
		close(s->head);
	if (s->dir >= 0)
		close(s->dir);
	tap_packer_data_free(s->packer);
	tap_held_free(s->held);
	free(s->from_pipe);
	free(s->path);
	free(s);
}

int tap_spool_compress(struct tap_spool *s, int level, struct tap_err *err)
{
	s->from_pipe = malloc(TAP_PACK_CHUNK_BYTES);
	if (!s->from_pipe || tap_packer_data_new(level, &s->packer))
		return tap_err_nomem(err);
	return 0;
}

/* Return true if the name is safe in a file name: no '/', no control characters, no @forbidden. */
static bool name_ok(const char *s, char forbidden)
{
	for (; *s; s++) {
		if (*s == '/' || *s == forbidden || (unsigned char)*s < 0x20 || *s == 0x7f)
			return false;
	}
	return true;
}

static bool page_size_ok(uint32_t size)
{
	return size >= TAP_SPOOL_MIN_PAGE_SIZE && size <= TAP_SPOOL_MAX_PAGE_SIZE &&
	       !(size & (size - 1));
}

static struct spool_buffer *buffer_new(unsigned int index, const char *name, const char *clock,
				       uint32_t page_size, unsigned int nr_cpus)
{
	struct spool_buffer *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->page_size = page_size;
	b->cpus = calloc(nr_cpus ? nr_cpus : 1, sizeof(*b->cpus));
	if (asprintf(&b->prefix, "%u.%s.%s.%u", index, name, clock, page_size) < 0)
		b->prefix = NULL;
	if (!b->cpus || !b->prefix) {
		buffer_free(b);
		return NULL;
	}
	b->nr_cpus = nr_cpus;
	for (unsigned int i = 0; i < nr_cpus; i++)
		b->cpus[i].fd = -1;
	return b;
}

int tap_spool_add_buffer(struct tap_spool *s, const char *name, const char *clock,
			 uint32_t page_size, unsigned int nr_cpus, struct tap_err *err)
{
	struct spool_buffer *b;

	if (!name_ok(name, 0) || !name_ok(clock, '.') || !*clock ||
	    strlen(name) + strlen(clock) > NAME_MAX - sizeof("999...16777216.cpu65535" ZSTD_SUFFIX))
		return tap_err_set(err, -EINVAL,
				   "cannot store trace buffer '%.300s' with clock '%.300s': the "
				   "names are invalid or too long",
				   name, clock);
	if (!page_size_ok(page_size) || (s->held && page_size > TAP_HELD_SLOT) ||
	    nr_cpus > TAP_SPOOL_MAX_CPUS || s->nr_buffers == TAP_SPOOL_MAX_BUFFERS)
		return tap_err_set(err, -EINVAL,
				   "cannot store trace buffer '%.300s' with %u-byte pages and %u "
				   "CPUs: it exceeds the limits of a recording",
				   name, page_size, nr_cpus);
	b = buffer_new(s->nr_buffers, name, clock, page_size, nr_cpus);
	if (!b)
		return tap_err_nomem(err);
	s->buffers[s->nr_buffers] = b;
	return (int)s->nr_buffers++;
}

static void page_file_name(const struct tap_spool *s, const struct spool_buffer *b,
			   unsigned int cpu, char name[NAME_MAX + 1])
{
	snprintf(name, NAME_MAX + 1, "%s.cpu%u%s", b->prefix, cpu, s->packer ? ZSTD_SUFFIX : "");
}

void tap_spool_remove(struct tap_spool *s)
{
	remove_own_files(s->dir);
	remove_page_files(s->dir);
	rmdir(s->path);
}

/*
 * Create the page file, unless it is open already. A compressed one starts with a u32 for the
 * number of its chunks, which stays 0: they are counted when it is packed.
 */
static int open_page_file(const struct tap_spool *s, const struct spool_buffer *b, unsigned int cpu)
{
	static const char no_number[TAP_CHUNKS_HEADER];
	struct page_file *f = &b->cpus[cpu];
	char name[NAME_MAX + 1];
	int ret = 0;

	if (f->fd >= 0)
		return 0;
	page_file_name(s, b, cpu, name);
	f->fd = create_file(s->dir, name);
	if (f->fd < 0)
		return f->fd;
	if (s->packer)
		ret = tap_write_all(f->fd, no_number, sizeof(no_number));
	f->end = s->packer ? sizeof(no_number) : 0;
	return ret;
}

/*
 * Truncate the file to its last whole sub-buffer or chunk, after a write failed halfway. If that
 * fails too, readers skip the incomplete end.
 */
static void truncate_to_whole(struct tap_spool *s, const struct spool_buffer *b,
			      struct page_file *f)
{
	off_t end = lseek(f->fd, 0, SEEK_CUR);

	if (end < 0)
		return;
	if (!s->packer) {
		s->bytes += (uint64_t)(end - end % b->page_size) - f->end;
		f->end = (uint64_t)(end - end % b->page_size);
	}
	if (f->end != (uint64_t)end && !ftruncate(f->fd, (off_t)f->end))
		lseek(f->fd, (off_t)f->end, SEEK_SET);
}

static int write_chunk(struct tap_spool *s, struct page_file *f, const void *pages, size_t len)
{
	const void *chunk;
	size_t chunk_len;
	int ret = tap_chunk_make(s->packer, pages, len, &chunk, &chunk_len);

	ret = ret ?: tap_write_all(f->fd, chunk, chunk_len);
	if (ret)
		return ret;
	f->end += chunk_len;
	s->folder_bytes += chunk_len;
	s->bytes += len;
	return 0;
}

/* Remove @len bytes from the pipe, so that what follows can still be read. Return: @ret. */
static int discard_pipe(int pipe, size_t len, int ret)
{
	char bytes[4096];

	while (len) {
		ssize_t n = read(pipe, bytes, len < sizeof(bytes) ? len : sizeof(bytes));

		if (n <= 0 && errno != EINTR)
			break;
		len -= n > 0 ? (size_t)n : 0;
	}
	return ret;
}

static int read_pipe(int pipe, unsigned char *to, size_t len)
{
	while (len) {
		ssize_t n = read(pipe, to, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		to += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Append compressed chunks. @pages: NULL: read from @pipe. */
static int append_chunks(struct tap_spool *s, struct page_file *f, const char *pages, int pipe,
			 size_t len)
{
	int ret = 0;

	for (size_t part; !ret && len; len -= part) {
		part = len < TAP_PACK_CHUNK_BYTES ? len : TAP_PACK_CHUNK_BYTES;
		if (!pages)
			ret = read_pipe(pipe, s->from_pipe, part);
		ret = ret ?: write_chunk(s, f, pages ?: (char *)s->from_pipe, part);
		if (pages)
			pages += part;
	}
	return ret && !pages ? discard_pipe(pipe, len, ret) : ret;
}

/*
 * The kernel keeps a pipe locked while splice() writes a file (iter_file_splice_write()). The
 * draining thread, which splices sub-buffers into that pipe, would then wait for a slow disk. Copy
 * through memory instead: the pipe is locked only for the copy.
 */
static int write_pipe(struct tap_spool *s, struct page_file *f, int pipe, size_t len)
{
	if (!s->from_pipe)
		s->from_pipe = malloc(TAP_PACK_CHUNK_BYTES);
	if (!s->from_pipe)
		return discard_pipe(pipe, len, -ENOMEM);
	while (len) {
		ssize_t n = read(pipe, s->from_pipe,
				 len < TAP_PACK_CHUNK_BYTES ? len : TAP_PACK_CHUNK_BYTES);
		int ret;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return discard_pipe(pipe, len, n ? -errno : -EIO);
		len -= (size_t)n;
		ret = tap_write_all(f->fd, s->from_pipe, (size_t)n);
		if (ret)
			return discard_pipe(pipe, len, ret);
	}
	return 0;
}

static int append_pages(struct tap_spool *s, struct page_file *f, const char *pages, int pipe,
			size_t len)
{
	int ret = pages ? tap_write_all(f->fd, pages, len) : write_pipe(s, f, pipe, len);

	if (ret)
		return ret;
	f->end += len;
	s->folder_bytes += len;
	s->bytes += len;
	return 0;
}

/* ---- sub-buffers in memory ---- */

int tap_spool_hold(struct tap_spool *s, uint64_t max_bytes, struct tap_err *err)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	int fd;

	if (max_bytes > memory / 2)
		return tap_err_set(err, -EINVAL,
				   "cannot keep %llu MiB of events in memory: this machine has "
				   "%llu MiB of memory, and at most half of it may be used",
				   (unsigned long long)(max_bytes >> 20),
				   (unsigned long long)(memory >> 20));
	if (tap_held_new(max_bytes ?: memory / 4, &s->held))
		return tap_err_nomem(err);
	fd = create_file(s->dir, TAP_SPOOL_HELD);
	errno = -fd;
	if (fd < 0)
		return tap_err_set(err, fd, "cannot write '%.300s/" TAP_SPOOL_HELD "': %m",
				   s->path);
	close(fd);
	return 0;
}

int tap_spool_set_ring(struct tap_spool *s, struct tap_err *err)
{
	int fd = openat(s->dir, TAP_SPOOL_HELD, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	int ret = fd < 0 ? -errno : tap_write_all(fd, RING, strlen(RING));

	if (fd >= 0)
		close(fd);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write '%.300s/" TAP_SPOOL_HELD "': %m", s->path)
		   : 0;
}

struct tap_held *tap_spool_held(const struct tap_spool *s)
{
	return s->held;
}

struct tap_held_lane *tap_spool_lane(struct tap_spool *s, unsigned int buffer, unsigned int cpu)
{
	struct page_file *f = &s->buffers[buffer]->cpus[cpu];

	if (!f->lane && s->held)
		f->lane = tap_held_add(s->held, buffer, cpu, s->buffers[buffer]->page_size);
	return f->lane;
}

void tap_spool_add(struct tap_spool *s, struct tap_held_lane *lane, size_t len)
{
	tap_held_put(s->held, lane, len);
	s->bytes += len;
}

static int hold_pages(struct tap_spool *s, struct tap_held_lane *lane, const char *pages, int pipe,
		      size_t len)
{
	int ret = lane ? 0 : -ENOMEM;

	for (size_t room; !ret && len; len -= room) {
		unsigned char *to = tap_held_room(s->held, lane, &room);

		room = room < len ? room : len;
		if (pages) {
			memcpy(to, pages, room);
			pages += room;
		} else {
			ret = read_pipe(pipe, to, room);
		}
		if (!ret)
			tap_spool_add(s, lane, room);
	}
	return ret;
}

int tap_spool_list_held(const struct tap_spool *s, int (*order)(const void *, const void *),
			struct tap_spool_file **files, unsigned int *nr)
{
	unsigned int cap = 0;

	*nr = 0;
	for (const struct tap_held_lane *lane = tap_held_lanes(s->held); lane; lane = lane->next) {
		struct tap_spool_file *file;

		if (tap_array_grow(files, *nr, &cap, sizeof(**files)))
			return -ENOMEM;
		file = &(*files)[(*nr)++];
		page_file_name(s, s->buffers[lane->buffer], lane->cpu, file->file);
		tap_spool_parse_name(file->file, &file->name);
	}
	if (*nr)
		qsort(*files, *nr, sizeof(**files), order);
	return 0;
}

static int append_to_file(struct tap_spool *s, const struct spool_buffer *b, struct page_file *f,
			  const void *pages, int pipe, size_t len)
{
	int ret = s->room ? s->room(s->room_ctx, s->folder_bytes + len) : 0;

	if (ret && !pages)
		discard_pipe(pipe, len, ret);
	ret = ret ?: open_page_file(s, b, (unsigned int)(f - b->cpus));
	if (ret)
		return ret;
	ret = s->packer ? append_chunks(s, f, pages, pipe, len)
			: append_pages(s, f, pages, pipe, len);
	if (ret)
		truncate_to_whole(s, b, f);
	return ret;
}

/* Append @len bytes to f->later, from @pages or, if that is NULL, from @pipe. */
static int add_later(struct page_file *f, const void *pages, int pipe, size_t len)
{
	int ret = 0;

	if (!tap_buf_reserve(&f->later, len))
		return f->later.err;
	if (pages)
		memcpy(f->later.data + f->later.len, pages, len);
	else
		ret = read_pipe(pipe, (unsigned char *)f->later.data + f->later.len, len);
	f->later.len += ret ? 0 : len;
	return ret;
}

/*
 * Write the events of f->later before s->cut_ns to the file. The others remain for the next folder.
 */
static int write_earlier(struct tap_spool *s, const struct spool_buffer *b, struct page_file *f)
{
	unsigned char *first = malloc(b->page_size);
	bool is_split;
	size_t whole;
	int ret = 0;

	if (!first)
		return -ENOMEM;
	whole = tap_cut_pages((unsigned char *)f->later.data, f->later.len, b->page_size, s->cut_ns,
			      first, &is_split);
	if (whole && !f->failed)
		ret = append_to_file(s, b, f, f->later.data, -1, whole);
	if (!ret && is_split && !f->failed)
		ret = append_to_file(s, b, f, first, -1, b->page_size);
	free(first);
	f->later.len -= whole;
	memmove(f->later.data, f->later.data + whole, f->later.len);
	return ret;
}

static int append_cut(struct tap_spool *s, const struct spool_buffer *b, struct page_file *f,
		      const void *pages, int pipe, size_t len)
{
	bool is_cut = f->later.len;
	int ret = add_later(f, pages, pipe, len);

	return ret || is_cut ? ret : write_earlier(s, b, f);
}

static int append_data(struct tap_spool *s, unsigned int buffer, unsigned int cpu,
		       const void *pages, int pipe, size_t len, struct tap_err *err)
{
	const struct spool_buffer *b = s->buffers[buffer];
	struct page_file *f = &b->cpus[cpu];
	int ret;

	if (s->cut_ns)
		ret = append_cut(s, b, f, pages, pipe, len);
	else if (f->failed)
		ret = pages ? f->failed : discard_pipe(pipe, len, f->failed);
	else if (s->held)
		ret = hold_pages(s, tap_spool_lane(s, buffer, cpu), pages, pipe, len);
	else
		ret = append_to_file(s, b, f, pages, pipe, len);
	if (!f->failed)
		f->failed = ret;
	if (ret && !s->failed)
		s->failed = ret;
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write '%.300s/%s.cpu%u': %m", s->path, b->prefix,
				 cpu)
		   : 0;
}

int tap_spool_write(struct tap_spool *s, unsigned int buffer, unsigned int cpu, const void *pages,
		    size_t len, struct tap_err *err)
{
	return append_data(s, buffer, cpu, pages, -1, len, err);
}

int tap_spool_splice(struct tap_spool *s, unsigned int buffer, unsigned int cpu, int pipe,
		     size_t len, struct tap_err *err)
{
	return append_data(s, buffer, cpu, NULL, pipe, len, err);
}

/* Descriptors to sync and close. */
struct sync_job {
	int file, dir;
};

static void *run_sync(void *arg)
{
	struct sync_job *job = arg;

	fsync(job->file); /* errors are ignored: nothing depends on this */
	fsync(job->dir);
	close(job->file);
	close(job->dir);
	free(job);
	return NULL;
}

/*
 * Sync a replaced file in a thread, if one can be started: it may take long, and rings fill up
 * meanwhile.
 */
static void sync_beside(const struct tap_spool *s, int file)
{
	struct sync_job *job = s->is_for_kills ? NULL : malloc(sizeof(*job));
	pthread_t thread;

	if (!job)
		return;
	*job = (struct sync_job){ fcntl(file, F_DUPFD_CLOEXEC, 0),
				  fcntl(s->dir, F_DUPFD_CLOEXEC, 0) };
	if (pthread_create(&thread, NULL, run_sync, job))
		run_sync(job);
	else
		pthread_detach(thread);
}

int tap_spool_set_meta(struct tap_spool *s, const char *json, bool sync, struct tap_err *err)
{
	struct tap_buf text = { .max = TAP_META_MAX_BYTES };
	int fd, ret;

	tap_meta_seal(json, &text);
	fd = text.err ?: replace_file(s, "meta.json", text.data, text.len, sync);
	ret = fd < 0 ? fd : sync && fsync(s->dir) ? -errno : 0;
	if (!ret && !sync)
		sync_beside(s, fd);
	if (fd >= 0)
		close(fd);
	tap_buf_release(&text);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write '%.300s/meta.json': %m", s->path) : 0;
}

int tap_spool_set_head(struct tap_spool *s, const void *head, size_t len, struct tap_err *err)
{
	int fd = replace_file(s, "head.dat", head, len, false);

	errno = -fd;
	if (fd < 0)
		return tap_err_set(err, fd, "cannot write '%.300s/head.dat': %m", s->path);
	if (s->head >= 0)
		close(s->head);
	s->head = fd;
	sync_beside(s, s->head);
	/* failure is harmless: it is only a copy */
	fd = replace_file(s, TAP_SPOOL_HEAD_COPY, head, len, false);
	if (fd < 0)
		return 0;
	sync_beside(s, fd);
	close(fd);
	return 0;
}

/* ---- sub-buffers from memory, in another folder ---- */

static int read_head(const struct tap_spool *s, struct tap_buf *out)
{
	int fd = openat(s->dir, "head.dat", O_RDONLY | O_NOFOLLOW | O_CLOEXEC), ret = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		ret = -errno;
	else if (!tap_buf_reserve(out, (size_t)st.st_size))
		ret = out->err;
	else
		ret = tap_pread_all(fd, out->data, (size_t)st.st_size, 0);
	out->len = ret ? 0 : (size_t)st.st_size;
	if (fd >= 0)
		close(fd);
	errno = -ret;
	return ret;
}

int tap_spool_copy_head(struct tap_spool *s, const struct tap_spool *from, struct tap_err *err)
{
	struct tap_buf head = { 0 };
	int ret = read_head(from, &head);

	ret = ret ? tap_err_set(err, ret, "cannot read '%.300s/head.dat': %m", from->path)
		  : tap_spool_set_head(s, head.data, head.len, err);
	tap_buf_release(&head);
	return ret;
}

int tap_spool_create_like(const char *file, const struct tap_spool *from, const char *meta,
			  struct tap_spool **out, struct tap_err *err)
{
	int ret = create_folder(file, out, err);

	if (ret)
		return ret;
	(*out)->is_for_kills = true;
	ret = tap_spool_copy_head(*out, from, err) ?: tap_spool_set_meta(*out, meta, false, err);
	if (ret) {
		tap_spool_remove(*out);
		tap_spool_free(*out);
		*out = NULL;
	}
	return ret;
}

/*
 * Open a page file. It is closed after each write, as there may be many CPUs. Return: a descriptor;
 * -errno.
 */
static int open_lane_file(const struct tap_spool *s, const char *name)
{
	int fd = openat(s->dir, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 ? fd : errno == ENOENT ? create_file(s->dir, name) : -errno;
}

int tap_spool_write_lane(struct tap_spool *s, const struct tap_spool *from,
			 const struct tap_held_lane *lane, const void *pages, size_t len,
			 uint64_t at, struct tap_err *err)
{
	char name[NAME_MAX + 1];
	int fd, ret;

	page_file_name(from, from->buffers[lane->buffer], lane->cpu, name);
	fd = open_lane_file(s, name);
	ret = fd < 0 ? fd : tap_pwrite_all(fd, pages, len, at);
	if (fd >= 0)
		close(fd);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write '%.300s/%s': %m", s->path, name) : 0;
}

/* ---- continuing in another folder ---- */

void tap_spool_set_room(struct tap_spool *s, int (*room)(void *ctx, uint64_t bytes), void *ctx)
{
	s->room = room;
	s->room_ctx = ctx;
}

void tap_spool_cut(struct tap_spool *s, uint64_t cut_ns)
{
	s->cut_ns = cut_ns;
}

int tap_spool_uncut(struct tap_spool *s, struct tap_err *err)
{
	int ret = 0;

	s->cut_ns = 0;
	for (unsigned int i = 0; i < s->nr_buffers; i++)
		for (unsigned int cpu = 0; cpu < s->buffers[i]->nr_cpus; cpu++) {
			struct page_file *f = &s->buffers[i]->cpus[cpu];
			int one = f->later.len ? append_data(s, i, cpu, f->later.data, -1,
							     f->later.len, ret ? NULL : err)
					       : 0;

			ret = ret ?: one;
			tap_buf_release(&f->later);
		}
	return ret;
}

static void close_page_files(struct tap_spool *s)
{
	for (unsigned int i = 0; i < s->nr_buffers; i++)
		for (unsigned int cpu = 0; cpu < s->buffers[i]->nr_cpus; cpu++) {
			struct page_file *f = &s->buffers[i]->cpus[cpu];

			if (f->fd >= 0)
				close(f->fd);
			f->fd = -1;
			f->failed = 0;
			f->end = 0;
		}
}

void tap_spool_move(struct tap_spool *s, struct tap_spool *next)
{
	char *path = s->path;
	int dir = s->dir, head = s->head;

	close_page_files(s);
	s->path = next->path;
	s->dir = next->dir;
	s->head = next->head;
	next->path = path;
	next->dir = dir;
	next->head = head;
	next->failed = s->failed;
	s->failed = 0;
	s->folder_bytes = 0;
}

int tap_spool_failed(const struct tap_spool *s)
{
	return s->failed;
}

uint64_t tap_spool_folder_bytes(const struct tap_spool *s)
{
	return s->folder_bytes;
}

int tap_spool_remove_folder(const char *path, struct tap_err *err)
{
	int lock = tap_spool_lock(path, err),
	    dir = lock < 0 ? lock : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct tap_spool_file *files = NULL;
	unsigned int nr = 0;

	if (lock < 0)
		return lock;
	/* the head last: while it exists, the folder can be locked and removed */
	tap_spool_list(dir, tap_spool_by_buffer, &files, &nr);
	for (unsigned int i = 0; i < nr; i++)
		unlinkat(dir, files[i].file, 0);
	free(files);
	remove_own_files(dir);
	close(dir);
	close(lock);
	return rmdir(path) ? tap_err_set(err, -errno, "cannot remove the folder '%.300s': %m", path)
			   : 0;
}

int tap_head_change(const struct tap_buf *head, const char *meta, const char *cmdlines,
		    struct tap_buf *out, struct tap_err *err)
{
	struct tap_dat_front front;
	size_t more_at, sums_at = 0;
	int ret = tap_dat_front_parse(head->data, head->len, &front, err);

	if (ret)
		return ret;
	tap_dat_front_set_meta(&front, meta, strlen(meta));
	tap_dat_front_set_cmdlines(&front, cmdlines);
	tap_dat_front_write(&front, 0, 0, out, &more_at, &sums_at);
	tap_sums_seal(out, sums_at);
	tap_dat_front_release(&front);
	return out->err ? tap_err_set(err, out->err, "out of memory") : 0;
}

uint64_t tap_spool_bytes(const struct tap_spool *s)
{
	return s->bytes;
}

const char *tap_spool_path(const struct tap_spool *s)
{
	return s->path;
}

/*
 * Cut ".123" off the end of @s, or ".abc123" if @word is "abc". Return: false if @s does not end
 * like that, or the number is above @max.
 */
static bool cut_number(char *s, const char *word, uint32_t max, uint32_t *out)
{
	char *dot = strrchr(s, '.');
	const char *digits;
	uint64_t v;

	if (!dot || strncmp(dot + 1, word, strlen(word)))
		return false;
	digits = dot + 1 + strlen(word);
	if ((*digits == '0' && digits[1]) || tap_text_take_digits(&digits, NULL, 10, &v) ||
	    *digits || v > max)
		return false;
	*dot = '\0';
	*out = (uint32_t)v;
	return true;
}

bool tap_spool_parse_name(const char *file, struct tap_spool_name *out)
{
	size_t suffix = strlen(ZSTD_SUFFIX), len = strlen(file);
	char rest[256], *name, *clock;
	uint32_t n;

	*out = (struct tap_spool_name){ .zstd = len > suffix &&
						!strcmp(file + len - suffix, ZSTD_SUFFIX) };
	len -= out->zstd ? suffix : 0;
	if (snprintf(rest, sizeof(rest), ".%.*s", (int)len, file) >= (int)sizeof(rest) ||
	    !cut_number(rest, "cpu", TAP_SPOOL_MAX_CPUS - 1, &n))
		return false;
	out->cpu = n;
	if (!cut_number(rest, "", TAP_SPOOL_MAX_PAGE_SIZE, &out->page_size) ||
	    !page_size_ok(out->page_size))
		return false;
	clock = strrchr(rest, '.');
	if (!clock || clock == rest || !clock[1] || !name_ok(rest, 0))
		return false;
	strcpy(out->clock, clock + 1);
	*clock = '\0';
	/* the rest is ".<n>.<name>" */
	name = strchr(rest + 1, '.');
	if (!name)
		return false;
	strcpy(out->name, name + 1);
	*name = '\0';
	if (!cut_number(rest, "", TAP_SPOOL_MAX_BUFFERS - 1, &n))
		return false;
	out->buffer = n;
	return true;
}

int tap_spool_by_buffer(const void *a, const void *b)
{
	const struct tap_spool_name *x = &((const struct tap_spool_file *)a)->name;
	const struct tap_spool_name *y = &((const struct tap_spool_file *)b)->name;

	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

int tap_spool_list(int dir, int (*order)(const void *, const void *), struct tap_spool_file **files,
		   unsigned int *nr)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct tap_spool_name name;
	unsigned int cap = 0;
	struct dirent *e;

	*nr = 0;
	if (!d) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while ((e = readdir(d))) {
		if (!tap_spool_parse_name(e->d_name, &name))
			/* not a page file: head.dat, meta.json, an incomplete packed file */
			continue;
		ret = tap_array_grow(files, *nr, &cap, sizeof(**files));
		if (ret)
			break;
		(*files)[*nr].name = name;
		strcpy((*files)[(*nr)++].file, e->d_name);
	}
	closedir(d);
	if (*nr)
		qsort(*files, *nr, sizeof(**files), order);
	return ret;
}
