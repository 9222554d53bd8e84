// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finding programs by their control files, and switching events on from outside. The files are
 * made by hand; this process stands for the program, since it has them mapped.
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
#include <sys/wait.h>

#include "record/user/programs.h"
#include "skip_test.h"
#include "tmp_dir.h"
#include "user_program.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))

static const struct event_text two[] = {
	{ "app", "start", FORMAT_TEXT("start") },
	{ "app", "stop", FORMAT_TEXT("stop") },
};

struct fixture {
	struct tmp_dir tmp;
	struct program p;
	struct tap_user_set *set;
};

static void fixture_make(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	tmp_make(&f->tmp);
	program_make(&f->p, f->tmp.path, getpid(), "0");
	assert_int_equal(tap_user_new(&f->set), 0);
	assert_int_equal(tap_user_folders_add(tap_user_folders(f->set), f->tmp.path, getuid()), 0);
}

static void fixture_remove(struct fixture *f)
{
	tap_user_free(f->set);
	program_unmap(&f->p);
	tmp_remove(&f->tmp);
}

static struct tap_user_program *first(struct fixture *f)
{
	assert_true(tap_user_scan(f->set, NULL) >= 0);
	return tap_user_program_at(f->set, 0);
}

/* ---- what a program says ---- */

static void test_says(void **state)
{
	struct tap_user_program *p;
	struct fixture f;

	(void)state;
	fixture_make(&f);
	program_object(&f.p, 16, two, 2);
	word_of(&f.p, 0, 1)->wanted = 1;
	strcpy(control_of(&f.p)->reason, "no room");
	p = first(&f);
	assert_non_null(p);
	assert_int_equal(p->pid, getpid());
	assert_int_equal(p->uid, getuid());
	assert_string_equal(p->control.head.comm, "demo");
	assert_string_equal(p->control.head.reason, "no room");
	assert_true(p->alive);
	assert_int_equal(p->control.nr_events, 2);
	assert_string_equal(p->control.events[0].kind->system, "app");
	assert_string_equal(p->control.events[0].kind->name, "start");
	assert_non_null(p->control.events[0].kind->fmt);
	assert_int_equal(p->control.events[1].id, 17);
	assert_false(p->control.events[0].wanted);
	assert_true(p->control.events[1].wanted);
	assert_null(tap_user_program_at(f.set, 1));
	fixture_remove(&f);
}

/* Of a later release, which says that we understand it. */
static void test_later(void **state)
{
	struct tap_user_program *p;
	struct fixture f;

	(void)state;
	fixture_make(&f);
	program_object(&f.p, 16, two, 2);
	control_of(&f.p)->version = TAP_CONTROL_VERSION + 1;
	control_of(&f.p)->head_bytes += 64;
	p = first(&f);
	assert_non_null(p);
	assert_int_equal(p->control.nr_events, 2);
	fixture_remove(&f);
}

static void test_looks_again(void **state)
{
	static const struct event_text more[] = {
		{ "lib", "call", FORMAT_TEXT("call") },
		{ "app", "stop", FORMAT_TEXT("stop") },
	};
	struct tap_user_program *p;
	struct fixture f;
	struct ring ring;

	(void)state;
	fixture_make(&f);
	program_object(&f.p, 16, two, 2);
	p = first(&f);
	program_object(&f.p, 100, more, 2);
	ring_make(&ring, &f.p, 0, 4 * TAP_SUB_BYTES);
	word_of(&f.p, 0, 0)->applied = 1;
	area_of(&f.p, 1)->gone = 1;
	assert_int_equal(tap_user_refresh(f.set, p, NULL), 0);
	assert_int_equal(p->control.nr_events, 4);
	assert_true(p->control.events[0].applied && !p->control.events[0].gone);
	assert_int_equal(p->control.events[2].id, 100);
	assert_true(p->control.events[2].gone);
	/* the same layout in two objects is one kind */
	assert_ptr_equal(p->control.events[3].kind, p->control.events[1].kind);
	assert_true(tap_user_kind_at(f.set, 2) && !tap_user_kind_at(f.set, 3));
	assert_int_equal(p->control.nr_rings, 1);
	assert_int_equal(p->control.rings[0].cpu, 0);
	/* an area that is not ready is looked at later */
	program_area(&f.p, TAP_AREA_NONE, 4096);
	assert_int_equal(tap_user_refresh(f.set, p, NULL), 0);
	*area_of(&f.p, 3) = *area_of(&f.p, 2);
	area_of(&f.p, 3)->atomic = 1;
	assert_int_equal(tap_user_refresh(f.set, p, NULL), 0);
	assert_int_equal(p->control.nr_rings, 2);
	fixture_remove(&f);
}

