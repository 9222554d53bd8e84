// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Frames as text, and what a terminal emulator shows after updates from frame to frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <vterm.h>

#include "show/screen/frame.h"
#include "sanitized.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define WIDE "\xe4\xb8\x96" /* U+4E16 */
#define BAR "\xe2\x96\x88" /* U+2588 */
#define ACUTE "\xcc\x81" /* U+0301, combining */
#define ACUTE5 ACUTE ACUTE ACUTE ACUTE ACUTE

enum how { PUT = 1, LEFT, RIGHT, PAINT };

struct step {
	enum how how;
	unsigned int row, column, width, style; /* RIGHT: column is the end */
	const char *text;
};

static void draw(struct tap_frame *f, const struct step *steps, size_t nr)
{
	for (const struct step *s = steps; s < steps + nr; s++) {
		if (s->how == PUT)
			tap_frame_put(f, s->row, s->column, s->style, s->text);
		if (s->how == LEFT)
			tap_frame_left(f, s->row, s->column, s->width, s->style, s->text);
		if (s->how == RIGHT)
			tap_frame_right(f, s->row, s->column, s->width, s->style, s->text);
		if (s->how == PAINT)
			tap_frame_paint(f, s->row, s->column, s->width, s->style);
	}
}

/* ---- frames of two rows and ten columns ---- */

#define STRONG_RED (TAP_STYLE_RED | TAP_STYLE_BOLD)
#define STRONG_CYAN (TAP_STYLE_CYAN | TAP_STYLE_REVERSE)

static const struct text_case {
	const char *name;
	struct step steps[3];
	const char *want;
} text_cases[] = {
	{ "spaces at the end are left out", { { PUT, 0, 2, .text = "ab " } }, "  ab\n\n" },
	{ "text is cut at the frame's end", { { PUT, 0, 7, .text = "abcdef" } }, "       abc\n\n" },
	{ "text outside the frame is ignored",
	  { { PUT, 2, 0, .text = "a" },
	    { PUT, 1, 10, .text = "b" },
	    { PUT, 1, -3u, .text = "cdefg" } },
	  "\n\n" },
	{ "hostile text is escaped",
	  { { PUT, 0, 0, .text = "a\033[m\xff" }, { PUT, 1, 0, .text = "\n\t\\\xc2\x9b" } },
	  "a\\x1B[m\\xF\n\\n\\t\\\\\\xC2\n" },
	{ "half a wide character does not fit", { { PUT, 0, 9, .text = WIDE "a" } }, "\n\n" },
	{ "text over the left half of a wide character clears the right half",
	  { { PUT, 0, 0, .text = WIDE "a" }, { PUT, 0, 0, .text = "b" } },
	  "b a\n\n" },
	{ "text over the right half clears the left half",
	  { { PUT, 0, 0, .text = WIDE "a" }, { PUT, 0, 1, .text = "b" } },
	  " ba\n\n" },
	{ "a wide character over halves of two others clears both",
	  { { PUT, 0, 0, .text = WIDE WIDE "a" }, { PUT, 0, 1, .text = WIDE } },
	  " " WIDE " a\n\n" },
	{ "combining characters take no column, and too many are cut",
	  { { PUT, 0, 0, .text = "e" ACUTE5 ACUTE5 "f" } },
	  "e" ACUTE5 "f\n\n" },
	{ "a combining character never changes other text",
	  { { PUT, 0, 0, .text = "e" }, { PUT, 0, 1, .text = ACUTE "f" } },
	  "ef\n\n" },
	{ "right: text ends before the column",
	  { { RIGHT, 0, 8, 6, .text = "12.5" } },
	  "    12.5\n\n" },
	{ "right: its right end is cut", { { RIGHT, 0, 8, 3, .text = "12345" } }, "     123\n\n" },
	{ "right: nothing is left of the frame",
	  { { RIGHT, 0, 2, 9, .text = "12345" } },
	  "12\n\n" },
	{ "left: text that fits", { { LEFT, 0, 1, 3, .text = "abc" } }, " abc\n\n" },
	{ "left: cut text ends with ~", { { LEFT, 0, 1, 3, .text = "abcd" } }, " ab~\n\n" },
	{ "left: no wide character is halved",
	  { { LEFT, 0, 1, 4, .text = WIDE WIDE "a" } },
	  " " WIDE "~\n\n" },
	{ "left: no width, no text", { { LEFT, 0, 1, 0, .text = "a" } }, "\n\n" },
	{ "styles have letters",
	  { { PUT, 0, 0, 0, TAP_STYLE_BOLD, "ab" },
	    { PUT, 0, 2, 0, TAP_STYLE_GREEN, "c" },
	    { PUT, 1, 1, 0, TAP_STYLE_DIM, "d" } },
	  "abc\nbbg\n d\n d\n" },
	{ "colours that are bold or reverse have capitals",
	  { { PUT, 0, 0, 0, STRONG_RED, "a" }, { PUT, 0, 2, 0, STRONG_CYAN, "c" } },
	  "a c\nR C\n\n" },
	{ "paint keeps the text",
	  { { PUT, 0, 0, .text = "abc" },
	    { PAINT, 0, 1, 99, TAP_STYLE_REVERSE },
	    { PAINT, 9, 1, 99, TAP_STYLE_REVERSE } },
	  "abc\n vvvvvvvvv\n\n" },
};

