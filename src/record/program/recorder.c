// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/program/recorder.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/refusal.h"
#include "event/expr/parse.h"
#include "record/program/assignments.h"
#include "record/program/attach.h"
#include "record/program/functions.h"
#include "record/program/insns.h"
#include "ring.h"
#include "stack_maps.h"

/* Registers that keep their values across calls, besides r6, the context. */
#define PAYLOAD BPF_REG_7
#define USED BPF_REG_8 /* bytes of the payload so far; the next text goes there */
#define RECORD BPF_REG_9

/*
 * Stack offset at which the context is saved while a function uses r6. Functions that are called
 * need the rest of the 512 bytes.
 */
#define CONTEXT (-384)
#define CONTEXT_WITH_STACKS (-256)
/* computed values are discarded when the stack has grown below this */
#define ROOM_OF_STATEMENT (-160)
#define COMMON_BYTES 8u

struct maker {
	const struct tap_recorder_env *env;
	const struct tap_def *def;
	const bool *absent;
	struct tap_assignments assigned;
	struct tap_insns b;
	uint32_t current_pid; /* expression node of the current task's pid */
	unsigned int *ends, nr_ends, cap_ends; /* jumps to the end, without recording */
	uint32_t dynamic_max; /* maximum bytes of texts and bitmasks */
};

static void jump_to_end(struct maker *m, uint8_t op, uint8_t reg, int32_t k)
{
	if (tap_array_grow(&m->ends, m->nr_ends, &m->cap_ends, sizeof(*m->ends))) {
		m->b.err = m->b.err ?: -ENOMEM;
		return;
	}
	m->ends[m->nr_ends++] = m->b.nr;
	tap_insns_add(&m->b, BPF_JMP | op | BPF_K, reg, 0, 0, k);
}

/* ---- whether to record ---- */

static void check_condition(struct maker *m)
{
	if (!m->assigned.condition)
		return;
	tap_insns_value(&m->b, m->assigned.condition, BPF_REG_1);
	jump_to_end(m, BPF_JEQ, BPF_REG_1, 0);
}

/*
 * Call a function that returns in r0 whether a task is selected, and jump if it is: further tests
 * are not needed.
 */
static void jump_if_wanted(struct maker *m, enum tap_own_function function, unsigned int *jumps,
			   unsigned int *nr)
{
	tap_insns_call_function(&m->b, function);
	jumps[(*nr)++] = m->b.nr;
	tap_insns_add(&m->b, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 0, 0);
}

static bool is_struct(const struct maker *m, unsigned int arg, const char *name)
{
	const struct btf *btf = m->env->btf;
	uint32_t id = tap_scope_arg_struct(&m->assigned.scope, arg);

	return id && !strcmp(btf__name_by_offset(btf, btf__type_by_id(btf, id)->name_off), name);
}

/* Test the current task and the tasks among the arguments, like TAP_WANTED() of bpf/scope.h. */
static void check_task(struct maker *m)
{
	unsigned int jumps[TAP_SCOPE_MAX_ARGS + 1], nr = 0, none;

	tap_insns_call(&m->b, BPF_FUNC_get_current_task_btf);
	tap_insns_move(&m->b, BPF_REG_1, BPF_REG_0);
	jump_if_wanted(m, TAP_OWN_TASK_WANTED, jumps, &nr);
	for (unsigned int i = 0; i < m->assigned.scope.nr_args; i++) {
		bool task = is_struct(m, i, "task_struct");

		if (!task && !is_struct(m, i, "sched_entity"))
			continue;
		tap_insns_add(&m->b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_6,
			      (int16_t)(8 * i), 0);
		none = tap_insns_jump_if_null(&m->b, BPF_REG_1);
		jump_if_wanted(m, task ? TAP_OWN_TASK_WANTED : TAP_OWN_SE_WANTED, jumps, &nr);
		tap_insns_land(&m->b, none);
	}
	jump_to_end(m, BPF_JA, 0, 0);
	for (unsigned int i = 0; i < nr; i++)
		tap_insns_land(&m->b, jumps[i]);
}

static void check_scope(struct maker *m)
{
	if (m->env->by_cpu) {
		tap_insns_call_function(&m->b, TAP_OWN_CPU_WANTED);
		jump_to_end(m, BPF_JEQ, BPF_REG_0, 0);
	}
	if (m->env->by_task)
		check_task(m);
}

/* ---- the record ---- */

static uint32_t space_of(uint32_t payload)
{
	return ((uint32_t)sizeof(struct tap_rec) + payload + 7) & ~7u;
}

static uint32_t event_space(const struct maker *m)
{
	return space_of(m->def->size + m->dynamic_max);
}

