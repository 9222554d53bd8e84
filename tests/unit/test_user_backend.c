// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The backend for programs' events against control files and rings made by hand: what comes out of
 * the spool must be every event once, each buffer of each CPU in time order, described by the text
 * that its program had.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include <schedtap/reader.h>

#include "record/plan.h"
#include "record/user/clock.h"
#include "record/user/state.h"
#include "record/user/user.h"
#include "tmp_dir.h"
#include "user_program.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))
#define RING (16 * TAP_SUB_BYTES)
#define PAYLOAD 24u
#define MAX_SEEN 4096

static const struct event_text app[] = {
	{ "app", "start", FORMAT_TEXT("start") },
	{ "app", "stop", FORMAT_TEXT("stop") },
};
/* Another layout of the same name: a field more. */
static const struct event_text other[] = {
	{ "app", "start",
	  "name: start\nID: 0\nformat:\n" COMMON_FIELDS
	  "\tfield:u64 seq;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:u64 more;\toffset:16;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n" },
};

struct seen {
	uint64_t ts_ns, seq;
	char name[16];
	bool has_more;
	unsigned int buffer;
	int cpu, tid;
};

struct fixture {
	struct tmp_dir tmp;
	char folder[128];
	struct program p[3];
	struct ring ring[3];
	unsigned int nr;
	struct tap_plan plan;
	struct tap_plan_pattern pattern;
	struct tap_select *select;
	const char *glob;
	void *state;
	struct tap_spool *spool;
	struct tap_page_writer *writer;
	struct tap_drain res;
	uint64_t start_ns;
	struct seen seen[MAX_SEEN];
	unsigned int nr_seen, nr_lost_records;
	uint64_t lost;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* What the recording is of, beside its -e. */
static void selects(struct fixture *f, struct tap_select_opts opts)
{
	opts.size = sizeof(opts);
	opts.events = &f->glob;
	opts.nr_events = 1;
	tap_select_free(f->select);
	assert_int_equal(tap_select_new(&opts, &f->select, NULL), 0);
	f->pattern.word = f->select->events;
	f->plan.select = f->select;
}

static struct fixture *fixture_make(const char *glob)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	tmp_make(&f->tmp);
	snprintf(f->folder, sizeof(f->folder), "%s/programs", f->tmp.path);
	assert_int_equal(mkdir(f->folder, 0700), 0);
	f->glob = glob;
	f->plan = (struct tap_plan){ .patterns = &f->pattern, .nr_patterns = 1, .nr_cpus = 2 };
	selects(f, (struct tap_select_opts){ 0 });
	return f;
}

static void add_program(struct fixture *f, int pid, const struct event_text *events, uint32_t nr,
			uint32_t cpu)
{
	char nonce[8];

	snprintf(nonce, sizeof(nonce), "%u", f->nr);
	program_make(&f->p[f->nr], f->folder, pid, nonce);
	program_object(&f->p[f->nr], 16, events, nr);
	ring_make(&f->ring[f->nr], &f->p[f->nr], cpu, RING);
	f->ring[f->nr].discard = true;
	f->nr++;
}

static struct tap_user_set *open_set(const struct fixture *f)
{
	struct tap_user_set *set;

	assert_int_equal(tap_user_new(&set), 0);
	assert_int_equal(tap_user_folders_add(tap_user_folders(set), f->folder, geteuid()), 0);
	return set;
}

static void set_head(struct fixture *f, bool first)
{
	struct tap_head head = {
		.uname = "Linux",
		.tool = "test",
		.cmdlines = "",
		.meta = "{}",
		.clock = "mono",
		.printk = "",
		.nr_cpus = 2,
	};

	tap_head_defaults(&head);
	assert_int_equal(tap_backend_user.describe(f->state, NULL, &head, NULL), 0);
	if (!first) {
		assert_int_equal(tap_page_writer_set_head(f->writer, &head, NULL), 0);
		return;
	}
	assert_int_equal(tap_spool_create(tmp_at(&f->tmp, "x"), &head, &f->spool, NULL), 0);
	assert_int_equal(tap_page_writer_new(f->spool, &f->writer, NULL), 0);
}

static void start(struct fixture *f)
{
	assert_int_equal(tap_user_open_set(&f->plan, open_set(f), &f->state, NULL), 0);
	set_head(f, true);
	assert_int_equal(tap_backend_user.add_buffer(f->state, f->writer, NULL), 0);
	assert_int_equal(tap_backend_user.start(f->state, NULL), 0);
	f->start_ns = now_ns();
}

/* Drain all rings to their end, as the session does. Return: whether programs or events are new, so
 * that the head must be written again. */
