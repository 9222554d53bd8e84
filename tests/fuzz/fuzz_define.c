// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any text as a header with events: it is refused with a sentence, or the definitions have format
 * texts that can be parsed (also without an absent field), and point into the text.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "event/define/define.h"
#include "check.h"

static void check_format(const struct tap_def *def, const bool *absent, unsigned int nr_absent)
{
	struct tap_err err = { 0 };
	struct tap_format *fmt;

	CHECK(!tap_def_parse(def, absent, &fmt, &err));
	CHECK(fmt->nr_fields - fmt->nr_common + nr_absent == def->nr_fields);
	tap_format_free(fmt);
}

static void check_places(const struct tap_def *def, const char *text)
{
	for (size_t i = 0; i <= strlen(text); i += 1 + i / 8) {
		struct tap_err err = { 0 };

		CHECK(tap_defs_fail(def, text + i, &err, "here") == -EINVAL &&
		      strstr(err.text, ": here\n "));
	}
}

static void check_def(const struct tap_def *def)
{
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
	uint32_t end = 8;

	for (unsigned int i = 0; i < def->nr_fields; i++) {
		CHECK(def->fields[i].offset >= end && def->fields[i].size);
		end = def->fields[i].offset + def->fields[i].size;
	}
	CHECK(def->size >= end && def->size <= 4000 && def->size % 4 == 0 && def->id < 0x8000);
	check_format(def, absent, 0);
	if (def->nr_fields) {
		absent[def->nr_fields / 2] = true;
		check_format(def, absent, 1);
	}
	check_places(def, def->assign);
	check_places(def, def->print_fmt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tap_defs d = { 0 };
	struct tap_err err = { 0 };
	/* no file can be included from this directory */
	int ret = tap_defs_read_text(&d, "/nonexistent/events.h", (const char *)data, size, &err);

	CHECK(!ret || (ret == -EINVAL && err.code == ret && *err.text));
	for (unsigned int i = 0; !ret && i < d.nr; i++)
		check_def(tap_defs_at(&d, i));
	tap_defs_release(&d);
	return 0;
}
