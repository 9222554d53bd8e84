// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reading a program's ring from outside: against rings made by hand in a file, whole ones, and
 * torn, lying and truncated ones. What comes out must be every record once, in order, and every
 * loss in its place with its count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>

#include "record/user/rings.h"
#include "tmp_dir.h"
#include "user_program.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))
#define RING (4 * TAP_SUB_BYTES)
#define EVENT_ID 17
/* With this payload a record takes 64 bytes; PER_SUB fit in a sub-buffer after its tap_sub_info. */
#define PAYLOAD 48u
#define PER_SUB 254u
#define BACKLOG (4u << 20)

struct fixture {
	struct tmp_dir tmp;
	struct program p;
	struct ring w;
	struct tap_user_reader r;
	struct tap_user_pool pool;
	uint64_t clock, seq, taken, lost;
	unsigned int holes, unknown;
	uint64_t first, last; /* of the last hole */
	uint64_t next_seq;
	int ret;
};

static void fixture_make(struct fixture *f, bool discard, bool atomic)
{
	*f = (struct fixture){ .clock = 1000, .pool.max = BACKLOG };
	tmp_make(&f->tmp);
	program_make(&f->p, f->tmp.path, getpid(), "1");
	ring_make(&f->w, &f->p, 0, RING);
	f->w.discard = discard;
	f->w.atomic = atomic;
}

static void fixture_remove(struct fixture *f)
{
	tap_user_reader_release(&f->r);
	assert_true(f->pool.bytes <= BACKLOG);
	tap_user_pool_release(&f->pool);
	program_unmap(&f->p);
	tmp_remove(&f->tmp);
}

static int attach(struct fixture *f, enum tap_user_from from)
{
	struct tap_area *a = area_of(&f->p, f->w.area);
	struct tap_user_ring ring = { .offset = a->offset, .size = a->size, .atomic = f->w.atomic };

	tap_user_reader_release(&f->r);
	f->ret = tap_user_reader_init(&f->r, f->p.fd, &ring, f->w.discard, from);
	f->r.pool = &f->pool;
	return f->ret;
}

static unsigned char *put(struct fixture *f)
{
	f->clock += 10;
	return ring_put(&f->w, f->clock, EVENT_ID, f->seq++, PAYLOAD);
}

static void see_loss(struct fixture *f, const struct tap_user_item *item)
{
	f->holes++;
	f->unknown += !item->count;
	f->lost += item->count;
	f->first = item->first;
	f->last = item->stamp;
	assert_true(item->first <= item->stamp);
}

static void see(struct fixture *f, const struct tap_user_item *item)
{
	uint64_t seq;

	if (item->kind == TAP_USER_LOSS) {
		see_loss(f, item);
		return;
	}
	assert_int_equal(item->type, EVENT_ID);
	assert_int_equal(item->len, PAYLOAD);
	memcpy(&seq, item->payload + 8, sizeof(seq));
	assert_int_equal(item->stamp, 1000 + 10 * (seq + 1));
	assert_true(seq >= f->next_seq);
	f->next_seq = seq + 1;
	f->taken++;
}

/* Up to the last poll, which returned @ret. */
static int take_all(struct fixture *f, bool dead, int ret)
{
	struct tap_user_item item;

	for (unsigned int i = 0; !ret; i++) {
		assert_true(i < 1000000);
		ret = tap_user_reader_next(&f->r, &item);
		if (ret || item.kind == TAP_USER_NOTHING)
			break;
		see(f, &item);
	}
	if (!ret && dead) {
		ret = tap_user_reader_rest(&f->r, &item);
		if (!ret && item.kind == TAP_USER_LOSS)
			see_loss(f, &item);
	}
	f->ret = ret;
	return ret;
}

static int drain(struct fixture *f, bool dead)
{
	return take_all(f, dead, tap_user_reader_poll(&f->r, dead));
}

/* ---- by hand ---- */

