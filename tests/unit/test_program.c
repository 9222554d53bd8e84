// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What programs made at run time compute: each expression here is one that the compiler of this
 * file has compiled, too, and the instructions made of its text are run by a machine of a few
 * lines, with the same arguments. Nothing is asked of a kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "event/expr/parse.h"
#include "record/program/assignments.h"
#include "record/program/feed.h"
#include "record/program/insns.h"
#include "record/program/recorder.h"
#include "small_btf.h"

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;

/* it is about what these warn of */
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wbool-operation"
#pragma GCC diagnostic ignored "-Waddress"
#pragma GCC diagnostic ignored "-Wparentheses"

#define LEN(table) (sizeof(table) / sizeof(*(table)))

/* ---- the machine ---- */

static uint64_t load_from(uint64_t address, uint8_t code)
{
	static const uint8_t sizes[] = {
		[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8
	};
	uint64_t v = 0;

	memcpy(&v, (void *)(uintptr_t)address, sizes[BPF_SIZE(code) >> 3]);
	return v;
}

static uint64_t alu(uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_MOD:
		return b ? a % b : a;
	case BPF_AND:
		return a & b;
	case BPF_OR:
		return a | b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & 63);
	case BPF_RSH:
		return a >> (b & 63);
	case BPF_ARSH:
		return (uint64_t)((int64_t)a >> (b & 63));
	case BPF_NEG:
		return -a;
	case BPF_MOV:
		return b;
	default:
		fail_msg("operation %#x", op);
		return 0;
	}
}

static bool jumps(uint8_t op, uint64_t a, uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case BPF_JA:
		return true;
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSGT:
		return sa > sb;
	case BPF_JSGE:
		return sa >= sb;
	case BPF_JSLT:
		return sa < sb;
	case BPF_JSLE:
		return sa <= sb;
	case BPF_JSET:
		return a & b;
	default:
		fail_msg("jump %#x", op);
		return false;
	}
}

/*
 * Which registers and places on the stack have the pointer p as it was passed: the kernel's
 * verifier takes it for one that is not NULL, and removes what asks. So does this machine.
 */
struct passed {
	bool regs[11], stack[64];
};

static bool *passed_at(struct passed *p, const uint64_t *stack, uint64_t address)
{
	uint64_t at = (address - (uintptr_t)stack) / 8;

	return at < LEN(p->stack) ? &p->stack[at] : NULL;
}

static void note_passed(struct passed *p, const struct bpf_insn *insn, const uint64_t *r,
			const uint64_t *stack, const uint64_t *ctx)
{
	uint64_t from = r[insn->src_reg] + (uint64_t)(int64_t)insn->off,
		 to = r[insn->dst_reg] + (uint64_t)(int64_t)insn->off;
	bool *slot = passed_at(p, stack, BPF_CLASS(insn->code) == BPF_LDX ? from : to);

	if (BPF_CLASS(insn->code) == BPF_LDX)
		p->regs[insn->dst_reg] = slot ? *slot : from == (uintptr_t)ctx;
	else if (BPF_CLASS(insn->code) == BPF_STX && slot)
		*slot = p->regs[insn->src_reg];
	else if (BPF_CLASS(insn->code) == BPF_ALU64 || BPF_CLASS(insn->code) == BPF_LD)
		p->regs[insn->dst_reg] =
			insn->code == (BPF_ALU64 | BPF_MOV | BPF_X) && p->regs[insn->src_reg];
	else if (insn->code == (BPF_JMP | BPF_CALL))
		memset(p->regs, 0, 6);
}

static bool is_removed(const struct passed *p, const struct bpf_insn *insn, uint64_t src)
{
	return BPF_OP(insn->code) != BPF_JA && p->regs[insn->dst_reg] && !src &&
	       !(insn->code & BPF_X && p->regs[insn->src_reg]);
}

