// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/perf_pipe.h"

#include <linux/perf_event.h>

#include "file/perf_attrs.h"
#include "file/perf_features.h"

#define MIN_ATTR_BYTES 64u /* PERF_ATTR_SIZE_VER0 */

/* A record, and the data that follows it beyond its size. */
struct front_record {
	uint32_t type;
	struct tap_bytes whole, body, data;
};

/* Return false if there is no whole record at @b, or events begin there. */
static bool next_record(struct tap_bytes *b, struct front_record *rec)
{
	struct tap_bytes head = *b;
	uint16_t size;

	rec->type = tap_bytes_u32(&head);
	tap_bytes_u16(&head); /* misc */
	size = tap_bytes_u16(&head);
	if (head.bad || size < TAP_PERF_HEAD_BYTES || rec->type == PERF_RECORD_SAMPLE ||
	    rec->type == TAP_PERF_FINISHED_ROUND || rec->type == TAP_PERF_COMPRESSED ||
	    rec->type == TAP_PERF_COMPRESSED2)
		return false;
	rec->whole = tap_bytes_sub(b, size);
	rec->body = rec->whole;
	tap_bytes_take(&rec->body, TAP_PERF_HEAD_BYTES);
	rec->data = tap_bytes_sub(b, tap_perf_data_after(rec->type, rec->body));
	return !b->bad;
}

static int take_attr(struct tap_perf *p, const struct front_record *rec, struct tap_err *err)
{
	struct tap_bytes ids = rec->body, attr, head = rec->body;
	uint32_t size;

	if (rec->type != TAP_PERF_HEADER_ATTR)
		return 0;
	tap_bytes_u32(&head); /* type */
	size = tap_bytes_u32(&head);
	attr = tap_bytes_sub(&ids, size);
	if (attr.bad || size < MIN_ATTR_BYTES)
		return tap_dat_bad(p->r, err, "its attrs are missing or invalid");
	return tap_perf_add_attr(p, attr, ids, err);
}

static int take_feature(struct tap_perf *p, const struct front_record *rec, struct tap_err *err)
{
	struct tap_bytes feature = rec->body;
	uint64_t id;

	switch (rec->type) {
	case TAP_PERF_HEADER_TRACING_DATA:
		return tap_perf_read_feature(p, TAP_PERF_TRACING_DATA, rec->data, err);
	case TAP_PERF_HEADER_BUILD_ID:
		return tap_perf_read_feature(p, TAP_PERF_BUILD_ID, rec->whole, err);
	case TAP_PERF_HEADER_FEATURE:
		id = tap_bytes_u64(&feature);
		return id > TAP_PERF_BUILD_ID && id < UINT32_MAX
			       ? tap_perf_read_feature(p, (unsigned int)id, feature, err)
			       : 0;
	default:
		return 0;
	}
}

static int read_front(struct tap_perf *p,
		      int (*take)(struct tap_perf *p, const struct front_record *rec,
				  struct tap_err *err),
		      struct tap_err *err)
{
	struct tap_bytes b = {
		.at = p->data + p->from,
		.end = p->data + p->to,
		.big_endian = p->r->info.big_endian,
	};
	struct front_record rec;
	int ret = 0;

	while (!ret && next_record(&b, &rec))
		ret = take(p, &rec, err);
	return ret;
}

int tap_perf_read_pipe(struct tap_perf *p, struct tap_err *err)
{
	p->from = TAP_PERF_PIPE_HEADER_BYTES;
	p->to = p->len;
	return read_front(p, take_attr, err) ?:
	       tap_perf_end_attrs(p, err) ?:
	       read_front(p, take_feature, err);
}
