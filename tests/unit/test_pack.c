// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <schedtap/reader.h>

#include "base/buf.h"
#include "file/pack.h"
#include "file/page.h"
#include "tmp_dir.h"

#define PAGE TAP_PAGE_SIZE
#define LEN(table) (sizeof(table) / sizeof(*(table)))
#define MAX_PARTS 6
#define ID 100u

static const char format_text[] =
	"name: tick\nID: 100\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:unsigned int nr;\toffset:8;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"nr=%u\", REC->nr\n";

static const struct tap_head_format formats[] = {
	{ "test", format_text, sizeof(format_text) - 1 },
};

/* One CPU's data: @events ticks numbered from 0, with @missed lost before the first page. */
struct part {
	const char *buffer; /* NULL ends the list; parts of a buffer stand together */
	unsigned int cpu, events;
	uint64_t missed;
};

struct record {
	uint16_t id;
	uint8_t flags, preempt_count;
	int32_t pid;
	uint32_t nr;
};

static void end_page(struct tap_page *page, const struct part *part, struct tap_buf *out)
{
	if (!page->bytes)
		return;
	tap_page_end(page, out->len ? 0 : part->missed);
	tap_buf_add(out, page->bytes, PAGE);
}

static void add_pages(struct tap_buf *out, const struct part *part)
{
	unsigned char bytes[PAGE];
	struct tap_page page = { 0 };

	for (uint32_t nr = 0; nr < part->events; nr++) {
		struct record r = { .id = ID, .pid = 7, .nr = nr };
		uint64_t ts_ns = 1000000 + nr * 100 + part->cpu;
		unsigned char *at = page.bytes ? tap_page_add(&page, ts_ns, sizeof(r)) : NULL;

		if (!at) {
			end_page(&page, part, out);
			tap_page_begin(&page, bytes, ts_ns);
			at = tap_page_add(&page, ts_ns, sizeof(r));
		}
		memcpy(at, &r, sizeof(r));
	}
	end_page(&page, part, out);
}

static void fill_head(struct tap_head *head)
{
	*head = (struct tap_head){
		.formats = formats,
		.nr_formats = LEN(formats),
		.uname = "Linux x",
		.tool = "test",
		.cmdlines = "7 seven\n",
		.meta = "{\"at\":\"start\"}",
		.clock = "mono",
		.printk = "",
		.nr_cpus = 4,
	};
	tap_head_defaults(head);
}

/* Leaves x.dat.spool as a recorder that was killed leaves it. */
static void make_spool(struct tmp_dir *t, const struct part *parts, const char *meta, bool zstd)
{
	struct tap_head head;
	struct tap_spool *s;
	int buffer = -1;

	fill_head(&head);
	assert_int_equal(tap_spool_create(tmp_at(t, "x.dat"), &head, &s, NULL), 0);
	if (zstd)
		assert_int_equal(tap_spool_compress(s, 1, NULL), 0);
	for (const struct part *p = parts; p < parts + MAX_PARTS && p->buffer; p++) {
		struct tap_buf pages = { 0 };

		if (p == parts || strcmp(p->buffer, p[-1].buffer))
			buffer = tap_spool_add_buffer(s, p->buffer, "mono", PAGE, 4, NULL);
		assert_true(buffer >= 0);
		add_pages(&pages, p);
		if (pages.len)
			assert_int_equal(tap_spool_write(s, (unsigned int)buffer, p->cpu,
							 pages.data, pages.len, NULL),
					 0);
		tap_buf_release(&pages);
	}
	if (meta)
		assert_int_equal(tap_spool_set_meta(s, meta, true, NULL), 0);
	tap_spool_free(s);
}

/* Bytes of the pages that make_spool() writes. */
static uint64_t pages_size(const struct part *parts)
{
	uint64_t size = 0;

	for (const struct part *p = parts; p < parts + MAX_PARTS && p->buffer; p++) {
		struct tap_buf pages = { 0 };

		add_pages(&pages, p);
		size += pages.len;
		tap_buf_release(&pages);
	}
	return size;
}

static uint64_t shown; /* bytes, of the last pack() */

/* It goes on, and not beyond the end. */
static void on_show(void *ctx, uint64_t done, uint64_t whole)
{
	uint64_t *last = ctx;

	assert_true(done > *last && done <= whole);
	*last = done;
}

