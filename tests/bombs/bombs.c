// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bombs NAME FILE: a small recording that makes a reader without limits use gigabytes of memory or
 * minutes of CPU time. Without arguments: print the names.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/text.h"
#include "event/defs.h"
#include "file/dat_write.h"
#include "file/page.h"
#include "file/spool.h"

#define MB ((size_t)1 << 20)
#define COMMON_BYTES 8u
#define START_NS 1000000000ull

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "bombs: %s\n", what);
	exit(1);
}

static void write_file(const char *path, const struct tap_buf *bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (bytes->err || fd < 0 || tap_write_all(fd, bytes->data, bytes->len) || close(fd))
		die("cannot write the file");
}

/* ---- trace.dat */

/* The unusual parts of a bomb. The rest of the file is an ordinary recording without events. */
struct bomb {
	const char *meta, *kallsyms, *cmdlines;
	const struct tap_head_format *formats; /* NULL: of the built-in events */
	unsigned int nr_formats;
	unsigned int nr_cpus; /* that its header names */
	bool zstd;
	struct tap_buf data; /* pages, or with .zstd chunks with their number */
	struct tap_dat_cpu *cpus; /* their .offset is into .data */
	unsigned int nr_entries;
};

static unsigned int make_formats(struct tap_head_format **out)
{
	const struct tap_def *def;
	unsigned int nr = 0;

	while (tap_def_at(nr))
		nr++;
	*out = calloc(nr, sizeof(**out));
	for (unsigned int i = 0; i < nr; i++) {
		struct tap_buf text = { 0 };

		def = tap_def_at(i);
		tap_def_format(def, NULL, NULL, &text);
		(*out)[i] = (struct tap_head_format){ def->system, text.data, text.len };
	}
	return nr;
}

static void put_front(const struct bomb *b, struct tap_buf *out, size_t *more_at)
{
	struct tap_head head = {
		.uname = "Linux bombs",
		.tool = "bombs",
		.clock = "mono",
		.printk = "",
		.meta = b->meta ?: "",
		.cmdlines = b->cmdlines ?: "",
		.kallsyms = b->kallsyms ?: "",
		.nr_cpus = b->nr_cpus,
	};
	struct tap_head_format *formats;
	struct tap_dat_front front;
	size_t sums_at;

	head.nr_formats = b->formats ? b->nr_formats : make_formats(&formats);
	head.formats = b->formats ?: formats;
	tap_head_defaults(&head);
	if (tap_dat_front_make(&head, &front))
		die("cannot make the front");
	/* nothing is written into the section of checksums: the file has none */
	tap_dat_front_write(&front, b->zstd ? 1 : 0, 0, out, more_at, &sums_at);
}

static void write_bomb(const struct bomb *b, const char *path)
{
	struct tap_dat_buffer buffer = { .name = "",
					 .clock = "mono",
					 .page_size = TAP_PAGE_SIZE,
					 .cpus = b->cpus,
					 .nr_cpus = b->nr_entries };
	struct tap_buf out = { 0 }, options = { 0 };
	size_t more_at = 0, at;
	uint64_t options_at;

	put_front(b, &out, &more_at);
	options_at = out.len;
	tap_dat_buffers_write(&buffer, 1, &options);
	at = out.len + options.len;
	buffer.offset = at;
	for (unsigned int i = 0; i < b->nr_entries; i++)
		b->cpus[i].offset += at + TAP_DAT_SECTION_HEADER;
	tap_dat_buffers_write(&buffer, 1, &out);
	tap_dat_section_header(TAP_DAT_FLYRECORD, b->zstd ? TAP_DAT_COMPRESSED : 0, b->data.len,
			       &out);
	tap_buf_add(&out, b->data.data, b->data.len);
	if (!out.err)
		memcpy(out.data + more_at, &options_at, sizeof(options_at));
	write_file(path, &out);
}

/* CPUs [0, @nr), each of which has the same @size bytes of data. */
static void share_data(struct bomb *b, unsigned int nr, size_t size)
{
	b->cpus = calloc(nr, sizeof(*b->cpus));
	b->nr_entries = b->nr_cpus = nr;
	for (unsigned int i = 0; i < nr; i++)
		b->cpus[i] = (struct tap_dat_cpu){ .cpu = i, .size = size };
}

