// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program's control file and ring with any bytes written over them while they are read: the
 * output stays within its limits and ends, and invalid content is refused. The input is a list of
 * patches: area (a byte), offset in it (two bytes), length (one byte), bytes.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "record/user/control_file.h"
#include "record/user/kinds.h"
#include "record/user/rings.h"
#include "check.h"

#define assert_true(what) CHECK(what)
#define assert_int_equal(a, b) CHECK((a) == (b))
#include "../unit/user_program.h"

#define CPUS 8u
#define PID 4711 /* not this process's, so that the file's content is the same in each run */
#define RING (4 * TAP_SUB_BYTES)

static const struct event_text events[] = {
	{ "app", "start", FORMAT_TEXT("start") },
	{ "app", "stop", FORMAT_TEXT("stop") },
};

struct patches {
	const unsigned char *at, *end;
};

/* Apply the next patch. Return: false if there is none. */
static int patch(struct patches *in, const struct program *p, const struct ring *r)
{
	unsigned char *const places[] = {
		p->map,
		p->map + TAP_CONTROL_PAGE,
		p->map + area_of(p, 0)->offset % PROGRAM_BYTES,
		(unsigned char *)r->head,
		r->subs,
		r->subs + TAP_SUB_BYTES,
	};
	unsigned char *to;
	uint16_t offset;
	size_t len;

	if (in->end - in->at < 4)
		return 0;
	memcpy(&offset, in->at + 1, 2);
	to = places[in->at[0] % (sizeof(places) / sizeof(places[0]))] + offset % TAP_SUB_BYTES;
	len = in->at[3];
	in->at += 4;
	if (len > (size_t)(in->end - in->at))
		len = (size_t)(in->end - in->at);
	memcpy(to, in->at, len);
	in->at += len;
	return 1;
}

static void read_item(const struct tap_user_item *item)
{
	uint64_t sum = 0, word;

	if (item->kind != TAP_USER_RECORD)
		return;
	CHECK(item->len >= 8 && item->len <= TAP_RECORD_MAX && item->len % 8 == 0);
	for (uint32_t i = 0; i < item->len + 8; i += 8) { /* including the slack */
		memcpy(&word, item->payload + i, 8);
		sum += word;
	}
	CHECK(sum != 1 || item->len);
}

static void read_ring(int fd, const struct tap_user_ring *ring, unsigned int how)
{
	struct tap_user_reader r;
	struct tap_user_item item;
	struct tap_user_pool pool = { .max = 4 << 20 };
	int ret = tap_user_reader_init(&r, fd, ring, how & 1, (enum tap_user_from)(how / 2 % 3));

	r.pool = &pool;
	for (int round = 0; round < 2 && !ret; round++) {
		uint64_t items = 0;

		ret = tap_user_reader_poll(&r, round);
		if (how / 16 % 2)
			tap_user_reader_save(&r);
		do {
			ret = ret ? ret : tap_user_reader_next(&r, &item);
			if (!ret)
				read_item(&item);
			CHECK(items++ <= r.bytes / 24);
		} while (!ret && item.kind != TAP_USER_NOTHING);
	}
	if (!ret)
		ret = tap_user_reader_rest(&r, &item);
	CHECK(ret <= 0);
	tap_user_reader_release(&r);
	tap_user_pool_release(&pool);
}

static void check(const struct tap_user_control *c)
{
	CHECK(!c->head.comm[sizeof(c->head.comm) - 1] &&
	      !c->head.reason[sizeof(c->head.reason) - 1]);
	CHECK(c->nr_areas <= TAP_CONTROL_AREAS && c->nr_rings <= 2 * CPUS);
	for (unsigned int i = 0; i < c->nr_rings; i++)
		CHECK(c->rings[i].cpu < CPUS);
	for (unsigned int i = 0; i < c->nr_events; i++) {
		const struct tap_user_kind *k = c->events[i].kind;
		struct tap_buf text = { 0 };

		CHECK(tap_user_name_ok(k->system) && tap_user_name_ok(k->name) &&
		      !k->fmt == !!k->why);
		if (k->fmt)
			tap_user_kind_text(k, 16384, &text);
		tap_buf_release(&text);
	}
}

static void check_file(struct patches *in, const struct program *file, const struct ring *ring,
		       unsigned int how)
{
	struct tap_user_kinds kinds = { 0 };
	struct tap_user_control_source from = { file->fd, PID, CPUS, &kinds };
	struct tap_user_control c = { 0 };
	int ret = tap_user_control_read(&c, &from, NULL);

	check(&c);
	while (!ret && patch(in, file, ring)) /* more patches between two reads */
		;
	ret = ret ? ret : tap_user_control_read(&c, &from, NULL);
	CHECK(ret == 0 || ret == -EINVAL || ret == -ENODATA);
	check(&c);
	for (unsigned int i = 0; i < c.nr_rings && i < 8; i++)
		read_ring(file->fd, &c.rings[i], how);
	tap_user_control_release(&c);
	tap_user_kinds_release(&kinds);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct patches in = { data, data + size };
	unsigned int how = size ? *in.at++ : 0;
	struct program p;
	struct ring r;

	program_file(&p, PID);
	program_object(&p, 16, events, 2);
	ring_make(&r, &p, 0, RING);
	r.atomic = area_of(&p, 1)->atomic = how >> 3 & 1;
	for (uint64_t i = 0; i < 300; i++)
		ring_put(&r, 1000 + i, 16, i, 48);
	for (unsigned int i = how >> 4; i && patch(&in, &p, &r); i--)
		;
	check_file(&in, &p, &r, how);
	program_unmap(&p);
	return 0;
}
