// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Small recordings, built from a line of text per CPU:
 *
 *   "@100 a+5 b+10 | @200 !7 a+0"
 *
 * '|' goes on to the next page, '@N' is its stamp, "!N" flags that N events were missed before
 * it ('!': some), "NAME+DELTA" is an event. What the reader gives is written as text again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "unit/sanitized.h"
#include "base/buf.h"
#include "file/page.h"
#include <schedtap/reader.h>

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define PAGE 256u
#define MAX_CPUS 3

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define VALUE "\tfield:u32 value;\toffset:8;\tsize:4;\tsigned:0;\n\n"
#define PRINT "print fmt: \"%u\", REC->value\n"

enum { ID_A = 10, ID_B = 11, ID_LOST = 12, ID_STACK = 13, ID_UNKNOWN = 99 };

static const char format_a[] = "name: a\nID: 10\n" COMMON VALUE PRINT;
static const char format_b[] = "name: b\nID: 11\n" COMMON VALUE PRINT;
static const char format_lost[] = "name: events_lost\nID: 12\n" COMMON
				  "\tfield:s32 lost_cpu;\toffset:8;\tsize:4;\tsigned:1;\n"
				  "\tfield:u64 count;\toffset:16;\tsize:8;\tsigned:0;\n"
				  "\tfield:u64 first_ns;\toffset:24;\tsize:8;\tsigned:0;\n"
				  "\tfield:u64 last_ns;\toffset:32;\tsize:8;\tsigned:0;\n\n"
				  "print fmt: \"%d\", REC->lost_cpu\n";
static const char format_stack[] = "name: kernel_stack\nID: 13\n" COMMON
				   "\tfield:u32 caller[8];\toffset:8;\tsize:32;\tsigned:0;\n\n"
				   "print fmt: \"%x\", REC->caller[0]\n";

/* How a file is laid out. */
struct shape {
	const char *name;
	int version;
	bool big_endian, zstd, spool;
	uint8_t long_size;
	bool flip; /* takes part in test_flipped(): each costs thousands of opens */
};

static const struct shape shapes[] = {
	{ "v6", 6, .long_size = 8, .flip = true },
	{ "v6, big endian, 32 bits", 6, .big_endian = true, .long_size = 4 },
	{ "v7", 7, .long_size = 8, .flip = true },
	{ "v7, 32 bits", 7, .long_size = 4 },
	{ "v7, big endian", 7, .big_endian = true, .long_size = 8 },
	{ "v7, zstd", 7, .zstd = true, .long_size = 8, .flip = true },
	{ "v7, zstd, big endian", 7, .zstd = true, .big_endian = true, .long_size = 8 },
	{ "spool", 7, .spool = true, .long_size = 8 },
};

struct file {
	const struct shape *shape;
	struct tap_buf buf;
};

static void put(struct file *f, uint64_t v, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		tap_buf_char(&f->buf, (char)(v >> 8 * (f->shape->big_endian ? size - 1 - i : i)));
}

/* Overwrites a number that was not known when it was put. */
static void patch(struct file *f, size_t at, uint64_t v, unsigned int size)
{
	size_t len = f->buf.len;

	f->buf.len = at;
	put(f, v, size);
	f->buf.len = len;
}

static void put_text(struct file *f, const char *s)
{
	tap_buf_add(&f->buf, s, strlen(s) + 1);
}

static void put_sized(struct file *f, unsigned int size, const char *s)
{
	put(f, strlen(s), size);
	tap_buf_puts(&f->buf, s);
}

/* ---- pages */

struct record {
	unsigned int id, len; /* len: bytes after the eight common ones */
	uint64_t fields[5];
	uint8_t sizes[5];
};

static struct record parse_record(const char **p)
{
	const char *s = *p;
	struct record rec = { ID_A, 4, { 1 }, { 4 } };

	if (!strncmp(s, "lost(", 5)) {
		long long cpu, n, first, last;
		int used;

		if (sscanf(s, "lost(%lld,%lld,%lld,%lld)%n", &cpu, &n, &first, &last, &used) != 4)
			fail_msg("bad case: %s", s);
		rec = (struct record){ ID_LOST,
				       32,
				       { (uint64_t)cpu, 0, (uint64_t)n, (uint64_t)first,
					 (uint64_t)last },
				       { 4, 4, 8, 8, 8 } };
		*p += used;
		return rec;
	}
	if (!strncmp(s, "unknown", 7))
		rec.id = ID_UNKNOWN;
	else if (!strncmp(s, "stack", 5))
		rec = (struct record){ ID_STACK, 8, { 0x77, 0x88 }, { 4, 4 } };
	else if (!strncmp(s, "short", 5))
		rec = (struct record){ ID_A, 0 };
	else if (*s == 'b')
		rec.id = ID_B;
	else if (*s != 'a')
		fail_msg("bad case: %s", s);
	*p += strcspn(s, "+");
	return rec;
}

static void put_event(struct file *f, const char **p)
{
	struct record rec = parse_record(p);
	uint32_t delta = (uint32_t)strtoul(*p, (char **)p, 10), type = (8 + rec.len) / 4;

	put(f, f->shape->big_endian ? type << 27 | delta : delta << 5 | type, 4);
	put(f, rec.id, 2);
	put(f, 0, 2);
	put(f, 42, 4);
	for (unsigned int i = 0; i < 5; i++)
		put(f, rec.fields[i], rec.sizes[i]);
}

