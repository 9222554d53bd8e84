// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* trace.dat version 6 (trace-cmd.dat.v6(5)): everything in a fixed order, nothing compressed. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "file/dat_file.h"

#define TAG_LEN 10u /* length of "options \0", "flyrecord\0", "latency \0" */

/* An additional buffer; .offset: its "flyrecord" tag and table. */
struct v6_buffer {
	uint64_t offset;
	const char *name;
};

struct v6 {
	struct tap_reader *r;
	uint32_t nr_cpus;
	struct v6_buffer *buffers;
	unsigned int nr_buffers, cap_buffers;
	bool has_clock; /* the name of the clock follows the top-level buffer's table */
};

static int note_buffer(struct v6 *v, struct tap_bytes opt, struct tap_err *err)
{
	struct v6_buffer b = { .offset = tap_bytes_u64(&opt) };

	b.name = tap_bytes_str(&opt);
	if (opt.bad)
		return tap_dat_bad(v->r, err, "a buffer option is cut");
	if (tap_array_grow(&v->buffers, v->nr_buffers, &v->cap_buffers, sizeof(*v->buffers)))
		return tap_dat_nomem(err);
	v->buffers[v->nr_buffers++] = b;
	return 0;
}

static int read_options(struct v6 *v, struct tap_bytes *b, struct tap_err *err)
{
	for (;;) {
		unsigned int id = tap_bytes_u16(b);
		struct tap_bytes opt;
		int ret;

		if (id == TAP_OPTION_DONE && !b->bad)
			return 0;
		opt = tap_bytes_sub(b, tap_bytes_u32(b));
		if (opt.bad)
			return tap_dat_bad(v->r, err, "the options are cut");
		v->has_clock |= id == TAP_OPTION_TRACECLOCK;
		ret = id == TAP_OPTION_BUFFER ? note_buffer(v, opt, err)
					      : tap_dat_read_option(v->r, id, opt, err);
		if (ret)
			return ret;
	}
}

/* Read options, if any, up to the tag after them. */
static int read_tag(struct v6 *v, struct tap_bytes *b, struct tap_err *err)
{
	const unsigned char *tag = tap_bytes_take(b, TAG_LEN);

	while (tag && !memcmp(tag, "options  ", TAG_LEN)) {
		int ret = read_options(v, b, err);

		if (ret)
			return ret;
		tag = tap_bytes_take(b, TAG_LEN);
	}
	if (tag && !memcmp(tag, "latency  ", TAG_LEN))
		return tap_err_set(err, -ENOTSUP,
				   "'%.300s' contains the text output of a latency tracer, such as "
				   "irqsoff, instead of events",
				   v->r->path);
	if (!tag || memcmp(tag, "flyrecord", TAG_LEN))
		return tap_dat_bad(v->r, err, "its event data is missing");
	return 0;
}

/* Read the table with the position of each CPU's sub-buffers. */
static int read_table(struct v6 *v, struct tap_bytes *b, const char *name, struct tap_err *err)
{
	struct tap_bytes table = tap_bytes_sub(b, 16 * (uint64_t)v->nr_cpus);
	const char *clock;
	int buffer;

	if (table.bad)
		return tap_dat_bad(v->r, err, "the table of CPUs is cut");
	if (v->has_clock && !*name) {
		struct tap_bytes text = tap_bytes_sub(b, tap_bytes_u64(b));
		int ret = tap_dat_read_option(v->r, TAP_OPTION_TRACECLOCK, text, err);

		if (ret)
			return ret;
	}
	clock = v->r->clock ? v->r->clock : "";
	buffer = tap_dat_add_buffer(v->r, name, clock, v->r->page_size, err);
	if (buffer < 0)
		return buffer;
	for (uint32_t cpu = 0; cpu < v->nr_cpus; cpu++) {
		uint64_t offset = tap_bytes_u64(&table), size = tap_bytes_u64(&table);
		struct tap_stream *s;
		int ret;

		if (!size)
			continue;
		ret = tap_dat_add_stream(v->r, (unsigned int)buffer, cpu, &s, err);
		if (ret)
			return ret;
		tap_dat_place_pages(v->r, s, offset, size);
	}
	return 0;
}

static int read_front(struct v6 *v, struct tap_bytes *b, struct tap_err *err)
{
	int ret = tap_dat_read_front(v->r, b, err) ?: tap_dat_read_cmdlines(v->r, b, err);

	if (ret)
		return ret;
	v->nr_cpus = tap_bytes_u32(b);
	if (b->bad || v->nr_cpus > TAP_DAT_MAX_CPUS)
		return tap_dat_bad(v->r, err, "its number of CPUs is missing or invalid");
	v->r->info.nr_cpus = v->nr_cpus;
	return 0;
}

static int read_buffers(struct v6 *v, struct tap_err *err)
{
	/* options of a buffer may add buffers; tap_dat_add_buffer() limits their number */
	for (unsigned int i = 0; i < v->nr_buffers; i++) {
		struct tap_bytes b = tap_dat_bytes(v->r, v->buffers[i].offset);
		int ret;

		if (b.bad) /* the buffer is after the end of a cut file, as its data would be */
			return tap_dat_bad(v->r, err, "a buffer lies after its end");
		ret = read_tag(v, &b, err) ?: read_table(v, &b, v->buffers[i].name, err);
		if (ret)
			return ret;
	}
	return 0;
}

int tap_dat_read_v6(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err)
{
	struct v6 v = { .r = r };
	int ret;

	ret = tap_dat_set_text(&r->compression, "none", 4, err);
	ret = ret ?: read_front(&v, b, err);
	ret = ret ?: read_tag(&v, b, err);
	ret = ret ?: read_table(&v, b, "", err);
	ret = ret ?: read_buffers(&v, err);
	free(v.buffers);
	return ret;
}