static int pack(struct tmp_dir *t, bool zstd, const struct tap_head *head, struct tap_err *err)
{
	struct tap_pack_opts opts = { .zstd = zstd, .head = head, .show = on_show, .ctx = &shown };
	char spool[300];

	shown = 0;
	strcpy(spool, tmp_at(t, "x.dat.spool"));
	return tap_pack(spool, tmp_at(t, "x.dat"), &opts, err);
}

static bool exists(struct tmp_dir *t, const char *name)
{
	struct stat st;

	return !lstat(tmp_at(t, name), &st);
}

struct totals {
	uint64_t events, lost;
	uint32_t next[8][4]; /* the number that must come next, per buffer and CPU */
};

static void read_back(struct tap_reader *r, struct totals *sum)
{
	struct tap_event ev;
	int ret;

	*sum = (struct totals){ 0 };
	while ((ret = tap_reader_next(r, &ev, NULL)) > 0) {
		if (!ev.fmt) {
			sum->lost += ev.lost.count;
			continue;
		}
		assert_string_equal(ev.fmt->name, "tick");
		assert_int_equal(tap_field_u64(tap_format_field(ev.fmt, "nr"), ev.data, ev.size),
				 sum->next[ev.buffer][ev.cpu]++);
		sum->events++;
	}
	assert_int_equal(ret, 0);
}

struct pack_case {
	const char *name;
	struct part parts[MAX_PARTS];
	const char *want_buffers; /* in their order, each in brackets */
	uint64_t want_events, want_lost;
	const char *want_report; /* a line of trace-cmd's, or NULL */
};

static const struct pack_case pack_cases[] = {
	{
		.name = "one CPU",
		.parts = { { "", 0, 10 } },
		.want_buffers = "[]",
		.want_events = 10,
	},
	{
		.name = "CPUs without data between those that have some",
		.parts = { { "", 1, 10 }, { "", 3, 20 } },
		.want_buffers = "[]",
		.want_events = 30,
	},
	{
		.name = "a CPU whose file is empty",
		.parts = { { "", 0, 0 }, { "", 1, 5 } },
		.want_buffers = "[]",
		.want_events = 5,
	},
	{
		.name = "nothing was recorded",
		.want_buffers = "[]",
	},
	{
		.name = "the top buffer comes first",
		.parts = { { "a", 0, 10 }, { "b", 1, 20 }, { "", 2, 5 }, { "", 3, 5 } },
		.want_buffers = "[][a][b]",
		.want_events = 40,
	},
	{
		.name = "without a top buffer there is an empty one",
		.parts = { { "a", 0, 10 } },
		.want_buffers = "[][a]",
		.want_events = 10,
	},
	{
		.name = "losses come along",
		.parts = { { "", 0, 254, 17 }, { "", 1, 10, 4 } },
		.want_buffers = "[]",
		.want_events = 264,
		.want_lost = 21,
		.want_report = "CPU:0 [17 EVENTS DROPPED]",
	},
	{
		.name = "several chunks per CPU, the last one short",
		.parts = { { "", 0, 60000 }, { "", 1, 16384 } },
		.want_buffers = "[]",
		.want_events = 76384,
	},
};

/* What trace-cmd makes of it: lines with a tick. */
static void check_trace_cmd(struct tmp_dir *t, const struct pack_case *c)
{
	uint64_t ticks = 0;
	bool found = !c->want_report;
	char cmd[400], line[400];
	FILE *f;

	if (system("command -v trace-cmd >/dev/null")) {
		print_message("# SKIP trace-cmd is not installed\n");
		return;
	}
	snprintf(cmd, sizeof(cmd), "trace-cmd report -i %s 2>&1", tmp_at(t, "x.dat"));
	f = popen(cmd, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		ticks += strstr(line, "tick:") && strstr(line, "seven-7") && strstr(line, "nr=");
		found |= c->want_report && strstr(line, c->want_report);
	}
	assert_int_equal(pclose(f), 0);
	assert_int_equal(ticks, c->want_events);
	assert_true(found);
}

