// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/program/filter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "record/program/assignments.h"
#include "record/program/functions.h"
#include "record/program/insns.h"

#define TEXT_AT (m->text_at) /* stack offset of a text */
#define TEXT_AT_END (-512)
#define TEXT_AT_GATE (-416) /* called functions need the rest of the stack */
#define COMM_BYTES 16u

struct maker {
	const struct tap_filter *filter; /* filter whose terms are being generated */
	const struct tap_filter *of_event;
	const struct tap_gate *gate;
	const struct tap_filter_ways *ways;
	int text_at;
	const struct tap_def *def;
	struct tap_assignments assigned;
	struct tap_insns b;
	struct tap_filter_program *p;
	/* fds of maps with previous values, owned by .p: for the event's filter */
	int *pasts;
	int **trigger_pasts; /* fds of maps with previous values, for each trigger's filter */
	int *now_pasts; /* those of .filter */
	/* index of each term's first instruction, then of accept and of reject */
	unsigned int *starts;
	struct jump {
		unsigned int insn;
		uint32_t term; /* term to jump to */
	} * jumps;
	unsigned int nr_jumps, cap_jumps;
	struct tap_err *err;
	int ret;
};

static void fail_field(struct maker *m, const char *field, const char *why)
{
	if (!m->ret)
		m->ret = tap_err_set(m->err, -EINVAL,
				     "%s: cannot filter by field '%s' of %s:%s, because its value "
				     "is not known before the event is recorded: %s",
				     m->filter == m->of_event ? "-f" : "--trigger", field,
				     m->def->system, m->def->name, why);
}

/* Report that none of the event's fields is available. */
static void fail_all(struct maker *m, uint32_t reason)
{
	m->ret = tap_err_set(m->err, -EINVAL,
			     "-f: cannot filter %s:%s, because none of its fields is known before "
			     "the event is recorded: %s",
			     m->def->system, m->def->name,
			     tap_scope_text(&m->assigned.scope, reason));
}

static void add_jump(struct maker *m, uint8_t op, uint8_t dst, uint8_t src, bool imm, int32_t k,
		     uint32_t term)
{
	if (tap_array_grow(&m->jumps, m->nr_jumps, &m->cap_jumps, sizeof(*m->jumps))) {
		m->ret = m->ret ?: -ENOMEM;
		return;
	}
	m->jumps[m->nr_jumps++] = (struct jump){ m->b.nr, term };
	tap_insns_add(&m->b, BPF_JMP | op | (imm ? BPF_K : BPF_X), dst, src, 0, k);
}

static void stack_address(struct maker *m, uint8_t dst, int at)
{
	tap_insns_move(&m->b, dst, BPF_REG_10);
	tap_insns_add(&m->b, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, at);
}

/* ---- numbers ---- */

static const struct tap_field *field_at(const struct maker *m, uint32_t offset)
{
	const struct tap_format *fmt = m->filter->fmt;

	for (unsigned int i = 0; i < fmt->nr_fields; i++)
		if (fmt->fields[i].offset == offset && fmt->fields[i].kind == TAP_FIELD_NUMBER)
			return &fmt->fields[i];
	return NULL;
}

/* @dst = a field's value as it would be in the record. */
static void field_value(struct maker *m, uint32_t offset, uint8_t dst)
{
	const struct tap_field *f = field_at(m, offset);
	const struct tap_assignment *assigned;
	const char *why;

	if (!strcmp(f->name, "common_pid")) {
		tap_insns_call(&m->b, BPF_FUNC_get_current_pid_tgid);
		tap_insns_move(&m->b, dst, BPF_REG_0);
	} else if (!strncmp(f->name, "common_", 7)) {
		tap_insns_const(&m->b, dst, strcmp(f->name, "common_type") ? 0 : m->def->id);
	} else {
		assigned = tap_assignments_find(&m->assigned, f->name, &why);
		if (!assigned) {
			fail_field(m, f->name, why);
			return;
		}
		tap_insns_value(&m->b, assigned->number, dst);
	}
	tap_insns_fit(&m->b, dst, (struct tap_ctype){ (uint8_t)f->size, f->is_signed });
}

static void cpu_value(struct maker *m, uint8_t dst)
{
	tap_insns_call(&m->b, BPF_FUNC_get_smp_processor_id);
	tap_insns_move(&m->b, dst, BPF_REG_0);
}

