// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a list of steps that a program is given, over any record: a list that is accepted is
 * run to its end, and reads nothing outside of the record and of itself. Any text as a filter: its
 * list is accepted, and answers what the filter does. The input is a byte that says which, the
 * length of the list (two) or the filter up to a NUL, and the record.
 */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "event/format.h"
#include "record/user/filters.h"
#include "check.h"

#define THIS_CPU 1

/* In place of the C library's: the same input takes the same way on each CPU. */
int sched_getcpu(void)
{
	return THIS_CPU;
}

static const char format_text[] =
	"name: e\nID: 0\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:s8 a;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield:u16 b;\toffset:10;\tsize:2;\tsigned:0;\n"
	"\tfield:s32 c;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 g;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:char t[16];\toffset:32;\tsize:16;\tsigned:0;\n"
	"\tfield:__data_loc char[] s;\toffset:48;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] r;\toffset:52;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc cpumask_t m;\toffset:56;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%d\", REC->c\n";

/* Returns a copy with no room after it, so that ASan sees reads past its end. */
static void *copy(const void *data, size_t size, size_t least)
{
	void *p = calloc(1, size > least ? size : least);

	CHECK(p);
	memcpy(p, data, size);
	return p;
}

static int ask_quickly(const struct tap_steps *list, const unsigned char *rec, uint32_t size)
{
	struct tap_quick_filter q = { 0 };

	return tap_steps_quick(list, &q) ? tap_quick_rejects(&q, rec, size) : -1;
}

static void run(const struct tap_steps *list, const unsigned char *rec, uint32_t size)
{
	bool match = tap_steps_match(list, rec, size);
	int rejects = ask_quickly(list, rec, size);

	CHECK(rejects < 0 || rejects == !match);
}

static void any_list(const unsigned char *data, size_t size)
{
	uint16_t bytes = 0;
	struct tap_steps *list;
	unsigned char *rec;

	if (size < sizeof(bytes))
		return;
	memcpy(&bytes, data, sizeof(bytes));
	data += sizeof(bytes);
	size -= sizeof(bytes);
	if (bytes > size)
		bytes = (uint16_t)size;
	list = copy(data, bytes, 1);
	rec = copy(data + bytes, size - bytes, 1);
	if (tap_steps_check(list, bytes))
		run(list, rec, (uint32_t)(size - bytes));
	free(list);
	free(rec);
}

static void any_filter(const unsigned char *data, size_t size)
{
	size_t len = strnlen((const char *)data, size), bytes;
	char *text = strndup((const char *)data, len);
	struct tap_user_filter *f;
	struct tap_format *fmt;
	unsigned char *rec;

	CHECK(text && !tap_format_parse("fuzz", format_text, strlen(format_text),
					(struct tap_abi){ .long_size = sizeof(long) }, &fmt, NULL));
	len += len < size;
	bytes = size - len > fmt->min_size ? size - len : fmt->min_size;
	rec = copy(data + len, size - len, fmt->min_size);
	if (!tap_user_filter_new(fmt, text, &f, NULL) && f->steps) {
		CHECK(!f->why && tap_steps_check(f->steps, f->steps->bytes));
		run(f->steps, rec, (uint32_t)bytes);
		CHECK(tap_steps_match(f->steps, rec, (uint32_t)bytes) ==
		      tap_user_filter_match(f, rec, (uint32_t)bytes, THIS_CPU));
	}
	tap_user_filter_free(f);
	free(rec);
	free(text);
	tap_format_free(fmt);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	if (size)
		(*data & 1 ? any_list : any_filter)(data + 1, size - 1);
	return 0;
}
