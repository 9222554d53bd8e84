/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The inside of a reader: what the parsers of the different containers fill in. */
#ifndef TAP_FILE_DAT_FILE_H
#define TAP_FILE_DAT_FILE_H

#include <schedtap/reader.h>

#include "base/map.h"
#include "event/format.h"
#include "file/budget.h"
#include "file/dat_stream.h"
#include "file/merge.h"

#define TAP_DAT_MAX_BUFFERS 65536u
#define TAP_DAT_MAX_STREAMS (1u << 18)
#define TAP_DAT_MAX_PAGE_BYTES (64u << 20)
#define TAP_DAT_MAX_TEXT_BYTES (64u << 20) /* of kallsyms: a big kernel has 15 MB */

/* The options that both versions have. */
enum {
	TAP_OPTION_DONE = 0,
	TAP_OPTION_DATE = 1,
	TAP_OPTION_BUFFER = 3,
	TAP_OPTION_TRACECLOCK = 4,
	TAP_OPTION_UNAME = 5,
	TAP_OPTION_CPUCOUNT = 8,
	TAP_OPTION_VERSION = 9,
	TAP_OPTION_GUEST = 13,
	TAP_OPTION_TSC2NSEC = 14,
};

#define TAP_NR_BATCH 128u /* events that are handed out at once */

struct tap_mapping {
	const unsigned char *data;
	size_t len;
	int fd; /* -1 if it is of no more use */
	bool has_holes; /* fewer blocks than bytes */
};

struct tap_reader {
	struct tap_reader_info info;
	/* owned: of the other files that were joined to this one (join.h) */
	struct tap_reader **others;
	unsigned int nr_others;
	const char *path; /* only while opening */
	struct tap_budget budget;
	struct tap_mapping *maps; /* [0] is the trace.dat or head.dat */
	unsigned int nr_maps, cap_maps;
	struct tap_buffer_info *buffers;
	unsigned int cap_buffers;
	char *uname, *tool, *meta, *clock, *compression, *printk, *kallsyms, *notes;
	uint32_t page_size;
	uint32_t data_offset; /* of a page, from the header_page text */
	uint8_t commit_size;
	struct tap_format **formats;
	unsigned int nr_formats, cap_formats;
	struct tap_map comms; /* tid -> text in cmdlines */
	char *cmdlines;
	struct {
		uint32_t mult, shift; /* mult 0: stamps are nanoseconds */
	} tsc;
	struct tap_decoder decoder;
	struct tap_perf *perf; /* of a perf.data: it has what follows in its own way; else NULL */
	struct tap_stream *streams; /* sorted: the lower CPU, then the lower buffer first */
	unsigned int nr_streams, cap_streams;
	struct tap_merge merge;
	struct tap_stream *current; /* whose turn it is; NULL: before the first */
	uint64_t until; /* as long as its items are not later, no other stream's turn comes */
	uint64_t last; /* raw time of the batch's last event */
	bool unmerged;
	struct tap_event *batch[TAP_NR_BATCH]; /* made ready, in order; [next, nr_batch) are left */
	unsigned int next, nr_batch;
};

/* Frees all that the parsers filled in, and @r; not .perf. NULL is fine. */
void tap_dat_free(struct tap_reader *r);

/* "'FILE' is damaged: ..." Return: -EINVAL. */
int tap_dat_bad(const struct tap_reader *r, struct tap_err *err, const char *what);
int tap_dat_nomem(struct tap_err *err);
/* Adds a sentence to the notes, unless there are many. Return: 0; -ENOMEM. */
int tap_dat_note(struct tap_reader *r, struct tap_err *err, const char *fmt, ...) TAP_PRINTF(3, 4);

/* All of the first mapping, from @offset on; empty and bad if that is outside. */
struct tap_bytes tap_dat_bytes(const struct tap_reader *r, uint64_t offset);

/* Maps a file in its present size. Return: 0; -errno; -EINVAL if it is no regular file. */
int tap_dat_add_map(struct tap_reader *r, int fd, const struct tap_mapping **out);
void tap_dat_drop_maps(struct tap_reader *r); /* all of them */

/*
 * What every trace.dat begins with: magic, version, byte order, and up to the size of pages.
 * Return: the version, or NULL without the magic; @b->bad if the rest is impossible.
 */
const char *tap_dat_read_begin(struct tap_reader *r, struct tap_bytes *b);

/*
 * Check the description: its size when parsed, and the format that it names (meta.h).
 * Return: 0; -E2BIG: it is too large (budget.h); -ENOTSUP: this program does not read the format;
 * -ENOMEM.
 */
int tap_dat_check_meta(struct tap_reader *r, struct tap_err *err);

/* Contents of sections, the same in both versions. Return: 0; -EINVAL; -ENOMEM. */
int tap_dat_read_headers(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err);
int tap_dat_read_formats(struct tap_reader *r, struct tap_bytes *b, const char *system, uint32_t nr,
			 struct tap_err *err);
/* Adds an event's format, unless its id has one. Return: 0; -ENOMEM; -errno if the text is none. */
int tap_dat_add_format(struct tap_reader *r, const char *system, const char *text, size_t len,
		       struct tap_abi abi, struct tap_err *err);
int tap_dat_read_systems(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err);
int tap_dat_read_cmdlines(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err);
/* Headers, formats, kallsyms and printk formats, as version 6 and perf have them in a row. */
int tap_dat_read_front(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err);
/* printk formats or kallsyms, into *@dst. */
int tap_dat_read_text(struct tap_reader *r, struct tap_bytes *b, char **dst, struct tap_err *err);
/* An option that both versions have and that is no BUFFER; others are passed over. */
int tap_dat_read_option(struct tap_reader *r, unsigned int id, struct tap_bytes opt,
			struct tap_err *err);
/* Replaces *@dst by a NUL-terminated copy that ends at the first NUL. */
int tap_dat_set_text(char **dst, const void *text, size_t len, struct tap_err *err);

/* @name and @clock are copied. Return: its index, or -errno. */
int tap_dat_add_buffer(struct tap_reader *r, const char *name, const char *clock,
		       uint32_t page_size, struct tap_err *err);
/* Return: whether the buffer is the one of marks, whose only page file is no CPU's. */
bool tap_dat_is_of_marks(const struct tap_reader *r, unsigned int buffer);
/* Return: 0 with an empty stream in *@out; -errno. */
int tap_dat_add_stream(struct tap_reader *r, unsigned int buffer, uint32_t cpu,
		       struct tap_stream **out, struct tap_err *err);
/* Gives a stream the whole pages in [from, from + len), which lie in @m. */
void tap_dat_set_pages(struct tap_stream *s, const struct tap_mapping *m, const unsigned char *from,
		       size_t len);
/* Gives a stream the pages in [offset, offset + size) of the first mapping. */
void tap_dat_place_pages(const struct tap_reader *r, struct tap_stream *s, uint64_t offset,
			 uint64_t size);

/* The containers: @b stands behind the version. */
int tap_dat_read_v6(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err);
int tap_dat_read_v7(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err);
/* Reads a trace.dat of either version from the first mapping. */
int tap_dat_read_file(struct tap_reader *r, struct tap_err *err);
int tap_dat_read_spool(struct tap_reader *r, int dir, struct tap_err *err);

#endif