/* Return the bytes of the event's stack records, each a number (events/stack.h). */
static uint32_t stacks_space(const struct maker *m)
{
	uint32_t nr = !!(m->env->stacks & TAP_STACK_KERNEL) + !!(m->env->stacks & TAP_STACK_USER);

	return nr ? nr * space_of(tap_def_find("schedtap", "kernel_stack")->size) : 0;
}

static int16_t context_slot(const struct maker *m)
{
	return m->env->stacks ? CONTEXT_WITH_STACKS : CONTEXT;
}

/*
 * Insert a function inline. It clobbers r6 to r9 and the first 8 bytes of the stack, so nothing
 * that is needed later may be there.
 */
static void run_in_place(struct maker *m, enum tap_own_function function)
{
	if (m->env->functions)
		tap_functions_splice(m->env->functions, &m->b, function);
}

static void take_record(struct maker *m)
{
	tap_insns_add(&m->b, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_6, context_slot(m), 0);
	tap_insns_const(&m->b, BPF_REG_1, event_space(m) + stacks_space(m));
	run_in_place(m, TAP_OWN_TAKE);
	tap_insns_add(&m->b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_6, BPF_REG_10, context_slot(m), 0);
	jump_to_end(m, BPF_JEQ, BPF_REG_0, 0);
	tap_insns_move(&m->b, RECORD, BPF_REG_0);
	tap_insns_move(&m->b, PAYLOAD, BPF_REG_0);
	tap_insns_add(&m->b, BPF_ALU64 | BPF_ADD | BPF_K, PAYLOAD, 0, 0, sizeof(struct tap_rec));
	tap_insns_const(&m->b, USED, m->def->size);
	tap_insns_add(&m->b, BPF_ST | BPF_MEM | BPF_W, PAYLOAD, 0, 0, (int32_t)m->def->id);
	tap_insns_value(&m->b, m->current_pid, BPF_REG_1);
	tap_insns_add(&m->b, BPF_STX | BPF_MEM | BPF_W, PAYLOAD, BPF_REG_1, 4, 0);
}

static void put_stacks(struct maker *m)
{
	if (!m->env->stacks)
		return;
	tap_insns_move(&m->b, BPF_REG_1, BPF_REG_6);
	tap_insns_move(&m->b, BPF_REG_2, RECORD);
	tap_insns_const(&m->b, BPF_REG_3, event_space(m));
	tap_insns_const(&m->b, BPF_REG_4, m->env->stacks);
	tap_insns_call_function(&m->b, TAP_OWN_STACKS);
}

static void commit_record(struct maker *m)
{
	tap_insns_move(&m->b, BPF_REG_1, RECORD);
	tap_insns_const(&m->b, BPF_REG_2, event_space(m));
	tap_insns_move(&m->b, BPF_REG_3, USED);
	run_in_place(m, TAP_OWN_COMMIT);
}

/* ---- fields ---- */

/* Return the node to store. A cast to the field's size is skipped, because the store truncates. */
static uint32_t as_stored(const struct maker *m, const struct tap_assignment *a)
{
	const struct expr_node *n = &m->assigned.scope.prog.nodes[a->number];

	return n->op == OP_CAST && n->type.size == a->field->elem_size ? n->a : a->number;
}

static void put_number(struct maker *m, const struct tap_assignment *a)
{
	static const uint8_t sizes[] = { [1] = BPF_B, [2] = BPF_H, [4] = BPF_W, [8] = BPF_DW };
	int16_t at = (int16_t)(a->field->offset + a->element * a->field->elem_size);

	tap_insns_value(&m->b, as_stored(m, a), BPF_REG_1);
	tap_insns_add(&m->b, BPF_STX | BPF_MEM | sizes[a->field->elem_size], PAYLOAD, BPF_REG_1, at,
		      0);
}

/* r1 = address in the payload, as an argument of functions and helpers. */
static void point_at_payload(struct maker *m, uint32_t offset)
{
	tap_insns_move(&m->b, BPF_REG_1, PAYLOAD);
	tap_insns_add(&m->b, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, (int32_t)offset);
}