static void test_comes_and_goes(void **state)
{
	struct program other;
	struct fixture f;
	char path[512];

	(void)state;
	fixture_make(&f);
	assert_int_equal(tap_user_scan(f.set, NULL), 1);
	assert_int_equal(tap_user_scan(f.set, NULL), 0);
	program_make(&other, f.tmp.path, 1, "7");
	assert_int_equal(tap_user_scan(f.set, NULL), 1);
	assert_int_equal(tap_user_program_at(f.set, 1)->pid, 1);
	/* this process has it mapped, process 1 does not */
	assert_false(tap_user_program_at(f.set, 1)->alive);
	assert_int_equal(unlink(other.path), 0);
	assert_int_equal(tap_user_scan(f.set, NULL), 1);
	assert_null(tap_user_program_at(f.set, 1));
	/* one that is held stays, whatever becomes of its file */
	assert_int_equal(tap_user_lock(tap_user_program_at(f.set, 0), NULL), 0);
	snprintf(path, sizeof(path), "%s", f.p.path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(tap_user_scan(f.set, NULL), 0);
	assert_non_null(tap_user_program_at(f.set, 0));
	tap_user_unlock(tap_user_program_at(f.set, 0));
	program_unmap(&other);
	fixture_remove(&f);
}

/* A program that has sent its control file is known before its link is seen, and is the same then.
 */
static void test_sent(void **state)
{
	struct tap_user_sent sent = { .pid = getpid(), .uid = getuid() };
	struct tap_user_program *p;
	struct fixture f;

	(void)state;
	fixture_make(&f);
	program_object(&f.p, 16, two, 2);
	for (int i = 0; i < 2; i++) {
		sent.fd = dup(f.p.fd);
		assert_int_equal(tap_user_add_sent(f.set, &sent), 0);
		assert_int_equal(fcntl(sent.fd, F_GETFD), -1);
	}
	p = tap_user_program_at(f.set, 0);
	assert_non_null(p);
	assert_null(tap_user_program_at(f.set, 1));
	assert_int_equal(p->control.nr_events, 2);
	assert_int_equal(tap_user_scan(f.set, NULL), 1);
	assert_ptr_equal(tap_user_program_at(f.set, 0), p);
	assert_null(tap_user_program_at(f.set, 1));
	assert_int_equal(unlink(f.p.path), 0);
	/* it can be held without a link, and the lock is not the program's own */
	assert_int_equal(tap_user_lock(p, NULL), 0);
	assert_int_equal(flock(f.p.fd, LOCK_EX | LOCK_NB), -1);
	tap_user_unlock(p);
	/* neither held nor seen: it leaves */
	assert_int_equal(tap_user_scan(f.set, NULL), 1);
	assert_null(tap_user_program_at(f.set, 0));
	fixture_remove(&f);
}

/* What somebody sends that is no program's control file, or another user's. */
static void test_sent_junk(void **state)
{
	struct tap_user_sent sent = { .pid = getpid(), .uid = getuid() };
	struct fixture f;
	int ends[2], fd;

	(void)state;
	fixture_make(&f);
	sent.fd = open("/dev/zero", O_RDWR);
	assert_int_equal(tap_user_add_sent(f.set, &sent), 0);
	assert_int_equal(pipe(ends), 0);
	sent.fd = ends[0];
	assert_int_equal(tap_user_add_sent(f.set, &sent), 0);
	close(ends[1]);
	fd = memfd_create("schedtap", MFD_ALLOW_SEALING); /* it may shrink */
	assert_int_equal(ftruncate(fd, PROGRAM_BYTES), 0);
	sent.fd = fd;
	assert_int_equal(tap_user_add_sent(f.set, &sent), 0);
	sent.fd = dup(f.p.fd);
	sent.uid = getuid() + 1;
	assert_int_equal(tap_user_add_sent(f.set, &sent), 0);
	assert_null(tap_user_program_at(f.set, 0));
	fixture_remove(&f);
}

/* A link that a program left goes, and one that leads to something else of a process that is there.
 */
static void test_left(void **state)
{
	char path[300], to[64];
	struct fixture f;
	struct stat st;

	(void)state;
	fixture_make(&f);
	snprintf(path, sizeof(path), "%s/99999999-0", f.tmp.path);
	assert_int_equal(symlink("/proc/99999999/fd/200", path), 0);
	assert_non_null(first(&f));
	assert_int_equal(lstat(path, &st), -1);
	snprintf(path, sizeof(path), "%s/%d-1", f.tmp.path, (int)getpid());
	snprintf(to, sizeof(to), "/proc/%d/fd/99999", (int)getpid());
	assert_int_equal(symlink(to, path), 0);
	/* this process has one mapped, which root finds and takes for it: but that one is known */
	assert_non_null(first(&f));
	if (geteuid())
		skip_test("a mapped control file: needs root");
	else
		assert_null(tap_user_program_at(f.set, 1));
	unlink(path);
	/* of another pid namespace: it is unknown whether it still runs */
	snprintf(path, sizeof(path), "%s/99999999-0f0000001", f.tmp.path);
	assert_int_equal(symlink("/proc/99999999/fd/200", path), 0);
	assert_non_null(first(&f));
	assert_int_equal(lstat(path, &st), 0);
	assert_true(tap_user_program_at(f.set, 1)->foreign);
	assert_true(tap_user_program_at(f.set, 1)->alive);
	fixture_remove(&f);
}

/* The program has closed its descriptor: root finds it by its mapping. */
static void test_closed(void **state)
{
	struct tap_user_program *p;
	struct fixture f;

	(void)state;
	fixture_make(&f);
	program_object(&f.p, 16, two, 2);
	close(f.p.fd);
	f.p.fd = -1;
	p = first(&f);
	assert_non_null(p);
	assert_true(p->alive);
	if (geteuid()) {
		assert_non_null(strstr(p->control.head.reason, "control file"));
	} else {
		assert_int_equal(p->control.nr_events, 2);
		assert_int_equal(tap_user_want(p, &p->control.events[0], true, NULL), 0);
		assert_int_equal(word_of(&f.p, 0, 0)->wanted, 1);
	}
	fixture_remove(&f);
}

/* ---- what is none ---- */

static void test_names(void **state)
{
	static const char *const names[] = {
		"sessions",	 "12",
		"12-",		 "-ab",
		"0-ab",		 "12-xyz",
		"12-ab.new",	 "-12-ab",
		"99999999999-a", "12-0123456789abcdef0123456789abcdef0123456789abcdef",
		"+12-a",	 " 12-a",
	};
	struct fixture f;

	(void)state;
	fixture_make(&f);
	for (size_t i = 0; i < LEN(names); i++)
		tmp_write(&f.tmp, names[i], "", 0);
	assert_non_null(first(&f));
	assert_null(tap_user_program_at(f.set, 1));
	fixture_remove(&f);
}

enum wrong { FOLDER_MODE, OWNER, FILE_LINK, NO_LINK, PIPE, SHRINKS, FOLDER_LINK, FOLDER_OWNER };

/* Puts something else in the place of the link, or what it leads to. */
static void spoil(struct fixture *f, enum wrong w)
{
	char to[512];
	int ends[2], fd;

	snprintf(to, sizeof(to), "%s/elsewhere", f->tmp.path);
	assert_int_equal(unlink(f->p.path), 0);
	if (w > OWNER) /* not by its mapping either */
		snprintf(f->p.path, sizeof(f->p.path), "%s/99999999-0", f->tmp.path);
	tmp_write(&f->tmp, "elsewhere", f->p.map, TAP_CONTROL_PAGE);
	if (w == OWNER) {
		snprintf(to, sizeof(to), "/proc/%d/fd/%d", (int)getpid(), f->p.fd);
	} else if (w == NO_LINK) {
		assert_int_equal(rename(to, f->p.path), 0);
		return;
	} else if (w == PIPE) { /* opening it would wait */
		assert_int_equal(pipe(ends), 0);
		close(ends[1]);
		snprintf(to, sizeof(to), "/proc/%d/fd/%d", (int)getpid(), ends[0]);
	} else if (w == SHRINKS) {
		fd = memfd_create("schedtap", MFD_ALLOW_SEALING);
		assert_int_equal(write(fd, f->p.map, TAP_CONTROL_HEAD), TAP_CONTROL_HEAD);
		snprintf(to, sizeof(to), "/proc/%d/fd/%d", (int)getpid(), fd);
	}
	assert_int_equal(symlink(to, f->p.path), 0);
	if (w == OWNER && lchown(f->p.path, 1234, 1234)) {
		skip_test("a link of somebody else: needs root");
		unlink(f->p.path);
	}
}

static void test_places(void **state)
{
	static const char *const names[] = { "a folder that others may enter",
					     "a link of somebody else",
					     "a link to a file",
					     "a file",
					     "a link to a pipe",
					     "memory that may shrink",
					     "a link to a folder",
					     "a folder of somebody else" };

	(void)state;
	for (enum wrong w = FOLDER_MODE; w <= FOLDER_OWNER; w++) {
		struct fixture f;
		char link[512];

		print_message("# %s\n", names[w]);
		fixture_make(&f);
		if (w == FOLDER_MODE)
			assert_int_equal(chmod(f.tmp.path, 0710), 0);
		if (w >= OWNER && w <= SHRINKS)
			spoil(&f, w);
		if (w == FOLDER_LINK) {
			tap_user_free(f.set);
			assert_int_equal(tap_user_new(&f.set), 0);
			snprintf(link, sizeof(link), "%s.link", f.tmp.path);
			assert_int_equal(symlink(f.tmp.path, link), 0);
			assert_int_equal(
				tap_user_folders_add(tap_user_folders(f.set), link, getuid()), 0);
		}
		if (w == FOLDER_OWNER && (getuid() || chown(f.tmp.path, 1234, 1234))) {
			skip_test("a folder of somebody else: needs root");
			assert_int_equal(chmod(f.tmp.path, 0777), 0);
		}
		/* the caller is root, and its own user is somebody else's folder's */
		if (w == FOLDER_OWNER)
			assert_int_equal(seteuid(getuid() ? getuid() : 1), 0);
		assert_null(first(&f));
		assert_int_equal(seteuid(getuid()), 0);
		assert_int_equal(chmod(f.tmp.path, 0700), 0);
		if (w == FOLDER_LINK)
			unlink(link);
		fixture_remove(&f);
	}
}

/* Numbers that no program of ours writes. */
static void test_lies(void **state)
{
	static const struct {
		const char *name;
		uint64_t offset, size;
		uint32_t nr, first_id;
	} cases[] = {
		{ "no area", 0, 0, 0, 0 },
		{ "among the areas", 8192, 65536, 2, 16 },
		{ "not page-aligned", TAP_CONTROL_HEAD + 8, 65536, 2, 16 },
		{ "after the file", 1ull << 30, 65536, 2, 16 },
		{ "after everything", UINT64_MAX - 4095, 65536, 2, 16 },
		{ "of enormous size", 1 << 20, 1ull << 35, 2, 16 },
		{ "of a size that wraps", 1 << 20, UINT64_MAX, 2, 16 },
		{ "without room for its words", 1 << 20, 4096, 1u << 30, 16 },
		{ "ids of the ring's own", 1 << 20, 65536, 2, 0 },
		{ "ids above 16 bits", 1 << 20, 65536, 2, 65535 },
		{ "ids that wrap", 1 << 20, 65536, 2, UINT32_MAX },
	};

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		struct tap_user_program *p;
		struct fixture f;

		print_message("# an object %s\n", cases[i].name);
		fixture_make(&f);
		program_object(&f.p, 16, two, 2);
		program_object(&f.p, 100, two, 2);
		memcpy(f.p.map + 8192, f.p.map + area_of(&f.p, 0)->offset, 65536);
		*area_of(&f.p, 0) = (struct tap_area){
			.offset = cases[i].offset,
			.size = cases[i].size,
			.kind = TAP_AREA_OBJECT,
			.nr = cases[i].nr,
			.first_id = cases[i].first_id,
		};
		p = first(&f);
		assert_non_null(p);
		assert_int_equal(p->control.nr_events, 2);
		assert_int_equal(p->control.events[0].id, 100);
		assert_int_equal(p->control.bad, 1);
		fixture_remove(&f);
	}
}