enum op {
	END,
	PUT, /* a events; what there is no room for is lost */
	SAVE, /* what is whole into the backlog */
	DRAIN,
	OVERTAKE, /* the same, but a events come between the look at head and what is read */
	DIE, /* drains for the last time */
	ATTACH, /* to what is there */
	NOW, /* to what comes from now on */
	ALL, /* to what is there; what is not is lost */
	UNREAL, /* an atomic writer's: taken, its first word not yet written */
	REALISE, /* it is written */
	BAD_WORD, /* the last record's third word is not 0 */
	BAD_STAMP, /* it is older than the one before */
	BAD_LENGTH, /* its length is a */
	BAD_TYPE, /* it says that it is a sub-buffer's own */
	BAD_INFO, /* the sub-buffer's own record says that it is an event's */
	PADDING, /* it says that the rest is empty */
	BACK, /* head goes back by a bytes */
	JUMP, /* head goes on by a bytes, with nothing there */
};

struct step {
	enum op op;
	uint64_t a;
};

struct script {
	const char *name;
	bool discard, atomic;
	struct step steps[17];
	int ret;
	uint64_t taken, lost;
	unsigned int holes, unknown;
};

static const struct script scripts[] = {
	{ "an empty ring", true, false, { { ATTACH }, { DRAIN }, { DIE } }, 0, 0, 0, 0, 0 },
	{ "all once, in order",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { DRAIN }, { DRAIN }, { PUT, 5 }, { DRAIN }, { DIE } },
	  0,
	  15,
	  0,
	  0,
	  0 },
	{ "a sub-buffer to the last byte",
	  true,
	  false,
	  { { ATTACH }, { PUT, PER_SUB }, { DRAIN }, { PUT, PER_SUB }, { DRAIN }, { DIE } },
	  0,
	  2 * PER_SUB,
	  0,
	  0,
	  0 },
	{ "from one sub-buffer to the next, half read",
	  true,
	  false,
	  { { ATTACH }, { PUT, 200 }, { DRAIN }, { PUT, 200 }, { DRAIN }, { PUT, 200 }, { DIE } },
	  0,
	  600,
	  0,
	  0,
	  0 },
	{ "a full ring discards the newest, and says how many",
	  true,
	  false,
	  { { ATTACH }, { PUT, 4 * PER_SUB + 7 }, { DRAIN }, { PUT, 3 }, { DRAIN } },
	  0,
	  4 * PER_SUB + 3,
	  7,
	  1,
	  0 },
	{ "what was discarded at the end is in no stream",
	  true,
	  false,
	  { { ATTACH }, { PUT, 4 * PER_SUB + 7 }, { DIE } },
	  0,
	  4 * PER_SUB,
	  7,
	  1,
	  0 },
	{ "discarded twice",
	  true,
	  false,
	  { { ATTACH }, { PUT, 4 * PER_SUB + 7 }, { DRAIN }, { PUT, 4 * PER_SUB + 5 }, { DIE } },
	  0,
	  8 * PER_SUB,
	  12,
	  2,
	  0 },
	{ "a drained sub-buffer is given free",
	  true,
	  false,
	  { { ATTACH },
	    { PUT, 3 * PER_SUB },
	    { DRAIN },
	    { PUT, 3 * PER_SUB },
	    { DRAIN },
	    { PUT, 3 * PER_SUB },
	    { DIE } },
	  0,
	  9 * PER_SUB,
	  0,
	  0,
	  0 },
	{ "a sub-buffer that is saved is given free",
	  true,
	  false,
	  { { ATTACH },
	    { PUT, 3 * PER_SUB },
	    { SAVE },
	    { PUT, 3 * PER_SUB },
	    { SAVE },
	    { PUT, 3 * PER_SUB },
	    { DRAIN },
	    { PUT, 3 * PER_SUB },
	    { DIE } },
	  0,
	  12 * PER_SUB,
	  0,
	  0,
	  0 },
	{ "saved, more than a chunk of memory holds",
	  true,
	  false,
	  { { ATTACH },
	    { PUT, 3 * PER_SUB },
	    { SAVE },
	    { PUT, 3 * PER_SUB },
	    { SAVE },
	    { PUT, 3 * PER_SUB },
	    { SAVE },
	    { PUT, 3 * PER_SUB },
	    { SAVE },
	    { PUT, 3 * PER_SUB },
	    { SAVE },
	    { PUT, 3 * PER_SUB },
	    { SAVE },
	    { PUT, 2 * PER_SUB },
	    { SAVE },
	    { DIE } },
	  0,
	  20 * PER_SUB,
	  0,
	  0,
	  0 },
	{ "saved half read",
	  true,
	  false,
	  { { ATTACH },
	    { PUT, 10 },
	    { DRAIN },
	    { PUT, 3 * PER_SUB },
	    { SAVE },
	    { PUT, 3 * PER_SUB },
	    { SAVE },
	    { DRAIN },
	    { PUT, 20 },
	    { DIE } },
	  0,
	  30 + 6 * PER_SUB,
	  0,
	  0,
	  0 },
	{ "saved with a loss: where it was, and how many",
	  true,
	  false,
	  { { ATTACH },
	    { PUT, 4 * PER_SUB + 7 },
	    { SAVE },
	    { PUT, 2 * PER_SUB },
	    { SAVE },
	    { DRAIN },
	    { DIE } },
	  0,
	  6 * PER_SUB,
	  7,
	  1,
	  0 },
	{ "from now on, saved: nothing that was before",
	  true,
	  false,
	  { { PUT, 300 }, { NOW }, { PUT, 2 * PER_SUB }, { SAVE }, { PUT, 2 * PER_SUB }, { DIE } },
	  0,
	  4 * PER_SUB,
	  0,
	  0,
	  0 },
	{ "saved, with a record that makes no sense",
	  true,
	  false,
	  { { ATTACH },
	    { PUT, 10 },
	    { BAD_WORD },
	    { PUT, 2 * PER_SUB },
	    { SAVE },
	    { PUT, 10 },
	    { DRAIN } },
	  0,
	  29 + PER_SUB,
	  PER_SUB - 9,
	  1,
	  0 },
	{ "a ring that overwrites is not saved",
	  false,
	  false,
	  { { ATTACH },
	    { PUT, 100 },
	    { DRAIN },
	    { PUT, 3 * PER_SUB },
	    { SAVE },
	    { PUT, 3 * PER_SUB - 100 },
	    { DIE } },
	  0,
	  100 + 3 * PER_SUB,
	  3 * PER_SUB - 100,
	  1,
	  0 },
	{ "from now on: nothing that was before",
	  true,
	  false,
	  { { PUT, 300 }, { NOW }, { DRAIN }, { PUT, 5 }, { DRAIN }, { PUT, 300 }, { DIE } },
	  0,
	  305,
	  0,
	  0,
	  0 },
	{ "from now on: a ring that is full of old events is given free",
	  true,
	  false,
	  { { PUT, 4 * PER_SUB - 100 }, { NOW }, { PUT, 3 * PER_SUB + 100 }, { DIE } },
	  0,
	  3 * PER_SUB + 100,
	  0,
	  0,
	  0 },
	{ "from now on: earlier discarded events are not reported",
	  true,
	  false,
	  { { PUT, 4 * PER_SUB + 9 }, { NOW }, { DRAIN }, { PUT, 5 }, { DRAIN } },
	  0,
	  5,
	  0,
	  0,
	  0 },
	{ "the next reader goes on where the last one was",
	  true,
	  false,
	  { { ATTACH }, { PUT, 2 * PER_SUB + 5 }, { DRAIN }, { ATTACH }, { PUT, 1 }, { DIE } },
	  0,
	  2 * PER_SUB + 6 + 5,
	  0,
	  0,
	  0 },
	{ "overwritten: the oldest is gone, one sub-buffer more for safety",
	  false,
	  false,
	  { { PUT, 6 * PER_SUB }, { ATTACH }, { DIE } },
	  0,
	  3 * PER_SUB,
	  0,
	  0,
	  0 },
	{ "overwritten, of a program whose every event counts",
	  false,
	  false,
	  { { PUT, 6 * PER_SUB }, { ALL }, { DIE } },
	  0,
	  3 * PER_SUB,
	  3 * PER_SUB,
	  1,
	  0 },
	{ "lapped while attached: the count is exact",
	  false,
	  false,
	  { { ATTACH }, { PUT, 100 }, { DRAIN }, { PUT, 6 * PER_SUB - 100 }, { DIE } },
	  0,
	  100 + 3 * PER_SUB,
	  3 * PER_SUB - 100,
	  1,
	  0 },
	{ "lapped twice",
	  false,
	  false,
	  { { ATTACH },
	    { PUT, 10 },
	    { DRAIN },
	    { PUT, 6 * PER_SUB - 10 },
	    { DRAIN },
	    { PUT, 6 * PER_SUB },
	    { DIE } },
	  0,
	  10 + 6 * PER_SUB,
	  6 * PER_SUB - 10,
	  2,
	  0 },
	{ "lapped by a thousand rounds",
	  false,
	  false,
	  { { ATTACH }, { PUT, 1 }, { DRAIN }, { PUT, 4000 * PER_SUB - 1 }, { DIE } },
	  0,
	  1 + 3 * PER_SUB,
	  3997 * PER_SUB - 1,
	  1,
	  0 },
	{ "lapped after the look at head: the copy is not what was written",
	  false,
	  false,
	  { { ATTACH }, { PUT, 2 * PER_SUB }, { OVERTAKE, 4 * PER_SUB }, { DIE } },
	  0,
	  3 * PER_SUB,
	  3 * PER_SUB,
	  1,
	  0 },
	{ "lapped after the look at head, in a sub-buffer half read",
	  false,
	  false,
	  { { ATTACH },
	    { PUT, 10 },
	    { DRAIN },
	    { PUT, 10 },
	    { OVERTAKE, 6 * PER_SUB - 20 },
	    { DIE } },
	  0,
	  10 + 3 * PER_SUB,
	  3 * PER_SUB - 10,
	  1,
	  0 },
	{ "the writer is at the sub-buffer after the one that was copied",
	  false,
	  false,
	  { { ATTACH }, { PUT, 2 * PER_SUB }, { OVERTAKE, PER_SUB + 1 }, { DIE } },
	  0,
	  2 * PER_SUB + 1,
	  PER_SUB,
	  1,
	  0 },
	{ "not lapped after the look at head: the writer is just short of it",
	  false,
	  false,
	  { { ATTACH }, { PUT, 2 * PER_SUB }, { OVERTAKE, PER_SUB }, { DIE } },
	  0,
	  3 * PER_SUB,
	  0,
	  0,
	  0 },
	{ "atomic: an unreal record holds back later ones",
	  true,
	  true,
	  { { ATTACH }, { PUT, 3 }, { UNREAL }, { PUT, 4 }, { DRAIN }, { REALISE }, { DRAIN } },
	  0,
	  8,
	  0,
	  0,
	  0 },
	{ "atomic: an unreal one at the end of a sub-buffer",
	  true,
	  true,
	  { { ATTACH },
	    { PUT, PER_SUB - 1 },
	    { UNREAL },
	    { PUT, 4 },
	    { DRAIN },
	    { REALISE },
	    { DRAIN } },
	  0,
	  PER_SUB + 4,
	  0,
	  0,
	  0 },
	{ "atomic: how much an unreal record of a dead program hides is not known",
	  true,
	  true,
	  { { ATTACH }, { PUT, 3 }, { UNREAL }, { PUT, 300 }, { DIE } },
	  0,
	  304 - (PER_SUB - 3),
	  0,
	  1,
	  1 },
	{ "atomic: lapped while attached: sub-buffers count, each for itself; what was not read "
	  "again is some",
	  false,
	  true,
	  { { ATTACH }, { PUT, 100 }, { DRAIN }, { PUT, 6 * PER_SUB - 100 }, { DIE } },
	  0,
	  100 + 3 * PER_SUB,
	  2 * PER_SUB - 100,
	  3,
	  1 },
	{ "atomic: from one sub-buffer to the next",
	  true,
	  true,
	  { { ATTACH }, { PUT, 300 }, { DRAIN }, { PUT, 600 }, { DRAIN }, { PUT, 600 }, { DIE } },
	  0,
	  1500,
	  0,
	  0,
	  0 },
	{ "atomic: in the last sub-buffer its count is not known",
	  true,
	  true,
	  { { ATTACH }, { PUT, 3 }, { UNREAL }, { PUT, 30 }, { DIE } },
	  0,
	  3,
	  0,
	  1,
	  1 },
	{ "padding before the writer",
	  true,
	  true,
	  { { ATTACH }, { PUT, 10 }, { PADDING }, { DRAIN }, { DIE } },
	  0,
	  9,
	  0,
	  1,
	  1 },
	{ "a record with another third word hides what follows, up to the next count",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { BAD_WORD }, { PUT, 300 }, { DRAIN } },
	  0,
	  310 - (PER_SUB - 9),
	  PER_SUB - 9,
	  1,
	  0 },
	{ "where the writer is, records go on",
	  true,
	  false,
	  { { ATTACH },
	    { PUT, 10 },
	    { BAD_WORD },
	    { DRAIN },
	    { PUT, 10 },
	    { DRAIN },
	    { PUT, 300 },
	    { DIE } },
	  0,
	  319,
	  1,
	  1,
	  0 },
	{ "in the last sub-buffer of a dead program its count is not known",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { BAD_WORD }, { PUT, 10 }, { DIE } },
	  0,
	  9,
	  0,
	  1,
	  1 },
	{ "a record from an earlier round",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { BAD_STAMP }, { PUT, 300 }, { DIE } },
	  0,
	  310 - (PER_SUB - 9),
	  PER_SUB - 9,
	  1,
	  0 },
	{ "no length",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { BAD_LENGTH, 0 }, { DIE } },
	  0,
	  9,
	  0,
	  1,
	  1 },
	{ "a length of the first word alone",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { BAD_LENGTH, 4 }, { DIE } },
	  0,
	  9,
	  0,
	  1,
	  1 },
	{ "a length that is no multiple of 8",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { BAD_LENGTH, 49 }, { DIE } },
	  0,
	  9,
	  0,
	  1,
	  1 },
	{ "a length past the writer",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { BAD_LENGTH, PAYLOAD + 4 + 8 }, { DIE } },
	  0,
	  9,
	  0,
	  1,
	  1 },
	{ "a length past the file",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { BAD_LENGTH, 0xfffffffc }, { DIE } },
	  0,
	  9,
	  0,
	  1,
	  1 },
	{ "a sub-buffer's own record in its middle",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { BAD_TYPE }, { DIE } },
	  0,
	  9,
	  0,
	  1,
	  1 },
	{ "a sub-buffer without its own record",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { BAD_INFO }, { PUT, 300 }, { DIE } },
	  0,
	  310 - PER_SUB,
	  PER_SUB,
	  1,
	  0 },
	{ "head goes back",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { DRAIN }, { BACK, 64 }, { DRAIN } },
	  -EINVAL,
	  10,
	  0,
	  0,
	  0 },
	{ "head goes beyond everything",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { DRAIN }, { JUMP, 1ull << 62 }, { DRAIN } },
	  -EINVAL,
	  10,
	  0,
	  0,
	  0 },
	{ "head goes on with nothing there",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { DRAIN }, { JUMP, 1ull << 40 }, { DIE } },
	  0,
	  10,
	  0,
	  1,
	  1 },
	{ "head is no multiple of 8",
	  true,
	  false,
	  { { ATTACH }, { PUT, 10 }, { JUMP, 3 }, { DRAIN }, { JUMP, 9 }, { DIE } },
	  0,
	  10,
	  0,
	  1,
	  1 },
};