/*
 * @dst = value of a node of the filter. Intermediate values are on the stack, because registers are
 * few.
 */
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
		cpu_value(m, dst);
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
		add_jump(m, tap_insns_jump_of(t->op, t->is_signed), BPF_REG_1, 0, true,
			 (int32_t)t->value, t->yes);
		return;
	}
	a = tap_insns_push(&m->b, BPF_REG_1);
	node_value(m, t->b, BPF_REG_2);
	tap_insns_add(&m->b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, a, 0);
	add_jump(m, tap_insns_jump_of(t->op, t->is_signed), BPF_REG_1, BPF_REG_2, false, 0, t->yes);
}

/*
 * Generate a term that is never true, in a form that the verifier does not see through: it refuses
 * programs with unreachable instructions.
 */
static void add_never_term(struct maker *m, const struct tap_term *t)
{
	tap_insns_const(&m->b, BPF_REG_1, 0);
	add_jump(m, BPF_JNE, BPF_REG_1, 0, true, 0, t->yes);
}

/* ---- sets of CPUs ---- */

static void cpu_term(struct maker *m, const struct tap_term *t)
{
	unsigned int nr = 0, only = 0;

	for (unsigned int cpu = 0; cpu < t->cpus.nr_words * 64; cpu++)
		if (tap_cpus_has(&t->cpus, cpu) && ++nr)
			only = cpu;
	node_value(m, t->a, BPF_REG_1);
	if (nr == 1)
		add_jump(m, BPF_JEQ, BPF_REG_1, 0, true, (int32_t)only, t->yes);
	else if (t->op == OP_EQ)
		add_never_term(m, t);
	if (nr == 1 || t->op == OP_EQ)
		return;
	for (unsigned int word = 0; word < t->cpus.nr_words; word++) {
		int32_t first = (int32_t)(word * 64);
		unsigned int outside;

		if (!t->cpus.bits[word])
			continue;
		/* r2 = r1 - first: if it is 0..63, test that bit */
		tap_insns_move(&m->b, BPF_REG_2, BPF_REG_1);
		tap_insns_add(&m->b, BPF_ALU64 | BPF_SUB | BPF_K, BPF_REG_2, 0, 0, first);
		outside = m->b.nr;
		tap_insns_add(&m->b, BPF_JMP | BPF_JGT | BPF_K, BPF_REG_2, 0, 0, 63);
		tap_insns_const(&m->b, BPF_REG_3, t->cpus.bits[word]);
		tap_insns_add(&m->b, BPF_ALU64 | BPF_RSH | BPF_X, BPF_REG_3, BPF_REG_2, 0, 0);
		add_jump(m, BPF_JSET, BPF_REG_3, 0, true, 1, t->yes);
		tap_insns_land(&m->b, outside);
	}
}

/* ---- texts ---- */

static void clear_text(struct maker *m, uint32_t size)
{
	for (uint32_t i = 0; i < size; i += 8)
		tap_insns_add(&m->b, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0,
			      (int16_t)(TEXT_AT + (int)i), 0);
}

/*
 * Read a field's text to the stack, padded with zeros; @f NULL: the current task's comm. Return:
 * maximum length in bytes.
 */
static uint32_t read_text(struct maker *m, const struct tap_field *f)
{
	const struct tap_assignment *assigned;
	const struct tap_scope_bytes *from;
	unsigned int skip = 0;
	const char *why;

	m->b.last_slot = TEXT_AT + TAP_INSNS_TEXT_BYTES;
	if (!f) {
		clear_text(m, COMM_BYTES);
		stack_address(m, BPF_REG_1, TEXT_AT);
		tap_insns_const(&m->b, BPF_REG_2, COMM_BYTES);
		tap_insns_call(&m->b, BPF_FUNC_get_current_comm);
		return COMM_BYTES;
	}
	assigned = tap_assignments_find(&m->assigned, f->name, &why);
	if (!assigned || assigned->what == TAP_ASSIGNED_NUMBER) {
		fail_field(m, f->name, assigned ? "the field is assigned element by element" : why);
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
		stack_address(m, BPF_REG_1, TEXT_AT);
		tap_insns_const(&m->b, BPF_REG_2, from->size);
		tap_insns_call(&m->b, from->user ? BPF_FUNC_probe_read_user_str
						 : BPF_FUNC_probe_read_kernel_str);
	}
	if (skip)
		tap_insns_land(&m->b, skip);
	return from->size;
}