/* A sparse file of any number of rings would cost a recorder as much for each as for a true one. */
static void test_rings(void **state)
{
	struct tap_user_program *p;
	struct fixture f;
	struct ring ring;

	(void)state;
	fixture_make(&f);
	for (unsigned int i = 0; i < 8; i++) {
		ring_make(&ring, &f.p, 0, 65536);
		area_of(&f.p, i)->atomic = i % 2;
	}
	ring_make(&ring, &f.p, 65535, 65536); /* of a CPU that is not there */
	p = first(&f);
	assert_non_null(p);
	assert_int_equal(p->control.nr_rings, 2);
	assert_int_equal(p->control.bad, 7);
	fixture_remove(&f);
}

/* One file under many names is one program. */
static void test_links(void **state)
{
	char other[450], to[64];
	struct fixture f;

	(void)state;
	fixture_make(&f);
	program_object(&f.p, 16, two, 2);
	snprintf(other, sizeof(other), "%s/%d-1", f.tmp.path, (int)getpid());
	snprintf(to, sizeof(to), "/proc/%d/fd/%d", (int)getpid(), f.p.fd);
	assert_int_equal(symlink(to, other), 0);
	assert_non_null(first(&f));
	assert_null(tap_user_program_at(f.set, 1));
	fixture_remove(&f);
}