/* Puts the page that @s describes. Return: what follows its '|', or the end. */
static const char *put_page(struct file *f, const char *s)
{
	size_t at = f->buf.len, data = at + 8 + f->shape->long_size;
	uint64_t commit = 0, missed = 0;
	uint64_t stamp = 0;

	put(f, 0, 8);
	put(f, 0, f->shape->long_size);
	while (*s && *s != '|') {
		if (*s == ' ') {
			s++;
		} else if (*s == '@') {
			stamp = strtoull(s + 1, (char **)&s, 10);
		} else if (*s == '!') {
			commit |= TAP_PAGE_MISSED;
			missed = strtoull(s + 1, (char **)&s, 10);
		} else if (*s == '?') { /* an impossible length */
			put(f, 0x12345678 & ~31u, 4);
			s++;
		} else {
			put_event(f, &s);
		}
	}
	commit |= f->buf.len - data;
	if (missed) {
		commit |= TAP_PAGE_MISSED_STORED;
		put(f, missed, f->shape->long_size);
	}
	while (f->buf.len < at + PAGE)
		tap_buf_char(&f->buf, 0);
	assert_int_equal(f->buf.len, at + PAGE);
	patch(f, at, stamp, 8);
	patch(f, at + 8, commit, f->shape->long_size);
	return *s ? s + 1 : s;
}

static void put_pages(struct file *f, const char *s)
{
	while (*s)
		s = put_page(f, s);
}

/* Put the pages as trace-cmd's compressed chunks: one page in the first chunk, up to two in others.
 */
static void put_chunks(struct file *f, const char *s)
{
	size_t count = f->buf.len;
	uint32_t nr = 0;

	put(f, 0, 4);
	while (*s) {
		struct file pages = { .shape = f->shape };
		char out[4 * PAGE];
		size_t len;

		s = put_page(&pages, s);
		if (*s && nr)
			s = put_page(&pages, s);
		len = ZSTD_compress(out, sizeof(out), pages.buf.data, pages.buf.len, 1);
		assert_false(ZSTD_isError(len));
		put(f, len, 4);
		put(f, pages.buf.len, 4);
		tap_buf_add(&f->buf, out, len);
		tap_buf_release(&pages.buf);
		nr++;
	}
	patch(f, count, nr, 4);
}

/* ---- files */

static void put_header_info(struct file *f)
{
	char text[256];
	unsigned int l = f->shape->long_size;

	snprintf(text, sizeof(text),
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		 "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:0;\n",
		 l, 8 + l, PAGE - 8 - l);
	put_text(f, "header_page");
	put_sized(f, 8, text);
	put_text(f, "header_event");
	put_sized(f, 8, "# compressed entry header\n");
}

static void put_ftrace(struct file *f)
{
	put(f, 1, 4);
	put_sized(f, 8, format_stack);
}

static void put_systems(struct file *f)
{
	put(f, 2, 4);
	put_text(f, "test");
	put(f, 2, 4);
	put_sized(f, 8, format_a);
	put_sized(f, 8, format_b);
	put_text(f, "schedtap");
	put(f, 1, 4);
	put_sized(f, 8, format_lost);
}

static void put_kallsyms(struct file *f)
{
	put_sized(f, 4, "0 T kallsyms\n");
}

static void put_printk(struct file *f)
{
	put_sized(f, 4, "0 : \"printk\"\n");
}

static void put_cmdlines(struct file *f)
{
	put_sized(f, 8, "42 my task\n7 \n9\n0 <idle>");
}

static void put_meta(struct file *f)
{
	put_sized(f, 4, "{\"tool\":\"test\"}");
}

static void put_option(struct file *f, unsigned int id, const char *data, size_t len)
{
	put(f, id, 2);
	put(f, len, 4);
	tap_buf_add(&f->buf, data, len);
}

static void put_common_options(struct file *f)
{
	put_option(f, 1, "0x64c9a1b2d3e4f", 16); /* --date */
	put_option(f, 5, "Linux test", 11);
	put_option(f, 13, "guest\0\1\2\3", 9); /* cut after its name */
	put_option(f, 13, "", 0);
	put_option(f, 777, "future", 6);
	put_option(f, 9, "trace-cmd 9", 12);
}

static void put_start(struct file *f, const char *version)
{
	tap_buf_puts(&f->buf, "\x17\x08\x44tracing");
	put_text(f, version);
	put(f, f->shape->big_endian, 1);
	put(f, f->shape->long_size, 1);
	put(f, PAGE, 4);
}

/* The content of a recording: pages of the top buffer's CPUs, and of CPU 0 of a buffer "more". */
struct content {
	const char *cpus[MAX_CPUS];
	const char *more;
	unsigned int wide; /* 0, or so many CPUs in all: the further ones have the same pages */
	const char *clocks; /* of v6; NULL: with mono in use */
};

static unsigned int nr_cpus_of(const struct content *c)
{
	return c->wide ? c->wide : MAX_CPUS;
}

/* Pages or chunks of one CPU; fills in its place at @entry (0: in a spool, elsewhere). */
static void put_cpu(struct file *f, const char *pages, size_t entry)
{
	size_t from = f->buf.len;

	if (!pages)
		return;
	if (f->shape->zstd)
		put_chunks(f, pages);
	else
		put_pages(f, pages);
	patch(f, entry, from, 8);
	/* of chunks, trace-cmd leaves out the word with their number */
	patch(f, entry + 8, f->buf.len - from - (f->shape->zstd ? 4 : 0), 8);
}

static void put_zeros(struct file *f, size_t nr)
{
	while (nr--)
		tap_buf_char(&f->buf, 0);
}

static void put_v6(struct file *f, const struct content *c)
{
	unsigned int nr = nr_cpus_of(c);
	size_t table, more = 0;

	put_start(f, "6");
	put_header_info(f);
	put_ftrace(f);
	put_systems(f);
	put_kallsyms(f);
	put_printk(f);
	put_cmdlines(f);
	put(f, nr, 4);
	tap_buf_add(&f->buf, "options  ", 10);
	put_common_options(f);
	if (c->more) {
		more = f->buf.len + 6;
		put_option(f, 3, "\0\0\0\0\0\0\0\0more", 13);
	}
	put_option(f, 4, "", 0);
	put(f, 0, 2);
	tap_buf_add(&f->buf, "flyrecord", 10);
	table = f->buf.len;
	put_zeros(f, 16 * nr);
	put_sized(f, 8, c->clocks ? c->clocks : "local [mono] x86-tsc");
	if (c->more) {
		patch(f, more, f->buf.len, 8);
		tap_buf_add(&f->buf, "flyrecord", 10);
		more = f->buf.len;
		put_zeros(f, 16 * nr);
	}
	for (size_t i = 0; i < nr; i++)
		put_cpu(f, c->cpus[i % MAX_CPUS], table + 16 * i);
	put_cpu(f, c->more, more);
}

