// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A head that is made anew has the formats of the one that was written, or there is none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "event/defs.h"
#include "file/dat_write.h"
#include "file/meta.h"
#include "file/rebuild.h"
#include "file/spool.h"

#define MAX_FORMATS 256u

struct written {
	struct tap_buf texts[MAX_FORMATS];
	struct tap_head_format formats[MAX_FORMATS];
	struct tap_head head;
};

static void add_text(struct written *w, const char *system)
{
	unsigned int nr = w->head.nr_formats++;

	assert_true(nr < MAX_FORMATS);
	tap_buf_str(&w->texts[nr]);
	assert_int_equal(w->texts[nr].err, 0);
	w->formats[nr] = (struct tap_head_format){ .system = system,
						   .text = w->texts[nr].data,
						   .len = w->texts[nr].len };
}

static void add_definition(struct written *w, const struct tap_def *def, const bool *absent)
{
	static const struct tap_map none;

	tap_def_format(def, absent, &(struct tap_def_texts){ .cgroups = &none, .stacks = &none },
		       &w->texts[w->head.nr_formats]);
	add_text(w, def->system);
}

static void write_head(struct written *w, const char *meta, struct tap_dat_front *front)
{
	struct tap_buf bytes = { 0 };

	tap_head_defaults(&w->head);
	w->head.formats = w->formats;
	w->head.uname = "Linux here 6.18 #1 x86_64";
	w->head.tool = "schedtap";
	w->head.clock = "mono";
	w->head.meta = meta;
	assert_int_equal(tap_head_write(&w->head, &bytes), 0);
	assert_int_equal(tap_dat_front_parse(bytes.data, bytes.len, front, NULL), 0);
	tap_buf_release(&bytes);
}

/* meta.json of a recording with that head, up to its checksum. @instead: of the checksums of
 * formats; NULL: as they are. */
static char *describe(struct written *w, const char *instead)
{
	json_t *meta = json_pack("{s:s, s:b, s:{s:s, s:s, s:s, s:s}, s:[i,i]}", "tool", "schedtap",
				 "complete", 0, "host", "hostname", "here", "release", "6.18",
				 "version", "#1", "machine", "x86_64", "cpus", 0, 1);
	json_t *formats, *o;
	size_t i;
	char *text;

	w->head.formats = w->formats;
	w->head.nr_cpus = 2;
	formats = tap_rebuild_formats(&w->head);
	assert_int_equal(json_array_size(formats), w->head.nr_formats);
	json_array_foreach(formats, i, o) {
		if (instead)
			json_object_set_new(o, "xxh64", json_string(instead));
	}
	json_object_set_new(meta, "formats", formats);
	text = json_dumps(meta, JSON_COMPACT);
	assert_non_null(text);
	json_decref(meta);
	return text;
}

static int rebuild(const char *meta, struct tap_buf *head, struct tap_err *err)
{
	struct tap_buf sealed = { 0 };
	int ret;

	tap_meta_seal(meta, &sealed);
	ret = tap_rebuild_head(sealed.data, sealed.len, head, err);
	tap_buf_release(&sealed);
	return ret;
}

static void release(struct written *w)
{
	for (unsigned int i = 0; i < w->head.nr_formats; i++)
		tap_buf_release(&w->texts[i]);
}

/* It is, byte for byte, what was written. */
static void check_same(struct written *w)
{
	struct tap_dat_front was, is;
	struct tap_buf head = { 0 };
	char *meta = describe(w, NULL);

	write_head(w, meta, &was);
	assert_int_equal(rebuild(meta, &head, NULL), 0);
	assert_int_equal(tap_dat_front_parse(head.data, head.len, &is, NULL), 0);
	assert_int_equal(is.nr_cpus, 2);
	for (int i = 0; i < TAP_DAT_NR_SECTIONS; i++) {
		assert_int_equal(is.sections[i].len, was.sections[i].len);
		if (is.sections[i].len)
			assert_memory_equal(is.sections[i].data, was.sections[i].data,
					    is.sections[i].len);
	}
	assert_int_equal(is.options.len, was.options.len);
	assert_memory_equal(is.options.data, was.options.data, is.options.len);
	tap_dat_front_release(&was);
	tap_dat_front_release(&is);
	tap_buf_release(&head);
	free(meta);
}