/* Fill a field of fixed size. */
static void put_fixed(struct maker *m, const struct tap_assignment *a)
{
	const struct tap_scope_bytes *from = &a->bytes;
	uint32_t size = from->size < a->field->size ? from->size : a->field->size;

	if (from->place && a->what == TAP_ASSIGNED_BYTES) {
		tap_insns_copy(&m->b, from->place, size, PAYLOAD, (int16_t)a->field->offset);
		return;
	}
	/* a comm: the kernel's array is zero after the NUL */
	if (from->place && !(from->size % 8)) {
		tap_insns_copy(&m->b, from->place, size, PAYLOAD, (int16_t)a->field->offset);
		return;
	}
	tap_insns_address(&m->b, from->place ?: from->pointer, BPF_REG_3);
	point_at_payload(m, a->field->offset);
	tap_insns_const(&m->b, BPF_REG_2, size);
	if (a->what == TAP_ASSIGNED_BYTES)
		tap_insns_call(&m->b,
			       from->user ? BPF_FUNC_probe_read_user : BPF_FUNC_probe_read_kernel);
	else
		tap_insns_call(&m->b, from->user ? BPF_FUNC_probe_read_user_str
						 : BPF_FUNC_probe_read_kernel_str);
}

/* Put text or a bitmask after the fixed part. The field gets its offset and length. */
static void put_dynamic(struct maker *m, const struct tap_assignment *a)
{
	enum tap_own_function function = a->what != TAP_ASSIGNED_TEXT ? TAP_OWN_BITMASK
					 : a->bytes.user	      ? TAP_OWN_USER_TEXT
								      : TAP_OWN_TEXT;

	tap_insns_address(&m->b, a->bytes.place ?: a->bytes.pointer, BPF_REG_4);
	tap_insns_move(&m->b, BPF_REG_1, PAYLOAD);
	tap_insns_move(&m->b, BPF_REG_2, USED);
	tap_insns_const(&m->b, BPF_REG_3, a->bytes.size);
	tap_insns_call_function(&m->b, function);
	tap_insns_add(&m->b, BPF_STX | BPF_MEM | BPF_W, PAYLOAD, BPF_REG_0,
		      (int16_t)a->field->offset, 0);
	tap_insns_move(&m->b, USED, BPF_REG_0);
	tap_insns_add(&m->b, BPF_ALU64 | BPF_RSH | BPF_K, USED, 0, 0, 16);
	tap_insns_add(&m->b, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_0, 0, 0, 0xffff);
	tap_insns_add(&m->b, BPF_ALU64 | BPF_ADD | BPF_X, USED, BPF_REG_0, 0, 0);
}

static bool is_dynamic(const struct tap_field *f)
{
	return f->kind == TAP_FIELD_STRING || f->kind == TAP_FIELD_DYNAMIC;
}

static void put_bytes(struct maker *m, const struct tap_assignment *a)
{
	unsigned int skip = m->b.nr;

	if (a->when) {
		tap_insns_value(&m->b, a->when, BPF_REG_1);
		skip = m->b.nr;
		tap_insns_add(&m->b, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_1, 0, 0, 0);
		tap_insns_forget(&m->b);
	}
	if (is_dynamic(a->field))
		put_dynamic(m, a);
	else
		put_fixed(m, a);
	if (a->when) {
		tap_insns_forget(&m->b);
		tap_insns_land(&m->b, skip);
	}
}

static bool is_absent(const struct maker *m, const struct tap_field *f)
{
	return m->absent[f - m->def->fields];
}

static void put_fields(struct maker *m)
{
	for (unsigned int i = 0; i < m->assigned.nr; i++) {
		const struct tap_assignment *a = &m->assigned.v[i];

		if (is_absent(m, a->field))
			continue;
		if (m->b.next_slot < ROOM_OF_STATEMENT)
			tap_insns_forget(&m->b);
		if (a->what == TAP_ASSIGNED_NUMBER)
			put_number(m, a);
		else
			put_bytes(m, a);
	}
}

/* ---- the program ---- */

