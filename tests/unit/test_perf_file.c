// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Small perf.data files, built from a line of text: "a0@100 b1@120 / lost0@130*5 a0@130".
 *
 *   a0@100, b0@100  event a (or b, whose samples have another layout) on CPU 0 at 100
 *   u0@100          an event that no format describes
 *   short0@100      an event that is shorter than its format
 *   liar0@100       an event whose size goes beyond its record
 *   made0@100       an event with the id of what the reader makes
 *   stack0@100      event b with a callchain: the kernel's, the program's, a guest's
 *   deep0@100       event b with a callchain of 300; long0@100: one that says it is longer than its
 * record map1@50=1000:200:40 1000..11ff of process 1 is /x/lib from its byte 0x40 on, from 50 on.
 * fork3@50<7 in process 3: pfork other0@100      a sample that is no tracepoint stray0@100      a
 * sample with an id that no attr has lost0@110*5     LOST; sum0*5, kernel0@110*5: LOST_SAMPLES as
 * perf and as the kernel write them comm7=x fork8<7 task 7 is called x; task 8 is forked by it. All
 * are of process 1. comm7@9=x fork8@9<7: at 9 in0@100=7       SWITCH on CPU 0 at 100: task 7 comes;
 * out0@100=7: it leaves; pre0@100=7: it is preempted in0@100=7:8     SWITCH_CPU_WIDE, the other
 * task being 8. A tid of -1: it is dead exit0@100=7     EXIT of task 7 on CPU 0 at 100 cut0@100=7:8
 * SWITCH_CPU_WIDE without its end; thin0@100=7:8: with nothing else /               FINISHED_ROUND
 *   aux             AUXTRACE, with what looks like an event in its data
 *   zero            a record whose size is 0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "unit/sanitized.h"
#include "base/buf.h"
#include "file/dat_file.h"
#include "file/perf_file.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                               \
	"\tfield:u32 value;\toffset:8;\tsize:4;\tsigned:0;\n\n"                                    \
	"print fmt: \"%u\", REC->value\n"

enum { ID_A = 10, ID_B = 11, ID_UNKNOWN = 99 };
enum { ATTR_A, ATTR_B, ATTR_OTHER, NR_ATTRS };

#define BASE                                                                                       \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW)
#define MORE (PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN)
#define EVEN_MORE (PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID)

/* How a file is laid out. */
struct shape {
	const char *name;
	uint64_t sample_types[NR_ATTRS];
	bool big_endian, zstd, zstd2, pipe;
};

static const struct shape shapes[] = {
	{ "identifier",
	  { PERF_SAMPLE_IDENTIFIER | BASE, PERF_SAMPLE_IDENTIFIER | BASE | MORE | EVEN_MORE,
	    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME } },
	{ "identifier, big endian",
	  { PERF_SAMPLE_IDENTIFIER | BASE, PERF_SAMPLE_IDENTIFIER | BASE | MORE | EVEN_MORE,
	    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME },
	  .big_endian = true },
	{ "id",
	  { PERF_SAMPLE_ID | BASE, PERF_SAMPLE_ID | BASE | MORE,
	    PERF_SAMPLE_ID | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		    PERF_SAMPLE_CPU } },
	{ "zstd",
	  { PERF_SAMPLE_IDENTIFIER | BASE, PERF_SAMPLE_IDENTIFIER | BASE | MORE | EVEN_MORE,
	    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME },
	  .zstd = true },
	{ "zstd, COMPRESSED2, big endian",
	  { PERF_SAMPLE_IDENTIFIER | BASE, PERF_SAMPLE_IDENTIFIER | BASE | MORE | EVEN_MORE,
	    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME },
	  .big_endian = true,
	  .zstd = true,
	  .zstd2 = true },
	{ "pipe mode",
	  { PERF_SAMPLE_IDENTIFIER | BASE, PERF_SAMPLE_IDENTIFIER | BASE | MORE | EVEN_MORE,
	    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME },
	  .pipe = true },
	{ "pipe mode, zstd, big endian",
	  { PERF_SAMPLE_IDENTIFIER | BASE, PERF_SAMPLE_IDENTIFIER | BASE | MORE | EVEN_MORE,
	    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME },
	  .big_endian = true,
	  .zstd = true,
	  .pipe = true },
};

struct file {
	const struct shape *shape;
	struct tap_buf buf;
	ZSTD_CCtx *zstd;
	size_t plain_from; /* bytes of buf from here on are not yet compressed */
	bool has_switches; /* of ATTR_A */
	bool no_tracepoints; /* ATTR_A and ATTR_B are none */
	const char *named_a; /* event a is of sched, and called so; NULL: it is "test", "a" */
};

static void put(struct file *f, uint64_t v, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		tap_buf_char(&f->buf, (char)(v >> 8 * (f->shape->big_endian ? size - 1 - i : i)));
}

static void patch(struct file *f, size_t at, uint64_t v, unsigned int size)
{
	size_t len = f->buf.len;

	f->buf.len = at;
	put(f, v, size);
	f->buf.len = len;
}

static void put_sized(struct file *f, unsigned int size, const char *s)
{
	put(f, strlen(s), size);
	tap_buf_puts(&f->buf, s);
}

/* ---- records */

static size_t begin(struct file *f, unsigned int type)
{
	put(f, type, 4);
	put(f, 0, 2);
	put(f, 0, 2);
	return f->buf.len - 2;
}

static void end(struct file *f, size_t size_at)
{
	patch(f, size_at, f->buf.len - size_at + 6, 2);
}

static uint64_t id_of(unsigned int attr, unsigned int cpu)
{
	return 100 * (attr + 1) + cpu;
}

struct words {
	uint64_t id, ts, cpu, raw; /* raw: common_type, or 0 */
	unsigned int raw_len, raw_says;
	int tid; /* 0: 5 */
	unsigned int tgid; /* likewise */
	const uint64_t *chain; /* NULL: a short one */
	unsigned int nr_chain, chain_says;
};

static void put_sample(struct file *f, uint64_t type, const struct words *w)
{
	static const struct {
		uint64_t bit, words[6];
		unsigned int nr;
	} rest[] = {
		{ PERF_SAMPLE_PERIOD, { 1 }, 1 },
		{ PERF_SAMPLE_READ, { 2, 9, 7, 71, 8, 72 }, 6 }, /* a group of two with ids */
		{ PERF_SAMPLE_CALLCHAIN, { 2, 0x1000, 0x2000 }, 3 },
	};
	size_t size_at = begin(f, PERF_RECORD_SAMPLE);

	if (type & PERF_SAMPLE_IDENTIFIER)
		put(f, w->id, 8);
	if (type & PERF_SAMPLE_IP)
		put(f, 0x3000, 8);
	if (type & PERF_SAMPLE_TID) {
		put(f, w->tgid ? w->tgid : 5, 4);
		put(f, 5, 4);
	}
	if (type & PERF_SAMPLE_TIME)
		put(f, w->ts, 8);
	if (type & PERF_SAMPLE_ADDR)
		put(f, 0x4000, 8);
	if (type & PERF_SAMPLE_ID)
		put(f, w->id, 8);
	if (type & PERF_SAMPLE_STREAM_ID)
		put(f, 6, 8);
	if (type & PERF_SAMPLE_CPU) {
		put(f, w->cpu, 4);
		put(f, 0, 4);
	}
	for (size_t i = 0; i < TABLE(rest); i++) {
		bool is_chain = w->chain && rest[i].bit == PERF_SAMPLE_CALLCHAIN;

		for (unsigned int k = 0; type & rest[i].bit && !is_chain && k < rest[i].nr; k++)
			put(f, rest[i].words[k], 8);
		if (type & rest[i].bit && is_chain)
			put(f, w->chain_says, 8);
		for (unsigned int k = 0; type & rest[i].bit && is_chain && k < w->nr_chain; k++)
			put(f, w->chain[k], 8);
	}
	if (type & PERF_SAMPLE_RAW) {
		put(f, w->raw_says, 4);
		put(f, w->raw, 2);
		for (unsigned int i = 2; i < w->raw_len; i++)
			put(f, i, 1);
	}
	end(f, size_at);
}

