// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What golden tests cannot show: every byte at every place, and what a full disk does. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "event/format.h"
#include "show/out/out.h"
#include "show/out/page.h"
#include "sched_events.h"

static struct tap_event_kinds kinds;

static void put(struct tap_out *o, const char *comm, uint64_t ts_ns)
{
	struct rec rec = { .common_type = formats[WAKING].id, .common_pid = 7, .pid1 = 8 };
	struct tap_event ev = {
		.ts_ns = ts_ns, .fmt = &formats[WAKING], .data = &rec, .size = sizeof(rec), .cpu = 1
	};

	memcpy(rec.comm1, comm, sizeof(rec.comm1));
	assert_int_equal(tap_out_event(o, tap_event_kind(&kinds, ev.fmt), &ev), 0);
}

/* One line of text for a task called @comm, as it is written. */
static void line_for(const char *comm, struct tap_buf *line)
{
	int fd = memfd_create("line", MFD_CLOEXEC);
	struct tap_identities ids;
	struct tap_wall wall = { 0 };
	struct tap_out o;

	assert_int_equal(tap_identities_init(&ids, NULL, NULL), 0);
	tap_out_init(&o, &tap_style_text, &ids, NULL, &wall, fd);
	put(&o, comm, 1000000009);
	assert_int_equal(tap_out_flush(&o), 0);
	line->len = (size_t)lseek(fd, 0, SEEK_CUR);
	assert_true(line->len < line->cap);
	assert_int_equal(tap_pread_all(fd, line->data, line->len, 0), 0);
	line->data[line->len] = '\0';
	tap_out_release(&o);
	tap_identities_release(&ids);
	close(fd);
}

static void every_byte_is_escaped_wherever_it_stands(void **state)
{
	char space[512], *got = space;
	struct tap_buf line = { .data = space, .cap = sizeof(space) };
	struct tap_buf want = { 0 };

	(void)state;
	for (int at = 0; at < 15; at++) {
		for (int c = 1; c < 256; c++) {
			char comm[16] = "abcdefghijklmno";

			comm[at] = (char)c;
			tap_buf_clear(&want);
			tap_buf_puts(&want, "           <...>-7       [001] 1.000000009: "
					    "sched:sched_waking: comm=");
			tap_text_escape(&want, comm, 15);
			tap_buf_puts(&want, " pid=8\n");
			line_for(comm, &line);
			assert_string_equal(got, tap_buf_str(&want));
		}
	}
	tap_buf_release(&want);
}

/* Of a program's event: kernels have none. */
static void floats_are_numbers_in_json(void **state)
{
	static const char text[] =
		"name: e\nID: 300\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:float f;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:double x[3];\toffset:16;\tsize:24;\tsigned:1;\n"
		"\nprint fmt: \"\"\n";
	const struct tap_abi abi = { __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long) };
	const struct {
		uint16_t type, flags;
		int32_t pid;
		float f;
		uint32_t hole;
		double x[3];
	} rec = { 300, 0, 7, 0.1f, 0, { 1.0 / 3, -INFINITY, NAN } };
	struct tap_event ev = { .ts_ns = 9, .data = &rec, .size = sizeof(rec), .cpu = 1 };
	int fd = memfd_create("line", MFD_CLOEXEC);
	struct tap_wall wall = { 0 };
	char got[512] = "";
	struct tap_format *fmt;
	struct tap_identities ids;
	struct tap_out o;

	(void)state;
	assert_int_equal(tap_format_parse("app", text, strlen(text), abi, &fmt, NULL), 0);
	assert_int_equal(tap_identities_init(&ids, NULL, NULL), 0);
	tap_out_init(&o, &tap_style_json, &ids, NULL, &wall, fd);
	ev.fmt = fmt;
	assert_int_equal(tap_out_event(&o, tap_event_kind(&kinds, fmt), &ev), 0);
	assert_int_equal(tap_out_flush(&o), 0);
	assert_true(pread(fd, got, sizeof(got) - 1, 0) > 0);
	assert_string_equal(strstr(got, "\"fields\""),
			    "\"fields\":{\"f\":0.1,\"x\":[0.3333333333333333,null,null]}}\n");
	tap_out_release(&o);
	tap_identities_release(&ids);
	tap_format_free(fmt);
	close(fd);
}

static void a_full_disk_is_an_error(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct tap_identities ids;
	struct tap_wall wall = { 0 };
	struct tap_out o;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(tap_identities_init(&ids, NULL, NULL), 0);
	tap_out_init(&o, &tap_style_csv, &ids, NULL, &wall, fd);
	put(&o, "a\0bcdefghijklmn", 1);
	assert_int_equal(tap_out_flush(&o), -ENOSPC);
	tap_out_release(&o);
	tap_identities_release(&ids);
	close(fd);
}

static int release(void **state)
{
	(void)state;
	tap_event_kinds_release(&kinds);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_is_escaped_wherever_it_stands),
		cmocka_unit_test(floats_are_numbers_in_json),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, release);
}