static bool drain(struct fixture *f, bool last)
{
	const struct tap_user_state *s = f->state;
	bool anew = false;

	assert_int_equal(tap_backend_user.find(f->state, &anew, NULL), 0);
	if (anew)
		set_head(f, false);
	do
		assert_int_equal(tap_backend_user.drain(f->state,
							last ? TAP_DRAIN_LAST : TAP_DRAIN_PAGES,
							&f->res, NULL),
				 0);
	while (s->paused);
	return anew;
}

static void see(struct fixture *f, const struct tap_event *ev)
{
	struct seen *s = &f->seen[f->nr_seen];

	if (!ev->fmt) {
		f->nr_lost_records++;
		f->lost += ev->lost.count;
		return;
	}
	assert_true(f->nr_seen < MAX_SEEN);
	*s = (struct seen){
		.ts_ns = ev->ts_ns,
		.buffer = ev->buffer,
		.cpu = ev->cpu,
		.seq = tap_field_u64(tap_format_field(ev->fmt, "seq"), ev->data, ev->size),
		.has_more = tap_format_field(ev->fmt, "more"),
		.tid = (int)tap_field_u64(tap_format_field(ev->fmt, "common_pid"), ev->data,
					  ev->size),
	};
	snprintf(s->name, sizeof(s->name), "%s", ev->fmt->name);
	f->nr_seen++;
}

static void stop(struct fixture *f)
{
	struct tap_reader *reader;
	struct tap_event ev;

	assert_int_equal(tap_backend_user.stop(f->state, NULL), 0);
	drain(f, true);
	tap_page_writer_wait(f->writer);
	assert_int_equal(tap_page_writer_check(f->writer, NULL), 0);
	assert_int_equal(tap_reader_open(tap_spool_path(f->spool), &reader, NULL), 0);
	while (tap_reader_next(reader, &ev, NULL) == 1)
		see(f, &ev);
	tap_reader_free(reader);
	assert_int_equal(f->res.events, f->nr_seen);
	assert_int_equal(f->res.lost, f->lost);
}

/* Return how many programs of the meta have @key. *@sum: the sum of its values. */
static unsigned int count_key(struct fixture *f, const char *key, json_int_t *sum)
{
	json_t *meta = json_object(), *p;
	unsigned int nr = 0;
	size_t i;

	*sum = 0;
	tap_backend_user.add_meta(f->state, meta);
	json_array_foreach(json_object_get(meta, "programs"), i, p) {
		nr += !!json_object_get(p, key);
		*sum += json_integer_value(json_object_get(p, key));
	}
	json_decref(meta);
	return nr;
}

static void fixture_remove(struct fixture *f)
{
	tap_backend_user.free(f->state);
	tap_page_writer_free(f->writer);
	tap_spool_free(f->spool);
	free(f->pattern.note);
	f->plan.patterns = NULL;
	f->plan.nr_patterns = 0;
	tap_plan_release(&f->plan);
	tap_select_free(f->select);
	for (unsigned int i = 0; i < f->nr; i++)
		program_unmap(&f->p[i]);
	tmp_remove(&f->tmp);
	free(f);
}

static void put(struct fixture *f, unsigned int i, uint64_t after_ns, uint16_t id, uint64_t seq)
{
	assert_non_null(ring_put(&f->ring[i], f->start_ns + after_ns, id, seq, PAYLOAD));
}

/* ---- what comes out ---- */

static void test_switches(void **state)
{
	struct fixture *f = fixture_make("app:sto*");

	(void)state;
	add_program(f, getpid(), app, 2, 0);
	control_of(&f->p[0])->mode = TAP_RING_OVERWRITE;
	start(f);
	assert_int_equal(word_of(&f->p[0], 0, 0)->wanted, 0);
	assert_int_equal(word_of(&f->p[0], 0, 1)->wanted, 1);
	assert_int_equal(control_of(&f->p[0])->mode, TAP_RING_DISCARD);
	put(f, 0, 100, 16, 1); /* somebody else wants that one */
	put(f, 0, 200, 17, 2);
	/* it looked for a recorder just before there was one */
	control_of(&f->p[0])->mode = TAP_RING_OVERWRITE;
	drain(f, false);
	assert_int_equal(control_of(&f->p[0])->mode, TAP_RING_DISCARD);
	stop(f);
	assert_int_equal(word_of(&f->p[0], 0, 1)->wanted, 0);
	assert_int_equal(f->nr_seen, 1);
	assert_int_equal(f->seen[0].seq, 2);
	assert_int_equal(f->seen[0].ts_ns, f->start_ns + 200);
	assert_string_equal(f->seen[0].name, "stop");
	assert_int_equal(f->plan.nr_events, 1);
	assert_int_equal(f->plan.events[0].status, TAP_EVENT_ON);
	tap_backend_user.free(f->state);
	f->state = NULL;
	assert_int_equal(control_of(&f->p[0])->mode, TAP_RING_OVERWRITE);
	fixture_remove(f);
}