static void repeat(struct tap_buf *b, const char *text, size_t bytes)
{
	while (b->len < bytes && !b->err)
		tap_buf_puts(b, text);
}

/* A description that has @text again and again, and is valid. */
static void write_description(const char *path, const char *first, const char *text,
			      const char *last)
{
	struct tap_buf meta = { 0 };
	struct bomb b = { .zstd = true };

	tap_buf_puts(&meta, first);
	repeat(&meta, text, 100 * MB);
	tap_buf_puts(&meta, last);
	b.meta = tap_buf_str(&meta);
	write_bomb(&b, path);
}

static void objects(const char *path)
{
	write_description(path, "{\"tasks\":[", "{},", "{}]}");
}

static void numbers(const char *path)
{
	write_description(path, "{\"cpus\":[", "0,", "0]}");
}

static void names(const char *path)
{
	struct tap_buf text = { 0 };
	struct bomb b = { .zstd = true };

	repeat(&text, "1 a\n", 250 * MB);
	b.cmdlines = tap_buf_str(&text);
	write_bomb(&b, path);
}

static void symbols(const char *path)
{
	struct tap_buf text = { 0 };
	struct bomb b = { .zstd = true };

	repeat(&text, "ffffffff81000000 T a\n", 63 * MB);
	b.kallsyms = tap_buf_str(&text);
	write_bomb(&b, path);
}

/* Each is parsed into an array with a place for each line. */
static void formats(const char *path)
{
	static struct tap_head_format all[65535];
	struct bomb b = { .zstd = true, .formats = all, .nr_formats = 65535 };

	for (unsigned int i = 0; i < b.nr_formats; i++) {
		struct tap_buf text = { 0 };

		tap_buf_printf(&text, "name: a\nID: %u\n", i + 1);
		repeat(&text, "\n", 540);
		all[i] = (struct tap_head_format){ "x", tap_buf_str(&text), text.len };
	}
	write_bomb(&b, path);
}

/* A command line that names a process again and again, and a list of tasks in which it is the last.
 */
static void processes(const char *path)
{
	struct tap_buf meta = { 0 };
	struct bomb b = { .zstd = true };

	tap_buf_puts(&meta,
		     "{\"tool\":\"schedtap 0.1.0\",\"command_line\":[\"schedtap\",\"record\"");
	repeat(&meta, ",\"-p1\"", MB);
	tap_buf_puts(&meta, "],\"tasks\":[[]");
	repeat(&meta, ",[]", 3 * MB);
	tap_buf_puts(&meta, ",[1,1,\"a\"]]}");
	b.meta = tap_buf_str(&meta);
	write_bomb(&b, path);
}

/* ---- pages */

struct pages {
	struct tap_buf *out;
	struct tap_page page;
	unsigned char bytes[TAP_PAGE_SIZE];
	bool open;
};

static void end_page(struct pages *p)
{
	if (p->open)
		tap_page_end(&p->page, 0);
	if (p->open)
		tap_buf_add(p->out, p->bytes, sizeof(p->bytes));
	p->open = false;
}

static void put_field(const struct tap_def *def, unsigned char *record, const char *name,
		      int32_t value)
{
	for (unsigned int i = 0; i < def->nr_fields; i++)
		if (!strcmp(def->fields[i].name, name))
			memcpy(record + def->fields[i].offset, &value, sizeof(value));
}

/* An event of the task @pid, all of whose fields but the two are 0. */
static void put_event(struct pages *p, uint64_t ts_ns, const char *name, const char *a, int32_t va,
		      const char *b, int32_t vb)
{
	const struct tap_def *def = tap_def_find(NULL, name);
	unsigned char record[256] = { 0 };
	uint16_t id = (uint16_t)def->id;
	unsigned char *at;

	memcpy(record, &id, sizeof(id));
	put_field(def, record, a, va);
	put_field(def, record, b, vb);
	if (!p->open || !(at = tap_page_add(&p->page, ts_ns, def->size))) {
		end_page(p);
		tap_page_begin(&p->page, p->bytes, ts_ns);
		p->open = true;
		at = tap_page_add(&p->page, ts_ns, def->size);
	}
	memcpy(at, record, def->size);
}

