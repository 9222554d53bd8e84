/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A filter as a program runs it: a list of steps, which a recorder makes of a struct tap_filter and
 * the program checks once. Recorder and program may be of two releases: numbers stay what they are.
 * What one does not know it refuses, and the event is recorded whole: the recorder filters what it
 * drains as well.
 */
#ifndef TAP_TRACEPOINT_STEPS_H
#define TAP_TRACEPOINT_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TAP_STEPS_MAX_BYTES 32768u
#define TAP_STEPS_MAX 1023u
#define TAP_STEPS_REGS 8u

/* Where a step leads to besides another one. */
#define TAP_STEP_REJECT 0xfffeu
#define TAP_STEP_ACCEPT 0xffffu

enum tap_step_kind {
	TAP_STEP_FIELD, /* .op compares a number field with .value */
	TAP_STEP_TEXT, /* a text is the data */
	TAP_STEP_GLOB, /* it matches the data, a struct tap_glob */
	/* a cpumask has one of the CPUs whose bits the data are; with TAP_OP_EQ: is the same */
	TAP_STEP_MASK,
	TAP_STEP_SAMPLE, /* (a number field + 1) * .data, of 32 bits, is below .value */
	TAP_STEP_NEVER,
	/* with registers */
	TAP_STEP_VALUES, /* .op compares registers .a and .b */
	TAP_STEP_CPU, /* register .a is one of the CPUs whose bits the data are */
	TAP_STEP_SET, /* register .to is .value; of this and of those below .yes counts alone */
	TAP_STEP_LOAD, /* .. a number field */
	TAP_STEP_GETCPU, /* .. the CPU where the thread runs */
	TAP_STEP_ARITH, /* .. .op of .a and .b, as signed numbers that wrap around; x / 0 is 0 */
	TAP_STEP_KINDS,
};

/* Of a comparison: in which cases it holds. */
enum tap_step_op {
	TAP_OP_LT = 1,
	TAP_OP_EQ = 2,
	TAP_OP_LE = TAP_OP_LT | TAP_OP_EQ,
	TAP_OP_GT = 4,
	TAP_OP_NE = TAP_OP_LT | TAP_OP_GT,
	TAP_OP_GE = TAP_OP_GT | TAP_OP_EQ,
	TAP_OP_AND = 8, /* alone: some bits are set in both */
	/* not of comparisons */
	TAP_OP_MUL = 16,
	TAP_OP_DIV,
	TAP_OP_MOD,
	TAP_OP_ADD,
	TAP_OP_SUB,
};

/* Where a text or a cpumask is. */
enum tap_step_place {
	TAP_PLACE_FIXED, /* .size bytes at .at; of a text up to its NUL */
	TAP_PLACE_LOC, /* __data_loc: at .at a word, bytes << 16 | from the record's start */
	TAP_PLACE_REL, /* __rel_loc: from the word's end */
	TAP_PLACES,
};

struct tap_step {
	uint8_t kind, op;
	uint8_t is_signed; /* how numbers are compared, and loaded */
	uint8_t place;
	uint8_t to, a, b; /* registers */
	uint8_t pad;
	uint16_t yes, no; /* always behind this step */
	uint16_t at, size; /* of a field: bytes, from the record's start */
	uint32_t data, data_bytes; /* from the list's start; at a multiple of 8 */
	uint64_t value;
};

/* Steps, then their data. */
struct tap_steps {
	uint32_t bytes; /* of all of it: a multiple of 8 */
	uint16_t nr;
	uint16_t min_size; /* bytes that a record must have; a shorter one is accepted */
	struct tap_step v[];
};

/* Whether a list of @bytes, at a multiple of 8, can be run on any record: it may hold anything. */
bool tap_steps_check(const struct tap_steps *list, uint32_t bytes);
/* @list: checked. @rec: of @size bytes, from its common fields on. */
bool tap_steps_match(const struct tap_steps *list, const unsigned char *rec, uint32_t size);

/*
 * The usual filter is one comparison of a number. By value, it can be asked without a section:
 * whoever changes it makes it none first. {0} is none.
 */
struct tap_quick_filter {
	uint32_t what; /* place in the record | size << 12 | inverted << 16 | turn << 17 */
	uint64_t low, span; /* it holds from low to low + span, counted in numbers of that size */
};

/* Return: whether the list is one of those; @q: without its turn. */
bool tap_steps_quick(const struct tap_steps *list, struct tap_quick_filter *q);

/* Return: 1: it does not hold; 0: it does; -1: there is none, or none that fits this record. */
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
