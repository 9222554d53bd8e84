// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/program/insns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define SCRATCH (-8) /* stack offset where helpers write */
#define ZERO (-16) /* stack offset of a 0 that the verifier takes for 0 or 1 */

void tap_insns_release(struct tap_insns *b)
{
	free(b->v);
	free(b->slots);
	free(b->uses);
	*b = (struct tap_insns){ 0 };
}

void tap_insns_forget(struct tap_insns *b)
{
	if (b->slots)
		memset(b->slots, 0, b->nr_slots * sizeof(*b->slots));
	b->next_slot = b->blur ? ZERO : SCRATCH;
	b->held = 0;
	b->last_slot = b->stack_end ?: -512;
}

void tap_insns_add(struct tap_insns *b, uint8_t code, uint8_t dst, uint8_t src, int16_t off,
		   int32_t imm)
{
	if (b->err || (tap_array_grow(&b->v, b->nr, &b->cap, sizeof(*b->v)) && (b->err = -ENOMEM)))
		return;
	b->v[b->nr++] = (struct bpf_insn){
		.code = code, .dst_reg = dst & 15, .src_reg = src & 15, .off = off, .imm = imm
	};
}

void tap_insns_land(struct tap_insns *b, unsigned int insn)
{
	if (!b->err && b->nr - insn - 1 > INT16_MAX)
		b->err = -E2BIG;
	if (!b->err)
		b->v[insn].off = (int16_t)(b->nr - insn - 1);
}