static void step(struct fixture *f, const struct step *s)
{
	static unsigned char *last, *unreal;
	static uint32_t first_word;
	struct tap_record_head *h = (struct tap_record_head *)last;
	unsigned char *subs = f->w.subs;
	uint64_t *commit = (uint64_t *)(subs + 8); /* of the first sub-buffer */

	switch (s->op) {
	case PUT:
		for (uint64_t i = 0; i < s->a; i++)
			last = put(f);
		break;
	case SAVE:
		assert_int_equal(tap_user_reader_poll(&f->r, false), 0);
		tap_user_reader_save(&f->r);
		break;
	case DRAIN:
	case DIE:
		drain(f, s->op == DIE);
		break;
	case OVERTAKE:
		assert_int_equal(tap_user_reader_poll(&f->r, false), 0);
		for (uint64_t i = 0; i < s->a; i++)
			put(f);
		take_all(f, false, 0);
		break;
	case ATTACH:
	case NOW:
	case ALL:
		assert_int_equal(attach(f, s->op == NOW	  ? TAP_USER_NOW
					   : s->op == ALL ? TAP_USER_ALL
							  : TAP_USER_REST),
				 0);
		f->next_seq = 0;
		break;
	case UNREAL:
		unreal = put(f);
		memcpy(&first_word, unreal, sizeof(first_word));
		memset(unreal, 0, sizeof(first_word));
		*commit -= (1ull << 32) + PAYLOAD + sizeof(*h);
		break;
	case REALISE:
		memcpy(unreal, &first_word, sizeof(first_word));
		*commit += (1ull << 32) + PAYLOAD + sizeof(*h);
		break;
	case BAD_WORD:
		h->word = 1;
		break;
	case BAD_STAMP:
		h->stamp_low -= 20 << 5;
		break;
	case BAD_LENGTH:
		h->length = (uint32_t)s->a;
		break;
	case BAD_TYPE:
		memcpy(last + sizeof(*h), &(uint16_t){ TAP_ID_SUB }, 2);
		break;
	case BAD_INFO:
		memcpy(subs + TAP_SUB_HEADER + sizeof(*h), &(uint16_t){ EVENT_ID }, 2);
		break;
	case PADDING:
		h->stamp_low = 29;
		break;
	case BACK:
		f->w.head->head -= s->a;
		break;
	case JUMP:
		f->w.head->head += s->a;
		break;
	default:
		break;
	}
}

