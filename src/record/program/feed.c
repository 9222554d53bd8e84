// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/program/feed.h"

int tap_feed_open(struct tap_feed *f, const struct tap_hook *hook, struct tap_err *err)
{
	const struct span word = { hook->tracepoint, strlen(hook->tracepoint) };

	*f = (struct tap_feed){ .tracepoint = hook->tracepoint };
	return tap_hook_is_probe(hook) ? tap_probe_new(word, &f->probe, err) : 0;
}

void tap_feed_release(struct tap_feed *f)
{
	tap_probe_free(f->probe);
	f->probe = NULL;
}
