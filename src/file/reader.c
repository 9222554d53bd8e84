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
#include "file/join.h"
#include "file/meta.h"
#include "file/page_cost.h"
#include "file/perf_file.h"

static int read_path(struct tap_reader *r, int fd, struct tap_err *err)
{
	const struct tap_mapping *map;
	struct stat st;
	int ret;

	if (fstat(fd, &st))
		return tap_err_set(err, -errno, "cannot stat '%.300s': %m", r->path);
	if (S_ISDIR(st.st_mode))
		return tap_dat_read_spool(r, fd, err);
	if (!S_ISREG(st.st_mode))
		return tap_err_set(err, -EINVAL,
				   "'%.300s' is not a recording: neither a file nor a folder",
				   r->path);
	ret = tap_dat_add_map(r, fd, &map);
	if (ret)
		return tap_err_set(err, ret, "cannot map '%.300s': %s", r->path, strerror(-ret));
	if (!tap_perf_is(map->data, map->len))
		return tap_dat_read_file(r, err);
	fd = tap_page_copy_pays(map->data, map->len, map->fd) ? map->fd : -1;
	return tap_perf_open(r, map->data, map->len, fd, err);
}

/* The order of equal times: the lower CPU first, then the lower buffer. */
static int compare_streams(const void *a, const void *b)
{
	const struct tap_stream *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

/* Of kernel/trace/trace.c's trace_clocks[] those that count something else. */
static const char *find_ticks(const struct tap_reader *r)
{
	static const char *const ticks[] = { "counter", "uptime", "x86-tsc", "ppc-tb" };

	for (unsigned int i = 0; !r->tsc.mult && i < r->info.nr_buffers; i++)
		for (size_t k = 0; k < sizeof(ticks) / sizeof(*ticks); k++)
			if (!strcmp(r->buffers[i].clock, ticks[k]))
				return ticks[k];
	return NULL;
}

/* Holes are seen only by who copies. Of what is compressed there are no pages, nor of a perf.data.
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

/* Return: whether one of the streams [0, @nr) is of this CPU and buffer. */
static bool has_stream(const struct tap_reader *r, unsigned int nr, unsigned int buffer,
		       unsigned int cpu)
{
	for (unsigned int i = 0; i < nr; i++)
		if (r->streams[i].buffer == buffer && r->streams[i].cpu == (int)cpu)
			return true;
	return false;
}

/*
 * The recorder did not end the recording, so each CPU is known only up to its last event. A CPU
 * without a page file is not known at all: a stream without pages stands for it. Marks say nothing
 * of a CPU.
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
 * Pages that several CPUs share would be decoded once for each of them. No writer makes such a
 * file, and then the data of all CPUs is not more than the file.
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

static int complete(struct tap_reader *r, struct tap_err *err)
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
 * Of a recorder that was killed, or still runs, there is only the folder beside the file that will
 * be. @spool: its path, owned by the caller. Return: a descriptor, or -errno of opening @path.
 */
static int open_path(struct tap_reader *r, const char *path, char **spool, struct tap_err *err)
{
	/* a FIFO must not make us wait for its writer */
	int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC, fd = open(path, flags), ret = -errno;

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

/* One file, as far as it goes without the others of its recorder. */
static int open_file(const char *path, struct tap_reader **out, struct tap_err *err)
{
	struct tap_reader *r;
	char *spool = NULL;
	int fd, ret;

	*out = NULL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return tap_dat_nomem(err);
	r->path = path;
	r->budget.path = strdup(path);
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
	int ret = open_file(path, out, err) ?: complete(*out, err);

	if (ret) {
		tap_reader_free(*out);
		*out = NULL;
	}
	return ret;
}

/* The first reader in order becomes the one of all @files, and owns the others. */
static int join(struct tap_join_file *files, unsigned int nr, struct tap_reader **out,
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
	ret = tap_join(files, nr, err) ?: complete(r, err);
	if (ret)
		return ret;
	for (unsigned int i = 1; i < nr; i++)
		r->others[r->nr_others++] = files[i].reader;
	*out = r;
	return 0;
}

int tap_reader_open_files(const char *const *paths, unsigned int nr, struct tap_reader **out,
			  struct tap_err *err)
{
	struct tap_join_file *files;
	int ret = 0;

	*out = NULL;
	if (nr == 1)
		return tap_reader_open(paths[0], out, err);
	files = calloc(nr, sizeof(*files));
	if (!files)
		return tap_dat_nomem(err);
	for (unsigned int i = 0; !ret && i < nr; i++) {
		files[i].path = paths[i];
		ret = open_file(paths[i], &files[i].reader, err);
	}
	ret = ret ?: join(files, nr, out, err);
	for (unsigned int i = 0; i < nr; i++) {
		json_decref(files[i].meta);
		if (ret)
			tap_reader_free(files[i].reader);
	}
	free(files);
	return ret;
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
	return r->perf ? tap_perf_tgid(r->perf, tid) : -1;
}

/* Stamps of x86's TSC are turned into nanoseconds as trace-cmd does it. */
static uint64_t to_ns(const struct tap_reader *r, uint64_t raw)
{
	unsigned __int128 ns;

	if (!r->tsc.mult)
		return raw;
	ns = (unsigned __int128)raw * r->tsc.mult >> r->tsc.shift;
	return ns > TAP_CURSOR_MAX_NS ? TAP_CURSOR_MAX_NS : (uint64_t)ns;
}

/* Return: the smallest raw stamp that is @ns or later. */
static uint64_t from_ns(const struct tap_reader *r, uint64_t ns)
{
	uint64_t low = 0, high = UINT64_MAX;

	if (!r->tsc.mult)
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
	if (from > to && !r->perf) { /* nothing is in it; streams subtract the one from the other */
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
	r->next = r->nr_batch; /* all of it is of this CPU */
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

/* Of many streams that take turns fewer: decoded events and their records stay in the caches. */
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
 * Whose turn it is, after the current stream @s has moved on to @key. How long it stays so is
 * looked for only where @s itself goes on: that costs as much as a turn.
 */
static inline struct tap_stream *next_turn(struct tap_reader *r, struct tap_stream *s,
					   struct tap_merge_key key)
{
	key = tap_merge_replay(&r->merge, s->parent, key);
	if (!key.stream) /* all have ended: @s says so */
		return s;
	r->until = key.stream == s ? tap_merge_until(&r->merge, s->parent, s) : 0;
	r->current = key.stream;
	return key.stream;
}

/* All streams, merged. Return: 0 with an item of r->current, if any; -ENOMEM. */
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

/* One stream after the other, from @i on. Return: as start_merge(). */
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

/* Where no decoded item is left. Return: 1 with an item of r->current; 0; -ENOMEM. */
static __attribute__((noinline)) int advance(struct tap_reader *r, struct tap_err *err)
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

/* Nanoseconds, of a recording with stamps of the TSC. */
static void convert(const struct tap_reader *r, struct tap_event *ev)
{
	ev->ts_ns = to_ns(r, ev->ts_ns);
	if (!ev->fmt) {
		ev->lost.first_ns = to_ns(r, ev->lost.first_ns);
		if (ev->lost.last_ns != UINT64_MAX)
			ev->lost.last_ns = to_ns(r, ev->lost.last_ns);
	}
}

/* A loss is handed out alone. A tail reaches up to the recording's end, which is known only where
 * CPUs are merged. */
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

/* What comes next in the order, up to where a stream must decode more, or a loss comes. */
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
				/* of many streams, it was decoded long ago */
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

/* Both streams have events: a loss would stand alone. */
static bool has_pair(const struct tap_reader *r)
{
	const struct tap_stream *a = r->streams, *b = a + 1;

	return r->nr_streams == 2 && !r->unmerged && a->at < a->end && a->at->fmt &&
	       b->at < b->end && b->at->fmt;
}

/* Of two CPUs, whose turns are short: no tournament. As take_events(). */
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

/* Return: 1 with r->batch from r->next on not empty; 0 at the end; -errno. */
static int fill_batch(struct tap_reader *r, struct tap_err *err)
{
	int ret;

	r->next = r->nr_batch = 0;
	if (r->perf)
		return tap_perf_batch(r->perf, r->batch, TAP_NR_BATCH, &r->nr_batch, err);
	if (!r->current || r->current->at == r->current->end) {
		ret = advance(r, err);
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
	for (unsigned int i = 0; r->tsc.mult && i < r->nr_batch; i++)
		convert(r, r->batch[i]);
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