/* Return: r0 at the end. Registers that a helper may change are changed. */
static uint64_t run(const struct bpf_insn *insn, const uint64_t *ctx)
{
	struct passed passed = { 0 };
	uint64_t stack[64],
		r[11] = { [1] = (uintptr_t)ctx, [10] = (uintptr_t)(stack + LEN(stack)) };

	memset(stack, 0xa5, sizeof(stack));
	for (;; insn++) {
		uint64_t *dst = &r[insn->dst_reg],
			 src = insn->code & BPF_X ? r[insn->src_reg] : (uint64_t)(int64_t)insn->imm;

		note_passed(&passed, insn, r, stack, ctx);
		switch (BPF_CLASS(insn->code)) {
		case BPF_ALU64:
			*dst = alu(BPF_OP(insn->code), *dst, src);
			break;
		case BPF_LD: /* of 64 bits, in two */
			*dst = (uint32_t)insn->imm | (uint64_t)(uint32_t)insn[1].imm << 32;
			insn++;
			break;
		case BPF_LDX:
			*dst = load_from(r[insn->src_reg] + (uint64_t)(int64_t)insn->off,
					 insn->code);
			break;
		case BPF_ST:
		case BPF_STX:
			src = BPF_CLASS(insn->code) == BPF_ST ? (uint64_t)(int64_t)insn->imm
							      : r[insn->src_reg];
			assert_int_equal(BPF_SIZE(insn->code), BPF_DW);
			assert_true(insn->dst_reg == 10 && insn->off < 0 && insn->off >= -512);
			memcpy((void *)(uintptr_t)(*dst + (uint64_t)(int64_t)insn->off), &src, 8);
			break;
		default:
			if (BPF_OP(insn->code) == BPF_EXIT)
				return r[0];
			if (BPF_OP(insn->code) != BPF_CALL) {
				/* that it is NULL: never */
				insn += jumps(BPF_OP(insn->code),
					      is_removed(&passed, insn, src) ? 1 : *dst, src)
						? insn->off
						: 0;
				break;
			}
			assert_int_equal(insn->imm, BPF_FUNC_probe_read_kernel);
			if (r[3] < 4096) /* as where nothing can be read */
				memset((void *)(uintptr_t)r[1], 0, r[2]);
			else
				memcpy((void *)(uintptr_t)r[1], (void *)(uintptr_t)r[3], r[2]);
			for (unsigned int i = 0; i <= 5; i++)
				r[i] = 0x5a5a5a5a5a5a5a5a;
		}
	}
}

/* ---- expressions ---- */

struct args {
	struct task_struct *p;
	long a;
	int b;
	u8 c;
	short d;
	bool e;
};

/* What C leaves undefined must not happen with the arguments below. */
#define EXPRESSIONS(x)                                                                             \
	/* casts */                                                                                \
	x((s8)a) x((u8)a) x((s16)(a + 1)) x((u32)b) x((s64)(u32)b) x((bool)a) x((bool)(a & 0x100)) \
		x((u8)(bool)a + 1) x((u64)p >> 3) x((u32)(u64)p) x((a * b))                        \
			x(((int)a)) /* signs and widths */                                         \
		x(b < 1u) x(c - 1 < 0) x(d < c) x(a > (unsigned long)b) x(-d > c)                  \
			x((1 ? b : 0u) < 0) x((0 ? 0u : b) < 0) x((c ? -1 : 0u) >                  \
								  0) x((u16)d * 1000) x(~c) x(-e)  \
				x(b + 0x7fffffff00000000) x(a ^ 0xffffffff) x(p->low - 7 < 0)      \
					x(-p->low) x(p->high * 2) x(p->small << 4) x(p->below / 2) \
						x(p->below % 7) x(-(a | 1) / 3) x(a / (b | 1))     \
							x(a % (d | 1)) x(b >> 3) x((u32)b >> 3)    \
								x((u32)c << 24 >> 3) /* 0 and 1 */ \
		x(!c) x(!!a) x(!p) x(p ? 1 : 2) x(a &&b) x((a & 0x100) || 0)                       \
			x((a && b) + (c || d)) x(!(u8)a + 1)                                       \
				x(e == !!e) /* a value in several branches */                      \
		x((a ? a * b : 7) + (b ? a * b : 9)) x((c && a * b > 3) + a * b)                   \
			x((a * b ? 1 : a * b) ^ (d ? (a * b) & 1 : d))                             \
				x((a > b ? a - b : b - a) *                                        \
				  (a > b ? a - b : b - a)) /* what other pointers lead to */       \
		x(p->parent->pid) x(p->parent->mask[1] & 0xff) x(p->parent ? p->parent->pid : -1)  \
			x(p->parent == p) x(p->parent != NULL)                                     \
				x(((struct task_struct *)(u64)p)->pid + 1)                         \
					x((&p->mask[0] != NULL) + p->comm[2])

#define TEXT(...) #__VA_ARGS__,
static const char *const expressions[] = { EXPRESSIONS(TEXT) };

