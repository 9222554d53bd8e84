// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * dat2perf IN.dat OUT.data [--big-endian | --switches | --chains]: convert the events and losses of
 * a little-endian recording to a small perf.data, for fuzzing and tests. It has one attr; CPU n has
 * the ID n + 1. The elements of arrays in records must be bytes. --switches: write SWITCH_CPU_WIDE
 * records instead of sched_switch, and an EXIT record before a task leaves as dead. --chains:
 * samples have callchains of a mapped program.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include <schedtap/reader.h>

#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |           \
	 PERF_SAMPLE_RAW)
#define TRAILER_BYTES 32u
#define HALF_BYTES (8u + 8u + TRAILER_BYTES)
#define HEADER_BYTES 104u
#define ATTR_BYTES 96u /* up to the clockid member */
#define ATTR_CLOCKID_AT 92u
#define ATTR_SAMPLE_ID_ALL 18u /* bit numbers in its flags */
#define ATTR_USE_CLOCKID 25u
#define ATTR_CONTEXT_SWITCH 26u
#define RECORD_ID_INDEX 69u /* perf's own record types are not in the kernel's header */
#define FEATURE_TRACING_DATA 1u

static bool big_endian, has_switches, has_chains;

static const uint64_t chain[] = { PERF_CONTEXT_KERNEL, 0xffffffff81000010, PERF_CONTEXT_USER,
				  0x401005, 0x9000 };

static void put(struct tap_buf *b, uint64_t v, size_t size)
{
	for (size_t i = 0; i < size; i++)
		tap_buf_char(b, (char)(v >> 8 * (big_endian ? size - 1 - i : i)));
}

static void put_sized(struct tap_buf *b, size_t size, const char *s)
{
	put(b, strlen(s), size);
	tap_buf_puts(b, s);
}

static void put_header(struct tap_buf *b, uint32_t type, size_t rest)
{
	put(b, type, 4);
	put(b, 0, 2);
	put(b, sizeof(struct perf_event_header) + rest, 2);
}

static void put_cpu(struct tap_buf *b, int cpu)
{
	put(b, (uint64_t)cpu, 4);
	put(b, 0, 4);
}

/* Add the record with its numbers in the file's byte order. */
static void put_record(struct tap_buf *b, const struct tap_event *ev)
{
	size_t at = b->len;

	tap_buf_add(b, ev->data, ev->size);
	for (unsigned int i = 0; !b->err && big_endian && i < ev->fmt->nr_fields; i++) {
		const struct tap_field *f = &ev->fmt->fields[i];
		char *bytes = b->data + at + f->offset;

		if (f->kind == TAP_FIELD_CHARS || f->kind == TAP_FIELD_ARRAY)
			continue;
		for (uint32_t k = 0; k < f->size / 2; k++) {
			char byte = bytes[k];

			bytes[k] = bytes[f->size - 1 - k];
			bytes[f->size - 1 - k] = byte;
		}
	}
}

static void put_sample(struct tap_buf *b, const struct tap_event *ev)
{
	static const char zeros[8];
	size_t pad = -(ev->size + 4) & 7;
	uint32_t tid;

	memcpy(&tid, (const char *)ev->data + 4, sizeof(tid));
	put_header(b, PERF_RECORD_SAMPLE,
		   32 + (has_chains ? 8 + sizeof(chain) : 0) + 4 + ev->size + pad);
	put(b, (uint64_t)ev->cpu + 1, 8);
	put(b, tid, 4);
	put(b, tid, 4);
	put(b, ev->ts_ns, 8);
	put_cpu(b, ev->cpu);
	if (has_chains)
		put(b, sizeof(chain) / sizeof(*chain), 8);
	for (size_t i = 0; has_chains && i < sizeof(chain) / sizeof(*chain); i++)
		put(b, chain[i], 8);
	put(b, ev->size + pad, 4);
	put_record(b, ev);
	tap_buf_add(b, zeros, pad);
}

static void put_trailer(struct tap_buf *b, const struct tap_event *ev, uint32_t tid)
{
	put(b, tid, 4);
	put(b, tid, 4);
	put(b, ev->ts_ns, 8);
	put_cpu(b, ev->cpu);
	put(b, (uint64_t)ev->cpu + 1, 8);
}