static void put_trailer(struct file *f, uint64_t type, const struct words *w)
{
	if (type & PERF_SAMPLE_TID) {
		put(f, 5, 4);
		put(f, (uint32_t)(w->tid ? w->tid : 5), 4);
	}
	if (type & PERF_SAMPLE_TIME)
		put(f, w->ts, 8);
	if (type & PERF_SAMPLE_ID)
		put(f, w->id, 8);
	if (type & PERF_SAMPLE_STREAM_ID)
		put(f, 6, 8);
	if (type & PERF_SAMPLE_CPU) {
		put(f, w->cpu, 4);
		put(f, 0, 4);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		put(f, w->id, 8);
}

static const uint64_t split_chain[] = {
	PERF_CONTEXT_KERNEL,
	0xffffffff81000010,
	0xffffffff81000020,
	PERF_CONTEXT_USER,
	0x1005,
	0x9000,
	0x1200,
	PERF_CONTEXT_GUEST,
	0x7777,
	PERF_CONTEXT_USER,
	0x11ff,
};
static uint64_t deep_chain[300] = { PERF_CONTEXT_USER };

static void put_event(struct file *f, const char *name, uint64_t cpu, uint64_t ts)
{
	struct words w = { id_of(ATTR_A, (unsigned int)cpu & 1), ts, cpu, ID_A, 12, 12 };
	unsigned int attr = ATTR_A;

	if (!strcmp(name, "b")) {
		attr = ATTR_B;
		w.id = id_of(ATTR_B, (unsigned int)cpu & 1);
		w.raw = ID_B;
	} else if (!strcmp(name, "stack") || !strcmp(name, "stackof") || !strcmp(name, "deep") ||
		   !strcmp(name, "long")) {
		attr = ATTR_B;
		w.id = id_of(ATTR_B, (unsigned int)cpu & 1);
		w.raw = ID_B;
		w.chain = *name == 's' ? split_chain : deep_chain;
		w.nr_chain = *name == 's' ? TABLE(split_chain) : TABLE(deep_chain);
		w.chain_says = w.nr_chain + (*name == 'l' ? 8000 : 0);
		w.tgid = strcmp(name, "stackof") ? 1 : 3;
	} else if (!strcmp(name, "made")) {
		w.raw = 65535;
		w.raw_len = w.raw_says = 64;
	} else if (!strcmp(name, "other")) {
		attr = ATTR_OTHER;
		w.id = id_of(ATTR_OTHER, 0);
	} else if (!strcmp(name, "u")) {
		w.raw = ID_UNKNOWN;
	} else if (!strcmp(name, "short")) {
		w.raw_len = w.raw_says = 8;
	} else if (!strcmp(name, "liar")) {
		w.raw_says = 16;
	} else if (!strcmp(name, "stray")) {
		w.id = 7777;
	} else if (strcmp(name, "a") != 0) {
		fail_msg("bad case: %s", name);
	}
	put_sample(f, f->shape->sample_types[attr], &w);
}

static void put_loss(struct file *f, const char *name, uint64_t cpu, uint64_t ts, uint64_t count)
{
	struct words w = { id_of(ATTR_B, (unsigned int)cpu), ts, cpu };
	bool is_lost = !strcmp(name, "lost");
	size_t size_at = begin(f, is_lost ? PERF_RECORD_LOST : PERF_RECORD_LOST_SAMPLES);

	if (!strcmp(name, "sum"))
		w.cpu = 0; /* perf leaves all but the id empty */
	if (is_lost)
		put(f, w.id, 8);
	put(f, count, 8);
	put_trailer(f, f->shape->sample_types[ATTR_B], &w);
	end(f, size_at);
}

static void put_task(struct file *f, const char *token)
{
	struct words w = { .id = id_of(ATTR_A, 0) };
	unsigned int tid, from;
	char comm[16] = "";
	size_t size_at;

	if (sscanf(token, "comm%u=%15s", &tid, comm) == 2 ||
	    sscanf(token, "comm%u@%ju=%15s", &tid, &w.ts, comm) == 3) {
		size_at = begin(f, PERF_RECORD_COMM);
		put(f, 1, 4);
		put(f, tid, 4);
		tap_buf_add(&f->buf, comm, sizeof(comm));
	} else {
		assert_true(sscanf(token, "fork%u<%u", &tid, &from) == 2 ||
			    sscanf(token, "fork%u@%ju<%u", &tid, &w.ts, &from) == 3);
		size_at = begin(f, PERF_RECORD_FORK);
		put(f, 1, 4);
		put(f, 1, 4);
		put(f, tid, 4);
		put(f, from, 4);
		put(f, w.ts, 8);
	}
	put_trailer(f, f->shape->sample_types[ATTR_A], &w);
	end(f, size_at);
}

/* Return: whether @token is one: of what is mapped, or of who inherits it. */
static bool put_map(struct file *f, const char *token)
{
	unsigned int pid, from;
	uint64_t at, len, offset;
	struct words w = { .id = id_of(ATTR_A, 0) };
	size_t size_at;

	if (sscanf(token, "map%u@%ju=%jx:%jx:%jx", &pid, &w.ts, &at, &len, &offset) == 5) {
		size_at = begin(f, PERF_RECORD_MMAP2);
		put(f, pid, 4);
		put(f, pid, 4);
		put(f, at, 8);
		put(f, len, 8);
		put(f, offset, 8);
		for (unsigned int i = 0; i < 4; i++)
			put(f, 0, 8);
		tap_buf_add(&f->buf, "/x/lib\0", 8);
	} else if (sscanf(token, "pfork%u@%ju<%u", &pid, &w.ts, &from) == 3) {
		size_at = begin(f, PERF_RECORD_FORK);
		put(f, pid, 4);
		put(f, from, 4);
		put(f, pid, 4);
		put(f, from, 4);
		put(f, w.ts, 8);
	} else {
		return false;
	}
	put_trailer(f, f->shape->sample_types[ATTR_A], &w);
	end(f, size_at);
	return true;
}

/* Return: whether @token is one. */
static bool put_switch(struct file *f, const char *token)
{
	struct words w = { 0 };
	char name[16];
	int other = 0,
	    got = sscanf(token, "%15[a-z]%ju@%ju=%d:%d", name, &w.cpu, &w.ts, &w.tid, &other);
	bool is_in = got >= 4 && !strcmp(name, "in"), is_exit = got >= 4 && !strcmp(name, "exit");
	size_t size_at;

	if (got < 4)
		return false;
	if (!w.tid)
		fail_msg("bad case: %s: the idle task has no records here", token);
	w.id = id_of(ATTR_A, (unsigned int)w.cpu & 1);
	size_at = begin(f, is_exit    ? PERF_RECORD_EXIT
			   : got == 5 ? PERF_RECORD_SWITCH_CPU_WIDE
				      : PERF_RECORD_SWITCH);
	if (!is_in && !is_exit)
		patch(f, size_at - 2,
		      PERF_RECORD_MISC_SWITCH_OUT |
			      (strcmp(name, "pre") ? 0 : PERF_RECORD_MISC_SWITCH_OUT_PREEMPT),
		      2);
	for (unsigned int i = 0; is_exit && i < 4; i++)
		put(f, (uint32_t)w.tid, 4);
	if (is_exit)
		put(f, w.ts, 8);
	if (got == 5 && strcmp(name, "thin")) {
		put(f, 1, 4);
		put(f, (uint32_t)other, 4);
	}
	if (strcmp(name, "cut"))
		put_trailer(f, f->shape->sample_types[ATTR_A], &w);
	end(f, size_at);
	return true;
}

static void put_auxtrace(struct file *f)
{
	size_t size_at = begin(f, 71), more_at = f->buf.len, data_at;

	for (unsigned int i = 0; i < 5; i++)
		put(f, 0, 8);
	end(f, size_at);
	data_at = f->buf.len;
	put_event(f, "a", 0, 77);
	patch(f, more_at, f->buf.len - data_at, 8);
}

static void put_compressed(struct file *f, const char *data, size_t len)
{
	size_t size_at = begin(f, f->shape->zstd2 ? 83 : 81);

	if (f->shape->zstd2)
		put(f, len, 8);
	tap_buf_add(&f->buf, data, len);
	if (f->shape->zstd2)
		put(f, 0, 3); /* padding */
	end(f, size_at);
}

/*
 * All that waits, in COMPRESSED records that part it inside of records: the stream is flushed after
 * all but the last 20 bytes, and what that gave is cut in two once more.
 */
static void compress(struct file *f)
{
	size_t len = f->buf.len - f->plain_from, parts[] = { len > 20 ? len - 20 : 0, len };
	char plain[8192], out[8192];
	ZSTD_inBuffer in = { plain, 0, 0 };

	if (!f->shape->zstd || !len)
		return;
	assert_true(len <= sizeof(plain));
	memcpy(plain, f->buf.data + f->plain_from, len);
	f->buf.len = f->plain_from;
	for (size_t i = 0; i < TABLE(parts); i++) {
		ZSTD_outBuffer to = { out, sizeof(out), 0 };

		in.size = parts[i];
		assert_int_equal(ZSTD_compressStream2(f->zstd, &to, &in, ZSTD_e_flush), 0);
		put_compressed(f, out, to.pos / 2);
		put_compressed(f, out + to.pos / 2, to.pos - to.pos / 2);
	}
	f->plain_from = f->buf.len;
}

static void put_record(struct file *f, const char *token)
{
	unsigned long long cpu = 0, ts = 0, count = 0;
	char name[16];

	if (!strcmp(token, "/") || !strcmp(token, "aux") || !strncmp(token, "sum", 3) ||
	    !strncmp(token, "comm", 4) || !strncmp(token, "fork", 4)) {
		compress(f); /* perf's own are not compressed */
		if (*token == '/')
			end(f, begin(f, 68));
		else if (*token == 'a')
			put_auxtrace(f);
		else if (sscanf(token, "sum%llu*%llu", &cpu, &count) == 2)
			put_loss(f, "sum", cpu, 0, count);
		else
			put_task(f, token);
		f->plain_from = f->buf.len;
		return;
	}
	if (!strcmp(token, "zero"))
		patch(f, begin(f, PERF_RECORD_SAMPLE), 0, 2);
	else if (put_map(f, token) || put_switch(f, token))
		return;
	else if (sscanf(token, "%15[a-z]%llu@%llu*%llu", name, &cpu, &ts, &count) == 4)
		put_loss(f, name, cpu, ts, count);
	else if (sscanf(token, "%15[a-z]%llu@%llu", name, &cpu, &ts) == 3)
		put_event(f, name, cpu, ts);
	else
		fail_msg("bad case: %s", token);
}

static void put_id_index(struct file *f)
{
	size_t size_at = begin(f, 69);

	put(f, 4, 8);
	for (unsigned int i = 0; i < 4; i++) {
		put(f, id_of(i / 2, i % 2), 8);
		put(f, i % 2, 8);
		put(f, i % 2, 8);
		put(f, UINT64_MAX, 8);
	}
	end(f, size_at);
}

static void put_records(struct file *f, const char *records)
{
	char copy[512], *save, *token;

	put_id_index(f);
	f->plain_from = f->buf.len;
	snprintf(copy, sizeof(copy), "%s", records);
	for (token = strtok_r(copy, " ", &save); token; token = strtok_r(NULL, " ", &save))
		put_record(f, token);
	compress(f);
}

/* ---- the file around them */

static void put_tracing_data(struct file *f)
{
	static const char head[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
	char a[1024];

	tap_buf_add(&f->buf,
		    "\x17\x08\x44tracing"
		    "0.6",
		    14);
	put(f, f->shape->big_endian, 1);
	put(f, 8, 1);
	put(f, 4096, 4);
	tap_buf_add(&f->buf, "header_page", 12);
	put_sized(f, 8, head);
	tap_buf_add(&f->buf, "header_event", 13);
	put_sized(f, 8, "");
	put(f, 0, 4); /* ftrace's own */
	put(f, 1, 4);
	tap_buf_add(&f->buf, f->named_a ? "sched" : "test", f->named_a ? 6 : 5);
	put(f, 2, 4);
	snprintf(a, sizeof(a), "name: %s\nID: 10\n%s", f->named_a ? f->named_a : "a", COMMON);
	put_sized(f, 8, a);
	put_sized(f, 8, "name: b\nID: 11\n" COMMON);
	put_sized(f, 4, "");
	put_sized(f, 4, "ffff \"printk\"\n");
	put(f, 0, 8);
}

static void put_attr(struct file *f, unsigned int attr, size_t ids_at)
{
	unsigned int flags[] = { 18, 25, 26 }; /* sample_id_all, use_clockid, context_switch */
	size_t nr_flags = attr == ATTR_A && f->has_switches ? 3 : 2;
	uint64_t bits = 0;

	for (size_t i = 0; i < nr_flags; i++)
		bits |= 1ULL << (f->shape->big_endian ? 63 - flags[i] : flags[i]);
	put(f, attr == ATTR_OTHER || f->no_tracepoints ? PERF_TYPE_HARDWARE : PERF_TYPE_TRACEPOINT,
	    4);
	put(f, 96, 4);
	put(f, 0, 8);
	put(f, 1, 8);
	put(f, f->shape->sample_types[attr], 8);
	put(f, PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED, 8);
	put(f, bits, 8);
	for (unsigned int i = 48; i < 92; i++)
		put(f, 0, 1);
	put(f, CLOCK_MONOTONIC, 4);
	put(f, ids_at, 8);
	put(f, 16, 8);
}

#define HEADER 104u
#define ATTRS_AT (HEADER + 16 * NR_ATTRS)
#define DATA_AT (ATTRS_AT + 112 * NR_ATTRS)

static void put_clocks(struct file *f)
{
	put(f, 1, 4); /* version, CLOCK_MONOTONIC, wall, monotonic */
	put(f, 1, 4);
	put(f, 1795135620000000000, 8);
	put(f, 1000000000000, 8);
}

static const struct {
	unsigned int id;
	const char *text;
} features[] = { { 1, NULL },	   { 3, "box" }, { 4, "6.1.0" }, { 5, "6.2" },
		 { 6, "riscv64" }, { 7, NULL },	 { 29, NULL } };

static void put_feature(struct file *f, size_t i)
{
	if (features[i].text)
		put_sized(f, 4, features[i].text);
	else if (features[i].id == 1)
		put_tracing_data(f);
	else if (features[i].id == 29)
		put_clocks(f);
	else
		put(f, f->shape->big_endian ? 2ULL << 32 | 1 : 1ULL << 32 | 2, 8);
}

/* Attrs, with their ids, and features as they are in pipe mode. */
static void put_pipe_front(struct file *f)
{
	tap_buf_add(&f->buf, f->shape->big_endian ? "2ELIFREP" : "PERFILE2", 8);
	put(f, 16, 8);
	for (unsigned int i = 0; i < NR_ATTRS; i++) {
		size_t size_at = begin(f, 64);

		put_attr(f, i, id_of(i, 0)); /* its last two words are the ids' place in a file */
		patch(f, f->buf.len - 8, id_of(i, 1), 8);
		end(f, size_at);
	}
	for (size_t i = 0; i < TABLE(features); i++) {
		size_t size_at = begin(f, features[i].id == 1 ? 66 : 80), data_at;

		put(f, features[i].id == 1 ? 0 : features[i].id, features[i].id == 1 ? 4 : 8);
		data_at = f->buf.len;
		if (features[i].id == 1)
			end(f, size_at);
		put_feature(f, i);
		if (features[i].id == 1)
			patch(f, data_at - 4, f->buf.len - data_at, 4);
		else
			end(f, size_at);
	}
}

static void put_features(struct file *f)
{
	size_t table = f->buf.len;

	for (size_t i = 0; i < 16 * TABLE(features); i++)
		put(f, 0, 1);
	for (size_t i = 0; i < TABLE(features); i++) {
		size_t at = f->buf.len;

		put_feature(f, i);
		patch(f, table + 16 * i, at, 8);
		patch(f, table + 16 * i + 8, f->buf.len - at, 8);
	}
}

static void put_front(struct file *f)
{
	if (f->shape->pipe) {
		put_pipe_front(f);
		return;
	}
	tap_buf_add(&f->buf, f->shape->big_endian ? "2ELIFREP" : "PERFILE2", 8);
	put(f, HEADER, 8);
	put(f, 112, 8);
	put(f, ATTRS_AT, 8);
	put(f, (uint64_t)112 * NR_ATTRS, 8);
	put(f, DATA_AT, 8);
	put(f, 0, 8);
	put(f, 0, 8);
	put(f, 0, 8);
	put(f, 0x200000fa, 8); /* the features */
	for (unsigned int i = 0; i < 3; i++)
		put(f, 0, 8);
	for (unsigned int i = 0; i < NR_ATTRS; i++) {
		put(f, id_of(i, 0), 8);
		put(f, id_of(i, 1), 8);
	}
	for (unsigned int i = 0; i < NR_ATTRS; i++)
		put_attr(f, i, HEADER + 16 * i);
}

static void put_end(struct file *f)
{
	if (!f->shape->pipe) {
		patch(f, 48, f->buf.len - DATA_AT, 8);
		put_features(f);
	}
	assert_int_equal(f->buf.err, 0);
}

static void put_file(struct file *f, const char *records)
{
	f->zstd = ZSTD_createCCtx();
	put_front(f);
	put_records(f, records);
	put_end(f);
}

static void release(struct file *f)
{
	ZSTD_freeCCtx(f->zstd);
	tap_buf_release(&f->buf);
}

static int open_reader(const unsigned char *data, size_t len, int fd, struct tap_reader **r,
		       struct tap_err *err)
{
	int ret;

	*r = calloc(1, sizeof(**r));
	assert_non_null(*r);
	(*r)->path = "test.data";
	(*r)->decoder.to = UINT64_MAX;
	(*r)->decoder.slots = calloc(TAP_NR_SLOTS, sizeof(*(*r)->decoder.slots));
	assert_non_null((*r)->decoder.slots);
	ret = tap_perf_open(*r, data, len, fd, err);
	if (!ret)
		return 0;
	tap_reader_free(*r);
	*r = NULL;
	return ret;
}

/* Opens @len bytes of @f, which end where memory ends: a tool sees who reads on. */
static int open_bytes(const struct file *f, size_t len, unsigned char **bytes,
		      struct tap_reader **r, struct tap_err *err)
{
	*bytes = malloc(len ? len : 1);
	assert_non_null(*bytes);
	memcpy(*bytes, f->buf.data, len);
	return open_reader(*bytes, len, -1, r, err);
}

/* "3:100 7 S > 8": task 7 left CPU 3 to sleep, and 8 came. */
static void show_switch(struct tap_buf *out, const struct tap_event *ev)
{
	const struct tap_field *prev = tap_format_field(ev->fmt, "prev_pid");
	const struct tap_field *next = tap_format_field(ev->fmt, "next_pid");
	const struct tap_field *state = tap_format_field(ev->fmt, "prev_state");
	uint64_t left = tap_field_u64(state, ev->data, ev->size);
	const char *name = left == 0	 ? "R"
			   : left == 1	 ? "S"
			   : left == 16	 ? "X"
			   : left == 512 ? "?"
					 : "bad";

	tap_buf_printf(out, "%d:%ju %d %s > %d | ", ev->cpu, (uintmax_t)ev->ts_ns,
		       (int)tap_field_u64(prev, ev->data, ev->size), name,
		       (int)tap_field_u64(next, ev->data, ev->size));
}

/* "0:100 kernel 10 20": addresses, or what stands in their place. */
static void show_stack(struct tap_buf *out, const struct tap_event *ev)
{
	const struct tap_field *callers = tap_format_field(ev->fmt, "caller");
	const struct tap_field *text = tap_format_field(ev->fmt, "text");
	uint32_t len = 0;

	tap_buf_printf(out, "%d:%ju %s", ev->cpu, (uintmax_t)ev->ts_ns,
		       callers ? "kernel" : "user");
	for (uint32_t at = callers ? callers->offset : ev->size; at + 8 <= ev->size; at += 8)
		tap_buf_printf(out, " %jx",
			       (uintmax_t)tap_get_u64((const unsigned char *)ev->data + at,
						      TAP_HOST_BIG_ENDIAN));
	for (const char *s = text ? tap_field_bytes(text, ev->data, ev->size, &len) : ""; len && *s;
	     s++, len--)
		if (*s != '\n' && *s != '=' && *s != '>')
			tap_buf_char(out, *s);
	tap_buf_puts(out, " | ");
}

static bool is_stack(const struct tap_event *ev)
{
	return ev->fmt && ev->fmt->id > ID_UNKNOWN && strstr(ev->fmt->name, "_stack");
}

static bool is_made(const struct tap_event *ev)
{
	return is_stack(ev) ||
	       (ev->fmt && ev->fmt->id > ID_UNKNOWN && !strcmp(ev->fmt->system, "sched"));
}

static void show(struct tap_buf *out, const struct tap_event *ev)
{
	if (is_made(ev)) {
		(is_stack(ev) ? show_stack : show_switch)(out, ev);
		return;
	}
	if (!ev->fmt)
		tap_buf_printf(out, "%d:%ju lost %ju..%ju %ju | ", ev->cpu, (uintmax_t)ev->ts_ns,
			       (uintmax_t)ev->lost.first_ns, (uintmax_t)ev->lost.last_ns,
			       (uintmax_t)ev->lost.count);
	else
		tap_buf_printf(out, "%d:%ju %s | ", ev->cpu, (uintmax_t)ev->ts_ns, ev->fmt->name);
}

static void read_all(struct tap_reader *r, struct tap_buf *out)
{
	struct tap_err err = { 0 };
	struct tap_event ev;
	uint64_t last = 0;
	int ret;

	tap_buf_clear(out);
	while ((ret = tap_reader_next(r, &ev, &err)) == 1) {
		assert_true(ev.ts_ns >= last);
		last = ev.ts_ns;
		show(out, &ev);
		if (ev.fmt) {
			assert_true(ev.size >= ev.fmt->min_size);
			if (ev.size >= 12 && !is_made(&ev))
				assert_int_equal(((const char *)ev.data)[11], 11);
		} else {
			assert_true(ev.lost.first_ns <= ev.lost.last_ns);
		}
	}
	if (ret)
		fail_msg("%s", err.text);
}

/* ---- streams */

struct stream_case {
	const char *name;
	const char *in;
	uint64_t from, to; /* 0, 0: all */
	const char *want;
};

static const struct stream_case stream_cases[] = {
	{
		.name = "CPUs are merged in time order, whatever their layout",
		.in = "a0@100 b0@115 b1@107 a1@127",
		.want = "0:100 a | 1:107 b | 0:115 b | 1:127 a | ",
	},
	{
		.name = "at equal times the lower CPU comes first, then the earlier record",
		.in = "b1@100 a1@100 a0@100 b0@100",
		.want = "0:100 a | 0:100 b | 1:100 b | 1:100 a | ",
	},
	{
		.name = "a round may hold events from before the last one's end",
		.in = "a0@100 a0@200 / a1@150 b1@210 / a0@205 a0@300 /",
		.want = "0:100 a | 1:150 a | 0:200 a | 0:205 a | 1:210 b | 0:300 a | ",
	},
	{
		.name = "neighbours that an interrupt swapped are put right",
		.in = "a0@100 b0@130 a0@120 b0@110 a0@140 a0@90",
		.want = "0:90 a | 0:100 a | 0:110 b | 0:120 a | 0:130 b | 0:140 a | ",
	},
	{
		.name = "equal times keep their order when others are put right",
		.in = "a0@100 b0@120 a0@110 a0@120",
		.want = "0:100 a | 0:110 a | 0:120 b | 0:120 a | ",
	},
	{
		.name = "a loss between two that are out of order does not begin after its end",
		.in = "a0@115 lost0@122*5 b0@110",
		.want = "0:110 lost 110..110 5 | 0:110 b | 0:115 a | ",
	},
	{
		.name = "what is two rounds late is lost",
		.in = "a0@100 / a0@200 / a0@300 / a1@50 a0@400 /",
		.want = "0:100 a | 0:200 a | 1:200 lost 50..200 1 | 0:300 a | 0:400 a | ",
	},
	{
		.name = "an event that is late does not make a loss before it late as well",
		.in = "a0@100 / a0@200 / a0@300 lost1@310*3 / a1@50 /",
		.want = "0:100 a | 0:200 a | 1:200 lost 50..200 1 | 0:300 a | 1:310 lost 100..310 "
			"3 | ",
	},
	{
		.name = "a loss lies after the CPU's last record, and before the next",
		.in = "a0@100 a1@105 lost0@120*5 a0@120 / a1@130 /",
		.want = "0:100 a | 1:105 a | 0:120 lost 100..120 5 | 0:120 a | 1:130 a | ",
	},
	{
		.name = "a loss that is stamped after the next event ends before that",
		.in = "a0@100 lost0@122*5 b0@120 a0@130",
		.want = "0:100 a | 0:120 lost 100..120 5 | 0:120 b | 0:130 a | ",
	},
	{
		.name = "a loss before the CPU's first record begins with the recording",
		.in = "a0@100 / lost1@130*3 a1@130 /",
		.want = "0:100 a | 1:130 lost 100..130 3 | 1:130 a | ",
	},
	{
		.name = "the kernel's lost samples are a loss",
		.in = "a1@100 kernel1@120*4 a1@120",
		.want = "1:100 a | 1:120 lost 100..120 4 | 1:120 a | ",
	},
	{
		.name = "perf's sum does not count reported losses again",
		.in = "a1@100 lost1@120*5 a1@120 a0@130 / sum1*5",
		.want = "1:100 a | 1:120 lost 100..120 5 | 1:120 a | 0:130 a | ",
	},
	{
		.name = "what perf's sum has more was lost at the end",
		.in = "a1@100 lost1@120*5 a1@120 a0@130 / sum1*4 sum1*8",
		.want = "1:100 a | 1:120 lost 100..120 5 | 1:120 a | 0:130 a | 1:130 lost 120..130 "
			"7 | ",
	},
	{
		.name = "an event that no format describes is unknown",
		.in = "a0@100 u0@110",
		.want = "0:100 a | 0:110 unknown | ",
	},
	{
		.name = "damaged events are lost, one by one",
		.in = "a0@100 short0@110 liar0@120 a0@130 stray0@140 a70000@150 a0@160",
		.want = "0:100 a | 0:110 lost 110..110 1 | 0:120 lost 120..120 1 | -1:130 lost "
			"130..130 1 | 0:130 a | -1:150 lost 150..150 1 | 0:160 a | ",
	},
	{
		.name = "samples that are no tracepoints are passed over",
		.in = "a0@100 other0@110 b0@120",
		.want = "0:100 a | 0:120 b | ",
	},
	{
		.name = "data of AUX areas is passed over",
		.in = "a0@100 / aux a0@120",
		.want = "0:100 a | 0:120 a | ",
	},
	{
		.name = "after a record without size all is lost",
		.in = "a0@100 b1@120 zero a0@130",
		.want = "0:100 a | -1:120 lost 120..120 0 | 1:120 b | ",
	},
	{
		.name = "the window leaves out what lies outside, but not a loss that reaches in",
		.in = "a0@90 a0@100 a1@110 a0@120 / lost0@130*2 a0@130 /",
		.from = 100,
		.to = 125,
		.want = "0:100 a | 1:110 a | 0:120 a | 0:130 lost 120..130 2 | ",
	},
	{ .name = "no events at all", .in = "/ / comm7=x", .want = "" },
};

static void test_stream(void **state)
{
	const struct stream_case *c = *state;

	for (size_t i = 0; i < TABLE(shapes); i++) {
		struct file f = { .shape = &shapes[i] };
		struct tap_buf got = { 0 };
		unsigned char *bytes;
		struct tap_reader *r;
		struct tap_err err;

		put_file(&f, c->in);
		if (open_bytes(&f, f.buf.len, &bytes, &r, &err))
			fail_msg("%s: %s", shapes[i].name, err.text);
		if (c->to)
			tap_reader_limit(r, c->from, c->to);
		for (unsigned int again = 0; again < 2; again++) {
			read_all(r, &got);
			if (strcmp(tap_buf_str(&got), c->want) != 0)
				fail_msg("%s, %s:\n got %s\nwant %s", shapes[i].name,
					 again ? "again" : "first", tap_buf_str(&got), c->want);
			tap_reader_rewind(r);
		}
		tap_reader_free(r);
		free(bytes);
		tap_buf_release(&got);
		release(&f);
	}
}

/* ---- switches */

static const struct stream_case switch_cases[] = {
	{
		.name = "of whole CPUs a task's leaving says both, and the next one's coming "
			"nothing more",
		.in = "out0@100=7:8 in0@101=8:7 pre0@110=8:0 out1@105=9:10",
		.want = "0:100 7 S > 8 | 1:105 9 S > 10 | 0:110 8 R > 0 | ",
	},
	{
		.name = "of whole CPUs a coming counts where the leaving is missing",
		.in = "in0@100=8:7 out0@110=8:9 in0@111=9:8 in0@120=7:9",
		.want = "0:100 7 ? > 8 | 0:110 8 S > 9 | 0:120 9 ? > 7 | ",
	},
	{
		.name = "after a loss who runs is not known: a coming counts",
		.in = "out0@100=7:8 lost0@110*5 in0@110=8:7",
		.want = "0:100 7 S > 8 | 0:110 lost 100..110 5 | 0:110 7 ? > 8 | ",
	},
	{
		.name = "of single tasks the other one is not known",
		.in = "in0@100=7 pre0@110=7 in0@120=8 out0@130=8",
		.want = "0:100 -1 ? > 7 | 0:110 7 R > -1 | 0:120 -1 ? > 8 | 0:130 8 S > -1 | ",
	},
	{
		.name = "a task that was reaped has no tid: it is the one that came",
		.in = "out0@100=7:8 in0@101=8:7 out0@110=-1:9 in0@111=9:-1",
		.want = "0:100 7 S > 8 | 0:110 8 X > 9 | ",
	},
	{
		.name = "a dead task that was preempted comes without a tid, and leaves unknown",
		.in = "out0@100=7:8 pre0@110=-1:9 in0@111=9:-1 out0@120=9:-1 in0@121=-1:9 "
		      "out0@130=-1:7",
		.want = "0:100 7 S > 8 | 0:110 8 X > 9 | 0:120 9 S > -1 | 0:130 -1 X > 7 | ",
	},
	{
		.name = "a zombie is dead once it leaves, but not when it is preempted before",
		.in = "in0@90=7:8 exit0@100=7 pre0@105=7:8 out0@110=8:7 out0@120=7:8",
		.want = "0:90 8 ? > 7 | 0:105 7 R > 8 | 0:110 8 S > 7 | 0:120 7 X > 8 | ",
	},
	{
		.name = "a tid that is used again is alive",
		.in = "out0@100=7:8 exit0@101=8 out0@102=8:7 fork8<7 out0@110=7:8 out0@120=8:7",
		.want = "0:100 7 S > 8 | 0:102 8 X > 7 | 0:110 7 S > 8 | 0:120 8 S > 7 | ",
	},
	{
		.name = "of single tasks an exit is the last word",
		.in = "in0@100=7 exit0@110=7 in0@120=8",
		.want = "0:100 -1 ? > 7 | 0:110 7 X > -1 | 0:120 -1 ? > 8 | ",
	},
	{
		.name = "switches and events are in one order, over rounds",
		.in = "a0@100 out0@110=7:8 a0@120 / out0@105=8:7 a1@107 / /",
		.want = "0:100 a | 0:105 8 S > 7 | 1:107 a | 0:110 7 S > 8 | 0:120 a | ",
	},
	{
		.name = "a switch that is two rounds late is lost",
		.in = "a0@100 / a0@200 / a0@300 / out1@50=7:8 a0@400 /",
		.want = "0:100 a | 0:200 a | 1:200 lost 50..200 1 | 0:300 a | 0:400 a | ",
	},
	{
		.name = "tids that no task has are handed on",
		.in = "out0@100=2147483647:-7 in0@101=2147483647:-7",
		.want = "0:100 2147483647 S > -7 | 0:101 -7 ? > 2147483647 | ",
	},
	{
		.name = "a switch that does not name the other task is lost",
		.in = "a0@100 thin0@110=7:8 a0@120",
		.want = "-1:100 lost 100..100 1 | 0:100 a | 0:120 a | ",
	},
	{
		.name = "a switch without an end is lost",
		.in = "a0@100 cut0@110=7:8 a0@120",
		.want = "-1:100 lost 100..100 1 | 0:100 a | 0:120 a | ",
	},
	{
		.name = "the window leaves out switches, but knows who runs",
		.in = "out0@100=7:8 in0@101=8:7 out0@110=-1:9 out0@120=9:7",
		.from = 105,
		.to = 115,
		.want = "0:110 8 X > 9 | ",
	},
};

static const struct stream_case stack_cases[] = {
	{
		.name = "a callchain is a stack in the kernel and one in the program",
		.in = "stack0@100 a0@100",
		.want = "0:100 b | 0:100 kernel ffffffff81000010 ffffffff81000020 | 0:100 user  "
			"0x1005  0x9000  0x1200  0x11ff | 0:100 a | ",
	},
	{
		.name = "what was mapped by then is named, wherever that is said in the round",
		.in = "map1@90=1000:100:40 stack0@100 map1@101=9000:100:0 map1@99=1000:200:80 /",
		.want = "0:100 b | 0:100 kernel ffffffff81000010 ffffffff81000020 | 0:100 user  "
			"lib+0x85  0x9000  0x1200  lib+0x27f | ",
	},
	{
		.name = "a child has what its parent had when it was born",
		.in = "map7@90=1000:200:0 pfork3@95<7 map7@97=9000:100:0 stackof0@100",
		.want = "0:100 b | 0:100 kernel ffffffff81000010 ffffffff81000020 | 0:100 user  "
			"lib+0x5  0x9000  0x1200  lib+0x1ff | ",
	},
	{
		.name = "a callchain that goes beyond its record is a damaged event",
		.in = "a0@100 long0@110 a0@120",
		.want = "0:100 a | 0:110 lost 110..110 1 | 0:120 a | ",
	},
	{
		.name = "the window leaves out stacks",
		.in = "stack0@100 a0@110",
		.from = 105,
		.to = 120,
		.want = "0:110 a | ",
	},
	{
		.name = "a sample that says it is a stack is damaged",
		.in = "a0@100 made0@110 a0@120",
		.want = "0:100 a | 0:110 lost 110..110 1 | 0:120 a | ",
	},
};

static void check_stream(const struct stream_case *c, const struct shape *shape,
			 const char *named_a, const char *want)
{
	struct file f = { .shape = shape, .has_switches = true, .named_a = named_a };
	struct tap_buf got = { 0 };
	unsigned char *bytes;
	struct tap_reader *r;
	struct tap_err err;

	put_file(&f, c->in);
	if (open_bytes(&f, f.buf.len, &bytes, &r, &err))
		fail_msg("%s: %s", shape->name, err.text);
	if (c->to)
		tap_reader_limit(r, c->from, c->to);
	for (unsigned int again = 0; again < 2; again++) {
		read_all(r, &got);
		if (strcmp(tap_buf_str(&got), want) != 0)
			fail_msg("%s, %s:\n got %s\nwant %s", shape->name,
				 again ? "again" : "first", tap_buf_str(&got), want);
		tap_reader_rewind(r);
	}
	tap_reader_free(r);
	free(bytes);
	tap_buf_release(&got);
	release(&f);
}

static void test_switch(void **state)
{
	const struct stream_case *c = *state;

	for (size_t i = 0; i < TABLE(shapes); i++)
		check_stream(c, &shapes[i], NULL, c->want);
}

static void test_stack(void **state)
{
	const struct stream_case *c = *state;

	for (size_t i = 0; i < TABLE(shapes); i++)
		check_stream(c, &shapes[i], NULL, c->want);
}

/* A callchain of 300 entries is cut to a stack's maximum of 127 frames. */
static void test_deep_stack(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(shapes); i++) {
		struct file f = { .shape = &shapes[i] };
		unsigned char *bytes;
		unsigned int frames = 0;
		struct tap_reader *r;
		struct tap_err err;
		struct tap_event ev;

		put_file(&f, "deep0@100");
		assert_int_equal(open_bytes(&f, f.buf.len, &bytes, &r, &err), 0);
		assert_int_equal(tap_reader_next(r, &ev, &err), 1);
		assert_int_equal(tap_reader_next(r, &ev, &err), 1);
		assert_true(is_stack(&ev));
		for (uint32_t k = 0; k < ev.size; k++)
			frames += ((const char *)ev.data)[k] == '\n';
		assert_int_equal(frames, 127);
		assert_int_equal(tap_reader_next(r, &ev, &err), 0);
		tap_reader_free(r);
		free(bytes);
		release(&f);
	}
}

/* Where the tracepoint was recorded it counts alone; its samples are no switches to these records.
 */
static void test_switches_beside_the_event(void **state)
{
	static const struct stream_case both = {
		.in = "a0@100 out0@101=7:8 exit0@102=7 in0@103=8:7 a0@110"
	};

	(void)state;
	for (size_t i = 0; i < TABLE(shapes); i++) {
		check_stream(&both, &shapes[i], "sched_switch",
			     "0:100 sched_switch | 0:110 sched_switch | ");
		check_stream(&both, &shapes[i], "sched_waking",
			     "0:100 sched_waking | 0:101 7 S > 8 | 0:110 sched_waking | ");
	}
}

/* Of a file without tracepoints, where the CPU is in each record, is known by the record's id, or
 * is not. */
static void test_switches_alone(void **state)
{
	static const struct {
		struct shape shape;
		const char *in, *want;
	} cases[] = {
		{ { "cpu", { BASE, BASE, BASE } }, "out1@100=7:8", "1:100 7 S > 8 | " },
		{ { "id",
		    { PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		      PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IDENTIFIER } },
		  "out1@100=7:8 other0@110 out0@120=9:7",
		  "1:100 7 S > 8 | 0:120 9 S > 7 | " },
		{ { "no CPU",
		    { PERF_SAMPLE_TID | PERF_SAMPLE_TIME, PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		      PERF_SAMPLE_TID | PERF_SAMPLE_TIME } },
		  "out1@100=7:8",
		  NULL },
		{ { "no time",
		    { PERF_SAMPLE_TID | PERF_SAMPLE_CPU, PERF_SAMPLE_TID | PERF_SAMPLE_CPU,
		      PERF_SAMPLE_TID | PERF_SAMPLE_CPU } },
		  "out1@100=7:8",
		  NULL },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct file f = { .shape = &cases[i].shape,
				  .has_switches = true,
				  .no_tracepoints = true };
		struct tap_buf got = { 0 };
		unsigned char *bytes;
		struct tap_reader *r;
		struct tap_err err = { 0 };
		int ret;

		put_file(&f, cases[i].in);
		ret = open_bytes(&f, f.buf.len, &bytes, &r, &err);
		assert_int_equal(ret, cases[i].want ? 0 : -ENOTSUP);
		if (ret) {
			assert_non_null(strstr(err.text, "--sample-cpu"));
		} else {
			read_all(r, &got);
			assert_string_equal(tap_buf_str(&got), cases[i].want);
			tap_reader_free(r);
		}
		free(bytes);
		tap_buf_release(&got);
		release(&f);
	}
}

/* One CPU after the other, as far as the rounds are complete; the next pass is merged again. */
static void test_unmerged(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(shapes); i++) {
		struct file f = { .shape = &shapes[i] };
		struct tap_buf got = { 0 };
		unsigned char *bytes;
		struct tap_event ev;
		struct tap_reader *r;
		struct tap_err err;

		put_file(&f, "a0@100 b0@90 a1@95 / a0@200 lost1@150*2 a1@150 / a1@300 b0@250 /");
		assert_int_equal(open_bytes(&f, f.buf.len, &bytes, &r, &err), 0);
		tap_reader_unmerged(r, true);
		while (tap_reader_next(r, &ev, &err) == 1)
			show(&got, &ev);
		assert_string_equal(tap_buf_str(&got),
				    "0:90 b | 0:100 a | 1:95 a | 0:200 a | 1:150 lost 95..150 2 | "
				    "1:150 a | 0:250 b | 1:300 a | ");
		tap_reader_unmerged(r, false);
		tap_reader_rewind(r);
		read_all(r, &got);
		assert_string_equal(tap_buf_str(&got),
				    "0:90 b | 1:95 a | 0:100 a | 1:150 lost 95..150 2 | 1:150 a | "
				    "0:200 a | 0:250 b | 1:300 a | ");
		tap_reader_free(r);
		free(bytes);
		tap_buf_release(&got);
		release(&f);
	}
}