/* By their names, as expressions have them. */
#define ARGUMENTS(of)                                                                              \
	struct task_struct *p = (of).p;                                                            \
	long a = (of).a;                                                                           \
	int b = (of).b;                                                                            \
	u8 c = (of).c;                                                                             \
	short d = (of).d;                                                                          \
	bool e = (of).e;

#define VALUE(...) *out++ = (uint64_t)(__VA_ARGS__);
static void compute(struct args v, uint64_t *out)
{
	ARGUMENTS(v)

	EXPRESSIONS(VALUE)
}

static struct task_struct child;
static struct task_struct parent = {
	.parent = &child, .pid = 77, .mask = { 1, 0x1234 }, .name = "p", .comm = "parent"
};
static struct task_struct child = { 42, 5, -9, 200, -100, { ~0ul, 3 }, &parent, "c", "child" };

static const struct args args[] = {
	{ &child, 0, 0, 0, 0, false },
	{ &child, 1, -1, 255, -1, true },
	{ &parent, -1, 7, 128, -300, true },
	{ &child, 0x100, 1 << 30, 1, 300, false },
	{ &child, -0x123456789, -77, 9, 32767, true },
	{ &parent, 0x7fffffff00000000, 3, 77, -32768, true },
};

/* Arguments as a tracepoint passes them: what is above a narrow one is anything. */
static void pass(const struct args *v, uint64_t ctx[6])
{
	const uint64_t above = 0xabababababababab;

	ctx[0] = (uintptr_t)v->p;
	ctx[1] = (uint64_t)v->a;
	ctx[2] = above << 32 | (uint32_t)v->b;
	ctx[3] = above << 8 | v->c;
	ctx[4] = above << 16 | (uint16_t)v->d;
	ctx[5] = above << 8 | v->e;
}

