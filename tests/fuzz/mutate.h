/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Mutations of recordings that keep lengths, offsets and checksums consistent, for libFuzzer's
 * custom mutators. A scan (scan.c) finds the pieces of a recording and its numbers; then one piece
 * or number is changed, and the numbers that depend on it are adjusted (mutate.c). Bytes that
 * cannot be scanned are changed by libFuzzer.
 */
#ifndef TAP_TESTS_FUZZ_MUTATE_H
#define TAP_TESTS_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of pieces. A piece may be replaced by another one of the same kind. */
enum piece_kind {
	SECTION,
	OPTION,
	CPU_DATA,
	FORMAT,
	PAGE,
	RECORD,
	FILE_IN_FOLDER,
	FILE_NAME,
	OTHER
};

struct piece {
	enum piece_kind kind;
	size_t at, len;
	size_t unit; /* its length is a multiple of this */
};

enum number_meaning {
	VALUE,
	LENGTH, /* length of [from, to), in units */
	OFFSET, /* relative to .from */
};

/* A little-endian number. */
struct number {
	enum piece_kind kind; /* kind of the piece that contains it */
	enum number_meaning means;
	size_t at, size; /* 1, 2, 4 or 8 bytes; 0: it was removed */
	size_t from, to, unit;
};

#define MAX_PIECES 4096u
#define MAX_NUMBERS 16384u

struct scan {
	unsigned char *data;
	size_t len, max;
	struct piece pieces[MAX_PIECES];
	struct number numbers[MAX_NUMBERS];
	unsigned int nr_pieces, nr_numbers;
};

void scan_piece(struct scan *s, enum piece_kind kind, size_t at, size_t len, size_t unit);
void scan_value(struct scan *s, enum piece_kind kind, size_t at, size_t size);
void scan_length(struct scan *s, enum piece_kind kind, size_t at, size_t size, size_t from,
		 size_t to, size_t unit);
void scan_offset(struct scan *s, enum piece_kind kind, size_t at, size_t size, size_t from);
/* Return the number; 0 if it lies beyond the end. */
uint64_t scan_get(const struct scan *s, size_t at, size_t size);

/*
 * Scan [at, at + len): a trace.dat (including a head.dat) or a perf.data. Return: false if it is
 * neither.
 */
bool scan_recording(struct scan *s, size_t at, size_t len);
/* Scan the sub-buffers of a page file or of a trace.dat's CPU. */
void scan_pages(struct scan *s, size_t at, size_t len, size_t page_size);

/* Change one piece or number. */
void mutate(struct scan *s, unsigned int seed);
/* libFuzzer's own mutation of any bytes. Return: the new length. */
size_t LLVMFuzzerMutate(unsigned char *data, size_t size, size_t max_size);

/*
 * Recompute the checksums of a trace.dat version 7 or of a head.dat, except those of sub-buffer
 * blocks.
 */
void fix_checksums(unsigned char *data, size_t len);

#endif
