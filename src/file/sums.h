/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checksums of a recording (docs/recording-format.md). The front, which is all before the data, has
 * one; pages that are not compressed have one for each block of them. zstd frames have their own.
 *
 * What says so, a record of TAP_SUMS_RECORD bytes, stands twice: in the section behind
 * schedtap's description, with the blocks' checksums after it, and in a section at the end of the
 * file.
 */
#ifndef TAP_FILE_SUMS_H
#define TAP_FILE_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include <schedtap/err.h>

#include "base/buf.h"
#include "file/dat_bytes.h"

#define TAP_META_SECTION 0x7374u
#define TAP_SUMS_SECTION 0x7375u
#define TAP_SUMS_END_SECTION 0x7376u
#define TAP_SUMS_RECORD 72u
#define TAP_SUMS_BLOCK_BYTES (64u << 10) /* or one page, where that is larger */

struct tap_sums {
	uint32_t block_bytes;
	/* what the front's checksum is of: [0, front_end) but for this section */
	uint64_t front_end;
	uint64_t section_at; /* of this section's header */
	uint64_t nr; /* blocks */
	uint64_t front, blocks; /* checksums: of the front, of the blocks' checksums */
};

/* Bytes of a section that has the checksums of @nr blocks, with its header. */
uint64_t tap_sums_section_size(uint64_t nr);

/* How many blocks @size bytes of pages are. */
uint64_t tap_sums_count(uint64_t size, uint32_t page_size, uint32_t block_bytes);

/* The low half of its XXH64. */
uint32_t tap_sums_of(const void *block, size_t len);

/*
 * The record that the file @all has, of which the first section begins at @first: schedtap's
 * description, or the section of checksums. Return: false: there is none that is whole.
 */
bool tap_sums_find(const struct tap_bytes *all, uint64_t first, struct tap_sums *out);
/* Return: whether the front of @all is what was written. */
bool tap_sums_front_fits(const struct tap_bytes *all, const struct tap_sums *s);
/* Return: the blocks' checksums, u32 each; NULL: they are not what was written. */
const unsigned char *tap_sums_blocks(const struct tap_bytes *all, const struct tap_sums *s);

/* Return: whether @data is all of a head.dat that has checksums, and is what was written. */
bool tap_sums_head_fits(const void *data, size_t len);

/* Fills in the section in a front that is all of a file, and appends the one at the end. */
void tap_sums_seal(struct tap_buf *front, uint64_t section_at);

/*
 * Computes the checksums of the blocks in [@from, @from + @size) of the file. Return: 0; -errno.
 */
int tap_sums_compute(int fd, uint64_t from, uint64_t size, uint32_t page_size, uint32_t *out);
/*
 * Writes the section at s->section_at, with the blocks' checksums, and the one at @end.
 * s->front_end and .nr are the caller's, the rest is filled in. Return: 0; -errno.
 */
int tap_sums_write(int fd, struct tap_sums *s, const uint32_t *blocks, uint64_t end);

#endif
