// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/user/filters.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "tracepoint/shared.h"

struct maker {
	const struct tap_filter *filter;
	struct tap_step steps[TAP_STEPS_MAX];
	uint32_t nr;
	struct tap_buf data;
	uint16_t first[TAP_STEPS_MAX]; /* each term's first step */
	uint32_t min_size;
	bool reads_tid;
	const char *why; /* not NULL: the filter cannot be compiled, for this reason */
};

static void note_failure(struct maker *m, const char *why)
{
	m->why = m->why ? m->why : why;
}

static void add_step(struct maker *m, struct tap_step s)
{
	if (m->nr == TAP_STEPS_MAX) {
		note_failure(m, "the filter is too long");
		return;
	}
	m->steps[m->nr++] = s;
}

/* Add a step that always continues with the next one. */
static void add_register(struct maker *m, struct tap_step s)
{
	s.yes = s.no = (uint16_t)(m->nr + 1);
	add_step(m, s);
}

static void add_data(struct maker *m, struct tap_step *s, const void *data, size_t bytes)
{
	s->data = (uint32_t)m->data.len; /* relative to the start of the data until settle_step() */
	s->data_bytes = (uint32_t)bytes;
	tap_buf_add(&m->data, data, bytes);
	tap_buf_add(&m->data, "\0\0\0\0\0\0\0", -bytes & 7);
}

static void note_size(struct maker *m, uint32_t at, uint32_t size)
{
	if (at + size > m->min_size)
		m->min_size = at + size;
}

/* ---- numbers ---- */

static struct tap_step set_load(struct maker *m, struct tap_step s, uint8_t how, uint32_t at)
{
	s.size = how & LOAD_SIZE;
	s.at = (uint16_t)at;
	s.is_signed = !!(how & LOAD_SIGNED);
	note_size(m, at, s.size);
	if (how & (LOAD_SWAP | LOAD_FLOAT))
		note_failure(m, "the filter reads a byte-swapped or floating-point number");
	if (at < sizeof(uint16_t))
		note_failure(m, "the filter reads common_type, which differs between programs");
	m->reads_tid |= at >= 4 && at < 8;
	return s;
}

static bool find_arith(enum expr_op op, uint8_t *found)
{
	static const uint8_t ops[][2] = {
		{ OP_MUL, TAP_OP_MUL }, { OP_DIV, TAP_OP_DIV }, { OP_MOD, TAP_OP_MOD },
		{ OP_ADD, TAP_OP_ADD }, { OP_SUB, TAP_OP_SUB },
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		*found = ops[i][1];
		if (ops[i][0] == op)
			return true;
	}
	return false;
}

/*
 * Add steps that compute an expression's value in register @to; registers above @to are
 * overwritten.
 */
static void add_computation(struct maker *m, uint32_t node, unsigned int to)
{
	const struct expr_node *n = &m->filter->prog.nodes[node];
	struct tap_step s = { .to = (uint8_t)to, .a = (uint8_t)to, .b = (uint8_t)(to + 1) };

	if (to == TAP_STEPS_REGS - 1) {
		note_failure(m, "the filter is nested too deeply");
	} else if (n->op == OP_NUM) {
		s.kind = TAP_STEP_SET;
		s.value = n->num;
	} else if (n->op == OP_LOAD && n->num == UINT64_MAX) {
		s.kind = TAP_STEP_LOAD;
		s = set_load(m, s, n->load, n->at);
	} else if (n->op == OP_CPU) {
		s.kind = TAP_STEP_GETCPU;
	} else if (find_arith(n->op, &s.op) && n->arith.size == 8 && n->arith.is_signed) {
		s.kind = TAP_STEP_ARITH;
		add_computation(m, n->a, to);
		add_computation(m, n->b, to + 1);
	} else {
		note_failure(m, "the filter has an operation that programs cannot compute");
	}
	if (!m->why)
		add_register(m, s);
}

/* ---- terms ---- */