/* What was on before stays on, and what was recorded before is not this recording's. */
static void test_leaves(void **state)
{
	struct fixture *f = fixture_make("app:*");

	(void)state;
	add_program(f, getpid(), app, 2, 0);
	word_of(&f->p[0], 0, 0)->wanted = 1;
	f->start_ns = now_ns();
	put(f, 0, 0, 16, 1);
	start(f);
	put(f, 0, 100, 16, 2);
	stop(f);
	assert_int_equal(word_of(&f->p[0], 0, 0)->wanted, 1);
	assert_int_equal(word_of(&f->p[0], 0, 1)->wanted, 0);
	assert_int_equal(f->nr_seen, 1);
	assert_int_equal(f->seen[0].seq, 2);
	fixture_remove(f);
}

/* Three programs on two CPUs, their events entangled: each buffer of each CPU in order. */
static void test_merges(void **state)
{
	struct fixture *f = fixture_make("app:*");
	uint64_t last[2] = { 0 };

	(void)state;
	add_program(f, getpid(), app, 2, 0);
	add_program(f, getpid(), app, 2, 0);
	add_program(f, getpid(), other, 1, 1);
	start(f);
	for (unsigned int i = 0; i < 300; i++) {
		put(f, i % 3 == 2 ? 2 : i * 7 % 2, i * 10, 16, i);
		if (i % 50 == 49)
			drain(f, false);
	}
	usleep(1000);
	stop(f);
	assert_int_equal(f->nr_seen, 300);
	for (unsigned int i = 0; i < f->nr_seen; i++) {
		const struct seen *s = &f->seen[i];

		assert_int_equal(s->buffer, 0);
		assert_true(s->ts_ns >= last[s->cpu]);
		last[s->cpu] = s->ts_ns;
		assert_int_equal(s->ts_ns, f->start_ns + s->seq * 10);
		/* of one name, but each described by its own program */
		assert_int_equal(s->has_more, s->cpu == 1);
	}
	fixture_remove(f);
}

/* A record that is older than what was written goes to the second buffer; there, time is raised. */
static void test_late(void **state)
{
	struct fixture *f = fixture_make("app:*");
	json_int_t sum;

	(void)state;
	add_program(f, getpid(), app, 2, 0);
	add_program(f, getpid(), app, 2, 0);
	start(f);
	put(f, 0, 500, 16, 1);
	usleep(1000);
	drain(f, false);
	put(f, 1, 300, 16, 2);
	drain(f, false);
	ring_make(&f->ring[2], &f->p[0], 0, RING); /* the CPU's other ring */
	area_of(&f->p[0], f->ring[2].area)->atomic = f->ring[2].atomic = true;
	f->ring[2].discard = true;
	usleep(110000); /* for the program to be looked at again */
	put(f, 2, 200, 16, 3);
	put(f, 2, 600, 16, 4);
	drain(f, false);
	stop(f);
	assert_int_equal(f->nr_seen, 4);
	assert_int_equal(f->seen[0].seq, 2);
	assert_int_equal(f->seen[1].seq, 3);
	assert_int_equal(f->seen[0].buffer, 1);
	assert_int_equal(f->seen[1].buffer, 1);
	assert_int_equal(f->seen[1].ts_ns, f->start_ns + 300);
	assert_int_equal(f->seen[2].seq, 1);
	assert_int_equal(f->seen[3].seq, 4);
	assert_int_equal(count_key(f, "raised", &sum), 1);
	assert_int_equal(sum, 1);
	fixture_remove(f);
}

/* An event stamped after the drain read the clock waits: another program may still write an earlier
 * one. */
static void test_waits(void **state)
{
	struct fixture *f = fixture_make("app:*");

	(void)state;
	add_program(f, getpid(), app, 2, 0);
	start(f);
	put(f, 0, 100000000, 16, 1);
	drain(f, false);
	assert_int_equal(f->res.events, 0);
	usleep(110000);
	drain(f, false);
	assert_int_equal(f->res.events, 1);
	/* but not for what no clock says */
	put(f, 0, 1ull << 50, 16, 2);
	drain(f, false);
	assert_int_equal(f->res.events, 2);
	stop(f);
	assert_true(f->seen[1].ts_ns <= now_ns());
	fixture_remove(f);
}