static void put_mapping(struct tap_buf *b, const struct tap_event *ev, uint32_t pid)
{
	put_header(b, PERF_RECORD_MMAP2, 8 + 24 + 32 + 8 + TRAILER_BYTES);
	put(b, pid, 4);
	put(b, pid, 4);
	put(b, 0x401000, 8);
	put(b, 0x1000, 8);
	put(b, 0x2000, 8);
	for (unsigned int i = 0; i < 4; i++)
		put(b, 0, 8);
	tap_buf_add(b, "/bin/sh", 8);
	put_trailer(b, ev, pid);
}

static void put_half(struct tap_buf *b, const struct tap_event *ev, uint16_t misc, uint32_t tid,
		     uint32_t other)
{
	put(b, PERF_RECORD_SWITCH_CPU_WIDE, 4);
	put(b, misc, 2);
	put(b, HALF_BYTES, 2);
	put(b, other, 4);
	put(b, other, 4);
	put_trailer(b, ev, tid);
}

static uint64_t field(const struct tap_event *ev, const char *name)
{
	const struct tap_field *f = tap_format_field(ev->fmt, name);

	return f ? tap_field_u64(f, ev->data, ev->size) : 0;
}

static bool is_switch(const struct tap_event *ev)
{
	return !strcmp(ev->fmt->system, "sched") && !strcmp(ev->fmt->name, "sched_switch");
}

/*
 * Since v4.14 a prev_state of 0, or one above the letters' bits, means R or R+: the task was
 * preempted.
 */
static void put_switch(struct tap_buf *b, const struct tap_event *ev)
{
	uint32_t prev = (uint32_t)field(ev, "prev_pid"), next = (uint32_t)field(ev, "next_pid");
	uint64_t state = field(ev, "prev_state");

	if (state & 0x30) {
		put_header(b, PERF_RECORD_EXIT, 24 + TRAILER_BYTES);
		for (unsigned int i = 0; i < 4; i++)
			put(b, prev, 4);
		put(b, ev->ts_ns, 8);
		put_trailer(b, ev, prev);
	}
	put_half(b, ev,
		 PERF_RECORD_MISC_SWITCH_OUT |
			 (state && state < 0x100 ? 0 : PERF_RECORD_MISC_SWITCH_OUT_PREEMPT),
		 prev, next);
	put_half(b, ev, 0, next, prev);
}

static void put_loss(struct tap_buf *b, const struct tap_event *ev)
{
	put_header(b, PERF_RECORD_LOST, 16 + 32);
	put(b, (uint64_t)ev->cpu + 1, 8);
	put(b, ev->lost.count, 8);
	put(b, 0, 8);
	put(b, ev->lost.last_ns, 8);
	put_cpu(b, ev->cpu);
	put(b, (uint64_t)ev->cpu + 1, 8);
}

static void put_id_index(struct tap_buf *b, unsigned int nr_cpus)
{
	put_header(b, RECORD_ID_INDEX, 8 + nr_cpus * 32);
	put(b, nr_cpus, 8);
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		put(b, cpu + 1, 8);
		put(b, cpu, 8);
		put(b, cpu, 8);
		put(b, UINT64_MAX, 8);
	}
}

static void put_tracing_data(struct tap_buf *b, const struct tap_reader *r, const bool *used)
{
	static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
	unsigned int nr, nr_used = 0;
	const struct tap_format *const *formats = tap_reader_formats(r, &nr);

	for (unsigned int i = 0; i < nr; i++)
		nr_used += used[formats[i]->id];
	tap_buf_add(b,
		    "\x17\x08\x44tracing"
		    "0.6",
		    14);
	put(b, big_endian, 1);
	put(b, 8, 1);
	put(b, 4096, 4);
	tap_buf_add(b, "header_page", 12);
	put_sized(b, 8, page);
	tap_buf_add(b, "header_event", 13);
	put_sized(b, 8, "");
	put(b, 0, 4); /* ftrace's own events */
	put(b, nr_used, 4);
	for (unsigned int i = 0; i < nr; i++) {
		if (!used[formats[i]->id])
			continue;
		tap_buf_add(b, formats[i]->system, strlen(formats[i]->system) + 1);
		put(b, 1, 4);
		put_sized(b, 8, formats[i]->text);
	}
	put(b, 0, 4); /* kallsyms */
	put(b, 0, 4); /* printk_formats */
	put(b, 0, 8); /* saved_cmdlines */
}