static void test_scripts(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(scripts); i++) {
		const struct script *c = &scripts[i];
		struct fixture f;

		print_message("# %s\n", c->name);
		fixture_make(&f, c->discard, c->atomic);
		for (const struct step *s = c->steps; s->op != END; s++)
			step(&f, s);
		assert_int_equal(f.ret, c->ret);
		assert_int_equal(f.taken, c->taken);
		assert_int_equal(f.lost, c->lost);
		assert_int_equal(f.holes, c->holes);
		assert_int_equal(f.unknown, c->unknown);
		fixture_remove(&f);
	}
}

/* A loss reaches from the last record before it to the first one after it. */
static void test_intervals(void **state)
{
	struct fixture f;

	(void)state;
	fixture_make(&f, true, false);
	attach(&f, TAP_USER_REST);
	for (unsigned int i = 0; i < 4 * PER_SUB + 7; i++)
		put(&f);
	drain(&f, true);
	assert_int_equal(f.first, 1000 + 10 * (4 * PER_SUB + 1));
	assert_int_equal(f.last, 1000 + 10 * (4 * PER_SUB + 7));
	fixture_remove(&f);

	fixture_make(&f, false, false);
	attach(&f, TAP_USER_REST);
	put(&f);
	drain(&f, false);
	for (unsigned int i = 1; i < 6 * PER_SUB; i++)
		put(&f);
	drain(&f, true);
	assert_int_equal(f.first, 1010);
	assert_int_equal(f.last, 1000 + 10 * (3 * PER_SUB + 1));
	fixture_remove(&f);
}

