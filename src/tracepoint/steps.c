// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Checks and runs compiled filters. src/event/expr/filter_match.c defines what a filter means;
 * tests/fuzz/fuzz_steps.c compares the two.
 */
#include "tracepoint/steps.h"

#include <sched.h>
#include <string.h>

#include "base/glob.h"
#include "tracepoint/shared.h"

struct bytes {
	const unsigned char *at;
	uint32_t len;
};

/* ---- checking ---- */

static bool leads_forward(const struct tap_steps *list, uint32_t from, uint16_t to)
{
	return to >= TAP_STEP_REJECT || (to > from && to < list->nr);
}

static bool has_field(const struct tap_steps *list, const struct tap_step *s, uint32_t size)
{
	return size && size <= list->min_size && s->at <= list->min_size - size;
}

static bool has_number(const struct tap_steps *list, const struct tap_step *s)
{
	return (s->size == 1 || s->size == 2 || s->size == 4 || s->size == 8) &&
	       has_field(list, s, s->size);
}

static bool has_data(const struct tap_steps *list, const struct tap_step *s)
{
	return s->data % 8 == 0 && s->data >= sizeof(*list) + list->nr * sizeof(*s) &&
	       s->data <= list->bytes && s->data_bytes <= list->bytes - s->data;
}

static bool has_place(const struct tap_steps *list, const struct tap_step *s)
{
	return s->place < TAP_PLACES &&
	       has_field(list, s, s->place == TAP_PLACE_FIXED ? s->size : 4) && has_data(list, s);
}

static bool has_registers(const struct tap_step *s)
{
	return s->to < TAP_STEPS_REGS && s->a < TAP_STEPS_REGS && s->b < TAP_STEPS_REGS;
}

/* A comparison that is always or never true is rejected. */
static bool is_comparison(const struct tap_step *s)
{
	return s->op && (s->op < (TAP_OP_LT | TAP_OP_EQ | TAP_OP_GT) || s->op == TAP_OP_AND);
}

static bool check_step(const struct tap_steps *list, uint32_t i)
{
	const struct tap_step *s = &list->v[i];

	if (!leads_forward(list, i, s->yes) || !leads_forward(list, i, s->no) || !has_registers(s))
		return false;
	switch (s->kind) {
	case TAP_STEP_FIELD:
		return is_comparison(s) && has_number(list, s);
	case TAP_STEP_VALUES:
		return is_comparison(s);
	case TAP_STEP_TEXT:
		return has_place(list, s);
	case TAP_STEP_GLOB:
		return has_place(list, s) && s->data_bytes == sizeof(struct tap_glob);
	case TAP_STEP_CPU:
		return has_data(list, s) && s->data_bytes % 8 == 0;
	case TAP_STEP_MASK:
		return has_place(list, s) && s->data_bytes % 8 == 0 &&
		       (s->op == TAP_OP_EQ || s->op == TAP_OP_AND);
	case TAP_STEP_SAMPLE:
	case TAP_STEP_LOAD:
		return has_number(list, s);
	case TAP_STEP_ARITH:
		return s->op >= TAP_OP_MUL && s->op <= TAP_OP_SUB;
	default:
		return s->kind < TAP_STEP_KINDS;
	}
}

bool tap_steps_check(const struct tap_steps *list, uint32_t bytes)
{
	if (bytes < sizeof(*list) || bytes > TAP_STEPS_MAX_BYTES || list->bytes != bytes ||
	    bytes % 8 || !list->nr || list->nr > TAP_STEPS_MAX ||
	    list->nr * sizeof(*list->v) > bytes - sizeof(*list) || list->min_size > TAP_RECORD_MAX)
		return false;
	for (uint32_t i = 0; i < list->nr; i++)
		if (!check_step(list, i))
			return false;
	return true;
}

/* ---- running ---- */