static uint64_t flag(unsigned int bit)
{
	return 1ull << (big_endian ? 63 - bit : bit);
}

static void put_attr(struct tap_buf *b, uint64_t ids_size)
{
	put(b, PERF_TYPE_TRACEPOINT, 4);
	put(b, ATTR_BYTES, 4);
	put(b, 0, 8);
	put(b, 0, 8);
	put(b, SAMPLE_TYPE | (has_chains ? PERF_SAMPLE_CALLCHAIN : 0), 8);
	put(b, 0, 8);
	put(b,
	    flag(ATTR_SAMPLE_ID_ALL) | flag(ATTR_USE_CLOCKID) |
		    (has_switches ? flag(ATTR_CONTEXT_SWITCH) : 0),
	    8);
	for (unsigned int at = 48; at < ATTR_CLOCKID_AT; at++)
		put(b, 0, 1);
	put(b, CLOCK_MONOTONIC, 4);
	put(b, HEADER_BYTES, 8);
	put(b, ids_size, 8);
}

static void put_front(struct tap_buf *b, unsigned int nr_cpus, size_t data_bytes)
{
	size_t ids_size = nr_cpus * sizeof(uint64_t), attr_size = ATTR_BYTES + 16;
	size_t attr_at = HEADER_BYTES + ids_size;
	const uint64_t header[] = {
		HEADER_BYTES,
		attr_size,
		attr_at,
		attr_size,
		attr_at + attr_size,
		data_bytes,
		0,
		0,
		1u << FEATURE_TRACING_DATA,
		0,
		0,
		0,
	};

	tap_buf_puts(b, big_endian ? "2ELIFREP" : "PERFILE2");
	for (size_t i = 0; i < sizeof(header) / sizeof(*header); i++)
		put(b, header[i], 8);
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++)
		put(b, cpu + 1, 8);
	put_attr(b, ids_size);
}

static int convert(struct tap_reader *r, int fd, struct tap_err *err)
{
	unsigned int nr_cpus = tap_reader_info(r)->nr_cpus;
	struct tap_buf data = { 0 }, file = { 0 }, tracing = { 0 };
	bool *used = calloc(65536, sizeof(*used));
	struct tap_event ev;
	int ret;

	if (!used)
		return tap_err_set(err, -ENOMEM, "out of memory");
	put_id_index(&data, nr_cpus);
	while ((ret = tap_reader_next(r, &ev, err)) > 0) {
		if (ev.fmt && has_switches && is_switch(&ev)) {
			put_switch(&data, &ev);
			continue;
		}
		if (ev.fmt && has_chains)
			put_mapping(&data, &ev, (uint32_t)field(&ev, "common_pid"));
		if (ev.fmt)
			put_sample(&data, &ev);
		else
			put_loss(&data, &ev);
		used[ev.fmt ? ev.fmt->id : 0] = true;
	}
	put_front(&file, nr_cpus, data.len);
	tap_buf_add(&file, data.data, data.len);
	put_tracing_data(&tracing, r, used);
	put(&file, file.len + 16, 8);
	put(&file, tracing.len, 8);
	tap_buf_add(&file, tracing.data, tracing.len);
	if (!ret && (file.err || data.err || tracing.err))
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	if (!ret)
		ret = tap_write_all(fd, file.data, file.len);
	free(used);
	tap_buf_release(&data);
	tap_buf_release(&file);
	tap_buf_release(&tracing);
	return ret;
}

int main(int argc, char **argv)
{
	struct tap_err err = { .text = "cannot write" };
	struct tap_reader *r;
	int fd, ret;

	big_endian = argc == 4 && !strcmp(argv[3], "--big-endian");
	has_switches = argc == 4 && !strcmp(argv[3], "--switches");
	has_chains = argc == 4 && !strcmp(argv[3], "--chains");
	if (argc != 3 && !big_endian && !has_switches && !has_chains) {
		fprintf(stderr,
			"usage: dat2perf IN.dat OUT.data [--big-endian | --switches | --chains]\n");
		return 2;
	}
	fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	ret = fd < 0 ? -1 : tap_reader_open(argv[1], &r, &err);
	if (!ret) {
		ret = convert(r, fd, &err);
		tap_reader_free(r);
	}
	if (ret)
		fprintf(stderr, "dat2perf: %s\n", err.text);
	return ret ? 1 : 0;
}
