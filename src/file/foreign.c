// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/foreign.h"

#include <errno.h>

#include "file/made.h"

static const struct {
	bool (*is)(const unsigned char *data, size_t len);
	int (*read)(struct tap_made *m, const unsigned char *data, size_t len);
} formats[] = {
	{ tap_text_is, tap_text_read },
	{ tap_perfetto_is, tap_perfetto_read },
};

int tap_foreign_open(struct tap_reader *r, struct tap_err *err)
{
	const unsigned char *data = r->maps[0].data;
	const size_t len = r->maps[0].len;
	struct tap_made made;
	size_t i = 0;
	int ret;

	while (i < sizeof(formats) / sizeof(*formats) && !formats[i].is(data, len))
		i++;
	if (i == sizeof(formats) / sizeof(*formats))
		return 1;
	tap_made_begin(&made, r, err);
	ret = formats[i].read(&made, data, len);
	tap_made_release(&made);
	return ret;
}