/* Ring heads that no reader may believe. */
static void test_heads(void **state)
{
	static const struct {
		const char *name;
		uint64_t bytes, subs_offset, area;
	} cases[] = {
		{ "no bytes", 0, TAP_RING_PAGE, RING + TAP_RING_PAGE },
		{ "too few", TAP_SUB_BYTES, TAP_RING_PAGE, RING + TAP_RING_PAGE },
		{ "no power of two", RING + TAP_SUB_BYTES, TAP_RING_PAGE, 1 << 20 },
		{ "more than the area", 2 * RING, TAP_RING_PAGE, RING + TAP_RING_PAGE },
		{ "more than any", 1ull << 40, TAP_RING_PAGE, 1ull << 36 },
		{ "sub-buffers among the states", RING, TAP_RING_STATES, 1 << 20 },
		{ "sub-buffers beyond the area", RING, 1ull << 50, 1 << 20 },
		{ "that wrap", RING, -4096ull, 1 << 20 },
	};

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		struct fixture f;

		print_message("# %s\n", cases[i].name);
		fixture_make(&f, true, false);
		f.w.head->bytes = cases[i].bytes;
		f.w.head->subs_offset = cases[i].subs_offset;
		area_of(&f.p, f.w.area)->size = cases[i].area;
		assert_int_equal(attach(&f, TAP_USER_REST), -EINVAL);
		fixture_remove(&f);
	}
}

