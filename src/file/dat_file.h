/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* struct tap_reader, which the parsers of all file types fill in. */
#ifndef TAP_FILE_DAT_FILE_H
#define TAP_FILE_DAT_FILE_H

#include <schedtap/reader.h>

#include "base/map.h"
#include "event/format.h"
#include "file/budget.h"
#include "file/dat_stream.h"
#include "file/guest.h"
#include "file/merge.h"

#define TAP_DAT_MAX_BUFFERS 65536u
#define TAP_DAT_MAX_STREAMS (1u << 18)
#define TAP_DAT_MAX_PAGE_BYTES (64u << 20)
#define TAP_DAT_MAX_TEXT_BYTES (64u << 20) /* per text; kallsyms of a large kernel is 15 MB */

/* Options that version 6 and 7 have in common. */
enum {
	TAP_OPTION_DONE = 0,
	TAP_OPTION_DATE = 1,
	TAP_OPTION_BUFFER = 3,
	TAP_OPTION_TRACECLOCK = 4,
	TAP_OPTION_UNAME = 5,
	TAP_OPTION_OFFSET = 7,
	TAP_OPTION_CPUCOUNT = 8,
	TAP_OPTION_VERSION = 9,
	TAP_OPTION_TRACEID = 11,
	TAP_OPTION_TIME_SHIFT = 12,
	TAP_OPTION_GUEST = 13,
	TAP_OPTION_TSC2NSEC = 14,
};

#define TAP_NR_BATCH 128u /* events returned at once */

struct tap_mapping {
	const unsigned char *data;
	size_t len;
	int fd; /* -1: not available for reading */
	bool has_holes; /* the file has fewer blocks than bytes */
};

struct tap_reader {
	struct tap_reader_info info;
	/* owned: readers of the other files that were joined to this one (join.h) */
	struct tap_reader **others;
	unsigned int nr_others;
	const char *path; /* set only while opening */
	struct tap_budget budget;
	struct tap_mapping *maps; /* [0] is the trace.dat or head.dat */
	unsigned int nr_maps, cap_maps;
	struct tap_buffer_info *buffers;
	unsigned int cap_buffers;
	char *uname, *tool, *meta, *clock, *compression, *printk, *kallsyms, *notes;
	uint32_t page_size;
	uint32_t data_offset; /* start of events in a sub-buffer, from the header_page text */
	uint8_t commit_size;
	struct tap_format **formats;
	unsigned int nr_formats, cap_formats;
	struct tap_map comms; /* tid -> name in .cmdlines */
	char *cmdlines;
	struct tap_map tgids; /* tid -> process, of translated files (made.h) */
	struct {
		uint32_t mult, shift; /* mult 0: time stamps are in nanoseconds */
	} tsc;
	int64_t offset_ns; /* added to all time stamps (trace-cmd record --ts-offset) */
	struct tap_guest guest; /* .nr 0: time stamps need no conversion to a host's clock */
	struct tap_decoder decoder;
	/* set for a perf.data, which uses only .unmerged and the batch of what follows */
	struct tap_perf *perf;
	struct tap_stream *streams; /* sorted by CPU, then by buffer */
	unsigned int nr_streams, cap_streams;
	struct tap_merge merge;
	struct tap_stream *current; /* the stream whose item comes next; NULL: before the first */
	uint64_t until; /* .current stays current for items up to this time */
	uint64_t last; /* raw time of the batch's last event */
	bool unmerged;
	/* decoded, in order; [next, nr_batch) are not returned yet */
	struct tap_event *batch[TAP_NR_BATCH];
	unsigned int next, nr_batch;
};

/* Free @r (may be NULL) and all that the parsers allocated, except .perf. */
void tap_dat_free(struct tap_reader *r);

/* Set the error "'FILE' is damaged: ...". Return: -EINVAL. */
int tap_dat_bad(const struct tap_reader *r, struct tap_err *err, const char *what);
int tap_dat_nomem(struct tap_err *err);
/* Add a sentence to the notes, unless these are already long. Return: 0; -ENOMEM. */
int tap_dat_note(struct tap_reader *r, struct tap_err *err, const char *fmt, ...) TAP_PRINTF(3, 4);

