// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any text as a condition: it is accepted, or refused with a sentence; if it is accepted, then also
 * with spaces around it.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "analysis/condition/condition.h"
#include "check.h"

static int parse(const char *text)
{
	struct tap_condition *c;
	struct tap_err err = { 0 };
	int ret = tap_condition_parse(text, &c, &err);

	CHECK(!ret || (ret == -EINVAL && !c && err.code == -EINVAL && *err.text));
	if (!ret)
		CHECK(!strcmp(tap_condition_text(c), text));
	tap_condition_free(c);
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct tap_buf spaced = { 0 };
	int ret;

	CHECK(text);
	ret = parse(text);
	tap_buf_puts(&spaced, "  ");
	tap_buf_puts(&spaced, text);
	tap_buf_puts(&spaced, " ");
	if (strlen(text) < 4000)
		CHECK(parse(tap_buf_str(&spaced)) == ret);
	tap_buf_release(&spaced);
	free(text);
	return 0;
}
