// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parse what surrounds the records: tools/perf/Documentation/perf.data-file-format.txt. */
#include "file/perf_file.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zstd.h>

#include "file/perf_records.h"

#define MAGIC_LEN 8u
#define MAGIC_LITTLE_ENDIAN "PERFILE2"
#define MAGIC_BIG_ENDIAN "2ELIFREP" /* the same number in the other byte order */
#define FEATURES_AT 72u
#define HEADER_BYTES 104u
#define PIPE_HEADER_BYTES 16u

#define MIN_ATTR_BYTES 64u /* PERF_ATTR_SIZE_VER0 */
#define MAX_ATTR_BYTES 4096u
#define MAX_ATTRS 65536u
#define MAX_IDS (1u << 22) /* one per event and CPU */

enum {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_COMPRESSED = 27,
	FEATURE_CLOCK_DATA = 29,
	NR_FEATURES = 256,
};

#define COMPRESSED_ZSTD 1u

/* Bit numbers of the flags in perf_event_attr, which follow read_format. */
#define ATTR_SAMPLE_ID_ALL 18u
#define ATTR_USE_CLOCKID 25u
#define ATTR_CONTEXT_SWITCH 26u

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

/* ---- attrs */

static const char *clock_name(const struct tap_bytes *attr, uint64_t flags)
{
	struct tap_bytes b = *attr;

	if (!(flags >> ATTR_USE_CLOCKID & 1))
		return "local";
	tap_bytes_take(&b, 92);
	switch (tap_bytes_u32(&b)) {
	case CLOCK_MONOTONIC:
		return b.bad ? "" : "mono";
	case CLOCK_MONOTONIC_RAW:
		return "mono_raw";
	case CLOCK_BOOTTIME:
		return "boot";
	case CLOCK_TAI:
		return "tai";
	default:
		return "";
	}
}

static uint32_t bytes_of(uint64_t sample_type, uint64_t words)
{
	return 8 * (uint32_t)__builtin_popcountll(sample_type & words);
}

/*
 * Offsets follow from the order in perf_output_sample() and, for the trailer,
 * __perf_event__output_id_sample().
 */
static void lay_out(struct tap_perf_attr *a, bool has_trailer)
{
	const uint64_t before_time = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	const uint64_t before_id = before_time | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
	const uint64_t before_cpu = before_id | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID;
	const uint64_t to_cpu = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CPU;
	const uint64_t to_id = to_cpu | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_ID;
	const uint64_t to_time = to_id | PERF_SAMPLE_TIME;
	const uint64_t type = a->sample_type;

	a->time_at = bytes_of(type, before_time);
	a->cpu_at = bytes_of(type, before_cpu);
	a->fixed = bytes_of(type, before_cpu | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD);
	a->tgid_at = type & PERF_SAMPLE_TID
			     ? bytes_of(type, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP)
			     : UINT32_MAX;
	a->id_at = a->id_back = UINT32_MAX;
	if (type & PERF_SAMPLE_IDENTIFIER) {
		a->id_at = 0;
		a->id_back = 8;
	} else if (type & PERF_SAMPLE_ID) {
		a->id_at = bytes_of(type, before_id);
		a->id_back = bytes_of(type, to_id);
	}
	if (!has_trailer)
		return;
	a->trailer = bytes_of(type, to_time | PERF_SAMPLE_TID);
	a->time_back = type & PERF_SAMPLE_TIME ? bytes_of(type, to_time) : 0;
	a->cpu_back = type & PERF_SAMPLE_CPU ? bytes_of(type, to_cpu) : 0;
}

static int lacks_words(const struct tap_perf *p, struct tap_err *err)
{
	return tap_err_set(err, -ENOTSUP,
			   "the events in '%.300s' lack their time or their CPU: record with 'perf "
			   "record -T --sample-cpu'",
			   p->r->path);
}

static int read_attr(struct tap_perf *p, struct tap_bytes b, struct tap_perf_attr *a,
		     struct tap_err *err)
{
	const uint64_t needed = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	struct tap_bytes all = b;
	uint64_t flags;
	uint32_t type = tap_bytes_u32(&b);

	tap_bytes_take(&b, 20); /* size, config, sample period */
	*a = (struct tap_perf_attr){ .sample_type = tap_bytes_u64(&b) };
	a->read_format = tap_bytes_u64(&b);
	flags = tap_bytes_u64(&b);
	if (p->r->info.big_endian) { /* bit fields start at the most significant bit */
		uint64_t mirrored = 0;

		for (unsigned int i = 0; i < 64; i++)
			mirrored |= (flags >> i & 1) << (63 - i);
		flags = mirrored;
	}
	a->is_tracepoint = type == PERF_TYPE_TRACEPOINT && a->sample_type & PERF_SAMPLE_RAW;
	lay_out(a, flags >> ATTR_SAMPLE_ID_ALL & 1);
	a->has_switches = flags >> ATTR_CONTEXT_SWITCH & 1;
	if (!a->is_tracepoint && !a->has_switches)
		return 0;
	p->clock = clock_name(&all, flags);
	if (a->is_tracepoint && (a->sample_type & needed) != needed)
		return lacks_words(p, err);
	return 0;
}

