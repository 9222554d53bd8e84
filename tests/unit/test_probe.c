// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Probes of programs: where their arguments are, and what files say of them: this program's own,
 * and damaged copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "record/program/probe.h"
#include "tmp_dir.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))

/* ---- arguments ---- */

#define S(bytes)                                                                                   \
	{                                                                                          \
		bytes, true                                                                        \
	}
#define U(bytes)                                                                                   \
	{                                                                                          \
		bytes, false                                                                       \
	}
#define CONSTANT(n) .place = TAP_PROBE_CONSTANT, .reg = -1, .index = -1, .num = (uint64_t)(n)
#define REGISTER(r) .place = TAP_PROBE_REGISTER, .reg = r, .index = -1
#define INDEXED(r, i, times, n)                                                                    \
	.place = TAP_PROBE_MEMORY, .reg = r, .index = i, .scale = times, .num = (uint64_t)(n)
#define MEMORY(r, n) INDEXED(r, -1, 0, n)

enum { RBP = 4, RBX = 5, RAX = 10, RDI = 14, RIP = 16 };

static const struct {
	const char *text;
	unsigned int machine;
	struct tap_probe_arg want;
	const char *symbol, *why; /* part of it */
} args[] = {
	{ "-4@%edi", EM_X86_64, { .type = S(4), REGISTER(RDI) } },
	{ "8@%rdi", EM_X86_64, { .type = U(8), REGISTER(RDI) } },
	{ "-2@%di", EM_X86_64, { .type = S(2), REGISTER(RDI) } },
	{ "1@%dil", EM_X86_64, { .type = U(1), REGISTER(RDI) } },
	{ "1@%ah", EM_X86_64, { .type = U(1), REGISTER(RAX), .shift = 8 } },
	{ "8@%r10", EM_X86_64, { .type = U(8), REGISTER(7) } },
	{ "4@%r9d", EM_X86_64, { .type = U(4), REGISTER(8) } },
	{ "4@$5", EM_X86_64, { .type = U(4), CONSTANT(5) } },
	{ "-4@$-5", EM_X86_64, { .type = S(4), CONSTANT(-5) } },
	{ "1@$-1", EM_X86_64, { .type = U(1), CONSTANT(255) } },
	{ "8@$0x7fffffffffffffff", EM_X86_64, { .type = U(8), CONSTANT(INT64_MAX) } },
	{ "8@-16(%rbp)", EM_X86_64, { .type = U(8), MEMORY(RBP, -16) } },
	{ "8@(%rbx)", EM_X86_64, { .type = U(8), MEMORY(RBX, 0) } },
	{ "8@0x10(%rbx)", EM_X86_64, { .type = U(8), MEMORY(RBX, 16) } },
	{ "8@8(%rbx,%rax,4)", EM_X86_64, { .type = U(8), INDEXED(RBX, RAX, 4, 8) } },
	{ "8@(,%rax,8)", EM_X86_64, { .type = U(8), INDEXED(-1, RAX, 8, 0) } },
	{ "8@counter(%rip)", EM_X86_64, { .type = U(8), MEMORY(RIP, 0) }, "counter" },
	{ "8@counter.1+8(%rip)", EM_X86_64, { .type = U(8), MEMORY(RIP, 8) }, "counter.1" },
	{ "8@8+counter(%rip)", EM_X86_64, { .type = U(8), MEMORY(RIP, 8) }, "counter" },
	{ "8@counter-8(%rip)", EM_X86_64, { .type = U(8), MEMORY(RIP, -8) }, "counter" },
	{ "8@counter", EM_X86_64, { .type = U(8), MEMORY(RIP, 0) }, "counter" },
	{ "8@table(,%rax,8)", EM_X86_64, { .type = U(8), INDEXED(RIP, RAX, 8, 0) }, "table" },
	{ "8@table(%rax)", EM_X86_64, { .type = U(8), INDEXED(RIP, RAX, 1, 0) }, "table" },
	{ "8@%xmm0", EM_X86_64, .why = "cannot read" },
	{ "8f@%xmm0", EM_X86_64, .why = "floating-point" },
	{ "%edi", EM_X86_64, .why = "size" },
	{ "3@%edi", EM_X86_64, .why = "size" },
	{ "16@%rdi", EM_X86_64, .why = "location" },
	{ "4@", EM_X86_64, .why = "location" },
	{ "4@$", EM_X86_64, .why = "location" },
	{ "4@$x", EM_X86_64, .why = "location" },
	{ "4@$5x", EM_X86_64, .why = "location" },
	{ "4@$5 ", EM_X86_64, { .type = U(4), CONSTANT(5) } },
	{ "8@16(%rip)", EM_X86_64, .why = "location" },
	{ "8@(%rbx", EM_X86_64, .why = "location" },
	{ "8@(%rbx,%rax,3)", EM_X86_64, .why = "location" },
	{ "8@(%none)", EM_X86_64, .why = "location" },
	{ "8@table(%rax,%rbx)", EM_X86_64, .why = "location" },
	{ "8@+(%rax)", EM_X86_64, .why = "location" },
	{ "8@%fs:8", EM_X86_64, .why = "cannot read" },
	{ "-4@w3", EM_AARCH64, { .type = S(4), REGISTER(3) } },
	{ "8@x30", EM_AARCH64, { .type = U(8), REGISTER(30) } },
	{ "8@x31", EM_AARCH64, .why = "cannot read" },
	{ "8@[sp, 16]", EM_AARCH64, { .type = U(8), MEMORY(31, 16) } },
	{ "8@[x29, -8]", EM_AARCH64, { .type = U(8), MEMORY(29, -8) } },
	{ "8@[x0]", EM_AARCH64, { .type = U(8), MEMORY(0, 0) } },
	{ "-4@-7", EM_AARCH64, { .type = S(4), CONSTANT(-7) } },
	{ "8@[x0, x1, lsl 3]", EM_AARCH64, .why = "location" },
	{ "8@d0", EM_AARCH64, .why = "cannot read" },
};