/* Compare a text including its NUL, eight bytes at a time. */
static void equal_term(struct maker *m, const struct tap_term *t)
{
	uint32_t size = read_text(m, t->field), len = t->text_len + (t->text_len < size);

	if (t->text_len > size) { /* the field cannot be that long */
		add_never_term(m, t);
		add_jump(m, BPF_JA, 0, 0, true, 0, t->no);
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
		add_jump(m, BPF_JNE, BPF_REG_1, BPF_REG_2, false, 0, t->no);
	}
	add_jump(m, BPF_JA, 0, 0, true, 0, t->yes);
}

/* Return: the map's fd, owned by @p; -errno. */
static int make_map(struct tap_filter_program *p, enum bpf_map_type type, const char *name,
		    uint32_t key_size, uint32_t value_size, uint32_t nr)
{
	int fd = bpf_map_create(type, name, key_size, value_size, nr, NULL);

	if (fd < 0)
		return -errno;
	if (tap_array_grow(&p->maps, p->nr_maps, &p->cap_maps, sizeof(fd))) {
		close(fd);
		return -ENOMEM;
	}
	p->maps[p->nr_maps++] = fd;
	return fd;
}

static int make_glob(struct maker *m, const struct tap_glob *glob)
{
	uint32_t zero = 0;
	int fd = make_map(m->p, BPF_MAP_TYPE_ARRAY, "tap_glob", sizeof(zero), sizeof(*glob), 1);

	return fd >= 0 && bpf_map_update_elem(fd, &zero, glob, BPF_ANY) ? -errno : fd;
}

/*
 * Inline version of tap_glob_matches(), one byte at a time: r7 holds the states, r8 the automaton.
 */
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
	add_jump(m, BPF_JSET, BPF_REG_7, BPF_REG_1, false, 0, t->yes);
}

/* ---- samples and previous values ---- */

static void sample_term(struct maker *m, const struct tap_term *t)
{
	field_value(m, t->at, BPF_REG_1);
	tap_insns_add(&m->b, BPF_ALU | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, 1);
	tap_insns_add(&m->b, BPF_ALU | BPF_MUL | BPF_K, BPF_REG_1, 0, 0, (int32_t)TAP_FILTER_HASH);
	tap_insns_const(&m->b, BPF_REG_2, t->value);
	add_jump(m, BPF_JLT, BPF_REG_1, BPF_REG_2, false, 0, t->yes);
}

#define KEY_AT TEXT_AT /* stack offset of a struct tap_past_key */
#define VALUE_AT (KEY_AT + (int)sizeof(struct tap_past_key))
#define KEY_CPU offsetof(struct tap_past_key, cpu)

static void store_reg(struct maker *m, int at, uint8_t src)
{
	tap_insns_add(&m->b, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, src, (int16_t)at, 0);
}

/* Put onto the stack the key that tap_past_key() computes from a record, and the field's value. */
static void put_key(struct maker *m, const struct tap_past *p)
{
	const struct tap_past_about *a = &p->about;

	m->b.last_slot = VALUE_AT + 8;
	if (a->cpu)
		field_value(m, a->cpu->offset, BPF_REG_1);
	else
		cpu_value(m, BPF_REG_1);
	store_reg(m, KEY_AT + (int)KEY_CPU, BPF_REG_1);
	if (a->cgroup)
		field_value(m, a->cgroup->offset, BPF_REG_1);
	else
		tap_insns_const(&m->b, BPF_REG_1, 0);
	store_reg(m, KEY_AT, BPF_REG_1);
	if (a->tid) {
		field_value(m, a->tid->offset, BPF_REG_1);
		tap_insns_add(&m->b, BPF_JMP | BPF_JSLE | BPF_K, BPF_REG_1, 0, 3, 0);
		store_reg(m, KEY_AT, BPF_REG_1);
		tap_insns_const(&m->b, BPF_REG_1, UINT64_MAX);
		store_reg(m, KEY_AT + (int)KEY_CPU, BPF_REG_1);
	}
	field_value(m, p->field->offset, BPF_REG_1);
	store_reg(m, VALUE_AT, BPF_REG_1);
}

/* r0 = address of the previous value, or 0 */
static void look_up(struct maker *m, uint32_t past)
{
	put_key(m, &m->filter->pasts[past]);
	tap_insns_map(&m->b, BPF_REG_1, m->now_pasts[past]);
	stack_address(m, BPF_REG_2, KEY_AT);
	tap_insns_call(&m->b, BPF_FUNC_map_lookup_elem);
}

