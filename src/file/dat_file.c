// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "event/format.h"
#include "file/dat_file.h"
#include "file/head.h"
#include "file/meta.h"

#define MAX_NOTES_BYTES 4096u /* maximum length of all notes, plus one sentence */

int tap_dat_bad(const struct tap_reader *r, struct tap_err *err, const char *what)
{
	return tap_err_set(err, -EINVAL, "'%.300s' is damaged: %s", r->path, what);
}

int tap_dat_nomem(struct tap_err *err)
{
	return tap_err_nomem(err);
}

int tap_dat_note(struct tap_reader *r, struct tap_err *err, const char *fmt, ...)
{
	char *notes, *sentence;
	va_list args;
	int ret;

	if (r->notes && strlen(r->notes) > MAX_NOTES_BYTES)
		return 0;
	va_start(args, fmt);
	ret = vasprintf(&sentence, fmt, args);
	va_end(args);
	if (ret < 0)
		return tap_dat_nomem(err);
	ret = asprintf(&notes, "%s%s%s", r->notes ? r->notes : "", r->notes ? "\n" : "", sentence);
	free(sentence);
	if (ret < 0)
		return tap_dat_nomem(err);
	free(r->notes);
	r->notes = notes;
	return 0;
}

struct tap_bytes tap_dat_bytes(const struct tap_reader *r, uint64_t offset)
{
	const struct tap_mapping *m = &r->maps[0];
	bool outside = offset > m->len;

	return (struct tap_bytes){
		.at = m->data + (outside ? m->len : offset),
		.end = m->data + m->len,
		.big_endian = r->info.big_endian,
		.bad = outside,
	};
}

/*
 * The file's size is read once, here, and nothing after it is accessed. If someone truncates a
 * mapped file, access to the missing part raises SIGBUS, which a library cannot handle. schedtap's
 * own recorder only appends, renames and unlinks.
 */
int tap_dat_add_map(struct tap_reader *r, int fd, const struct tap_mapping **out)
{
	struct tap_mapping m = { .data = (const unsigned char *)"", .fd = -1 };
	struct stat st;

	if (tap_array_grow(&r->maps, r->nr_maps, &r->cap_maps, sizeof(*r->maps)))
		return -ENOMEM;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((uint64_t)st.st_size > SIZE_MAX)
		return -EFBIG;
	if (st.st_size) {
		m.data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (m.data == MAP_FAILED)
			return -errno;
		m.len = (size_t)st.st_size;
		m.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		m.has_holes = st.st_blocks < st.st_size / 512;
	}
	r->budget.file_bytes +=
		(uint64_t)st.st_blocks < m.len / 512 ? (uint64_t)st.st_blocks * 512 : m.len;
	r->maps[r->nr_maps] = m;
	*out = &r->maps[r->nr_maps++];
	return 0;
}

int tap_dat_set_text(char **dst, const void *text, size_t len, struct tap_err *err)
{
	char *copy = strndup(text, len);

	if (!copy)
		return tap_dat_nomem(err);
	free(*dst);
	*dst = copy;
	return 0;
}

int tap_dat_check_meta(struct tap_reader *r, struct tap_err *err)
{
	struct tap_err why;
	int ret = tap_budget_set(&r->budget, TAP_COST_DESCRIPTION,
				 tap_budget_json_bytes(r->meta, strlen(r->meta)), err);

	if (ret)
		return ret;
	ret = tap_meta_check_format(r->meta, &why);
	return ret ? tap_err_set(err, ret, "cannot read '%.300s': %s", r->path, why.text) : 0;
}

/* Find "name; offset:N; size:N;" in a header_page text. Return: false if it is missing. */
static bool header_field(const char *text, const char *name, uint32_t *offset, uint32_t *size)
{
	const char *at = strstr(text, name), *end, *o, *s;
	unsigned long ov, sv;

	if (!at)
		return false;
	end = strchrnul(at, '\n');
	o = strstr(at, "offset:");
	s = strstr(at, "size:");
	if (!o || !s || o > end || s > end)
		return false;
	ov = strtoul(o + strlen("offset:"), NULL, 10);
	sv = strtoul(s + strlen("size:"), NULL, 10);
	if (ov > TAP_DAT_MAX_PAGE_BYTES || sv > TAP_DAT_MAX_PAGE_BYTES)
		return false;
	*offset = (uint32_t)ov;
	*size = (uint32_t)sv;
	return true;
}