static int read_ids(struct tap_perf *p, struct tap_bytes ids, struct tap_err *err)
{
	p->nr_ids += tap_bytes_left(&ids) / 8;
	if (p->nr_ids > MAX_IDS)
		return tap_dat_bad(p->r, err, "it has more than 4 million event ids");
	while (tap_bytes_left(&ids) >= 8) {
		uint64_t *place = tap_map_put(&p->ids, tap_bytes_u64(&ids));

		if (!place)
			return tap_dat_nomem(err);
		*place = p->nr_attrs;
	}
	return 0;
}

/*
 * A record's id determines its attr, and so its layout. Hence the id's own position must be the
 * same in all attrs.
 */
static int place_ids(struct tap_perf *p, struct tap_err *err)
{
	const struct tap_perf_attr *first = p->attrs;
	bool has_switches = false, switches_have_words = false;

	p->id_at = first->id_at;
	p->id_back = first->id_back;
	for (const struct tap_perf_attr *a = first; a < first + p->nr_attrs; a++) {
		p->has_tracepoints |= a->is_tracepoint;
		p->has_chains |= a->is_tracepoint && a->sample_type & PERF_SAMPLE_CALLCHAIN;
		has_switches |= a->has_switches;
		switches_have_words |= a->has_switches && a->sample_type & PERF_SAMPLE_TID &&
				       a->time_back && (a->cpu_back || a->id_back != UINT32_MAX);
		if (a->id_at != p->id_at || a->id_back != p->id_back ||
		    (p->id_at == UINT32_MAX && a->sample_type != first->sample_type))
			return tap_err_set(err, -ENOTSUP,
					   "'%.300s' does not say which event a record belongs to: "
					   "record with 'perf record --sample-identifier'",
					   p->r->path);
	}
	p->has_switches = switches_have_words;
	if (!p->has_tracepoints && has_switches && !switches_have_words)
		return lacks_words(p, err);
	if (!p->has_tracepoints && !has_switches)
		return tap_err_set(err, -ENOTSUP,
				   "'%.300s' has neither tracepoint events nor context switches: "
				   "record with 'perf sched record', 'perf record -e sched:*' or "
				   "'perf record --switch-events'",
				   p->r->path);
	return 0;
}

/* Set p->plain if all tracepoint samples have the same simple layout. */
static void find_plain(struct tap_perf *p)
{
	const struct tap_perf_attr *plain = NULL;

	for (unsigned int i = 0; i < TAP_PERF_PLAIN_IDS; i++)
		p->plain_ids[i] = i + 1; /* belongs at another index, so the entry is unused */
	for (unsigned int i = 0; i < p->nr_attrs; i++) {
		const struct tap_perf_attr *a = &p->attrs[i];

		if (!a->is_tracepoint)
			continue;
		if (a->sample_type & (PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN) ||
		    (plain && a->sample_type != plain->sample_type))
			return;
		plain = a;
	}
	if (plain && p->r->info.big_endian == TAP_HOST_BIG_ENDIAN)
		p->plain = (struct tap_perf_plain){
			.id = tap_perf_has_ids(p) ? TAP_PERF_HEAD_BYTES + p->id_at : 0,
			.time = TAP_PERF_HEAD_BYTES + plain->time_at,
			.cpu = TAP_PERF_HEAD_BYTES + plain->cpu_at,
			.raw = TAP_PERF_HEAD_BYTES + plain->fixed + 4,
		};
}

static int read_attrs(struct tap_perf *p, struct tap_bytes b, uint64_t attr_size,
		      struct tap_err *err)
{
	size_t nr = attr_size ? tap_bytes_left(&b) / attr_size : 0;
	int ret;