/* Return: where its size stands, for end_section(). */
static size_t begin_section(struct file *f, unsigned int id, bool compressed)
{
	put(f, id, 2);
	put(f, compressed, 2);
	put(f, 0, 4);
	put(f, 0, 8);
	return f->buf.len - 8;
}

static void end_section(struct file *f, size_t size_at)
{
	patch(f, size_at, f->buf.len - size_at - 8, 8);
}

/* A section with what @content puts. Return: where it is. */
static uint64_t put_section(struct file *f, unsigned int id, void (*content)(struct file *))
{
	uint64_t at = f->buf.len;
	size_t size_at = begin_section(f, id, f->shape->zstd);

	if (f->shape->zstd) {
		struct file plain = { .shape = f->shape };
		char out[8192];
		size_t len;

		content(&plain);
		len = ZSTD_compress(out, sizeof(out), plain.buf.data, plain.buf.len, 1);
		assert_false(ZSTD_isError(len));
		put(f, len, 4);
		put(f, plain.buf.len, 4);
		tap_buf_add(&f->buf, out, len);
		tap_buf_release(&plain.buf);
	} else {
		content(f);
	}
	end_section(f, size_at);
	return at;
}

/* Return: where the table of CPUs stands; *@section: where the data section's offset does. */
static size_t put_buffer_option(struct file *f, const char *name, unsigned int nr, size_t *section)
{
	size_t table;

	put(f, 3, 2);
	put(f, 8 + strlen(name) + 1 + 5 + 8 + 20 * nr, 4);
	*section = f->buf.len;
	put(f, 0, 8);
	put_text(f, name);
	put_text(f, "mono");
	put(f, PAGE, 4);
	put(f, nr, 4);
	table = f->buf.len;
	for (unsigned int i = 0; i < nr; i++) {
		put(f, i, 4);
		put_zeros(f, 16);
	}
	return table;
}

static void put_data(struct file *f, const char *const *cpus, unsigned int nr, size_t section,
		     size_t table)
{
	size_t size_at;

	patch(f, section, f->buf.len, 8);
	size_at = begin_section(f, 3, f->shape->zstd);
	for (unsigned int i = 0; i < nr; i++)
		put_cpu(f, cpus[i % MAX_CPUS], table + 20 * i + 4);
	end_section(f, size_at);
}

static void put_v7(struct file *f, const struct content *c)
{
	static const struct {
		unsigned int id;
		void (*content)(struct file *);
	} sections[] = { { 16, put_header_info }, { 17, put_ftrace }, { 18, put_systems },
			 { 19, put_kallsyms },	  { 20, put_printk }, { 21, put_cmdlines } };
	size_t options_at, size_at, top_section = 0, top = 0, more_section = 0, more = 0;
	uint64_t places[TABLE(sections)];

	put_start(f, "7");
	put_text(f, f->shape->zstd ? "zstd" : "none");
	put_text(f, "1.5");
	options_at = f->buf.len;
	put(f, 0, 8);
	put_section(f, 0x7374, put_meta);
	for (size_t i = 0; i < TABLE(sections); i++)
		places[i] = put_section(f, sections[i].id, sections[i].content);
	patch(f, options_at, f->buf.len, 8);
	size_at = begin_section(f, 0, false);
	put_common_options(f);
	for (size_t i = 0; i < TABLE(sections); i++) {
		put(f, sections[i].id, 2);
		put(f, 8, 4);
		put(f, places[i], 8);
	}
	if (!f->shape->spool)
		top = put_buffer_option(f, "", nr_cpus_of(c), &top_section);
	if (c->more && !f->shape->spool)
		more = put_buffer_option(f, "more", nr_cpus_of(c), &more_section);
	put(f, 0, 2);
	put(f, 8, 4);
	put(f, 0, 8);
	end_section(f, size_at);
	if (f->shape->spool)
		return;
	put_data(f, c->cpus, nr_cpus_of(c), top_section, top);
	if (c->more)
		put_data(f, &c->more, 1, more_section, more);
}

static void put_file(struct file *f, const struct content *c)
{
	if (f->shape->version == 6)
		put_v6(f, c);
	else
		put_v7(f, c);
	assert_int_equal(f->buf.err, 0);
}

/* ---- reading them */

/* Opens @len bytes as a file of their own. */
static int open_bytes(const void *data, size_t len, struct tap_reader **r, struct tap_err *err)
{
	int fd = memfd_create("test_reader", MFD_CLOEXEC), ret;
	char path[64];

	assert_true(fd >= 0);
	assert_int_equal(tap_write_all(fd, data, len), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = tap_reader_open(path, r, err);
	close(fd);
	return ret;
}

static void write_at(const char *dir, const char *name, const void *data, size_t len)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(tap_write_all(fd, data, len), 0);
	close(fd);
}

static const char *const spool_names[] = {
	"head.dat",	    "meta.json",
	"0..mono.256.cpu0", "0..mono.256.cpu1",
	"0..mono.256.cpu2", "1.more.mono.256.cpu0",
	"packed",	    "x.y.z",
};

/* A spool folder; every page file ends in half a page. */
static void write_spool(const char *dir, const struct shape *shape, const struct content *c)
{
	for (int i = 0; i <= MAX_CPUS; i++) {
		const char *pages = i < MAX_CPUS ? c->cpus[i] : c->more;
		struct file f = { .shape = shape };

		if (!pages)
			continue;
		put_pages(&f, pages);
		for (unsigned int k = 0; k < PAGE / 2; k++)
			tap_buf_char(&f.buf, (char)0xff);
		write_at(dir, spool_names[2 + i], f.buf.data, f.buf.len);
		tap_buf_release(&f.buf);
	}
	write_at(dir, "meta.json", "{\"tool\":\"newer\"}", 16);
	write_at(dir, "packed", "half", 4);
	write_at(dir, "x.y.z", "", 0);
}

