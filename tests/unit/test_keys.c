// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bytes in, keys out, however the bytes are cut into reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "show/screen/keys.h"
#include "sanitized.h"

#define F(n) (TAP_KEY_F1 + (n)-1)
#define NONE TAP_KEY_NONE
#define TEN "0123456789"

static const struct keys_case {
	const char *name, *bytes;
	uint32_t want[8]; /* 0: the end */
} cases[] = {
	{ "characters", "a~ \t\x0c", { 'a', '~', ' ', '\t', 12 } },
	{ "Enter and Backspace",
	  "\r\n\b\x7f",
	  { TAP_KEY_ENTER, TAP_KEY_ENTER, TAP_KEY_BACKSPACE, TAP_KEY_BACKSPACE } },
	{ "UTF-8",
	  "\xc3\xa9\xe4\xb8\x96\xf0\x9f\x98\x80"
	  "a",
	  { 0xe9, 0x4e16, 0x1f600, 'a' } },
	{ "bytes that are not UTF-8",
	  "\x80"
	  "a\xff"
	  "b",
	  { NONE, 'a', NONE, 'b' } },
	{ "half a character",
	  "\xe4\xb8"
	  "a\xe4"
	  "b",
	  { NONE, 'a', NONE, 'b' } },
	{ "overlong forms and surrogates",
	  "\xc0\xaf"
	  "a\xed\xa0\x80"
	  "b",
	  { NONE, 'a', NONE, 'b' } },
	{ "above all characters",
	  "\xf4\x90\x80\x80"
	  "a",
	  { NONE, 'a' } },
	{ "a lone Escape", "\033", { TAP_KEY_ESCAPE } },
	{ "Escape twice", "\033\033", { TAP_KEY_ESCAPE, TAP_KEY_ESCAPE } },
	{ "cursor keys",
	  "\033[A\033[B\033[C\033[D",
	  { TAP_KEY_UP, TAP_KEY_DOWN, TAP_KEY_RIGHT, TAP_KEY_LEFT } },
	{ "cursor keys in application mode",
	  "\033OA\033OB\033OC\033OD",
	  { TAP_KEY_UP, TAP_KEY_DOWN, TAP_KEY_RIGHT, TAP_KEY_LEFT } },
	{ "xterm: Home and End",
	  "\033[H\033[F\033OH\033OF",
	  { TAP_KEY_HOME, TAP_KEY_END, TAP_KEY_HOME, TAP_KEY_END } },
	{ "Linux and tmux: Home, Delete, End",
	  "\033[1~\033[3~\033[4~",
	  { TAP_KEY_HOME, TAP_KEY_DELETE, TAP_KEY_END } },
	{ "Page Up and Page Down", "\033[5~\033[6~", { TAP_KEY_PAGE_UP, TAP_KEY_PAGE_DOWN } },
	{ "rxvt: Home and End", "\033[7~\033[8~", { TAP_KEY_HOME, TAP_KEY_END } },
	{ "xterm: F1..F4", "\033OP\033OQ\033OR\033OS", { F(1), F(2), F(3), F(4) } },
	{ "rxvt: F1..F4", "\033[11~\033[12~\033[13~\033[14~", { F(1), F(2), F(3), F(4) } },
	{ "Linux: F1..F5",
	  "\033[[A\033[[B\033[[C\033[[D\033[[E",
	  { F(1), F(2), F(3), F(4), F(5) } },
	{ "F5..F8", "\033[15~\033[17~\033[18~\033[19~", { F(5), F(6), F(7), F(8) } },
	{ "F9..F12", "\033[20~\033[21~\033[23~\033[24~", { F(9), F(10), F(11), F(12) } },
	{ "xterm: modifiers",
	  "\033[1;5A\033[5;2~\033[1;2P\033O2P",
	  { TAP_KEY_UP, TAP_KEY_PAGE_UP, F(1), F(1) } },
	{ "rxvt: modifiers",
	  "\033[a\033Oa\033[3$\033[3^\033[3@",
	  { TAP_KEY_UP, TAP_KEY_UP, TAP_KEY_DELETE, TAP_KEY_DELETE, TAP_KEY_DELETE } },
	{ "Enter on the keypad", "\033OM", { TAP_KEY_ENTER } },
	{ "with Alt",
	  "\033x\033\xc3\xa9\033\r"
	  "a",
	  { NONE, NONE, NONE, 'a' } },
	{ "Alt-[ and Alt-O", "\033[", { NONE } },
	{ "unknown sequences are swallowed",
	  "\033[200~a\033[Zb\033[99;99;99xc\033Ozd",
	  { NONE, 'a', NONE, 'b', NONE, 'c', NONE, 'd' } },
	{ "answers are no keys: cursor position", "\033[24;80Ra", { NONE, 'a' } },
	{ "answers are no keys: attributes",
	  "\033[?1;2ca\033[?2026;2$yb\033[>0;1cc",
	  { NONE, 'a', NONE, 'b', NONE, 'c' } },
	{ "answers are no keys: a colour",
	  "\033]11;rgb:0/0/0\033\\a\033]11;rgb:0/0/0\ab",
	  { NONE, 'a', NONE, 'b' } },
	{ "answers are no keys: a long string",
	  "\033P" TEN TEN TEN TEN TEN TEN "\033\\a",
	  { NONE, 'a' } },
	{ "a string whose end is cut where the buffer is full",
	  "\033P" TEN TEN "123456789\033\\a",
	  { NONE, 'a' } },
	{ "a string that ends nowhere", "\033]11;x", { NONE } },
	{ "a sequence that is too long", "\033[" TEN TEN TEN TEN TEN TEN "Aa", { NONE, 'a' } },
	{ "a sequence that ends nowhere", "\033[12;", { NONE } },
	{ "Escape aborts a sequence",
	  "\033[1\033[A\033O\033[B\033]1\033[C",
	  { NONE, TAP_KEY_UP, NONE, TAP_KEY_DOWN, NONE, TAP_KEY_RIGHT } },
	{ "so do bytes that are part of none",
	  "\033[1\ra\033[\xc3\xa9"
	  "b\033[[x",
	  { NONE, TAP_KEY_ENTER, 'a', NONE, 0xe9, 'b', NONE, 'x' } },
};