	if (attr_size < MIN_ATTR_BYTES + 16 || attr_size > MAX_ATTR_BYTES || !nr || nr > MAX_ATTRS)
		return tap_dat_bad(p->r, err, "its attrs are missing or invalid");
	p->attrs = calloc(nr, sizeof(*p->attrs));
	if (!p->attrs)
		return tap_dat_nomem(err);
	while (nr--) {
		struct tap_bytes attr = tap_bytes_sub(&b, attr_size - 16);
		uint64_t offset = tap_bytes_u64(&b), size = tap_bytes_u64(&b);
		struct tap_bytes ids = get_section(p, offset, size);

		ret = read_attr(p, attr, &p->attrs[p->nr_attrs++], err);
		if (!ret && ids.bad)
			ret = tap_dat_bad(p->r, err, "its event ids lie after its end");
		ret = ret ?: read_ids(p, ids, err);
		if (ret)
			return ret;
	}
	ret = place_ids(p, err);
	if (ret)
		return ret;
	find_plain(p);
	/*
	 * The records are not in sub-buffers, so their size is 0. The buffer is added before the
	 * tracing data is read: after that, tap_dat_add_buffer() would check the size.
	 */
	ret = tap_dat_add_buffer(p->r, "", p->clock, 0, err);
	return ret < 0 ? ret : 0;
}

/* ---- features */

/* Parse the tracing data, which is the head of a trace.dat version 6 without its CPUs. */
static int read_tracing_data(struct tap_perf *p, struct tap_bytes b, struct tap_err *err)
{
	const bool big_endian = p->r->info.big_endian;

	if (!tap_dat_read_begin(p->r, &b) || b.bad || p->r->info.big_endian != big_endian)
		return tap_dat_bad(p->r, err, "its tracing data is cut or invalid");
	return tap_dat_read_front(p->r, &b, err);
}

static int read_string(struct tap_bytes b, char **dst, struct tap_err *err)
{
	struct tap_bytes text = tap_bytes_sub(&b, tap_bytes_u32(&b));

	return text.bad ? 0 : tap_dat_set_text(dst, text.at, tap_bytes_left(&text), err);
}

static int read_compression(struct tap_perf *p, struct tap_bytes b, struct tap_err *err)
{
	uint32_t type;

	tap_bytes_u32(&b); /* version */
	type = tap_bytes_u32(&b);
	if (type != COMPRESSED_ZSTD)
		return tap_err_set(err, -ENOTSUP,
				   "'%.300s' has compression type %u: only zstd (1) can be read",
				   p->r->path, type);
	return tap_dat_set_text(&p->r->compression, "zstd", 4, err);
}

static void read_clocks(struct tap_reader_info *info, struct tap_bytes b)
{
	info->wall_realtime_ns = info->wall_ts_ns = 0;
	tap_bytes_take(&b, 8); /* version, clock id */
	if (tap_bytes_left(&b) < 16)
		return;
	info->wall_realtime_ns = tap_bytes_u64(&b);
	info->wall_ts_ns = tap_bytes_u64(&b);
}

/*
 * Find the kernel's build id. Each entry has a record's head, a pid, the id with its length and
 * padding, and a path.
 */
static void read_build_ids(struct tap_perf *p, struct tap_bytes b)
{
	static const char kernel[] = "[kernel.kallsyms]";

	while (!b.bad && tap_bytes_left(&b) >= TAP_PERF_HEAD_BYTES) {
		uint16_t size = tap_get_u16(b.at + 6, b.big_endian);
		struct tap_bytes entry = tap_bytes_sub(&b, size);
		const unsigned char *id;

		tap_bytes_take(&entry, TAP_PERF_HEAD_BYTES + 4);
		id = tap_bytes_take(&entry, 24);
		if (size < TAP_PERF_HEAD_BYTES || strcmp(tap_bytes_str(&entry), kernel) ||
		    entry.bad)
			continue;
		memcpy(p->kernel.build_id, id, TAP_BUILD_ID_BYTES);
		p->kernel.has_build_id = true;
		return;
	}
}

static int read_feature(struct tap_perf *p, unsigned int id, struct tap_bytes b,
			struct tap_err *err)
{
	switch (id) {
	case FEATURE_TRACING_DATA:
		return read_tracing_data(p, b, err);
	case FEATURE_BUILD_ID:
		read_build_ids(p, b);
		return 0;
	case FEATURE_HOSTNAME:
		return read_string(b, &p->hostname, err);
	case FEATURE_OSRELEASE:
		return read_string(b, &p->release, err);
	case FEATURE_VERSION:
		return read_string(b, &p->version, err);
	case FEATURE_ARCH:
		return read_string(b, &p->machine, err);
	case FEATURE_NRCPUS:
		return tap_dat_read_option(p->r, TAP_OPTION_CPUCOUNT, b, err);
	case FEATURE_COMPRESSED:
		return read_compression(p, b, err);
	case FEATURE_CLOCK_DATA:
		read_clocks(&p->r->info, b);
		return 0;
	default:
		return 0;
	}
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
			ret = read_feature(p, id, b, err);
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

	if (header_size == PIPE_HEADER_BYTES)
		return tap_err_set(err, -ENOTSUP,
				   "'%.300s' is perf data in pipe format, which cannot be read: "
				   "use 'perf record -o FILE'",
				   p->r->path);
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
	*whole = p->to - p->from;
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
