// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The built-in events: that every definition makes a format text which the parser understands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "event/defs.h"
#include "event/print/print.h"

#define LOST_TEXT                                                                                  \
	"name: events_lost\n"                                                                      \
	"ID: %u\n"                                                                                 \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"                                 \
	"\n"                                                                                       \
	"\tfield:u64 count;\toffset:8;\tsize:8;\tsigned:0;\n"                                      \
	"\tfield:u64 first_ns;\toffset:16;\tsize:8;\tsigned:0;\n"                                  \
	"\tfield:u64 last_ns;\toffset:24;\tsize:8;\tsigned:0;\n"                                   \
	"\tfield:s32 lost_cpu;\toffset:32;\tsize:4;\tsigned:1;\n"                                  \
	"\n"                                                                                       \
	"print fmt: \"lost_cpu=%%d count=%%llu first_ns=%%llu last_ns=%%llu\", REC->lost_cpu, "    \
	"REC->count, REC->first_ns, REC->last_ns\n"

static void text_is_the_kernels(void **state)
{
	const struct tap_def *def = tap_def_find("schedtap", "events_lost");
	struct tap_buf text = { 0 };
	char *want;

	(void)state;
	assert_true(asprintf(&want, LOST_TEXT, def->id) > 0);
	tap_def_format(def, NULL, NULL, &text);
	assert_string_equal(tap_buf_str(&text), want);
	tap_buf_release(&text);
	free(want);
}

/* Every field that the text names is where the definition has it, and the text prints natively. */
static void check_def(const struct tap_def *def)
{
	const struct tap_abi abi = { .long_size = 8 };
	struct tap_buf text = { 0 };
	struct tap_map none = { 0 };
	const struct tap_def_texts texts = { &none, &none };
	struct tap_format *fmt;
	struct tap_err err;

	tap_def_format(def, NULL, &texts, &text);
	assert_int_equal(
		tap_format_parse(def->system, tap_buf_str(&text), text.len, abi, &fmt, &err), 0);
	assert_string_equal(fmt->name, tap_def_record_name(def));
	assert_int_equal(fmt->id, def->id);
	assert_int_equal(fmt->nr_fields - fmt->nr_common, def->nr_fields);
	for (unsigned int i = 0; i < def->nr_fields; i++) {
		const struct tap_field *f = tap_format_field(fmt, def->fields[i].name);

		assert_non_null(f);
		assert_int_equal(f->offset, def->fields[i].offset);
		assert_int_equal(f->size, def->fields[i].size);
		assert_int_equal(f->is_signed, def->fields[i].is_signed);
		assert_int_equal(f->kind, def->fields[i].kind);
	}
	assert_int_equal(tap_print_check(fmt), 0);
	tap_format_free(fmt);
	tap_buf_release(&text);
}

static void every_definition_parses(void **state)
{
	const struct tap_def *def;
	unsigned int nr = 0;

	(void)state;
	for (; (def = tap_def_at(nr)); nr++)
		check_def(def);
	assert_true(nr > 30);
}

static void ids_fit_kernelshark(void **state)
{
	const struct tap_def *def;

	(void)state;
	for (unsigned int i = 0; (def = tap_def_at(i)); i++) {
		assert_int_equal(def->id, TAP_DEF_ID_BASE + i);
		assert_true(def->id <= INT16_MAX);
	}
}

/* A need that names no field is a typing error in events/. */
static void check_need(const struct tap_def *def, const struct tap_need *need)
{
	bool found = !*need->field;

	for (unsigned int i = 0; i < def->nr_fields; i++)
		found |= !strcmp(def->fields[i].name, need->field);
	assert_true(found);
	assert_non_null(strchr(need->spec, '.'));
}