/* More than a block holds of what is copied from the file, or unpacked. */
struct rounds_case {
	const char *name;
	unsigned int rounds, events; /* in each */
	/* per cent of it can be copied; 0: there is none, it is mapped alone */
	unsigned int in_file;
	bool ends_mapped; /* the last records are read where they are mapped */
};

static const struct rounds_case rounds_cases[] = {
	{ .name = "mapped", .rounds = 1250, .events = 40, .ends_mapped = true },
	{ .name = "copied", .rounds = 1250, .events = 40, .in_file = 100 },
	{ .name = "copied as far as can be",
	  .rounds = 1250,
	  .events = 40,
	  .in_file = 70,
	  .ends_mapped = true },
	{ .name = "small files are not copied",
	  .rounds = 100,
	  .events = 40,
	  .in_file = 100,
	  .ends_mapped = true },
	{ .name = "more in one round than is copied",
	  .rounds = 1,
	  .events = 1200000,
	  .in_file = 100,
	  .ends_mapped = true },
};

static int file_with(const struct tap_buf *buf, unsigned int percent)
{
	size_t len = buf->len / 100 * percent;
	int fd = memfd_create("test.data", MFD_CLOEXEC);

	assert_true(fd >= 0);
	if (percent == 100)
		len = buf->len;
	assert_int_equal(write(fd, buf->data, len), len);
	return fd;
}

