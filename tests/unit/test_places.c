// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses of programs as places: this program's own, others', and those of what is damaged or hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "symbol/maps.h"
#include "symbol/places.h"

static struct tap_places *places;

static const char *name_of(const void *addr)
{
	return tap_places_name(places, tap_places_note(places, getpid(), (uint64_t)addr));
}

/* ---- maps ------------------------------------------------------------------------------------ */

static const char some_maps[] =
	"00400000-00401000 r--p 00000000 fe:00 247134                             /usr/bin/cat\n"
	"00401000-00406000 r-xp 00001000 fe:00 247134                             /usr/bin/cat\n"
	"7f0000000000-7f0000010000 rwxp 00000000 00:00 0 \n"
	"7f0000008000-7f0000020000 rwxp 00000000 00:00 0                          overlaps\n"
	"7f0000020000-7f0000021000 --xs 7fffffff000 103:0a 18446744073709551615   /a b\\012c (deleted)\n"
	"no line at all\n"
	"7f0000030000-7f0000030000 r-xp 00000000 00:00 0                          [empty]\n"
	"7f0000030000-7f0000031000 r-xp\n"
	"7ffff7fc1000-7ffff7fc3000 r-xp 00000000 00:00 0                          [vdso]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"
	"ffffffffff700000-ffffffffff701000 --xp 00000000 00:00 0                  [cut]";

static void test_maps(void **state)
{
	static const struct {
		struct tap_mapping is;
		const char *path;
	} want[] = {
		{ { 0x401000, 0x406000, 0x1000, 247134, 0xfe00 }, "/usr/bin/cat" },
		{ { 0x7f0000000000, 0x7f0000010000 }, "" },
		{ { 0x7f0000020000, 0x7f0000021000, 0x7fffffff000, UINT64_MAX, 0x1030a }, "/a b\\012c (deleted)" },
		{ { 0x7ffff7fc1000, 0x7ffff7fc3000 }, "[vdso]" },
		{ { 0xffffffffff600000, 0xffffffffff601000 }, "[vsyscall]" },
	};
	struct tap_maps m = { 0 };

	(void)state;
	assert_null(tap_maps_find(&m, 0));
	assert_int_equal(tap_maps_parse(&m, some_maps, sizeof(some_maps) - 1), 0);
	assert_int_equal(m.nr, 5);
	for (unsigned int i = 0; i < m.nr; i++) {
		const struct tap_mapping *is = &m.all[i];

		assert_int_equal(is->start, want[i].is.start);
		assert_int_equal(is->end, want[i].is.end);
		assert_int_equal(is->offset, want[i].is.offset);
		assert_int_equal(is->ino, want[i].is.ino);
		assert_int_equal(is->dev, want[i].is.dev);
		assert_string_equal(tap_mapping_path(&m, is), want[i].path);
		assert_ptr_equal(tap_maps_find(&m, is->start), is);
		assert_ptr_equal(tap_maps_find(&m, is->end - 1), is);
		assert_null(tap_maps_find(&m, is->start - 1));
		assert_null(tap_maps_find(&m, is->end));
	}
	tap_maps_release(&m);
}

/* ---- this program ---------------------------------------------------------------------------- */

static __attribute__((noinline)) int known_function(int v)
{
	__asm__ volatile("");
	return v + 1;
}

static void test_functions(void **state)
{
	(void)state;
	assert_string_equal(name_of((char *)known_function + 1), "known_function");
	assert_string_equal(name_of(qsort), "qsort");
	assert_string_equal(name_of((char *)qsort + 1), "qsort");
	assert_string_equal(name_of(write), "write");
	assert_int_equal(known_function(1), 2);
}

static void test_vdso(void **state)
{
	(void)state;
	assert_string_equal(name_of((char *)getauxval(AT_SYSINFO_EHDR) + 0x2a), "[vdso]+0x2a");
}

static void test_unknown(void **state)
{
	int here;

	(void)state;
	assert_int_equal(tap_places_note(places, getpid(), 1), 0);
	assert_int_equal(tap_places_note(places, getpid(), UINT64_MAX), 0);
	assert_int_equal(tap_places_note(places, getpid(), (uint64_t)&here), 0); /* no code */
	assert_int_equal(tap_places_note(places, 0, (uint64_t)test_unknown), 0);
	assert_int_equal(tap_places_note(places, -1, (uint64_t)test_unknown), 0);
	assert_int_equal(tap_places_note(places, INT32_MAX, (uint64_t)test_unknown), 0);
	assert_string_equal(tap_places_name(places, 0), "?");
	assert_string_equal(tap_places_name(places, UINT32_MAX), "?");
}

static int begin(void **state)
{
	(void)state;
	return tap_places_new(&places, NULL);
}

static int end(void **state)
{
	(void)state;
	tap_places_free(places);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps),
		cmocka_unit_test_setup_teardown(test_functions, begin, end),
		cmocka_unit_test_setup_teardown(test_vdso, begin, end),
		cmocka_unit_test_setup_teardown(test_unknown, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