static void hooks_and_needs_are_the_headers(void **state)
{
	const struct tap_def *def;
	unsigned int nr_bare = 0;

	(void)state;
	for (unsigned int i = 0; (def = tap_def_at(i)); i++) {
		nr_bare += !def->nr_hooks;
		for (unsigned int k = 0; k < def->nr_hooks; k++)
			assert_in_range(def->hooks[k].nr_args, 1, 8);
		for (unsigned int k = 0; k < def->nr_needs; k++)
			check_need(def, &def->needs[k]);
	}
	assert_int_equal(nr_bare, 5); /* events_lost, events_off, mark, kernel_stack, user_stack */
	def = tap_def_find("schedtap", "sched_pelt_hw");
	assert_string_equal(def->hooks[1].tracepoint, "pelt_thermal_tp");
	assert_string_equal(def->needs[0].spec, "rq.avg_hw|rq.avg_thermal");
	assert_null(def->condition);
	def = tap_def_find("schedtap", "uclamp_util_se");
	assert_string_equal(def->condition, "tp_se_is_task(se)");
}

static const struct {
	const char *name, *event, *absent, *want; /* want: the print format */
} print_cases[] = {
	{
		.name = "an absent field goes with its word and its argument",
		.event = "sched_util_est_se",
		.absent = "ewma",
		.want = "\"cpu=%d path=%s cgroup=%llu comm=%s pid=%d enqueued=%u util=%u\", "
			"REC->cpu, __print_symbolic(REC->cgroup, { 0, \"-\" }, { 7, \"/a?b\" }), "
			"REC->cgroup, REC->comm, REC->pid, REC->enqueued, REC->util\n",
	},
	{
		.name = "a field read by two words takes both along",
		.event = "sched_util_est_se",
		.absent = "cgroup",
		.want = "\"cpu=%d comm=%s pid=%d enqueued=%u ewma=%u util=%u\", REC->cpu, "
			"REC->comm, REC->pid, REC->enqueued, REC->ewma, REC->util\n",
	},
	{
		.name = "a name that is part of another one does not",
		.event = "sched_cpu_capacity",
		.absent = "capacity",
		.want = "\"cpu=%d capacity_orig=%u capacity_curr=%u\", REC->cpu, "
			"REC->capacity_orig , REC->capacity_curr\n",
	},
	{
		.name = "the last one",
		.event = "sched_update_nr_running",
		.absent = "h_nr_runnable",
		.want = "\"cpu=%d change=%d nr_running=%u h_nr_queued=%u\", REC->cpu, REC->change, "
			"REC->nr_running , REC->h_nr_queued \n",
	},
};

static void absent_fields_and_paths(void **state)
{
	struct tap_map cgroups = { 0 }, stacks = { 0 };
	const struct tap_def_texts texts = { &cgroups, &stacks };

	(void)state;
	*tap_map_put(&cgroups, 7) = (uint64_t)(uintptr_t) "/a\"b";
	*tap_map_put(&stacks, 3) = (uint64_t)(uintptr_t) "\n => a\n => b";
	for (size_t i = 0; i < sizeof(print_cases) / sizeof(print_cases[0]); i++) {
		const struct tap_def *def = tap_def_find("schedtap", print_cases[i].event);
		bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
		struct tap_buf text = { 0 };
		const char *print;

		for (unsigned int k = 0; k < def->nr_fields; k++)
			absent[k] = !strcmp(def->fields[k].name, print_cases[i].absent);
		tap_def_format(def, absent, &texts, &text);
		print = strstr(tap_buf_str(&text), "print fmt: ") + strlen("print fmt: ");
		if (strcmp(print, print_cases[i].want))
			print_message("# case: %s\n", print_cases[i].name);
		assert_string_equal(print, print_cases[i].want);
		tap_buf_release(&text);
	}
	tap_map_release(&cgroups);
	tap_map_release(&stacks);
}

/* ---- print formats that users write ---- */