static void put_rounds(struct file *f, const struct rounds_case *c)
{
	uint64_t ts = 1000;

	put_front(f);
	put_id_index(f);
	f->plain_from = f->buf.len;
	for (unsigned int round = 0; round < c->rounds; round++, ts += c->events) {
		for (unsigned int k = 0; k < c->events; k += 2)
			put_event(f, "a", 0, ts + k);
		for (unsigned int k = 1; k < c->events; k += 2)
			put_event(f, "b", 1, ts + k);
		put_record(f, "/");
	}
	put_end(f);
}

/* Return: how many of the events are read where the file is mapped. */
static unsigned int check_rounds(struct tap_reader *r, const struct rounds_case *c,
				 const struct tap_buf *mapped)
{
	uint64_t end = 1000 + (uint64_t)c->rounds * c->events;
	struct tap_event ev;
	struct tap_err err;
	unsigned int nr = 0;

	for (uint64_t ts = 1000; ts < end; ts++) {
		assert_int_equal(tap_reader_next(r, &ev, &err), 1);
		assert_int_equal(ev.ts_ns, ts);
		assert_int_equal(ev.cpu, ts & 1);
		assert_string_equal(ev.fmt->name, ts & 1 ? "b" : "a");
		assert_int_equal(((const char *)ev.data)[11], 11);
		nr += (uintptr_t)ev.data - (uintptr_t)mapped->data < mapped->len;
	}
	assert_int_equal(tap_reader_next(r, &ev, &err), 0);
	return nr;
}