/* A chunk with these pages. In front of a CPU's first chunk stands their number. */
static void put_chunk(struct tap_buf *out, const char *pages, size_t size)
{
	size_t bound = ZSTD_compressBound(size), len;
	void *chunk = malloc(bound);
	uint32_t head[2];

	len = ZSTD_compress(chunk, bound, pages, size, 1);
	if (ZSTD_isError(len))
		die("cannot compress");
	head[0] = (uint32_t)len;
	head[1] = (uint32_t)size;
	tap_buf_add(out, (char *)head, sizeof(head));
	tap_buf_add(out, chunk, len);
	free(chunk);
}

static void put_count(struct tap_buf *out, uint32_t nr)
{
	tap_buf_add(out, (char *)&nr, sizeof(nr));
}

/* The task @tid is woken, moves to CPU @cpu, runs for a microsecond, and sleeps: what reports
 * cannot do without. */
static void put_run(struct pages *p, uint64_t ts_ns, int tid, int cpu)
{
	put_event(p, ts_ns, "sched_waking", "pid", tid, "target_cpu", cpu);
	put_event(p, ts_ns + 100, "sched_migrate_task", "pid", tid, "dest_cpu", cpu);
	put_event(p, ts_ns + 200, "sched_switch", "next_pid", tid, "prev_state", 0);
	put_event(p, ts_ns + 1200, "sched_switch", "prev_pid", tid, "prev_state", 1);
}

static void one_run(struct tap_buf *out)
{
	struct pages p = { .out = out };

	put_run(&p, START_NS, 1, 0);
	end_page(&p);
}

static void share_one_run(const char *path, unsigned int nr_cpus)
{
	struct bomb b = { 0 };

	one_run(&b.data);
	share_data(&b, nr_cpus, b.data.len);
	write_bomb(&b, path);
}

static void sharing(const char *path)
{
	share_one_run(path, 8192);
}

static void many_cpus(const char *path)
{
	share_one_run(path, 65536);
}

/* Each has its own data, which is a few bytes when compressed. */
static void cpus(const char *path)
{
	struct tap_buf pages = { 0 };
	struct bomb b = { .zstd = true };
	size_t size;

	one_run(&pages);
	put_count(&b.data, 1);
	put_chunk(&b.data, pages.data, pages.len);
	size = b.data.len;
	share_data(&b, 8192, size);
	for (unsigned int i = 1; i < b.nr_entries; i++) {
		b.cpus[i].offset = b.data.len;
		put_count(&b.data, 1);
		put_chunk(&b.data, pages.data, pages.len);
	}
	write_bomb(&b, path);
}

/* One CPU's pages, compressed. */
static void write_described_pages(const char *path, const struct tap_buf *pages, const char *meta)
{
	const size_t at_once = 1024 * TAP_PAGE_SIZE;
	struct bomb b = { .zstd = true, .meta = meta };

	put_count(&b.data, (uint32_t)((pages->len + at_once - 1) / at_once));
	for (size_t at = 0; at < pages->len; at += at_once)
		put_chunk(&b.data, pages->data + at,
			  pages->len - at < at_once ? pages->len - at : at_once);
	share_data(&b, 1, b.data.len);
	write_bomb(&b, path);
}

static void write_pages(const char *path, const struct tap_buf *pages)
{
	write_described_pages(path, pages, "");
}

static void named_cpus(const char *path)
{
	struct tap_buf pages = { 0 };
	struct pages p = { .out = &pages };

	for (int i = 0; i < 65536; i++)
		put_run(&p, START_NS + (uint64_t)i * 2000, 1, i);
	end_page(&p);
	write_pages(path, &pages);
}

static void tasks(const char *path)
{
	struct tap_buf pages = { 0 };
	struct pages p = { .out = &pages };

	for (int i = 1; i < 500000; i++)
		put_run(&p, START_NS + (uint64_t)i * 2000, i, 0);
	end_page(&p);
	write_pages(path, &pages);
}

static void put_patterns(struct tap_buf *meta, const char *key, const char *pattern,
			 unsigned int nr)
{
	tap_buf_printf(meta, "{\"only\":{\"%s\":[\"%s\"", key, pattern);
	while (--nr)
		tap_buf_printf(meta, ",\"%s\"", pattern);
	tap_buf_puts(meta, "]}");
}

