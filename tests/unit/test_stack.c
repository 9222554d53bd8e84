// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --stack as it is typed; where a stack's addresses are found in memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/stack.h"
#include "record/stack_seen.h"

static const struct {
	const char *text;
	bool kernel, user;
	unsigned int depth;
	const char *system, *name; /* an event that it is of */
} good[] = {
	{ "sched_switch", true, false, 127, "sched", "sched_switch" },
	{ "sched:sched_switch", true, false, 127, "sched", "sched_switch" },
	{ "sched_switch:kernel", true, false, 127, "sched", "sched_switch" },
	{ "sched_switch:user", false, true, 127, "sched", "sched_switch" },
	{ "sched:sched_switch:both", true, true, 127, "sched", "sched_switch" },
	{ "sched_switch,depth=1", true, false, 1, "sched", "sched_switch" },
	{ "sched_*:both,depth=127", true, true, 127, "sched", "sched_waking" },
	{ "sched:*", true, false, 127, "sched", "sched_waking" },
	/* an event that is called like a kind */
	{ "net:user:kernel", true, false, 127, "net", "user" },
};

static const struct {
	const char *text, *want;
} bad[] = {
	{ "", "--stack '': expected 'EVENT[:kernel|user|both][,depth=N]'" },
	{ ":user", "--stack ':user': expected 'EVENT[:kernel|user|both][,depth=N]'" },
	{ "sched_switch,", "--stack 'sched_switch,': only depth=N may follow the comma" },
	{ "sched_switch,deep", "--stack 'sched_switch,deep': only depth=N may follow the comma" },
	{ "sched_switch,depth=",
	  "--stack 'sched_switch,depth=': the depth must be 1 to 127 frames" },
	{ "sched_switch,depth=0",
	  "--stack 'sched_switch,depth=0': the depth must be 1 to 127 frames" },
	{ "sched_switch,depth=128",
	  "--stack 'sched_switch,depth=128': the depth must be 1 to 127 frames" },
	{ "sched_switch,depth=-1",
	  "--stack 'sched_switch,depth=-1': the depth must be 1 to 127 frames" },
	{ "sched_switch,depth=8,depth=9",
	  "--stack 'sched_switch,depth=8,depth=9': the depth must be 1 to 127 frames" },
	{ "sched_switch,depth=99999999999999999999",
	  "--stack 'sched_switch,depth=99999999999999999999': the depth must be 1 to 127 frames" },
};

static void words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct tap_stack stack;
		struct tap_err err = { 0 };

		print_message("# '%s'\n", good[i].text);
		assert_int_equal(tap_stack_parse(good[i].text, &stack, &err), 0);
		assert_string_equal(stack.text, good[i].text);
		assert_int_equal(stack.kinds.kernel, good[i].kernel);
		assert_int_equal(stack.kinds.user, good[i].user);
		assert_int_equal(stack.kinds.depth, good[i].depth);
		assert_true(tap_select_event(stack.events, good[i].system, good[i].name));
		assert_false(tap_select_event(stack.events, "power", "cpu_idle"));
		tap_stack_release(&stack);
	}
}

static void bad_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tap_stack stack;
		struct tap_err err = { 0 };

		assert_int_equal(tap_stack_parse(bad[i].text, &stack, &err), -EINVAL);
		assert_string_equal(err.text, bad[i].want);
	}
}

/* A stack in memory: words by number, and the addresses that a walk finds, as letters. */
struct sample {
	/* '.': anything else; addresses of the program and its callers are capitals */
	const char *memory, *addrs;
	char top;
	bool certain;
	const char *places; /* of the addresses after the context, one digit each */
	char seen_top;
};

