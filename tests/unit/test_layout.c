// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "record/module/layout.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))

/* ---- a kernel's types ---- */

enum type { U32, U64, PAIRS, OTHER_POINTER, VOID_POINTER, CONST_U32, SAME, INNER, NR_TYPES };

struct type_of {
	const char *name; /* NULL: the next one's INNER */
	uint32_t size;
	struct {
		const char *name;
		enum type type;
		uint32_t bytes, bit, bits; /* its place; of a bitfield */
	} members[5];
};

struct kernel {
	const char *name;
	struct type_of types[4]; /* to the first without a size */
	struct {
		const char *name;
		unsigned int nr_args;
	} tracepoints[3];
	int want;
	const char *has[6], *has_not[4]; /* in the header; in the error, if that is wanted */
};

static void add_type(struct btf *btf, const struct type_of *t, int ids[NR_TYPES])
{
	int id = btf__add_struct(btf, t->name, t->size);

	assert_true(id > 0);
	for (size_t i = 0; i < TABLE(t->members) && t->members[i].name; i++)
		assert_int_equal(btf__add_field(btf, t->members[i].name, ids[t->members[i].type],
						t->members[i].bytes * 8 + t->members[i].bit,
						t->members[i].bits),
				 0);
	if (!t->name)
		ids[INNER] = id;
	else
		ids[SAME] = id;
}

static struct btf *make(const struct kernel *k)
{
	struct btf *btf = btf__new_empty();
	int ids[NR_TYPES] = { 0 }, pair, other, proto;

	btf__set_pointer_size(btf, 8);
	ids[U32] = btf__add_int(btf, "int", 4, 0);
	ids[U64] = btf__add_typedef(btf, "u64", btf__add_int(btf, "long", 8, 0));
	pair = btf__add_array(btf, ids[U32], ids[U32], 2);
	ids[PAIRS] = btf__add_array(btf, ids[U32], pair, 3);
	other = btf__add_struct(btf, "other", 4);
	ids[OTHER_POINTER] = btf__add_ptr(btf, other);
	ids[VOID_POINTER] = btf__add_ptr(btf, 0);
	ids[CONST_U32] = btf__add_const(btf, btf__add_volatile(btf, ids[U32]));
	for (size_t i = 0; i < TABLE(k->types) && k->types[i].size; i++)
		add_type(btf, &k->types[i], ids);
	for (size_t i = 0; i < TABLE(k->tracepoints) && k->tracepoints[i].name; i++) {
		proto = btf__add_func_proto(btf, 0);
		for (unsigned int arg = 0; arg <= k->tracepoints[i].nr_args; arg++)
			assert_int_equal(btf__add_func_param(btf, "arg", ids[VOID_POINTER]), 0);
		assert_true(btf__add_func(btf, k->tracepoints[i].name, BTF_FUNC_STATIC, proto) > 0);
	}
	return btf;
}

/* ---- what is written of it ---- */

#define PLACE(member, at) "_Static_assert(offsetof(struct " member ") == " at ","
#define SIZE(type, is) "_Static_assert(sizeof(struct " type ") == " is ", \"struct " type "\");\n"
#define ABSENT(event) "\n#define __event_" event " TAP_NO_EVENT(" event ")\n"

