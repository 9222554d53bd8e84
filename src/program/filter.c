// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "program/filter.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "program/assignments.h"
#include "program/insns.h"

#define TEXT_AT (-512) /* on the stack */
#define COMM_BYTES 16u

struct maker {
	const struct tap_filter *filter;
	const struct tap_def *def;
	struct tap_assignments assigned;
	struct tap_insns b;
	struct tap_filter_program *p;
	unsigned int cap_globs;
	unsigned int *starts; /* of each term, its first instruction; then of accept and reject */
	struct jump {
		unsigned int insn;
		uint32_t term; /* where it leads */
	} * jumps;
	unsigned int nr_jumps, cap_jumps;
	struct tap_err *err;
	int ret;
};

static void fail(struct maker *m, const char *field, const char *why)
{
	if (!m->ret)
		m->ret = tap_err_set(
			m->err, -EINVAL,
			"-f: '%s' of %s:%s cannot be had before the event is recorded: %s", field,
			m->def->system, m->def->name, why);
}

static void jump(struct maker *m, uint8_t op, uint8_t dst, uint8_t src, bool imm, int32_t k,
		 uint32_t term)
{
	if (tap_array_grow(&m->jumps, m->nr_jumps, &m->cap_jumps, sizeof(*m->jumps))) {
		m->ret = m->ret ?: -ENOMEM;
		return;
	}
	m->jumps[m->nr_jumps++] = (struct jump){ m->b.nr, term };
	tap_insns_add(&m->b, BPF_JMP | op | (imm ? BPF_K : BPF_X), dst, src, 0, k);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static const struct tap_field *field_at(const struct maker *m, uint32_t offset)
{
	const struct tap_format *fmt = m->filter->fmt;

	for (unsigned int i = 0; i < fmt->nr_fields; i++)
		if (fmt->fields[i].offset == offset && fmt->fields[i].kind == TAP_FIELD_NUMBER)
			return &fmt->fields[i];
	return NULL;
}

/* As a record has it. */
static void field_value(struct maker *m, uint32_t offset, uint8_t dst)
{
	const struct tap_field *f = field_at(m, offset);
	const struct tap_assignment *assigned;
	const char *why;

	if (!strcmp(f->name, "common_pid")) {
		tap_insns_call(&m->b, BPF_FUNC_get_current_pid_tgid);
		tap_insns_move(&m->b, dst, BPF_REG_0);
	} else if (!strncmp(f->name, "common_", 7)) {
		tap_insns_const(&m->b, dst,
				strcmp(f->name, "common_type") ? 0 : m->def->id);
	} else {
		assigned = tap_assignments_find(&m->assigned, f->name, &why);
		if (!assigned) {
			fail(m, f->name, why);
			return;
		}
		tap_insns_value(&m->b, assigned->number, dst);
	}
	tap_insns_fit(&m->b, dst, (struct tap_ctype){ (uint8_t)f->size, f->is_signed });
}

/* Values of the filter's nodes wait on the stack, for its registers are few. */
static void node_value(struct maker *m, uint32_t node, uint8_t dst)
{
	const struct expr_node *n = &m->filter->prog.nodes[node];
	int16_t a;

	switch (n->op) {
	case OP_NUM:
		tap_insns_const(&m->b, dst, n->num);
		break;
	case OP_LOAD:
		field_value(m, n->at, dst);
		break;
	case OP_CPU:
		tap_insns_call(&m->b, BPF_FUNC_get_smp_processor_id);
		tap_insns_move(&m->b, dst, BPF_REG_0);
		break;
	default:
		node_value(m, n->a, BPF_REG_1);
		a = tap_insns_push(&m->b, BPF_REG_1);
		node_value(m, n->b, BPF_REG_2);
		tap_insns_add(&m->b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, a, 0);
		tap_insns_arith(&m->b, n->op, n->arith, BPF_REG_1, BPF_REG_2);
		tap_insns_move(&m->b, dst, BPF_REG_1);
	}
}

static void number_term(struct maker *m, const struct tap_term *t)
{
	int16_t a;

	node_value(m, t->a, BPF_REG_1);
	if (t->kind == TAP_TERM_FIELD && (uint64_t)(int32_t)t->value == t->value) {
		jump(m, tap_insns_jump_of(t->op, t->is_signed), BPF_REG_1, 0, true,
		     (int32_t)t->value, t->yes);
		return;
	}
	a = tap_insns_push(&m->b, BPF_REG_1);
	node_value(m, t->b, BPF_REG_2);
	tap_insns_add(&m->b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, a, 0);
	jump(m, tap_insns_jump_of(t->op, t->is_signed), BPF_REG_1, BPF_REG_2, false, 0, t->yes);
}

/* ---- sets of CPUs ---------------------------------------------------------------------------- */

static void cpu_term(struct maker *m, const struct tap_term *t)
{
	unsigned int nr = 0, only = 0;

	for (unsigned int cpu = 0; cpu < t->cpus.nr_words * 64; cpu++)
		if (tap_cpus_has(&t->cpus, cpu) && ++nr)
			only = cpu;
	node_value(m, t->a, BPF_REG_1);
	if (nr == 1)
		jump(m, BPF_JEQ, BPF_REG_1, 0, true, (int32_t)only, t->yes);
	if (nr < 2 || t->op == OP_EQ)
		return;
	for (unsigned int word = 0; word < t->cpus.nr_words; word++) {
		int32_t first = (int32_t)(word * 64);
		unsigned int outside;

		if (!t->cpus.bits[word])
			continue;
		/* r2 = r1 - first; one of 64: its bit */
		tap_insns_move(&m->b, BPF_REG_2, BPF_REG_1);
		tap_insns_add(&m->b, BPF_ALU64 | BPF_SUB | BPF_K, BPF_REG_2, 0, 0, first);
		outside = m->b.nr;
		tap_insns_add(&m->b, BPF_JMP | BPF_JGT | BPF_K, BPF_REG_2, 0, 0, 63);
		tap_insns_const(&m->b, BPF_REG_3, t->cpus.bits[word]);
		tap_insns_add(&m->b, BPF_ALU64 | BPF_RSH | BPF_X, BPF_REG_3, BPF_REG_2, 0, 0);
		jump(m, BPF_JSET, BPF_REG_3, 0, true, 1, t->yes);
		tap_insns_land(&m->b, outside);
	}
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void text_address(struct maker *m, uint8_t dst)
{
	tap_insns_move(&m->b, dst, BPF_REG_10);
	tap_insns_add(&m->b, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, TEXT_AT);
}

static void clear_text(struct maker *m, uint32_t size)
{
	for (uint32_t i = 0; i < size; i += 8)
		tap_insns_add(&m->b, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0,
			      (int16_t)(TEXT_AT + (int)i), 0);
}

/* Puts the field's text onto the stack, with zeros behind it. Return: how many bytes may be of it. */
static uint32_t read_text(struct maker *m, const struct tap_field *f)
{
	const struct tap_assignment *assigned;
	const struct tap_scope_bytes *from;
	unsigned int skip = 0;
	const char *why;

	m->b.last_slot = TEXT_AT + TAP_INSNS_TEXT_BYTES;
	if (!f) {
		clear_text(m, COMM_BYTES);
		text_address(m, BPF_REG_1);
		tap_insns_const(&m->b, BPF_REG_2, COMM_BYTES);
		tap_insns_call(&m->b, BPF_FUNC_get_current_comm);
		return COMM_BYTES;
	}
	assigned = tap_assignments_find(&m->assigned, f->name, &why);
	if (!assigned || assigned->what == TAP_ASSIGNED_NUMBER) {
		fail(m, f->name, assigned ? "it is assigned element by element" : why);
		return 0;
	}
	from = &assigned->bytes;
	clear_text(m, (from->size + 7) & ~7u);
	if (assigned->when) {
		tap_insns_value(&m->b, assigned->when, BPF_REG_1);
		skip = m->b.nr;
		tap_insns_add(&m->b, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_1, 0, 0, 0);
	}
	if (from->place) {
		tap_insns_copy(&m->b, from->place, from->size, BPF_REG_10, TEXT_AT);
	} else {
		tap_insns_value(&m->b, from->pointer, BPF_REG_3);
		text_address(m, BPF_REG_1);
		tap_insns_const(&m->b, BPF_REG_2, from->size);
		tap_insns_call(&m->b, BPF_FUNC_probe_read_kernel_str);
	}
	if (skip)
		tap_insns_land(&m->b, skip);
	return from->size;
}

/* The text and the NUL behind it, eight bytes at a time. */
static void equal_term(struct maker *m, const struct tap_term *t)
{
	uint32_t size = read_text(m, t->field), len = t->text_len + (t->text_len < size);

	if (t->text_len > size) { /* so long none is */
		jump(m, BPF_JA, 0, 0, true, 0, t->no);
		return;
	}
	for (uint32_t i = 0; i < len; i += 8) {
		uint32_t nr = len - i < 8 ? len - i : 8;
		uint64_t want = 0;

		memcpy(&want, t->text + i, i + nr <= t->text_len + 1 ? nr : t->text_len - i);
		tap_insns_add(&m->b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10,
			      (int16_t)(TEXT_AT + (int)i), 0);
		if (nr < 8)
			tap_insns_add(&m->b, BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_1, 0, 0,
				      (int32_t)(64 - 8 * nr));
		tap_insns_const(&m->b, BPF_REG_2, nr < 8 ? want << (64 - 8 * nr) : want);
		jump(m, BPF_JNE, BPF_REG_1, BPF_REG_2, false, 0, t->no);
	}
	jump(m, BPF_JA, 0, 0, true, 0, t->yes);
}

static int make_glob(struct maker *m, const struct tap_glob *glob)
{
	uint32_t zero = 0;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "tap_glob", sizeof(zero), sizeof(*glob), 1,
				NULL);

	if (fd < 0)
		return -errno;
	if (tap_array_grow(&m->p->globs, m->p->nr_globs, &m->cap_globs, sizeof(fd))) {
		close(fd);
		return -ENOMEM;
	}
	m->p->globs[m->p->nr_globs++] = fd;
	return bpf_map_update_elem(fd, &zero, glob, BPF_ANY) ? -errno : fd;
}

/* tap_glob_matches(), byte by byte: r7 has the states, r8 the automaton. */
static void glob_term(struct maker *m, const struct tap_term *t)
{
	uint32_t size = read_text(m, t->field);
	int fd = make_glob(m, t->glob);
	unsigned int ends[TAP_INSNS_TEXT_BYTES], nr = 0;

	if (fd < 0) {
		m->ret = m->ret ?: fd;
		return;
	}
	tap_insns_map_value(&m->b, BPF_REG_8, fd);
	tap_insns_const(&m->b, BPF_REG_7, t->glob->start);
	for (uint32_t i = 0; i < size; i++) {
		tap_insns_add(&m->b, BPF_LDX | BPF_MEM | BPF_B, BPF_REG_1, BPF_REG_10,
			      (int16_t)(TEXT_AT + (int)i), 0);
		ends[nr++] = m->b.nr;
		tap_insns_add(&m->b, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_1, 0, 0, 0);
		tap_insns_add(&m->b, BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_1, 0, 0, 3);
		tap_insns_move(&m->b, BPF_REG_2, BPF_REG_8);
		tap_insns_add(&m->b, BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_2, BPF_REG_1, 0, 0);
		tap_insns_add(&m->b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_2, BPF_REG_2,
			      offsetof(struct tap_glob, step), 0);
		tap_insns_add(&m->b, BPF_ALU64 | BPF_AND | BPF_X, BPF_REG_2, BPF_REG_7, 0, 0);
		tap_insns_add(&m->b, BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_2, 0, 0, 1);
		tap_insns_add(&m->b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_3, BPF_REG_8,
			      offsetof(struct tap_glob, star), 0);
		tap_insns_add(&m->b, BPF_ALU64 | BPF_AND | BPF_X, BPF_REG_7, BPF_REG_3, 0, 0);
		tap_insns_add(&m->b, BPF_ALU64 | BPF_OR | BPF_X, BPF_REG_7, BPF_REG_2, 0, 0);
	}
	for (unsigned int i = 0; i < nr; i++)
		tap_insns_land(&m->b, ends[i]);
	tap_insns_const(&m->b, BPF_REG_1, t->glob->accept);
	jump(m, BPF_JSET, BPF_REG_7, BPF_REG_1, false, 0, t->yes);
}

/* ---- the program ----------------------------------------------------------------------------- */

static void add_term(struct maker *m, const struct tap_term *t)
{
	switch (t->kind) {
	case TAP_TERM_FIELD:
	case TAP_TERM_NUMBERS:
		number_term(m, t);
		break;
	case TAP_TERM_TEXT:
		equal_term(m, t);
		return;
	case TAP_TERM_GLOB:
		glob_term(m, t);
		break;
	case TAP_TERM_CPU:
		cpu_term(m, t);
		break;
	default:
		fail(m, t->field->name, "it is a cpumask");
	}
	jump(m, BPF_JA, 0, 0, true, 0, t->no);
}

static void tie_jumps(struct maker *m)
{
	uint32_t nr = m->filter->nr_terms;

	for (unsigned int i = 0; i < m->nr_jumps && !m->b.err; i++) {
		const struct jump *j = &m->jumps[i];
		unsigned int to = m->starts[j->term == TAP_TERM_ACCEPT	 ? nr
					    : j->term == TAP_TERM_REJECT ? nr + 1
									 : j->term];

		if (to - j->insn - 1 > INT16_MAX)
			m->b.err = -E2BIG;
		m->b.v[j->insn].off = (int16_t)(to - j->insn - 1);
	}
}

static int make(struct maker *m, bool probe)
{
	const struct tap_filter *f = m->filter;

	m->b.prog = &m->assigned.scope.prog;
	m->b.probe = probe;
	m->b.nr = m->nr_jumps = 0;
	tap_insns_move(&m->b, BPF_REG_6, BPF_REG_1);
	for (uint32_t i = 0; i < f->nr_terms && !m->ret; i++) {
		m->starts[i] = m->b.nr;
		tap_insns_forget(&m->b);
		add_term(m, &f->terms[i]);
	}
	m->starts[f->nr_terms] = m->b.nr;
	tap_insns_move(&m->b, BPF_REG_1, BPF_REG_6);
	tap_insns_map(&m->b, BPF_REG_2, m->p->next);
	tap_insns_const(&m->b, BPF_REG_3, 0);
	tap_insns_call(&m->b, BPF_FUNC_tail_call);
	m->starts[f->nr_terms + 1] = m->b.nr;
	tap_insns_const(&m->b, BPF_REG_0, 0);
	tap_insns_add(&m->b, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	tie_jumps(m);
	return m->ret ?: m->b.err;
}

static int load(struct maker *m)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP,
		    .attach_btf_id = m->assigned.scope.tracepoint);

	m->p->prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, "tap_filter", "Dual BSD/GPL", m->b.v,
				   m->b.nr, &opts);
	return m->p->prog < 0 ? -errno : 0;
}