int tap_dat_read_header_page(struct tap_reader *r, const char *text, uint32_t *page_bytes,
			     struct tap_err *err)
{
	uint32_t offset, size;

	if (!header_field(text, " commit;", &offset, &size) || offset != 8 ||
	    (size != 4 && size != 8))
		return tap_dat_bad(r, err, "its header_page does not describe a commit word");
	r->commit_size = (uint8_t)size;
	if (!header_field(text, " data;", &offset, &size) || offset != 8u + r->commit_size)
		return tap_dat_bad(r, err, "its header_page does not say where events begin");
	r->data_offset = offset;
	if (page_bytes)
		*page_bytes = offset + size;
	return 0;
}

int tap_dat_read_headers(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err)
{
	const char *tag = tap_bytes_str(b);
	struct tap_bytes page = tap_bytes_sub(b, tap_bytes_u64(b));
	char *text = NULL;
	int ret;

	if (page.bad || strcmp(tag, "header_page"))
		return tap_dat_bad(r, err, "no header_page");
	tag = tap_bytes_str(b);
	tap_bytes_take(b, tap_bytes_u64(b));
	if (b->bad || strcmp(tag, "header_event"))
		return tap_dat_bad(r, err, "no header_event");
	ret = tap_dat_set_text(&text, page.at, tap_bytes_left(&page), err);
	if (ret)
		return ret;
	ret = tap_dat_read_header_page(r, text, NULL, err);
	free(text);
	return ret;
}

static bool is_number(const struct tap_format *fmt, const char *name)
{
	const struct tap_field *f = tap_format_field(fmt, name);

	return f && f->kind == TAP_FIELD_NUMBER;
}

static bool is_lost_event(const struct tap_format *fmt)
{
	return !strcmp(fmt->system, "schedtap") && !strcmp(fmt->name, "events_lost") &&
	       is_number(fmt, "lost_cpu") && is_number(fmt, "count") &&
	       is_number(fmt, "first_ns") && is_number(fmt, "last_ns");
}

static bool is_off_event(const struct tap_format *fmt)
{
	return !strcmp(fmt->system, "schedtap") && !strcmp(fmt->name, "events_off") &&
	       is_number(fmt, "off_cpu") && is_number(fmt, "count") &&
	       is_number(fmt, "event_type") && is_number(fmt, "first_ns") &&
	       is_number(fmt, "last_ns");
}

static int add_format(struct tap_reader *r, struct tap_format *fmt, struct tap_err *err)
{
	struct tap_slot *slot = &r->decoder.slots[fmt->id];

	if (slot->fmt) { /* a repeated event, or damage: keep the first format */
		tap_format_free(fmt);
		return 0;
	}
	if (tap_array_grow(&r->formats, r->nr_formats, &r->cap_formats, sizeof(*r->formats))) {
		tap_format_free(fmt);
		return tap_dat_nomem(err);
	}
	r->formats[r->nr_formats++] = fmt;
	*slot = (struct tap_slot){
		.fmt = fmt, .min_size = fmt->min_size, .mark = 1, .is_marked = true
	};
	slot->is_off = is_off_event(fmt);
	if (slot->is_off || is_lost_event(fmt)) {
		slot->is_lost = true;
		slot->min_size = UINT32_MAX;
	}
	return 0;
}

int tap_dat_add_format(struct tap_reader *r, const char *system, const char *text, size_t len,
		       struct tap_abi abi, struct tap_err *err)
{
	uint64_t lines = 0;
	struct tap_format *fmt;
	int ret;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	if (lines > TAP_FORMAT_MAX_FIELDS)
		lines = TAP_FORMAT_MAX_FIELDS;
	ret = tap_budget_add(&r->budget, TAP_COST_SECTIONS, 2 * len + lines * sizeof(*fmt->fields),
			     err)
		      ?: tap_format_parse(system, text, len, abi, &fmt, err);
	return ret ?: add_format(r, fmt, err);
}

