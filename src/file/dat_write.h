/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Write trace.dat version 7 (trace-cmd.dat.v7(5), docs/recording-format.md). A file consists of a
 * front (kernel, formats, description), options that say where the data is, and each buffer's data.
 * The head.dat of a spool folder is a front alone.
 *
 * Numbers are in this machine's byte order, as are the sub-buffers.
 */
#ifndef TAP_FILE_DAT_WRITE_H
#define TAP_FILE_DAT_WRITE_H

#include <stdint.h>

#include "base/buf.h"
#include "file/head.h"

#define TAP_DAT_FLYRECORD 3u
#define TAP_DAT_COMPRESSED 1u /* section flag */
#define TAP_DAT_SECTION_HEADER 16u
#define TAP_DAT_NR_SECTIONS 8

/* A front in parts, so it can be written again with compression or another description. */
struct tap_dat_front {
	struct tap_buf sections[TAP_DAT_NR_SECTIONS]; /* contents; empty if absent */
	struct tap_buf options; /* encoded options that do not refer to a section */
	uint32_t page_size, nr_cpus;
	uint8_t long_size; /* sizeof(long) of the recorded kernel */
};

/* Return: 0; -EFBIG or -ENOMEM. */
int tap_dat_front_make(const struct tap_head *head, struct tap_dat_front *front);
/*
 * Parse head.dat, which may be damaged or hostile. Return: 0; -EINVAL with the reason; -ENOTSUP if
 * it is from a machine of the other byte order; -ENOMEM.
 */
int tap_dat_front_parse(const void *data, size_t len, struct tap_dat_front *front,
			struct tap_err *err);
void tap_dat_front_release(struct tap_dat_front *front);
/* Replace the description, and the "pid comm" lines. */
void tap_dat_front_set_meta(struct tap_dat_front *front, const char *json, size_t len);
void tap_dat_front_set_cmdlines(struct tap_dat_front *front, const char *cmdlines);

/*
 * Write the front to the empty @out.
 * @level: zstd level; 0: plain.
 * @nr_sums: number of blocks for whose checksums space is reserved.
 * @more_at: set to the position of the u64 that must become the offset of the data's options.
 * @sums_at: set to the position of the section of checksums (sums.h).
 */
void tap_dat_front_write(const struct tap_dat_front *front, int level, uint64_t nr_sums,
			 struct tap_buf *out, size_t *more_at, size_t *sums_at);

/*
 * Return a zstd context that writes checksums, for @level, to be freed by ZSTD_freeCCtx(); NULL:
 * out of memory.
 */
struct ZSTD_CCtx_s *tap_zstd_new(int level);

struct tap_dat_cpu {
	uint32_t cpu;
	uint64_t offset, size; /* bytes in the file */
};

struct tap_dat_buffer {
	const char *name, *clock;
	uint32_t page_size;
	uint64_t offset; /* offset of the buffer's section */
	struct tap_dat_cpu *cpus;
	unsigned int nr_cpus;
};

/* Add the options section that describes the data. */
void tap_dat_buffers_write(const struct tap_dat_buffer *buffers, unsigned int nr,
			   struct tap_buf *out);
void tap_dat_section_header(uint16_t id, uint16_t flags, uint64_t size, struct tap_buf *out);

#endif