/* Junk of one user does not hide another's programs. */
static void test_junk(void **state)
{
	struct tap_user_program *p;
	char path[128];
	struct fixture f;
	unsigned int nr;

	(void)state;
	fixture_make(&f);
	snprintf(path, sizeof(path), "%s/junk", f.tmp.path);
	assert_int_equal(mkdir(path, 0700), 0);
	for (unsigned int i = 0; i < TAP_USER_PROGRAMS_MAX + 10; i++) {
		/* of a pid namespace */
		snprintf(path, sizeof(path), "%s/junk/%u-01", f.tmp.path, i + 1);
		assert_int_equal(symlink("/proc/1/fd/99999", path), 0);
	}
	tap_user_free(f.set); /* junk first */
	assert_int_equal(tap_user_new(&f.set), 0);
	snprintf(path, sizeof(path), "%s/junk", f.tmp.path);
	assert_int_equal(tap_user_folders_add(tap_user_folders(f.set), path, getuid()), 0);
	assert_int_equal(tap_user_folders_add(tap_user_folders(f.set), f.tmp.path, getuid()), 0);
	assert_true(tap_user_scan(f.set, NULL) >= 0);
	for (nr = 0; (p = tap_user_program_at(f.set, nr)); nr++)
		;
	assert_int_equal(nr, TAP_USER_PROGRAMS_MAX + 1);
	assert_int_equal(tap_user_program_at(f.set, nr - 1)->pid, getpid());
	fixture_remove(&f);
}

