// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parse what surrounds the records: tools/perf/Documentation/perf.data-file-format.txt. */
#include "file/perf_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "file/perf_attrs.h"
#include "file/perf_features.h"
#include "file/perf_pipe.h"

#define MAGIC_LEN 8u
#define MAGIC_LITTLE_ENDIAN "PERFILE2"
#define MAGIC_BIG_ENDIAN "2ELIFREP" /* the same number in the other byte order */
#define FEATURES_AT 72u
#define HEADER_BYTES 104u

#define MIN_ATTR_BYTES 64u /* PERF_ATTR_SIZE_VER0 */
#define MAX_ATTR_BYTES 4096u
#define NR_FEATURES 256u

bool tap_perf_is(const unsigned char *data, size_t len)
{
	return len >= MAGIC_LEN && (!memcmp(data, MAGIC_LITTLE_ENDIAN, MAGIC_LEN) ||
				    !memcmp(data, MAGIC_BIG_ENDIAN, MAGIC_LEN));
}

static struct tap_bytes get_section(const struct tap_perf *p, uint64_t offset, uint64_t size)
{
	struct tap_bytes b = {
		.at = p->data,
		.end = p->data + p->len,
		.big_endian = p->r->info.big_endian,
	};

	tap_bytes_take(&b, offset);
	return tap_bytes_sub(&b, size);
}

static int read_attrs(struct tap_perf *p, struct tap_bytes b, uint64_t attr_size,
		      struct tap_err *err)
{
	size_t nr = attr_size ? tap_bytes_left(&b) / attr_size : 0;
	int ret = 0;

	if (attr_size < MIN_ATTR_BYTES + 16 || attr_size > MAX_ATTR_BYTES)
		return tap_dat_bad(p->r, err, "its attrs are missing or invalid");
	while (!ret && nr--) {
		struct tap_bytes attr = tap_bytes_sub(&b, attr_size - 16);
		uint64_t offset = tap_bytes_u64(&b), size = tap_bytes_u64(&b);
		struct tap_bytes ids = get_section(p, offset, size);

		ret = ids.bad ? tap_dat_bad(p->r, err, "its event ids lie after its end")
			      : tap_perf_add_attr(p, attr, ids, err);
	}
	return ret ?: tap_perf_end_attrs(p, err);
}

/*
 * The positions of the features' sections follow the records, in the order of the bits that are
 * set.
 */