static void test_comes_later(void **state)
{
	struct fixture *f = fixture_make("app:*");

	(void)state;
	start(f);
	assert_int_equal(f->plan.nr_events, 0);
	add_program(f, getpid(), app, 2, 1);
	put(f, 0, 100, 16, 1); /* it read the session file, and was faster than we */
	word_of(&f->p[0], 0, 0)->wanted = 1;
	usleep(12000);
	assert_true(drain(f, false));
	assert_int_equal(f->plan.nr_events, 2);
	assert_int_equal(word_of(&f->p[0], 0, 1)->wanted, 1);
	/* a library that it loads */
	program_object(&f->p[0], 100, other, 1);
	assert_non_null(ring_put(&f->ring[0], f->start_ns + 200, 100, 2, 16));
	assert_true(drain(f, false));
	stop(f);
	assert_int_equal(word_of(&f->p[0], 0, 0)->wanted, 0);
	assert_int_equal(f->nr_seen, 1);
	assert_int_equal(f->seen[0].seq, 1);
	/* that record is shorter than its kind's text says */
	assert_int_equal(f->lost, 1);
	fixture_remove(f);
}

/* One that died before: its events are taken, its file too. */
static void test_dead(void **state)
{
	struct fixture *f = fixture_make("app:*");
	struct stat st;

	(void)state;
	add_program(f, 1, app, 2, 0);
	f->start_ns = now_ns();
	put(f, 0, 0, 16, 1);
	start(f);
	drain(f, false);
	assert_int_equal(f->res.events, 1);
	assert_int_equal(stat(f->p[0].path, &st), -1);
	stop(f);
	assert_int_equal(f->seen[0].seq, 1);
	fixture_remove(f);
}

static void test_others_dead(void **state)
{
	struct fixture *f = fixture_make("none:*");
	struct stat st;

	(void)state;
	add_program(f, 1, app, 2, 0);
	start(f);
	stop(f);
	assert_int_equal(stat(f->p[0].path, &st), 0);
	fixture_remove(f);
}

/* ---- the account of programs ---- */

static const char *session_id(const struct fixture *f)
{
	return tap_user_session_id(((const struct tap_user_state *)f->state)->set);
}

/* Enter the program in the session's book, as a program does before its first event. @id: the
 * session's. */
static void enter(const struct fixture *f, const struct program *p, const char *id, char path[400])
{
	const struct tap_control *c = control_of(p);

	snprintf(path, 400, "%s/" TAP_BOOK "%s-%x-%llx-%llx-%s", f->folder, id, c->pid,
		 (unsigned long long)c->pid_ns, (unsigned long long)c->made_ns, c->comm);
	assert_int_equal(symlink(TAP_BOOK_TARGET, path), 0);
}

/* The row of a program with unknown losses. Return: how many there are. */
static unsigned int lost_programs(struct fixture *f, char comm[32])
{
	json_t *meta = json_object(), *p;
	unsigned int nr = 0;
	size_t i;

	tap_backend_user.add_meta(f->state, meta);
	json_array_foreach(json_object_get(meta, "programs"), i, p) {
		if (!json_is_true(json_object_get(p, "lost_is_lower_bound")))
			continue;
		snprintf(comm, 32, "%s", json_string_value(json_object_get(p, "comm")));
		nr++;
	}
	json_decref(meta);
	return nr;
}

/* One that entered itself, and was never found: its control file did not arrive. */
static void test_missing(void **state)
{
	struct fixture *f = fixture_make("app:*");
	char path[2][400], comm[32];
	struct stat st;

	(void)state;
	add_program(f, getpid(), app, 2, 0);
	add_program(f, getpid(), app, 2, 1);
	assert_int_equal(unlink(f->p[1].path), 0);
	strcpy(control_of(&f->p[1])->comm, "gh!st\n");
	start(f);
	enter(f, &f->p[0], session_id(f), path[0]);
	enter(f, &f->p[1], session_id(f), path[1]);
	put(f, 0, 100, 16, 1);
	put(f, 1, 100, 16, 2);
	drain(f, false);
	assert_false(f->res.lost_unknown);
	stop(f);
	assert_int_equal(f->nr_seen, 1);
	assert_true(f->res.lost_unknown);
	assert_int_equal(f->nr_lost_records, 1);
	assert_int_equal(lost_programs(f, comm), 1);
	assert_string_equal(comm, "gh!st\\n");
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(lstat(path[i], &st), -1);
	fixture_remove(f);
}

