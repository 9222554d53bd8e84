// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/expr/filter.h"

struct match {
	struct expr_run run;
	const struct tap_filter_about *about;
	const struct tap_filter *f;
};

static bool numbers_hold(enum expr_op op, bool is_signed, uint64_t a, uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_LT:
		return is_signed ? sa < sb : a < b;
	case OP_LE:
		return is_signed ? sa <= sb : a <= b;
	case OP_GT:
		return is_signed ? sa > sb : a > b;
	case OP_GE:
		return is_signed ? sa >= sb : a >= b;
	default: /* OP_AND */
		return a & b;
	}
}

/* Return the text to compare; NULL if it is unknown. */
static const char *text_of(const struct match *m, const struct tap_term *t, uint32_t *len)
{
	if (t->field)
		return tap_field_bytes(t->field, m->run.rec, m->run.size, len);
	*len = m->about->comm_len;
	return m->about->comm;
}

static bool text_holds(const struct match *m, const struct tap_term *t)
{
	uint32_t len;
	const char *s = text_of(m, t, &len);

	if (!s)
		return false;
	if (t->kind == TAP_TERM_GLOB)
		return tap_glob_matches(t->glob, s, len);
	return len == t->text_len && !memcmp(s, t->text, len);
}

/* Return true if the CPU is in the set or, for OP_EQ, the only one in it. */
static bool cpu_holds(const struct match *m, const struct tap_term *t)
{
	uint64_t cpu = tap_expr_eval(&m->run, t->a);
	bool is_in = cpu <= TAP_CPU_MAX && tap_cpus_has(&t->cpus, (unsigned int)cpu);
	unsigned int nr = 0;

	for (unsigned int i = 0; t->op == OP_EQ && i < t->cpus.nr_words; i++)
		nr += (unsigned int)__builtin_popcountll(t->cpus.bits[i]);
	return is_in && (t->op == OP_AND || nr == 1);
}

static bool mask_holds(const struct match *m, const struct tap_term *t)
{
	uint32_t len;
	const unsigned char *p =
		(const unsigned char *)tap_field_bytes(t->field, m->run.rec, m->run.size, &len);
	unsigned int word = m->run.prog->fmt->long_size, more;
	bool some = false;

	for (more = 0; more < len / word || more < (t->cpus.nr_words * 8 + word - 1) / word;
	     more++) {
		uint64_t has =
			more < len / word ? tap_load(p + more * word, word, t->field->swap) : 0;
		unsigned int bit = more * word * 8;
		uint64_t wants =
			bit / 64 < t->cpus.nr_words ? t->cpus.bits[bit / 64] >> (bit % 64) : 0;

		wants = tap_fit(wants, word, false);
		if (t->op == OP_EQ && has != wants)
			return false;
		some |= has & wants;
	}
	return t->op == OP_EQ || some;
}

static bool moved_holds(const struct match *m, const struct tap_term *t)
{
	const struct tap_past *p = &m->f->pasts[t->a];
	const uint64_t *last =
		tap_past_get(p, tap_past_key(p, m->run.rec, m->run.size, m->run.cpu));

	return !last || tap_past_moved(expr_load(t->load, m->run.rec + t->at), *last, t->is_signed,
				       t->value);
}

static bool term_holds(const struct match *m, const struct tap_term *t)
{
	switch (t->kind) {
	case TAP_TERM_FIELD:
		return numbers_hold(t->op, t->is_signed, expr_load(t->load, m->run.rec + t->at),
				    t->value);
	case TAP_TERM_NUMBERS:
		return numbers_hold(t->op, t->is_signed, tap_expr_eval(&m->run, t->a),
				    tap_expr_eval(&m->run, t->b));
	case TAP_TERM_CPU:
		return cpu_holds(m, t);
	case TAP_TERM_MASK:
		return mask_holds(m, t);
	case TAP_TERM_SAMPLE:
		return tap_filter_hash((uint32_t)expr_load(t->load, m->run.rec + t->at)) < t->value;
	case TAP_TERM_MOVED:
		return moved_holds(m, t);
	default:
		return text_holds(m, t);
	}
}

/* Store the values of a matching record for changed() and moved(). Return: 1; -ENOMEM. */
static int keep_values(const struct match *m, const struct tap_filter *f)
{
	for (uint32_t i = 0; i < f->nr_pasts; i++) {
		struct tap_past *p = &f->pasts[i];
		int ret = tap_past_set(p, tap_past_key(p, m->run.rec, m->run.size, m->run.cpu),
				       tap_field_u64(p->field, m->run.rec, m->run.size));

		if (ret)
			return ret;
	}
	return 1;
}

int tap_filter_match(const struct tap_filter *f, const void *rec, uint32_t size,
		     const struct tap_filter_about *about)
{
	const struct tap_term *t = f->terms;
	const struct match m = { { .prog = &f->prog, .rec = rec, .size = size, .cpu = about->cpu },
				 about,
				 f };
	uint32_t i = 0;

	if (f->nr_terms == 1 && t->kind == TAP_TERM_FIELD) /* the most frequent kind of filter */
		return numbers_hold(t->op, t->is_signed,
				    expr_load(t->load, (const unsigned char *)rec + t->at),
				    t->value) == (t->yes == TAP_TERM_ACCEPT);
	while (i < TAP_TERM_REJECT)
		i = term_holds(&m, &f->terms[i]) ? f->terms[i].yes : f->terms[i].no;
	if (i == TAP_TERM_REJECT)
		return 0;
	return f->nr_pasts ? keep_values(&m, f) : 1;
}

bool tap_filter_wants_comm(const struct tap_filter *f)
{
	for (uint32_t i = 0; i < f->nr_terms; i++)
		if ((f->terms[i].kind == TAP_TERM_TEXT || f->terms[i].kind == TAP_TERM_GLOB) &&
		    !f->terms[i].field)
			return true;
	return false;
}