static void all_definitions_come_back(void **state)
{
	struct written w = { 0 };
	const struct tap_def *def;

	(void)state;
	for (unsigned int i = 0; (def = tap_def_at(i)); i++)
		add_definition(&w, def, NULL);
	assert_true(w.head.nr_formats > 40);
	check_same(&w);
	release(&w);
}

/* Each kernel lacks some fields. */
static void absent_fields_stay_absent(void **state)
{
	const struct tap_def *def;

	(void)state;
	for (unsigned int lacks = 0; lacks < 4; lacks++) {
		struct written w = { 0 };

		for (unsigned int i = 0; (def = tap_def_at(i)); i++) {
			bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };

			for (unsigned int k = lacks; k < def->nr_fields; k += 4)
				absent[k] = true;
			add_definition(&w, def, absent);
		}
		check_same(&w);
		release(&w);
	}
}

static void check_refused(const char *meta, int want, const char *sentence)
{
	struct tap_buf head = { 0 };
	struct tap_err err = { 0 };

	assert_int_equal(rebuild(meta, &head, &err), want);
	assert_string_equal(err.text, sentence);
	assert_int_equal(head.len, 0);
	tap_buf_release(&head);
}

static void other_layouts_are_refused(void **state)
{
	struct written w = { 0 };
	char *meta;

	(void)state;
	add_definition(&w, tap_def_find("sched", "sched_switch"), NULL);
	meta = describe(&w, "0123456789abcdef");
	check_refused(meta, -ENOTSUP,
		      "schedtap has no built-in format that fits sched:sched_switch");
	free(meta);
	release(&w);
}

/* The kernel's has an id of the kernel's; a program's has any name. */
static void other_formats_are_refused(void **state)
{
	static const char text[] =
		"name: %s\nID: 317\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";
	static const char *const names[][2] = { { "sched", "sched_switch" },
						{ "demo", "request" } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct written w = { 0 };
		char sentence[100], *meta;

		add_definition(&w, tap_def_find("sched", "sched_waking"), NULL);
		tap_buf_printf(&w.texts[1], text, names[i][1]);
		add_text(&w, names[i][0]);
		meta = describe(&w, NULL);
		snprintf(sentence, sizeof(sentence),
			 "schedtap has no built-in format that fits %s:%s", names[i][0],
			 names[i][1]);
		check_refused(meta, -ENOTSUP, sentence);
		free(meta);
		release(&w);
	}
}

static void descriptions_without_formats_are_not_used(void **state)
{
	struct tap_buf head = { 0 }, sealed = { 0 };

	(void)state;
	check_refused("{\"tool\":\"schedtap 0.1\",\"complete\":false}", -ENODATA, "");
	check_refused("{\"formats\":{}}", -ENODATA, "");
	check_refused("{\"formats\":[1]}", -ENOTSUP, "schedtap has no built-in format that fits :");
	assert_int_equal(tap_rebuild_head("", 0, &head, NULL), -ENODATA);
	tap_meta_seal("{\"formats\":[{}]}", &sealed);
	assert_int_equal(tap_rebuild_head(sealed.data, sealed.len, &head, NULL), -ENOTSUP);
	sealed.data[2] ^= 1; /* it is not what was written */
	assert_int_equal(tap_rebuild_head(sealed.data, sealed.len, &head, NULL), -ENODATA);
	tap_buf_release(&sealed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_definitions_come_back),
		cmocka_unit_test(absent_fields_stay_absent),
		cmocka_unit_test(other_layouts_are_refused),
		cmocka_unit_test(other_formats_are_refused),
		cmocka_unit_test(descriptions_without_formats_are_not_used),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