static void test_text(void **state)
{
	(void)state;
	for (const struct text_case *c = text_cases; c < text_cases + TABLE(text_cases); c++) {
		struct tap_frame f = { 0 };
		struct tap_buf got = { 0 };

		assert_int_equal(tap_frame_reset(&f, 2, 10), 0);
		draw(&f, c->steps, TABLE(c->steps));
		tap_frame_text(&got, &f, true);
		if (strcmp(tap_buf_str(&got), c->want))
			fail_msg("%s: got\n%s\nwant\n%s", c->name, got.data, c->want);
		tap_buf_release(&got);
		tap_frame_release(&f);
	}
}

static void test_columns(void **state)
{
	struct tap_frame f = { 0 };

	(void)state;
	assert_int_equal(tap_frame_put(&f, 5, 7, 0, "ab" WIDE ACUTE), 11);
	assert_int_equal(tap_frame_reset(&f, 2000, 1), 0);
	assert_int_equal(f.rows, TAP_FRAME_MAX);
	assert_int_equal(tap_frame_printf(&f, 0, 0, 0, "%d\n", 12), 4);
	tap_frame_release(&f);
}

/* ---- output ---- */

static const struct update_case {
	const char *name;
	struct step before[2], now[2];
	bool ascii, mono;
	const char *want;
} update_cases[] = {
	{ "nothing changes, nothing is written",
	  { { PUT, 0, 0, .text = "a" } },
	  { { PUT, 0, 0, .text = "a" } },
	  .want = "" },
	{ "one cell",
	  { { PUT, 0, 0, .text = "abc" } },
	  { { PUT, 0, 0, .text = "axc" } },
	  .want = "\033[1;2Hx" },
	{ "two cells of a row",
	  { { PUT, 1, 0, .text = "abcdef" } },
	  { { PUT, 1, 0, .text = "xbcdxf" } },
	  .want = "\033[2;1Hx\033[3Cx" },
	{ "the next column but one",
	  {},
	  { { PUT, 0, 0, .text = "a b" } },
	  .want = "\033[1;1Ha\033[Cb" },
	{ "few cells are overwritten",
	  { { PUT, 0, 0, .text = "abcd" } },
	  { { PUT, 0, 0, .text = "a" } },
	  .want = "\033[1;2H   " },
	{ "many are erased",
	  { { PUT, 0, 0, .text = "abcde" } },
	  { { PUT, 0, 0, .text = "a" } },
	  .want = "\033[1;2H\033[K" },
	{ "cells that are erased are plain",
	  { { PUT, 0, 0, .text = "abcdef" } },
	  { { PUT, 0, 0, 0, STRONG_RED, "a" } },
	  .want = "\033[1;1H\033[0;1;31ma\033[m\033[K" },
	{ "a style is set once",
	  {},
	  { { PUT, 0, 0, 0, STRONG_CYAN, "a b" } },
	  .want = "\033[1;1H\033[0;7;36ma b\033[m" },
	{ "the cursor is placed anew after a wide character",
	  {},
	  { { PUT, 0, 0, .text = WIDE "a" } },
	  .want = "\033[1;1H" WIDE "\033[1;3Ha" },
	{ "and after the last column",
	  {},
	  { { PUT, 0, 9, .text = "a" }, { PUT, 1, 0, .text = "b" } },
	  .want = "\033[1;10Ha\033[2;1Hb" },
	{ "but not after bars",
	  {},
	  { { PUT, 0, 0, .text = BAR BAR "a" } },
	  .want = "\033[1;1H" BAR BAR "a" },
	{ "ASCII",
	  {},
	  { { PUT, 0, 0, .text = BAR WIDE "a" ACUTE "\xc3\xa9" } },
	  .ascii = true,
	  .want = "\033[1;1H#??a?" },
	{ "no colours: colours change nothing",
	  { { PUT, 0, 0, .text = "a" } },
	  { { PUT, 0, 0, 0, TAP_STYLE_RED | TAP_STYLE_DIM, "a" } },
	  .mono = true,
	  .want = "" },
	{ "no colours: bold and reverse remain",
	  {},
	  { { PUT, 0, 0, 0, STRONG_RED, "a" } },
	  .mono = true,
	  .want = "\033[1;1H\033[0;1ma\033[m" },
};