/* Where the verifier does not know what a pointer points to, it is read as memory of any kind. */
static int make_and_load(struct maker *m)
{
	int ret = make(m, false) ?: load(m);

	if (ret == -EACCES || (ret == -EINVAL && !m->ret))
		ret = make(m, true) ?: load(m);
	return ret;
}

static int lead_to(struct maker *m, int recorder)
{
	uint32_t zero = 0;

	m->p->next = bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "tap_next", sizeof(zero),
				    sizeof(recorder), 1, NULL);
	if (m->p->next < 0)
		return -errno;
	return bpf_map_update_elem(m->p->next, &zero, &recorder, BPF_ANY) ? -errno : 0;
}

int tap_filter_program_load(struct tap_filter_program *p, const struct btf *btf,
			    const struct tap_def *def, const char *tracepoint,
			    const struct tap_filter *filter, int recorder, struct tap_err *err)
{
	struct maker m = { .filter = filter, .def = def, .p = p, .err = err };
	uint32_t reason;
	int ret;

	*p = TAP_FILTER_PROGRAM_NONE;
	m.starts = calloc(filter->nr_terms + 2, sizeof(*m.starts));
	ret = m.starts ? tap_assignments_init(&m.assigned, btf, def, tracepoint, 0, &reason) : -ENOMEM;
	ret = ret ?: lead_to(&m, recorder) ?: make_and_load(&m);
	if (ret && !m.ret)
		tap_err_set(err, ret, "-f: cannot filter %s:%s over BPF: %s", def->system,
			    def->name, strerror(-ret));
	if (ret)
		tap_filter_program_release(p);
	tap_assignments_release(&m.assigned);
	tap_insns_release(&m.b);
	free(m.starts);
	free(m.jumps);
	return ret;
}

int tap_filter_program_attach(struct tap_filter_program *p)
{
	p->link = bpf_raw_tracepoint_open(NULL, p->prog);
	return p->link < 0 ? -errno : 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void tap_filter_program_detach(struct tap_filter_program *p)
{
	close_fd(&p->link);
}

void tap_filter_program_release(struct tap_filter_program *p)
{
	close_fd(&p->link);
	close_fd(&p->prog);
	close_fd(&p->next);
	while (p->nr_globs)
		close(p->globs[--p->nr_globs]);
	free(p->globs);
	p->globs = NULL;
}