static inline uint64_t load_number(const struct tap_step *s, const unsigned char *rec)
{
	uint8_t v8;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (s->size) {
	case 1:
		v8 = rec[s->at];
		return s->is_signed ? (uint64_t)(int8_t)v8 : v8;
	case 2:
		memcpy(&v16, rec + s->at, sizeof(v16));
		return s->is_signed ? (uint64_t)(int16_t)v16 : v16;
	case 4:
		memcpy(&v32, rec + s->at, sizeof(v32));
		return s->is_signed ? (uint64_t)(int32_t)v32 : v32;
	default:
		memcpy(&v64, rec + s->at, sizeof(v64));
		return v64;
	}
}

static inline bool number_holds(const struct tap_step *s, uint64_t a, uint64_t b)
{
	uint64_t sign = (uint64_t)(s->is_signed != 0) << 63;
	unsigned int which = ((a ^ sign) >= (b ^ sign)) + ((a ^ sign) > (b ^ sign));

	return s->op == TAP_OP_AND ? a & b : s->op >> which & 1;
}

/* Return the bytes of a text or cpumask, empty if they do not lie within the record. */
static inline struct bytes place_of(const struct tap_step *s, const unsigned char *rec,
				    uint32_t size)
{
	uint32_t word, at, len;

	if (s->place == TAP_PLACE_FIXED)
		return (struct bytes){ rec + s->at, s->size };
	memcpy(&word, rec + s->at, sizeof(word));
	at = (word & 0xffff) + (s->place == TAP_PLACE_REL ? s->at + 4u : 0);
	len = word >> 16;
	if (at > size || len > size - at)
		return (struct bytes){ rec, 0 };
	return (struct bytes){ rec + at, len };
}

static inline const void *data_of(const struct tap_steps *list, const struct tap_step *s)
{
	return (const unsigned char *)list + s->data;
}

static inline bool is_text(const struct tap_step *s, const unsigned char *text, struct bytes has)
{
	uint32_t len = s->data_bytes;

	/* most texts differ here, which saves a call */
	if (has.len < len || (len && *has.at != *text))
		return false;
	return !memcmp(has.at, text, len) && (has.len == len || !has.at[len]);
}

static bool has_cpu(const uint64_t *bits, uint32_t bytes, uint64_t cpu)
{
	return cpu / 64 < bytes / 8 && bits[cpu / 64] >> (cpu % 64) & 1;
}

/*
 * Compare a cpumask. Masks consist of the program's unsigned longs; a shorter one is extended with
 * zeros.
 */
static __attribute__((noinline)) bool mask_holds(const struct tap_step *s, const uint64_t *bits,
						 struct bytes has)
{
	const uint32_t word = sizeof(unsigned long);
	bool some = false;

	for (uint32_t at = 0; at + word <= has.len || at < s->data_bytes; at += word) {
		unsigned long in = 0, wanted = at < s->data_bytes
						       ? (unsigned long)(bits[at / 8] >> at % 8 * 8)
						       : 0;

		if (at + word <= has.len)
			memcpy(&in, has.at + at, word);
		if (s->op == TAP_OP_EQ && in != wanted)
			return false;
		some |= in & wanted;
	}
	return s->op == TAP_OP_EQ || some;
}

static uint64_t compute_arith(enum tap_step_op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case TAP_OP_MUL:
		return a * b;
	case TAP_OP_DIV:
		return !b ? 0 : b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
	case TAP_OP_MOD:
		return !b || b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
	case TAP_OP_ADD:
		return a + b;
	default:
		return a - b;
	}
}

/* The common kinds first, and by tests: jump tables are slower. */
static inline __attribute__((always_inline)) bool plain_holds(const struct tap_steps *list,
							      const struct tap_step *s,
							      const unsigned char *rec,
							      uint32_t size)
{
	struct bytes text;

	if (s->kind == TAP_STEP_FIELD)
		return number_holds(s, load_number(s, rec), s->value);
	if (s->kind == TAP_STEP_TEXT)
		return is_text(s, data_of(list, s), place_of(s, rec, size));
	if (s->kind == TAP_STEP_GLOB) {
		text = place_of(s, rec, size);
		return tap_glob_matches(data_of(list, s), (const char *)text.at, text.len);
	}
	if (s->kind == TAP_STEP_SAMPLE)
		return ((uint32_t)load_number(s, rec) + 1) * s->data < s->value;
	return s->kind == TAP_STEP_MASK && mask_holds(s, data_of(list, s), place_of(s, rec, size));
}