int tap_dat_read_formats(struct tap_reader *r, struct tap_bytes *b, const char *system, uint32_t nr,
			 struct tap_err *err)
{
	struct tap_abi abi = { .big_endian = r->info.big_endian, .long_size = r->info.long_size };
	int ret;

	while (nr-- && !b->bad) {
		struct tap_bytes text = tap_bytes_sub(b, tap_bytes_u64(b));

		if (text.bad)
			break;
		/* an event whose format cannot be parsed is returned as an unknown event */
		ret = tap_dat_add_format(r, system, (const char *)text.at, tap_bytes_left(&text),
					 abi, err);
		if (ret == -ENOMEM || ret == -E2BIG)
			return ret;
	}
	return b->bad ? tap_dat_bad(r, err, "the event formats are cut") : 0;
}

int tap_dat_read_systems(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err)
{
	uint32_t nr = tap_bytes_u32(b);

	while (nr-- && !b->bad) {
		const char *system = tap_bytes_str(b);
		uint32_t nr_events = tap_bytes_u32(b);
		int ret = tap_dat_read_formats(r, b, system, nr_events, err);

		if (ret)
			return ret;
	}
	return b->bad ? tap_dat_bad(r, err, "the event formats are cut") : 0;
}

/* Parse "pid comm\n" lines; each '\n' is replaced by a NUL. */
int tap_dat_read_cmdlines(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err)
{
	struct tap_bytes text = tap_bytes_sub(b, tap_bytes_u64(b));
	char *line, *next;
	int ret;

	if (text.bad)
		return tap_dat_bad(r, err, "the task names are cut");
	tap_map_release(&r->comms);
	r->comms = (struct tap_map){ 0 };
	ret = tap_dat_set_text(&r->cmdlines, text.at, tap_bytes_left(&text), err);
	if (ret)
		return ret;
	for (line = r->cmdlines; *line; line = next) {
		uint64_t *place;
		char *comm;
		long tid;

		next = strchrnul(line, '\n');
		if (*next)
			*next++ = '\0';
		tid = strtol(line, &comm, 10);
		if (comm == line || *comm != ' ' || tid < 0 || tid > INT32_MAX)
			continue;
		place = tap_map_put(&r->comms, (uint64_t)tid);
		if (!place)
			return tap_dat_nomem(err);
		*place = (uintptr_t)(comm + 1);
	}
	return 0;
}

int tap_dat_read_text(struct tap_reader *r, struct tap_bytes *b, char **dst, struct tap_err *err)
{
	struct tap_bytes text = tap_bytes_sub(b, tap_bytes_u32(b));

	if (text.bad || tap_bytes_left(&text) > TAP_DAT_MAX_TEXT_BYTES)
		return tap_dat_bad(r, err, "the kernel's texts or symbols are cut, or above 64 MB");
	return tap_dat_set_text(dst, text.at, tap_bytes_left(&text), err);
}

int tap_dat_read_front(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err)
{
	return tap_dat_read_headers(r, b, err) ?:
	       tap_dat_read_formats(r, b, "ftrace", tap_bytes_u32(b), err) ?:
	       tap_dat_read_systems(r, b, err) ?:
	       tap_dat_read_text(r, b, &r->kallsyms, err) ?:
	       tap_dat_read_text(r, b, &r->printk, err);
}

/* Parse "[local] global mono": brackets mark the current clock. */
static int read_clock(struct tap_reader *r, struct tap_bytes opt, struct tap_err *err)
{
	size_t left = tap_bytes_left(&opt);
	const unsigned char *from = memchr(opt.at, '[', left), *to;

	if (!from)
		return 0;
	from++;
	to = memchr(from, ']', (size_t)(opt.end - from));
	if (!to)
		return 0;
	return tap_dat_set_text(&r->clock, from, (size_t)(to - from), err);
}

/* Parse an option that is a number as text. Return 0 if it is not one. */
static long long read_number(struct tap_bytes opt)
{
	char text[32] = "";
	size_t len = tap_bytes_left(&opt);

	memcpy(text, opt.at, len < sizeof(text) ? len : sizeof(text) - 1);
	return strtoll(text, NULL, 0);
}