static const struct kernel cases[] = {
	{
		.name = "a kernel without anything has nothing",
		.has = { "#define TAP_HAS_rq_cpu 0\n", "#define TAP_HAS_cgroup_get_from_id 0\n",
			 ABSENT("sched_pelt_rt") },
		.has_not = { " 1\n", "struct rq {", "_Static_assert" },
	},
	{
		.name = "a member at its place, padded before, between and after",
		.types = { { "rq", 32, { { "nr_running", U32, 4 }, { "cpu", U32, 16 } } } },
		.has = { "\nstruct rq {\n"
			 "\tunsigned char tap_pad0[4];\n"
			 "\tint nr_running;\n"
			 "\tunsigned char tap_pad1[8];\n"
			 "\tint cpu;\n"
			 "\tunsigned char tap_pad2[12];\n"
			 "};\n" SIZE("rq", "32"),
			 PLACE("rq, nr_running", "4"), PLACE("rq, cpu", "16"),
			 "#define TAP_HAS_rq_cpu 1\n", "#define TAP_HAS_rq_avg_hw 0\n" },
		.has_not = { "rq, avg_hw" },
	},
	{
		.name = "no padding where nothing is between",
		.types = { { "rq", 12, { { "nr_running", U32, 0 }, { "cpu_capacity", U64, 4 } } } },
		.has = { "\nstruct rq {\n\tint nr_running;\n\tu64 cpu_capacity;\n};\n" },
		.has_not = { "tap_pad" },
	},
	{
		.name = "in the order of the kernel, not of the events",
		.types = { { "rq",
			     16,
			     { { "cpu_capacity", U64, 8 },
			       { "cpu", U32, 4 },
			       { "nr_running", U32, 0 } } } },
		.has = { "{\n\tint nr_running;\n\tint cpu;\n\tu64 cpu_capacity;\n};\n" },
	},
	{
		.name = "members that no event uses are padding",
		.types = { { "rq",
			     16,
			     { { "age_stamp", U64, 0 },
			       { "cpu", U32, 8 },
			       { "age_stamps", U32, 12 } } } },
		.has = { "\nstruct rq {\n"
			 "\tunsigned char tap_pad0[8];\n"
			 "\tint cpu;\n"
			 "\tunsigned char tap_pad1[4];\n"
			 "};\n" },
		.has_not = { "age_stamp" },
	},
	{
		.name = "a struct that the kernel's headers show is only compared",
		.types = { { "thread_info", 16, { { "cpu", U32, 12 } } } },
		.has = { "#define TAP_HAS_thread_info_cpu 1\n", PLACE("thread_info, cpu", "12") },
		.has_not = { "struct thread_info {" },
	},
	{
		.name = "a member of another struct is none",
		.types = { { "other", 8, { { "cpu", U32, 4 } } } },
		.has = { "#define TAP_HAS_rq_cpu 0\n" },
	},
	{
		.name = "under its older name, which is enough for the event",
		.types = { { "rq", 8, { { "avg_thermal", U64, 0 } } } },
		.tracepoints = { { "__traceiter_pelt_thermal_tp", 1 } },
		.has = { "#define TAP_HAS_rq_avg_thermal 1\n", "#define TAP_HAS_rq_avg_hw 0\n" },
		.has_not = { ABSENT("sched_pelt_hw") },
	},
	{
		.name = "with the tracepoint, but under neither name",
		.types = { { "rq", 8, { { "avg_rt", U64, 0 } } } },
		.tracepoints = { { "__traceiter_pelt_hw_tp", 1 } },
		.has = { ABSENT("sched_pelt_hw"), "rq.avg_hw|rq.avg_thermal" },
	},
	{
		.name = "a bitfield exists, but has no place",
		.types = { { "uclamp_se",
			     4,
			     { { "before", U32, 0, 0, 3 }, { "value", U32, 0, 3, 11 } } } },
		.has = { "#define TAP_HAS_uclamp_se_value 1\n" },
		.has_not = { "uclamp_se, value" },
	},
	{
		.name = "one that begins with a byte has none either",
		.types = { { "uclamp_se", 4, { { "value", U32, 0, 0, 11 } } } },
		.has = { "#define TAP_HAS_uclamp_se_value 1\n" },
		.has_not = { "uclamp_se, value" },
	},
	{
		.name = "a member beside a bitfield has a place",
		.types = { { "rq", 8, { { "flag", U32, 0, 0, 1 }, { "cpu", U32, 4 } } } },
		.has = { PLACE("rq, cpu", "4") },
	},
	{
		.name = "in a struct without a name",
		.types = { { NULL, 8, { { "cpu", U32, 4 } } },
			   { "rq", 24, { { "nr_running", U32, 0 }, { "", INNER, 8 } } } },
		.has = { PLACE("rq, cpu", "12"), "\tint nr_running;\n"
						 "\tunsigned char tap_pad0[8];\n"
						 "\tint cpu;\n"
						 "\tunsigned char tap_pad1[8];\n" },
	},
	{
		.name = "in one in one",
		.types = { { NULL, 8, { { "cpu", U32, 4 } } },
			   { NULL, 16, { { "", INNER, 8 } } },
			   { "rq", 24, { { "", INNER, 8 } } } },
		.has = { PLACE("rq, cpu", "20") },
	},
	{
		.name = "not in a member that has a name",
		.types = { { NULL, 8, { { "cpu", U32, 4 } } },
			   { "rq", 8, { { "named", INNER, 0 } } } },
		.has = { "#define TAP_HAS_rq_cpu 0\n" },
	},
	{
		.name = "arrays, pointers; what is const can be written all the same",
		.types = { { "rq", 48, { { "cpu", CONST_U32, 0 }, { "nr_running", PAIRS, 4 } } },
			   { "cfs_rq",
			     16,
			     { { "rq", OTHER_POINTER, 0 }, { "tg", VOID_POINTER, 8 } } } },
		.has = { "\tint cpu;\n\tint nr_running[3][2];\n\tunsigned char tap_pad0[20];\n",
			 "\tstruct other *rq;\n\tvoid *tg;\n};\n" },
	},
	{
		.name = "a struct comes after those that it contains",
		.types = { { "uclamp_rq", 4, { { "value", U32, 0 } } },
			   { "rq", 8, { { "uclamp", SAME, 4 } } } },
		.has = { SIZE("uclamp_rq", "4") "\nstruct rq {\n", "\tstruct uclamp_rq uclamp;\n" },
	},
	{
		.name = "a struct smaller than its members does not compile",
		.types = { { "rq", 4, { { "cpu_capacity", U64, 0 } } } },
		.has = { "\tu64 cpu_capacity;\n};\n" SIZE("rq", "4") },
	},
	{
		.name = "a member whose type has no name",
		.types = { { NULL, 4, { { "x", U32, 0 } } },
			   { "rq", 8, { { "avg_rt", INNER, 0 } } } },
		.want = -ENODATA,
		.has = { "cannot declare member rq.avg_rt" },
	},
	{
		.name = "members that overlap",
		.types = { { "rq", 8, { { "cpu_capacity", U64, 0 }, { "nr_running", U32, 4 } } } },
		.want = -ENODATA,
		.has = { "cannot declare member rq.nr_running" },
	},
	{
		.name = "members in one place",
		.types = { { "rq",
			     16,
			     { { "cpu_capacity", U64, 0 },
			       { "donor", U64, 8 },
			       { "curr", U32, 8 } } } },
		.has = { "\tu64 cpu_capacity;\n\tunion {\n\tint curr;\n\tu64 "
			 "donor;\n\t};\n};\n" SIZE("rq", "16"),
			 "#define TAP_HAS_rq_donor 1\n" },
	},
	{
		.name = "a tracepoint with the arguments that the event takes",
		.types = { { "rq", 8, { { "avg_rt", U64, 0 } } } },
		.tracepoints = { { "__traceiter_pelt_rt_tp", 1 }, { "cgroup_get_from_id", 1 } },
		.has = { "#define TAP_HAS_cgroup_get_from_id 1\n", ABSENT("sched_pelt_dl") },
		.has_not = { ABSENT("sched_pelt_rt") },
	},
	{
		.name = "a tracepoint with more",
		.types = { { "rq", 8, { { "avg_rt", U64, 0 } } } },
		.tracepoints = { { "__traceiter_pelt_rt_tp", 2 } },
		.has = { ABSENT("sched_pelt_rt") },
	},
	{
		.name = "a tracepoint with fewer",
		.types = { { "rq", 8, { { "avg_rt", U64, 0 } } } },
		.tracepoints = { { "__traceiter_pelt_rt_tp", 0 } },
		.has = { ABSENT("sched_pelt_rt") },
	},
};

