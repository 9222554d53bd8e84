/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writing trace.dat version 7 (trace-cmd.dat.v7(5), docs/recording-format.md). A file is a
 * front (kernel, formats, meta), then the options that say where the data lies, then the data
 * of each buffer. head.dat of a spool folder is a front and nothing else.
 *
 * Numbers are in this machine's byte order, as the pages are.
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

/* A front in parts, so that it can be written anew: compressed, with another meta. */
struct tap_dat_front {
	struct tap_buf sections[TAP_DAT_NR_SECTIONS]; /* contents; absent ones have len 0 */
	struct tap_buf options; /* those that refer to no section, encoded */
	uint32_t page_size, nr_cpus;
	uint8_t long_size; /* of the kernel that recorded */
};

/* Return: 0; -EFBIG or -ENOMEM. */
int tap_dat_front_make(const struct tap_head *head, struct tap_dat_front *front);
/*
 * Takes head.dat apart, which may be damaged or hostile.
 * Return: 0; -EINVAL with what is wrong; -ENOTSUP: from a machine of the other byte order.
 */
int tap_dat_front_parse(const void *data, size_t len, struct tap_dat_front *front,
			struct tap_err *err);
void tap_dat_front_release(struct tap_dat_front *front);
/* Replace the meta, and the "pid comm" lines. */
void tap_dat_front_set_meta(struct tap_dat_front *front, const char *json, size_t len);
void tap_dat_front_set_cmdlines(struct tap_dat_front *front, const char *cmdlines);

/*
 * Writes the front to the empty @out. @level: of zstd, or 0 for a plain file. @more_at is set
 * to where in it the u64 stands that is to become the offset of the options about the data;
 * @sums_at to where the section of checksums (sums.h) begins, which has space for those of @nr_sums
 * blocks.
 */
void tap_dat_front_write(const struct tap_dat_front *front, int level, uint64_t nr_sums,
			 struct tap_buf *out, size_t *more_at, size_t *sums_at);

/* Return: what makes zstd frames, with checksums, at this level: ZSTD_freeCCtx(); NULL: no memory.
 */
struct ZSTD_CCtx_s *tap_zstd_new(int level);

struct tap_dat_cpu {
	uint32_t cpu;
	uint64_t offset, size; /* in the file */
};

struct tap_dat_buffer {
	const char *name, *clock;
	uint32_t page_size;
	uint64_t offset; /* of its section */
	struct tap_dat_cpu *cpus;
	unsigned int nr_cpus;
};

/* Adds the options section that describes the data. */
void tap_dat_buffers_write(const struct tap_dat_buffer *buffers, unsigned int nr,
			   struct tap_buf *out);
void tap_dat_section_header(uint16_t id, uint16_t flags, uint64_t size, struct tap_buf *out);

#endif