/* Entries of programs that were read to their end, and that are not meant; of other recorders. */
static void test_entries(void **state)
{
	struct fixture *f = fixture_make("app:*");
	char path[3][400], comm[32], id[64];
	struct stat st;

	(void)state;
	selects(f, (struct tap_select_opts){ .comms = (const char *[]){ "demo" }, 1 });
	add_program(f, 1, app, 2, 0);
	add_program(f, getpid(), app, 2, 0);
	strcpy(control_of(&f->p[1])->comm, "other");
	start(f);
	enter(f, &f->p[0], session_id(f), path[0]);
	enter(f, &f->p[1], session_id(f), path[1]);
	snprintf(id, sizeof(id), "%x.%llx.1", getpid(),
		 (unsigned long long)control_of(&f->p[0])->pid_ns);
	enter(f, &f->p[0], id, path[2]); /* that one lives */
	put(f, 0, 100, 16, 1);
	drain(f, false);
	assert_int_equal(lstat(path[0], &st), -1);
	stop(f);
	assert_false(f->res.lost_unknown);
	assert_int_equal(lost_programs(f, comm), 0);
	assert_int_equal(lstat(path[1], &st), -1);
	assert_int_equal(lstat(path[2], &st), 0);
	fixture_remove(f);
}

/* A program counts what it puts into a ring: what of that does not come is lost, also at the end.
 */
static void test_untaken(void **state)
{
	json_int_t sum;

	(void)state;
	for (int atomic = 0; atomic < 2; atomic++) {
		struct fixture *f = fixture_make("app:*");

		add_program(f, 1, app, 2, 0);
		area_of(&f->p[0], f->ring[0].area)->atomic = f->ring[0].atomic = atomic;
		f->start_ns = now_ns();
		for (unsigned int i = 0; i < 2000; i++)
			put(f, 0, i, 16, i);
		*ring_commit(&f->ring[0], f->ring[0].head->head) += 5ull << 32;
		start(f);
		drain(f, false);
		stop(f);
		assert_int_equal(f->nr_seen, 2000);
		assert_int_equal(f->lost, 5);
		assert_int_equal(count_key(f, "lost", &sum), 1);
		assert_int_equal(sum, 5);
		fixture_remove(f);
	}
}

/* One that ended: the recorder looks once more for a kind that it does not know, before that is
 * over. */
static void test_unknown_at_end(void **state)
{
	struct fixture *f = fixture_make("app:*");

	(void)state;
	add_program(f, 1, app, 2, 0);
	f->start_ns = now_ns();
	put(f, 0, 100, 16, 1);
	put(f, 0, 200, 99, 2);
	start(f);
	drain(f, false);
	drain(f, false);
	stop(f);
	assert_int_equal(f->nr_seen, 1);
	assert_int_equal(f->lost, 1);
	fixture_remove(f);
}

/* A program with a recorder of its own learns what that takes; names are the kernel's. */
static void test_readiness(void **state)
{
	static const struct {
		struct event_text events[2];
		uint8_t recording;
		unsigned int refused;
	} cases[] = {
		{ { { "a-b+c.d", "start", FORMAT_TEXT("start") },
		    { "app", "stop", FORMAT_TEXT("stop") } },
		  TAP_RECORDING_ALL,
		  0 },
		{ { { "a/b", "start", FORMAT_TEXT("start") },
		    { "app", "stop", FORMAT_TEXT("stop") } },
		  TAP_RECORDING_SOME,
		  1 },
		{ { { "app", "start", "name: start\nID: 0\n" },
		    { "app", "stop", FORMAT_TEXT("stop") } },
		  TAP_RECORDING_SOME,
		  0 },
		{ { { "a b", "start", FORMAT_TEXT("start") },
		    { "a:b", "stop", FORMAT_TEXT("stop") } },
		  TAP_RECORDING_NONE,
		  2 },
		{ { { "..", "start", FORMAT_TEXT("start") },
		    { "a\nb", "stop", FORMAT_TEXT("stop") } },
		  TAP_RECORDING_NONE,
		  2 },
	};
	char pid[16];

	(void)state;
	snprintf(pid, sizeof(pid), "%d", getpid());
	for (size_t i = 0; i < LEN(cases); i++) {
		struct fixture *f = fixture_make("*");
		const struct tap_user_program *p;

		selects(f, (struct tap_select_opts){ .tgids = (const char *[]){ pid }, 1 });
		add_program(f, getpid(), cases[i].events, 2, 0);
		start(f);
		p = tap_user_program_at(((const struct tap_user_state *)f->state)->set, 0);
		assert_int_equal(control_of(&f->p[0])->recording, cases[i].recording);
		assert_int_equal(p->control.bad_events, cases[i].refused);
		assert_int_equal(!*p->control.why_bad, !cases[i].refused);
		stop(f);
		fixture_remove(f);
	}
}

