// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/format.h"
#include "file/dat_file.h"
#include "file/foreign.h"
#include "file/group.h"
#include "file/inflate.h"
#include "file/join.h"
#include "file/meta.h"
#include "file/page_cost.h"
#include "file/perf_file.h"
#include "file/perf_folder.h"
#include "file/piped.h"
#include "file/raw_folder.h"

/* Read the first mapping as any of the formats. */
static int read_map(struct tap_reader *r, struct tap_err *err)
{
	const struct tap_mapping *map = &r->maps[0];
	int ret, fd;

	if (!tap_perf_is(map->data, map->len)) {
		ret = tap_foreign_open(r, err);
		return ret <= 0 ? ret : tap_dat_read_file(r, err);
	}
	fd = tap_page_copy_pays(map->data, map->len, map->fd) ? map->fd : -1;
	return tap_perf_open(r, map->data, map->len, fd, err) ?: tap_perf_note_folder(r->perf, err);
}

/* Decompress the first mapping, and read it. @name: the compression. */
static int read_compressed(struct tap_reader *r, const char *name, struct tap_err *err)
{
	bool is_cut;
	struct tap_err why;
	int ret = tap_inflate(r, &is_cut, err);

	if (ret)
		return ret;
	if (tap_inflate_name(r->maps[0].data, r->maps[0].len))
		return tap_err_set(err, -ENOTSUP,
				   "'%.300s' is compressed twice: decompress it with %s first",
				   r->path, name);
	ret = read_map(r, &why);
	if (ret && is_cut)
		return tap_err_set(err, ret,
				   "'%.300s' is cut: its %s data ends early, and cannot be read "
				   "without its end: %.300s",
				   r->path, name, why.text);
	if (ret)
		return tap_err_set(err, ret, "%s", why.text);
	if (is_cut)
		ret = tap_dat_note(r, err, "'%.300s' is cut: its %s data ends early", r->path,
				   name);
	return ret ?: tap_dat_set_text(&r->compression, name, strlen(name), err);
}

static int read_path(struct tap_reader *r, int fd, struct tap_err *err)
{
	const struct tap_mapping *map;
	const char *compression;
	struct stat st;
	int ret;

	if (fstat(fd, &st))
		return tap_err_set(err, -errno, "cannot stat '%.300s': %m", r->path);
	if (S_ISDIR(st.st_mode)) {
		ret = tap_perf_open_folder(r, fd, err);
		if (ret > 0)
			ret = tap_foreign_open_folder(r, fd, err);
		if (ret > 0)
			ret = tap_raw_open_folder(r, fd, err);
		return ret <= 0 ? ret : tap_dat_read_spool(r, fd, err);
	}
	if (!S_ISREG(st.st_mode) || lseek(fd, 0, SEEK_CUR) > 0) {
		ret = tap_piped_map(r, fd, err);
	} else {
		ret = tap_dat_add_map(r, fd, &map);
		if (ret)
			tap_err_set(err, ret, "cannot map '%.300s': %s", r->path, strerror(-ret));
	}
	if (ret)
		return ret;
	compression = tap_inflate_name(r->maps[0].data, r->maps[0].len);
	return compression ? read_compressed(r, compression, err) : read_map(r, err);
}

/*
 * qsort() order of streams: by CPU, then by buffer. Events with equal times are returned in this
 * order.
 */