static uint64_t compute_value(const struct tap_step *s, const uint64_t *regs,
			      const unsigned char *rec)
{
	switch (s->kind) {
	case TAP_STEP_SET:
		return s->value;
	case TAP_STEP_LOAD:
		return load_number(s, rec);
	case TAP_STEP_GETCPU:
		return (uint64_t)sched_getcpu();
	default:
		return compute_arith(s->op, regs[s->a], regs[s->b]);
	}
}

/* Run the steps from @i on with registers. Not inline: most filters need no registers. */
static __attribute__((noinline)) bool match_from(const struct tap_steps *list, uint32_t i,
						 const unsigned char *rec, uint32_t size)
{
	uint64_t regs[TAP_STEPS_REGS] = { 0 };

	while (i < TAP_STEP_REJECT) {
		const struct tap_step *s = &list->v[i];
		bool yes = true;

		if (s->kind < TAP_STEP_VALUES)
			yes = plain_holds(list, s, rec, size);
		else if (s->kind == TAP_STEP_VALUES)
			yes = number_holds(s, regs[s->a], regs[s->b]);
		else if (s->kind == TAP_STEP_CPU)
			yes = has_cpu(data_of(list, s), s->data_bytes, regs[s->a]);
		else
			regs[s->to] = compute_value(s, regs, rec);
		i = yes ? s->yes : s->no;
	}
	return i == TAP_STEP_ACCEPT;
}

bool tap_steps_match(const struct tap_steps *list, const unsigned char *rec, uint32_t size)
{
	uint32_t i = 0;

	if (size < list->min_size)
		return true;
	while (i < TAP_STEP_REJECT) {
		const struct tap_step *s = &list->v[i];

		if (s->kind >= TAP_STEP_VALUES)
			return match_from(list, i, rec, size);
		i = plain_holds(list, s, rec, size) ? s->yes : s->no;
	}
	return i == TAP_STEP_ACCEPT;
}

/* ---- quick filters ---- */

/* The filter matches from @low to @high; both wrap around at the field's size. */
static bool use_range(const struct tap_step *s, struct tap_quick_filter *q, uint64_t low,
		      uint64_t high, bool inverted)
{
	inverted ^= s->yes == TAP_STEP_REJECT;
	q->what = s->at | (uint32_t)s->size << 12 | (uint32_t)inverted << 16;
	q->low = low;
	q->span = high - low;
	return true;
}

/*
 * Convert a comparison to a range. @min, @max: the field's limits. Return: false if it is always or
 * never true, or is not a range.
 */
static bool find_range(const struct tap_step *s, struct tap_quick_filter *q, uint64_t min,
		       uint64_t max)
{
	uint64_t v = s->value;

	switch (s->op) {
	case TAP_OP_EQ:
		return use_range(s, q, v, v, false);
	case TAP_OP_NE:
		return use_range(s, q, v, v, true);
	case TAP_OP_LT:
		return v != min && use_range(s, q, min, v - 1, false);
	case TAP_OP_LE:
		return use_range(s, q, min, v, false);
	case TAP_OP_GT:
		return v != max && use_range(s, q, v + 1, max, false);
	case TAP_OP_GE:
		return use_range(s, q, v, max, false);
	default:
		return false;
	}
}

bool tap_steps_quick(const struct tap_steps *list, struct tap_quick_filter *q)
{
	const struct tap_step *s = list->v;
	uint64_t top;

	if (list->nr != 1 || s->kind != TAP_STEP_FIELD || s->yes == s->no ||
	    list->min_size != s->at + s->size)
		return false;
	top = 1ull << (s->size * 8 - 1);
	if (s->is_signed)
		return (int64_t)s->value >= -(int64_t)(top - 1) - 1 &&
		       (int64_t)s->value <= (int64_t)(top - 1) && find_range(s, q, -top, top - 1);
	return s->value <= top - 1 + top && find_range(s, q, 0, top - 1 + top);
}