/* Nothing is read twice: not by another link, when the program is over, nor from a copy of the
 * file. */
static void test_twice(void **state)
{
	struct fixture *f = fixture_make("app:*");
	char to[64];

	(void)state;
	add_program(f, 1, app, 2, 0);
	add_program(f, 1, app, 2, 0);
	f->start_ns = now_ns();
	for (unsigned int i = 0; i < 2; i++)
		put(f, i, 100, 16, 1);
	control_of(&f->p[1])->made_ns = control_of(&f->p[0])->made_ns;
	start(f);
	drain(f, false);
	snprintf(to, sizeof(to), "/proc/%d/fd/%d", getpid(), f->p[0].fd);
	assert_int_equal(symlink(to, tmp_at(&f->tmp, "programs/1-9")), 0);
	usleep(12000);
	drain(f, false);
	stop(f);
	assert_int_equal(f->nr_seen, 1);
	fixture_remove(f);
}

static void test_session_file(void **state)
{
	struct fixture *f = fixture_make("app:*");
	char path[256], want[256];
	struct tap_buf text = { 0 };
	struct stat st;

	(void)state;
	f->plan.program_bytes = 3 << 20;
	selects(f, (struct tap_select_opts){ .tgids = (const char *[]){ "12" }, 1 });
	start(f);
	snprintf(path, sizeof(path), "%s/sessions/%d", f->folder, getpid());
	assert_int_equal(tap_buf_read_file(&text, path), 0);
	snprintf(want, sizeof(want),
		 "ring_shift 22\nsession %s\nmode 1\nclock %d\ntgid 12\nevent app:*\n",
		 session_id(f), tap_user_clock_choose());
	assert_string_equal(tap_buf_str(&text), want);
	tap_buf_release(&text);
	stop(f);
	assert_int_equal(stat(path, &st), -1);
	snprintf(path, sizeof(path), "%s/sessions", f->folder);
	assert_int_equal(stat(path, &st), -1);
	fixture_remove(f);
}

/* Session files of recorders that were killed are removed; that of a living one, which holds its
 * lock, stays. */
static void test_old_sessions(void **state)
{
	struct fixture *f = fixture_make("app:*");
	struct stat st;
	int held;

	(void)state;
	assert_int_equal(mkdir(tmp_at(&f->tmp, "programs/sessions"), 0700), 0);
	tmp_write(&f->tmp, "programs/sessions/1", "event *\n", 8);
	tmp_write(&f->tmp, "programs/sessions/2", "event *\n", 8);
	held = open(tmp_at(&f->tmp, "programs/sessions/2"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(held, LOCK_EX), 0);
	start(f);
	assert_int_equal(stat(tmp_at(&f->tmp, "programs/sessions/1"), &st), -1);
	assert_int_equal(stat(tmp_at(&f->tmp, "programs/sessions/2"), &st), 0);
	stop(f);
	assert_int_equal(stat(tmp_at(&f->tmp, "programs/sessions"), &st), 0);
	close(held);
	fixture_remove(f);
}

/* Programs that others record, and texts that cannot be: the rest goes on, and says so. */
static void test_fails(void **state)
{
	static const struct event_text bad[] = {
		{ "app", "start", "name: start\nID: 0\n" },
		{ "app", "stop", FORMAT_TEXT("stop") },
	};
	struct fixture *f = fixture_make("app:*");
	struct fixture *g = fixture_make("app:*");
	json_int_t sum;

	(void)state;
	add_program(f, getpid(), bad, 2, 0);
	start(f);
	strcpy(g->folder, f->folder);
	start(g);
	put(f, 0, 100, 17, 1);
	put(f, 0, 200, 16, 2);
	stop(g);
	stop(f);
	assert_int_equal(f->nr_seen, 1);
	assert_int_equal(g->nr_seen, 0);
	assert_int_equal(f->plan.nr_events, 2);
	assert_int_equal(f->plan.events[0].status, TAP_EVENT_FAILED);
	assert_int_equal(f->plan.events[1].status, TAP_EVENT_ON);
	assert_int_equal(g->plan.events[1].status, TAP_EVENT_FAILED);
	assert_non_null(strstr(g->plan.events[1].reason, "is already recording program"));
	assert_int_equal(count_key(g, "reason", &sum), 1);
	fixture_remove(g);
	fixture_remove(f);
}

/* A file that is emptied while it is recorded. */
static void test_emptied(void **state)
{
	struct fixture *f = fixture_make("app:*");
	json_int_t sum;

	(void)state;
	add_program(f, getpid(), app, 2, 0);
	add_program(f, getpid(), app, 2, 0);
	start(f);
	put(f, 0, 100, 16, 1);
	put(f, 1, 200, 16, 2);
	usleep(1000);
	drain(f, false);
	assert_int_equal(fallocate(f->p[0].fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096,
				   PROGRAM_BYTES - 4096),
			 0);
	put(f, 1, 300, 16, 3);
	usleep(1000);
	drain(f, false);
	stop(f);
	assert_int_equal(f->nr_seen, 3);
	assert_int_equal(f->nr_lost_records, 1);
	assert_int_equal(count_key(f, "reason", &sum), 1);
	fixture_remove(f);
}

static void test_scope(void **state)
{
	static const struct {
		const char *name;
		const char *tgid, *tid, *comm, *cpus;
		unsigned int events;
	} cases[] = {
		{ "none", NULL, NULL, NULL, NULL, 2 },
		{ "another process", "1", NULL, NULL, NULL, 0 },
		{ "the program's name", NULL, NULL, "de*", NULL, 2 },
		{ "another name", NULL, NULL, "dx*", NULL, 0 },
		{ "a thread of no program", NULL, "1", NULL, NULL, 0 },
		{ "one of two CPUs", NULL, NULL, NULL, "1", 1 },
	};

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		struct fixture *f = fixture_make("app:*");

		print_message("# %s\n", cases[i].name);
		selects(f, (struct tap_select_opts){ .tgids = &cases[i].tgid,
						     !!cases[i].tgid,
						     .tids = &cases[i].tid,
						     !!cases[i].tid,
						     .comms = &cases[i].comm,
						     !!cases[i].comm,
						     .cpus = cases[i].cpus });
		add_program(f, getpid(), app, 2, 0);
		ring_make(&f->ring[1], &f->p[0], 1, RING);
		start(f);
		put(f, 0, 100, 16, 1);
		put(f, 1, 100, 16, 2);
		stop(f);
		assert_int_equal(f->nr_seen, cases[i].events);
		fixture_remove(f);
	}
}