/*
 * Parse the offset from trace-cmd record --date: "0x...", CLOCK_REALTIME minus the trace clock, in
 * us.
 */
static void read_date(struct tap_reader *r, struct tap_bytes opt)
{
	long long us = read_number(opt);

	if (us > 0 && us <= INT64_MAX / 1000)
		r->info.wall_realtime_ns = (uint64_t)us * 1000;
}

/*
 * The events of a guest are in a separate file. The option has the guest's name, then data for
 * correlating both.
 */
static int note_guest(struct tap_reader *r, struct tap_bytes opt, struct tap_err *err)
{
	const char *name = tap_bytes_str(&opt);

	return opt.bad ? 0
		       : tap_dat_note(r, err,
				      "the recording refers to guest '%.256s', whose own file is "
				      "not read",
				      name);
}

/* Read how a guest's times are converted to its host's. trace-cmd writes an empty option, too. */
static int read_guest(struct tap_reader *r, struct tap_bytes opt, struct tap_err *err)
{
	int ret = tap_guest_read(&r->guest, opt);

	r->info.host_trace_id = r->guest.host_id;
	if (ret == -ENOMEM)
		return tap_dat_nomem(err);
	if (ret)
		return tap_dat_note(r, err,
				    "the recording is of a guest, and its times are the guest's "
				    "own: how they differ from the host's is damaged or missing");
	ret = tap_dat_note(r, err,
			   "the recording is of a guest: its times are converted to the host's "
			   "clock");
	if (!ret && r->guest.differs)
		ret = tap_dat_note(
			r, err,
			"the clocks of the guest's CPUs differ by up to %llu: all times are "
			"converted as those of its first CPU",
			(unsigned long long)r->guest.differs);
	return ret;
}

int tap_dat_read_option(struct tap_reader *r, unsigned int id, struct tap_bytes opt,
			struct tap_err *err)
{
	uint32_t nr;

	switch (id) {
	case TAP_OPTION_DATE:
		read_date(r, opt);
		return 0;
	case TAP_OPTION_TRACECLOCK:
		return read_clock(r, opt, err);
	case TAP_OPTION_UNAME:
		return tap_dat_set_text(&r->uname, opt.at, tap_bytes_left(&opt), err);
	case TAP_OPTION_VERSION:
		return tap_dat_set_text(&r->tool, opt.at, tap_bytes_left(&opt), err);
	case TAP_OPTION_CPUCOUNT:
		nr = tap_bytes_u32(&opt);
		if (nr > TAP_DAT_MAX_CPUS)
			return tap_dat_bad(r, err, "it has more than 8192 CPUs");
		r->info.nr_cpus = nr;
		return 0;
	case TAP_OPTION_GUEST:
		return note_guest(r, opt, err);
	case TAP_OPTION_OFFSET:
		r->offset_ns = read_number(opt);
		return 0;
	case TAP_OPTION_TRACEID:
		r->info.trace_id = tap_bytes_u64(&opt);
		return 0;
	case TAP_OPTION_TIME_SHIFT:
		return read_guest(r, opt, err);
	case TAP_OPTION_TSC2NSEC:
		r->tsc.mult = tap_bytes_u32(&opt);
		r->tsc.shift = tap_bytes_u32(&opt);
		if (opt.bad || r->tsc.shift > 63)
			return tap_dat_bad(r, err, "its TSC factor is invalid");
		return 0;
	default:
		return 0;
	}
}

int tap_dat_add_buffer(struct tap_reader *r, const char *name, const char *clock,
		       uint32_t page_size, struct tap_err *err)
{
	char *name_copy, *clock_copy;

	if (r->info.nr_buffers >= TAP_DAT_MAX_BUFFERS)
		return tap_dat_bad(r, err, "it has more than 65536 buffers");
	if (page_size > TAP_DAT_MAX_PAGE_BYTES || page_size < r->data_offset)
		return tap_dat_bad(r, err, "the page size of a buffer is invalid");
	if (tap_array_grow(&r->buffers, r->info.nr_buffers, &r->cap_buffers, sizeof(*r->buffers)))
		return tap_dat_nomem(err);
	name_copy = strdup(name);
	clock_copy = strdup(clock);
	r->buffers[r->info.nr_buffers] = (struct tap_buffer_info){
		.name = name_copy,
		.clock = clock_copy,
		.page_size = page_size,
	};
	r->info.nr_buffers++;
	if (!name_copy || !clock_copy)
		return tap_dat_nomem(err);
	return (int)r->info.nr_buffers - 1;
}

