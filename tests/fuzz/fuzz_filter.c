// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any text as a filter, over any record: nothing is read outside of the record, an error has a
 * sentence, and what is joined to a filter does to its answer what it says. The input is the filter
 * up to a NUL, and the record.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "event/expr/filter.h"
#include "event/format.h"
#include "check.h"

/* One field of each kind. */
static const char format_text[] =
	"name: e\nID: 77\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:s8 a;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield:u8 b[7];\toffset:9;\tsize:7;\tsigned:0;\n"
	"\tfield:s32 c;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 g;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:double h;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char t[16];\toffset:56;\tsize:16;\tsigned:0;\n"
	"\tfield:__data_loc char[] s;\toffset:72;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc u32[] d;\toffset:76;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc cpumask_t m;\toffset:80;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%d\", REC->c\n";

static const struct tap_filter_about about = { .cpu = 1, .comm = "fuzz", .comm_len = 4 };

/* Return: -1: refused. */
static int answer(const struct tap_format *fmt, const char *before, const char *text,
		  const char *after, const unsigned char *rec, uint32_t size)
{
	struct tap_buf whole = { 0 };
	struct tap_err err = { 0 };
	struct tap_filter *f;
	int ret, yes = -1;

	tap_buf_puts(&whole, before);
	tap_buf_puts(&whole, text);
	tap_buf_puts(&whole, after);
	ret = tap_filter_new(fmt, tap_buf_str(&whole), &f, &err);
	CHECK(!ret || (ret == -EINVAL && !f && err.code == -EINVAL && *err.text));
	if (!ret)
		yes = tap_filter_match(f, rec, size, &about);
	tap_filter_free(f);
	tap_buf_release(&whole);
	return yes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = strnlen((const char *)data, size), bytes;
	char *text = strndup((const char *)data, len);
	struct tap_format *fmt;
	unsigned char *rec;
	int yes;

	CHECK(text && !tap_format_parse("fuzz", format_text, strlen(format_text),
					(struct tap_abi){ .long_size = 8 }, &fmt, NULL));
	len += len < size;
	bytes = size - len > fmt->min_size ? size - len : fmt->min_size;
	rec = calloc(1, bytes); /* of the exact size: ASan sees reads past its end */
	CHECK(rec);
	memcpy(rec, data + len, size - len);
	yes = answer(fmt, "", text, "", rec, (uint32_t)bytes);
	if (yes >= 0 && len < 60000) {
		CHECK(answer(fmt, "!(", text, ")", rec, (uint32_t)bytes) == !yes);
		CHECK(answer(fmt, "CPU == 1 && (", text, ")", rec, (uint32_t)bytes) == yes);
		CHECK(answer(fmt, "(", text, ") && CPU != 1", rec, (uint32_t)bytes) == 0);
		CHECK(answer(fmt, "CPU == 1 || !(", text, ")", rec, (uint32_t)bytes) == 1);
		CHECK(answer(fmt, "!(", text, ") || COMM ~ \"f?z*\"", rec, (uint32_t)bytes) == 1);
	}
	free(rec);
	free(text);
	tap_format_free(fmt);
	return 0;
}