static void test_rounds(void **state)
{
	const struct rounds_case *c = *state;

	for (size_t i = 0; i < (c->rounds > 1 ? TABLE(shapes) : 1); i++) {
		struct file f = { .shape = &shapes[i], .zstd = ZSTD_createCCtx() };
		unsigned int nr = c->rounds * c->events, mapped;
		struct tap_reader *r;
		struct tap_err err;
		int fd;

		put_rounds(&f, c);
		fd = c->in_file ? file_with(&f.buf, c->in_file) : -1;
		if (open_reader((const unsigned char *)f.buf.data, f.buf.len, fd, &r, &err))
			fail_msg("%s: %s", shapes[i].name, err.text);
		for (unsigned int pass = 0; pass < 2; pass++) {
			mapped = check_rounds(r, c, &f.buf);
			if (!shapes[i].zstd) {
				assert_int_equal(mapped > 0, c->ends_mapped);
				assert_int_equal(mapped == nr, !c->in_file || nr < 10000);
			}
			tap_reader_rewind(r);
		}
		tap_reader_free(r);
		if (fd >= 0)
			close(fd);
		release(&f);
	}
}

/* ---- what is around */

static void test_info(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(shapes); i++) {
		struct file f = { .shape = &shapes[i] };
		unsigned char *bytes;
		struct tap_reader *r;
		struct tap_err err;

		put_file(&f, "comm7=first fork8<7 a0@100");
		assert_int_equal(open_bytes(&f, f.buf.len, &bytes, &r, &err), 0);
		assert_string_equal(r->uname, "Linux box 6.1.0 riscv64");
		assert_string_equal(r->tool, "perf 6.2");
		assert_string_equal(r->buffers[0].clock, "mono");
		assert_string_equal(r->printk, "ffff \"printk\"\n");
		assert_null(r->notes);
		assert_int_equal(r->info.nr_cpus, 2);
		assert_int_equal(r->info.wall_ts_ns, 1000000000000);
		assert_int_equal(r->info.wall_realtime_ns, 1795135620000000000);
		assert_int_equal(r->info.big_endian, shapes[i].big_endian);
		assert_int_equal(r->info.long_size, 8);
		assert_string_equal(r->formats[1]->name, "b");
		assert_int_equal(r->nr_formats, 4); /* and those of stacks */
		tap_reader_free(r);
		free(bytes);
		release(&f);
	}
}

