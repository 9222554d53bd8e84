// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The reading side of bpf/ring.h against a writer that does in memory what the BPF programs do:
 * takes space by one exchange on head, is interrupted by other records in the middle of its own,
 * commits last, and counts what it cannot put. What comes out of the spool must be every record
 * once, in order, with every loss in its place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>

#include <schedtap/reader.h>

/* The writer comes between two looks of the reader: each of its looks at the ring says so. */
static void look(void);
#define __atomic_load_n(at, order) (look(), __atomic_load_n(at, order))
#include "record/drain.c"
#include "tmp_dir.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))
#define RING 4096u
#define REC_ID 0x7abc
#define MAX_OPEN 4

/* What the writer puts; filler follows. */
struct payload {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	uint64_t seq; /* in the order in which space was taken */
	uint64_t lost; /* all that was lost before */
	uint64_t ts_ns;
	uint32_t len; /* of the payload, this included */
	uint32_t pad;
};

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char rec_format[] =
	"name: rec\nID: 31420\n" COMMON "\tfield:u64 seq;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 lost;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 ts_ns;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:u32 len;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"seq=%llu\", REC->seq\n";
_Static_assert(REC_ID == 31420, "as the format text says");

struct writer {
	struct tap_ring ring;
	_Alignas(8) unsigned char data[4 * RING + TAP_RING_SLACK];
	uint64_t ring_bytes;
	uint64_t clock, seq;
	struct {
		struct tap_rec *rec;
		uint32_t space, used;
	} open[MAX_OPEN]; /* taken, not yet real; the last one ends first */
	unsigned int nr_open;
};

/* ---- the writer ---- */

static void lose(struct writer *w)
{
	struct tap_ring *ring = &w->ring;
	uint64_t now = ++w->clock;

	if (ring->lost == __atomic_load_n(&ring->lost_seen, __ATOMIC_ACQUIRE))
		__atomic_store_n(&ring->lost_first_ns, now, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->lost_last_ns, now, __ATOMIC_RELAXED);
	__atomic_fetch_add(&ring->lost, 1, __ATOMIC_RELEASE);
}

static void fill(struct writer *w, struct payload *p, uint32_t len)
{
	*p = (struct payload){
		.type = REC_ID, .seq = w->seq++, .lost = w->ring.lost, .ts_ns = w->clock, .len = len
	};
	memset(p + 1, (int)(p->seq | 1), len - sizeof(*p));
}

