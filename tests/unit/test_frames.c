// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The frames of stacks: what a record says, however little of it there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "event/format.h"
#include "timeline/run/frames.h"
#include "main_of_cases.h"

#define COMMON                                                                                     \
	"ID: 5\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define NUMBER                                                                                     \
	"name: kernel_stack\n" COMMON                                                              \
	"\tfield:u32 stack;\toffset:8;\tsize:4;\tsigned:0;\n\nprint fmt: "
#define TABLE(entries) NUMBER "\"%s\", __print_symbolic(REC->stack, " entries ")\n"
#define CALLERS(name, first, size, long_)                                                          \
	"name: " name "\n" COMMON "\tfield:" first ";\toffset:8;\tsize:4;\tsigned:1;\n"            \
	"\tfield:unsigned long caller[8];\toffset:" size ";\tsize:" long_ ";\tsigned:0;\n\n"       \
	"print fmt: \"%ps\", (void *)REC->caller[0]\n"

static const char ours[] = TABLE("{ 1, \"\\n => a\\n => b c\" }, { 2, \"x\" }, { 3, \"head\\n => "
				 "a\\n => \\n => b\\ntail\" }, { 4, \"\\n =>a\\n => \" }");
static const char of_kernel[] = CALLERS("kernel_stack", "int size", "16", "64");
static const char of_kernel_32[] = CALLERS("kernel_stack", "int size", "12", "32");
static const char of_user[] = CALLERS("user_stack", "unsigned int tgid", "16", "64");

static const char kallsyms[] =
	"ffffffff81000000 T schedule\nffffffff81001000 t local [mod]\nffffffff81002000 T end\n"
	"c0001000 T arm\nc0002000 T arm_end\n";

#define NR(nr) (nr), 0, 0, 0

struct frames_case {
	const char *name, *system, *format;
	bool big_endian, is_32;
	unsigned char record[128]; /* the bytes after the common fields */
	uint32_t size; /* of that */
	const char *want; /* names, with a comma after each */
};

static const struct frames_case cases[] = {
	{ "names of a table", "schedtap", ours, .record = { NR(1) }, 4, "a,b c," },
	{ "0 could not be read", "schedtap", ours, .record = { NR(0) }, 4, "" },
	{ "a number that is in no table", "schedtap", ours, .record = { NR(99) }, 4, "" },
	{ "a text without frames", "schedtap", ours, .record = { NR(2) }, 4, "" },
	{ "what is around frames, and an empty one", "schedtap", ours, .record = { NR(3) }, 4,
	  "a,b," },
	{ "nearly a frame", "schedtap", ours, .record = { NR(4) }, 4, "" },
	{ "a print format that is not understood", "schedtap",
	  NUMBER "\"%s\", tp_stack(REC->stack)\n", .record = { NR(1) }, 4, "" },
	{ "ftrace's by kallsyms", "ftrace", of_kernel,
	  .record = { NR(2), NR(0), 0x10, 0, 0, 0x81, 255, 255, 255, 255, 0x10, 0x10, 0, 0x81, 255,
		      255, 255, 255 },
	  24, "schedule,local," },
	{ "no more than the size says", "ftrace", of_kernel,
	  .record = { NR(1), NR(0), 0x10, 0, 0, 0x81, 255, 255, 255, 255, 0x10, 0x10, 0, 0x81, 255,
		      255, 255, 255 },
	  24, "schedule," },
	{ "no more than there are", "ftrace", of_kernel,
	  .record = { NR(255), NR(0), 0x10, 0, 0, 0x81, 255, 255, 255, 255, 0x10, 0x10, 0, 0x81,
		      255, 255, 255 },
	  23, "schedule," },
	{ "a size below 0", "ftrace", of_kernel,
	  .record = { 255, 255, 255, 255, NR(0), 0x10, 0, 0, 0x81, 255, 255, 255, 255 }, 16,
	  "schedule," },
	{ "without any", "ftrace", of_kernel, .record = { NR(3), NR(0) }, 8, "" },
	{ "cut before the first", "ftrace", of_kernel, .record = { NR(3) }, 4, "" },
	{ "0 ends it", "ftrace", of_kernel,
	  .record = { NR(2), NR(0), NR(0), NR(0), 0x10, 0x10, 0, 0x81, 255, 255, 255, 255 }, 24,
	  "" },
	{ "all ones end it", "ftrace", of_kernel,
	  .record = { NR(2), NR(0), 0x10, 0x20, 0, 0, NR(0), 255, 255, 255, 255, 255, 255, 255,
		      255 },
	  24, "0x2010," },
	{ "after the last symbol", "ftrace", of_kernel,
	  .record = { NR(1), NR(0), 0x10, 0x20, 0, 0x81, 255, 255, 255, 255 }, 16,
	  "0xffffffff81002010," },
	{ "a program's are not the kernel's", "ftrace", of_user,
	  .record = { NR(2), NR(0), 0x10, 0, 0, 0x81, 255, 255, 255, 255, 0, 0x10, 0x40, 0, NR(0) },
	  24, "0xffffffff81000010,0x401000," },
	{ "of 32 bits, in the other byte order", "ftrace", of_kernel_32, true, true,
	  .record = { 0, 0, 0, 2, 0xc0, 0, 0x10, 8, 255, 255, 255, 255 }, 12, "arm," },
};

static void test_frames(void **state)
{
	const struct frames_case *c = *state;
	const struct tap_abi abi = { c->big_endian, c->is_32 ? 4 : 8 };
	const struct tap_reader_info info = { .kallsyms = kallsyms };
	struct tap_frames f = { .info = &info };
	struct tap_buf got = { 0 };
	/* of the exact size, so that ASan sees reads past its end */
	unsigned char *rec = calloc(1, 8 + c->size);
	struct tap_format *fmt;
	struct tap_err err;

	assert_non_null(rec);
	memcpy(rec + 8, c->record, c->size);
	assert_int_equal(tap_format_parse(c->system, c->format, strlen(c->format), abi, &fmt, &err),
			 0);
	assert_int_equal(
		tap_frames_read(
			&f, &(struct tap_event){ .fmt = fmt, .data = rec, .size = 8 + c->size }),
		0);
	for (unsigned int i = 0; i < f.nr; i++) {
		tap_buf_add(&got, f.names[i].s, f.names[i].len);
		tap_buf_char(&got, ',');
	}
	assert_string_equal(tap_buf_str(&got), c->want);
	tap_buf_release(&got);
	tap_frames_release(&f);
	tap_format_free(fmt);
	free(rec);
}

MAIN_OF_CASES(cases, test_frames)