/* The value of a node. @how: one bit for each way to be to the verifier's liking. */
static uint64_t value_of(const struct expr_prog *prog, uint32_t node, const struct args *v,
			 unsigned int how)
{
	struct tap_insns b = {
		.prog = prog, .probe = how & 1, .blur = how & 2, .stack_end = how & 4 ? -176 : 0
	};
	uint64_t ctx[6], got;

	tap_insns_begin(&b);
	tap_insns_value(&b, node, BPF_REG_0);
	tap_insns_add(&b, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	assert_int_equal(b.err, 0);
	pass(v, ctx);
	got = run(b.v, ctx);
	tap_insns_release(&b);
	return got;
}

static void test_expressions(void **state)
{
	struct btf *btf = small_btf();
	uint64_t want[LEN(args)][LEN(expressions)];

	(void)state;
	for (size_t k = 0; k < LEN(args); k++)
		compute(args[k], want[k]);
	for (size_t i = 0; i < LEN(expressions); i++) {
		struct tap_scope n;
		uint32_t node;

		assert_int_equal(tap_scope_init(&n, btf, &(struct tap_feed){ "one" }, NULL, 4), 0);
		tap_scope_begin(&n, expressions[i]);
		node = tap_expr_parse(&n.p);
		if (n.p.err || *n.p.at)
			fail_msg("%s: %s", expressions[i],
				 tap_scope_text(&n, tap_scope_why(&n, node)));
		for (size_t k = 0; k < LEN(args) * 8; k++) {
			uint64_t got = value_of(&n.prog, node, &args[k / 8], k % 8);

			if (got != want[k / 8][i])
				fail_msg("%s: %#llx, and not %#llx", expressions[i],
					 (unsigned long long)got,
					 (unsigned long long)want[k / 8][i]);
		}
		tap_scope_release(&n);
	}
	btf__free(btf);
}

/* ---- pointers that are NULL ---- */

static struct task_struct orphan = { .pid = 8 };

/* By hand, for C does not say it: what is read through it is 0. */
static const struct {
	const char *text;
	uint64_t of_null; /* with the arguments (NULL, 3) */
	uint64_t of_orphan; /* (&orphan, 3): its parent is NULL */
} nulls[] = {
	{ "p->pid", 0, 8 },
	{ "p->pid + a", 3, 11 },
	{ "p->low", 0, 0 },
	{ "p->high - 1", ~0ull, ~0ull },
	{ "p->mask[1]", 0, 0 },
	{ "p->comm[2]", 0, 0 },
	{ "p->parent->pid", 0, 0 },
	{ "p->parent->parent->pid + 1", 1, 1 },
	{ "p->pid + p->parent->pid + p->pid", 0, 16 },
	{ "!p", 1, 0 },
	{ "p ? p->pid : -1", ~0ull, 8 },
	{ "p == NULL", 1, 0 },
	{ "p != NULL", 0, 1 },
	{ "p && a", 0, 1 },
	{ "a && p", 0, 1 },
	{ "p->parent == p", 1, 0 },
	{ "p->parent ? 1 : 2", 2, 2 },
	{ "(u64)p->parent", 0, 0 },
};

static void test_nulls(void **state)
{
	static const struct args of_null = { .a = 3 }, of_orphan = { .p = &orphan, .a = 3 };
	struct btf *btf = small_btf();

	(void)state;
	for (size_t i = 0; i < LEN(nulls); i++) {
		struct tap_scope n;
		uint32_t node;

		assert_int_equal(tap_scope_init(&n, btf, &(struct tap_feed){ "one" }, NULL, 4), 0);
		tap_scope_begin(&n, nulls[i].text);
		node = tap_expr_parse(&n.p);
		assert_int_equal(n.p.err, 0);
		for (unsigned int how = 0; how < 8; how++)
			if (value_of(&n.prog, node, &of_null, how) != nulls[i].of_null ||
			    value_of(&n.prog, node, &of_orphan, how) != nulls[i].of_orphan)
				fail_msg("%s, made the way %u", nulls[i].text, how);
		tap_scope_release(&n);
	}
	btf__free(btf);
}

/* Copies p->comm to the stack. Return: its last eight bytes. */
static uint64_t last_of_comm(const struct btf *btf, const struct args *v, bool probe)
{
	struct tap_insns b = { .probe = probe };
	struct tap_scope n;
	uint64_t ctx[6], got;
	uint32_t place;

	assert_int_equal(tap_scope_init(&n, btf, &(struct tap_feed){ "one" }, NULL, 4), 0);
	tap_scope_begin(&n, "p->comm");
	place = tap_expr_parse(&n.p);
	assert_int_equal(n.p.err, 0);
	b.prog = &n.prog;
	tap_insns_begin(&b);
	tap_insns_copy(&b, place, 16, BPF_REG_10, -256);
	tap_insns_add(&b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_10, -248, 0);
	tap_insns_add(&b, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	assert_int_equal(b.err, 0);
	pass(v, ctx);
	got = run(b.v, ctx);
	tap_insns_release(&b);
	tap_scope_release(&n);
	return got;
}

static void test_copy(void **state)
{
	static struct task_struct named = { .comm = "12345678abcdefg" };
	static const struct args of_null, of_named = { .p = &named };
	struct btf *btf = small_btf();
	uint64_t want;

	(void)state;
	memcpy(&want, "abcdefg", 8);
	for (unsigned int probe = 0; probe < 2; probe++) {
		assert_int_equal(last_of_comm(btf, &of_named, probe), want);
		assert_int_equal(last_of_comm(btf, &of_null, probe), 0);
	}
	btf__free(btf);
}

/* ---- statements ---- */

struct record {
	u8 narrow;
	bool truth;
	s16 half;
	u32 word;
	s64 wide;
	u16 two[2];
	u32 nothing; /* in place of padding */
};

#define STATEMENTS(x)                                                                              \
	x(REC->narrow = a; REC->word = REC->narrow + 1;) x(                                        \
		REC->truth = a; REC->word = REC->truth; REC->truth += 5; REC->wide = REC->truth;)  \
		x(u8 v = a; v += 200; REC->word = v; v = b; REC->wide = v;) x(                     \
			bool v = a & 0x100; REC->word = v; v = 6; REC->wide = v; v++;              \
			REC->narrow = v;) x(REC->wide = -1; if (c > 3) REC->wide = (u32)b;)        \
			x(REC->half = b; REC->half >>= 2; REC->wide = REC->half;                   \
			  REC->word = REC->half;) x(s16 v = d; if (a > 0) {                        \
				v = a;                                                             \
				if (e)                                                             \
					v = -v;                                                    \
			} else v--;                                                                \
						    REC->wide = v;) x(REC->narrow = 250; if (e) {  \
				REC->narrow += c;                                                  \
				REC->word = REC->narrow;                                           \
			} REC->wide = REC->narrow;)                                                \
				x(struct task_struct *q = p; if (p->parent) q = p->parent;         \
				  REC->word = q->pid; REC->wide = q == p;)                         \
					x(u64 v = (u64)p; REC->wide = v + 1; REC->two[0] = v;      \
					  REC->two[1] = v >> 16;) x(int v = 1; {                   \
						int v = 2;                                         \
						REC->word = v;                                     \
					} REC->wide = v;) x(REC->word = 1; REC->word <<= 31;       \
							    REC->wide = REC->word << 1;            \
							    REC->half = REC->word >> 20;)

#define STATEMENT_TEXT(...) #__VA_ARGS__,
static const char *const statements[] = { STATEMENTS(STATEMENT_TEXT) };

#define REC (&r)
#define DO(...)                                                                                    \
	{                                                                                          \
		struct record r = { 0 };                                                           \
		__VA_ARGS__                                                                        \
		*out++ = r;                                                                        \
	}
static void execute(struct args arg, struct record *out)
{
	ARGUMENTS(arg)

	(void)d;
	STATEMENTS(DO)
}

/* clang-format off */
#define FIELD(field, type_name, sign)                                                              \
	{ .name = #field, .type = type_name, .offset = offsetof(struct record, field),             \
	  .size = sizeof(((struct record *)0)->field), .elem_size = sizeof(((struct record *)0)->field), \
	  .is_signed = sign, .kind = TAP_FIELD_NUMBER }
/* clang-format on */
static const struct tap_field fields[] = {
	FIELD(narrow, "u8", false),
	FIELD(truth, "bool", false),
	FIELD(half, "s16", true),
	FIELD(word, "u32", false),
	FIELD(wide, "s64", true),
	{ .name = "two",
	  .type = "u16",
	  .offset = offsetof(struct record, two),
	  .size = 4,
	  .elem_size = 2,
	  .kind = TAP_FIELD_ARRAY },
};

static struct tap_def def_of(const char *assign)
{
	return (struct tap_def){
		.system = "s",
		.name = "one",
		.params = "struct task_struct *p, long a, int b, u8 c, short d, bool e",
		.assign = assign,
		.fields = fields,
		.nr_fields = LEN(fields),
		.size = sizeof(struct record)
	};
}

static void execute_text(const struct tap_assignments *a, const struct args *v, unsigned int how,
			 struct record *out)
{
	for (unsigned int i = 0; i < a->nr; i++) {
		uint64_t got = value_of(&a->scope.prog, a->v[i].number, v, how);

		memcpy((char *)out + a->v[i].field->offset + a->v[i].element * 2, &got,
		       a->v[i].field->elem_size);
	}
}

static void test_statements(void **state)
{
	struct btf *btf = small_btf();
	struct record want[LEN(args)][LEN(statements)];

	(void)state;
	for (size_t k = 0; k < LEN(args); k++)
		execute(args[k], want[k]);
	for (size_t i = 0; i < LEN(statements); i++) {
		struct tap_def def = def_of(statements[i]);
		struct tap_assignments a;
		uint32_t reason;

		if (tap_assignments_init(&a, btf, &def, &(struct tap_feed){ "one" }, 4, &reason))
			fail_msg("%s: %s", statements[i], tap_scope_text(&a.scope, reason));
		for (size_t k = 0; k < LEN(args) * 8; k++) {
			struct record got = { 0 };

			execute_text(&a, &args[k / 8], k % 8, &got);
			if (memcmp(&got, &want[k / 8][i], sizeof(got)))
				fail_msg("%s: not with the arguments %zu", statements[i], k / 8);
		}
		tap_assignments_release(&a);
	}
	btf__free(btf);
}

/* ---- what is refused, and why ---- */

static const struct {
	const char *assign, *says; /* NULL: it is not refused */
} refusals[] = {
	{ "REC->word = ((struct tusk *)p)->pid;", "this kernel has no struct tusk" },
	{ "struct tusk *t = (struct tusk *)p; REC->word = t->pid;", "this kernel has no struct tusk" },
	{ "struct tusk *t = (struct tusk *)p; REC->narrow = 1;", NULL },
	{ "REC->word = p + 1;", "cannot parse this" },
	{ "REC->word = ~p;", "cannot parse this" },
	{ "REC->word = (u64)p + 1;", NULL },
	{ "REC->word = p->pod; REC->word += 1;", "this kernel has no 'pod' in struct task_struct: did you mean 'pid'?" },
	{ "REC->word = p->pod; if (a) REC->word = 1;", "this kernel has no 'pod' in struct task_struct: did you mean 'pid'?" },
	{ "REC->word = p->pod; REC->half = REC->word;", "this kernel has no 'pod' in struct task_struct: did you mean 'pid'?" },
	{ "REC->word = p->pod; REC->word = 1;", NULL },
	{ "s8 v = p->pod; v = 1; REC->word = v;", NULL },
	{ "REC->word = p->pod;", "this kernel has no 'pod' in struct task_struct: did you mean 'pid'?" },
	{ "REC->word = tp_task_cpu(a);", "the expression before 'thread_info' is not a pointer to a struct" },
	{ "REC->word = tap_upper(p);", "cannot parse this" },
	{ "if (p->comm) REC->word = 1;", "this is not a condition" },
}, refused_conditions[] = {
	{ "p->pid > 1", NULL },
	{ "p", NULL },
	{ "p->comm", "this is not a condition" },
	{ "p +", "cannot parse this" },
	{ "tap_upper(p)", "cannot parse this" },
};

static void check_refusal(const struct tap_def *def, const char *text, const char *says)
{
	struct btf *btf = small_btf();
	const struct tap_recorder_env env = { .btf = btf, .nr_cpus = 1 };
	const bool absent[LEN(fields)] = { 0 };
	struct tap_err err = { 0 };
	const char *at = text;
	int ret = tap_recorder_check(&env, def, &(struct tap_feed){ "one" }, absent, &at, &err);

	if (!says ? ret : ret != -EINVAL || strcmp(err.text, says))
		fail_msg("%s: %d '%s'", text, ret, err.text);
	if (says && (at < text || at > text + strlen(text)))
		fail_msg("%s: its place is in no text of the definition", text);
	btf__free(btf);
}

static void test_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(refusals); i++) {
		struct tap_def def = def_of(refusals[i].assign);

		check_refusal(&def, def.assign, refusals[i].says);
	}
}