/* Inline version of tap_past_moved(). */
static void moved_term(struct maker *m, const struct tap_term *t)
{
	look_up(m, t->a);
	add_jump(m, BPF_JEQ, BPF_REG_0, 0, true, 0, t->yes);
	tap_insns_add(&m->b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, VALUE_AT, 0);
	tap_insns_add(&m->b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_2, BPF_REG_0, 0, 0);
	tap_insns_move(&m->b, BPF_REG_3, BPF_REG_1);
	tap_insns_add(&m->b, BPF_ALU64 | BPF_SUB | BPF_X, BPF_REG_3, BPF_REG_2, 0, 0);
	tap_insns_add(&m->b, BPF_JMP | BPF_X | tap_insns_jump_of(OP_GT, t->is_signed), BPF_REG_1,
		      BPF_REG_2, 1, 0);
	tap_insns_add(&m->b, BPF_ALU64 | BPF_NEG, BPF_REG_3, 0, 0, 0);
	tap_insns_const(&m->b, BPF_REG_1, t->value);
	add_jump(m, BPF_JGE, BPF_REG_3, BPF_REG_1, false, 0, t->yes);
}

static void count_new(struct maker *m)
{
	tap_insns_map_value(&m->b, BPF_REG_1, m->p->nr_new);
	tap_insns_const(&m->b, BPF_REG_2, 1);
	tap_insns_add(&m->b, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_1, BPF_REG_2, 0, BPF_ADD);
}

/* Store the value of a matching record as the previous value of its key. */
static void keep_value(struct maker *m, uint32_t past)
{
	unsigned int is_new, done;

	tap_insns_forget(&m->b);
	look_up(m, past);
	is_new = m->b.nr;
	tap_insns_add(&m->b, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 0);
	tap_insns_add(&m->b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, VALUE_AT, 0);
	tap_insns_add(&m->b, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_1, 0, 0);
	done = m->b.nr;
	tap_insns_add(&m->b, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	tap_insns_land(&m->b, is_new);
	tap_insns_map(&m->b, BPF_REG_1, m->now_pasts[past]);
	stack_address(m, BPF_REG_2, KEY_AT);
	stack_address(m, BPF_REG_3, VALUE_AT);
	tap_insns_const(&m->b, BPF_REG_4, BPF_ANY);
	tap_insns_call(&m->b, BPF_FUNC_map_update_elem);
	if (m->filter == m->of_event)
		count_new(m);
	tap_insns_land(&m->b, done);
}

/* Each CPU may hold free elements that it does not use (LOCAL_FREE_TARGET of bpf_lru_list.c). */
#define FREE_PER_CPU 128

/*
 * Create the maps of a filter's previous values. @pasts: set to an array of fds, which the caller
 * frees.
 */
static int make_pasts(struct maker *m, const struct tap_filter *f, int **pasts)
{
	uint32_t nr = f ? f->nr_pasts : 0;
	int cpus = libbpf_num_possible_cpus();

	*pasts = calloc(nr + 1, sizeof(**pasts));
	if (!*pasts || cpus < 0)
		return *pasts ? cpus : -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		(*pasts)[i] = make_map(m->p, BPF_MAP_TYPE_LRU_HASH, "tap_past",
				       sizeof(struct tap_past_key), sizeof(uint64_t),
				       TAP_FILTER_MAX_KEYS + (uint32_t)cpus * FREE_PER_CPU);
		if ((*pasts)[i] < 0)
			return (*pasts)[i];
	}
	return 0;
}

static int make_all_pasts(struct maker *m)
{
	unsigned int nr = m->gate ? m->gate->nr_triggers : 0;
	int ret = make_pasts(m, m->of_event, &m->pasts);

	m->trigger_pasts = calloc(nr + 1, sizeof(*m->trigger_pasts));
	if (!m->trigger_pasts)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr && !ret; i++)
		ret = make_pasts(m, m->gate->triggers[i].filter, &m->trigger_pasts[i]);
	if (ret || !m->of_event || !m->of_event->nr_pasts)
		return ret;
	m->p->nr_new = make_map(m->p, BPF_MAP_TYPE_ARRAY, "tap_new", sizeof(uint32_t),
				sizeof(uint64_t), 1);
	return m->p->nr_new < 0 ? m->p->nr_new : 0;
}

