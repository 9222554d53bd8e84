/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A filter in the form that a program runs: a list of steps. A recorder compiles it from a struct
 * tap_filter; the program checks it once. Recorder and program may be of different releases, so
 * these numbers must never change. A program refuses a list with a step that it does not know, and
 * records the event unfiltered: the recorder filters the drained events as well.
 */
#ifndef TAP_TRACEPOINT_STEPS_H
#define TAP_TRACEPOINT_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TAP_STEPS_MAX_BYTES 32768u
#define TAP_STEPS_MAX 1023u
#define TAP_STEPS_REGS 8u

/* Targets of a step besides another step. */
#define TAP_STEP_REJECT 0xfffeu
#define TAP_STEP_ACCEPT 0xffffu

enum tap_step_kind {
	TAP_STEP_FIELD, /* compares a number field with .value by .op */
	TAP_STEP_TEXT, /* a text equals the data */
	TAP_STEP_GLOB, /* a text matches the data, a struct tap_glob */
	/* a cpumask shares a CPU with the data, a bit mask of CPUs; with TAP_OP_EQ: equals it */
	TAP_STEP_MASK,
	TAP_STEP_SAMPLE, /* (a number field + 1) * .data, modulo 2^32, is less than .value */
	TAP_STEP_NEVER,
	/* the next kinds use registers */
	TAP_STEP_VALUES, /* compares registers .a and .b by .op */
	TAP_STEP_CPU, /* register .a is one of the CPUs in the data, a bit mask */
	TAP_STEP_SET, /* sets register .to to .value; this and the kinds below continue at .yes */
	TAP_STEP_LOAD, /* sets register .to to a number field */
	TAP_STEP_GETCPU, /* sets register .to to the CPU that the thread runs on */
	TAP_STEP_ARITH, /* sets .to to .a .op .b; signed, wraps around; x / 0 and x % 0 are 0 */
	TAP_STEP_KINDS,
};

/* Operators. The bits of a comparison are the cases in which it holds. */
enum tap_step_op {
	TAP_OP_LT = 1,
	TAP_OP_EQ = 2,
	TAP_OP_LE = TAP_OP_LT | TAP_OP_EQ,
	TAP_OP_GT = 4,
	TAP_OP_NE = TAP_OP_LT | TAP_OP_GT,
	TAP_OP_GE = TAP_OP_GT | TAP_OP_EQ,
	TAP_OP_AND = 8, /* not combined with others: some bits are set in both operands */
	/* the rest are arithmetic operators */
	TAP_OP_MUL = 16,
	TAP_OP_DIV,
	TAP_OP_MOD,
	TAP_OP_ADD,
	TAP_OP_SUB,
};

/* Location of a text or a cpumask. */
enum tap_step_place {
	TAP_PLACE_FIXED, /* .size bytes at .at; a text ends at its NUL */
	/* __data_loc: the word at .at is bytes << 16 | offset from the record's start */
	TAP_PLACE_LOC,
	TAP_PLACE_REL, /* __rel_loc: the same, with the offset from the word's end */
	TAP_PLACES,
};

struct tap_step {
	uint8_t kind, op;
	uint8_t is_signed; /* numbers are compared and loaded as signed */
	uint8_t place;
	uint8_t to, a, b; /* registers */
	uint8_t pad;
	uint16_t yes, no; /* next step; always a later one */
	uint16_t at, size; /* offset from the record's start and size of a field, in bytes */
	/* offset from the list's start, a multiple of 8, and size of the data, in bytes */
	uint32_t data, data_bytes;
	uint64_t value;
};

/* A list of steps, followed by their data. */
struct tap_steps {
	uint32_t bytes; /* total size: a multiple of 8 */
	uint16_t nr;
	uint16_t min_size; /* records with fewer bytes are accepted without running the steps */
	struct tap_step v[];
};

/*
 * Return true if a list of @bytes can safely run on any record. The list may hold anything; it is
 * aligned to 8 bytes.
 */
bool tap_steps_check(const struct tap_steps *list, uint32_t bytes);
/*
 * Return true if a filter accepts a record. @list: passed tap_steps_check(). @rec: @size bytes,
 * starting with the common fields.
 */
bool tap_steps_match(const struct tap_steps *list, const unsigned char *rec, uint32_t size);

/*
 * The most common filter: one comparison of a number field with a range. It is stored by value, so
 * it can be run without a read-side section: a writer first sets `what` to 0, then writes the
 * members. {0} is no filter.
 */
struct tap_quick_filter {
	/*
	 * offset in the record | size << 12 | inverted << 16 | turn << 17, a number that differs
	 * for each new filter
	 */
	uint32_t what;
	/*
	 * the range is low..low + span, in numbers of the field's size, which wrap around;
	 * inverted: values outside of it are accepted
	 */
	uint64_t low, span;
};

/*
 * Convert a list to a quick filter, without its turn. Return: false if it is not a single
 * comparison with a range.
 */
bool tap_steps_quick(const struct tap_steps *list, struct tap_quick_filter *q);

/*
 * Return: 1: the filter rejects the record; 0: it accepts; -1: no quick filter, it is being
 * changed, or the record is too short.
 */
static inline __attribute__((always_inline)) int
tap_quick_rejects(const struct tap_quick_filter *q, const unsigned char *rec, uint32_t size)
{
	uint32_t what = __atomic_load_n(&q->what, __ATOMIC_ACQUIRE), at = what & 4095,
		 bytes = what >> 12 & 15;
	uint64_t low = __atomic_load_n(&q->low, __ATOMIC_ACQUIRE),
		 span = __atomic_load_n(&q->span, __ATOMIC_ACQUIRE);
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;
	bool holds;

	if (!what || at + bytes > size || __atomic_load_n(&q->what, __ATOMIC_RELAXED) != what)
		return -1;
	if (bytes == sizeof(v32)) {
		memcpy(&v32, rec + at, sizeof(v32));
		holds = v32 - (uint32_t)low <= (uint32_t)span;
	} else if (bytes == sizeof(v64)) {
		memcpy(&v64, rec + at, sizeof(v64));
		holds = v64 - low <= span;
	} else if (bytes == sizeof(v16)) {
		memcpy(&v16, rec + at, sizeof(v16));
		holds = (uint16_t)(v16 - low) <= (uint16_t)span;
	} else {
		holds = (uint8_t)(rec[at] - low) <= (uint8_t)span;
	}
	return holds == (what >> 16 & 1);
}

#endif