/* Switches whose tasks match none of the patterns of the description's filter. */
static void many_names(const char *path)
{
	const int32_t name = 0x61616161; /* "aaaa" */
	struct tap_buf pages = { 0 }, meta = { 0 };
	struct pages p = { .out = &pages };

	put_patterns(&meta, "names", "*aaab", 300000);
	tap_buf_char(&meta, '}');
	for (unsigned int i = 0; i < 60000; i++)
		put_event(&p, START_NS + i, "sched_switch", "prev_comm", name, "next_comm", name);
	end_page(&p);
	write_described_pages(path, &pages, tap_buf_str(&meta));
}

static void many_cgroups(const char *path)
{
	struct tap_buf meta = { 0 };
	struct bomb b = { .zstd = true };

	put_patterns(&meta, "cgroups", "/*b", 300000);
	tap_buf_puts(&meta, ",\"cgroups\":[[1,\"/a\"]],\"tasks\":[[1,1,\"a\",1,\"began\"]");
	for (unsigned int i = 2; i < 60000; i++)
		tap_buf_printf(&meta, ",[%u,%u,\"a\",1,\"began\"]", i, i);
	tap_buf_puts(&meta, "]}");
	b.meta = tap_buf_str(&meta);
	write_bomb(&b, path);
}

/* Losses on alternating CPUs, more of them than are kept. */
static void losses(const char *path)
{
	struct tap_buf pages = { 0 };
	struct pages p = { .out = &pages };

	put_run(&p, START_NS, 1, 0);
	for (int i = 1; i < 600000; i++)
		put_event(&p, START_NS + 10000 + (uint64_t)i, "events_lost", "lost_cpu", i % 2,
			  "count", 1);
	end_page(&p);
	write_pages(path, &pages);
}

/* A loss after the window, on a CPU that no machine has. */
static void lost_cpu(const char *path)
{
	struct bomb b = { .meta = "{\"window\":{\"start_ns\":1000000000,\"end_ns\":1000005000}}" };
	struct pages p = { .out = &b.data };

	put_run(&p, START_NS, 1, 0);
	put_event(&p, START_NS + 10000, "events_lost", "lost_cpu", 1500000000, "count", 1);
	end_page(&p);
	share_data(&b, 1, b.data.len);
	write_bomb(&b, path);
}

/* Chunks that decompress to @bytes each, all the same. */
static void write_chunks(const char *path, const struct tap_buf *pages, uint32_t nr)
{
	struct bomb b = { .zstd = true };

	put_count(&b.data, nr);
	while (nr--)
		put_chunk(&b.data, pages->data, pages->len);
	share_data(&b, 1, b.data.len);
	write_bomb(&b, path);
}

static void zeros(const char *path)
{
	struct tap_buf pages = { 0 };
	static const char none[TAP_PAGE_SIZE];

	while (pages.len < 64 * MB)
		tap_buf_add(&pages, none, sizeof(none));
	write_chunks(path, &pages, 200);
}

static void same_page(const char *path)
{
	struct tap_buf one = { 0 }, pages = { 0 };
	struct pages p = { .out = &one };

	while (!one.len)
		put_event(&p, START_NS, "sched_switch", "next_pid", 1, "prev_state", 0);
	while (pages.len < 64 * MB)
		tap_buf_add(&pages, one.data, TAP_PAGE_SIZE);
	write_chunks(path, &pages, 100);
}

/* ---- perf.data */

#define PERF_ATTR_BYTES 96u
#define PERF_HEADER_BYTES 104u
#define PERF_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
#define PERF_SWITCH_BYTES 40u
#define PERF_COMPRESSED 81u
#define PERF_FINISHED_ROUND 68u
#define FEATURE_COMPRESSED 27u

static void put(struct tap_buf *b, uint64_t v, size_t size)
{
	v = htole64(v);
	tap_buf_add(b, (char *)&v, size);
}

static void put_switch(struct tap_buf *b, int from, int to, uint64_t ts_ns, uint32_t cpu)
{
	put(b, PERF_RECORD_SWITCH_CPU_WIDE, 4);
	put(b, PERF_RECORD_MISC_SWITCH_OUT, 2);
	put(b, PERF_SWITCH_BYTES, 2);
	put(b, (uint32_t)to, 4);
	put(b, (uint32_t)to, 4);
	put(b, (uint32_t)from, 4);
	put(b, (uint32_t)from, 4);
	put(b, ts_ns, 8);
	put(b, cpu, 8);
}

/* A file of one attr, which records context switches, with these records. @is_compressed: some are
 * compressed. */