static void test_tasks(void **state)
{
	struct file f = { .shape = &shapes[0] };
	struct tap_buf got = { 0 };
	unsigned char *bytes;
	struct tap_reader *r;
	struct tap_err err;

	(void)state;
	put_file(&f, "comm7=first fork8<7 a0@100 comm8=second");
	assert_int_equal(open_bytes(&f, f.buf.len, &bytes, &r, &err), 0);
	assert_string_equal(tap_reader_comm(r, 7), "first");
	assert_string_equal(tap_reader_comm(r, 8), "first");
	assert_null(tap_reader_comm(r, 9));
	assert_int_equal(tap_reader_tgid(r, 8), 1);
	assert_int_equal(tap_reader_tgid(r, 9), -1);
	read_all(r, &got);
	assert_string_equal(tap_reader_comm(r, 7), "first");
	assert_string_equal(tap_reader_comm(r, 8), "second");
	tap_reader_free(r);
	free(bytes);
	tap_buf_release(&got);
	release(&f);
}

/* Rings are read one after the other: the newest name counts, wherever it stands. */
static void test_names_out_of_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(shapes); i++) {
		struct file f = { .shape = &shapes[i] };
		struct tap_buf got = { 0 };
		unsigned char *bytes;
		struct tap_reader *r;
		struct tap_err err;

		put_file(&f, "comm7=old a0@100 comm7@120=new comm7@110=mid comm8@130=own "
			     "fork8@125<7 fork9@140<7 comm7@150=end");
		assert_int_equal(open_bytes(&f, f.buf.len, &bytes, &r, &err), 0);
		for (unsigned int again = 0; again < 2; again++) {
			read_all(r, &got);
			assert_string_equal(tap_reader_comm(r, 7), "end");
			assert_string_equal(tap_reader_comm(r, 8), "own");
			assert_string_equal(tap_reader_comm(r, 9), "new");
			tap_reader_rewind(r);
		}
		tap_reader_free(r);
		free(bytes);
		tap_buf_release(&got);
		release(&f);
	}
}