static const struct {
	const char *name;
	struct sample samples[3];
} cases[] = {
	{ "each is there once", { { ".a..b.c.", "abc", '.', true, "146", 0 } } },
	{ "who calls the program lies below the context",
	  { { ".a..b.c.", "XYabc", '.', true, "146", 0 } } },
	{ "a caller of the program lies after the context",
	  { { "Ya..b.c.", "XYabc", '.', true, "0146", 0 } } },
	{ "the outermost lies below the registers",
	  { { ".a..b....", "abz", 'z', true, "14", 'z' } } },
	{ "one is not there", { { ".a....c.", "abc", '.', false, NULL, 0 } } },
	{ "a copy out of order is no place", { { ".c.a.b.c", "abc", '.', true, "357", 0 } } },
	{ "a copy in order may be the place", { { ".a.b.b.c", "abc", '.', false, NULL, 0 } } },
	{ "until it is gone",
	  { { ".a.b.b.c", "abc", '.', false, NULL, 0 },
	    { ".a...b.c", "abc", '.', true, "157", 0 } } },
	{ "other copies each time",
	  { { ".a.b.b.c", "abc", '.', false, NULL, 0 },
	    { ".abb.b.c", "abc", '.', false, NULL, 0 },
	    { ".a...bbc", "abc", '.', true, "157", 0 } } },
	{ "a frame that changes its size is never certain",
	  { { ".a.b...c", "abc", '.', true, "137", 0 },
	    { ".a..b..c", "abc", '.', false, NULL, 0 } } },
	{ "the same function twice", { { ".a.b.b.c", "abbc", '.', true, "1357", 0 } } },
	{ "the same function twice, and a copy",
	  { { ".a.b.b.b.c", "abbc", '.', false, NULL, 0 } } },
};

static void fill(struct tap_stack_shown *shown, const struct sample *s)
{
	shown->nr_words = strlen(s->memory);
	for (size_t i = 0; i < shown->nr_words; i++)
		shown->words[i] = s->memory[i] == '.' ? i + 1000 : (unsigned char)s->memory[i];
	for (size_t i = 0; s->addrs[i]; i++)
		shown->addrs[i] = (unsigned char)s->addrs[i];
	shown->top = s->top == '.' ? 1 : (unsigned char)s->top;
	shown->key = 77;
	shown->seen_number = 5;
}

static void check_sample(struct tap_stack_sights *sights, struct tap_stack_shown *shown,
			 const struct sample *s)
{
	struct tap_stack_seen seen;

	unsigned int own = (unsigned int)strspn(s->addrs, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	fill(shown, s);
	assert_int_equal(
		tap_stack_sights_add(sights, shown, own, (unsigned int)strlen(s->addrs), &seen),
		s->certain);
	if (!s->certain)
		return;
	assert_int_equal(seen.number, 5);
	assert_int_equal(seen.key, 77);
	assert_int_equal(seen.top, s->seen_top);
	assert_int_equal(seen.nr, strlen(s->places));
	for (unsigned int i = 0; i < seen.nr; i++) {
		assert_int_equal(seen.places[i], s->places[i] - '0');
		assert_int_equal(seen.addrs[i], shown->words[seen.places[i]]);
	}
	assert_int_equal(seen.words, s->places[seen.nr - 1] - '0' + 1);
}

static void places(void **state)
{
	struct tap_stack_shown *shown =
		calloc(1, sizeof(*shown) + TAP_STACK_MAX_DEPTH * sizeof(*shown->addrs));

	(void)state;
	assert_non_null(shown);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tap_stack_sights sights = { 0 };

		print_message("# %s\n", cases[i].name);
		for (unsigned int k = 0; k < 3 && cases[i].samples[k].memory; k++)
			check_sample(&sights, shown, &cases[i].samples[k]);
		tap_stack_sights_release(&sights);
	}
	free(shown);
}

/* More stacks than there are ways: the same one is put where it was, others where it is their turn.
 */
static void table(void **state)
{
	struct tap_stack_seen *table = calloc(512 * 4, sizeof(*table)),
			      seen = { .key = 77, .nr = 1, .words = 1 };
	struct tap_stack_sights sights = { 0 };
	unsigned int found = 0;

	(void)state;
	assert_non_null(table);
	for (seen.number = 1; seen.number <= 4; seen.number++)
		tap_stack_sights_put(&sights, table, &seen);
	seen.number = 2;
	tap_stack_sights_put(&sights, table, &seen);
	for (size_t i = 0; i < 512 * 4; i++) {
		found += table[i].key == 77;
		if (table[i].key)
			assert_int_equal(table[i].version, table[i].number == 2 ? 4 : 2);
	}
	assert_int_equal(found, 4);
	seen.number = 9;
	tap_stack_sights_put(&sights, table, &seen);
	for (size_t i = found = 0; i < 512 * 4; i++)
		found += table[i].number == 9;
	assert_int_equal(found, 1);
	tap_stack_sights_release(&sights);
	free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(bad_words),
		cmocka_unit_test(places),
		cmocka_unit_test(table),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("stack", tests, NULL, NULL);
}
