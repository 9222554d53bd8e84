// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How BPF programs flow, as v6.1's verifier looks at it first of all (check_cfg() in
 * kernel/bpf/verifier.c): it walks from instruction to instruction, and one that is being looked at
 * may be reached again by a jump alone. clang makes loops whose first instruction follows the last
 * one as well, which later verifiers take.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <bpf/libbpf.h>
#include <cmocka.h>
#include <linux/bpf.h>

#include "record/object/object.h"

enum seen { UNSEEN, BEGUN, DONE };

struct insn_state {
	uint8_t seen; /* enum seen */
	uint8_t edges; /* that were followed */
};

/* The ways that lead out of instruction @at. Return: how many. */
static unsigned int edges(const struct bpf_insn *insns, size_t at, size_t to[2], bool *is_jump)
{
	const struct bpf_insn *insn = &insns[at];
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);
	size_t jump = at + 1 + (size_t)(int64_t)insn->off;

	*is_jump = (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL;
	to[0] = at + (insn->code == (BPF_LD | BPF_IMM | BPF_DW) ? 2 : 1);
	if (!*is_jump)
		return 1;
	if (op == BPF_EXIT)
		return 0;
	if (op == BPF_JA)
		to[0] = jump;
	to[1] = jump;
	return op == BPF_JA ? 1 : 2;
}

/* Return: 0, or the instruction from which one that was begun is reached without a jump. */
static size_t find_back_edge(const struct bpf_insn *insns, size_t nr)
{
	struct insn_state *states = calloc(nr, sizeof(*states));
	size_t *stack = calloc(nr, sizeof(*stack)), depth = 1, found = 0;

	assert_true(states && stack);
	states[0].seen = BEGUN;
	while (depth && !found) {
		size_t at = stack[depth - 1], to[2];
		bool is_jump;

		if (states[at].edges == edges(insns, at, to, &is_jump)) {
			states[at].seen = DONE;
			depth--;
			continue;
		}
		to[0] = to[states[at].edges++];
		assert_true(to[0] < nr);
		if (states[to[0]].seen == UNSEEN) {
			states[to[0]].seen = BEGUN;
			stack[depth++] = to[0];
		} else if (states[to[0]].seen == BEGUN && !is_jump) {
			found = at;
		}
	}
	free(stack);
	free(states);
	return found;
}

static void test_every_program(void **state)
{
	struct bpf_object *obj = tap_bpf_open();
	struct bpf_program *prog;

	(void)state;
	assert_non_null(obj);
	bpf_object__for_each_program(prog, obj) {
		size_t at = find_back_edge(bpf_program__insns(prog), bpf_program__insn_cnt(prog));

		if (at)
			fail_msg("%s: v6.1 takes instruction %zu for an edge back",
				 bpf_program__name(prog), at);
	}
	bpf_object__close(obj);
}

#define MOV(reg)                                                                                   \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = reg                                \
	}
#define JUMP(op, by)                                                                               \
	{                                                                                          \
		.code = BPF_JMP | (op) | BPF_K, .off = by                                          \
	}

static void test_loops(void **state)
{
	const struct bpf_insn by_jump[] = { MOV(0), MOV(1), JUMP(BPF_JEQ, -2), JUMP(BPF_EXIT, 0) };
	const struct bpf_insn entered_in_the_middle[] = { JUMP(BPF_JA, 1), MOV(0), MOV(1),
							  JUMP(BPF_JEQ, -3), JUMP(BPF_EXIT, 0) };

	(void)state;
	assert_int_equal(find_back_edge(by_jump, 4), 0);
	assert_int_equal(find_back_edge(entered_in_the_middle, 5), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_every_program),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