static void test_heads(void **state)
{
	static const struct {
		const char *name;
		struct tap_control c;
	} cases[] = {
		{ "no magic", { .version = TAP_CONTROL_VERSION } },
		{ "a version that we do not understand", { .version = 99, .min_version = 99 } },
		{ "a version of long ago", { .version = 0 } },
		{ "another's pid", { .version = TAP_CONTROL_VERSION, .pid = 1 } },
		{ "more areas than there can be",
		  { .version = TAP_CONTROL_VERSION, .areas_nr = 5000 } },
		{ "another clock", { .version = TAP_CONTROL_VERSION, .clock = 7 } },
	};

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		struct tap_user_program *p;
		struct fixture f;

		print_message("# %s\n", cases[i].name);
		fixture_make(&f);
		*control_of(&f.p) = cases[i].c;
		control_of(&f.p)->magic = i ? TAP_CONTROL_MAGIC : 0;
		control_of(&f.p)->pid_ns = TAP_INITIAL_PID_NS;
		if (!cases[i].c.pid)
			control_of(&f.p)->pid = (uint32_t)getpid();
		p = first(&f);
		assert_non_null(p);
		assert_int_not_equal(p->control.head.reason[0], 0);
		fixture_remove(&f);
	}
}

/* ---- format texts ---- */