/*
 * Programs forked from the selected process are recorded too, in whatever order they are found.
 * @strangers: none was forked from it;
 * @first: 0: the parent is added first; else the grandchild.
 */
static void check_family(bool strangers, unsigned int first)
{
	const int pids[] = { getpid(), 1, 2 };
	struct fixture *f = fixture_make("app:*");
	char text[16];
	const char *tgid = text;

	snprintf(text, sizeof(text), "%d", getpid());
	selects(f, (struct tap_select_opts){ .tgids = &tgid, 1 });
	for (unsigned int i = 0; i < 3; i++) {
		unsigned int generation = first ? 2 - i : i;

		add_program(f, pids[generation], app, 1, 0);
		control_of(&f->p[i])->made_ns = 100 * (generation + 1);
		control_of(&f->p[i])->parent_ns = 100 * generation + (strangers && generation);
	}
	start(f);
	for (unsigned int i = 0; i < 3; i++)
		put(f, i, 100, 16, i);
	stop(f);
	assert_int_equal(f->nr_seen, strangers ? 1 : 3);
	fixture_remove(f);
}

static void test_family(void **state)
{
	(void)state;
	for (int strangers = 0; strangers < 2; strangers++)
		for (unsigned int first = 0; first < 3; first += 2)
			check_family(strangers, first);
}

static void put_of(struct fixture *f, uint64_t after_ns, int tid)
{
	unsigned char *record = ring_put(&f->ring[0], f->start_ns + after_ns, 16, 0, PAYLOAD);

	assert_non_null(record);
	memcpy(record + sizeof(struct tap_record_head) + 4, &tid, sizeof(tid));
}

/* A program says which thread an event is of. */
static void test_threads_of_others(void **state)
{
	enum { UNUSED_TID = 0x7fffffff };
	struct fixture *f = fixture_make("app:*");

	(void)state;
	add_program(f, getpid(), app, 2, 0);
	start(f);
	put_of(f, 100, getpid());
	put_of(f, 200, getppid());
	put_of(f, 300, UNUSED_TID); /* may have been there */
	put_of(f, 400, getppid());
	put_of(f, 500, getpid());
	stop(f);
	assert_int_equal(f->nr_seen, 5);
	assert_int_equal(f->seen[0].tid, getpid());
	assert_int_equal(f->seen[1].tid, -1);
	assert_int_equal(f->seen[2].tid, UNUSED_TID);
	assert_int_equal(f->seen[3].tid, -1);
	assert_int_equal(f->seen[4].tid, getpid());
	fixture_remove(f);
}