static void write_perf_attr(const char *path, uint32_t type, uint64_t sample_type,
			    const struct tap_buf *records, bool is_compressed)
{
	const uint64_t attrs_at = PERF_HEADER_BYTES, data_at = attrs_at + PERF_ATTR_BYTES + 16;
	struct tap_buf out = { 0 };
	size_t attr_at;

	tap_buf_puts(&out, "PERFILE2");
	put(&out, PERF_HEADER_BYTES, 8);
	put(&out, PERF_ATTR_BYTES + 16, 8);
	put(&out, attrs_at, 8);
	put(&out, PERF_ATTR_BYTES + 16, 8);
	put(&out, data_at, 8);
	put(&out, records->len, 8);
	put(&out, 0, 8);
	put(&out, 0, 8);
	put(&out, is_compressed ? 1u << FEATURE_COMPRESSED : 0, 8);
	while (out.len < PERF_HEADER_BYTES)
		put(&out, 0, 8);
	attr_at = out.len;
	put(&out, type, 4);
	put(&out, PERF_ATTR_BYTES, 4);
	put(&out, PERF_COUNT_SW_DUMMY, 8);
	put(&out, 0, 8);
	put(&out, sample_type, 8);
	put(&out, 0, 8);
	put(&out, 1ull << 18 | 1ull << 26, 8); /* sample_id_all, context_switch */
	while (out.len < attr_at + PERF_ATTR_BYTES + 16)
		put(&out, 0, 8);
	tap_buf_add(&out, records->data, records->len);
	if (is_compressed) {
		put(&out, out.len + 16, 8);
		put(&out, 20, 8);
		put(&out, 1, 4);
		put(&out, 1, 4); /* zstd */
		put(&out, 1, 4);
		put(&out, 10, 4);
		put(&out, 0, 4);
	}
	write_file(path, &out);
}

static void write_perf(const char *path, const struct tap_buf *records, bool is_compressed)
{
	write_perf_attr(path, PERF_TYPE_SOFTWARE, PERF_TYPE, records, is_compressed);
}

static void perf_cpus(const char *path)
{
	struct tap_buf b = { 0 };

	for (uint32_t i = 0; i < 14000; i++)
		put_switch(&b, 1, 2, START_NS + i, i % 8192);
	write_perf(path, &b, false);
}

static void perf_late(const char *path)
{
	struct tap_buf b = { 0 };

	put_switch(&b, 1, 2, START_NS, 0);
	put_switch(&b, 2, 1, START_NS + 1000, 0);
	put_switch(&b, 1, 2, (1ull << 63) + 1000, 0);
	write_perf(path, &b, false);
}

static void perf_tasks(const char *path)
{
	struct tap_buf b = { 0 };

	for (int i = 1; i < 100000; i++)
		put_switch(&b, i, i + 1, START_NS + (uint64_t)i, 0);
	write_perf(path, &b, false);
}

/* A COMPRESSED record with these records. */
static void put_compressed(struct tap_buf *records, ZSTD_CCtx *ctx, const struct tap_buf *these)
{
	static char chunk[UINT16_MAX - 8];
	ZSTD_inBuffer in = { these->data, these->len, 0 };
	ZSTD_outBuffer out = { chunk, sizeof(chunk), 0 };
	size_t left = ZSTD_compressStream2(ctx, &out, &in, ZSTD_e_flush);

	if (left) /* or an error */
		die("cannot compress");
	put(records, PERF_COMPRESSED, 4);
	put(records, 0, 2);
	put(records, 8 + out.pos, 2);
	tap_buf_add(records, chunk, out.pos);
}

/* One round of records that decompress to a gigabyte. */
static void perf_unsorted(const char *path)
{
	struct tap_buf same = { 0 }, records = { 0 };
	ZSTD_CCtx *ctx = ZSTD_createCCtx();

	for (unsigned int i = 0; i < 20000; i++)
		put_switch(&same, 1, 2, START_NS, 0);
	for (unsigned int i = 0; i < 1200; i++)
		put_compressed(&records, ctx, &same);
	write_perf(path, &records, true);
}

