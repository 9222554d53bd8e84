// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/bpf/stats.h"

#include <bpf/bpf.h>

#include "base/refusal.h"

int tap_bpf_stats_open(struct tap_err *err)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	return fd < 0 ? tap_err_set(err, fd, "cannot measure the overhead: %s",
				    tap_refusal(TAP_STEP_BPF_STATS, fd).text)
		      : fd;
}
