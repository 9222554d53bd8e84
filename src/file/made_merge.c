// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Merge the runs of a CPU. An event goes into the first run whose last event is not later, so the
 * last events of runs are in falling order, and of events with the same time the one in the first
 * run was added first.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "file/cursor.h"
#include "file/made.h"
#include "file/made_cpu.h"

static const struct tap_page_abi abi = {
	.page_size = TAP_PAGE_SIZE,
	.data_offset = TAP_PAGE_HEADER,
	.commit_size = 8,
	.big_endian = TAP_HOST_BIG_ENDIAN,
};

struct run {
	unsigned char *data; /* mapped */
	size_t len;
	const unsigned char *next_page;
	struct tap_cursor cursor; /* of the record that comes next */
	bool has_record;
	uint64_t loss; /* before that record */
};

static void open_page(struct run *r)
{
	struct tap_page_head head;

	tap_page_parse(&abi, r->next_page, &head);
	tap_cursor_open(&r->cursor, &abi, r->next_page, &head, 0);
	r->cursor.ts = head.stamp;
	if (head.missed)
		r->loss = head.missed_cnt ?: TAP_MADE_UNKNOWN;
	r->next_page += TAP_PAGE_SIZE;
}

static void next_record(struct run *r)
{
	r->has_record = r->cursor.at && tap_cursor_step(&r->cursor) == TAP_STEP_EVENT;
	while (!r->has_record && r->next_page < r->data + r->len) {
		open_page(r);
		r->has_record = tap_cursor_step(&r->cursor) == TAP_STEP_EVENT;
	}
}

static int open_run(struct run *r, const struct tap_made_cpu *c)
{
	r->len = c->bytes;
	r->data = mmap(NULL, r->len, PROT_READ, MAP_PRIVATE, c->fd, 0);
	if (r->data == MAP_FAILED) {
		r->data = NULL;
		return -errno;
	}
	r->next_page = r->data;
	next_record(r);
	return 0;
}

static struct run *find_first(struct run *runs, unsigned int nr)
{
	struct run *first = NULL;

	for (unsigned int i = 0; i < nr; i++)
		if (runs[i].has_record && (!first || runs[i].cursor.ts < first->cursor.ts))
			first = &runs[i];
	return first;
}

static int merge_runs(struct tap_made *m, struct run *runs, unsigned int nr,
		      struct tap_made_cpu *out)
{
	struct run *r;

	while ((r = find_first(runs, nr))) {
		unsigned char *rec;

		if (r->loss)
			out->loss = r->loss;
		r->loss = 0;
		rec = tap_made_put(m, out, r->cursor.ts, r->cursor.size);
		if (!rec)
			return m->failed;
		memcpy(rec, r->cursor.rec, r->cursor.size);
		out->last_ns = r->cursor.ts;
		next_record(r);
	}
	for (unsigned int i = 0; i < nr; i++) /* after the last event */
		out->loss = out->loss ?: runs[i].loss;
	return tap_made_flush(m, out);
}

int tap_made_merge(struct tap_made *m, struct tap_made_cpu *c)
{
	struct tap_made_cpu out = { .fd = -1 };
	unsigned int nr = 0, nr_open = 0;
	struct run *runs;
	int ret = 0;

	for (struct tap_made_cpu *run = c; run; run = run->later)
		nr++;
	runs = calloc(nr, sizeof(*runs));
	if (!runs)
		return tap_made_fail(m, -ENOMEM, "not enough memory");
	for (struct tap_made_cpu *run = c; !ret && run; run = run->later) {
		ret = run == c ? 0 : tap_made_flush(m, run);
		ret = ret ?: open_run(&runs[nr_open], run);
		nr_open += !ret;
	}
	ret = ret ? tap_made_fail(m, ret, "cannot sort '%.300s': %s", m->r->path, strerror(-ret))
		  : merge_runs(m, runs, nr, &out);
	for (unsigned int i = 0; i < nr_open; i++)
		munmap(runs[i].data, runs[i].len);
	free(runs);
	tap_made_cpu_release(c);
	*c = out;
	return ret;
}