static void check_place(const char *text, const struct tap_probe_arg *a,
			const struct tap_probe_arg *want)
{
	if (a->type.size != want->type.size || a->type.is_signed != want->type.is_signed ||
	    a->place != want->place || a->reg != want->reg || a->index != want->index ||
	    a->num != want->num || a->shift != want->shift ||
	    (a->index >= 0 && a->scale != want->scale))
		fail_msg("'%s': place %d, reg %d, index %d * %u, shift %u, num %lld, size %u", text,
			 a->place, a->reg, a->index, a->scale, a->shift, (long long)a->num,
			 a->type.size);
}

static void test_arguments(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(args); i++) {
		struct tap_probe_arg a[TAP_PROBE_MAX_ARGS];

		assert_int_equal(tap_probe_args_read(args[i].text, args[i].machine, a), 1);
		if (!args[i].why != !a->why || (a->why && !strstr(a->why, args[i].why)))
			fail_msg("'%s': %s", args[i].text, a->why ?: "understood");
		if (a->why)
			continue;
		check_place(args[i].text, a, &args[i].want);
		assert_true(args[i].symbol ? span_is(a->symbol, args[i].symbol) : !a->symbol.s);
	}
}

static void test_several(void **state)
{
	struct tap_probe_arg a[TAP_PROBE_MAX_ARGS];

	(void)state;
	assert_int_equal(tap_probe_args_read("", EM_X86_64, a), 0);
	assert_int_equal(tap_probe_args_read("  ", EM_X86_64, a), 0);
	assert_int_equal(tap_probe_args_read("-4@%edi  8@-16(%rbp) 4@$5", EM_X86_64, a), 3);
	check_place("the third", &a[2], &(struct tap_probe_arg){ .type = U(4), CONSTANT(5) });
	assert_int_equal(tap_probe_args_read("8@[sp, 8] 8@x1", EM_AARCH64, a), 2);
	check_place("after a blank in brackets", &a[1],
		    &(struct tap_probe_arg){ .type = U(8), REGISTER(1) });
	assert_int_equal(tap_probe_args_read("8@[sp, 8", EM_AARCH64, a), 1);
	assert_int_equal(tap_probe_args_read(
				 "1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1",
				 EM_X86_64, a),
			 TAP_PROBE_MAX_ARGS);
}