static void remove_spool(const char *dir)
{
	for (size_t i = 0; i < TABLE(spool_names); i++) {
		char path[256];

		snprintf(path, sizeof(path), "%s/%s", dir, spool_names[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(dir), 0);
}

static int open_content(const struct shape *shape, const struct content *c, struct tap_reader **r,
			struct tap_err *err)
{
	struct file f = { .shape = shape };
	char dir[] = "/tmp/test_reader.XXXXXX";
	int ret;

	put_file(&f, c);
	if (!shape->spool) {
		ret = open_bytes(f.buf.data, f.buf.len, r, err);
	} else {
		assert_non_null(mkdtemp(dir));
		write_at(dir, "head.dat", f.buf.data, f.buf.len);
		write_spool(dir, shape, c);
		ret = tap_reader_open(dir, r, err);
		remove_spool(dir);
	}
	tap_buf_release(&f.buf);
	return ret;
}

static void show(struct tap_buf *out, const struct tap_event *ev)
{
	const char *buffer = ev->buffer ? "'" : "";

	assert_true(ev->fmt ? ev->mark == 1 || ev->mark == ev->fmt->id : !ev->mark);
	if (!ev->fmt)
		tap_buf_printf(out, "%d%s:%ju lost %ju..%ju %ju", ev->cpu, buffer,
			       (uintmax_t)ev->ts_ns, (uintmax_t)ev->lost.first_ns,
			       (uintmax_t)ev->lost.last_ns, (uintmax_t)ev->lost.count);
	else
		tap_buf_printf(out, "%d%s:%ju %s", ev->cpu, buffer, (uintmax_t)ev->ts_ns,
			       ev->fmt->name);
	tap_buf_puts(out, " | ");
}

/* Reads to the end. Checks on the way what holds of every stream. Return: events. */
static unsigned int read_all(struct tap_reader *r, struct tap_buf *out, unsigned int *losses)
{
	unsigned int events = 0;
	struct tap_err err = { 0 };
	struct tap_event ev;
	uint64_t last = 0, done, whole;
	int ret;

	*losses = 0;
	while ((ret = tap_reader_next(r, &ev, &err)) == 1) {
		assert_true(ev.ts_ns >= last);
		last = ev.ts_ns;
		if (out)
			show(out, &ev);
		if (ev.fmt) {
			assert_true(ev.size >= ev.fmt->min_size);
			events++;
		} else {
			assert_true(ev.lost.first_ns <= ev.lost.last_ns);
			++*losses;
		}
	}
	if (ret)
		fail_msg("%s", err.text);
	assert_int_equal(tap_reader_next(r, &ev, &err), 0); /* the end stays the end */
	tap_reader_position(r, &done, &whole);
	assert_true(done <= whole);
	return events;
}

/* Read the first event alone and the others in batches. */
static void read_batches(struct tap_reader *r, struct tap_buf *out)
{
	const struct tap_event *const *events;
	struct tap_err err = { 0 };
	struct tap_event ev;
	int nr = tap_reader_next(r, &ev, &err);

	if (nr > 0)
		show(out, &ev);
	while (nr > 0) {
		nr = tap_reader_batch(r, &events, &err);
		for (int i = 0; i < nr; i++)
			show(out, events[i]);
	}
	if (nr)
		fail_msg("%s", err.text);
	assert_int_equal(tap_reader_batch(r, &events, &err), 0); /* the end stays the end */
}

struct stream_case {
	const char *name;
	struct content in;
	uint64_t from, to; /* 0, 0: all */
	const char *want;
};

static const struct stream_case stream_cases[] = {
	{
		.name = "CPUs are merged in time order",
		.in = { { "@100 a+5 b+10", "@100 b+7 a+20" } },
		.want = "0:105 a | 1:107 b | 0:115 b | 1:127 a | ",
	},
	{
		.name = "at equal times the lower CPU comes first, then the lower buffer",
		.in = { { "@100 a+5", "@100 a+5", "@100 b+5" }, "@100 b+5" },
		.want = "0:105 a | 0':105 b | 1:105 a | 2:105 b | ",
	},
	{
		.name = "a CPU that goes on for long gives way at equal times",
		.in = { { "@100 a+50", "@100 b+1 b+1 b+1 b+47 b+1" } },
		.want = "1:101 b | 1:102 b | 1:103 b | 0:150 a | 1:150 b | 1:151 b | ",
	},
	{
		.name = "a CPU that has a flag and no event",
		.in = { { "@100 a+80", "@150 !2" } },
		.want = "0:180 a | 1:180 lost 150..180 2 | ",
	},
	{
		.name = "a page starts at its own stamp",
		.in = { { "@100 a+5 | @200 a+0 | @300 b+1" } },
		.want = "0:105 a | 0:200 a | 0:301 b | ",
	},
	{
		.name = "a missed count is a loss before the page's first event",
		.in = { { "@100 a+5 | @200 !7 b+3" } },
		.want = "0:105 a | 0:203 lost 105..203 7 | 0:203 b | ",
	},
	{
		.name = "events missed, without a count",
		.in = { { "@100 a+5 | @200 ! b+3" } },
		.want = "0:105 a | 0:203 lost 105..203 0 | 0:203 b | ",
	},
	{
		.name = "missed before the first page: began at its stamp, for all that is known",
		.in = { { "@100 !7 a+5" } },
		.want = "0:105 lost 100..105 7 | 0:105 a | ",
	},
	{
		.name = "a loss is sorted in at its end",
		.in = { { "@100 a+5 | @200 !7 b+3", "@100 a+50 a+53 a+1" } },
		.want = "0:105 a | 1:150 a | 0:203 lost 105..203 7 | 0:203 b | 1:203 a | 1:204 a "
			"| ",
	},
	{
		.name = "a flag on an empty page waits for the next event, and counts add up",
		.in = { { "@100 a+5 | @150 !2 | @200 !7 b+3" } },
		.want = "0:105 a | 0:203 lost 105..203 9 | 0:203 b | ",
	},
	{
		.name = "a flag on an empty page, and one without a count: the count is unknown",
		.in = { { "@100 a+5 | @150 !2 | @200 ! b+3" } },
		.want = "0:105 a | 0:203 lost 105..203 0 | 0:203 b | ",
	},
	{
		.name = "a flag that nothing follows is a loss at the end",
		.in = { { "@100 a+5 | @150 !2", "@100 a+80" } },
		.want = "0:105 a | 1:180 a | 0:180 lost 105..180 2 | ",
	},
	{
		.name = "a record of a loss gives its exact times, also for another CPU",
		.in = { { "@100 a+5 lost(3,12,80,104)+1 a+1" } },
		.want = "0:105 a | 3:106 lost 80..104 12 | 0:107 a | ",
	},
	{
		.name = "a record of a loss whose CPU is not known",
		.in = { { "@100 lost(-1,12,80,104)+1 lost(-5,1,80,104)+1" } },
		.want = "-1:101 lost 80..104 12 | -1:102 lost 80..104 1 | ",
	},
	{
		.name = "a record of a loss at a page's start replaces the flag",
		.in = { { "@100 a+5 | @200 !7 lost(0,7,110,190)+1 a+1" } },
		.want = "0:105 a | 0:201 lost 110..190 7 | 0:202 a | ",
	},
	{
		.name = "a record of a loss later in the page does not replace it",
		.in = { { "@100 a+5 | @200 !7 a+1 lost(0,7,110,190)+1" } },
		.want = "0:105 a | 0:201 lost 105..201 7 | 0:201 a | 0:202 lost 110..190 7 | ",
	},
	{
		.name = "an event that no format describes is handed out as unknown",
		.in = { { "@100 a+5 unknown+1 unknown+1 b+1" } },
		.want = "0:105 a | 0:106 unknown | 0:107 unknown | 0:108 b | ",
	},
	{
		.name = "a stack with fewer callers than its format shows is whole",
		.in = { { "@100 stack+5 b+1" } },
		.want = "0:105 kernel_stack | 0:106 b | ",
	},
	{
		.name = "a record too short for its format ends the page",
		.in = { { "@100 a+5 short+1 b+1 | @200 b+1" } },
		.want = "0:105 a | 0:201 lost 106..201 0 | 0:201 b | ",
	},
	{
		.name = "an impossible length ends the page",
		.in = { { "@100 a+5 ? | @200 b+1" } },
		.want = "0:105 a | 0:201 lost 105..201 0 | 0:201 b | ",
	},
	{
		.name = "damage and a flag are one loss, and its count is not known",
		.in = { { "@100 a+5 ? | @200 !3 b+1" } },
		.want = "0:105 a | 0:201 lost 105..201 0 | 0:201 b | ",
	},
	{
		.name = "damage before a record of a loss: both are reported",
		.in = { { "@100 a+5 ? | @200 !3 lost(0,3,110,190)+1" } },
		.want = "0:105 a | 0:201 lost 105..201 0 | 0:201 lost 110..190 3 | ",
	},
	{
		.name = "damage on the last page is a loss up to the end of the recording",
		.in = { { "@100 a+5 ?", "@100 b+90" } },
		.want = "0:105 a | 1:190 b | 0:190 lost 105..190 0 | ",
	},
	{
		.name = "a page with a stamp of the past is a loss",
		.in = { { "@20000 a+5 | @300 a+1 | @20100 b+1" } },
		.want = "0:20005 a | 0:20101 lost 20005..20101 0 | 0:20101 b | ",
	},
	{
		.name = "a page with a stamp of the far future does not take the rest with it",
		.in = { { "@100 a+5 | @9000000 a+1 | @300 b+1 | @400 a+1" } },
		.want = "0:105 a | 0:301 lost 105..301 0 | 0:301 b | 0:401 a | ",
	},
	{
		.name = "no events at all",
		.in = { { "@100" } },
		.want = "",
	},
	{
		.name = "no pages at all",
		.want = "",
	},
	{
		.name = "a window leaves out what is before and after",
		.in = { { "@100 a+5 | @200 a+5 | @300 a+5 | @400 a+5 b+5 | @500 a+5",
			  "@100 b+0 b+210 b+99 b+99" } },
		.from = 310,
		.to = 410,
		.want = "1:310 b | 0:405 a | 1:409 b | 0:410 b | ",
	},
	{
		.name = "a loss that reaches into the window from before",
		.in = { { "@100 a+5 | @200 a+5 | @300 a+5 | @400 !7 b+5 | @500 a+5" } },
		.from = 400,
		.to = 410,
		.want = "0:405 lost 305..405 7 | 0:405 b | ",
	},
	{
		.name = "a loss before a page that starts before the window",
		.in = { { "@100 a+5 | @200 a+5 | @300 !7 b+20 | @400 a+5" } },
		.from = 310,
		.to = 330,
		.want = "0:320 lost 205..320 7 | 0:320 b | ",
	},
	{
		.name = "a loss that reaches beyond the window's end",
		.in = { { "@100 a+5 | @200 a+5 | @300 a+5 | @400 !7 b+5 | @500 a+5" } },
		.from = 300,
		.to = 310,
		.want = "0:305 a | 0:405 lost 305..405 7 | ",
	},
	{
		.name = "a loss that began and ended before the window",
		.in = { { "@100 a+5 | @200 !7 a+5 | @300 a+5" } },
		.from = 300,
		.to = 310,
		.want = "0:305 a | ",
	},
	{
		.name = "an empty window",
		.in = { { "@100 a+5 | @200 !7 a+5 | @300 a+5" } },
		.from = 310,
		.to = 300,
		.want = "",
	},
};

static void check_stream(const struct stream_case *c, const struct shape *shape)
{
	struct tap_buf out = { 0 };
	struct tap_err err = { 0 };
	struct tap_reader *r;
	unsigned int losses;

	if (open_content(shape, &c->in, &r, &err))
		fail_msg("%s (%s): %s", c->name, shape->name, err.text);
	if (c->from || c->to)
		tap_reader_limit(r, c->from, c->to);
	read_all(r, &out, &losses);
	if (strcmp(tap_buf_str(&out), c->want))
		fail_msg("%s (%s):\n got %s\nwant %s", c->name, shape->name, tap_buf_str(&out),
			 c->want);
	tap_buf_clear(&out);
	tap_reader_rewind(r);
	read_batches(r, &out);
	if (strcmp(tap_buf_str(&out), c->want))
		fail_msg("%s (%s), in batches:\n got %s\nwant %s", c->name, shape->name,
			 tap_buf_str(&out), c->want);
	tap_buf_release(&out);
	tap_reader_free(r);
}

static void test_streams(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(stream_cases); i++)
		for (size_t k = 0; k < TABLE(shapes); k++)
			check_stream(&stream_cases[i], &shapes[k]);
}

/* ---- several passes */

/* A pass over a recording: what is asked for, and what comes. */
struct pass_case {
	const char *name;
	struct content in;
	uint64_t from, to; /* 0, 0: all */
	int only; /* an id; 0: all */
	bool unmerged;
	const char *want;
};

#define THREE_CPUS                                                                                 \
	{                                                                                          \
		"@100 a+5 b+10 | @200 a+1", "@100 b+7 a+20 unknown+1", "@90 a+1"                   \
	}

static const struct pass_case pass_cases[] = {
	{
		.name = "only one kind",
		.in = { THREE_CPUS },
		.only = ID_B,
		.want = "1:107 b | 0:115 b | ",
	},
	{
		.name = "only a kind that no format describes",
		.in = { THREE_CPUS },
		.only = ID_UNKNOWN,
		.want = "1:128 unknown | ",
	},
	{
		.name = "only a kind that is not there",
		.in = { THREE_CPUS },
		.only = 777,
		.want = "",
	},
	{
		.name = "a loss before an event that is not wanted comes, up to that event",
		.in = { { "@100 b+5 | @200 !7 a+3 b+1" } },
		.only = ID_B,
		.want = "0:105 b | 0:203 lost 105..203 7 | 0:204 b | ",
	},
	{
		.name = "a record of a loss comes",
		.in = { { "@100 a+5 lost(3,12,80,104)+1 a+1" } },
		.only = ID_B,
		.want = "3:106 lost 80..104 12 | ",
	},
	{
		.name = "a damaged record of a kind that is not wanted is a loss",
		.in = { { "@100 b+5 short+1 b+1 | @200 b+1" } },
		.only = ID_B,
		.want = "0:105 b | 0:201 lost 106..201 0 | 0:201 b | ",
	},
	{
		.name = "one kind in a window",
		.in = { THREE_CPUS },
		.only = ID_A,
		.from = 101,
		.to = 150,
		.want = "0:105 a | 1:127 a | ",
	},
	{
		.name = "one CPU after the other",
		.in = { THREE_CPUS },
		.unmerged = true,
		.want = "0:105 a | 0:115 b | 0:201 a | 1:107 b | 1:127 a | 1:128 unknown | 2:91 a "
			"| ",
	},
	{
		.name = "one CPU after the other, its buffers one after the other",
		.in = { { "@100 a+5 b+10", "@100 a+1" }, "@90 b+1" },
		.unmerged = true,
		.want = "0:105 a | 0:115 b | 0':91 b | 1:101 a | ",
	},
	{
		.name = "unmerged, in a window, of one kind",
		.in = { THREE_CPUS },
		.unmerged = true,
		.only = ID_A,
		.from = 91,
		.to = 127,
		.want = "0:105 a | 1:127 a | 2:91 a | ",
	},
	{
		.name = "unmerged, a loss at a CPU's end has no end",
		.in = { { "@100 a+80", "@100 a+5 | @150 !2", "@100 b+1" } },
		.unmerged = true,
		.want = "0:180 a | 1:105 a | 1:105 lost 105..18446744073709551615 2 | 2:101 b | ",
	},
	{
		.name = "unmerged, a pass does not know of the one before it",
		.in = { { "@150 !2", "@100 a+80" } },
		.unmerged = true,
		.want = "0:150 lost 150..18446744073709551615 2 | 1:180 a | ",
	},
};

/* The case's kind, marked by its id. */
static uint16_t mark_only(void *pass_case, const struct tap_format *fmt)
{
	const struct pass_case *c = pass_case;

	return fmt->id == c->only ? fmt->id : 0;
}

static void ask(struct tap_reader *r, const struct pass_case *c)
{
	tap_reader_limit(r, c->from, c->from || c->to ? c->to : UINT64_MAX);
	tap_reader_mark(r, c->only ? mark_only : NULL, (void *)c);
	tap_reader_unmerged(r, c->unmerged);
}

static char *take_text(struct tap_buf *b)
{
	char *text = strdup(tap_buf_str(b));

	assert_int_equal(b->err, 0);
	assert_non_null(text);
	tap_buf_release(b);
	return text;
}

/* Reads @steps events, or all. */
static char *read_pass(struct tap_reader *r, unsigned int steps)
{
	struct tap_buf out = { 0 };
	struct tap_event ev;
	int ret = 1;

	while (steps-- && (ret = tap_reader_next(r, &ev, NULL)) == 1)
		show(&out, &ev);
	assert_true(ret >= 0);
	if (!ret)
		assert_int_equal(tap_reader_next(r, &ev, NULL), 0);
	return take_text(&out);
}

static void check_pass(struct tap_reader *r, const struct pass_case *c, const char *shape)
{
	char *got;

	ask(r, c);
	got = read_pass(r, UINT32_MAX);
	if (strcmp(got, c->want))
		fail_msg("%s (%s):\n got %s\nwant %s", c->name, shape, got, c->want);
	free(got);
}

/* All, the case, the case again after some of all was read, and all again. */
static void check_passes(const struct pass_case *c, const struct shape *shape)
{
	struct pass_case all = { .name = c->name };
	struct tap_reader *r;
	char *whole;

	assert_int_equal(open_content(shape, &c->in, &r, NULL), 0);
	all.want = whole = read_pass(r, UINT32_MAX);
	for (unsigned int steps = 0; steps < 4; steps++) {
		tap_reader_rewind(r);
		check_pass(r, c, shape->name);
		tap_reader_rewind(r);
		ask(r, &all);
		free(read_pass(r, steps));
	}
	tap_reader_rewind(r);
	check_pass(r, &all, shape->name);
	tap_reader_free(r);
	free(whole);
}

static void test_passes(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(pass_cases); i++)
		for (size_t k = 0; k < TABLE(shapes); k++)
			check_passes(&pass_cases[i], &shapes[k]);
}

