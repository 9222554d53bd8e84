// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/program/functions.h"

#include <bpf/libbpf.h>
#include <errno.h>

#define CALL_INSN (BPF_JMP | BPF_CALL)
#define EXIT_INSN (BPF_JMP | BPF_EXIT)

static bool is_call(const struct bpf_insn *insn)
{
	return insn->code == CALL_INSN && insn->src_reg == BPF_PSEUDO_CALL;
}

/* libbpf appended the functions to the program in the order in which it calls them. */
int tap_functions_find(struct tap_functions *f, const struct bpf_program *prog)
{
	const struct bpf_insn *insns = bpf_program__insns(prog);
	size_t nr = bpf_program__insn_cnt(prog), end = nr, at;
	unsigned int found = 0;

	for (size_t i = 0; i < end; i++) {
		if (!is_call(&insns[i]))
			continue;
		at = (size_t)((ssize_t)i + 1 + insns[i].imm);
		if (found == TAP_NR_OWN_FUNCTIONS || at <= i || at >= nr)
			return -EINVAL;
		if (found)
			f->v[found - 1].nr = (unsigned int)(insns + at - f->v[found - 1].insns);
		else
			end = at; /* end of the main program */
		f->v[found++].insns = insns + at;
	}
	if (found != TAP_NR_OWN_FUNCTIONS)
		return -EINVAL;
	f->v[found - 1].nr = (unsigned int)(insns + nr - f->v[found - 1].insns);
	return 0;
}

static void copy_function(const struct tap_function *f, struct tap_insns *b)
{
	for (unsigned int i = 0; i < f->nr; i++) {
		const struct bpf_insn *insn = &f->insns[i];

		tap_insns_add(b, insn->code, insn->dst_reg, insn->src_reg, insn->off, insn->imm);
	}
}

void tap_functions_splice(const struct tap_functions *f, struct tap_insns *b,
			  enum tap_own_function function)
{
	unsigned int from = b->nr;

	copy_function(&f->v[function], b);
	for (unsigned int i = from; i < b->nr && !b->err; i++) {
		if (b->v[i].code != EXIT_INSN)
			continue;
		b->v[i].code = BPF_JMP | BPF_JA;
		tap_insns_land(b, i);
	}
}

void tap_functions_append(const struct tap_functions *f, struct tap_insns *b)
{
	unsigned int starts[TAP_NR_OWN_FUNCTIONS] = { 0 }, nr = b->nr;

	for (unsigned int i = 0; i < nr && !b->err; i++) {
		unsigned int function = (unsigned int)b->v[i].imm;

		if (!is_call(&b->v[i]))
			continue;
		if (!starts[function]) {
			starts[function] = b->nr;
			copy_function(&f->v[function], b);
		}
		if (!b->err)
			b->v[i].imm = (int32_t)(starts[function] - i - 1);
	}
}
