// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/foreign.h"
#include "file/made.h"

bool tap_text_is(const unsigned char *data, size_t len)
{
	return len > 4 && !memcmp(data, "TEXT", 4);
}

int tap_text_read(struct tap_made *m, const unsigned char *data, size_t len)
{
	return tap_made_fail(m, -1, "%p %zu", (const void *)data, len);
}