static uint16_t mark_b(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return fmt->id == ID_B;
}

/* Two passes over the same file: of one kind, and of all. */
static void check_passes(const char *text, const char *only_b, const char *all)
{
	struct file f = { .shape = &shapes[0] };
	struct tap_buf got = { 0 };
	unsigned char *bytes;
	struct tap_reader *r;
	struct tap_err err;

	put_file(&f, text);
	assert_int_equal(open_bytes(&f, f.buf.len, &bytes, &r, &err), 0);
	tap_reader_mark(r, mark_b, NULL);
	read_all(r, &got);
	assert_string_equal(tap_buf_str(&got), only_b);
	tap_reader_rewind(r);
	tap_reader_mark(r, NULL, NULL);
	read_all(r, &got);
	assert_string_equal(tap_buf_str(&got), all);
	tap_reader_free(r);
	free(bytes);
	tap_buf_release(&got);
	release(&f);
}

static void test_mark(void **state)
{
	(void)state;
	check_passes("a0@100 b0@110 lost0@130*2 a0@130 b0@140",
		     "0:110 b | 0:130 lost 110..130 2 | 0:140 b | ",
		     "0:100 a | 0:110 b | 0:130 lost 110..130 2 | 0:130 a | 0:140 b | ");
}

/* A loss is the same one in each pass, whatever that asks for. */
static void test_loss_in_each_pass(void **state)
{
	(void)state;
	check_passes("a0@100 lost0@200*1 a0@150 b0@120", "0:120 b | 0:150 lost 100..150 1 | ",
		     "0:100 a | 0:120 b | 0:150 lost 100..150 1 | 0:150 a | ");
}

