// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/probe.h"

#include "capture/session.h"

int tap_probe_bpf(struct tap_err *err)
{
	const struct tap_wanted waking = { .pattern = "sched_waking" };
	const struct tap_session_opts opts = { .backend = "bpf", .wanted = &waking, .nr_wanted = 1,
					       .buffer_bytes = 4096 };
	struct tap_session *session;
	int ret = tap_session_open(&opts, &session, err);

	tap_session_free(session);
	return ret;
}