static void test_functions(void **state)
{
	static const int x86[] = { RDI, 13, 12, 11, 9, 8 };
	struct tap_probe_arg a;

	(void)state;
	for (int i = 0; i < 6; i++) {
		assert_true(tap_probe_args_of_function(EM_X86_64, i, &a));
		check_place("by the ABI", &a,
			    &(struct tap_probe_arg){ .type = U(8), REGISTER(x86[i]) });
	}
	assert_false(tap_probe_args_of_function(EM_X86_64, 6, &a));
	assert_true(tap_probe_args_of_function(EM_X86_64, -1, &a) && a.reg == RAX);
	assert_true(tap_probe_args_of_function(EM_AARCH64, 7, &a) && a.reg == 7);
	assert_false(tap_probe_args_of_function(EM_AARCH64, 8, &a));
	assert_true(tap_probe_args_of_function(EM_AARCH64, -1, &a) && a.reg == 0);
}

/* ---- this program's ---- */

#define NOTE(address, semaphore, name, args)                                                       \
	".pushsection .note.stapsdt, \"\", \"note\"\n.balign 4\n.4byte 8, 994f - 993f, 3\n.asciz " \
	"\"stapsdt\"\n"                                                                            \
	"993: .8byte " address ", _.stapsdt.base, " semaphore "\n.asciz \"test\"\n.asciz \"" name  \
	"\"\n.asciz \"" args "\"\n"                                                                \
	"994: .balign 4\n.popsection\n"

__asm__(".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n.weak "
	"_.stapsdt.base\n"
	".hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n"
	".pushsection .text\nfirst_place: nop\nsecond_place: nop\n.popsection\n"
	".pushsection .data\nthe_semaphore: .2byte 0\n.local the_counter\nthe_counter: .8byte "
	"0\n.popsection\n" NOTE("first_place", "the_semaphore", "one",
				"-4@%edi 8@-16(%rbp) 4@$5 8@the_counter(%rip)")
		NOTE("first_place", "0", "places", "-4@%edi 8@%rsi")
			NOTE("second_place", "0", "places", "-4@%eax")
				NOTE("second_place", "0", "in_data", "8@none(%rip)")
					NOTE("the_semaphore", "0", "no_code", ""));

static struct tap_probe *open_probe(const char *word)
{
	struct tap_probe *p;
	struct tap_err err = { 0 };

	if (tap_probe_new((struct span){ word, strlen(word) }, &p, &err))
		fail_msg("%s: %s", word, err.text);
	return p;
}

static void test_notes(void **state)
{
	struct tap_probe *p = open_probe("usdt:/proc/self/exe:test:one");

	(void)state;
	assert_int_equal(p->nr_sites, 1);
	assert_int_equal(p->nr_args, 4);
	assert_true(p->sites[0].offset && p->sites[0].semaphore);
	check_place("%edi", &p->ways[0].args[0], &args[0].want);
	check_place("on the stack", &p->ways[0].args[1],
		    &(struct tap_probe_arg){ .type = U(8), MEMORY(RBP, -16) });
	assert_int_equal(p->ways[0].args[3].reg, RIP);
	assert_true(p->ways[0].args[3].num && !p->ways[0].args[3].why);
	tap_probe_free(p);
	p = open_probe("usdt:/proc/self/exe:test:in_data");
	assert_string_equal(p->ways[0].args[0].why,
			    "the file has no such symbol: it may be stripped");
	tap_probe_free(p);
}

