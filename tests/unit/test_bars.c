// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "show/out/bars.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define HEADER "      from us          to us       count      %  distribution\n"
#define FULL8                                                                                      \
	"\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2" \
	"\x96\x88"

static const struct bars_case {
	const char *name;
	const struct tap_style *style;
	bool utf8;
	struct {
		uint64_t v, weight;
	} in[4];
	const char *want;
} cases[] = {
	{ "nothing", &tap_style_text, false, {}, HEADER },
	{ "nothing in JSON", &tap_style_json, false, {}, "{\"h\":[]}\n" },
	{ "a row for each power of two, also empty ones; the longest bar has 40 columns",
	  &tap_style_text,
	  false,
	  { { 0, 10 }, { 3, 5 }, { 8, 25 } },
	  HEADER "        0.000          0.000          10   25.0  @@@@@@@@@@@@@@@@\n"
		 "        0.001          0.001           0    0.0\n"
		 "        0.002          0.003           5   12.5  @@@@@@@@\n"
		 "        0.004          0.007           0    0.0\n"
		 "        0.008          0.015          25   62.5  "
		 "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n" },
	{ "eighths of a column",
	  &tap_style_text,
	  true,
	  { { 1, 6 }, { 2, 33 }, { 4, 160 } },
	  HEADER "        0.001          0.001           6    3.0  \xe2\x96\x88\xe2\x96\x8c\n"
		 "        0.002          0.003          33   16.6  " FULL8 "\xe2\x96\x8e\n"
		 "        0.004          0.007         160   80.4  " FULL8 FULL8 FULL8 FULL8 FULL8
		 "\n" },
	{ "little is not nothing",
	  &tap_style_text,
	  true,
	  { { 1, 1 }, { 2, 100000 } },
	  HEADER "        0.001          0.001           1    0.0  \xe2\x96\x8f\n"
		 "        0.002          0.003      100000  100.0  " FULL8 FULL8 FULL8 FULL8 FULL8
		 "\n" },
	{ "nor is it in ASCII, where halves are rounded up",
	  &tap_style_text,
	  false,
	  { { 1, 1 }, { 2, 15 }, { 4, 400 }, { 8, 11 } },
	  HEADER "        0.001          0.001           1    0.2  @\n"
		 "        0.002          0.003          15    3.5  @@\n"
		 "        0.004          0.007         400   93.7  "
		 "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n"
		 "        0.008          0.015          11    2.6  @\n" },
	{ "buckets in CSV",
	  &tap_style_csv,
	  false,
	  { { 5, 2 }, { 1000, 7 } },
	  "from_ns,to_ns,count\n5,5,2\n1000,1007,7\n" },
};

static void test_bars(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		const struct bars_case *c = &cases[i];
		int fd = memfd_create("bars", MFD_CLOEXEC);
		struct tap_hist h = TAP_HIST_INIT;
		struct tap_page r;
		char got[2048];
		ssize_t len;

		for (size_t k = 0; k < TABLE(c->in); k++)
			assert_int_equal(tap_hist_add_weighted(&h, c->in[k].v, c->in[k].weight), 0);
		tap_page_open(&r, c->style, fd);
		r.utf8 = c->utf8;
		tap_out_bars(&r, "h", &h);
		assert_int_equal(tap_page_close(&r), 0);
		len = pread(fd, got, sizeof(got) - 1, 0);
		assert_true(len >= 0);
		got[len] = '\0';
		close(fd);
		if (strcmp(got, c->want))
			fail_msg("%s: got\n%s\nwant\n%s", c->name, got, c->want);
		tap_hist_release(&h);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bars),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("bars", tests, NULL, NULL);
}
