/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters of events: the kernel's language and a little more (schedtap-filter(5)), over the fields
 * of one kind. A filter becomes a list of terms, each of them one comparison that says which term
 * comes next if it holds, and which if not. So it is run without recursion, and as it stands other
 * back ends are made of it.
 */
#ifndef TAP_EXPR_FILTER_H
#define TAP_EXPR_FILTER_H

#include "base/buf.h"
#include "base/glob.h"
#include "base/text.h"
#include "event/expr/expr.h"
#include "event/expr/past.h"

#define TAP_FILTER_MAX_BYTES 65536u
#define TAP_FILTER_MAX_PARENS 1024u /* one in another */

enum tap_term_kind {
	/* a number field and a constant: .load, .at and .value say it all, .field is whose they are
	 */
	TAP_TERM_FIELD,
	TAP_TERM_NUMBERS, /* two expressions: nodes .a and .b */
	/* .op is OP_EQ; .field, or the running task's name where that is NULL; .text */
	TAP_TERM_TEXT,
	TAP_TERM_GLOB, /* the same, and .glob */
	TAP_TERM_CPU, /* OP_EQ or OP_AND: the number of node .a is one of .cpus */
	TAP_TERM_MASK, /* the same of a cpumask, .field: is .cpus, or has one of them */
	TAP_TERM_SAMPLE, /* tap_filter_hash() of the number at .at is below .value */
	TAP_TERM_MOVED, /* .pasts[.a] has no value yet, or one that differs by .value at least */
};

/* Where a term leads to besides another one; above every term's index. */
#define TAP_TERM_REJECT (UINT32_MAX - 1)
#define TAP_TERM_ACCEPT UINT32_MAX

struct tap_term {
	uint8_t kind,
		op; /* enum tap_term_kind; OP_EQ to OP_GE, OP_AND: some bits are set in both */
	uint8_t load;
	bool is_signed; /* how numbers are compared */
	uint32_t yes, no; /* always behind this term */
	uint32_t at;
	uint32_t a, b;
	uint32_t from, to; /* its place in the filter's text; 0 and 0: it is a part of one */
	uint64_t value;
	const struct tap_field *field;
	const char *text; /* owned, with a NUL */
	uint32_t text_len;
	struct tap_glob *glob; /* owned */
	struct tap_cpus cpus;
};

struct tap_filter {
	const struct tap_format *fmt;
	struct expr_prog prog; /* of nodes */
	struct tap_term *terms; /* the first is where it begins */
	uint32_t nr_terms, cap_terms;
	/* of fields, for changed() and moved(); with what was seen so far */
	struct tap_past *pasts;
	uint32_t nr_pasts, cap_pasts;
};

/* What is not in a record. */
struct tap_filter_about {
	int cpu; /* below 0: not known, which is no CPU's number */
	const char *comm; /* of the task that was running; NULL: not known, which fits nothing */
	uint32_t comm_len;
};

/*
 * @fmt: borrowed until the filter is freed.
 * Return: 0; -EINVAL with a sentence, the text and a caret below it; -ENOMEM.
 */
int tap_filter_new(const struct tap_format *fmt, const char *text, struct tap_filter **out,
		   struct tap_err *err);
void tap_filter_free(struct tap_filter *f);

/*
 * @rec: of @size bytes, fmt->min_size at least. A filter with .pasts is asked about each record
 * once, in their order. Return: 1 or 0; of one with .pasts alone -ENOMEM.
 */
int tap_filter_match(const struct tap_filter *f, const void *rec, uint32_t size,
		     const struct tap_filter_about *about);

/*
 * The same as the kernel's filter files take it, with numbers for units and names. @text: what the
 * filter was made of. Return: 0; -EOPNOTSUPP: the kernel cannot say it; -ENOMEM.
 */
int tap_filter_kernel_text(const struct tap_filter *f, const char *text, struct tap_buf *out);

/* For sample(): spreads neighbouring numbers evenly. */
#define TAP_FILTER_HASH 0x9e3779b1u
static inline uint32_t tap_filter_hash(uint32_t tid)
{
	return (tid + 1) * TAP_FILTER_HASH; /* + 1: the idle tasks', 0, is no special one */
}

/* Whether it asks for .comm. */
bool tap_filter_wants_comm(const struct tap_filter *f);

#endif