/* ---- files that are not as they should be */

struct bad_case {
	const char *name;
	size_t at; /* where @size bytes become @v */
	uint64_t v;
	unsigned int size;
	size_t len; /* 0: all */
	int ret;
	const char *text; /* of the error, or of the note */
};

#define ATTR(i) (ATTRS_AT + 112 * (i))

static const struct bad_case bad_cases[] = {
	{ "another magic", 0, 'X', 1, 0, -EINVAL, "'test.data' is not a perf.data file" },
	{ "a pipe's header and no pipe's records", 8, 16, 8, 0, -EINVAL, "its attrs are missing" },
	{ "a pipe's header alone", 8, 16, 8, 16, -EINVAL, "its attrs are missing" },
	{ "a header that is cut", 0, 'P', 1, 103, -EINVAL, "its header is cut" },
	{ "attrs of no size", 16, 0, 8, 0, -EINVAL, "its attrs" },
	{ "attrs of any size", 16, 1ULL << 63, 8, 0, -EINVAL, "its attrs" },
	{ "attrs after the end", 24, 1 << 20, 8, 0, -EINVAL, "its attrs" },
	{ "ids after the end", ATTR(0) + 96, 1 << 20, 8, 0, -EINVAL, "its event ids" },
	{ "records after the end", 40, 1 << 20, 8, 0, -EINVAL, "its records lie after" },
	{ "records in the header", 40, 50, 8, 0, -EINVAL, "its records lie after" },
	{ "events without a CPU", ATTR(0) + 24, PERF_SAMPLE_IDENTIFIER | (BASE & ~PERF_SAMPLE_CPU),
	  8, 0, -ENOTSUP, "lack their time or" },
	{ "an attr whose records do not say so", ATTR(1) + 24, BASE, 8, 0, -ENOTSUP,
	  "does not say which event" },
	{ "perf was killed", 48, 0, 8, 0, 0, "perf was killed" },
	{ "records beyond the end", 48, 1 << 20, 8, 0, 0, "the file is cut" },
	{ "no tracing data", 72, 0, 8, 0, 0, "the file has no event formats" },
};

static void test_bad(void **state)
{
	const struct bad_case *c = *state;
	struct file f = { .shape = &shapes[0] };
	struct tap_buf got = { 0 };
	unsigned char *bytes;
	struct tap_reader *r;
	struct tap_err err = { 0 };
	int ret;

	put_file(&f, "a0@100 b1@110 a0@120");
	patch(&f, c->at, c->v, c->size);
	ret = open_bytes(&f, c->len ? c->len : f.buf.len, &bytes, &r, &err);
	assert_int_equal(ret, c->ret);
	if (ret) {
		assert_null(r);
		assert_non_null(strstr(err.text, c->text));
	} else {
		assert_non_null(strstr(r->notes, c->text));
		read_all(r, &got);
		assert_non_null(strstr(tap_buf_str(&got), "0:100 unknown | 1:110 unknown | "));
		tap_reader_free(r);
	}
	free(bytes);
	tap_buf_release(&got);
	release(&f);
}

/* A file cut anywhere is refused or read, and a cut among the records is reported. */
static void test_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(shapes); i++) {
		struct file f = { .shape = &shapes[i] };
		struct tap_buf got = { 0 };

		f.has_switches = true;
		put_file(&f, "a0@100 b1@110 pre1@111=-1:8 / lost0@130*5 a0@130 in1@132=8:7");
		for (size_t len = i % sanitized_step(); len < f.buf.len; len += sanitized_step()) {
			unsigned char *bytes;
			struct tap_reader *r;
			struct tap_err err;

			if (!open_bytes(&f, len, &bytes, &r, &err)) {
				assert_true(r->notes || f.shape->pipe);
				read_all(r, &got);
			}
			tap_reader_free(r);
			free(bytes);
		}
		tap_buf_release(&got);
		release(&f);
	}
}

/* Every byte turned over once. */
static void test_flipped(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(shapes); i += 3) {
		struct file f = { .shape = &shapes[i] };
		struct tap_buf got = { 0 };

		f.has_switches = true;
		put_file(&f, "comm7=x map1@90=1000:200:0 a0@100 b1@110 out0@111=7:8 stack0@112 / "
			     "lost0@130*5 a0@130 in1@131=7 exit1@132=7 sum0*6");
		for (size_t at = i % sanitized_step(); at < f.buf.len; at += sanitized_step()) {
			unsigned char *bytes;
			struct tap_reader *r;
			struct tap_err err;

			f.buf.data[at] ^= (char)0xff;
			if (!open_bytes(&f, f.buf.len, &bytes, &r, &err)) {
				struct tap_event ev;

				while (tap_reader_next(r, &ev, &err) == 1)
					show(&got, &ev);
				tap_buf_clear(&got);
			}
			tap_reader_free(r);
			free(bytes);
			f.buf.data[at] ^= (char)0xff;
		}
		tap_buf_release(&got);
		release(&f);
	}
}

int main(void)
{
	struct CMUnitTest tests[TABLE(stream_cases) + TABLE(switch_cases) + TABLE(stack_cases) +
				TABLE(bad_cases) + TABLE(rounds_cases) + 11] = {
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_loss_in_each_pass),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_unmerged),
		cmocka_unit_test(test_switches_beside_the_event),
		cmocka_unit_test(test_switches_alone),
		cmocka_unit_test(test_names_out_of_order),
		cmocka_unit_test(test_deep_stack),
	};
	size_t nr = 11;

	for (size_t i = 0; i < TABLE(stream_cases); i++)
		tests[nr++] = (struct CMUnitTest){
			.name = stream_cases[i].name,
			.test_func = test_stream,
			.initial_state = (void *)&stream_cases[i],
		};
	for (size_t i = 0; i < TABLE(switch_cases); i++)
		tests[nr++] = (struct CMUnitTest){
			.name = switch_cases[i].name,
			.test_func = test_switch,
			.initial_state = (void *)&switch_cases[i],
		};
	for (size_t i = 0; i < TABLE(stack_cases); i++)
		tests[nr++] = (struct CMUnitTest){
			.name = stack_cases[i].name,
			.test_func = test_stack,
			.initial_state = (void *)&stack_cases[i],
		};
	for (size_t i = 0; i < TABLE(rounds_cases); i++)
		tests[nr++] = (struct CMUnitTest){
			.name = rounds_cases[i].name,
			.test_func = test_rounds,
			.initial_state = (void *)&rounds_cases[i],
		};
	for (size_t i = 0; i < TABLE(bad_cases); i++)
		tests[nr++] = (struct CMUnitTest){
			.name = bad_cases[i].name,
			.test_func = test_bad,
			.initial_state = (void *)&bad_cases[i],
		};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