void tap_insns_call(struct tap_insns *b, int helper)
{
	tap_insns_add(b, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

void tap_insns_call_function(struct tap_insns *b, enum tap_own_function function)
{
	tap_insns_add(b, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, (int32_t)function);
}

static void load_64(struct tap_insns *b, uint8_t dst, uint8_t kind, uint64_t v)
{
	tap_insns_add(b, BPF_LD | BPF_DW | BPF_IMM, dst, kind, 0, (int32_t)v);
	tap_insns_add(b, 0, 0, 0, 0, (int32_t)(v >> 32));
}

void tap_insns_map(struct tap_insns *b, uint8_t dst, int map_fd)
{
	load_64(b, dst, BPF_PSEUDO_MAP_FD, (uint32_t)map_fd);
}

void tap_insns_map_value(struct tap_insns *b, uint8_t dst, int map_fd)
{
	load_64(b, dst, BPF_PSEUDO_MAP_VALUE, (uint32_t)map_fd);
}

void tap_insns_const(struct tap_insns *b, uint8_t dst, uint64_t v)
{
	if ((uint64_t)(int32_t)v == v)
		tap_insns_add(b, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, (int32_t)v);
	else
		load_64(b, dst, 0, v);
}

void tap_insns_move(struct tap_insns *b, uint8_t dst, uint8_t src)
{
	if (dst != src)
		tap_insns_add(b, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void emit_alu_k(struct tap_insns *b, uint8_t op, uint8_t dst, int32_t imm)
{
	tap_insns_add(b, BPF_ALU64 | op | BPF_K, dst, 0, 0, imm);
}

static void emit_alu(struct tap_insns *b, uint8_t op, uint8_t dst, uint8_t src)
{
	tap_insns_add(b, BPF_ALU64 | op | BPF_X, dst, src, 0, 0);
}

bool tap_insns_retry(struct tap_insns *b, int err)
{
	bool *how = err == -E2BIG ? &b->blur : &b->probe;

	if (b->err || *how || (err != -E2BIG && err != -EACCES && err != -EINVAL))
		return false;
	*how = true;
	return true;
}

/*
 * With .blur, store a value at ZERO that is 0 but unknown to the verifier: the negated stack
 * pointer, which is an unknown number to it, masked to its lowest bit, which is 0 because the stack
 * is aligned.
 */
void tap_insns_begin(struct tap_insns *b)
{
	tap_insns_forget(b);
	tap_insns_move(b, BPF_REG_6, BPF_REG_1);
	if (!b->blur)
		return;
	tap_insns_move(b, BPF_REG_0, BPF_REG_10);
	tap_insns_add(b, BPF_ALU64 | BPF_NEG, BPF_REG_0, 0, 0, 0);
	emit_alu_k(b, BPF_AND, BPF_REG_0, 1);
	tap_insns_add(b, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_0, ZERO, 0);
}

void tap_insns_fit(struct tap_insns *b, uint8_t reg, struct tap_ctype type)
{
	int32_t up = 64 - 8 * type.size;

	if (!up)
		return;
	emit_alu_k(b, BPF_LSH, reg, up);
	emit_alu_k(b, type.is_signed ? BPF_ARSH : BPF_RSH, reg, up);
}

/* ---- where values are ---- */

static const struct expr_node *node_of(const struct tap_insns *b, uint32_t node)
{
	return &b->prog->nodes[node];
}

static void count_uses(struct tap_insns *b)
{
	memset(b->uses, 0, b->nr_slots);
	for (uint32_t i = 1; i < b->nr_slots; i++) {
		const uint32_t parts[] = { node_of(b, i)->a, node_of(b, i)->b, node_of(b, i)->c };

		for (unsigned int k = 0; k < 3; k++)
			b->uses[parts[k]] += b->uses[parts[k]] < UINT8_MAX;
	}
}

/* Allocate .slots and .uses for all nodes. Return: false on error. */
static bool know_nodes(struct tap_insns *b)
{
	uint32_t nr = b->prog->nr_nodes;
	int16_t *slots;
	uint8_t *uses;

	if (nr <= b->nr_slots)
		return !b->err;
	slots = reallocarray(b->slots, nr, sizeof(*slots));
	b->slots = slots ?: b->slots;
	uses = slots ? reallocarray(b->uses, nr, sizeof(*uses)) : NULL;
	if (!uses) {
		b->err = b->err ?: -ENOMEM;
		return false;
	}
	b->uses = uses;
	memset(slots + b->nr_slots, 0, (nr - b->nr_slots) * sizeof(*slots));
	b->nr_slots = nr;
	count_uses(b);
	return !b->err;
}

int16_t tap_insns_push(struct tap_insns *b, uint8_t reg)
{
	if (b->next_slot - 8 < b->last_slot + b->held) {
		b->err = b->err ?: -E2BIG;
		return 0;
	}
	b->next_slot = (int16_t)(b->next_slot - 8);
	tap_insns_add(b, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, reg, b->next_slot, 0);
	return b->next_slot;
}

/* Return true if a node's value can be loaded without using another register. */
static bool is_ready(const struct tap_insns *b, uint32_t node)
{
	return node_of(b, node)->op == OP_NUM || b->slots[node];
}

/* XOR a value with the unknown 0, so that the verifier does not know it. Clobbers r5. */
static void blur_value(struct tap_insns *b, uint32_t node, uint8_t reg)
{
	if (!b->blur || node_of(b, node)->opaque)
		return;
	tap_insns_add(b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_5, BPF_REG_10, ZERO, 0);
	emit_alu(b, BPF_XOR, reg, BPF_REG_5);
}

/* @dst = value of a node that is_ready(). Clobbers only @dst and r5. */
static void load_node(struct tap_insns *b, uint32_t node, uint8_t dst)
{
	if (node_of(b, node)->op == OP_NUM) {
		tap_insns_const(b, dst, node_of(b, node)->num);
		return;
	}
	tap_insns_add(b, BPF_LDX | BPF_MEM | BPF_DW, dst, BPF_REG_10, b->slots[node], 0);
	blur_value(b, node, dst);
}

static void compute_node(struct tap_insns *b, uint32_t node);

/* @dst = a node's value. Clobbers r0 to r5. */
static void get_value(struct tap_insns *b, uint32_t node, uint8_t dst)
{
	if (b->err)
		return;
	if (is_ready(b, node)) {
		load_node(b, node, dst);
		return;
	}
	compute_node(b, node);
	tap_insns_move(b, dst, BPF_REG_0);
}

#define RESERVE 128 /* bytes reserved for held operands */

/* Save a node's value, which is in r0, for later uses, if the stack has room. */
static void keep_value(struct tap_insns *b, uint32_t node)
{
	if (!b->err && !b->slots[node] && b->next_slot - RESERVE > b->last_slot + b->held)
		b->slots[node] = tap_insns_push(b, BPF_REG_0);
}

/*
 * Compute a node and hold its value on the stack. Return: true if the caller must release it; false
 * if the value is available anyway.
 */
static bool hold_value(struct tap_insns *b, uint32_t node)
{
	if (b->err || is_ready(b, node))
		return false;
	compute_node(b, node);
	if (b->err || b->slots[node])
		return false;
	if (b->next_slot < b->last_slot + b->held + 8) {
		b->err = -E2BIG;
		return false;
	}
	b->slots[node] = (int16_t)(b->last_slot + b->held);
	b->held = (int16_t)(b->held + 8);
	tap_insns_add(b, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_0, b->slots[node], 0);
	return true;
}

static void release_held(struct tap_insns *b, uint32_t node)
{
	b->held = (int16_t)(b->held - 8);
	b->slots[node] = 0;
}

/*
 * The slots known before a branch, restored after it: values that only the branch computed are
 * unknown.
 */
struct known {
	int16_t *slots, next_slot;
};

static struct known before_branch(struct tap_insns *b)
{
	struct known k = { malloc(b->nr_slots * sizeof(*b->slots)), b->next_slot };

	if (k.slots)
		memcpy(k.slots, b->slots, b->nr_slots * sizeof(*b->slots));
	else
		b->err = b->err ?: -ENOMEM;
	return k;
}

static void after_branch(struct tap_insns *b, const struct known *k)
{
	if (k->slots)
		memcpy(b->slots, k->slots, b->nr_slots * sizeof(*b->slots));
	b->next_slot = k->next_slot;
}

/* ---- memory ---- */

/* Return true if the verifier does not know what a pointer or a place points to. */
static bool is_raw(const struct tap_insns *b, uint32_t node)
{
	const struct expr_node *n = node_of(b, node);

	switch (n->op) {
	case OP_ARG:
	case OP_CURRENT:
		return false;
	case OP_POINTER:
		return (int64_t)n->num < 0 || is_raw(b, n->a);
	case OP_MEMBER:
	case OP_PLACE:
		return b->probe || is_raw(b, n->a);
	default:
		return true;
	}
}

/* dst = pointer @base + @off bytes; @off may exceed an instruction's 16 bits. */
static void point_to(struct tap_insns *b, uint32_t base, uint64_t off, uint8_t dst)
{
	get_value(b, base, dst);
	if (off)
		emit_alu_k(b, BPF_ADD, dst, (int32_t)off);
}

unsigned int tap_insns_jump_if_null(struct tap_insns *b, uint8_t reg)
{
	tap_insns_move(b, BPF_REG_2, reg);
	tap_insns_add(b, BPF_ALU64 | BPF_NEG, BPF_REG_2, 0, 0, 0);
	tap_insns_add(b, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_2, 0, 0, 0);
	return b->nr - 1;
}

/*
 * Return true if a pointer may be NULL: an argument, or read through one that may be (it is then
 * 0).
 */
static bool may_be_null(const struct tap_insns *b, uint32_t node)
{
	const struct expr_node *n = node_of(b, node);

	return n->op == OP_ARG ||
	       ((n->op == OP_MEMBER || n->op == OP_POINTER) && may_be_null(b, n->a));
}

/*
 * Jump if pointer @base, whose value is in @reg, is NULL. The verifier trusts arguments, so a load
 * through a NULL argument would fault. A load through a pointer that was itself loaded is safe (the
 * kernel reads 0), but the verifier rejects a path on which it is known to be 0. Return: index of
 * the jump.
 */
static unsigned int jump_if_null(struct tap_insns *b, uint32_t base, uint8_t reg)
{
	if (node_of(b, base)->op == OP_ARG)
		return tap_insns_jump_if_null(b, reg);
	tap_insns_add(b, BPF_JMP | BPF_JEQ | BPF_K, reg, 0, 0, 0);
	return b->nr - 1;
}

static unsigned int jump_away(struct tap_insns *b)
{
	tap_insns_add(b, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	return b->nr - 1;
}

/* Read from the address in r3 to @base + @to. @helper: BPF_FUNC_probe_read_kernel or _user. */
static void read_memory(struct tap_insns *b, int helper, uint32_t size, uint8_t base, int16_t to)
{
	tap_insns_move(b, BPF_REG_1, base);
	emit_alu_k(b, BPF_ADD, BPF_REG_1, to);
	tap_insns_const(b, BPF_REG_2, size);
	tap_insns_call(b, helper);
}

void tap_insns_address(struct tap_insns *b, uint32_t node, uint8_t dst)
{
	if (!know_nodes(b))
		return;
	if (node_of(b, node)->op == OP_PLACE)
		point_to(b, node_of(b, node)->a, node_of(b, node)->num, dst);
	else
		tap_insns_value(b, node, dst);
}

#define MOST_WORDS 8u /* for more words a helper call is cheaper */

/* Copy words from the address in r3 + @off to @base + @to. */
static void copy_words(struct tap_insns *b, uint64_t off, uint32_t size, uint8_t base, int16_t to)
{
	if (off)
		emit_alu_k(b, BPF_ADD, BPF_REG_3, (int32_t)off);
	for (int16_t i = 0; i < (int16_t)size; i = (int16_t)(i + 8)) {
		tap_insns_add(b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_3, i, 0);
		tap_insns_add(b, BPF_STX | BPF_MEM | BPF_DW, base, BPF_REG_1, (int16_t)(to + i), 0);
	}
}

static void clear_words(struct tap_insns *b, uint32_t size, uint8_t base, int16_t to)
{
	for (int16_t i = 0; i < (int16_t)size; i = (int16_t)(i + 8))
		tap_insns_add(b, BPF_ST | BPF_MEM | BPF_DW, base, 0, (int16_t)(to + i), 0);
}

void tap_insns_copy(struct tap_insns *b, uint32_t place, uint32_t size, uint8_t base, int16_t to)
{
	const struct expr_node *n;
	unsigned int null, end;

	if (!know_nodes(b))
		return;
	n = node_of(b, place);
	if (is_raw(b, place) || size % 8 || size / 8 > MOST_WORDS) {
		tap_insns_address(b, place, BPF_REG_3);
		read_memory(b, BPF_FUNC_probe_read_kernel, size, base, to);
		return;
	}
	get_value(b, n->a, BPF_REG_3);
	if (!may_be_null(b, n->a)) {
		copy_words(b, n->num, size, base, to);
		return;
	}
	null = jump_if_null(b, n->a, BPF_REG_3);
	copy_words(b, n->num, size, base, to);
	end = jump_away(b);
	tap_insns_land(b, null);
	clear_words(b, size, base, to);
	tap_insns_land(b, end);
}

static const uint8_t sizes[] = { [1] = BPF_B, [2] = BPF_H, [4] = BPF_W, [8] = BPF_DW };

/* r0 = the value at the address in r3; 0 if it cannot be read. */
static void load_by_helper(struct tap_insns *b, int helper, unsigned int size)
{
	tap_insns_add(b, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, SCRATCH, 0);
	read_memory(b, helper, size, BPF_REG_10, SCRATCH);
	tap_insns_add(b, BPF_LDX | BPF_MEM | sizes[size], BPF_REG_0, BPF_REG_10, SCRATCH, 0);
}

/* r0 = the value at @base + @off, by a direct load that the verifier allows; 0 if @base is NULL. */
static void load_directly(struct tap_insns *b, uint32_t base, uint64_t off, unsigned int size)
{
	bool guarded = may_be_null(b, base);
	unsigned int null = 0;

	get_value(b, base, BPF_REG_1);
	if (guarded) {
		tap_insns_const(b, BPF_REG_0, 0);
		null = jump_if_null(b, base, BPF_REG_1);
	}
	if (off > INT16_MAX)
		emit_alu_k(b, BPF_ADD, BPF_REG_1, (int32_t)off);
	tap_insns_add(b, BPF_LDX | BPF_MEM | sizes[size], BPF_REG_0, BPF_REG_1,
		      off > INT16_MAX ? 0 : (int16_t)off, 0);
	if (guarded)
		tap_insns_land(b, null);
}

static void load_member(struct tap_insns *b, const struct expr_node *n)
{
	unsigned int size = n->len ? 8 : n->load & LOAD_SIZE;
	bool is_signed = n->load & LOAD_SIGNED;

	if (b->probe || is_raw(b, n->a)) {
		point_to(b, n->a, n->num, BPF_REG_3);
		load_by_helper(b, BPF_FUNC_probe_read_kernel, size);
	} else {
		load_directly(b, n->a, n->num, size);
	}
	if (n->len) {
		emit_alu_k(b, BPF_LSH, BPF_REG_0, (int32_t)(64 - n->at - n->len));
		emit_alu_k(b, is_signed ? BPF_ARSH : BPF_RSH, BPF_REG_0, (int32_t)(64 - n->len));
	} else if (is_signed) {
		tap_insns_fit(b, BPF_REG_0, (struct tap_ctype){ (uint8_t)size, true });
	}
}

/* ---- arithmetic ---- */

uint8_t tap_insns_jump_of(enum expr_op op, bool is_signed)
{
	switch (op) {
	case OP_LT:
		return is_signed ? BPF_JSLT : BPF_JLT;
	case OP_LE:
		return is_signed ? BPF_JSLE : BPF_JLE;
	case OP_GT:
		return is_signed ? BPF_JSGT : BPF_JGT;
	case OP_GE:
		return is_signed ? BPF_JSGE : BPF_JGE;
	case OP_NE:
		return BPF_JNE;
	case OP_AND:
		return BPF_JSET;
	default:
		return BPF_JEQ;
	}
}

/* Before v6.6 BPF has no signed division: divide the absolute values and restore the sign. */
static void emit_division(struct tap_insns *b, enum expr_op op, bool is_signed, uint8_t dst,
			  uint8_t src)
{
	uint8_t code = op == OP_DIV ? BPF_DIV : BPF_MOD;

	/* a division by 0 must yield 0; BPF's modulo would return the dividend */
	tap_insns_add(b, BPF_JMP | BPF_JNE | BPF_K, src, 0, 1, 0);
	tap_insns_const(b, dst, 0);
	if (!is_signed) {
		emit_alu(b, code, dst, src);
		return;
	}
	tap_insns_move(b, BPF_REG_3, dst);
	if (op == OP_DIV)
		emit_alu(b, BPF_XOR, BPF_REG_3, src); /* sign of the quotient */
	tap_insns_add(b, BPF_JMP | BPF_JSGE | BPF_K, dst, 0, 1, 0);
	tap_insns_add(b, BPF_ALU64 | BPF_NEG, dst, 0, 0, 0);
	tap_insns_add(b, BPF_JMP | BPF_JSGE | BPF_K, src, 0, 1, 0);
	tap_insns_add(b, BPF_ALU64 | BPF_NEG, src, 0, 0, 0);
	emit_alu(b, code, dst, src);
	tap_insns_add(b, BPF_JMP | BPF_JSGE | BPF_K, BPF_REG_3, 0, 1, 0);
	tap_insns_add(b, BPF_ALU64 | BPF_NEG, dst, 0, 0, 0);
}

/* Shifts by the type's width or more yield 0, or copies of the sign bit. */
static void emit_shift(struct tap_insns *b, enum expr_op op, struct tap_ctype type, uint8_t dst,
		       uint8_t src)
{
	bool down = op == OP_SHR && type.is_signed;

	tap_insns_add(b, BPF_JMP | BPF_JLT | BPF_K, src, 0, 2, type.size * 8);
	tap_insns_const(b, src, 63);
	if (down)
		tap_insns_add(b, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	else
		tap_insns_const(b, dst, 0);
	emit_alu(b, op == OP_SHL ? BPF_LSH : down ? BPF_ARSH : BPF_RSH, dst, src);
}

void tap_insns_arith(struct tap_insns *b, enum expr_op op, struct tap_ctype type, uint8_t dst,
		     uint8_t src)
{
	static const uint8_t codes[] = {
		[OP_MUL] = BPF_MUL, [OP_ADD] = BPF_ADD, [OP_SUB] = BPF_SUB,
		[OP_AND] = BPF_AND, [OP_XOR] = BPF_XOR, [OP_OR] = BPF_OR,
	};

	switch (op) {
	case OP_DIV:
	case OP_MOD:
		emit_division(b, op, type.is_signed, dst, src);
		break;
	case OP_SHL:
	case OP_SHR:
		emit_shift(b, op, type, dst, src);
		break;
	default:
		emit_alu(b, codes[op], dst, src);
	}
	tap_insns_fit(b, dst, type);
}

/* ---- nodes ---- */

/*
 * r1 and r2 = both operands. The deeper one is computed first, because it may need all of the
 * stack.
 */
static void get_pair(struct tap_insns *b, const struct expr_node *n)
{
	bool a_first = is_ready(b, n->a) ||
		       (!is_ready(b, n->b) && node_of(b, n->a)->depth > node_of(b, n->b)->depth);
	uint32_t first = a_first ? n->a : n->b;
	bool held = hold_value(b, first);

	get_value(b, a_first ? n->b : n->a, a_first ? BPF_REG_2 : BPF_REG_1);
	if (!b->err)
		load_node(b, first, a_first ? BPF_REG_1 : BPF_REG_2);
	if (held)
		release_held(b, first);
}

/* r0 = whether the comparison of r1 and r2 is true */
static void emit_comparison(struct tap_insns *b, uint8_t jump)
{
	tap_insns_const(b, BPF_REG_0, 1);
	tap_insns_add(b, BPF_JMP | jump | BPF_X, BPF_REG_1, BPF_REG_2, 1, 0);
	tap_insns_const(b, BPF_REG_0, 0);
}

/*
 * Turn a pointer into a number for the verifier, which refuses arithmetic on pointers: negate it
 * twice.
 */
static void forget_pointer(struct tap_insns *b, uint8_t reg)
{
	tap_insns_add(b, BPF_ALU64 | BPF_NEG, reg, 0, 0, 0);
	tap_insns_add(b, BPF_ALU64 | BPF_NEG, reg, 0, 0, 0);
}

/*
 * Return true if a node is a pointer passed by the tracepoint, or one into the object it points to.
 */
static bool is_passed(const struct tap_insns *b, uint32_t node)
{
	const struct expr_node *n = node_of(b, node);

	return n->op == OP_ARG ? n->opaque : n->op == OP_POINTER && is_passed(b, n->a);
}

/*
 * Prepare a value for a comparison: the verifier would remove a comparison of a pointer that it
 * assumes is never NULL (see tap_insns_jump_if_null()).
 */
static void make_comparable(struct tap_insns *b, uint32_t node, uint8_t reg)
{
	if (is_passed(b, node))
		forget_pointer(b, reg);
}

/*
 * Jump if a node's value is 0. The value may be a pointer, so it is compared and not used in
 * arithmetic.
 * Return: index of the jump.
 */
static unsigned int jump_if_zero(struct tap_insns *b, uint32_t node)
{
	get_value(b, node, BPF_REG_0);
	make_comparable(b, node, BPF_REG_0);
	tap_insns_add(b, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 0);
	return b->nr - 1;
}

static void compute_not(struct tap_insns *b, uint32_t node)
{
	get_value(b, node, BPF_REG_1);
	make_comparable(b, node, BPF_REG_1);
	tap_insns_const(b, BPF_REG_0, 0);
	tap_insns_add(b, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_1, 0, 1, 0);
	tap_insns_const(b, BPF_REG_0, 1);
}

/* && and ||: the second operand is only evaluated if the first one does not decide. */
static void compute_logic(struct tap_insns *b, const struct expr_node *n)
{
	bool both = n->op == OP_ANDAND;
	unsigned int first, second, end;
	struct known k;

	get_value(b, n->a, BPF_REG_0);
	make_comparable(b, n->a, BPF_REG_0);
	first = b->nr;
	tap_insns_add(b, BPF_JMP | (both ? BPF_JEQ : BPF_JNE) | BPF_K, BPF_REG_0, 0, 0, 0);
	k = before_branch(b);
	get_value(b, n->b, BPF_REG_0);
	make_comparable(b, n->b, BPF_REG_0);
	after_branch(b, &k);
	free(k.slots);
	second = b->nr;
	tap_insns_add(b, BPF_JMP | (both ? BPF_JEQ : BPF_JNE) | BPF_K, BPF_REG_0, 0, 0, 0);
	tap_insns_const(b, BPF_REG_0, both);
	end = jump_away(b);
	tap_insns_land(b, first);
	tap_insns_land(b, second);
	tap_insns_const(b, BPF_REG_0, !both);
	tap_insns_land(b, end);
}

static void compute_cond(struct tap_insns *b, const struct expr_node *n)
{
	unsigned int no = jump_if_zero(b, n->a), end;
	struct known k = before_branch(b);

	get_value(b, n->b, BPF_REG_0);
	after_branch(b, &k);
	end = jump_away(b);
	tap_insns_land(b, no);
	get_value(b, n->c, BPF_REG_0);
	after_branch(b, &k);
	tap_insns_land(b, end);
	free(k.slots);
}

static void load_arg(struct tap_insns *b, const struct expr_node *n)
{
	tap_insns_add(b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_6, (int16_t)(8 * n->num),
		      0);
	/* make it a number: the verifier refuses to add to a pointer that may be NULL */
	if (b->probe && n->opaque)
		forget_pointer(b, BPF_REG_0);
	tap_insns_fit(b, BPF_REG_0, n->type);
}

/* r0 = a node's value. Clobbers r1 to r5. */
static void compute_node(struct tap_insns *b, uint32_t node)
{
	const struct expr_node *n = node_of(b, node);

	switch (n->op) {
	case OP_ARG:
		load_arg(b, n);
		break;
	case OP_CURRENT:
		tap_insns_call(b, BPF_FUNC_get_current_task_btf);
		break;
	case OP_MEMBER:
		load_member(b, n);
		break;
	case OP_POINTER:
		point_to(b, n->a, n->num, BPF_REG_0);
		break;
	case OP_USER:
		get_value(b, n->a, BPF_REG_3);
		load_by_helper(b, BPF_FUNC_probe_read_user, n->type.size);
		tap_insns_fit(b, BPF_REG_0, n->type);
		break;
	case OP_USER_TEXT:
		get_value(b, n->a, BPF_REG_0);
		break;
	case OP_COOKIE:
		tap_insns_move(b, BPF_REG_1, BPF_REG_6);
		tap_insns_call(b, BPF_FUNC_get_attach_cookie);
		break;
	case OP_CAST:
		get_value(b, n->a, BPF_REG_0);
		if (node_of(b, n->a)->opaque)
			forget_pointer(b, BPF_REG_0);
		tap_insns_fit(b, BPF_REG_0, n->type);
		break;
	case OP_NOT:
		compute_not(b, n->a);
		break;
	case OP_NEG:
	case OP_INV:
		get_value(b, n->a, BPF_REG_0);
		if (n->op == OP_NEG)
			tap_insns_add(b, BPF_ALU64 | BPF_NEG, BPF_REG_0, 0, 0, 0);
		else
			emit_alu_k(b, BPF_XOR, BPF_REG_0, -1);
		tap_insns_fit(b, BPF_REG_0, n->type);
		break;
	case OP_CAPACITY:
		get_value(b, n->a, BPF_REG_1);
		tap_insns_call_function(b, TAP_OWN_CAPACITY);
		break;
	case OP_ANDAND:
	case OP_OROR:
		compute_logic(b, n);
		break;
	case OP_COND:
		compute_cond(b, n);
		break;
	case OP_LT:
	case OP_GT:
	case OP_LE:
	case OP_GE:
	case OP_EQ:
	case OP_NE:
		get_pair(b, n);
		make_comparable(b, n->a, BPF_REG_1);
		make_comparable(b, n->b, BPF_REG_2);
		emit_comparison(b, tap_insns_jump_of(n->op, n->arith.is_signed));
		break;
	case OP_MUL:
	case OP_DIV:
	case OP_MOD:
	case OP_ADD:
	case OP_SUB:
	case OP_SHL:
	case OP_SHR:
	case OP_AND:
	case OP_XOR:
	case OP_OR:
		get_pair(b, n);
		tap_insns_arith(b, n->op, n->arith, BPF_REG_1, BPF_REG_2);
		tap_insns_move(b, BPF_REG_0, BPF_REG_1);
		break;
	default:
		b->err = b->err ?: -EINVAL;
	}
	blur_value(b, node, BPF_REG_0);
	if (b->uses[node] > 1)
		keep_value(b, node);
}

void tap_insns_value(struct tap_insns *b, uint32_t node, uint8_t dst)
{
	if (!know_nodes(b))
		return;
	if (b->uses[node] && !is_ready(b, node)) { /* other nodes use the value too */
		compute_node(b, node);
		keep_value(b, node);
		tap_insns_move(b, dst, BPF_REG_0);
		return;
	}
	get_value(b, node, dst);
}