/* Takes space for @len bytes of payload; no interrupt strikes between the load and the exchange. */
static bool take(struct writer *w, uint32_t len)
{
	unsigned long long head = __atomic_load_n(&w->ring.head, __ATOMIC_RELAXED), want = head;
	uint32_t space = (uint32_t)(sizeof(struct tap_rec) + len + 7) & ~7u;
	struct tap_rec *rec;

	w->clock += 2; /* a hole may be said to end 1 ns after the last loss */
	if (w->ring.lost != __atomic_load_n(&w->ring.lost_seen, __ATOMIC_ACQUIRE) ||
	    head + space - __atomic_load_n(&w->ring.tail, __ATOMIC_ACQUIRE) > w->ring_bytes) {
		lose(w);
		return false;
	}
	assert_true(__atomic_compare_exchange_n(&w->ring.head, &want, head + space, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	rec = (struct tap_rec *)(w->data + (head & (w->ring_bytes - 1)));
	for (uint32_t i = 0; i < space; i++)
		if (((unsigned char *)rec)[i])
			fail_msg("byte %u of free space is not zero", i);
	rec->ts_ns = w->clock;
	fill(w, (struct payload *)(rec + 1), len);
	w->open[w->nr_open].rec = rec;
	w->open[w->nr_open].space = space;
	w->open[w->nr_open++].used = len;
	return true;
}

static void commit(struct writer *w)
{
	uint32_t word;

	w->nr_open--;
	word = w->open[w->nr_open].used << 16 | w->open[w->nr_open].space;
	__atomic_store_n((uint32_t *)w->open[w->nr_open].rec, word, __ATOMIC_RELEASE);
}

/* ---- the reader ---- */

struct reader {
	struct tmp_dir tmp;
	struct tap_spool *spool;
	struct tap_page_writer *writer;
	struct tap_lane lane;
	struct tap_drain res;
};

static bool holds; /* pages are held in memory */

static void reader_start(struct reader *r, struct writer *w)
{
	const struct tap_def *lost = tap_def_find("schedtap", "events_lost");
	struct tap_buf lost_text = { 0 };
	struct tap_head_format formats[2] = { { "test", rec_format, sizeof(rec_format) - 1 } };
	struct tap_head head = {
		.formats = formats,
		.nr_formats = 2,
		.uname = "Linux",
		.tool = "test",
		.cmdlines = "",
		.meta = "{}",
		.clock = "mono",
		.printk = "",
		.nr_cpus = 1,
	};

	tap_def_format(lost, NULL, NULL, &lost_text);
	formats[1] = (struct tap_head_format){ "schedtap", tap_buf_str(&lost_text), lost_text.len };
	tap_head_defaults(&head);
	tmp_make(&r->tmp);
	assert_int_equal(tap_spool_create(tmp_at(&r->tmp, "x"), &head, &r->spool, NULL), 0);
	if (holds)
		assert_int_equal(tap_spool_hold(r->spool, 0, NULL), 0);
	assert_int_equal(tap_page_writer_new(r->spool, &r->writer, NULL), 0);
	assert_int_equal(tap_page_writer_add_buffer(r->writer, "", "mono", TAP_PAGE_SIZE, 1, NULL),
			 0);
	tap_buf_release(&lost_text);
	r->lane = (struct tap_lane){ .ring = &w->ring,
				     .data = w->data,
				     .ring_bytes = w->ring_bytes,
				     .lost_id = (uint16_t)lost->id };
	assert_int_equal(tap_lane_init(&r->lane), 0);
}

static void drain(struct reader *r)
{
	tap_lane_drain(&r->lane, r->writer, &r->res);
}

static void reader_end(struct reader *r)
{
	tap_page_writer_free(r->writer);
	tap_spool_free(r->spool);
	tap_lane_release(&r->lane);
	tmp_remove(&r->tmp);
}

static struct {
	struct writer *w; /* NULL: no writer interrupts */
	unsigned int looks; /* that are left before it does */
} between;

/* Records as many as there is space for, and then what is lost. */
static void look(void)
{
	struct writer *w = between.w;

	if (!w || --between.looks)
		return;
	between.w = NULL;
	for (unsigned int i = 0; i < 70; i++)
		if (take(w, 48))
			commit(w);
}

/* ---- what the spool says ---- */

struct seen {
	uint64_t records, lost;
	unsigned int holes;
	uint64_t last_ns; /* of the record or the hole before */
};

static uint64_t value(const struct tap_event *ev, const char *name)
{
	return tap_field_u64(tap_format_field(ev->fmt, name), ev->data, ev->size);
}

static void see(struct seen *s, const struct tap_event *ev)
{
	const unsigned char *bytes = ev->data;

	if (!ev->fmt) {
		assert_int_not_equal(ev->lost.count, 0);
		assert_true(ev->lost.first_ns > s->last_ns);
		assert_true(ev->lost.last_ns >= ev->lost.first_ns);
		s->lost += ev->lost.count;
		s->last_ns = ev->lost.last_ns;
		s->holes++;
		return;
	}
	assert_string_equal(ev->fmt->name, "rec");
	assert_int_equal(value(ev, "seq"), s->records);
	assert_int_equal(value(ev, "lost"), s->lost);
	assert_int_equal(value(ev, "ts_ns"), ev->ts_ns);
	assert_true(ev->ts_ns > s->last_ns);
	assert_int_equal((value(ev, "len") + 3) & ~3u, ev->size);
	for (size_t i = sizeof(struct payload); i < value(ev, "len"); i++)
		assert_int_equal(bytes[i], (s->records | 1) & 0xff);
	s->records++;
	s->last_ns = ev->ts_ns;
}

static void page_file(const struct reader *r, char path[4096])
{
	snprintf(path, 4096, "%s/0..mono.%u.cpu0", tap_spool_path(r->spool), TAP_PAGE_SIZE);
}

/* Write the pages held in memory as the page file that a spool would have. */
static void write_held(struct reader *r)
{
	const struct tap_held *held = tap_spool_held(r->spool);
	const struct tap_held_lane *lane = tap_held_lanes(held);
	unsigned char page[TAP_PAGE_SIZE];
	char path[4096];
	FILE *f;

	assert_int_equal(unlink(tmp_at(&r->tmp, "x.spool/" TAP_SPOOL_HELD)), 0);
	page_file(r, path);
	f = fopen(path, "w");
	for (uint64_t at = 0; lane && at < lane->end; at += sizeof(page)) {
		assert_int_equal(tap_held_read(held, lane, at, page, sizeof(page)), sizeof(page));
		assert_int_equal(fwrite(page, sizeof(page), 1, f), 1);
	}
	fclose(f);
}

/* The page after each loss is flagged, for readers that do not know schedtap's record of a loss. */
static void check_flags(const struct reader *r, const struct seen *s)
{
	unsigned int flags = 0;
	char path[4096];
	uint64_t head[TAP_PAGE_SIZE / 8];
	FILE *f;

	page_file(r, path);
	f = fopen(path, "r");
	while (f && fread(head, sizeof(head), 1, f) == 1)
		flags += !!(head[1] & TAP_PAGE_MISSED);
	if (f)
		fclose(f);
	assert_int_equal(flags, s->holes);
}

static struct seen see_all(struct reader *r, const struct writer *w)
{
	struct seen s = { 0 };
	struct tap_reader *reader;
	struct tap_event ev;

	tap_lane_flush(&r->lane, r->writer, true);
	tap_page_writer_wait(r->writer);
	assert_int_equal(tap_page_writer_check(r->writer, NULL), 0);
	if (holds)
		write_held(r);
	assert_int_equal(tap_reader_open(tap_spool_path(r->spool), &reader, NULL), 0);
	while (tap_reader_next(reader, &ev, NULL) == 1)
		see(&s, &ev);
	tap_reader_free(reader);
	assert_int_equal(s.records, w->seq);
	assert_int_equal(s.lost, w->ring.lost);
	assert_int_equal(r->res.events, w->seq);
	assert_int_equal(r->res.lost, w->ring.lost);
	check_flags(r, &s);
	return s;
}

/* ---- by hand ---- */

enum op {
	END,
	PUT, /* a records of b bytes; those that do not fit are lost */
	TAKE, /* one of b bytes, not yet real */
	COMMIT, /* the one that was taken last */
	LOSE, /* a events, though there is space */
	DRAIN, /* then a records have come out in all */
	/* a drain; before its a-th look at the ring, 64 records of 48 bytes are put and 6 lost */
	MEET,
	AGAIN, /* all before, a times */
};

struct step {
	enum op op;
	unsigned int a, b;
};

struct script {
	const char *name;
	struct step steps[16];
	uint64_t records, lost;
	unsigned int holes;
};

/* A record takes 16 bytes more than its payload. */
static const struct script scripts[] = {
	{ "an empty ring gives nothing", { { DRAIN, 0 } }, 0, 0, 0 },
	{ "all come once, in order", { { PUT, 10, 48 }, { DRAIN, 10 }, { DRAIN, 10 } }, 10, 0, 0 },
	{ "a payload that is no multiple of 8",
	  { { PUT, 3, 41 }, { PUT, 3, 46 }, { DRAIN, 6 } },
	  6,
	  0,
	  0 },
	{ "a ring that is full to the last byte", { { PUT, 64, 48 }, { DRAIN, 64 } }, 64, 0, 0 },
	{ "a record that begins 8 bytes below the end, into the slack",
	  { { PUT, 7, 568 },
	    { DRAIN, 7 },
	    { PUT, 1, 1000 },
	    { DRAIN, 8 },
	    { PUT, 60, 48 },
	    { DRAIN, 68 } },
	  68,
	  0,
	  0 },
	{ "round and round, each time elsewhere",
	  { { PUT, 5, 104 }, { PUT, 2, 600 }, { DRAIN, 0 }, { AGAIN, 500 } },
	  3507,
	  0,
	  0 },
	{ "more pages than are gathered before a write",
	  { { PUT, 4, 1000 }, { DRAIN, 0 }, { AGAIN, 100 } },
	  404,
	  0,
	  0 },
	{ "a record that is not yet real holds back later ones",
	  { { PUT, 1, 48 },
	    { TAKE, 0, 48 },
	    { PUT, 3, 48 },
	    { DRAIN, 1 },
	    { DRAIN, 1 },
	    { COMMIT },
	    { DRAIN, 5 } },
	  5,
	  0,
	  0 },
	{ "an interrupt of an interrupt",
	  { { TAKE, 0, 48 },
	    { TAKE, 0, 80 },
	    { TAKE, 0, 40 },
	    { COMMIT },
	    { DRAIN, 0 },
	    { COMMIT },
	    { DRAIN, 0 },
	    { COMMIT },
	    { DRAIN, 3 } },
	  3,
	  0,
	  0 },
	{ "loss at the very start",
	  { { LOSE, 2 }, { DRAIN, 0 }, { PUT, 2, 48 }, { DRAIN, 2 } },
	  2,
	  2,
	  1 },
	{ "loss at the very end", { { PUT, 2, 48 }, { LOSE, 1 }, { DRAIN, 2 } }, 2, 1, 1 },
	{ "nothing but loss", { { LOSE, 5 }, { DRAIN, 0 } }, 0, 5, 1 },
	{ "loss twice",
	  { { PUT, 70, 48 }, { DRAIN, 64 }, { PUT, 70, 48 }, { DRAIN, 128 } },
	  128,
	  12,
	  2 },
	{ "loss, and loss again with nothing between",
	  { { LOSE, 3 }, { DRAIN, 0 }, { LOSE, 4 }, { DRAIN, 0 }, { PUT, 1, 48 }, { DRAIN, 1 } },
	  1,
	  7,
	  2 },
	{ "a small one that would fit is lost as well, so that there is one hole",
	  { { PUT, 7, 560 }, { PUT, 1, 48 }, { PUT, 1, 40 }, { DRAIN, 8 } },
	  8,
	  1,
	  1 },
	{ "a ring stays closed until the last record was taken",
	  { { PUT, 62, 48 },
	    { TAKE, 0, 48 },
	    { PUT, 2, 48 },
	    { DRAIN, 62 },
	    { PUT, 3, 48 },
	    { COMMIT },
	    { PUT, 1, 48 },
	    { DRAIN, 64 },
	    { PUT, 2, 48 },
	    { DRAIN, 66 } },
	  66,
	  5,
	  1 },
	{ "loss after records that come before a look", { { MEET, 1 }, { DRAIN, 64 } }, 64, 6, 1 },
	{ "loss after records that come when no more were seen",
	  { { MEET, 2 }, { DRAIN, 64 } },
	  64,
	  6,
	  1 },
	{ "loss after records that come when no loss was noted",
	  { { MEET, 3 }, { DRAIN, 64 } },
	  64,
	  6,
	  1 },
};

/* Returns whether the rest is to be done again. */
static void step(struct writer *w, struct reader *r, const struct step *s)
{
	switch (s->op) {
	case PUT:
		for (unsigned int i = 0; i < s->a; i++)
			if (take(w, s->b))
				commit(w);
		break;
	case TAKE:
		assert_true(take(w, s->b));
		break;
	case COMMIT:
		commit(w);
		break;
	case LOSE:
		for (unsigned int i = 0; i < s->a; i++)
			lose(w);
		break;
	case DRAIN:
		drain(r);
		if (s->a)
			assert_int_equal(r->res.events, s->a);
		break;
	case MEET:
		between.looks = s->a;
		between.w = w;
		drain(r);
		assert_null(between.w);
		break;
	default:
		break;
	}
}

static void run_script(const struct script *c, struct writer *w, struct reader *r)
{
	for (const struct step *s = c->steps; s->op != END; s++) {
		if (s->op != AGAIN) {
			step(w, r, s);
			continue;
		}
		for (unsigned int i = 0; i < s->a; i++)
			for (const struct step *t = c->steps; t != s; t++)
				step(w, r, t);
	}
}

static void test_scripts(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(scripts); i++) {
		const struct script *c = &scripts[i];
		struct writer *w = calloc(1, sizeof(*w));
		struct reader r = { 0 };
		struct seen s;

		print_message("# %s\n", c->name);
		w->ring_bytes = RING;
		reader_start(&r, w);
		run_script(c, w, &r);
		s = see_all(&r, w);
		assert_int_equal(s.records, c->records);
		assert_int_equal(s.lost, c->lost);
		assert_int_equal(s.holes, c->holes);
		reader_end(&r);
		free(w);
	}
}

/* ---- both at once ---- */

struct stress {
	const char *name;
	uint64_t ring_bytes;
	unsigned int records; /* tried */
	unsigned int pause; /* the writer gives way after so many */
	bool loses;
};

static const struct stress stresses[] = {
	{ "a writer that never waits", RING, 60000, 0, true },
	{ "a writer that gives way", RING, 60000, 16, false },
	{ "a larger ring", 4 * RING, 60000, 48, false },
};

struct job {
	struct writer *w;
	const struct stress *stress;
	bool done;
};

static uint32_t rnd(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* One record, now and then with others in its middle. */
static void put_nested(struct writer *w, uint32_t *seed)
{
	uint32_t len = sizeof(struct payload) + rnd(seed) % 200;
	bool taken = take(w, len);

	while (w->nr_open < MAX_OPEN && rnd(seed) % 8 == 0)
		put_nested(w, seed);
	if (taken)
		commit(w);
}

static void *write_all(void *arg)
{
	struct job *job = arg;
	uint32_t seed = 1;

	for (unsigned int i = 0; i < job->stress->records; i++) {
		put_nested(job->w, &seed);
		if (job->stress->pause && i % job->stress->pause == 0)
			sched_yield();
	}
	__atomic_store_n(&job->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void test_stress(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(stresses); i++) {
		const struct stress *c = &stresses[i];
		struct job job = { .w = calloc(1, sizeof(*job.w)), .stress = c };
		struct reader r = { 0 };
		pthread_t thread;
		struct seen s;

		job.w->ring_bytes = c->ring_bytes;
		reader_start(&r, job.w);
		assert_int_equal(pthread_create(&thread, NULL, write_all, &job), 0);
		while (!__atomic_load_n(&job.done, __ATOMIC_ACQUIRE))
			drain(&r);
		pthread_join(thread, NULL);
		drain(&r);
		s = see_all(&r, job.w);
		print_message("# %s: %llu records, %llu lost in %u holes\n", c->name,
			      (unsigned long long)s.records, (unsigned long long)s.lost, s.holes);
		assert_int_not_equal(s.records, 0);
		if (c->loses)
			assert_int_not_equal(s.holes, 0);
		reader_end(&r);
		free(job.w);
	}
}

static int hold(void **state)
{
	(void)state;
	holds = true;
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_stress),
		{ .name = "test_scripts, held", .test_func = test_scripts, .setup_func = hold },
		{ .name = "test_stress, held", .test_func = test_stress },
	};

	/* a drain that does not end must not fill the disk, or wait for ever */
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1 << 30, 1 << 30 });
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("drain", tests, NULL, NULL);
}