static void test_places(void **state)
{
	struct tap_probe *p = open_probe("usdt:/proc/self/exe:test:places");

	(void)state;
	assert_int_equal(p->nr_sites, 2);
	assert_int_equal(p->nr_ways, 2);
	assert_int_equal(p->nr_args, 2);
	assert_int_equal(p->sites[1].offset, p->sites[0].offset + 1);
	assert_int_not_equal(p->sites[0].way, p->sites[1].way);
	tap_probe_free(p);
}

int tap_a_function(void);
__attribute__((noinline)) int tap_a_function(void)
{
	__asm__ volatile("");
	return 0;
}

static void test_symbols(void **state)
{
	struct tap_probe *p = open_probe("uprobe:/proc/self/exe:tap_a_function"), *inside;
	struct tap_buf word = { 0 }, name = { 0 };

	(void)state;
	tap_a_function();
	assert_int_equal(p->nr_sites, 1); /* though two tables may name it */
	inside = open_probe("uprobe:/proc/self/exe:tap_a_function+0x1");
	assert_int_equal(inside->sites[0].offset, p->sites[0].offset + 1);
	tap_probe_word(inside, &word);
	tap_probe_event_name(inside, &name);
	assert_string_equal(strrchr(tap_buf_str(&word), ':'), ":tap_a_function+0x1");
	assert_int_equal(strncmp(word.data, "uprobe:/", 8), 0);
	assert_string_equal(tap_buf_str(&name), "tap_a_function_0x1");
	tap_buf_release(&word);
	tap_buf_release(&name);
	tap_probe_free(inside);
	tap_probe_free(p);
}

static const struct {
	const char *word;
	bool is;
} words[] = {
	{ "usdt:/bin/x:provider:name", true },
	{ "usdt:x:provider:name{a:b}", true },
	{ "uprobe:/bin/x:f", true },
	{ "uretprobe:/bin/x:f{retval}", true },
	{ "usdt:provider_name", false },
	{ "usdt:/bin/x:name", false },
	{ "uprobe:f", false },
	{ "uprobe:f{a:b}", false },
	{ "sched:sched_switch", false },
	{ "kprobe:a:b:c", false },
};

static void test_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(words); i++)
		if (tap_probe_is(words[i].word) != words[i].is)
			fail_msg("%s", words[i].word);
}

/* ---- damaged ones ---- */

static struct tap_buf self; /* this program's file */
static struct tmp_dir dir;

#define NOTE_AT 1000000

static const struct {
	const char *name;
	/* of the four bytes that are set, from the file's start; around NOTE_AT: from the first
	 * note's owner */
	int offset;
	uint32_t value;
	int want;
	const char *says;
} damages[] = {
	{ "a note longer than its section", NOTE_AT - 8, 0x7fffffff, -EINVAL, "damaged" },
	{ "a note that is too short for its addresses", NOTE_AT - 8, 8, -EINVAL, "damaged" },
	{ "a note whose texts do not end in it", NOTE_AT - 8, 27, -EINVAL, "damaged" },
	{ "an owner's name of 4 GB", NOTE_AT - 12, 0xffffffff, -EINVAL, "damaged" },
	{ "an address above all code", NOTE_AT + 12, 0x7fffffff, -EINVAL,
	  "is not in the file's code" },
	{ "a semaphore that is nowhere", NOTE_AT + 28, 0x7fffffff, -EINVAL,
	  "is not in the file's code" },
	{ "no note of that kind", NOTE_AT - 4, 2, -ENOENT, "has no USDT probe 'test:one'" },
	{ "sections that begin after the end", offsetof(Elf64_Ehdr, e_shoff) + 4, 0x7fffffff,
	  -ENOENT, "no USDT probe" },
};

/* Where the offset is in the file. */
static char *place_of(int offset)
{
	char owner[] = "?\0\0\0stapsdt", *first;

	owner[0] = 3; /* here, for else this text would be the first in the file */
	first = memmem(self.data, self.len, owner, sizeof(owner));
	assert_non_null(first);
	return offset < NOTE_AT / 2 ? self.data + offset : first + 4 + (offset - NOTE_AT);
}