#define MANY_PAGES 41u

/* Pages enough for many chunks: page p of @cpu starts at 1000 * p + cpu. */
static char *many_pages(unsigned int cpu)
{
	struct tap_buf b = { 0 };

	for (unsigned int p = 1; p <= MANY_PAGES; p++)
		tap_buf_printf(&b, "%s@%u a+1 b+400 a+%u b+1", p > 1 ? " | " : "", 1000 * p + cpu,
			       cpu * p);
	return take_text(&b);
}

/* A window that begins and ends anywhere: as much as of the plain file. */
static void compare_window(struct tap_reader *plain, struct tap_reader *zstd, uint64_t from,
			   bool unmerged)
{
	struct pass_case c = { .from = from, .to = from + 1700, .unmerged = unmerged };
	char *want;

	ask(plain, &c);
	want = read_pass(plain, UINT32_MAX);
	c.name = "a window of many chunks";
	c.want = want;
	assert_true(strlen(want) > 40);
	check_pass(zstd, &c, "zstd");
	tap_reader_rewind(plain);
	tap_reader_rewind(zstd);
	free(want);
}

static void test_chunks(void **state)
{
	char *pages[] = { many_pages(0), many_pages(1), many_pages(2) };
	struct content content = { { pages[0], pages[1], pages[2] } };
	static const struct shape plain = { "v7", 7, .long_size = 8 },
				  zstd = { "v7, zstd", 7, .zstd = true, .long_size = 8 };
	struct pass_case all = { .name = "many chunks", .in = content, .unmerged = true };
	struct tap_reader *p, *z;
	unsigned int losses;
	uint64_t done, whole;
	char *want;

	(void)state;
	assert_int_equal(open_content(&plain, &content, &p, NULL), 0);
	assert_int_equal(open_content(&zstd, &content, &z, NULL), 0);
	assert_int_equal(read_all(z, NULL, &losses), 3 * 4 * MANY_PAGES);
	tap_reader_position(z, &done, &whole);
	assert_true(whole && done == whole);
	tap_reader_rewind(z);
	tap_reader_position(z, &done, &whole);
	assert_true(!done);
	assert_int_equal(losses, 0);
	tap_reader_rewind(z);
	ask(p, &all);
	all.want = want = read_pass(p, UINT32_MAX);
	check_pass(z, &all, "zstd");
	free(want);
	tap_reader_rewind(p);
	tap_reader_rewind(z);
	for (unsigned int from = 900; from < 1000 * MANY_PAGES; from += 333)
		compare_window(p, z, from, from & 1);
	tap_reader_free(p);
	tap_reader_free(z);
	for (int i = 0; i < 3; i++)
		free(pages[i]);
}