static uint8_t find_comparison(struct maker *m, uint8_t op)
{
	switch (op) {
	case OP_EQ:
		return TAP_OP_EQ;
	case OP_NE:
		return TAP_OP_NE;
	case OP_LT:
		return TAP_OP_LT;
	case OP_LE:
		return TAP_OP_LE;
	case OP_GT:
		return TAP_OP_GT;
	case OP_GE:
		return TAP_OP_GE;
	case OP_AND:
		return TAP_OP_AND;
	default:
		note_failure(m, "the filter has a comparison that programs cannot evaluate");
		return 0;
	}
}

static void set_place(struct maker *m, struct tap_step *s, const struct tap_field *f)
{
	bool fixed = f->kind == TAP_FIELD_CHARS;

	s->place = fixed ? TAP_PLACE_FIXED : f->is_rel ? TAP_PLACE_REL : TAP_PLACE_LOC;
	s->at = (uint16_t)f->offset;
	s->size = (uint16_t)f->size;
	note_size(m, f->offset, f->size);
	if (!f->size || (!fixed && f->size != sizeof(uint32_t)) || f->swap)
		note_failure(m, "the filter reads a text field with an unsupported layout");
}

static unsigned int count_cpus(const struct tap_cpus *cpus)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < cpus->nr_words; i++)
		nr += (unsigned int)__builtin_popcountll(cpus->bits[i]);
	return nr;
}

static struct tap_step make_step(struct maker *m, const struct tap_term *t)
{
	struct tap_step s = { 0 };

	switch (t->kind) {
	case TAP_TERM_FIELD:
		s = set_load(m, s, t->load, t->at);
		s.kind = TAP_STEP_FIELD;
		s.op = find_comparison(m, t->op);
		s.value = t->value;
		if (s.is_signed != t->is_signed && s.op != TAP_OP_AND)
			note_failure(m,
				     "the filter has a comparison that programs cannot evaluate");
		break;
	case TAP_TERM_SAMPLE:
		s = set_load(m, s, t->load, t->at);
		s.kind = TAP_STEP_SAMPLE;
		s.data = TAP_FILTER_HASH;
		s.value = t->value;
		break;
	case TAP_TERM_NUMBERS:
		add_computation(m, t->a, 0);
		add_computation(m, t->b, 1);
		s = (struct tap_step){ .kind = TAP_STEP_VALUES,
				       .op = find_comparison(m, t->op),
				       .is_signed = t->is_signed,
				       .b = 1 };
		break;
	case TAP_TERM_TEXT:
		s.kind = TAP_STEP_TEXT;
		set_place(m, &s, t->field);
		add_data(m, &s, t->text, t->text_len);
		break;
	case TAP_TERM_GLOB:
		s.kind = TAP_STEP_GLOB;
		set_place(m, &s, t->field);
		add_data(m, &s, t->glob, sizeof(*t->glob));
		break;
	case TAP_TERM_CPU:
		add_computation(m, t->a, 0);
		s.kind =
			t->op == OP_EQ && count_cpus(&t->cpus) != 1 ? TAP_STEP_NEVER : TAP_STEP_CPU;
		add_data(m, &s, t->cpus.bits, t->cpus.nr_words * sizeof(*t->cpus.bits));
		break;
	case TAP_TERM_MASK:
		s.kind = TAP_STEP_MASK;
		s.op = t->op == OP_EQ ? TAP_OP_EQ : TAP_OP_AND;
		set_place(m, &s, t->field);
		add_data(m, &s, t->cpus.bits, t->cpus.nr_words * sizeof(*t->cpus.bits));
		break;
	default:
		note_failure(m, "the filter uses a term that programs cannot evaluate");
	}
	return s;
}

static uint16_t find_target(uint32_t term)
{
	/* clang-format off */
	return term == TAP_TERM_ACCEPT ? TAP_STEP_ACCEPT :
	       term == TAP_TERM_REJECT ? TAP_STEP_REJECT : (uint16_t)term;
	/* clang-format on */
}

static uint16_t step_of(const struct maker *m, uint16_t to)
{
	return to >= TAP_STEP_REJECT ? to : m->first[to];
}

/*
 * Change targets from terms to their first steps, and data offsets to offsets from the list's
 * start.
 */