/* In the test's folder, as it was written there last. */
static int open_copy(struct tap_err *err)
{
	struct tap_probe *p;
	char word[400];
	int ret;

	snprintf(word, sizeof(word), "usdt:%s:test:one", tmp_at(&dir, "copy"));
	ret = tap_probe_new((struct span){ word, strlen(word) }, &p, err);
	assert_true(!ret == !!p);
	tap_probe_free(p);
	return ret;
}

static void test_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(damages); i++) {
		char *at = place_of(damages[i].offset);
		struct tap_err err = { 0 };
		uint32_t before;
		int ret;

		memcpy(&before, at, sizeof(before));
		memcpy(at, &damages[i].value, sizeof(before));
		tmp_write(&dir, "copy", self.data, self.len);
		memcpy(at, &before, sizeof(before));
		ret = open_copy(&err);
		if (ret != damages[i].want || !strstr(err.text, damages[i].says))
			fail_msg("%s: %d, %s", damages[i].name, ret, err.text);
	}
}

/* What prelink moved after the note was written: by as much as the base is elsewhere. */
static void test_moved(void **state)
{
	struct tap_probe *here = open_probe("usdt:/proc/self/exe:test:one"), *moved;
	char word[400], *at = place_of(NOTE_AT + 8);
	uint64_t before[3], v[3]; /* address, base, semaphore */

	(void)state;
	memcpy(before, at, sizeof(v));
	for (unsigned int i = 0; i < 3; i++)
		v[i] = before[i] - 4096;
	memcpy(at, v, sizeof(v));
	tmp_write(&dir, "copy", self.data, self.len);
	memcpy(at, before, sizeof(v));
	snprintf(word, sizeof(word), "usdt:%s:test:one", tmp_at(&dir, "copy"));
	moved = open_probe(word);
	assert_int_equal(moved->sites[0].offset, here->sites[0].offset);
	assert_int_equal(moved->sites[0].semaphore, here->sites[0].semaphore);
	tap_probe_free(moved);
	tap_probe_free(here);
}

/* A file cut anywhere is refused, or accepted if the cut is after everything that is read. */
static void test_cut(void **state)
{
	struct tap_err err;

	(void)state;
	for (size_t len = 0; len < self.len; len += 1 + self.len / 50) {
		tmp_write(&dir, "copy", self.data, len);
		memset(&err, 0, sizeof(err));
		assert_true(!open_copy(&err) || *err.text);
	}
	tmp_write(&dir, "copy", self.data, self.len);
	assert_int_equal(open_copy(&err), 0);
}

/* ---- lists ---- */

static void test_list(void **state)
{
	struct tap_buf lines = { 0 };
	char *at;

	(void)state;
	assert_int_equal(tap_probe_list("/proc/self/exe", &lines, NULL), 0);
	at = strstr(tap_buf_str(&lines), ":test:in_data(u64 arg0)\n");
	assert_non_null(at);
	at = strstr(at, ":test:one(s32 arg0, u64 arg1, u32 arg2, u64 arg3)\n");
	assert_non_null(at); /* later in the list: it is sorted */
	assert_non_null(strstr(at, ":test:places(s32 arg0)\n"));
	assert_non_null(strstr(at, ":test:places(s32 arg0, u64 arg1)\n"));
	tap_buf_release(&lines);
}

static int begin(void **state)
{
	(void)state;
	tmp_make(&dir);
	return tap_buf_read_file(&self, "/proc/self/exe");
}

static int end(void **state)
{
	(void)state;
	tap_buf_release(&self);
	tmp_remove(&dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments), cmocka_unit_test(test_several),
		cmocka_unit_test(test_functions), cmocka_unit_test(test_notes),
		cmocka_unit_test(test_places),	  cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_words),	  cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_moved),	  cmocka_unit_test(test_cut),
		cmocka_unit_test(test_list),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("probes of programs", tests, begin, end);
}