static void test_texts(void **state)
{
	static const struct {
		const char *name;
		struct event_text text;
		int ret;
		bool ok;
	} cases[] = {
		{ "a good one", { "app", "a", FORMAT_TEXT("a") }, 0, true },
		{ "no system", { "", "a", FORMAT_TEXT("a") }, -EINVAL, false },
		{ "a path as a name", { "app", "../a", FORMAT_TEXT("../a") }, -EINVAL, false },
		{ "a name with a line break", { "app", "a\n", FORMAT_TEXT("a") }, -EINVAL, false },
		{ "a name of 64 characters",
		  { "app", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "" },
		  -EINVAL,
		  false },
		{ "another name in the text", { "app", "b", FORMAT_TEXT("a") }, 0, false },
		{ "no text", { "app", "a", "" }, 0, false },
		{ "no fields",
		  { "app", "a", "name: a\nID: 0\nformat:\n\nprint fmt: \"\"\n" },
		  0,
		  false },
		{ "an id of its own",
		  { "app", "a", "name: a\nID: 7\nformat:\n" COMMON_FIELDS },
		  0,
		  false },
		{ "two ids",
		  { "app", "a", "name: a\nID: 0\nID: 7\nformat:\n" COMMON_FIELDS },
		  0,
		  false },
		{ "two ids, one indented",
		  { "app", "a", "name: a\nID: 0\n ID: 7\nformat:\n" COMMON_FIELDS },
		  0,
		  false },
		{ "two names",
		  { "app", "a", "name: b\nname: a\nID: 0\nformat:\n" COMMON_FIELDS },
		  0,
		  false },
		{ "a control character",
		  { "app", "a",
		    "name: a\nID: 0\nformat:\n" COMMON_FIELDS "\nprint fmt: \"\033[2J\"\n" },
		  0,
		  false },
		{ "a field lies outside the record",
		  { "app", "a",
		    "name: a\nID: 0\nformat:\n" COMMON_FIELDS
		    "\tfield:char a[8];\toffset:4030;\tsize:8;\tsigned:0;\n" },
		  0,
		  false },
		{ "a field that wraps",
		  { "app", "a",
		    "name: a\nID: 0\nformat:\n" COMMON_FIELDS
		    "\tfield:char a[8];\toffset:4294967288;\tsize:16;\tsigned:0;\n" },
		  0,
		  false },
		{ "the tid elsewhere",
		  { "app", "a",
		    "name: a\nID: 0\nformat:\n"
		    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		    "\tfield:int common_pid;\toffset:8;\tsize:4;\tsigned:1;\n" },
		  0,
		  false },
		{ "one of the kernel's",
		  { "sched", "sched_switch", FORMAT_TEXT("sched_switch") },
		  0,
		  false },
		{ "a loss", { "schedtap", "events_lost", FORMAT_TEXT("events_lost") }, 0, false },
		{ "ftrace's system", { "ftrace", "a", FORMAT_TEXT("a") }, 0, false },
	};
	struct tap_user_kinds kinds = { 0 };

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		const struct event_text *t = &cases[i].text;
		const struct tap_user_kind *k = NULL, *again = NULL;

		print_message("# %s\n", cases[i].name);
		assert_int_equal(
			tap_user_kind_get(&kinds, t->system, t->name, t->text, strlen(t->text), &k),
			cases[i].ret);
		if (cases[i].ret)
			continue;
		assert_int_equal(!!k->fmt, cases[i].ok);
		assert_int_equal(!!k->why, !cases[i].ok);
		assert_int_equal(tap_user_kind_get(&kinds, t->system, t->name, t->text,
						   strlen(t->text), &again),
				 0);
		assert_ptr_equal(k, again);
	}
	tap_user_kinds_release(&kinds);
}

static void test_id(void **state)
{
	struct tap_user_kinds kinds = { 0 };
	const struct tap_user_kind *k;
	struct tap_buf text = { 0 };

	(void)state;
	assert_int_equal(tap_user_kind_get(&kinds, "app", "a", FORMAT_TEXT("a"),
					   strlen(FORMAT_TEXT("a")), &k),
			 0);
	tap_user_kind_text(k, 16384, &text);
	assert_non_null(strstr(tap_buf_str(&text), "name: a\nID: 16384\nformat:\n"));
	assert_int_equal(text.len, k->len + 4);
	tap_buf_release(&text);
	tap_user_kinds_release(&kinds);
}

/* A reader of the recording need not survive every print format: its fields take its place. */
static void test_print_formats(void **state)
{
#define FIELDS                                                                                     \
	"name: a\nID: 0\nformat:\n" COMMON_FIELDS                                                  \
	"\tfield:u32 a;\toffset:8;\tsize:4;\tsigned:0;\n"                                          \
	"\tfield:s64 b;\toffset:16;\tsize:8;\tsigned:1;\n"                                         \
	"\tfield:char c[16];\toffset:24;\tsize:16;\tsigned:0;\n"                                   \
	"\tfield:__data_loc char[] d;\toffset:40;\tsize:4;\tsigned:0;\n"                           \
	"\tfield:u32 e[4];\toffset:44;\tsize:16;\tsigned:0;\n"                                     \
	"\tfield:double f;\toffset:64;\tsize:8;\tsigned:1;\n"
	static const char plain[] =
		"print fmt: \"a=%llu b=%lld c=%s d=%s f=%g\", (unsigned long long)REC->a, (long "
		"long)REC->b, REC->c, __get_str(d), REC->f\n";
	static const struct {
		const char *print;
		bool plain;
	} cases[] = {
		{ "print fmt: \"%u\", REC->a / 2 % 7\n", false },
		{ "print fmt: \"%u\", REC->a / REC->b\n", true },
		{ "print fmt: \"%u\", REC->a % (REC->b + 1)\n", true },
		{ "print fmt: \"%u\", REC->a / 0\n", true },
		{ "print fmt: \"%u\", no_such_function(REC->a)\n", true },
		{ "print fmt: \"%u\n", true },
		{ "", true },
	};

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		struct tap_user_kinds kinds = { 0 };
		const struct tap_user_kind *k;
		struct tap_buf text = { 0 };
		char whole[2048];

		print_message("# %s\n", cases[i].print);
		snprintf(whole, sizeof(whole), "%s\n%s", FIELDS, cases[i].print);
		assert_int_equal(tap_user_kind_get(&kinds, "app", "a", whole, strlen(whole), &k),
				 0);
		assert_int_equal(k->plain, cases[i].plain);
		tap_user_kind_text(k, 16384, &text);
		assert_non_null(
			strstr(tap_buf_str(&text), cases[i].plain ? plain : cases[i].print));
		assert_true(!cases[i].plain || !*cases[i].print ||
			    !strstr(tap_buf_str(&text), cases[i].print));
		tap_buf_release(&text);
		tap_user_kinds_release(&kinds);
	}
}