static int make_program(struct maker *m)
{
	m->b.prog = &m->assigned.scope.prog;
	m->b.nr = m->nr_ends = 0;
	m->b.stack_end = (int16_t)(context_slot(m) + 8);
	tap_insns_begin(&m->b);
	check_condition(m);
	check_scope(m);
	tap_insns_forget(&m->b);
	take_record(m);
	put_fields(m);
	put_stacks(m);
	commit_record(m);
	for (unsigned int i = 0; i < m->nr_ends; i++)
		tap_insns_land(&m->b, m->ends[i]);
	tap_insns_const(&m->b, BPF_REG_0, 0);
	tap_insns_add(&m->b, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	if (m->env->functions)
		tap_functions_append(m->env->functions, &m->b);
	return m->b.err;
}

static int load_program(struct maker *m)
{
	const struct tap_scope *scope = &m->assigned.scope;

	return tap_attach_load(&m->b, "tap_own", scope->probe, scope->tracepoint);
}

/*
 * Return the first reason why an assigned value is unavailable; fields that this kernel lacks do
 * not count.
 */
static uint32_t first_reason(const struct maker *m)
{
	for (unsigned int i = 0; i < m->assigned.nr; i++)
		if (m->assigned.v[i].reason && !is_absent(m, m->assigned.v[i].field))
			return m->assigned.v[i].reason;
	return 0;
}

static int fail_with_reason(const struct maker *m, uint32_t reason, const char **at,
			    struct tap_err *err)
{
	*at = reason ? m->assigned.scope.reasons[reason - 1].at : NULL;
	return tap_err_set(err, -EINVAL, "%s",
			   reason ? tap_scope_text(&m->assigned.scope, reason)
				  : "cannot parse this");
}

static int read_current_pid(struct maker *m)
{
	tap_scope_begin(&m->assigned.scope, "tp_current()->pid");
	m->current_pid = tap_expr_parse(&m->assigned.scope.p);
	return m->assigned.scope.p.err;
}

/*
 * Add up the maximum sizes of texts and bitmasks. Return: 0; -EINVAL: the record would be too
 * large, or a text may begin beyond the limit.
 */
static int find_room(struct maker *m, const char **at, struct tap_err *err)
{
	*at = m->def->name;
	for (unsigned int i = 0; i < m->assigned.nr; i++) {
		const struct tap_assignment *a = &m->assigned.v[i];
		uint32_t begin = m->def->size + m->dynamic_max;

		if (!is_dynamic(a->field) || is_absent(m, a->field))
			continue;
		if (begin > TAP_RECORD_MAX_TEXT_AT)
			return tap_err_set(err, -EINVAL,
					   "the event's record is too large: text '%s' may begin "
					   "at byte %u, but text must begin at or before byte %u",
					   a->field->name, begin, TAP_RECORD_MAX_TEXT_AT);
		m->dynamic_max += a->bytes.size;
	}
	if (m->def->size + m->dynamic_max > TAP_RECORD_MAX_BYTES)
		return tap_err_set(
			err, -EINVAL,
			"the event's record is too large: it has %u bytes, but the limit is %u",
			m->def->size + m->dynamic_max, TAP_RECORD_MAX_BYTES);
	*at = NULL;
	return 0;
}

/* Parse the definition. Return: 0; -EINVAL with a sentence; -errno. */
static int parse_definition(struct maker *m, const struct tap_feed *feed, const char **at,
			    struct tap_err *err)
{
	const struct tap_recorder_env *env = m->env;
	uint32_t reason;
	int ret = tap_assignments_init(&m->assigned, env->btf, m->def, feed, env->nr_cpus, &reason);

	*at = NULL;
	if (!ret)
		reason = first_reason(m);
	if (reason || ret == -EINVAL)
		return fail_with_reason(m, reason, at, err);
	if (ret == -ENOENT)
		return tap_err_set(err, ret, "the kernel's BTF has no tracepoint %s",
				   feed->tracepoint);
	ret = ret ?: read_current_pid(m);
	return ret ? tap_err_set(err, ret, "out of memory") : find_room(m, at, err);
}

static void release_maker(struct maker *m)
{
	tap_assignments_release(&m->assigned);
	tap_insns_release(&m->b);
	free(m->ends);
}

static void explain_refusal(int ret, struct tap_err *err)
{
	if (ret == -E2BIG)
		tap_err_set(err, ret, "the event's assignments are too long for a BPF program");
	else
		tap_err_set(err, ret, "the kernel refuses the event's BPF program: %s",
			    tap_refusal(TAP_STEP_BPF, ret).text);
}

int tap_recorder_check(const struct tap_recorder_env *env, const struct tap_def *def,
		       const struct tap_feed *feed, const bool *absent, const char **at,
		       struct tap_err *err)
{
	struct maker m = { .env = env, .def = def, .absent = absent };
	int ret = parse_definition(&m, feed, at, err);

	if (!ret) {
		ret = make_program(&m);
		if (ret)
			explain_refusal(ret, err);
	}
	release_maker(&m);
	return ret;
}

int tap_recorder_load(const struct tap_recorder_env *env, const struct tap_def *def,
		      const struct tap_feed *feed, const bool *absent, const char **at,
		      struct tap_err *err)
{
	struct maker m = { .env = env, .def = def, .absent = absent };
	int ret = parse_definition(&m, feed, at, err);

	if (ret) {
		release_maker(&m);
		return ret;
	}
	ret = make_program(&m) ?: load_program(&m);
	while (ret < 0 && tap_insns_retry(&m.b, ret))
		ret = make_program(&m) ?: load_program(&m);
	if (ret < 0)
		explain_refusal(ret, err);
	release_maker(&m);
	return ret;
}
