// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any print format over any record: nothing is read outside of the record, and it comes to an end.
 * The input is a byte for the machine, the print format up to a NUL, and the record.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "event/print/print.h"
#include "check.h"

/* One field of each kind; print formats find them by these names. */
static const char fields[] = "name: e\nID: 77\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			     "\tfield:s8 a;\toffset:8;\tsize:1;\tsigned:1;\n"
			     "\tfield:u8 b[7];\toffset:9;\tsize:7;\tsigned:0;\n"
			     "\tfield:s32 c;\toffset:16;\tsize:4;\tsigned:1;\n"
			     "\tfield:float f;\toffset:20;\tsize:4;\tsigned:1;\n"
			     "\tfield:u64 g;\toffset:24;\tsize:8;\tsigned:0;\n"
			     "\tfield:double h;\toffset:32;\tsize:8;\tsigned:1;\n"
			     "\tfield:double r[2];\toffset:40;\tsize:16;\tsigned:1;\n"
			     "\tfield:char t[16];\toffset:56;\tsize:16;\tsigned:0;\n"
			     "\tfield:__data_loc char[] s;\toffset:72;\tsize:4;\tsigned:0;\n"
			     "\tfield:__rel_loc u32[] d;\toffset:76;\tsize:4;\tsigned:0;\n"
			     "\tfield:__data_loc cpumask_t m;\toffset:80;\tsize:4;\tsigned:0;\n"
			     "\tfield:struct foo p;\toffset:88;\tsize:8;\tsigned:0;\n\nprint fmt: ";

static void print(struct tap_format *fmt, const uint8_t *data, size_t size)
{
	size_t bytes = size > fmt->min_size ? size : fmt->min_size;
	unsigned char *rec = calloc(1, bytes); /* of the exact size: ASan sees reads past its end */
	struct tap_buf out = { .max = 1 << 20 };
	struct tap_printer *p;

	CHECK(rec);
	memcpy(rec, data, size);
	CHECK(tap_print_check(fmt) != -ENOMEM);
	CHECK(!tap_printer_new(fmt, &p, NULL));
	tap_printer_run(p, rec, (uint32_t)bytes, &out);
	tap_printer_free(p);
	tap_buf_release(&out);
	free(rec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tap_buf text = { 0 };
	struct tap_format *fmt;
	struct tap_abi abi;
	size_t len;

	if (!size)
		return 0;
	abi = (struct tap_abi){ data[0] & 1, data[0] & 2 ? 4 : 8 };
	len = strnlen((const char *)data + 1, size - 1);
	tap_buf_puts(&text, fields);
	tap_buf_add(&text, data + 1, len);
	if (!tap_format_parse("sys", tap_buf_str(&text), text.len, abi, &fmt, NULL)) {
		data += 1 + len;
		size -= 1 + len;
		print(fmt, data, size);
		tap_format_free(fmt);
	}
	tap_buf_release(&text);
	return 0;
}