/* More CPUs than a machine word has bits, and no power of two. */
static void test_wide(void **state)
{
	const struct content content = {
		{ "@100 a+5 b+10 | @200 a+0 a+0", "@100 b+5 a+20 b+200", "@90 a+1" },
		.wide = 130,
	};

	(void)state;
	for (size_t k = 0; k < TABLE(shapes); k++) {
		unsigned int events = 0;
		struct tap_event ev, last = { .cpu = -1 };
		struct tap_reader *r;

		if (shapes[k].spool)
			continue;
		assert_int_equal(open_content(&shapes[k], &content, &r, NULL), 0);
		for (; tap_reader_next(r, &ev, NULL) == 1; last = ev, events++)
			assert_true(ev.ts_ns > last.ts_ns ||
				    (ev.ts_ns == last.ts_ns && ev.cpu >= last.cpu));
		assert_int_equal(events, 44 * 4 + 43 * 3 + 43 * 1);
		assert_int_equal(last.cpu, 1 + 3 * 42);
		tap_reader_free(r);
	}
}

/* ---- files as a whole */

static const struct content plain_content = {
	{ "@100 a+5 b+10 | @200 !7 a+0", "@150 b+7 a+20 unknown+1", NULL },
	"@170 a+1 lost(1,5,150,160)+1",
};