/* ---- both at once ---- */

#define STRESS 300000u

struct job {
	struct fixture *f;
	bool done;
};

static void *write_all(void *arg)
{
	struct job *job = arg;

	for (unsigned int i = 0; i < STRESS; i++)
		put(job->f);
	__atomic_store_n(&job->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* @save: also what is whole is saved, more often than it is read. */
static void check_stress(bool discard, bool save)
{
	struct job job = { 0 };
	unsigned int round = 0;
	struct fixture f;
	pthread_t thread;

	fixture_make(&f, discard, false);
	job.f = &f;
	attach(&f, TAP_USER_REST);
	assert_int_equal(pthread_create(&thread, NULL, write_all, &job), 0);
	while (!__atomic_load_n(&job.done, __ATOMIC_ACQUIRE)) {
		if (save && ++round % 4) {
			assert_int_equal(tap_user_reader_poll(&f.r, false), 0);
			tap_user_reader_save(&f.r);
		} else {
			assert_int_equal(drain(&f, false), 0);
		}
		sched_yield();
	}
	pthread_join(thread, NULL);
	assert_int_equal(drain(&f, true), 0);
	print_message("# %s%s: %llu taken, %llu lost in %u holes\n",
		      discard ? "discarding" : "overwriting", save ? ", saved" : "",
		      (unsigned long long)f.taken, (unsigned long long)f.lost, f.holes);
	assert_int_equal(f.taken + f.lost, STRESS);
	assert_int_not_equal(f.taken, 0);
	fixture_remove(&f);
}

static void test_stress(void **state)
{
	(void)state;
	check_stress(false, false);
	check_stress(true, false);
	check_stress(true, true);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_stress),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("user rings", tests, NULL, NULL);
}