static void test_headers(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		const struct kernel *k = &cases[i];
		struct tap_err err = { 0 };
		struct tap_buf out = { 0 };
		struct btf *btf = make(k);
		int ret = tap_layout_write(btf, "test", &out, &err);
		const char *text = ret ? err.text : tap_buf_str(&out);

		if (ret != k->want)
			fail_msg("%s: %d '%s'", k->name, ret, err.text);
		for (size_t j = 0; j < TABLE(k->has) && k->has[j]; j++)
			if (!strstr(text, k->has[j]))
				fail_msg("%s: no '%s' in:\n%s", k->name, k->has[j], text);
		for (size_t j = 0; j < TABLE(k->has_not) && k->has_not[j]; j++)
			if (strstr(text, k->has_not[j]))
				fail_msg("%s: '%s' in:\n%s", k->name, k->has_not[j], text);
		tap_buf_release(&out);
		btf__free(btf);
	}
}

/* It is in a comment. */
static void test_name_of_the_source(void **state)
{
	static const struct kernel none = { .name = "none" };
	struct btf *btf = make(&none);
	struct tap_buf out = { 0 };

	(void)state;
	assert_int_equal(tap_layout_write(btf, "a\nb", &out, NULL), 0);
	assert_non_null(strstr(tap_buf_str(&out), "`schedtap module layout` from a\\nb: "));
	tap_buf_release(&out);
	btf__free(btf);
}

/* Of 16 members each, 8 deep: that would be 2^32 looks. */
static void test_struct_that_is_its_own_member(void **state)
{
	struct tap_buf out = { 0 };
	struct btf *btf = btf__new_empty();
	int id = btf__add_struct(btf, NULL, 8);

	(void)state;
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(btf__add_field(btf, NULL, id, 0, 0), 0);
	assert_true(btf__add_struct(btf, "rq", 8) > 0);
	assert_int_equal(btf__add_field(btf, NULL, id, 0, 0), 0);
	assert_int_equal(tap_layout_write(btf, "test", &out, NULL), 0);
	assert_non_null(strstr(tap_buf_str(&out), "#define TAP_HAS_rq_cpu 0\n"));
	tap_buf_release(&out);
	btf__free(btf);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_name_of_the_source),
		cmocka_unit_test(test_struct_that_is_its_own_member),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	libbpf_set_print(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