static void test_refused_conditions(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(refused_conditions); i++) {
		struct tap_def def = def_of("REC->word = 1;");

		def.condition = refused_conditions[i].assign;
		check_refusal(&def, def.condition, refused_conditions[i].says);
	}
}

/* Texts lie after the fixed part, in their order; each allows for the largest size of those before
 * it. */
static void test_room_of_texts(void **state)
{
	static const struct tap_field texts[] = {
		{ .name = "one",
		  .type = "__data_loc char[]",
		  .offset = 8,
		  .size = 4,
		  .elem_size = 1,
		  .kind = TAP_FIELD_STRING },
		{ .name = "two",
		  .type = "__data_loc char[]",
		  .offset = 12,
		  .size = 4,
		  .elem_size = 1,
		  .kind = TAP_FIELD_STRING },
	};
	static const struct {
		uint32_t size;
		const char *assign, *says;
	} cases[] = {
		{ 1004, "__assign_str(one, p->comm); __assign_str(two, p->comm);", NULL },
		{ 1008, "__assign_str(one, p->comm); __assign_str(two, p->comm);",
		  "'two' may begin at byte 1024" },
		{ 1008, "__assign_str(one, p->comm);", NULL },
		{ 764, "__assign_str(two, p->name); __assign_str(one, p->comm);", NULL },
		{ 768, "__assign_str(two, p->name); __assign_str(one, p->comm);",
		  "'one' may begin at byte 1024" },
		{ 4004, "", "4004 bytes, but the limit is 4000" },
	};
	struct btf *btf = small_btf();
	const struct tap_recorder_env env = { .btf = btf, .nr_cpus = 1 };
	const bool absent[2] = { 0 };

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		const struct tap_def def = { .system = "s",
					     .name = "texts",
					     .fields = texts,
					     .nr_fields = 2,
					     .assign = cases[i].assign,
					     .size = cases[i].size };
		struct tap_err err = { 0 };
		const char *at;
		int ret = tap_recorder_check(&env, &def, &(struct tap_feed){ "one" }, absent, &at,
					     &err);

		if (!cases[i].says ? ret : ret != -EINVAL || !strstr(err.text, cases[i].says))
			fail_msg("%zu: %d '%s'", i, ret, err.text);
	}
	btf__free(btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expressions),   cmocka_unit_test(test_nulls),
		cmocka_unit_test(test_copy),	      cmocka_unit_test(test_statements),
		cmocka_unit_test(test_refusals),      cmocka_unit_test(test_refused_conditions),
		cmocka_unit_test(test_room_of_texts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