static int compare_streams(const void *a, const void *b)
{
	const struct tap_stream *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

/*
 * Return the name of the clock if it does not count ns, as some of trace_clocks[] in
 * kernel/trace/trace.c; NULL if it does.
 */
static const char *find_ticks(const struct tap_reader *r)
{
	static const char *const ticks[] = { "counter", "uptime", "x86-tsc", "ppc-tb" };

	for (unsigned int i = 0; !r->tsc.mult && i < r->info.nr_buffers; i++)
		for (size_t k = 0; k < sizeof(ticks) / sizeof(*ticks); k++)
			if (!strcmp(r->buffers[i].clock, ticks[k]))
				return ticks[k];
	return NULL;
}

/*
 * Return true if streams should copy parts of their files. Always so if a file has holes, which are
 * only detected when copying. Compressed data and perf.data have no sub-buffers to copy.
 */
static bool copies_pages(const struct tap_reader *r)
{
	const struct tap_mapping *largest = r->maps;
	unsigned int with_pages = 0;

	while (with_pages < r->nr_streams && r->streams[with_pages].file.fd < 0)
		with_pages++;
	if (with_pages == r->nr_streams)
		return false;
	for (unsigned int i = 0; i < r->nr_maps; i++) {
		if (r->maps[i].has_holes)
			return true;
		if (r->maps[i].len > largest->len)
			largest = &r->maps[i];
	}
	return tap_page_copy_pays(largest->data, largest->len, largest->fd);
}

/* Return true if one of the first @nr streams belongs to this CPU and buffer. */
static bool has_stream(const struct tap_reader *r, unsigned int nr, unsigned int buffer,
		       unsigned int cpu)
{
	for (unsigned int i = 0; i < nr; i++)
		if (r->streams[i].buffer == buffer && r->streams[i].cpu == (int)cpu)
			return true;
	return false;
}

/*
 * The recorder did not finish the recording, so each CPU is known only up to its last event. For a
 * CPU without a page file nothing is known: add a stream without sub-buffers for it. Marks do not
 * belong to a CPU.
 */
static int open_ends(struct tap_reader *r, struct tap_err *err)
{
	unsigned int nr = r->nr_streams;

	for (unsigned int buffer = 0; buffer < r->info.nr_buffers; buffer++) {
		unsigned int with_data = r->buffers[buffer].nr_cpus;

		for (unsigned int cpu = 0; !tap_dat_is_of_marks(r, buffer) && cpu < r->info.nr_cpus;
		     cpu++) {
			struct tap_stream *s;
			int ret = has_stream(r, nr, buffer, cpu)
					  ? 0
					  : tap_dat_add_stream(r, buffer, cpu, &s, err);

			if (ret)
				return ret;
		}
		r->buffers[buffer].nr_cpus = with_data;
	}
	for (unsigned int i = 0; i < r->nr_streams; i++) {
		struct tap_stream *s = &r->streams[i];

		(s->parts ? &s->parts[s->nr_parts - 1].whole : &s->whole)->open_end =
			!tap_dat_is_of_marks(r, s->buffer);
	}
	return 0;
}

/*
 * Sub-buffers shared by several CPUs would be decoded once for each. No recorder makes such files,
 * so the CPUs' data together must not be larger than the files.
 */
static int check_sharing(const struct tap_reader *r, struct tap_err *err)
{
	uint64_t left = 0;

	for (unsigned int i = 0; i < r->nr_maps; i++)
		left += r->maps[i].len;
	for (unsigned int i = 0; i < r->nr_streams; i++) {
		const struct tap_span *s = &r->streams[i].whole;
		uint64_t size = s->nr_chunks ? (uint64_t)(s->chunks.end - s->chunks.at)
					     : (uint64_t)(s->pages_end - s->page);

		if (size > left)
			return tap_dat_bad(r, err, "several CPUs share their data");
		left -= size;
	}
	return 0;
}

static int complete_reader(struct tap_reader *r, struct tap_err *err)
{
	int ret = r->meta && tap_meta_is_incomplete(r->meta) ? open_ends(r, err) : 0;

	if (ret)
		return ret;
	if (r->nr_streams)
		qsort(r->streams, r->nr_streams, sizeof(*r->streams), compare_streams);
	if (copies_pages(r))
		tap_decoder_make_room(&r->decoder, r->streams, r->nr_streams);
	r->merge.nr = r->nr_streams;
	r->merge.losers = calloc(r->nr_streams + 1, sizeof(*r->merge.losers));
	if (!r->merge.losers)
		return tap_dat_nomem(err);
	r->info.uname = r->uname ?: "";
	r->info.tool = r->tool ?: "";
	r->info.meta = r->meta ?: "";
	r->info.compression = r->compression ?: "";
	r->info.printk = r->printk ?: "";
	r->info.kallsyms = r->kallsyms ?: "";
	r->info.notes = r->notes ?: "";
	r->info.buffers = r->buffers;
	r->info.ticks = find_ticks(r);
	r->path = NULL;
	return 0;
}

/*
 * Open @path or, if it does not exist, its spool folder: a recorder that is running, or was killed,
 * leaves only that. @spool: set to the folder's path, owned by the caller. Return: a descriptor, or
 * -errno from opening @path.
 */
static int open_path(struct tap_reader *r, const char *path, char **spool, struct tap_err *err)
{
	/* O_NONBLOCK: tap_piped_map() waits for a FIFO's writer */
	int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC, fd, ret;

	if (tap_piped_is_stdin(path)) {
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
		return fd >= 0 ? fd : tap_err_set(err, -errno, "cannot read standard input: %m");
	}
	fd = open(path, flags);
	ret = -errno;
	if (fd >= 0)
		return fd;
	if (ret == -ENOENT && asprintf(spool, "%s.spool", path) < 0) {
		*spool = NULL;
		return tap_dat_nomem(err);
	}
	if (ret == -ENOENT)
		fd = open(*spool, flags | O_DIRECTORY);
	errno = -ret;
	if (fd < 0)
		return tap_err_set(err, ret, "cannot open '%.300s': %m%s", path,
				   ret == -EACCES && geteuid()
					   ? ": recordings are private to the user who made them"
					   : "");
	r->path = *spool;
	if (asprintf(&r->notes,
		     "'%.300s' does not exist yet: reading '%.300s', which `schedtap repair` turns "
		     "into that file",
		     path, *spool) >= 0)
		return fd;
	r->notes = NULL;
	close(fd);
	return tap_dat_nomem(err);
}

/* Open one file and parse it; complete_reader() does the rest, also for joined files. */
static int open_file(const char *path, struct tap_reader **out, struct tap_err *err)
{
	struct tap_reader *r;
	char *spool = NULL;
	int fd, ret;

	*out = NULL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return tap_dat_nomem(err);
	r->path = tap_piped_is_stdin(path) ? "standard input" : path;
	r->budget.path = strdup(r->path);
	r->decoder.budget = &r->budget;
	r->decoder.to = TAP_CURSOR_MAX_NS;
	r->decoder.slots = calloc(TAP_NR_SLOTS, sizeof(*r->decoder.slots));
	r->decoder.span.first_ns = UINT64_MAX;
	fd = r->decoder.slots ? open_path(r, path, &spool, err) : tap_dat_nomem(err);
	ret = fd < 0 ? fd : read_path(r, fd, err) ?: check_sharing(r, err);
	r->path = path;
	if (!ret) {
		*out = r;
		r = NULL;
	}
	if (fd >= 0)
		close(fd);
	free(spool);
	tap_reader_free(r);
	return ret;
}

int tap_reader_open(const char *path, struct tap_reader **out, struct tap_err *err)
{
	int ret = open_file(path, out, err) ?: complete_reader(*out, err);

	if (ret) {
		tap_reader_free(*out);
		*out = NULL;
	}
	return ret;
}

/* The first reader in order becomes the reader of all @files, and owns the others. */
static int join_files(struct tap_join_file *files, unsigned int nr, struct tap_reader **out,
		      struct tap_err *err)
{
	int ret = tap_join_order(files, nr, err);
	struct tap_reader *r = files[0].reader;
	char *meta;

	if (ret)
		return ret;
	r->others = calloc(nr, sizeof(struct tap_reader *));
	meta = tap_join_meta(files, nr);
	if (!r->others || !meta) {
		free(meta);
		return tap_dat_nomem(err);
	}
	free(r->meta);
	r->meta = meta;
	ret = tap_join(files, nr, err) ?: complete_reader(r, err);
	if (ret)
		return ret;
	for (unsigned int i = 1; i < nr; i++)
		r->others[r->nr_others++] = files[i].reader;
	*out = r;
	return 0;
}

/* Open @nr files, and read their descriptions. Return: 0 with *@out; -errno with NULL. */
static int open_all(const char *const *paths, unsigned int nr, struct tap_join_file **out,
		    struct tap_err *err)
{
	struct tap_join_file *files = *out = calloc(nr, sizeof(*files));
	int ret = 0;

	if (!files)
		return tap_dat_nomem(err);
	for (unsigned int i = 0; !ret && i < nr; i++) {
		files[i].path = paths[i];
		ret = open_file(paths[i], &files[i].reader, err) ?: tap_join_read(&files[i], err);
	}
	return ret;
}

/* @is_failed: no reader has become the caller's. */
static void close_all(struct tap_join_file *files, unsigned int nr, bool is_failed)
{
	for (unsigned int i = 0; files && i < nr; i++) {
		json_decref(files[i].meta);
		if (is_failed)
			tap_reader_free(files[i].reader);
	}
	free(files);
}

int tap_reader_open_files(const char *const *paths, unsigned int nr, struct tap_reader **out,
			  struct tap_err *err)
{
	struct tap_join_file *files;
	int ret;

	*out = NULL;
	if (nr == 1)
		return tap_reader_open(paths[0], out, err);
	ret = open_all(paths, nr, &files, err) ?: join_files(files, nr, out, err);
	close_all(files, nr, ret);
	return ret;
}

static bool is_of_one_recorder(const struct tap_join_file *a, const struct tap_join_file *b)
{
	return a->id && b->id && !strcmp(a->id, b->id);
}

/* Move files of one recorder next to the first of them. */
static void gather(struct tap_join_file *files, unsigned int nr)
{
	for (unsigned int i = 1, at; i < nr; i++) {
		const struct tap_join_file file = files[i];

		for (at = i; at && !is_of_one_recorder(&files[at - 1], &file);)
			at--;
		if (!at)
			continue;
		memmove(&files[at + 1], &files[at], (i - at) * sizeof(*files));
		files[at] = file;
	}
}

/* Complete the reader of the files of one recorder. The files' readers are then the group's. */
static int open_group(struct tap_join_file *files, struct tap_reader_group *group,
		      struct tap_err *err)
{
	int ret = group->nr > 1 ? join_files(files, group->nr, &group->reader, err)
				: complete_reader(files[0].reader, err);

	if (ret)
		return ret;
	if (group->nr == 1)
		group->reader = files[0].reader;
	for (unsigned int i = 0; i < group->nr; i++)
		files[i].reader = NULL;
	return 0;
}

int tap_reader_open_groups(const char **paths, unsigned int nr, struct tap_reader_group *groups,
			   struct tap_err *err)
{
	struct tap_join_file *files;
	unsigned int nr_groups = 0;
	int ret = open_all(paths, nr, &files, err);

	if (!ret)
		gather(files, nr);
	for (unsigned int i = 0, end; !ret && i < nr; i = end) {
		for (end = i + 1; end < nr && is_of_one_recorder(&files[i], &files[end]);)
			end++;
		groups[nr_groups] = (struct tap_reader_group){ .paths = paths + i, .nr = end - i };
		ret = open_group(files + i, &groups[nr_groups++], err);
		for (unsigned int k = i; k < end; k++)
			paths[k] = files[k].path;
	}
	for (unsigned int i = 0; ret && i < nr_groups; i++)
		tap_reader_free(groups[i].reader);
	close_all(files, nr, ret);
	return ret ?: (int)nr_groups;
}

void tap_reader_free(struct tap_reader *r)
{
	if (!r)
		return;
	for (unsigned int i = 0; i < r->nr_others; i++)
		tap_reader_free(r->others[i]);
	free(r->others);
	tap_perf_free(r->perf);
	tap_dat_free(r);
}

int tap_reader_check_state(struct tap_reader *r, unsigned int nr_cpus, unsigned int nr_tasks,
			   struct tap_err *err)
{
	return tap_budget_set(&r->budget, TAP_COST_CPUS, nr_cpus * TAP_CPU_COST_BYTES, err)
		       ?: tap_budget_set(&r->budget, TAP_COST_TASKS, nr_tasks * TAP_TASK_COST_BYTES,
					 err);
}

const struct tap_reader_info *tap_reader_info(const struct tap_reader *r)
{
	return &r->info;
}

const struct tap_format *const *tap_reader_formats(const struct tap_reader *r, unsigned int *nr)
{
	*nr = r->nr_formats;
	return (const struct tap_format *const *)r->formats;
}

const char *tap_reader_comm(const struct tap_reader *r, int tid)
{
	const uint64_t *place = tap_map_get(&r->comms, (uint64_t)tid);

	if (r->perf)
		return tap_perf_comm(r->perf, tid);
	return place ? (const char *)(uintptr_t)*place : NULL;
}

int tap_reader_tgid(const struct tap_reader *r, int tid)
{
	const uint64_t *tgid = tap_map_get(&r->tgids, (uint64_t)tid);

	if (r->perf)
		return tap_perf_tgid(r->perf, tid);
	return tgid ? (int)*tgid : -1;
}

static bool has_raw_times(const struct tap_reader *r)
{
	return r->tsc.mult || r->offset_ns || r->guest.nr;
}

/*
 * Convert a guest's time stamps to its host's, x86 TSC time stamps to nanoseconds, and add the
 * file's offset, in trace-cmd's order.
 */
static uint64_t to_ns(const struct tap_reader *r, uint64_t raw)
{
	__int128 ns = r->guest.nr ? tap_guest_to_host(&r->guest, raw) : raw;

	if (r->tsc.mult)
		ns = ns * r->tsc.mult >> r->tsc.shift;
	ns += r->offset_ns;
	if (ns < 0)
		return 0;
	return ns > (__int128)TAP_CURSOR_MAX_NS ? TAP_CURSOR_MAX_NS : (uint64_t)ns;
}

/* Return the smallest raw time stamp that is @ns or later. */
static uint64_t from_ns(const struct tap_reader *r, uint64_t ns)
{
	uint64_t low = 0, high = UINT64_MAX;

	if (!has_raw_times(r))
		return ns;
	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (to_ns(r, mid) < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void tap_reader_limit(struct tap_reader *r, uint64_t from, uint64_t to)
{
	r->decoder.from = from_ns(r, from);
	r->decoder.to = to >= TAP_CURSOR_MAX_NS ? TAP_CURSOR_MAX_NS : from_ns(r, to + 1) - 1;
	r->decoder.beyond = false;
	if (from > to && !r->perf) { /* an empty limit: treat all events as before it */
		r->decoder.from = UINT64_MAX;
		r->decoder.to = UINT64_MAX;
	}
}

void tap_reader_beyond(struct tap_reader *r)
{
	r->decoder.beyond = true;
}

void tap_reader_mark(struct tap_reader *r, uint16_t (*mark)(void *, const struct tap_format *),
		     void *ctx)
{
	tap_decoder_mark(&r->decoder, r->formats, r->nr_formats, mark, ctx);
}

void tap_reader_unmerged(struct tap_reader *r, bool unmerged)
{
	r->unmerged = unmerged;
}

void tap_reader_skip(struct tap_reader *r)
{
	if (!r->unmerged || !r->current)
		return;
	r->next = r->nr_batch; /* the whole batch is from this CPU */
	tap_stream_skip(&r->decoder, r->current);
}

void tap_reader_rewind(struct tap_reader *r)
{
	r->current = NULL;
	r->next = r->nr_batch = 0;
	r->last = 0;
	tap_decoder_begin(&r->decoder, r->formats, r->nr_formats);
	for (unsigned int i = 0; i < r->nr_streams; i++)
		r->streams[i].left = r->streams[i].whole;
	if (r->perf)
		tap_perf_rewind(r->perf);
}

void tap_reader_verify(struct tap_reader *r, bool verify)
{
	r->decoder.verify = verify;
}

uint64_t tap_reader_damaged(const struct tap_reader *r)
{
	const struct tap_decoder *d = &r->decoder;

	return d->nr_damaged > d->most_damaged ? d->nr_damaged : d->most_damaged;
}

void tap_reader_watch(struct tap_reader *r, void (*watch)(void *ctx), void *ctx)
{
	r->decoder.watch = watch;
	r->decoder.watch_ctx = ctx;
}

void tap_reader_position(const struct tap_reader *r, uint64_t *done, uint64_t *whole)
{
	*done = *whole = 0;
	if (r->perf)
		tap_perf_position(r->perf, done, whole);
	for (unsigned int i = 0; i < r->nr_streams; i++) {
		uint64_t all;

		*done += tap_stream_done(&r->streams[i], &all);
		*whole += all;
	}
}

bool tap_reader_tally(const struct tap_reader *r, unsigned int index, struct tap_tally *tally)
{
	const struct tap_decoder *d = &r->decoder;
	const struct tap_format *fmt;

	if (index >= r->nr_formats + d->nr_unknown)
		return false;
	fmt = index < r->nr_formats ? r->formats[index] : d->unknown[index - r->nr_formats];
	*tally = (struct tap_tally){ fmt, d->slots[fmt->id].passed };
	return true;
}

struct tap_reader_span tap_reader_span(const struct tap_reader *r)
{
	struct tap_reader_span span = r->decoder.span;

	if (span.first_ns <= span.last_ns) {
		span.first_ns = to_ns(r, span.first_ns);
		span.last_ns = to_ns(r, span.last_ns);
	}
	return span;
}

/*
 * With many streams each decodes fewer events at once, so that decoded events and their records
 * stay in the CPU caches.
 */
static unsigned int nr_ready(const struct tap_reader *r)
{
	unsigned int nr = 4 * TAP_NR_READY / (unsigned int)(r->nr_streams + 1);

	if (r->unmerged)
		return TAP_NR_READY;
	if (nr < TAP_NR_READY / 4)
		return TAP_NR_READY / 4;
	return nr < TAP_NR_READY ? nr : TAP_NR_READY;
}

static struct tap_merge_key key_of(struct tap_stream *s)
{
	if (s->at == s->end)
		return (struct tap_merge_key){ UINT64_MAX, NULL };
	return (struct tap_merge_key){ s->at->ts_ns, s };
}

static struct tap_merge_key first_key(void *streams, unsigned int i)
{
	return key_of((struct tap_stream *)streams + i);
}

/*
 * Return the stream whose turn is next, after the current stream @s has moved on to @key. r->until
 * is only determined if @s itself continues, as that costs as much as a turn.
 */
static inline struct tap_stream *next_turn(struct tap_reader *r, struct tap_stream *s,
					   struct tap_merge_key key)
{
	key = tap_merge_replay(&r->merge, s->parent, key);
	if (!key.stream) /* all streams have ended, and @s shows that */
		return s;
	r->until = key.stream == s ? tap_merge_until(&r->merge, s->parent, s) : 0;
	r->current = key.stream;
	return key.stream;
}

/*
 * Start all streams and merge them. Return: 0 with the first item, if any, in r->current; -errno.
 */
static int start_merge(struct tap_reader *r, struct tap_err *err)
{
	struct tap_merge_key first;

	for (unsigned int i = 0; i < r->nr_streams; i++) {
		int ret;

		r->streams[i].parent = (r->nr_streams + i) / 2;
		tap_stream_start(&r->decoder, &r->streams[i]);
		ret = tap_stream_refill(&r->decoder, &r->streams[i], err);
		if (ret)
			return ret;
	}
	first = tap_merge_play(&r->merge, 1, first_key, r->streams);
	r->current = first.stream ? first.stream : r->streams;
	r->until = 0;
	return 0;
}

/*
 * Start the next stream with items, from @i on, for reading one after another. Return: as for
 * start_merge().
 */
static int start_stream(struct tap_reader *r, size_t i, struct tap_err *err)
{
	int ret = 0;

	r->until = UINT64_MAX;
	for (; !ret && i < r->nr_streams; i++) {
		r->current = &r->streams[i];
		tap_stream_start(&r->decoder, r->current);
		ret = tap_stream_refill(&r->decoder, r->current, err);
		if (r->current->at != r->current->end)
			break;
	}
	return ret;
}

/*
 * Decode more items after the last one. Return: 1 with an item in r->current; 0 at the end; -errno.
 */
static __attribute__((noinline)) int advance_stream(struct tap_reader *r, struct tap_err *err)
{
	int ret;

	if (!r->nr_streams)
		return 0;
	if (!r->current) {
		r->decoder.nr_ready = nr_ready(r);
		ret = r->unmerged ? start_stream(r, 0, err) : start_merge(r, err);
	} else {
		ret = tap_stream_refill(&r->decoder, r->current, err);
		if (!ret && !r->unmerged)
			next_turn(r, r->current, key_of(r->current));
		else if (!ret && r->current->at == r->current->end)
			ret = start_stream(r, (size_t)(r->current - r->streams) + 1, err);
	}
	return ret ?: r->current->at != r->current->end;
}

/* Convert the event's raw time stamps to ns. */
static void convert_times(const struct tap_reader *r, struct tap_event *ev)
{
	ev->ts_ns = to_ns(r, ev->ts_ns);
	if (!ev->fmt) {
		ev->lost.first_ns = to_ns(r, ev->lost.first_ns);
		if (ev->lost.last_ns != UINT64_MAX)
			ev->lost.last_ns = to_ns(r, ev->lost.last_ns);
	}
}

/*
 * Take a loss as a batch of its own. A loss that no event follows (TAP_ITEM_TAIL) lasts to the end
 * of the recording, which is known only if CPUs are merged.
 */
static void take_loss(struct tap_reader *r)
{
	struct tap_stream *s = r->current;
	struct tap_event *ev = &s->loss;

	tap_stream_get_loss(&r->decoder, s);
	if (s->item == TAP_ITEM_TAIL) {
		if (ev->lost.last_ns < r->last)
			ev->lost.last_ns = r->last;
		ev->ts_ns = ev->lost.last_ns;
		if (r->unmerged)
			ev->lost.last_ns = UINT64_MAX;
	}
	s->at++;
	r->batch[0] = ev;
	r->nr_batch = 1;
}

/* Take events in time order until a stream has to decode more, or a loss is next. */
static void take_events(struct tap_reader *r)
{
	struct tap_event **to = r->batch, **full = to + TAP_NR_BATCH;
	struct tap_stream *s = r->current;

	do {
		struct tap_event *at = s->at, *end = s->end;
		uint64_t until = r->until;

		if (end[-1].ts_ns <= until) {
			while (at < end && to < full)
				*to++ = at++;
		} else {
			do {
				/* with many streams it was decoded long ago */
				__builtin_prefetch(at->data);
				*to++ = at++;
			} while (at < end && to < full && at->ts_ns <= until);
		}
		s->at = at;
		if (at == end)
			break;
		if (at->ts_ns > until)
			s = next_turn(r, s, key_of(s));
	} while (to < full && s->at->fmt);
	r->nr_batch = (unsigned int)(to - r->batch);
}

/* Return true if there are two streams, and both have decoded events; losses are taken alone. */
static bool has_pair(const struct tap_reader *r)
{
	const struct tap_stream *a = r->streams, *b = a + 1;

	return r->nr_streams == 2 && !r->unmerged && a->at < a->end && a->at->fmt &&
	       b->at < b->end && b->at->fmt;
}

/* Like take_events(), for two CPUs, which alternate often: without the tournament. */
static void take_pair(struct tap_reader *r)
{
	struct tap_event **to = r->batch, **full = to + TAP_NR_BATCH;
	struct tap_stream *a = r->streams, *b = a + 1;
	struct tap_event *x = a->at, *y = b->at;
	bool is_a;

	while (x < a->end && y < b->end && to < full) {
		is_a = x->ts_ns <= y->ts_ns;
		*to++ = is_a ? x : y;
		x += is_a;
		y += !is_a;
	}
	a->at = x;
	b->at = y;
	r->nr_batch = (unsigned int)(to - r->batch);
	is_a = x == a->end || (y < b->end && x->ts_ns <= y->ts_ns);
	r->current = is_a ? a : b;
	r->merge.losers[1] = key_of(is_a ? b : a);
	r->until = 0;
}

/* Return: 1 with events in r->batch from r->next on; 0 at the end; -errno. */
static int fill_batch(struct tap_reader *r, struct tap_err *err)
{
	int ret;

	r->next = r->nr_batch = 0;
	if (r->perf)
		return tap_perf_batch(r->perf, r->batch, TAP_NR_BATCH, &r->nr_batch, err);
	if (!r->current || r->current->at == r->current->end) {
		ret = advance_stream(r, err);
		if (ret <= 0)
			return ret;
	}
	if (has_pair(r))
		take_pair(r);
	else if (r->current->at->fmt)
		take_events(r);
	else
		take_loss(r);
	r->last = r->batch[r->nr_batch - 1]->ts_ns;
	for (unsigned int i = 0; has_raw_times(r) && i < r->nr_batch; i++)
		convert_times(r, r->batch[i]);
	return 1;
}

int tap_reader_batch(struct tap_reader *r, const struct tap_event *const **events,
		     struct tap_err *err)
{
	unsigned int from;
	int ret;

	*events = NULL;
	ret = r->next < r->nr_batch ? 1 : fill_batch(r, err);
	if (ret <= 0)
		return ret;
	from = r->next;
	r->next = r->nr_batch;
	*events = (const struct tap_event *const *)r->batch + from;
	return (int)(r->nr_batch - from);
}

int tap_reader_next(struct tap_reader *r, struct tap_event *ev, struct tap_err *err)
{
	int ret = r->next < r->nr_batch ? 1 : fill_batch(r, err);

	if (ret > 0)
		*ev = *r->batch[r->next++];
	return ret;
}