/* A count of lost events is ignored if the program had no time to lose that many. */
static void test_absurd_losses(void **state)
{
	static const struct {
		uint64_t in_ring, without_ring, want;
	} cases[] = {
		{ 1000, 2000, 3000 },
		{ 1ull << 60, 2000, 2000 },
		{ 1000, UINT64_MAX, 1000 },
	};

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		struct fixture *f = fixture_make("app:*");

		add_program(f, getpid(), app, 2, 0);
		start(f);
		put(f, 0, 100, 16, 1);
		f->ring[0].head->lost = cases[i].in_ring;
		control_of(&f->p[0])->lost = cases[i].without_ring;
		usleep(1000);
		stop(f);
		assert_int_equal(f->nr_lost_records, 2);
		assert_int_equal(f->lost, cases[i].want);
		fixture_remove(f);
	}
}

/* ---- runs ---- */

/* From now on each record goes the long way. */
static void forbid_runs(struct fixture *f)
{
	struct tap_user_state *s = f->state;

	for (unsigned int i = 0; i < s->nr_tracees; i++)
		for (unsigned int k = 0; k < s->tracees[i]->nr_sources; k++) {
			struct tap_user_reader *r = &s->tracees[i]->sources[k]->reader;

			munmap(r->map, r->ring.size);
			r->map = NULL;
		}
}

/* What three programs on one CPU may do: bursts, two threads, what is not wanted or not known,
 * lateness, drains. */
static void make_bursts(struct fixture *f, unsigned int seed)
{
	uint64_t after = 0, seq = 0;

	for (int i = 0; i < 120; i++) {
		unsigned int program = (unsigned int)rand_r(&seed) % 3,
			     kind = (unsigned int)rand_r(&seed) % 16;
		int burst = 1 + rand_r(&seed) % 30;

		for (int k = 0; k < burst; k++) {
			uint16_t id = kind == 0 ? 17 : kind == 1 ? 999 : 16;
			unsigned char *rec;

			after += (uint64_t)rand_r(&seed) % 3;
			rec = ring_put(&f->ring[program], f->start_ns + after, id, ++seq, PAYLOAD);
			if (rec && kind == 2 && k % 3)
				memcpy(rec + sizeof(struct tap_record_head) + 4, &(int32_t){ 78 },
				       4);
		}
		if (kind == 3)
			after = after > 20 ? after - 20 : 0; /* the next program is late */
		if (kind > 11) {
			usleep(200);
			drain(f, false);
		}
	}
}

static struct fixture *record_bursts(unsigned int seed, bool runs)
{
	struct fixture *f = fixture_make("app:start");

	for (int i = 0; i < 3; i++)
		add_program(f, getpid(), app, 2, 0);
	start(f);
	if (!runs)
		forbid_runs(f);
	make_bursts(f, seed);
	usleep(1000);
	stop(f);
	return f;
}

/* Records that are converted where they lie give what each gives alone. */
static void test_runs(void **state)
{
	unsigned int all = 0;

	(void)state;
	for (unsigned int seed = 1; seed <= 20; seed++) {
		struct fixture *a = record_bursts(seed, true), *b = record_bursts(seed, false);

		print_message("# seed %u: %u events, %lu lost\n", seed, a->nr_seen,
			      (unsigned long)a->lost);
		assert_int_equal(a->nr_seen, b->nr_seen);
		assert_int_equal(a->lost, b->lost);
		for (unsigned int i = 0; i < a->nr_seen; i++) {
			a->seen[i].ts_ns -= a->start_ns;
			b->seen[i].ts_ns -= b->start_ns;
			assert_memory_equal(&a->seen[i], &b->seen[i], sizeof(a->seen[i]));
		}
		all += a->nr_seen;
		fixture_remove(a);
		fixture_remove(b);
	}
	assert_true(all > 10000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),	       cmocka_unit_test(test_switches),
		cmocka_unit_test(test_leaves),	       cmocka_unit_test(test_merges),
		cmocka_unit_test(test_late),	       cmocka_unit_test(test_waits),
		cmocka_unit_test(test_comes_later),    cmocka_unit_test(test_dead),
		cmocka_unit_test(test_others_dead),    cmocka_unit_test(test_session_file),
		cmocka_unit_test(test_old_sessions),   cmocka_unit_test(test_fails),
		cmocka_unit_test(test_missing),	       cmocka_unit_test(test_entries),
		cmocka_unit_test(test_untaken),	       cmocka_unit_test(test_readiness),
		cmocka_unit_test(test_unknown_at_end), cmocka_unit_test(test_twice),
		cmocka_unit_test(test_emptied),	       cmocka_unit_test(test_scope),
		cmocka_unit_test(test_family),	       cmocka_unit_test(test_threads_of_others),
		cmocka_unit_test(test_absurd_losses),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("user backend", tests, NULL, NULL);
}