static void test_info(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(shapes); i++) {
		const struct shape *s = &shapes[i];
		const struct tap_reader_info *info;
		struct tap_reader *r;
		unsigned int nr;

		assert_int_equal(open_content(s, &plain_content, &r, NULL), 0);
		info = tap_reader_info(r);
		assert_int_equal(info->version, s->version);
		assert_int_equal(info->is_spool, s->spool);
		assert_int_equal(info->big_endian, s->big_endian);
		assert_int_equal(info->long_size, s->long_size);
		assert_int_equal(info->nr_cpus, s->spool ? 2 : s->version == 6 ? MAX_CPUS : 2);
		assert_string_equal(info->uname, "Linux test");
		assert_string_equal(info->tool, "trace-cmd 9");
		assert_int_equal(info->wall_ts_ns, 0);
		assert_int_equal(info->wall_realtime_ns, 0x64c9a1b2d3e4full * 1000);
		assert_string_equal(info->compression, s->zstd ? "zstd" : "none");
		assert_string_equal(info->meta, s->spool	  ? "{\"tool\":\"newer\"}"
						: s->version == 7 ? "{\"tool\":\"test\"}"
								  : "");
		assert_string_equal(
			info->notes,
			"the recording refers to guest 'guest', whose own file is not read");
		assert_string_equal(info->kallsyms, "0 T kallsyms\n");
		assert_string_equal(info->printk, "0 : \"printk\"\n");
		assert_int_equal(info->nr_buffers, 2);
		assert_string_equal(info->buffers[0].name, "");
		assert_string_equal(info->buffers[1].name, "more");
		assert_string_equal(info->buffers[1].clock, "mono");
		assert_int_equal(info->buffers[0].nr_cpus, 2);
		assert_int_equal(info->buffers[0].page_size, PAGE);
		assert_string_equal(tap_reader_comm(r, 42), "my task");
		assert_string_equal(tap_reader_comm(r, 7), "");
		assert_string_equal(tap_reader_comm(r, 0), "<idle>");
		assert_null(tap_reader_comm(r, 9));
		assert_null(tap_reader_comm(r, 43));
		tap_reader_formats(r, &nr);
		assert_int_equal(nr, 4);
		tap_reader_free(r);
	}
}