/* Texts that do not end where they say. */
static void test_text_blocks(void **state)
{
	static const struct {
		const char *name;
		uint32_t bytes;
		unsigned int events, bad;
	} cases[] = {
		{ "none", 0, 1, 1 },
		{ "without a NUL", 5, 1, 1 },
		{ "past the area", 65536, 0, 1 },
		{ "of 4 GB", UINT32_MAX, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		struct tap_user_program *p;
		struct fixture f;
		struct tap_area *a;
		uint32_t block;
		unsigned char *at;

		print_message("# %s\n", cases[i].name);
		fixture_make(&f);
		a = area_of(&f.p, program_object(&f.p, 16, two, 2));
		at = f.p.map + a->offset + 8;
		memcpy(&block, at, sizeof(block));
		/* where the first block now ends, the second one stands */
		memmove(at + 8 + ((cases[i].bytes + 7) & ~7u) % 65536 % 4096,
			at + 8 + ((block + 7) & ~7u), 4096);
		memcpy(at, &cases[i].bytes, sizeof(block));
		p = first(&f);
		assert_int_equal(p->control.nr_events, cases[i].events);
		assert_int_equal(p->control.bad, cases[i].bad);
		fixture_remove(&f);
	}
}

/* ---- control ---- */

static void test_wants(void **state)
{
	struct tap_user_program *p;
	struct fixture f;

	(void)state;
	fixture_make(&f);
	program_object(&f.p, 16, two, 2);
	control_of(&f.p)->has_thread = 1;
	p = first(&f);
	word_of(&f.p, 0, 1)->wanted = 4; /* of another event made of the same tracepoint */
	assert_int_equal(tap_user_want(p, &p->control.events[1], true, NULL), 0);
	assert_int_equal(word_of(&f.p, 0, 1)->wanted, 5);
	assert_int_equal(word_of(&f.p, 0, 0)->wanted, 0);
	assert_int_equal(control_of(&f.p)->wake, 1);
	assert_int_equal(tap_user_want(p, &p->control.events[1], false, NULL), 0);
	assert_int_equal(word_of(&f.p, 0, 1)->wanted, 4);
	assert_int_equal(tap_user_set_ring(p, TAP_RING_DISCARD, 22, NULL), 0);
	assert_int_equal(control_of(&f.p)->mode, TAP_RING_DISCARD);
	assert_int_equal(control_of(&f.p)->ring_shift, 22);
	/* the file cannot be truncated under the program's mapping */
	assert_int_equal(ftruncate(f.p.fd, 0), -1);
	fixture_remove(&f);
}

/* A filter is written last to first: what the program may take is whole. */
static void test_filters(void **state)
{
	const struct tap_steps none = { .bytes = sizeof(none) };
	const struct tap_user_event *ev;
	struct tap_filter_slot slot;
	struct tap_user_program *p;
	struct tap_buf text = { 0 };
	struct tap_err err = { 0 };
	struct tap_steps steps;
	struct fixture f;
	uint64_t at;

	(void)state;
	fixture_make(&f);
	program_object(&f.p, 16, two, 2);
	p = first(&f);
	assert_int_equal(tap_user_lock(p, NULL), 0);
	ev = &p->control.events[1];
	at = tap_filter_slot_at(ev->id);
	print_message("# of a release without filters\n");
	assert_int_equal(tap_user_put_filter(p, ev, "a == 1", &none, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "does not support filters"));
	print_message("# without room for them\n");
	p->control.events[1].takes_filter = true;
	assert_int_equal(tap_user_put_filter(p, ev, "a == 1", &none, NULL), -EOPNOTSUPP);
	assert_int_equal(tap_user_get_filter(p, ev, &text, NULL), 0);
	assert_int_equal(text.len, 0);
	assert_int_equal(ftruncate(f.p.fd, (off_t)TAP_CONTROL_FILTERS_END), 0);
	print_message("# given\n");
	assert_int_equal(tap_user_put_filter(p, ev, "a == 1", &none, NULL), 0);
	assert_int_equal(word_of(&f.p, 0, 1)->filters, 1);
	assert_int_equal(word_of(&f.p, 0, 0)->filters, 0);
	assert_int_equal(pread(f.p.fd, &slot, sizeof(slot), (off_t)at), sizeof(slot));
	assert_true(slot.stamp && slot.bytes == sizeof(none) && slot.len == 6);
	assert_int_equal(pread(f.p.fd, &steps, sizeof(steps), (off_t)(at + TAP_FILTER_STEPS)),
			 sizeof(steps));
	assert_memory_equal(&steps, &none, sizeof(none));
	assert_int_equal(tap_user_get_filter(p, ev, &text, NULL), 0);
	assert_string_equal(tap_buf_str(&text), "a == 1");
	print_message("# a text that is longer than any\n");
	tap_buf_clear(&text);
	slot.len = TAP_FILTER_TEXT_MAX + 1;
	assert_int_equal(pwrite(f.p.fd, &slot, sizeof(slot), (off_t)at), sizeof(slot));
	assert_int_equal(tap_user_get_filter(p, ev, &text, NULL), 0);
	assert_int_equal(text.len, 0);
	print_message("# taken\n");
	word_of(&f.p, 0, 1)->filters = 0;
	assert_int_equal(tap_user_put_filter(p, ev, NULL, NULL, NULL), 0);
	assert_int_equal(word_of(&f.p, 0, 1)->filters, 1);
	assert_int_equal(pread(f.p.fd, &slot, sizeof(slot), (off_t)at), sizeof(slot));
	assert_int_equal(slot.stamp, 0);
	print_message("# there is none to be taken\n");
	word_of(&f.p, 0, 1)->filters = 0;
	assert_int_equal(tap_user_put_filter(p, ev, NULL, NULL, NULL), 0);
	assert_int_equal(word_of(&f.p, 0, 1)->filters, 0);
	tap_buf_release(&text);
	fixture_remove(&f);
}

static void test_locks(void **state)
{
	struct tap_user_program *p;
	struct tap_err err = { 0 };
	struct fixture f;
	char want[64];
	int fd;

	(void)state;
	fixture_make(&f);
	p = first(&f);
	fd = open(f.p.path, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(tap_user_lock(p, &err), -EBUSY);
	snprintf(want, sizeof(want), "process %d is already recording program %d", getpid(),
		 getpid());
	assert_string_equal(err.text, want);
	close(fd);
	assert_int_equal(tap_user_lock(p, &err), 0);
	tap_user_unlock(p);
	fixture_remove(&f);
}

static void test_removes(void **state)
{
	struct tap_user_program *p;
	struct fixture f;
	struct stat st;

	(void)state;
	fixture_make(&f);
	p = first(&f);
	assert_int_equal(tap_user_remove(p, NULL), -EBUSY);
	munmap(f.p.map, PROGRAM_BYTES);
	assert_int_equal(tap_user_remove(p, NULL), 0);
	assert_int_equal(lstat(f.p.path, &st), -1);
	assert_null(first(&f));
	fixture_remove(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_says),	      cmocka_unit_test(test_later),
		cmocka_unit_test(test_looks_again),   cmocka_unit_test(test_comes_and_goes),
		cmocka_unit_test(test_sent),	      cmocka_unit_test(test_sent_junk),
		cmocka_unit_test(test_left),	      cmocka_unit_test(test_closed),
		cmocka_unit_test(test_names),	      cmocka_unit_test(test_places),
		cmocka_unit_test(test_lies),	      cmocka_unit_test(test_rings),
		cmocka_unit_test(test_print_formats), cmocka_unit_test(test_links),
		cmocka_unit_test(test_junk),	      cmocka_unit_test(test_heads),
		cmocka_unit_test(test_texts),	      cmocka_unit_test(test_id),
		cmocka_unit_test(test_text_blocks),   cmocka_unit_test(test_wants),
		cmocka_unit_test(test_filters),	      cmocka_unit_test(test_locks),
		cmocka_unit_test(test_removes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("user programs", tests, NULL, NULL);
}
