// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "file/dat_file.h"
#include "file/held.h"
#include "file/spool.h"

#define BLOCK_BYTES ((size_t)64 << 10) /* bytes read at once */
/*
 * Change times of a folder have the resolution of a tick: two changes within one tick look the
 * same.
 */
#define TICKS_NS 100000000

struct page_file {
	struct page_file *next;
	struct tap_spool_name name;
	int fd; /* -1: sub-buffers are in memory, in .lane */
	struct tap_held_lane *lane;
	bool was_there; /* existed when following started */
	uint64_t end; /* whole sub-buffers noted so far, in bytes */
};

/* Reading state of one page file. */
struct lane {
	struct page_file *file;
	struct tap_stream *stream; /* owned */
	uint64_t at; /* position of the next sub-buffer */
	unsigned char *block; /* owned; unused if sub-buffers are read in place */
	size_t room;
	bool has_begun;
};

struct tap_follow {
	char *path;
	int dir;
	struct tap_held *held; /* NULL: sub-buffers are in files */
	bool in_place;
	struct tap_page_abi abi; /* .page_size is set per stream */

	struct page_file *files, *last;
	struct stat dir_noted, head_noted;
	unsigned int nr_notes, nr_heads;
	struct tap_reader *r; /* has the formats and the decoder, but no streams */
	unsigned int notes_seen, heads_seen;
	struct page_file *last_seen;
	struct lane *lanes; /* sorted by CPU, then by buffer */
	unsigned int nr_lanes, cap_lanes;
	struct tap_merge merge;
	struct lane *current; /* lane of the next event; NULL: no events are left */
	uint64_t until; /* .current stays current for events up to this time */
	uint64_t told_ns; /* time of the last event; late events are raised to it */
	struct tap_event *batch[TAP_NR_BATCH];
};

static int fail_nomem(struct tap_err *err)
{
	return tap_err_nomem(err);
}

/* ---- noting what exists ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Note a page file's present size. Return: 0; -errno. */
static int note_end(struct page_file *file)
{
	off_t size = file->lane ? (off_t)file->lane->end : lseek(file->fd, 0, SEEK_END);

	if (size < 0)
		return -errno;
	file->end = (uint64_t)(size - size % file->name.page_size);
	return 0;
}

static bool is_known(const struct tap_follow *f, const struct tap_spool_name *name)
{
	for (const struct page_file *file = f->files; file; file = file->next)
		if (file->name.buffer == name->buffer && file->name.cpu == name->cpu)
			return true;
	return false;
}

static int add_file(struct tap_follow *f, const struct page_file *found, struct tap_err *err)
{
	struct page_file *file = malloc(sizeof(*file));

	if (!file)
		return fail_nomem(err);
	*file = *found;
	*(f->last ? &f->last->next : &f->files) = file;
	f->last = file;
	return 0;
}

static int open_file(struct tap_follow *f, const struct tap_spool_file *found, bool was_there,
		     struct tap_err *err)
{
	struct page_file file = { .name = found->name, .was_there = was_there };
	int ret;

	if (is_known(f, &found->name))
		return 0;
	if (found->name.zstd)
		return tap_err_set(err, -EOPNOTSUPP,
				   "cannot follow the running recording '%.300s': its data files "
				   "are compressed",
				   f->path);
	file.fd = openat(f->dir, found->file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file.fd < 0)
		return tap_err_set(err, -errno, "cannot open '%.256s' in '%.300s': %m", found->file,
				   f->path);
	ret = add_file(f, &file, err);
	if (ret)
		close(file.fd);
	return ret;
}

static int list_files(struct tap_follow *f, bool were_there, struct tap_err *err)
{
	struct tap_spool_file *found = NULL;
	unsigned int nr;
	int ret = tap_spool_list(f->dir, tap_spool_by_buffer, &found, &nr);

	if (ret)
		tap_err_set(err, ret, "cannot list '%.300s': %s", f->path, strerror(-ret));
	for (unsigned int i = 0; !ret && i < nr; i++)
		ret = open_file(f, &found[i], were_there, err);
	free(found);
	return ret;
}

/* Add lanes that are new since the last call. */
static int list_lanes(struct tap_follow *f, bool were_there, struct tap_err *err)
{
	struct tap_held_lane *lane = f->last ? f->last->lane->next : tap_held_lanes(f->held);
	int ret = 0;

	for (; lane && !ret; lane = lane->next)
		ret = add_file(f,
			       &(struct page_file){
				       .name = { .buffer = lane->buffer,
						 .cpu = lane->cpu,
						 .page_size = lane->page_size },
				       .fd = -1,
				       .lane = lane,
				       .was_there = were_there,
			       },
			       err);
	return ret;
}