/* Reads the first @len bytes. Return: whether they open. */
static const struct {
	const char *clocks, *want;
} clock_cases[] = {
	{ "[local] global mono", "local" },
	{ "local global [mono]", "mono" },
	{ "local global mono", "" }, /* which is in use it does not say */
	{ "mono", "" },
	{ "local [mono", "" },
	{ "local mono]", "" },
};

static void test_clocks(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(clock_cases); i++) {
		struct content c = plain_content;
		struct tap_reader *r;

		c.clocks = clock_cases[i].clocks;
		assert_int_equal(shapes[0].version, 6);
		assert_int_equal(open_content(&shapes[0], &c, &r, NULL), 0);
		assert_string_equal(tap_reader_info(r)->buffers[0].clock, clock_cases[i].want);
		tap_reader_free(r);
	}
}

static bool read_front(const struct file *f, size_t len, unsigned int *events, unsigned int *losses)
{
	struct tap_err err = { 0 };
	struct tap_reader *r;
	int ret;

	ret = open_bytes(f->buf.data, len, &r, &err);
	if (ret) {
		assert_int_equal(ret, -EINVAL);
		assert_true(err.text[0]);
		return false;
	}
	*events = read_all(r, NULL, losses);
	tap_reader_free(r);
	return true;
}

/* A file cut anywhere does not open, or its missing events are reported as a loss. */
static void check_cut(const struct shape *shape, const struct content *c, unsigned int want)
{
	unsigned int whole, whole_losses, events, losses, opened = 0, step = sanitized_step();
	struct file f = { .shape = shape };

	put_file(&f, c);
	assert_true(read_front(&f, f.buf.len, &whole, &whole_losses));
	assert_int_equal(whole, want);
	for (size_t len = (size_t)(shape - shapes) % step; len < f.buf.len; len += step) {
		if (!read_front(&f, len, &events, &losses))
			continue;
		if (losses <= (events == whole ? whole_losses : 0))
			fail_msg("%s: cut at %zu: %u of %u events, %u losses", shape->name, len,
				 events, whole, losses);
		opened++;
	}
	assert_true(opened > 32 / step); /* cut in the data, it opens */
	tap_buf_release(&f.buf);
}

static void test_cut(void **state)
{
	static const struct content one_cpu = { { "@100 a+5 b+1 | @200 b+1 | @300 a+1" } };

	(void)state;
	for (size_t i = 0; i < TABLE(shapes); i++) {
		if (shapes[i].spool)
			continue;
		check_cut(&shapes[i], &plain_content, 7);
		check_cut(&shapes[i], &one_cpu, 4);
	}
}

/* Each byte turned into another, differently for each shape: an error, or a stream in order. */
static void test_flipped(void **state)
{
	static const unsigned char flips[] = { 0xff, 0x01, 0x80 };

	(void)state;
	for (size_t i = 0; i < TABLE(shapes); i++) {
		struct file f = { .shape = &shapes[i] };

		if (!shapes[i].flip)
			continue;
		put_file(&f, &plain_content);
		for (size_t k = i % sanitized_step(); k < f.buf.len; k += sanitized_step()) {
			unsigned char flip = flips[(i + k) % TABLE(flips)];
			struct tap_err err = { 0 };
			struct tap_reader *r;
			unsigned int losses;
			int ret;

			f.buf.data[k] ^= (char)flip;
			ret = open_bytes(f.buf.data, f.buf.len, &r, &err);
			if (!ret)
				read_all(r, NULL, &losses);
			else
				assert_true(ret == -EINVAL || ret == -ENOTSUP);
			tap_reader_free(r);
			f.buf.data[k] ^= (char)flip;
		}
		tap_buf_release(&f.buf);
	}
}

struct refusal {
	const char *name, *path, *text;
	int code;
};

static void test_refused(void **state)
{
	static const struct refusal cases[] = {
		{ "no such file", "/nonexistent/x", "cannot open '/nonexistent/x': No such file",
		  -ENOENT },
		{ "a device", "/dev/null", "neither a file, a folder nor a pipe", -EINVAL },
		{ "a folder that is no spool", "/proc/self",
		  "is not a recording: it has no head.dat", -EINVAL },
		{ "a file that is no recording", "/proc/self/exe", "is not a recording", -EINVAL },
		{ "an empty file", "/proc/self/maps", "is not a recording", -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_reader *r = (void *)1;
		struct tap_err err = { 0 };
		int ret = tap_reader_open(cases[i].path, &r, &err);

		if (ret != cases[i].code || r || !strstr(err.text, cases[i].text))
			fail_msg("%s: %d, '%s'", cases[i].name, ret, err.text);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams), cmocka_unit_test(test_passes),
		cmocka_unit_test(test_chunks),	cmocka_unit_test(test_wide),
		cmocka_unit_test(test_info),	cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_cut),	cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