static const struct {
	const char *name, *print, *absent, *want;
} own_cases[] = {
	{ "literals are joined, escapes stay",
	  "\"a=\\\"%d\\\"\" \" \\\\b=%d%%\\n\" \"\", REC->a , REC->b", NULL,
	  "\"a=\\\"%d\\\" \\\\b=%d%%\\n\", REC->a , REC->b\n" },
	{ "no arguments", "\"nothing\"", NULL, "\"nothing\", \n" },
	{ "where nothing is absent all is as it is", "\"%d%d\",REC->a,  (REC->b)", NULL,
	  "\"%d%d\", REC->a,  (REC->b)\n" },
	{ "a comma in a text, and a bracket",
	  "\"%s b=%d\", __print_symbolic(REC->a, { 1, \"),\\\"\" }), REC->b", "b",
	  "\"%s\", __print_symbolic(REC->a, { 1, \"),\\\"\" })\n" },
	{ "two conversions of one word go together", "\"%d/%d c=%d\", REC->a, REC->b, REC->c", "b",
	  "\"c=%d\", REC->c\n" },
	{ "percent signs and widths take what they take",
	  "\"%d%% b=%*d c=%-3llx\", REC->a, REC->c, REC->b, REC->c", "b",
	  "\"%d%% c=%-3llx\", REC->a, REC->c\n" },
	{ "a word across literals", "\"a=\" \"%d\" \" b\" \"=%d\", REC->a, REC->b", "b",
	  "\"a=%d\", REC->a\n" },
	{ "all are absent", "\"a=%d\", REC->a", "a", "\"\", \n" },
	{ "a blank at the begin is the format's", "\" a=%d b=%d\", REC->a, REC->b", "b",
	  "\" a=%d\", REC->a\n" },
	{ "a path inside of an expression",
	  "\"%s %d\", REC->a ? tp_cgroup_path(f(REC->b)) : \"tp_cgroup_path(\", REC->c", NULL,
	  "\"%s %d\", REC->a ? __print_symbolic(f(REC->b), { 0, \"-\" }, { 7, \"/x\" }) : "
	  "\"tp_cgroup_path(\", REC->c\n" },
	{ "a stack beside a path", "\"%s %s\", tp_stack(REC->a), tp_cgroup_path(REC->b)", NULL,
	  "\"%s %s\", __print_symbolic(REC->a, { 0, \"-\" }, { 3, \"\n => f\" }), "
	  "__print_symbolic(REC->b, { 0, \"-\" }, { 7, \"/x\" })\n" },
};

static void print_formats_of_any_form(void **state)
{
	static const struct tap_field fields[] = {
		{ .name = "a", .type = "int" },
		{ .name = "b", .type = "int" },
		{ .name = "c", .type = "int" },
	};
	struct tap_map cgroups = { 0 }, stacks = { 0 };
	const struct tap_def_texts texts = { &cgroups, &stacks };

	(void)state;
	*tap_map_put(&cgroups, 7) = (uint64_t)(uintptr_t) "/x";
	*tap_map_put(&stacks, 3) = (uint64_t)(uintptr_t) "\n => f";
	for (size_t i = 0; i < sizeof(own_cases) / sizeof(*own_cases); i++) {
		struct tap_def def = { .name = "e",
				       .fields = fields,
				       .nr_fields = 3,
				       .print_fmt = own_cases[i].print };
		bool absent[3] = { 0 };
		struct tap_buf text = { 0 };
		const char *print;

		for (unsigned int k = 0; own_cases[i].absent && k < def.nr_fields; k++)
			absent[k] = !strcmp(fields[k].name, own_cases[i].absent);
		tap_def_format(&def, absent, &texts, &text);
		print = strstr(tap_buf_str(&text), "print fmt: ") + strlen("print fmt: ");
		if (strcmp(print, own_cases[i].want))
			print_message("# case: %s\n", own_cases[i].name);
		assert_string_equal(print, own_cases[i].want);
		tap_buf_release(&text);
	}
	tap_map_release(&cgroups);
	tap_map_release(&stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_the_kernels),
		cmocka_unit_test(every_definition_parses),
		cmocka_unit_test(ids_fit_kernelshark),
		cmocka_unit_test(hooks_and_needs_are_the_headers),
		cmocka_unit_test(absent_fields_and_paths),
		cmocka_unit_test(print_formats_of_any_form),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