/* Return true if the folder may have changed since it was listed. */
static bool is_new_dir(struct tap_follow *f, const struct stat *now)
{
	int64_t changed_ns = (int64_t)now->st_mtim.tv_sec * 1000000000 + now->st_mtim.tv_nsec;
	bool is_new = !is_same(now, &f->dir_noted);

	f->dir_noted = *now;
	if ((int64_t)tap_clock_ns(CLOCK_REALTIME_COARSE) - changed_ns < TICKS_NS)
		f->dir_noted.st_ino = 0; /* another change in the same tick would not be noticed */
	return is_new;
}

int tap_follow_note(struct tap_follow *f, struct tap_err *err)
{
	struct stat st;
	int ret = 0;

	if (fstat(f->dir, &st))
		return tap_err_set(err, -errno, "cannot stat '%.300s': %m", f->path);
	if (is_new_dir(f, &st)) {
		if (fstatat(f->dir, "head.dat", &st, AT_SYMLINK_NOFOLLOW))
			return tap_err_set(err, -errno, "cannot stat '%.300s/head.dat': %m",
					   f->path);
		if (!is_same(&st, &f->head_noted))
			f->nr_heads++;
		f->head_noted = st;
		ret = f->held ? 0 : list_files(f, false, err);
	}
	if (f->held && !ret)
		ret = list_lanes(f, false, err);
	for (struct page_file *file = f->files; file && !ret; file = file->next) {
		ret = note_end(file);
		if (ret)
			tap_err_set(err, ret, "cannot read '%.300s': %s", f->path, strerror(-ret));
	}
	f->nr_notes++;
	return ret;
}

/* ---- reading ---- */

/* Read the head, and add formats that are new: a head always has all formats of its predecessor. */
static int read_head(struct tap_follow *f, struct tap_err *err)
{
	const struct tap_mapping *head;
	int fd = openat(f->dir, "head.dat", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), ret;

	if (fd < 0)
		return tap_err_set(err, -errno, "cannot open '%.300s/head.dat': %m", f->path);
	f->r->path = f->path;
	ret = tap_dat_add_map(f->r, fd, &head);
	close(fd);
	if (ret)
		return tap_err_set(err, ret, "cannot map '%.300s/head.dat': %s", f->path,
				   strerror(-ret));
	ret = tap_dat_read_file(f->r, err);
	tap_dat_drop_maps(f->r);
	if (!ret && f->r->decoder.mark)
		tap_follow_mark(f, f->r->decoder.mark, f->r->decoder.mark_ctx);
	return ret;
}

/* Read the head if it was replaced. */
static int take_head(struct tap_follow *f, struct tap_err *err)
{
	unsigned int heads = f->nr_heads;

	if (heads == f->heads_seen)
		return 0;
	f->heads_seen = heads;
	return read_head(f, err);
}

/*
 * Read the next sub-buffers, at most @len bytes. If buffered ones were freed before they could be
 * read, an empty sub-buffer takes their place, which the stream reports as a loss. Return: the
 * number of bytes; 0: none, but @l->at has changed; -errno.
 */
static ssize_t read_pages(struct tap_follow *f, struct lane *l, size_t len,
			  const unsigned char **pages, struct tap_err *err)
{
	const struct page_file *file = l->file;
	const unsigned char *held;
	size_t nr = 0;

	*pages = l->block;
	if (f->in_place && (held = tap_held_at(f->held, file->lane, l->at, &nr)) != NULL) {
		*pages = held;
		nr = nr < len ? nr : len;
	}

	if (!file->lane)
		nr = tap_pread_all(file->fd, l->block, len, (off_t)l->at) ? 0 : len;
	else if (!f->in_place)
		nr = tap_held_read(f->held, file->lane, l->at, l->block, len);
	l->at += nr;
	if (nr)
		return (ssize_t)nr;
	if (!file->lane)
		return tap_err_set(err, -EIO,
				   "cannot read a data file of the running recording '%.300s'",
				   f->path);
	l->at = file->lane->begin;
	if (!l->has_begun && file->was_there)
		return 0;
	memset(l->block, 0, file->name.page_size);
	return file->name.page_size;
}

/*
 * Give the stream the next data that was noted, as much as fits. Return: 1; 0: nothing is left;
 * -errno.
 */
static int feed_stream(struct tap_follow *f, struct lane *l, struct tap_err *err)
{
	uint64_t end = l->file->end;
	const unsigned char *pages;
	ssize_t len = 0;
	int ret = take_head(f, err);

	if (f->in_place)
		l->file->lane->read_to = l->at;
	while (!ret && !len && l->at < end) {
		len = read_pages(f, l, end - l->at < l->room ? (size_t)(end - l->at) : l->room,
				 &pages, err);
		ret = len < 0 ? (int)len : 0;
	}
	if (ret || !len)
		return ret;
	tap_stream_feed(l->stream, pages, pages + len);
	l->has_begun = true;
	return 1;
}

