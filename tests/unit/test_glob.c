// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Globs as an automaton and as tracefs has them, against fnmatch(3): all short globs of a few
 * letters, and some longer ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "record/tracefs/glob.h"

#define COMM_LEN 16
#define LEN(table) (sizeof(table) / sizeof(*(table)))

/*
 * One element of a glob as the kernel's glob_match() takes it (v6.18): sets know ranges, and '!' in
 * front, and one that does not end is a plain '['. Return: the pattern after the element, or NULL
 * if it does not match @c.
 */
static const char *kernel_element(const char *pat, unsigned char c)
{
	const char *p = pat + 1;
	bool negate = *p == '!', in = false, first = true;

	if (*pat == '[') {
		for (p += negate; *p && (first || *p != ']'); first = false) {
			unsigned char low = (unsigned char)p[0], high = low;

			if (p[1] == '-' && p[2] != ']') {
				high = (unsigned char)p[2];
				p += 2;
			}
			if (!high)
				break;
			in |= low <= c && c <= high;
			p++;
		}
		if (*p == ']')
			return in != negate ? p + 1 : NULL;
	}
	if (*pat == '?')
		return pat + 1;
	pat += *pat == '\\';
	return (unsigned char)*pat == c ? pat + 1 : NULL;
}

static bool kernel_glob(const char *pat, const char *str)
{
	const char *next;

	if (*pat == '*')
		return kernel_glob(pat + 1, str) || (*str && kernel_glob(pat, str + 1));
	if (!*str)
		return !*pat;
	next = *pat ? kernel_element(pat, (unsigned char)*str) : NULL;
	return next && kernel_glob(next, str + 1);
}

/* Whether the kernel takes it for a glob: filter_parse_regex(). */
static bool is_kernel_glob(const char *s)
{
	return strchr("?[\\", *s) || !strncmp(s, "***", 3);
}

static unsigned long nr_pairs;

static void check_pair(const struct tap_glob *g, const char *kernels, const char *glob,
		       const char *comm)
{
	bool want = !fnmatch(glob, comm, 0);

	nr_pairs++;
	if (tap_glob_matches(g, comm, COMM_LEN) != want)
		fail_msg("automaton: '%s' %s '%s'", glob, want ? "does not match" : "matches",
			 comm);
	if (kernels && kernel_glob(kernels, comm) != want)
		fail_msg("tracefs: '%s', as '%s', %s '%s'", glob, kernels,
			 want ? "does not match" : "matches", comm);
	if (!kernels && want)
		fail_msg("tracefs: '%s' is refused, but matches '%s'", glob, comm);
}

/* The next text over the letters, up to @max long, shorter ones first. */
static bool next_text(char *text, const char *letters, size_t max)
{
	size_t len = strlen(text), i = len;

	while (i--) {
		const char *at = strchr(letters, text[i]) + 1;

		if (*at) {
			text[i] = *at;
			return true;
		}
		text[i] = *letters;
	}
	if (len == max)
		return false;
	memset(text, *letters, len + 1);
	text[len + 1] = '\0';
	return true;
}

static void check_glob(const char *glob, const char *letters, size_t max)
{
	struct tap_buf kernels = { 0 };
	struct tap_glob g = { 0 };
	char comm[16] = "";
	int ret;

	assert_int_equal(tap_glob_add(&g, glob), 0);
	ret = tap_tracefs_glob(glob, &kernels);
	assert_true(!ret || ret == -EINVAL);
	if (!ret && *glob && !is_kernel_glob(tap_buf_str(&kernels)))
		fail_msg("'%s' becomes '%s'", glob, tap_buf_str(&kernels));
	do
		check_pair(&g, ret ? NULL : tap_buf_str(&kernels), glob, comm);
	while (next_text(comm, letters, max));
	tap_buf_release(&kernels);
}

static void test_all_short(void **state)
{
	char glob[16] = "";

	(void)state;
	do
		check_glob(glob, "ab", 5);
	while (next_text(glob, "ab*?", 5));
	*glob = '\0';
	do
		check_glob(glob, "a!]-\\", 2);
	while (next_text(glob, "a*[]!-\\", 5));
	print_message("# %lu pairs\n", nr_pairs);
}

static void test_long(void **state)
{
	static const char *const globs[] = {
		"[[:alpha:]]*", "*[[:digit:]]", "[[:punct:]]",	   "[![:alpha:]_]*",
		"[^a-y]*",	"kworker/*:*",	"[1-]x",	   "1*",
		"!z*",		"*comm",	"fifteen-letters", "*fifteen-letter?",
		"[\\]a]*",	"[]a]*",	"[[:nosuch:]]",	   "[z-a]",
		"[a-c-e]",	"[[.a.]]",	"[[=a=]b]",	   "[[:alpha:]",
		"\xff?",	"[\x80-\xff]",	"[\"']*",	   "[--/]*",
		"[!-]",		"[^]]x",
	};
	static const char *const comms[] = {
		"a",
		"z",
		"zz",
		"1",
		"-",
		"1x",
		"-x",
		"17",
		"!z",
		"!a",
		"_",
		"]",
		"\\",
		"\"x",
		"'y",
		"/",
		".",
		"kworker/0:1",
		"kworker/u4:2",
		"comm",
		"x comm",
		"command",
		"fifteen-letters",
		"a fifteen-letter",
		("\xff"
		 "a"),
		"\x80",
		"b",
		"c",
		"d",
		"e",
		"[a",
		"",
	};

	(void)state;
	for (size_t i = 0; i < LEN(globs); i++) {
		struct tap_buf kernels = { 0 };
		struct tap_glob g = { 0 };
		int ret = tap_tracefs_glob(globs[i], &kernels);

		assert_int_equal(tap_glob_add(&g, globs[i]), 0);
		for (size_t k = 0; k < LEN(comms); k++)
			check_pair(&g, ret ? NULL : tap_buf_str(&kernels), globs[i], comms[k]);
		tap_buf_release(&kernels);
	}
}

/* Of several any may match, and none runs into the next. */
static void test_several(void **state)
{
	static const char *const globs[] = { "ab*", "b?", "", "*c" };
	char comm[16] = "";
	struct tap_glob g = { 0 };

	(void)state;
	for (size_t i = 0; i < LEN(globs); i++)
		assert_int_equal(tap_glob_add(&g, globs[i]), 0);
	do {
		bool want = false;

		for (size_t i = 0; i < LEN(globs); i++)
			want |= !fnmatch(globs[i], comm, 0);
		if (tap_glob_matches(&g, comm, COMM_LEN) != want)
			fail_msg("'%s'", comm);
	} while (next_text(comm, "abc", 6));
}

static void test_too_long(void **state)
{
	char longest[TAP_GLOB_STATES + 1];
	struct tap_glob g = { 0 };

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[TAP_GLOB_STATES] = '\0';
	assert_int_equal(tap_glob_add(&g, longest), -E2BIG);
	assert_int_equal(tap_glob_add(&g, "b"), 0); /* nothing of the long one is in it */
	assert_false(tap_glob_matches(&g, "a", 1));
	assert_int_equal(tap_glob_add(&g, longest + 3), 0);
	assert_true(tap_glob_matches(&g, longest + 3, TAP_GLOB_STATES - 3));
	assert_false(tap_glob_matches(&g, longest + 3, TAP_GLOB_STATES - 4));
	assert_int_equal(tap_glob_add(&g, ""), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_short),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_too_long),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
