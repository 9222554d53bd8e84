// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any text as rules: it is accepted, or refused with a sentence that names the file; if it is
 * accepted, then also with a blank line before it.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "analysis/rule/rule.h"
#include "check.h"

static int parse(const char *text, size_t len, unsigned int *nr)
{
	struct tap_rules rules = { 0 };
	struct tap_err err = { 0 };
	int ret = tap_rules_parse(&rules, "file", text, len, &err);

	CHECK(!ret || (ret == -EINVAL && err.code == -EINVAL && !strncmp(err.text, "file:", 5)));
	for (unsigned int i = 0; !ret && i < rules.nr; i++)
		CHECK(*rules.v[i].name && *rules.v[i].metric && rules.v[i].limit >= 0);
	*nr = ret ? 0 : rules.nr;
	tap_rules_release(&rules);
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tap_buf after = { 0 };
	unsigned int nr, nr_after;
	int ret = parse((const char *)data, size, &nr);

	CHECK(ret || nr);
	tap_buf_puts(&after, " \t# more\n");
	tap_buf_add(&after, data, size);
	CHECK(parse(after.data, after.len, &nr_after) == ret && nr_after == nr);
	tap_buf_release(&after);
	return 0;
}