bool tap_dat_is_of_marks(const struct tap_reader *r, unsigned int buffer)
{
	return !strcmp(r->buffers[buffer].name, TAP_HEAD_MARKS);
}

int tap_dat_add_stream(struct tap_reader *r, unsigned int buffer, uint32_t cpu,
		       struct tap_stream **out, struct tap_err *err)
{
	int ret;

	if (cpu >= TAP_DAT_MAX_CPUS || r->nr_streams >= TAP_DAT_MAX_STREAMS)
		return tap_dat_bad(r, err, "it has more than 8192 CPUs");
	ret = tap_budget_add(&r->budget, TAP_COST_STREAMS, sizeof(**out), err);
	if (ret)
		return ret;
	if (tap_array_grow(&r->streams, r->nr_streams, &r->cap_streams, sizeof(*r->streams)))
		return tap_dat_nomem(err);
	*out = &r->streams[r->nr_streams++];
	**out = (struct tap_stream){
		.cpu = (int)cpu,
		.buffer = buffer,
		.file.fd = -1,
		.abi = {
			.page_size = r->buffers[buffer].page_size,
			.data_offset = r->data_offset,
			.commit_size = r->commit_size,
			.big_endian = r->info.big_endian,
		},
	};
	r->buffers[buffer].nr_cpus++;
	if (r->info.nr_cpus <= cpu)
		r->info.nr_cpus = cpu + 1;
	return 0;
}

void tap_dat_set_pages(struct tap_stream *s, const struct tap_mapping *m, const unsigned char *from,
		       size_t len)
{
	s->whole.page = from;
	s->whole.pages_end = from + len - len % s->abi.page_size;
	s->file.fd = m->fd;
	s->file.mapped = m->data;
	s->file.has_holes = m->has_holes;
}

void tap_dat_place_pages(const struct tap_reader *r, struct tap_stream *s, uint64_t offset,
			 uint64_t size)
{
	struct tap_bytes b = tap_dat_bytes(r, offset);
	size_t there = tap_bytes_left(&b);

	if (there > size)
		there = (size_t)size;
	tap_dat_set_pages(s, &r->maps[0], b.at, there);
	s->whole.cut = (uint64_t)(s->whole.pages_end - s->whole.page) < size;
}

void tap_dat_drop_maps(struct tap_reader *r)
{
	while (r->nr_maps) {
		const struct tap_mapping *m = &r->maps[--r->nr_maps];

		if (m->len)
			munmap((void *)m->data, m->len);
		if (m->fd >= 0)
			close(m->fd);
	}
}

void tap_dat_free(struct tap_reader *r)
{
	if (!r)
		return;
	for (unsigned int i = 0; i < r->nr_streams; i++)
		tap_stream_release(&r->decoder, &r->streams[i]);
	for (unsigned int i = 0; i < r->nr_formats; i++)
		tap_format_free(r->formats[i]);
	for (unsigned int i = 0; i < r->info.nr_buffers; i++) {
		free((char *)r->buffers[i].name);
		free((char *)r->buffers[i].clock);
	}
	tap_dat_drop_maps(r);
	tap_decoder_release(&r->decoder);
	tap_map_release(&r->comms);
	tap_map_release(&r->tgids);
	free(r->cmdlines);
	free(r->streams);
	free(r->formats);
	free(r->buffers);
	free(r->maps);
	free(r->merge.losers);
	free(r->uname);
	free(r->tool);
	free(r->meta);
	free(r->clock);
	free(r->compression);
	free(r->printk);
	free(r->kallsyms);
	free(r->notes);
	tap_guest_release(&r->guest);
	free(r->budget.path);
	free(r);
}