/* ---- the program ---- */

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
	case TAP_TERM_SAMPLE:
		sample_term(m, t);
		break;
	case TAP_TERM_MOVED:
		moved_term(m, t);
		break;
	default:
		fail_field(m, t->field->name, "the field is a cpumask");
	}
	add_jump(m, BPF_JA, 0, 0, true, 0, t->no);
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

/* Generate a filter's terms. The code generated next runs if the filter matches. */
static void begin_filter(struct maker *m, const struct tap_filter *f, int *pasts)
{
	m->filter = f;
	m->now_pasts = pasts;
	m->nr_jumps = 0;
	for (uint32_t i = 0; i < f->nr_terms && !m->ret; i++) {
		m->starts[i] = m->b.nr;
		tap_insns_forget(&m->b);
		add_term(m, &f->terms[i]);
	}
	m->starts[f->nr_terms] = m->b.nr;
	for (uint32_t i = 0; i < f->nr_pasts; i++)
		keep_value(m, i);
	tap_insns_forget(&m->b);
}

/*
 * End the code that runs if the filter matches; the code generated next also runs if it does not.
 */
static void end_filter(struct maker *m)
{
	m->starts[m->filter->nr_terms + 1] = m->b.nr;
	tie_jumps(m);
	tap_insns_forget(&m->b);
}

static void add_trigger(struct maker *m, unsigned int i)
{
	const struct tap_gate_trigger *t = &m->gate->triggers[i];

	if (t->filter)
		begin_filter(m, t->filter, m->trigger_pasts[i]);
	tap_insns_const(&m->b, BPF_REG_1, t->number);
	tap_insns_call_function(&m->b, TAP_OWN_PULL_TRIGGER);
	if (t->filter)
		end_filter(m);
}

static void ask_tracing(struct maker *m)
{
	tap_insns_const(&m->b, BPF_REG_1, 0);
	tap_insns_call_function(&m->b, TAP_OWN_IS_ON);
}

/*
 * Generate the gate. The semantics are the kernel's (observed on 6.18): an event is recorded if the
 * recording was on when it came, or if its own triggers switched the recording on and none of them
 * has a filter, because a filter needs a record first. The event's own switch is tested after its
 * triggers.
 * Return: index of the jump taken if the event is not recorded.
 */
static unsigned int add_gate(struct maker *m)
{
	bool with_filter = false;

	ask_tracing(m);
	tap_insns_move(&m->b, BPF_REG_9, BPF_REG_0);
	for (unsigned int i = 0; i < m->gate->nr_triggers && !m->ret; i++) {
		with_filter |= !!m->gate->triggers[i].filter;
		add_trigger(m, i);
	}
	if (m->gate->nr_triggers && !with_filter) {
		ask_tracing(m);
		tap_insns_add(&m->b, BPF_ALU64 | BPF_OR | BPF_X, BPF_REG_9, BPF_REG_0, 0, 0);
	}
	tap_insns_const(&m->b, BPF_REG_1, m->gate->event);
	tap_insns_move(&m->b, BPF_REG_2, BPF_REG_9);
	tap_insns_call_function(&m->b, TAP_OWN_PASS_GATE);
	tap_insns_add(&m->b, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 0);
	tap_insns_forget(&m->b);
	return m->b.nr - 1;
}

/* Tail-call the program at index @at of a program array. */
static void add_tail_call(struct maker *m, int array, uint32_t at)
{
	tap_insns_move(&m->b, BPF_REG_1, BPF_REG_6);
	tap_insns_map(&m->b, BPF_REG_2, array);
	tap_insns_const(&m->b, BPF_REG_3, at);
	tap_insns_call(&m->b, BPF_FUNC_tail_call);
}

