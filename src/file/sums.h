/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checksums of a recording (docs/recording-format.md). The front (everything before the event data)
 * has one checksum. Sub-buffers that are not compressed have one per block. zstd frames have their
 * own.
 *
 * A record of TAP_SUMS_RECORD bytes describes them. It is stored twice: in the section after
 * schedtap's description, followed by the blocks' checksums, and in a section at the end of the
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
#define TAP_SUMS_BLOCK_BYTES (64u << 10) /* or one sub-buffer, if that is larger */

struct tap_sums {
	uint32_t block_bytes;
	/* the front's checksum covers [0, front_end) without this section */
	uint64_t front_end;
	uint64_t section_at; /* offset of this section's header */
	uint64_t nr; /* number of blocks */
	uint64_t front, blocks; /* XXH64 of the front, and of the blocks' checksums */
};

/* Return the size in bytes of a section with the checksums of @nr blocks, and its header. */
uint64_t tap_sums_section_size(uint64_t nr);

/* Return the number of blocks in @size bytes of sub-buffers. */
uint64_t tap_sums_count(uint64_t size, uint32_t page_size, uint32_t block_bytes);

/* Return a block's checksum: the low half of its XXH64. */
uint32_t tap_sums_of(const void *block, size_t len);

/*
 * Find the record in the file @all. @first: offset of its first section, which is schedtap's
 * description or the section of checksums. Return: false if there is no intact record.
 */
bool tap_sums_find(const struct tap_bytes *all, uint64_t first, struct tap_sums *out);
/* Return true if the front of @all matches its checksum. */
bool tap_sums_front_fits(const struct tap_bytes *all, const struct tap_sums *s);
/* Return the blocks' checksums, a u32 each; NULL if they are damaged. */
const unsigned char *tap_sums_blocks(const struct tap_bytes *all, const struct tap_sums *s);

/* Return true if @data is a complete head.dat that has checksums and matches them. */
bool tap_sums_head_fits(const void *data, size_t len);

/*
 * Fill in the section at @section_at in a front without event data, and append the section at the
 * end.
 */
void tap_sums_seal(struct tap_buf *front, uint64_t section_at);

/* Compute the checksums of the blocks in [@from, @from + @size) of the file. Return: 0; -errno. */
int tap_sums_compute(int fd, uint64_t from, uint64_t size, uint32_t page_size, uint32_t *out);
/*
 * Write the section at s->section_at with the blocks' checksums, and the section at @end. The
 * caller sets .section_at, .front_end and .nr; the other members are filled in. Return: 0; -errno.
 */
int tap_sums_write(int fd, struct tap_sums *s, const uint32_t *blocks, uint64_t end);

#endif