static void test_update(void **state)
{
	struct tap_frame before = { 0 }, now = { 0 };

	(void)state;
	for (const struct update_case *c = update_cases; c < update_cases + TABLE(update_cases);
	     c++) {
		struct tap_buf got = { 0 };

		assert_int_equal(tap_frame_reset(&before, 2, 10), 0);
		assert_int_equal(tap_frame_reset(&now, 2, 10), 0);
		draw(&before, c->before, TABLE(c->before));
		draw(&now, c->now, TABLE(c->now));
		tap_frame_update(&got, &before, &now, !c->mono, !c->ascii);
		if (strcmp(tap_buf_str(&got), c->want))
			fail_msg("%s: got '%s', want '%s'", c->name, got.data, c->want);
		tap_buf_release(&got);
	}
	tap_frame_release(&before);
	tap_frame_release(&now);
}

static void test_update_without_cells(void **state)
{
	struct tap_frame none = { 0 }, flat = { 0 };
	struct tap_buf out = { 0 };

	(void)state;
	tap_frame_update(&out, NULL, &none, true, true);
	assert_string_equal(tap_buf_str(&out), "\033[m\033[2J");
	assert_int_equal(tap_frame_reset(&flat, 0, 80), 0);
	tap_frame_update(&out, &none, &flat, true, true);
	tap_frame_text(&out, &flat, true);
	assert_string_equal(tap_buf_str(&out), "\033[m\033[2J\033[m\033[2J");
	tap_frame_release(&flat);
	tap_buf_release(&out);
}

/* ---- an emulator ---- */

#define ROWS 5
#define COLUMNS 12

struct looks {
	bool colours, utf8;
};

/* The characters that the terminal shall show; 0 after the last one. */
static void wanted_chars(const struct tap_cell *cell, bool utf8, uint32_t *chars)
{
	char text[TAP_CELL_BYTES + 1] = { 0 };
	size_t nr = 0;

	memcpy(text, cell->text, TAP_CELL_BYTES);
	if (!utf8 && text[0] & 0x80) {
		chars[nr++] = !strncmp(text, BAR, 3) ? '#' : '?';
	} else if (!strncmp(text, WIDE, 3)) {
		chars[nr++] = 0x4e16;
	} else if (!strncmp(text, BAR, 3)) {
		chars[nr++] = 0x2588;
	} else if (strcmp(text, " ")) {
		chars[nr++] = (unsigned char)*text;
	}
	if (utf8 && strstr(text, ACUTE))
		chars[nr++] = 0x301;
	chars[nr] = 0;
}

static unsigned int shown_style(const VTermScreenCell *cell)
{
	unsigned int style = cell->attrs.bold ? TAP_STYLE_BOLD : 0;

	if (cell->attrs.reverse)
		style |= TAP_STYLE_REVERSE;
	if (VTERM_COLOR_IS_INDEXED(&cell->fg))
		style |= cell->fg.indexed.idx * TAP_STYLE_RED;
	return style;
}