static int make_program(struct maker *m)
{
	unsigned int off = 0;

	m->b.prog = &m->assigned.scope.prog;
	m->b.nr = 0;
	m->b.stack_end = m->gate ? (int16_t)m->text_at : 0;
	tap_insns_begin(&m->b);
	if (m->gate)
		off = add_gate(m);
	if (m->of_event)
		begin_filter(m, m->of_event, m->pasts);
	add_tail_call(m, m->p->next, 0);
	if (m->of_event)
		end_filter(m);
	if (m->gate)
		tap_insns_land(&m->b, off);
	if (m->ways->next)
		add_tail_call(m, m->ways->chain, m->ways->next);
	tap_insns_const(&m->b, BPF_REG_0, 0);
	tap_insns_add(&m->b, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	if (m->gate)
		tap_functions_append(m->gate->functions, &m->b);
	return m->ret ?: m->b.err;
}

static int load_program(struct maker *m)
{
	const struct tap_scope *scope = &m->assigned.scope;
	int fd = tap_attach_load(&m->b, "tap_filter", scope->probe, scope->tracepoint);

	m->p->prog = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

static int make_and_load(struct maker *m)
{
	int ret = make_program(m) ?: load_program(m);

	while (ret && !m->ret && tap_insns_retry(&m->b, ret))
		ret = make_program(m) ?: load_program(m);
	return ret;
}

static int lead_to(struct maker *m)
{
	uint32_t zero = 0;

	m->p->next = bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "tap_next", sizeof(zero),
				    sizeof(m->ways->recorder), 1, NULL);
	if (m->p->next < 0)
		return -errno;
	return bpf_map_update_elem(m->p->next, &zero, &m->ways->recorder, BPF_ANY) ? -errno : 0;
}

static uint32_t most_terms(const struct maker *m)
{
	uint32_t most = m->of_event ? m->of_event->nr_terms : 0;

	for (unsigned int i = 0; m->gate && i < m->gate->nr_triggers; i++)
		if (m->gate->triggers[i].filter && m->gate->triggers[i].filter->nr_terms > most)
			most = m->gate->triggers[i].filter->nr_terms;
	return most;
}

static void release_maker(struct maker *m)
{
	tap_assignments_release(&m->assigned);
	tap_insns_release(&m->b);
	for (unsigned int i = 0; m->trigger_pasts && m->gate && i < m->gate->nr_triggers; i++)
		free(m->trigger_pasts[i]);
	free(m->trigger_pasts);
	free(m->pasts);
	free(m->starts);
	free(m->jumps);
}

int tap_filter_program_load(struct tap_filter_program *p, const struct btf *btf,
			    const struct tap_def *def, const struct tap_feed *feed,
			    const struct tap_filter *filter, const struct tap_gate *gate,
			    const struct tap_filter_ways *ways, struct tap_err *err)
{
	struct maker m = { .of_event = filter,
			   .filter = filter,
			   .gate = gate,
			   .ways = ways,
			   .def = def,
			   .p = p,
			   .err = err,
			   .text_at = gate ? TEXT_AT_GATE : TEXT_AT_END };
	uint32_t reason = 0;
	int ret;

	*p = TAP_FILTER_PROGRAM_NONE;
	m.starts = calloc(most_terms(&m) + 2, sizeof(*m.starts));
	ret = m.starts ? tap_assignments_init(&m.assigned, btf, def, feed, 0, &reason) : -ENOMEM;
	if (reason)
		fail_all(&m, reason);
	ret = ret ?: make_all_pasts(&m) ?: lead_to(&m) ?: make_and_load(&m);
	if (ret && !m.ret)
		tap_err_set(err, ret, "%s: cannot filter %s:%s over BPF: %s",
			    gate ? "--trigger" : "-f", def->system, def->name,
			    ret == -E2BIG ? "the filter is too long for a BPF program"
					  : strerror(-ret));
	if (ret)
		tap_filter_program_release(p);
	release_maker(&m);
	return ret;
}

int tap_filter_program_attach(struct tap_filter_program *p, const struct tap_probe *probe)
{
	return tap_attach(&p->links, p->prog, probe);
}

uint64_t tap_filter_program_forgot(const struct tap_filter_program *p)
{
	uint32_t zero = 0;
	uint64_t nr = 0;

	if (p->nr_new < 0 || bpf_map_lookup_elem(p->nr_new, &zero, &nr) ||
	    nr <= TAP_FILTER_MAX_KEYS)
		return 0;
	return nr - TAP_FILTER_MAX_KEYS;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void tap_filter_program_detach(struct tap_filter_program *p)
{
	tap_attach_undo(&p->links);
}

void tap_filter_program_release(struct tap_filter_program *p)
{
	tap_attach_undo(&p->links);
	close_fd(&p->prog);
	close_fd(&p->next);
	while (p->nr_maps)
		close(p->maps[--p->nr_maps]);
	free(p->maps);
	p->maps = NULL;
	p->cap_maps = 0;
	p->nr_new = -1;
}