static struct tap_merge_key key_of(struct lane *l)
{
	const struct tap_stream *s = l->stream;

	if (s->at == s->end)
		return (struct tap_merge_key){ UINT64_MAX, NULL };
	return (struct tap_merge_key){ s->at->ts_ns, l };
}

static struct tap_merge_key first_key(void *lanes, unsigned int i)
{
	return key_of((struct lane *)lanes + i);
}

/* Decode up to the next event, or to the end of the noted data. Return: 0; -errno. */
static int refill_lane(struct tap_follow *f, struct lane *l, struct tap_err *err)
{
	struct tap_stream *s = l->stream;
	int ret;

	do {
		ret = tap_stream_refill(&f->r->decoder, s, err);
		if (ret || s->at != s->end)
			return ret;
		ret = feed_stream(f, l, err);
	} while (ret > 0);
	return ret;
}

static int by_cpu(const void *a, const void *b)
{
	const struct tap_spool_name *x = &((const struct lane *)a)->file->name;
	const struct tap_spool_name *y = &((const struct lane *)b)->file->name;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

static int add_lane(struct tap_follow *f, struct page_file *file, struct tap_err *err)
{
	const uint32_t page_size = file->name.page_size;
	struct lane l = { .file = file };

	if (f->in_place)
		file->lane->read_to = file->lane->begin;

	if (tap_array_grow(&f->lanes, f->nr_lanes, &f->cap_lanes, sizeof(*f->lanes)))
		return fail_nomem(err);
	l.room = page_size > BLOCK_BYTES ? page_size : BLOCK_BYTES / page_size * page_size;
	l.block = malloc(l.room);
	l.stream = calloc(1, sizeof(*l.stream));
	f->lanes[f->nr_lanes++] = l;
	if (!l.block || !l.stream)
		return fail_nomem(err);
	*l.stream = (struct tap_stream){
		.cpu = (int)file->name.cpu,
		.buffer = file->name.buffer,
		.file.fd = -1,
		.grows = true,
		.abi = f->abi,
	};
	l.stream->abi.page_size = page_size;
	tap_stream_start(&f->r->decoder, l.stream);
	return 0;
}

/* Add lanes for page files that are new since the last note. */
static int add_lanes(struct tap_follow *f, struct tap_err *err)
{
	struct page_file *file = f->last_seen ? f->last_seen->next : f->files;
	unsigned int nr = f->nr_lanes;
	int ret = 0;

	for (; file && !ret; file = file->next) {
		ret = add_lane(f, file, err);
		f->last_seen = file;
	}
	if (ret || nr == f->nr_lanes)
		return ret;
	qsort(f->lanes, f->nr_lanes, sizeof(*f->lanes), by_cpu);
	free(f->merge.losers);
	f->merge.nr = f->nr_lanes;
	f->merge.losers = calloc(f->nr_lanes + 1, sizeof(*f->merge.losers));
	nr = 4 * TAP_NR_READY / (f->nr_lanes + 1); /* as nr_ready() in reader.c */
	f->r->decoder.nr_ready = nr < TAP_NR_READY / 4 ? TAP_NR_READY / 4
				 : nr < TAP_NR_READY   ? nr
						       : TAP_NR_READY;
	for (unsigned int i = 0; i < f->nr_lanes; i++)
		f->lanes[i].stream->parent = (f->nr_lanes + i) / 2;
	return f->merge.losers ? 0 : fail_nomem(err);
}

/* After a new note, continue streams that had reached their end. */
static int take_notes(struct tap_follow *f, struct tap_err *err)
{
	unsigned int notes = f->nr_notes;
	int ret;

	if (notes == f->notes_seen)
		return 0;
	ret = take_head(f, err) ?: add_lanes(f, err);
	for (unsigned int i = 0; i < f->nr_lanes && !ret; i++)
		if (f->lanes[i].stream->at == f->lanes[i].stream->end)
			ret = refill_lane(f, &f->lanes[i], err);
	if (ret)
		return ret;
	f->notes_seen = notes;
	f->current = f->nr_lanes ? tap_merge_play(&f->merge, 1, first_key, f->lanes).stream : NULL;
	f->until = 0;
	return 0;
}

/* Select the next lane after @l, the current one, has moved on to its next event or its end. */
static void next_turn(struct tap_follow *f, struct lane *l)
{
	struct tap_merge_key key = tap_merge_replay(&f->merge, l->stream->parent, key_of(l));

	f->current = key.stream;
	f->until = key.stream == l ? tap_merge_until(&f->merge, l->stream->parent, l) : 0;
}

/* Take events until a file must be read, or a loss is next. Return: their number. */
static int take_events(struct tap_follow *f, uint64_t until_ns)
{
	struct tap_event **to = f->batch, **full = to + TAP_NR_BATCH;

	for (;;) {
		struct lane *l = f->current;
		struct tap_event *at = l->stream->at, *end = l->stream->end;
		uint64_t until = f->until < until_ns ? f->until : until_ns;

		do {
			__builtin_prefetch(at->data);
			if (__builtin_expect(at->ts_ns < f->told_ns, 0))
				at->ts_ns = f->told_ns;
			f->told_ns = at->ts_ns;
			*to++ = at++;
		} while (at < end && to < full && at->ts_ns <= until);
		l->stream->at = at;
		if (at == end)
			break;
		next_turn(f, l);
		if (to == full || f->current->stream->at->ts_ns > until_ns ||
		    !f->current->stream->at->fmt)
			break;
	}
	return (int)(to - f->batch);
}

/* Take a loss, always alone, as tap_reader_batch() does. */
static int take_loss(struct tap_follow *f)
{
	struct tap_stream *s = f->current->stream;

	tap_stream_get_loss(&f->r->decoder, s);
	s->at++;
	if (s->loss.ts_ns < f->told_ns)
		s->loss.ts_ns = f->told_ns;
	f->batch[0] = &s->loss;
	return 1;
}

int tap_follow_batch(struct tap_follow *f, uint64_t until_ns,
		     const struct tap_event *const **events, struct tap_err *err)
{
	int ret = take_notes(f, err);

	*events = (const struct tap_event *const *)f->batch;
	while (!ret && f->current && f->current->stream->at == f->current->stream->end) {
		struct lane *l = f->current;

		ret = refill_lane(f, l, err);
		next_turn(f, l);
	}
	if (ret || !f->current || f->current->stream->at->ts_ns > until_ns)
		return ret;
	return f->current->stream->at->fmt ? take_events(f, until_ns) : take_loss(f);
}

/* ---- opening and closing ---- */

static int begin_follow(struct tap_follow *f, struct tap_err *err)
{
	int ret;

	f->r->decoder.to = UINT64_MAX;
	f->r->decoder.span.first_ns = UINT64_MAX;
	f->dir = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->dir < 0)
		return tap_err_set(err, -errno, "cannot open '%.300s': %m", f->path);
	if (fstatat(f->dir, "head.dat", &f->head_noted, AT_SYMLINK_NOFOLLOW))
		return tap_err_set(err, -errno, "cannot stat '%.300s/head.dat': %m", f->path);
	ret = read_head(f, err);
	if (ret)
		return ret;
	f->abi = (struct tap_page_abi){
		.data_offset = f->r->data_offset,
		.commit_size = f->r->commit_size,
		.big_endian = f->r->info.big_endian,
	};
	return f->held ? list_lanes(f, true, err) : list_files(f, true, err);
}

