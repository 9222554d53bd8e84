// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/program/probe_args.h"

#include <elf.h>
#include <stdlib.h>

#define NOT_UNDERSTOOD "the argument's location cannot be parsed"
#define NOT_SEEN "the argument is in a register that a BPF program cannot read"

/* The unparsed rest of an argument's specification. */
struct text {
	const char *at, *end;
};

static bool accept_char(struct text *t, char c)
{
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

static void skip_blanks(struct text *t)
{
	while (t->at < t->end && *t->at == ' ')
		t->at++;
}

/* Take an assembler name, which may contain more than letters: "counter.1", ".LC0". */
static struct span take_name(struct text *t)
{
	struct span w = { t->at, 0 };

	while (t->at < t->end && (is_word(*t->at) || *t->at == '.' || *t->at == '$'))
		t->at++;
	w.len = (size_t)(t->at - w.s);
	return w;
}

/*
 * Take a number with its sign. Return: false: not a number. Digits that do not end the word are an
 * error.
 */
static bool take_number(struct text *t, uint64_t *num)
{
	char digits[32];
	size_t len = 0;
	bool minus;
	char *end;

	if (!accept_char(t, '+') && t->at < t->end && *t->at == '-')
		len++;
	minus = len;
	while (t->at + len < t->end && len < sizeof(digits) - 1 &&
	       isalnum((unsigned char)t->at[len]))
		len++;
	memcpy(digits, t->at, len);
	digits[len] = '\0';
	if (len <= minus || !isdigit((unsigned char)digits[minus]))
		return false;
	*num = strtoull(digits + minus, &end, 0);
	if (minus)
		*num = -*num;
	t->at += len;
	return !*end;
}

/* ---- x86-64 ---- */

enum { X86_RAX = 10, X86_RIP = 16 };

/* Word index in struct pt_regs, and the names of the register's low 8, 4, 2 and 1 bytes. */
static const struct {
	int word;
	const char *names[4];
} x86_registers[] = {
	{ 0, { "r15", "r15d", "r15w", "r15b" } },  { 1, { "r14", "r14d", "r14w", "r14b" } },
	{ 2, { "r13", "r13d", "r13w", "r13b" } },  { 3, { "r12", "r12d", "r12w", "r12b" } },
	{ 4, { "rbp", "ebp", "bp", "bpl" } },	   { 5, { "rbx", "ebx", "bx", "bl" } },
	{ 6, { "r11", "r11d", "r11w", "r11b" } },  { 7, { "r10", "r10d", "r10w", "r10b" } },
	{ 8, { "r9", "r9d", "r9w", "r9b" } },	   { 9, { "r8", "r8d", "r8w", "r8b" } },
	{ X86_RAX, { "rax", "eax", "ax", "al" } }, { 11, { "rcx", "ecx", "cx", "cl" } },
	{ 12, { "rdx", "edx", "dx", "dl" } },	   { 13, { "rsi", "esi", "si", "sil" } },
	{ 14, { "rdi", "edi", "di", "dil" } },	   { X86_RIP, { "rip", "eip", "ip", "" } },
	{ 19, { "rsp", "esp", "sp", "spl" } },
};

/* Names of the second byte of four registers. */
static const struct {
	int word;
	const char *name;
} x86_high[] = { { X86_RAX, "ah" }, { 5, "bh" }, { 11, "ch" }, { 12, "dh" } };

/* Find a register by its name after "%". Return: its word index, or -1. */
static int x86_register(struct span name, uint8_t *shift)
{
	for (size_t i = 0; i < sizeof(x86_registers) / sizeof(*x86_registers); i++)
		for (size_t k = 0; k < 4; k++)
			if (name.len && span_is(name, x86_registers[i].names[k]))
				return x86_registers[i].word;
	for (size_t i = 0; shift && i < sizeof(x86_high) / sizeof(*x86_high); i++)
		if (span_is(name, x86_high[i].name)) {
			*shift = 8;
			return x86_high[i].word;
		}
	return -1;
}

static bool x86_take_register(struct text *t, int *word)
{
	if (!accept_char(t, '%'))
		return false;
	*word = x86_register(take_name(t), NULL);
	return *word >= 0;
}

/* Parse the part in parentheses, after "(": "%rbp", "%rax,%rbx,4", ",%rbx,4". */
static bool x86_take_base(struct text *t, struct tap_probe_arg *a)
{
	uint64_t scale = 1;

	if (t->at < t->end && *t->at != ',' && !x86_take_register(t, &a->reg))
		return false;
	if (accept_char(t, ',') && !x86_take_register(t, &a->index))
		return false;
	if (accept_char(t, ',') &&
	    (!take_number(t, &scale) || (scale != 1 && scale != 2 && scale != 4 && scale != 8)))
		return false;
	a->scale = (uint8_t)scale;
	return accept_char(t, ')');
}

/* Parse a displacement: "16", "counter", "counter+16", "16+counter". */
static bool x86_take_displacement(struct text *t, struct tap_probe_arg *a)
{
	if (t->at < t->end && *t->at != '(' && !take_number(t, &a->num)) {
		a->symbol = take_name(t);
		return a->symbol.len &&
		       (t->at == t->end || *t->at == '(' || take_number(t, &a->num));
	}
	if (accept_char(t, '+'))
		a->symbol = take_name(t);
	return !a->symbol.s || a->symbol.len;
}

/*
 * Make a symbol's address relative to %rip: the distance between code and symbol is the same in
 * memory as in the file. Return: false: cannot be expressed.
 */
static bool x86_relate_symbol(struct tap_probe_arg *a)
{
	if (!a->symbol.s || a->reg == X86_RIP)
		/*
		 * a number relative to %rip is ambiguous: the note does not say to which
		 * instruction's %rip
		 */
		return a->symbol.s || a->reg != X86_RIP;
	if (a->reg >= 0 && a->index >= 0)
		return false;
	if (a->reg >= 0) {
		a->index = a->reg;
		a->scale = 1;
	}
	a->reg = X86_RIP;
	return true;
}

static const char *x86_read(struct text *t, struct tap_probe_arg *a)
{
	if (accept_char(t, '$')) {
		a->place = TAP_PROBE_CONSTANT;
		return take_number(t, &a->num) ? NULL : NOT_UNDERSTOOD;
	}
	if (accept_char(t, '%')) {
		a->place = TAP_PROBE_REGISTER;
		a->reg = x86_register(take_name(t), &a->shift);
		return a->reg < 0 ? NOT_SEEN : NULL;
	}
	a->place = TAP_PROBE_MEMORY;
	if (!x86_take_displacement(t, a) || (accept_char(t, '(') && !x86_take_base(t, a)) ||
	    !x86_relate_symbol(a))
		return NOT_UNDERSTOOD;
	return a->reg < 0 && a->index < 0 ? NOT_UNDERSTOOD : NULL;
}

/* ---- arm64 ---- */

enum { ARM64_SP = 31, ARM64_PC = 32 };

/* Find "x0" to "x30", "w0" to "w30" or "sp". Return: its word index, or -1. */
static int arm64_register(struct span name)
{
	int word = 0;

	if (span_is(name, "sp"))
		return ARM64_SP;
	if (name.len < 2 || name.len > 3 || (name.s[0] != 'x' && name.s[0] != 'w'))
		return -1;
	for (size_t i = 1; i < name.len; i++) {
		if (!isdigit((unsigned char)name.s[i]))
			return -1;
		word = word * 10 + name.s[i] - '0';
	}
	return word <= 30 ? word : -1;
}

static const char *arm64_read(struct text *t, struct tap_probe_arg *a)
{
	struct text before = *t;

	if (accept_char(t, '[')) {
		a->place = TAP_PROBE_MEMORY;
		a->reg = arm64_register(take_name(t));
		if (accept_char(t, ',')) {
			skip_blanks(t);
			accept_char(t, '#');
			if (!take_number(t, &a->num))
				return NOT_UNDERSTOOD;
		}
		return a->reg >= 0 && accept_char(t, ']') ? NULL : NOT_UNDERSTOOD;
	}
	a->place = TAP_PROBE_CONSTANT;
	if (take_number(t, &a->num))
		return NULL;
	*t = before;
	a->place = TAP_PROBE_REGISTER;
	a->reg = arm64_register(take_name(t));
	return a->reg < 0 ? NOT_SEEN : NULL;
}

/* ---- both ---- */

/* Parse the size and sign of an argument, as in "-4@". */
static bool take_type(struct text *t, struct tap_ctype *type)
{
	type->is_signed = accept_char(t, '-');
	if (t->at == t->end || !strchr("1248", *t->at))
		return false;
	type->size = (uint8_t)(*t->at++ - '0');
	return true;
}

static void read_arg(struct span text, unsigned int machine, struct tap_probe_arg *a)
{
	struct text t = { text.s, text.s + text.len };

	*a = (struct tap_probe_arg){ .text = text, .type = { 8, false }, .reg = -1, .index = -1 };
	if (!take_type(&t, &a->type))
		a->why = "the argument's size cannot be parsed";
	else if (accept_char(&t, 'f'))
		a->why = "the argument is a floating-point number";
	else if (!accept_char(&t, '@'))
		a->why = NOT_UNDERSTOOD;
	else
		a->why = machine == EM_X86_64 ? x86_read(&t, a) : arm64_read(&t, a);
	if (!a->why && t.at != t.end)
		a->why = NOT_UNDERSTOOD;
	if (a->place == TAP_PROBE_CONSTANT)
		a->num = tap_fit(a->num, a->type.size, a->type.is_signed);
}

/* Return the text up to the next blank outside of brackets. */
static struct span next_arg(const char **at)
{
	struct span arg = { *at + strspn(*at, " "), 0 };
	bool inside = false;

	for (; arg.s[arg.len] && (inside || arg.s[arg.len] != ' '); arg.len++)
		inside = arg.s[arg.len] == '[' || (inside && arg.s[arg.len] != ']');
	*at = arg.s + arg.len;
	return arg;
}

unsigned int tap_probe_args_read(const char *text, unsigned int machine, struct tap_probe_arg *args)
{
	unsigned int nr = 0;
	struct span arg;

	while (nr < TAP_PROBE_MAX_ARGS && (arg = next_arg(&text)).len)
		read_arg(arg, machine, &args[nr++]);
	return nr;
}

bool tap_probe_args_of_function(unsigned int machine, int arg, struct tap_probe_arg *out)
{
	static const int x86[] = { 14, 13, 12, 11, 9, 8 }; /* rdi, rsi, rdx, rcx, r8, r9 */
	int nr = machine == EM_X86_64 ? (int)(sizeof(x86) / sizeof(*x86)) : 8;

	if (arg >= nr)
		return false;
	*out = (struct tap_probe_arg){ .place = TAP_PROBE_REGISTER,
				       .type = { 8, false },
				       .index = -1 };
	if (machine == EM_X86_64)
		out->reg = arg < 0 ? X86_RAX : x86[arg];
	else
		out->reg = arg < 0 ? 0 : arg;
	return true;
}

int tap_probe_args_pc(unsigned int machine)
{
	return machine == EM_X86_64 ? X86_RIP : ARM64_PC;
}