/* Take all keys that are there. Return: their number. */
static size_t take_all(struct tap_keys *k, bool complete, uint32_t *keys, size_t nr, size_t most)
{
	uint32_t key;

	while (tap_keys_take(k, complete, &key)) {
		assert_true(nr < most);
		keys[nr++] = key;
		assert_true(key <= TAP_KEY_F12);
	}
	return nr;
}

/* Give the bytes in chunks of at most @chunk bytes, the first one of @first. Return: the keys. */
static size_t keys_of(const char *bytes, size_t len, size_t first, size_t chunk, uint32_t *keys,
		      size_t most)
{
	struct tap_keys k = { 0 };
	size_t nr = 0, size = first;

	for (size_t at = 0, added; at < len; at += added, size = chunk) {
		added = tap_keys_add(&k, bytes + at, size < len - at ? size : len - at);
		assert_true(added > 0); /* there is always space once all keys were taken */
		nr = take_all(&k, false, keys, nr, most);
	}
	nr = take_all(&k, true, keys, nr, most);
	assert_int_equal(k.nr, 0);
	return nr;
}

static void test_case(void **state)
{
	const struct keys_case *c = *state;
	size_t len = strlen(c->bytes), nr = 0;
	uint32_t got[16];

	while (nr < 8 && c->want[nr])
		nr++;
	for (size_t first = 1; first <= len; first++)
		for (size_t chunk = 1; chunk <= len; chunk++) {
			assert_int_equal(keys_of(c->bytes, len, first, chunk, got, 16), nr);
			assert_memory_equal(got, c->want, nr * sizeof(*got));
		}
}

/* Random bytes, many of them from sequences: keys must not depend on the chunks. */
static void test_random(void **state)
{
	static const char usual[] = "\033\033\033[[O]P;?$123~ABx\a\\\xe4\xb8\x96";

	(void)state;
	srand(1);
	for (unsigned int i = 0; i < 100000 / sanitized_step(); i++) {
		uint32_t whole[100], cut[100];
		char bytes[100];
		size_t nr;

		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = rand() % 4 ? usual[(size_t)rand() % (sizeof(usual) - 1)]
					      : (char)rand();
		nr = keys_of(bytes, sizeof(bytes), sizeof(bytes), sizeof(bytes), whole, 100);
		assert_int_equal(keys_of(bytes, sizeof(bytes), 1 + (size_t)rand() % 40,
					 1 + (size_t)rand() % 40, cut, 100),
				 nr);
		assert_memory_equal(whole, cut, nr * sizeof(*cut));
	}
}

int main(void)
{
	struct CMUnitTest tests[sizeof(cases) / sizeof(*cases) + 1];
	size_t nr = 0;

	for (; nr < sizeof(cases) / sizeof(*cases); nr++)
		tests[nr] = (struct CMUnitTest){ .name = cases[nr].name,
						 .test_func = test_case,
						 .initial_state = (void *)&cases[nr] };
	tests[nr] = (struct CMUnitTest)cmocka_unit_test(test_random);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