static void check_file(struct tmp_dir *t, const struct pack_case *c, bool zstd)
{
	const struct tap_reader_info *info;
	struct tap_buf buffers = { 0 };
	struct tap_reader *r;
	struct totals sum;
	struct stat st;

	assert_int_equal(tap_reader_open(tmp_at(t, "x.dat"), &r, NULL), 0);
	info = tap_reader_info(r);
	assert_int_equal(info->version, 7);
	assert_int_equal(info->nr_cpus, 4);
	assert_string_equal(info->compression, zstd ? "zstd" : "none");
	assert_string_equal(info->uname, "Linux x");
	assert_string_equal(info->tool, "test");
	assert_string_equal(info->meta, "{\"at\":\"start\"}");
	assert_string_equal(tap_reader_comm(r, 7), "seven");
	for (unsigned int i = 0; i < info->nr_buffers; i++)
		tap_buf_printf(&buffers, "[%s]", info->buffers[i].name);
	assert_string_equal(tap_buf_str(&buffers), c->want_buffers);
	tap_buf_release(&buffers);
	read_back(r, &sum);
	assert_int_equal(sum.events, c->want_events);
	assert_int_equal(sum.lost, c->want_lost);
	tap_reader_free(r);
	assert_int_equal(stat(tmp_at(t, "x.dat"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void test_pack(void **state)
{
	static const char *const ways[] = { "plain", "compressed when packed",
					    "compressed while recording" };

	(void)state;
	for (size_t i = 0; i < LEN(ways) * LEN(pack_cases); i++) {
		const struct pack_case *c = &pack_cases[i / LEN(ways)];
		size_t way = i % LEN(ways);
		bool early = way == 2, zstd = way && !(early && !c->want_events);
		struct tmp_dir t;

		print_message("# %s (%s)\n", c->name, ways[way]);
		tmp_make(&t);
		make_spool(&t, c->parts, NULL, early);
		assert_int_equal(pack(&t, way == 1, NULL, NULL), 0);
		if (!early)
			assert_int_equal(shown, pages_size(c->parts));
		assert_false(exists(&t, "x.dat.spool"));
		check_file(&t, c, zstd);
		check_trace_cmd(&t, c);
		tmp_remove(&t);
	}
}

struct damage_case {
	const char *name;
	/* bytes off the end; of the file, from where on nothing was written; or 0 */
	long cut, zero_from;
	long size_at; /* where a chunk has an impossible size, or 0 */
	bool want_loss;
};

/* The first chunk is whole, some 10,000 events. */
static const struct damage_case damage_cases[] = {
	{ "the last chunk is cut", 10 },
	{ "half the head of a chunk", -4 },
	{ "what came later was never written", 0, -1, 0, true },
	{ "the size of a chunk is impossible", 0, 0, -1, true },
	{ "nothing was written", 0, 4, 0, true },
};

/* Where the second chunk begins. */
static long second_chunk(const struct tap_buf *file)
{
	uint32_t size;

	memcpy(&size, file->data + 4, sizeof(size));
	return 4 + 8 + (long)size;
}

static void damage(struct tmp_dir *t, const struct damage_case *c)
{
	static const char name[] = "x.dat.spool/0..mono.4096.cpu0.zstd";
	struct tap_buf file = { 0 };
	long from;

	assert_int_equal(tap_buf_read_file(&file, tmp_at(t, name)), 0);
	from = second_chunk(&file);
	assert_true(from + 100 < (long)file.len);
	if (c->cut > 0)
		file.len -= (size_t)c->cut;
	else if (c->cut < 0)
		file.len = (size_t)(from - c->cut);
	if (c->zero_from) {
		from = c->zero_from < 0 ? from : c->zero_from;
		memset(file.data + from, 0, file.len - (size_t)from);
	}
	if (c->size_at)
		memset(file.data + from, 0xff, 4);
	tmp_write(t, name, file.data, file.len);
	tap_buf_release(&file);
}

static void read_damaged(struct tmp_dir *t, const char *name, struct totals *sum, bool *lost)
{
	struct tap_reader *r;
	struct tap_event ev;

	*sum = (struct totals){ 0 };
	*lost = false;
	assert_int_equal(tap_reader_open(tmp_at(t, name), &r, NULL), 0);
	while (tap_reader_next(r, &ev, NULL) > 0) {
		sum->events += !!ev.fmt;
		*lost |= !ev.fmt;
	}
	tap_reader_free(r);
}

static void test_damaged_chunks(void **state)
{
	static const struct part parts[MAX_PARTS] = { { "", 0, 60000 } };

	(void)state;
	for (size_t i = 0; i < LEN(damage_cases); i++) {
		const struct damage_case *c = &damage_cases[i];
		struct totals spool, packed;
		struct tmp_dir t;
		bool lost;

		print_message("# %s\n", c->name);
		tmp_make(&t);
		make_spool(&t, parts, NULL, true);
		damage(&t, c);
		read_damaged(&t, "x.dat.spool", &spool, &lost);
		assert_int_equal(lost, c->want_loss);
		assert_true(spool.events < 60000 && (spool.events > 10000 || c->zero_from == 4));
		assert_int_equal(pack(&t, false, NULL, NULL), 0);
		read_damaged(&t, "x.dat", &packed, &lost);
		assert_int_equal(lost, c->want_loss);
		assert_int_equal(packed.events, spool.events);
		tmp_remove(&t);
	}
}

struct meta_case {
	const char *name;
	const char *meta_json; /* in the folder */
	bool with_head; /* the caller says what to write at the front */
	const char *want;
};

static const struct meta_case meta_cases[] = {
	{ "that of head.dat, where there is no other", NULL, false, "{\"at\":\"start\"}" },
	{ "meta.json is newer than head.dat", "{\"at\":\"end\"}", false, "{\"at\":\"end\"}" },
	{ "the caller's is newer than both", "{\"at\":\"end\"}", true, "{\"at\":\"stop\"}" },
	{ "an empty meta.json is none", "", false, "{\"at\":\"start\"}" },
};

static void test_meta(void **state)
{
	static const struct part parts[MAX_PARTS] = { { "", 0, 10 } };

	(void)state;
	for (size_t i = 0; i < LEN(meta_cases); i++) {
		const struct meta_case *c = &meta_cases[i];
		struct tap_reader *r;
		struct tap_head head;
		struct tmp_dir t;

		print_message("# %s\n", c->name);
		tmp_make(&t);
		make_spool(&t, parts, c->meta_json, false);
		fill_head(&head);
		head.meta = "{\"at\":\"stop\"}";
		assert_int_equal(pack(&t, true, c->with_head ? &head : NULL, NULL), 0);
		assert_int_equal(tap_reader_open(tmp_at(&t, "x.dat"), &r, NULL), 0);
		assert_string_equal(tap_reader_info(r)->meta, c->want);
		tap_reader_free(r);
		tmp_remove(&t);
	}
}

#define PAGES_0 "x.dat.spool/0..mono.4096.cpu0"

struct tail_case {
	const char *name;
	unsigned int cut, zeros; /* bytes taken off the end of CPU 0's pages, then added */
	uint64_t want_events;
};

/* 255 ticks fit a page. */
static const struct tail_case tail_cases[] = {
	{ "half a page at the end is left out", 100, 0, 255 },
	{ "zero pages that a power cut left are left out", 0, 3 * PAGE + 5, 300 },
	{ "all is gone but a few bytes", 2 * PAGE - 10, 0, 0 },
};

static void test_tail(void **state)
{
	static const struct part parts[MAX_PARTS] = { { "", 0, 300 } };

	(void)state;
	for (size_t i = 0; i < LEN(tail_cases); i++) {
		const struct tail_case *c = &tail_cases[i];
		struct tap_reader *r;
		struct totals sum;
		struct tmp_dir t;
		struct stat st;

		print_message("# %s\n", c->name);
		tmp_make(&t);
		make_spool(&t, parts, NULL, false);
		assert_int_equal(truncate(tmp_at(&t, PAGES_0), 2 * PAGE - c->cut), 0);
		assert_int_equal(truncate(tmp_at(&t, PAGES_0), 2 * PAGE - c->cut + c->zeros), 0);
		assert_int_equal(pack(&t, false, NULL, NULL), 0);
		assert_int_equal(stat(tmp_at(&t, "x.dat"), &st), 0);
		assert_true(st.st_size < 5 * (off_t)PAGE);
		assert_int_equal(tap_reader_open(tmp_at(&t, "x.dat"), &r, NULL), 0);
		read_back(r, &sum);
		assert_int_equal(sum.events, c->want_events);
		tap_reader_free(r);
		tmp_remove(&t);
	}
}

enum fault {
	FULL_DISK,
	FULL_AT_ONCE,
	FOLDER_IS_LINK,
	PAGES_ARE_LINK,
	PAGES_ARE_FIFO,
	HEAD_IS_LINK,
	NO_HEAD,
	TARGET_IS_FOLDER,
};

struct fault_case {
	const char *name;
	enum fault fault;
	int want, want_zstd;
	const char *sentence;
};

static const struct fault_case fault_cases[] = {
	{ "the disk is full", FULL_DISK, -EFBIG, -EFBIG, "schedtap repair" },
	{ "not even the front fits", FULL_AT_ONCE, -EFBIG, -EFBIG, "schedtap repair" },
	{ "a link instead of the folder", FOLDER_IS_LINK, -ENOTDIR, -ENOTDIR, "x.dat.spool" },
	{ "a link instead of pages", PAGES_ARE_LINK, -ELOOP, -ELOOP, "0..mono.4096.cpu0" },
	{ "a pipe instead of pages", PAGES_ARE_FIFO, -EINVAL, -EINVAL, "0..mono.4096.cpu0" },
	{ "a link instead of head.dat", HEAD_IS_LINK, -ELOOP, -ELOOP, "head.dat" },
	{ "no head.dat", NO_HEAD, -ENOENT, -ENOENT, "head.dat" },
	{ "a folder where the file should be", TARGET_IS_FOLDER, -EEXIST, -EEXIST, "x.dat" },
};

/* A limit on the size of files stands for a full disk: both fail in the middle of a write. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void move_behind_link(struct tmp_dir *t, const char *name)
{
	char from[300], to[300];

	strcpy(from, tmp_at(t, name));
	strcpy(to, tmp_at(t, "elsewhere"));
	assert_int_equal(rename(from, to), 0);
	assert_int_equal(symlink(to, from), 0);
}

static void make_fault(struct tmp_dir *t, enum fault fault)
{
	switch (fault) {
	case FULL_DISK:
		limit_files(12000);
		return;
	case FULL_AT_ONCE:
		limit_files(100);
		return;
	case FOLDER_IS_LINK:
		move_behind_link(t, "x.dat.spool");
		return;
	case PAGES_ARE_LINK:
		move_behind_link(t, PAGES_0);
		return;
	case HEAD_IS_LINK:
		move_behind_link(t, "x.dat.spool/head.dat");
		return;
	case PAGES_ARE_FIFO:
		assert_int_equal(unlink(tmp_at(t, PAGES_0)), 0);
		assert_int_equal(mkfifo(tmp_at(t, PAGES_0), 0600), 0);
		return;
	case NO_HEAD:
		assert_int_equal(unlink(tmp_at(t, "x.dat.spool/head.dat")), 0);
		return;
	case TARGET_IS_FOLDER:
		assert_int_equal(unlink(tmp_at(t, "x.dat")), 0);
		assert_int_equal(mkdir(tmp_at(t, "x.dat"), 0700), 0);
		return;
	}
}

/* Whatever goes wrong: the folder and an older file stay as they were, and nothing is left over. */
static void test_faults(void **state)
{
	static const struct part parts[MAX_PARTS] = { { "", 0, 60000 }, { "", 1, 60000 } };

	(void)state;
	for (size_t i = 0; i < 2 * LEN(fault_cases); i++) {
		const struct fault_case *c = &fault_cases[i / 2];
		struct tap_err err = { 0 };
		struct tap_buf old = { 0 };
		struct tmp_dir t;

		print_message("# %s (%s)\n", c->name, i % 2 ? "zstd" : "plain");
		tmp_make(&t);
		make_spool(&t, parts, NULL, false);
		tmp_write(&t, "x.dat", "old", 3);
		make_fault(&t, c->fault);
		assert_int_equal(pack(&t, i % 2, NULL, &err), i % 2 ? c->want_zstd : c->want);
		limit_files(RLIM_INFINITY);
		assert_non_null(strstr(err.text, c->sentence));
		assert_true(exists(&t, PAGES_0));
		assert_true(exists(&t, "x.dat.spool/0..mono.4096.cpu1"));
		assert_int_equal(exists(&t, "x.dat.spool/head.dat"), c->fault != NO_HEAD);
		assert_false(exists(&t, "x.dat.spool/packed"));
		if (c->fault != TARGET_IS_FOLDER) {
			assert_int_equal(tap_buf_read_file(&old, tmp_at(&t, "x.dat")), 0);
			assert_string_equal(tap_buf_str(&old), "old");
		}
		tap_buf_release(&old);
		tmp_remove(&t);
	}
}

/* "packed" exists already: an earlier attempt was killed, or it is a link put there by an attacker.
 */
static void test_stale_packed(void **state)
{
	static const struct part parts[MAX_PARTS] = { { "", 0, 10 } };
	struct tap_buf victim = { 0 };
	char target[300];
	struct tmp_dir t;

	(void)state;
	tmp_make(&t);
	make_spool(&t, parts, NULL, false);
	tmp_write(&t, "victim", "mine", 4);
	strcpy(target, tmp_at(&t, "victim"));
	assert_int_equal(symlink(target, tmp_at(&t, "x.dat.spool/packed")), 0);
	assert_int_equal(pack(&t, false, NULL, NULL), 0);
	assert_int_equal(tap_buf_read_file(&victim, target), 0);
	assert_string_equal(tap_buf_str(&victim), "mine");
	assert_false(exists(&t, "x.dat.spool"));
	tap_buf_release(&victim);
	tmp_remove(&t);
}

/* Packs with a head.dat that is not what was written. Whatever comes of it, it ends well. */
static bool pack_with_head(struct tmp_dir *t, const struct tap_buf *head, size_t len)
{
	struct tap_err err = { 0 };
	int ret;

	tmp_write(t, "x.dat.spool/head.dat", head->data, len);
	unlink(tmp_at(t, "x.dat.spool/head.copy")); /* which would be used */
	ret = pack(t, false, NULL, &err);
	assert_int_equal(exists(t, "x.dat.spool"), ret != 0);
	assert_int_equal(!*err.text, ret == 0);
	return !ret;
}

#define END_SECTION 88u /* bytes of the section of checksums after a front */

static void test_damaged_head(void **state)
{
	static const struct part parts[MAX_PARTS] = { { "", 0, 10 } };
	struct tap_buf head = { 0 };
	unsigned int cut = 0, accepted = 0;
	struct tmp_dir t;

	(void)state;
	tmp_make(&t);
	make_spool(&t, parts, NULL, false);
	assert_int_equal(tap_buf_read_file(&head, tmp_at(&t, "x.dat.spool/head.dat")), 0);
	for (size_t len = 0; len < head.len - END_SECTION; len++)
		cut += pack_with_head(&t, &head, len);
	assert_int_equal(cut, 0);
	for (size_t i = 0; i < head.len; i++) {
		head.data[i] = (char)~head.data[i];
		if (pack_with_head(&t, &head, head.len)) {
			make_spool(&t, parts, NULL, false);
			accepted++;
		}
		head.data[i] = (char)~head.data[i];
	}
	/* only what the checksums themselves are in, which stands twice */
	assert_true(accepted <= 2 * END_SECTION);
	assert_true(pack_with_head(&t, &head, head.len));
	tap_buf_release(&head);
	tmp_remove(&t);
}

struct head_case {
	const char *name;
	bool in_options; /* .at counts from the options section on */
	unsigned int at;
	unsigned char value;
	const char *sentence;
};

/* magic 12, byte order, long size, u32, "none", "", u64 at 24: the options; the meta's section */
#define OPTIONS_AT 24
#define META_AT 32
#define FIRST_OPTION 16 /* u16 id, u32 length, data */

static const struct head_case head_cases[] = {
	{ "another magic", false, 3, 'T', "does not begin" },
	{ "another version", false, 10, '8', "does not begin" },
	{ "another byte order", false, 12, 1, "byte order" },
	{ "a long of 5 bytes", false, 13, 5, "damaged" },
	{ "the meta is compressed", false, META_AT + 2, 1, "damaged" },
	{ "the meta is larger than the file", false, META_AT + 15, 1, "damaged" },
	{ "the offset of the options lies outside", false, OPTIONS_AT + 7, 1, "damaged" },
	{ "the options are something else", true, 0, 1, "damaged" },
	{ "an option is longer than the file", true, FIRST_OPTION + 5, 0xff, "damaged" },
	{ "an option's section lies outside", true, FIRST_OPTION + 6 + 7, 1, "damaged" },
	{ "an option's section has another id", true, FIRST_OPTION, 17, "damaged" },
	{ "the number of CPUs is cut", true, FIRST_OPTION + 124, 2, "damaged" },
};

static void test_heads(void **state)
{
	static const struct part parts[MAX_PARTS] = { { "", 0, 10 } };

	(void)state;
	for (size_t i = 0; i < LEN(head_cases); i++) {
		const struct head_case *c = &head_cases[i];
		struct tap_buf head = { 0 };
		struct tap_err err = { 0 };
		uint64_t options;
		struct tmp_dir t;

		print_message("# %s\n", c->name);
		tmp_make(&t);
		make_spool(&t, parts, NULL, false);
		assert_int_equal(tap_buf_read_file(&head, tmp_at(&t, "x.dat.spool/head.dat")), 0);
		memcpy(&options, head.data + OPTIONS_AT, sizeof(options));
		head.data[c->at + (c->in_options ? options : 0)] = (char)c->value;
		tmp_write(&t, "x.dat.spool/head.dat", head.data, head.len);
		assert_int_equal(unlink(tmp_at(&t, "x.dat.spool/head.copy")), 0);
		assert_true(pack(&t, false, NULL, &err) < 0);
		assert_non_null(strstr(err.text, c->sentence));
		tap_buf_release(&head);
		tmp_remove(&t);
	}
}

/* Formats come in any order; a file has them by system, and ftrace's own apart. */
static void test_formats(void **state)
{
	static const char *const systems[] = { "a", "ftrace", "b", "a", "b", "ftrace" };
	struct tap_head_format many[LEN(systems)];
	struct tap_format const *const *got;
	char texts[LEN(systems)][sizeof(format_text)];
	struct tap_head head;
	struct tap_reader *r;
	struct tmp_dir t;
	unsigned int nr;

	(void)state;
	tmp_make(&t);
	make_spool(&t, (const struct part[MAX_PARTS]){ 0 }, NULL, false);
	fill_head(&head);
	for (size_t i = 0; i < LEN(systems); i++) {
		strcpy(texts[i], format_text);
		memcpy(strstr(texts[i], "tick"), "num", 3);
		strstr(texts[i], "numk")[3] = (char)('0' + i);
		memcpy(strstr(texts[i], "100"), (char[]){ '2', '0', (char)('0' + i) }, 3);
		many[i] = (struct tap_head_format){ systems[i], texts[i], strlen(texts[i]) };
	}
	head.formats = many;
	head.nr_formats = LEN(systems);
	head.header_page = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			   "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
			   "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;\n";
	assert_int_equal(pack(&t, true, &head, NULL), 0);
	assert_int_equal(tap_reader_open(tmp_at(&t, "x.dat"), &r, NULL), 0);
	assert_int_equal(tap_reader_info(r)->long_size, 4);
	got = tap_reader_formats(r, &nr);
	assert_int_equal(nr, LEN(systems));
	for (unsigned int i = 0; i < nr; i++)
		assert_string_equal(got[i]->system, systems[got[i]->id - 200]);
	tap_reader_free(r);
	tmp_remove(&t);
}

/* Files that are no part of a recording are not ours to remove. */
static void test_strange_files_stay(void **state)
{
	static const struct part parts[MAX_PARTS] = { { "", 0, 10 } };
	struct tmp_dir t;

	(void)state;
	tmp_make(&t);
	make_spool(&t, parts, "{}", false);
	tmp_write(&t, "x.dat.spool/notes", "?", 1);
	assert_int_equal(pack(&t, false, NULL, NULL), 0);
	assert_true(exists(&t, "x.dat.spool/notes"));
	assert_false(exists(&t, "x.dat.spool/head.dat"));
	assert_false(exists(&t, "x.dat.spool/meta.json"));
	assert_false(exists(&t, PAGES_0));
	tmp_remove(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pack),	     cmocka_unit_test(test_damaged_chunks),
		cmocka_unit_test(test_meta),	     cmocka_unit_test(test_tail),
		cmocka_unit_test(test_faults),	     cmocka_unit_test(test_stale_packed),
		cmocka_unit_test(test_damaged_head), cmocka_unit_test(test_heads),
		cmocka_unit_test(test_formats),	     cmocka_unit_test(test_strange_files_stay),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