static void assert_cell(VTermScreen *screen, const struct tap_frame *f, int row, int column,
			struct looks looks)
{
	const struct tap_cell *cell = &f->cells[row * COLUMNS + column];
	unsigned int mask = looks.colours ? TAP_STYLE_COLOUR : 0;
	uint32_t want[3], first;
	VTermScreenCell got;

	vterm_screen_get_cell(screen, (VTermPos){ row, column }, &got);
	if (!*cell->text) { /* the emulator has -1 there, in ASCII it is a second '?' */
		assert_int_equal(got.chars[0], looks.utf8 ? (uint32_t)-1 : '?');
		return;
	}
	wanted_chars(cell, looks.utf8, want);
	first = got.chars[0] == ' ' ? 0 : got.chars[0]; /* 0: erased */
	if (first != want[0] || (first && got.chars[1] != want[1]))
		fail_msg("row %d, column %d: U+%04X, want U+%04X", row, column, first, want[0]);
	mask |= TAP_STYLE_BOLD | TAP_STYLE_REVERSE;
	assert_int_equal(shown_style(&got), cell->style & mask);
}

static void draw_randomly(struct tap_frame *f)
{
	static const char *const texts[] = { "a",	    "some text", WIDE,	 WIDE "x" WIDE,
					     "e" ACUTE "x", BAR BAR BAR, "    ", WIDE WIDE WIDE };
	static const unsigned int styles[] = {
		0, 0, TAP_STYLE_BOLD, TAP_STYLE_REVERSE, TAP_STYLE_YELLOW, STRONG_RED, TAP_STYLE_DIM
	};

	for (int i = rand() % 8; i; i--) {
		unsigned int row = (unsigned int)rand() % ROWS;
		unsigned int column = (unsigned int)rand() % COLUMNS;
		unsigned int style = styles[(unsigned int)rand() % TABLE(styles)];

		if (rand() % 4)
			tap_frame_put(f, row, column, style,
				      texts[(unsigned int)rand() % TABLE(texts)]);
		else
			tap_frame_paint(f, row, column, 4, style);
	}
}

/*
 * Show random frames one after the other. A frame is new, or the one before with more text on it.
 * libvterm 0.1 has no dim text, so nothing is compared of it.
 */
static void show_frames(VTerm *vt, struct looks looks, unsigned int nr)
{
	struct tap_frame frames[2] = { 0 };
	const struct tap_frame *before = NULL;
	struct tap_buf out = { 0 };

	for (unsigned int i = 0; i < nr; i++) {
		struct tap_frame *now = &frames[i % 2];

		assert_int_equal(tap_frame_reset(now, ROWS, COLUMNS), 0);
		if (before && rand() % 4)
			memcpy(now->cells, before->cells, ROWS * COLUMNS * sizeof(*now->cells));
		draw_randomly(now);
		tap_buf_clear(&out);
		tap_frame_update(&out, before, now, looks.colours, looks.utf8);
		assert_int_equal(vterm_input_write(vt, out.data, out.len), out.len);
		for (int cell = 0; cell < ROWS * COLUMNS; cell++)
			assert_cell(vterm_obtain_screen(vt), now, cell / COLUMNS, cell % COLUMNS,
				    looks);
		before = now;
	}
	tap_frame_release(&frames[0]);
	tap_frame_release(&frames[1]);
	tap_buf_release(&out);
}

static void test_emulator(void **state)
{
	(void)state;
	srand(1);
	for (unsigned int i = 0; i < 4; i++) {
		VTerm *vt = vterm_new(ROWS, COLUMNS);

		vterm_set_utf8(vt, true);
		vterm_screen_reset(vterm_obtain_screen(vt), true);
		show_frames(vt, (struct looks){ .colours = i & 1, .utf8 = i & 2 },
			    5000 / sanitized_step());
		vterm_free(vt);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	 cmocka_unit_test(test_columns),
		cmocka_unit_test(test_update),	 cmocka_unit_test(test_update_without_cells),
		cmocka_unit_test(test_emulator),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