int tap_follow_open(const char *spool_path, struct tap_held *held, bool in_place,
		    struct tap_follow **out, struct tap_err *err)
{
	struct tap_follow *f = calloc(1, sizeof(*f));
	int ret = -ENOMEM;

	*out = NULL;
	if (!f)
		return fail_nomem(err);
	f->dir = -1;
	f->held = held;
	f->in_place = in_place;
	f->path = strdup(spool_path);
	f->r = calloc(1, sizeof(*f->r));
	if (f->r)
		f->r->decoder.slots = calloc(TAP_NR_SLOTS, sizeof(*f->r->decoder.slots));
	if (f->path && f->r && f->r->decoder.slots)
		ret = begin_follow(f, err);
	else
		fail_nomem(err);
	if (!ret) {
		*out = f;
		f = NULL;
	}
	tap_follow_free(f);
	return ret;
}

void tap_follow_free(struct tap_follow *f)
{
	if (!f)
		return;
	for (unsigned int i = 0; i < f->nr_lanes; i++) {
		free(f->lanes[i].stream);
		free(f->lanes[i].block);
	}
	for (struct page_file *file = f->files, *next; file; file = next) {
		next = file->next;
		if (file->fd >= 0)
			close(file->fd);
		free(file);
	}
	tap_dat_free(f->r);
	if (f->dir >= 0)
		close(f->dir);
	free(f->merge.losers);
	free(f->lanes);
	free(f->path);
	free(f);
}

void tap_follow_mark(struct tap_follow *f, uint16_t (*mark)(void *, const struct tap_format *),
		     void *ctx)
{
	tap_decoder_mark(&f->r->decoder, f->r->formats, f->r->nr_formats, mark, ctx);
}

const struct tap_format *const *tap_follow_formats(const struct tap_follow *f, unsigned int *nr)
{
	*nr = f->r->nr_formats;
	return (const struct tap_format *const *)f->r->formats;
}

const char *tap_follow_meta(const struct tap_follow *f)
{
	return f->r->meta ? f->r->meta : "";
}
