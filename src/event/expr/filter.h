/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Event filters: the kernel's language with some additions (schedtap-filter(5)), over the fields of
 * one kind of event. A filter becomes a list of terms. Each term is a comparison with the index of
 * the next term if it is true, and of another if it is false. So a filter runs without recursion,
 * and other back ends can be generated from the terms.
 */
#ifndef TAP_EXPR_FILTER_H
#define TAP_EXPR_FILTER_H

#include "base/buf.h"
#include "base/glob.h"
#include "base/text.h"
#include "event/expr/expr.h"
#include "event/expr/past.h"

#define TAP_FILTER_MAX_BYTES 65536u
#define TAP_FILTER_MAX_PARENS 1024u /* maximum nesting depth */

enum tap_term_kind {
	/*
	 * a number field and a constant: .load, .at and .value contain all that is needed, .field
	 * is the field
	 */
	TAP_TERM_FIELD,
	TAP_TERM_NUMBERS, /* two expressions: nodes .a and .b */
	/* equality of .text and .field; if that is NULL, of .text and the running task's name */
	TAP_TERM_TEXT,
	TAP_TERM_GLOB, /* .glob matches .field or, if that is NULL, the running task's name */
	/* OP_EQ: .cpus contains only the number of node .a; OP_AND: .cpus contains it */
	TAP_TERM_CPU,
	TAP_TERM_MASK, /* a cpumask in .field. OP_EQ: equals .cpus; OP_AND: intersects .cpus */
	TAP_TERM_SAMPLE, /* tap_filter_hash() of the number at .at is below .value */
	TAP_TERM_MOVED, /* .pasts[.a] has no value yet, or one that differs by at least .value */
};

/* Targets that end a filter; greater than the index of any term. */
#define TAP_TERM_REJECT (UINT32_MAX - 1)
#define TAP_TERM_ACCEPT UINT32_MAX

struct tap_term {
	/* enum tap_term_kind; OP_EQ to OP_GE, or OP_AND: both have a common bit */
	uint8_t kind, op;
	uint8_t load;
	bool is_signed; /* numbers are compared as signed numbers */
	uint32_t yes, no; /* next term if true, if false; always after this one */
	uint32_t at;
	uint32_t a, b;
	/* its position in the filter's text; both 0 if the kernel has no such term */
	uint32_t from, to;
	uint64_t value;
	const struct tap_field *field;
	const char *text; /* owned, NUL-terminated */
	uint32_t text_len;
	struct tap_glob *glob; /* owned */
	struct tap_cpus cpus;
};

struct tap_filter {
	const struct tap_format *fmt;
	struct expr_prog prog; /* the expressions of terms */
	struct tap_term *terms; /* evaluation starts with the first */
	uint32_t nr_terms, cap_terms;
	/* previous values of the fields in changed() and moved() */
	struct tap_past *pasts;
	uint32_t nr_pasts, cap_pasts;
};

/* Properties of an event that its record does not contain. */
struct tap_filter_about {
	int cpu; /* negative: unknown, equal to no CPU */
	const char *comm; /* the running task's name; NULL: unknown, matches nothing */
	uint32_t comm_len;
};

/*
 * Compile a filter. @fmt: borrowed until the filter is freed.
 * Return: 0; -EINVAL with a sentence, the text and a caret below it; -ENOMEM.
 */
int tap_filter_new(const struct tap_format *fmt, const char *text, struct tap_filter **out,
		   struct tap_err *err);
void tap_filter_free(struct tap_filter *f);

/*
 * Match a record. @rec: @size bytes, at least fmt->min_size. A filter with .pasts must be called
 * once for each record, in order. Return: 1 if it matches, 0 if not; -ENOMEM only for a filter with
 * .pasts.
 */
int tap_filter_match(const struct tap_filter *f, const void *rec, uint32_t size,
		     const struct tap_filter_about *about);

/*
 * Convert the filter for the kernel's filter files, with numbers instead of units and names. @text:
 * the text that the filter was compiled from. Return: 0; -EOPNOTSUPP if the kernel's language
 * cannot express it; -ENOMEM.
 */
int tap_filter_kernel_text(const struct tap_filter *f, const char *text, struct tap_buf *out);

/* The hash of sample(): it spreads consecutive numbers evenly. */
#define TAP_FILTER_HASH 0x9e3779b1u
static inline uint32_t tap_filter_hash(uint32_t tid)
{
	return (tid + 1) * TAP_FILTER_HASH; /* + 1, as 0 (the idle tasks) would always hash to 0 */
}

/* Return true if the filter uses .comm. */
bool tap_filter_wants_comm(const struct tap_filter *f);

#endif