static void put_mapping(struct tap_buf *b, uint32_t pid, uint64_t from, uint64_t len,
			uint64_t ts_ns)
{
	put(b, PERF_RECORD_MMAP, 4);
	put(b, 0, 2);
	put(b, 8 + 8 + 24 + 8 + 24, 2);
	put(b, pid, 4);
	put(b, pid, 4);
	put(b, from, 8);
	put(b, len, 8);
	put(b, 0, 8);
	put(b, 'a', 8);
	put(b, 0, 8); /* the words of PERF_TYPE */
	put(b, ts_ns, 8);
	put(b, 0, 8);
}

static void put_fork(struct tap_buf *b, uint32_t pid, uint32_t parent, uint64_t ts_ns)
{
	put(b, PERF_RECORD_FORK, 4);
	put(b, 0, 2);
	put(b, 8 + 16 + 8 + 24, 2);
	put(b, pid, 4);
	put(b, parent, 4);
	put(b, pid, 4);
	put(b, parent, 4);
	put(b, ts_ns, 8);
	put(b, 0, 8);
	put(b, ts_ns, 8);
	put(b, 0, 8);
}

/* A sample of a tracepoint with a callchain of the process's. */
static void put_stack(struct tap_buf *b, uint32_t pid, uint64_t at, unsigned int nr_frames,
		      uint64_t ts_ns)
{
	put(b, PERF_RECORD_SAMPLE, 4);
	put(b, PERF_RECORD_MISC_USER, 2);
	put(b, 8 + 24 + 8 + 8 * nr_frames + 16, 2);
	put(b, pid, 4);
	put(b, pid, 4);
	put(b, ts_ns, 8);
	put(b, 0, 8);
	put(b, nr_frames, 8);
	for (unsigned int i = 0; i < nr_frames; i++)
		put(b, at + i, 8);
	put(b, 12, 4); /* its record: it has a common part only */
	put(b, 1, 4);
	put(b, pid, 4);
	put(b, 0, 4);
}

/* The frames lie in no mapping of a process or of its parents, which have many. All of these were
 * made after the stacks. */
static void perf_stacks(const char *path)
{
	struct tap_buf samples = { 0 }, records = { 0 };
	ZSTD_CCtx *ctx = ZSTD_createCCtx();

	put_switch(&records, 1, 2, START_NS, 0);
	for (uint32_t pid = 1; pid <= 16; pid++) {
		put_fork(&records, pid, pid + 1, START_NS);
		for (uint32_t i = 0; i < 64; i++)
			put_mapping(&records, pid, 0x1000 + i, 1, START_NS * 2 + i);
	}
	for (unsigned int round = 1; round <= 250; round++) {
		tap_buf_clear(&samples);
		for (unsigned int i = 0; i < 900; i++)
			put_stack(&samples, 1, 0x10000, 127, START_NS + round);
		put_compressed(&records, ctx, &samples);
		put(&records, PERF_FINISHED_ROUND, 4);
		put(&records, 0, 2);
		put(&records, 8, 2);
	}
	put_switch(&records, 2, 1, START_NS * 2, 0);
	write_perf_attr(path, PERF_TYPE_TRACEPOINT,
			PERF_TYPE | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW, &records, true);
}

static const struct {
	const char *name;
	void (*write)(const char *path);
} bombs[] = {
	{ "objects", objects },
	{ "numbers", numbers },
	{ "names", names },
	{ "symbols", symbols },
	{ "sharing", sharing },
	{ "many_cpus", many_cpus },
	{ "cpus", cpus },
	{ "named_cpus", named_cpus },
	{ "tasks", tasks },
	{ "many_names", many_names },
	{ "many_cgroups", many_cgroups },
	{ "formats", formats },
	{ "processes", processes },
	{ "losses", losses },
	{ "lost_cpu", lost_cpu },
	{ "zeros", zeros },
	{ "same_page", same_page },
	{ "perf_cpus", perf_cpus },
	{ "perf_late", perf_late },
	{ "perf_tasks", perf_tasks },
	{ "perf_unsorted", perf_unsorted },
	{ "perf_stacks", perf_stacks },
};

#define NR_BOMBS (sizeof(bombs) / sizeof(*bombs))

int main(int argc, char **argv)
{
	for (size_t i = 0; i < NR_BOMBS; i++) {
		if (argc == 1)
			puts(bombs[i].name);
		if (argc == 3 && !strcmp(argv[1], bombs[i].name)) {
			bombs[i].write(argv[2]);
			return 0;
		}
	}
	if (argc == 1)
		return 0;
	fprintf(stderr, "usage: bombs [NAME FILE]\n");
	return 2;
}