static int read_features(struct tap_perf *p, struct tap_bytes bits, struct tap_err *err)
{
	struct tap_bytes table = get_section(p, p->to, p->len - p->to);

	for (unsigned int word = 0; word < NR_FEATURES / 64; word++) {
		uint64_t set = tap_bytes_u64(&bits);

		for (; set; set &= set - 1) {
			uint64_t offset = tap_bytes_u64(&table), size = tap_bytes_u64(&table);
			struct tap_bytes b = get_section(p, offset, size);
			unsigned int id = 64 * word + (unsigned int)__builtin_ctzll(set);
			int ret;

			if (table.bad || b.bad) {
				p->note = "the file is cut: its description is incomplete";
				continue;
			}
			ret = tap_perf_read_feature(p, id, b, err);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/* ---- the file */

/*
 * perf does not save kallsyms. Use this machine's, if it made the recording and was not booted
 * since.
 */
static int read_symbols(struct tap_perf *p, struct tap_err *err)
{
	struct tap_buf text = { 0 };
	int ret = 0;

	if (p->r->kallsyms && *p->r->kallsyms)
		return 0;
	if (tap_perf_kernel_symbols(&p->kernel, &text))
		ret = tap_dat_nomem(err);
	if (!ret && text.len)
		ret = tap_dat_set_text(&p->r->kallsyms, text.data, text.len, err);
	tap_buf_release(&text);
	return ret;
}

static int complete_open(struct tap_perf *p, struct tap_err *err)
{
	struct tap_reader *r = p->r;
	int ret = 0;

	if (p->release && asprintf(&r->uname, "Linux %s %s %s", p->hostname ?: "", p->release,
				   p->machine ?: "") < 0)
		return tap_dat_nomem(err);
	if (p->version && asprintf(&r->tool, "perf %s", p->version) < 0)
		return tap_dat_nomem(err);
	if (!p->note && !r->nr_formats && p->has_tracepoints)
		p->note = "the file has no event formats: its events cannot be decoded";
	if (p->has_switches)
		ret = tap_perf_made_switches(&p->made, r, err);
	if (p->has_chains)
		ret = ret ?: tap_perf_made_stacks(&p->made, r, err);
	if (ret)
		return ret;
	if (p->note)
		ret = tap_dat_set_text(&r->notes, p->note, strlen(p->note), err);
	if (!r->compression)
		ret = ret ?: tap_dat_set_text(&r->compression, "none", 4, err);
	ret = ret
		      ?: tap_perf_append_part(
				 p, (struct tap_perf_part){ p->data, p->from, p->to, p->fd }, err);
	ret = ret ?: tap_perf_read_front(p, err);
	return ret || !p->has_chains ? ret : read_symbols(p, err);
}

/* perf writes the size of the records, and the features, only when it ends. */
static int place_records(struct tap_perf *p, uint64_t offset, uint64_t size,
			 struct tap_bytes features, struct tap_err *err)
{
	if (offset < HEADER_BYTES || offset > p->len)
		return tap_dat_bad(p->r, err, "its records lie after its end");
	p->from = (size_t)offset;
	p->to = p->len;
	if (!size || size > p->len - offset) {
		p->cut = true;
		p->note = size ? "the file is cut: event formats and the last events are missing"
			       : "perf was killed: event formats and the last events are lost";
		return 0;
	}
	p->to = (size_t)(offset + size);
	return read_features(p, features, err);
}

static int read_file(struct tap_perf *p, struct tap_err *err)
{
	struct tap_bytes b = get_section(p, MAGIC_LEN, p->len - MAGIC_LEN);
	uint64_t header_size = tap_bytes_u64(&b), attr_size = tap_bytes_u64(&b);
	uint64_t attrs_at = tap_bytes_u64(&b), attrs_size = tap_bytes_u64(&b);
	uint64_t at = tap_bytes_u64(&b), size = tap_bytes_u64(&b);

	if (header_size == TAP_PERF_PIPE_HEADER_BYTES)
		return tap_perf_read_pipe(p, err) ?: complete_open(p, err);
	if (p->len < HEADER_BYTES || header_size < HEADER_BYTES)
		return tap_dat_bad(p->r, err, "its header is cut or invalid");
	return read_attrs(p, get_section(p, attrs_at, attrs_size), attr_size, err) ?:
	       place_records(p, at, size, get_section(p, FEATURES_AT, NR_FEATURES / 8), err) ?:
	       complete_open(p, err);
}

int tap_perf_open(struct tap_reader *r, const unsigned char *data, size_t len, int fd,
		  struct tap_err *err)
{
	struct tap_perf *p;

	if (!tap_perf_is(data, len))
		return tap_err_set(err, -EINVAL, "'%.300s' is not a perf.data file", r->path);
	p = r->perf = calloc(1, sizeof(*p));
	if (!p)
		return tap_dat_nomem(err);
	p->r = r;
	p->data = data;
	p->len = len;
	p->fd = fd;
	r->info.big_endian = r->decoder.big_endian = *data == *MAGIC_BIG_ENDIAN;
	r->info.long_size = r->decoder.long_size = 8;
	return read_file(p, err);
}

int tap_perf_add_part(struct tap_perf *p, const unsigned char *data, size_t len, int fd,
		      struct tap_err *err)
{
	return tap_perf_append_part(p, (struct tap_perf_part){ data, 0, len, fd }, err);
}

int tap_perf_note_folder(const struct tap_perf *p, struct tap_err *err)
{
	if (!p->has_folder)
		return 0;
	return tap_dat_note(p->r, err,
			    "'%.300s' has no events: they are in other files of its folder: give "
			    "the folder",
			    p->r->path);
}

void tap_perf_free(struct tap_perf *p)
{
	if (!p)
		return;
	tap_perf_start_over(p);
	tap_perf_blocks_release(&p->copied);
	tap_perf_blocks_release(&p->unpacked);
	tap_perf_made_release(&p->made);
	tap_perf_maps_release(&p->maps);
	ZSTD_freeDCtx(p->zstd);
	tap_map_for_each(&p->tasks, s)
		free((struct tap_perf_task *)(uintptr_t)s->value);
	tap_map_release(&p->tasks);
	tap_map_release(&p->ids);
	tap_map_release(&p->id_cpus);
	free(p->parts);
	free(p->attrs);
	free(p->hostname);
	free(p->release);
	free(p->machine);
	free(p->version);
	free(p);
}

const char *tap_perf_comm(const struct tap_perf *p, int tid)
{
	const struct tap_perf_task *task = tap_perf_task(p, tid);

	return task && *task->comm ? task->comm : NULL;
}

int tap_perf_tgid(const struct tap_perf *p, int tid)
{
	const struct tap_perf_task *task = tap_perf_task(p, tid);

	return task ? task->tgid : -1;
}

void tap_perf_rewind(struct tap_perf *p)
{
	tap_perf_start_over(p);
}

void tap_perf_position(const struct tap_perf *p, uint64_t *done, uint64_t *whole)
{
	*done = p->at > p->from ? p->at - p->from : 0;
	*whole = 0;
	for (unsigned int i = 0; i < p->nr_parts; i++) {
		const struct tap_perf_part *part = &p->parts[i];

		*done += i < p->part ? part->to - part->from : 0;
		*whole += part->to - part->from;
	}
}

/* Convert an item to an event; free the data of a loss. */
static inline void take_item(const struct tap_perf *p, const struct tap_perf_item *item, int cpu,
			     struct tap_event *ev)
{
	const struct tap_slot *slot;

	if (item->size) {
		slot = &p->r->decoder.slots[item->id];
		/*
		 * Prefetch the first and last field, as reports read these first: the record was
		 * parsed a round ago.
		 */
		__builtin_prefetch(item->data + 8);
		__builtin_prefetch(item->data + item->size - 8);
		ev->ts_ns = item->ts;
		ev->data = item->data;
		ev->size = item->size;
		ev->fmt = slot->fmt;
		ev->mark = slot->mark;
		ev->cpu = cpu;
		return;
	}
	*ev = (struct tap_event){ .ts_ns = item->ts, .cpu = cpu };
	ev->lost.first_ns = item->loss->first_ns;
	ev->lost.last_ns = item->ts;
	ev->lost.count = item->loss->count;
	free(item->loss);
}

/*
 * Take events of two CPUs, which alternate often, as long as both have some: without a branch that
 * would often be mispredicted. Return: the number of events.
 */
static unsigned int take_pair(struct tap_perf *p, struct tap_event **batch, unsigned int max)
{
	struct tap_perf_queue *q = &p->queue;
	struct tap_perf_run *other = tap_perf_queue_other(q);
	struct tap_perf_run *a = other < q->now ? other : q->now,
			    *b = other < q->now ? q->now : other;
	const struct tap_perf_item *x, *y, *x_end, *y_end;
	unsigned int nr = 0, of_b = 0;
	int cpu_a, cpu_b;

	if (!other)
		return 0;
	x = a->items + a->head;
	y = b->items + b->head;
	x_end = a->items + a->ripe;
	y_end = b->items + b->ripe;
	cpu_a = tap_perf_queue_cpu(q, a);
	cpu_b = tap_perf_queue_cpu(q, b);
	while (nr < max && x < x_end && y < y_end) {
		bool is_b = y->ts < x->ts;

		take_item(p, is_b ? y : x, is_b ? cpu_b : cpu_a, &p->ready[nr]);
		batch[nr] = &p->ready[nr];
		nr++;
		x += !is_b;
		y += is_b;
		of_b += is_b;
	}
	tap_perf_queue_took_pair(q, a, nr - of_b, b, of_b);
	return nr;
}

/* Return: the number of events taken. */
static unsigned int take_ripe(struct tap_perf *p, struct tap_event **batch, unsigned int max)
{
	struct tap_perf_queue *q = &p->queue;
	unsigned int nr = take_pair(p, batch, max);

	while (nr < max && q->now) {
		const struct tap_perf_item *first = q->now->items + q->now->head;
		const struct tap_perf_item *end = q->now->items + q->now->ripe, *at = first;
		const uint64_t until = q->until;
		int cpu = tap_perf_queue_cpu(q, q->now);

		do {
			take_item(p, at++, cpu, &p->ready[nr]);
			batch[nr] = &p->ready[nr];
			nr++;
		} while (nr < max && at < end && at->ts <= until);
		tap_perf_queue_took(q, (size_t)(at - first));
	}
	return nr;
}

/*
 * Name the frames of user stacks. The events may come from compressed records, so their number is
 * not limited by the file's size.
 */
static int name_stacks(struct tap_perf *p, struct tap_event *const *batch, unsigned int nr,
		       struct tap_err *err)
{
	p->maps.nr_parents_searched = 0;
	if (tap_perf_made_name(&p->made, &p->maps, batch, nr))
		return tap_dat_nomem(err);
	return tap_budget_add(&p->r->budget, TAP_COST_PARENTS,
			      p->maps.nr_parents_searched * TAP_PARENT_COST_BYTES, err);
}

int tap_perf_batch(struct tap_perf *p, struct tap_event **batch, unsigned int max, unsigned int *nr,
		   struct tap_err *err)
{
	while (!(*nr = take_ripe(p, batch, max)) && !p->ended) {
		int ret;

		p->last_ns = p->ripe_ns; /* all events up to there were returned */
		ret = tap_perf_read_round(p, err);
		if (ret)
			return ret;
		if (p->r->decoder.watch)
			p->r->decoder.watch(p->r->decoder.watch_ctx);
	}
	if (p->has_chains) {
		int ret = name_stacks(p, batch, *nr, err);

		if (ret)
			return ret;
	}
	return *nr > 0;
}
