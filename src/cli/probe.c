// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/probe.h"

#include "record/session/session.h"

int tap_probe_bpf(struct tap_err *err)
{
	const char *waking = "sched_waking";
	const struct tap_select_opts words = { sizeof(words), .events = &waking, .nr_events = 1 };
	struct tap_session_opts opts = { .backend = "bpf", .buffer_bytes = 4096 };
	struct tap_session *session = NULL;
	struct tap_select *select;
	int ret = tap_select_new(&words, &select, err);

	opts.select = select;
	ret = ret ?: tap_session_open(&opts, &session, err);
	tap_session_free(session);
	tap_select_free(select);
	return ret;
}