static void settle_step(struct maker *m, struct tap_step *s)
{
	if ((s->kind >= TAP_STEP_TEXT && s->kind <= TAP_STEP_MASK) || s->kind == TAP_STEP_CPU)
		s->data += (uint32_t)(sizeof(struct tap_steps) + m->nr * sizeof(*s));
	if (s->kind >= TAP_STEP_SET)
		return;
	s->yes = step_of(m, s->yes);
	s->no = step_of(m, s->no);
}

static void make_steps(struct maker *m)
{
	const struct tap_filter *f = m->filter;

	if (f->nr_terms > TAP_STEPS_MAX)
		note_failure(m, "the filter is too long");
	for (uint32_t i = 0; i < f->nr_terms && !m->why; i++) {
		struct tap_step s;

		m->first[i] = (uint16_t)m->nr;
		s = make_step(m, &f->terms[i]);
		s.yes = find_target(f->terms[i].yes);
		s.no = find_target(f->terms[i].no);
		if (!m->why)
			add_step(m, s);
	}
	for (uint32_t i = 0; i < m->nr && !m->why; i++)
		settle_step(m, &m->steps[i]);
}

/* Return: 0, also if it cannot be compiled (@f has the reason); -ENOMEM. */
static int join_steps(const struct maker *m, struct tap_user_filter *f)
{
	const size_t steps = m->nr * sizeof(*m->steps),
		     bytes = sizeof(*f->steps) + steps + m->data.len;

	f->why = m->why;
	f->reads_tid = m->reads_tid;
	if (m->data.err)
		return m->data.err;
	if (!f->why && bytes > TAP_STEPS_MAX_BYTES)
		f->why = "the filter is too long";
	if (f->why)
		return 0;
	f->steps = malloc(bytes);
	if (!f->steps)
		return -ENOMEM;
	*f->steps = (struct tap_steps){ .bytes = (uint32_t)bytes,
					.nr = (uint16_t)m->nr,
					.min_size = (uint16_t)m->min_size };
	memcpy(f->steps->v, m->steps, steps);
	if (m->data.len)
		memcpy((char *)f->steps->v + steps, m->data.data, m->data.len);
	return 0;
}

static int translate_filter(struct tap_user_filter *f)
{
	struct maker *m = calloc(1, sizeof(*m));
	int ret = -ENOMEM;

	if (!m)
		return ret;
	m->filter = f->filter;
	if (strlen(f->text) > TAP_FILTER_TEXT_MAX)
		note_failure(m, "the filter is too long");
	make_steps(m);
	ret = join_steps(m, f);
	tap_buf_release(&m->data);
	free(m);
	return ret;
}

/*
 * Refuse a filter that needs data which is unknown when records are drained, one CPU at a time:
 * task names and earlier records.
 */
static int check_known(const struct tap_filter *f, struct tap_err *err)
{
	const char *lacks = tap_filter_wants_comm(f)
				    ? "COMM is not known when a program's event is recorded: use "
				      "-c to select programs by name"
			    : f->nr_pasts ? "changed() and moved() do not work on programs' events "
					    "while recording: use them when reading"
					  : NULL;

	return lacks ? tap_err_set(err, -EINVAL, "bad filter for '%s:%s': %s", f->fmt->system,
				   f->fmt->name, lacks)
		     : 0;
}

int tap_user_filter_new(const struct tap_format *fmt, const char *text,
			struct tap_user_filter **out, struct tap_err *err)
{
	struct tap_user_filter *f = calloc(1, sizeof(*f));
	int ret;

	*out = NULL;
	if (!f)
		return tap_err_nomem(err);
	ret = tap_filter_new(fmt, text, &f->filter, err);
	if (!ret)
		ret = check_known(f->filter, err);
	if (!ret && !(f->text = strdup(text)))
		ret = tap_err_nomem(err);
	if (!ret && translate_filter(f))
		ret = tap_err_nomem(err);
	if (ret)
		tap_user_filter_free(f);
	else
		*out = f;
	return ret;
}

void tap_user_filter_free(struct tap_user_filter *f)
{
	if (!f)
		return;
	tap_filter_free(f->filter);
	free(f->steps);
	free(f->text);
	free(f);
}