/* Return the first mapping from @offset to its end; empty and bad if @offset is outside. */
struct tap_bytes tap_dat_bytes(const struct tap_reader *r, uint64_t offset);

/* Map a file at its present size. Return: 0; -errno; -EINVAL if it is not a regular file. */
int tap_dat_add_map(struct tap_reader *r, int fd, const struct tap_mapping **out);
void tap_dat_drop_maps(struct tap_reader *r); /* unmap all files */

/*
 * Read the start of a trace.dat: magic, version, byte order, long size and page size. Return: the
 * version; NULL if the magic is missing. @b->bad is set if the rest is invalid.
 */
const char *tap_dat_read_begin(struct tap_reader *r, struct tap_bytes *b);

/*
 * Check r->meta: the memory it takes once parsed, and its format number (meta.h). Return: 0;
 * -E2BIG: too large (budget.h); -ENOTSUP: this program cannot read that format; -ENOMEM.
 */
int tap_dat_check_meta(struct tap_reader *r, struct tap_err *err);

/*
 * Parse the text of tracefs's events/header_page. @page_bytes: set to the size of a sub-buffer; or
 * NULL. Return: 0; -EINVAL.
 */
int tap_dat_read_header_page(struct tap_reader *r, const char *text, uint32_t *page_bytes,
			     struct tap_err *err);

/*
 * Parse contents of sections, which are the same in both versions. Return: 0; -EINVAL; -E2BIG;
 * -ENOMEM.
 */
int tap_dat_read_headers(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err);
int tap_dat_read_formats(struct tap_reader *r, struct tap_bytes *b, const char *system, uint32_t nr,
			 struct tap_err *err);
/*
 * Add an event format, unless its id already has one. Return: 0; -E2BIG; -ENOMEM; -errno if @text
 * is not a format.
 */
int tap_dat_add_format(struct tap_reader *r, const char *system, const char *text, size_t len,
		       struct tap_abi abi, struct tap_err *err);
int tap_dat_read_systems(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err);
int tap_dat_read_cmdlines(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err);
/* Read headers, formats, kallsyms and printk formats, in the order of version 6 and perf. */
int tap_dat_read_front(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err);
/* Read printk formats or kallsyms into *@dst. */
int tap_dat_read_text(struct tap_reader *r, struct tap_bytes *b, char **dst, struct tap_err *err);
/* Read an option that both versions have, except BUFFER. Unknown options are ignored. */
int tap_dat_read_option(struct tap_reader *r, unsigned int id, struct tap_bytes opt,
			struct tap_err *err);
/* Replace *@dst with a copy of @text up to its first NUL or @len bytes, NUL-terminated. */
int tap_dat_set_text(char **dst, const void *text, size_t len, struct tap_err *err);

/* Add a buffer; @name and @clock are copied. Return: its index, or -errno. */
int tap_dat_add_buffer(struct tap_reader *r, const char *name, const char *clock,
		       uint32_t page_size, struct tap_err *err);
/* Return true if it is the buffer of marks (TAP_HEAD_MARKS), which belongs to no CPU. */
bool tap_dat_is_of_marks(const struct tap_reader *r, unsigned int buffer);
/* Add an empty stream. Return: 0 with the stream in *@out; -errno. */
int tap_dat_add_stream(struct tap_reader *r, unsigned int buffer, uint32_t cpu,
		       struct tap_stream **out, struct tap_err *err);
/* Set a stream's data to the whole sub-buffers in [from, from + len), which is in @m. */
void tap_dat_set_pages(struct tap_stream *s, const struct tap_mapping *m, const unsigned char *from,
		       size_t len);
/* Set a stream's data to the sub-buffers at [offset, offset + size) of the first mapping. */
void tap_dat_place_pages(const struct tap_reader *r, struct tap_stream *s, uint64_t offset,
			 uint64_t size);

/* Read the rest of a trace.dat after its version; @b is at that position. */
int tap_dat_read_v6(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err);
int tap_dat_read_v7(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err);
/* Read a trace.dat of either version from the first mapping. */
int tap_dat_read_file(struct tap_reader *r, struct tap_err *err);
int tap_dat_read_spool(struct tap_reader *r, int dir, struct tap_err *err);

#endif
