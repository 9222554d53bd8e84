// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>

#include "event/expr/filter.h"
#include "event/expr/kernel_glob.h"

static const char *const signs[] = {
	[OP_EQ] = "==", [OP_NE] = "!=", [OP_LT] = "<",	[OP_LE] = "<=",
	[OP_GT] = ">",	[OP_GE] = ">=", [OP_AND] = "&",
};

static void put_number(struct tap_buf *out, const char *name, uint8_t op, bool is_signed,
		       uint64_t v)
{
	tap_buf_printf(out, is_signed ? "%s %s %" PRId64 : "%s %s %" PRIu64, name, signs[op], v);
}

/*
 * Return true if the kernel accepts the term's text: the name comes first, without parentheses. For
 * a field with an invalid CPU number, the kernel even rejects != CPUS{}, so of the comparisons of a
 * field with CPUS{} only & can be used.
 */
static bool is_plain(const struct tap_filter *f, const struct tap_term *t, const char *text)
{
	uint8_t op = t->kind == TAP_TERM_CPU ? f->prog.nodes[t->a].op : OP_LOAD;

	return (op == OP_CPU || (op == OP_LOAD && (t->kind != TAP_TERM_CPU || t->op == OP_AND))) &&
	       text[t->from] != '(';
}

static int put_term(const struct tap_filter *f, const struct tap_term *t, const char *text,
		    struct tap_buf *out)
{
	const struct expr_node *nodes = f->prog.nodes;
	const char *at = text + t->from;

	switch (t->kind) {
	case TAP_TERM_FIELD:
		put_number(out, t->field->name, t->op, t->field->is_signed,
			   t->op == OP_AND && !t->field->is_signed
				   ? tap_fit(t->value, t->field->size, false)
				   : t->value);
		return 0;
	case TAP_TERM_NUMBERS:
		/* the kernel accepts "CPU & 1", but it never matches */
		if (nodes[t->a].op != OP_CPU || nodes[t->b].op != OP_NUM || t->op == OP_AND)
			return -EOPNOTSUPP;
		put_number(out, "CPU", t->op, true, nodes[t->b].num);
		return 0;
	case TAP_TERM_GLOB:
		/* the first quote in the term starts the glob */
		at = strpbrk(text + t->from, "\"'") + 1;
		break;
	case TAP_TERM_TEXT:
	case TAP_TERM_CPU:
	case TAP_TERM_MASK:
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (!is_plain(f, t, text))
		return -EOPNOTSUPP;
	tap_buf_add(out, text + t->from, (size_t)(at - text) - t->from);
	tap_buf_puts(out, t->kind == TAP_TERM_GLOB ? tap_kernel_glob_prefix(at) : "");
	tap_buf_add(out, at, t->to - (size_t)(at - text));
	return 0;
}

/*
 * The kernel's language has the same "&&", "||", "!" and parentheses, so text between terms is
 * copied.
 */
int tap_filter_kernel_text(const struct tap_filter *f, const char *text, struct tap_buf *out)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < f->nr_terms; i++) {
		const struct tap_term *t = &f->terms[i];
		int ret;

		if (!t->to)
			return -EOPNOTSUPP;
		tap_buf_add(out, text + at, t->from - at);
		ret = put_term(f, t, text, out);
		if (ret)
			return ret;
		at = t->to;
	}
	tap_buf_puts(out, text + at);
	return out->err;
}
