/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Members that several JSON objects of top and stat have. None appends a comma after the last. */
#ifndef TAP_SHOW_TOP_JSON_H
#define TAP_SHOW_TOP_JSON_H

#include "show/top/top.h"

void tap_top_json_u64(struct tap_buf *out, const char *key, uint64_t v);
/* Begin the object of a refresh: "schema", "source", "time_wall", "start_ns" and "end_ns". */
void tap_top_json_begin(struct tap_buf *out, const char *source, int64_t realtime_ns,
			uint64_t from_ns, uint64_t to_ns);
/* Append "run_ns", "waits", "culprits" and "censored" of a slot. */
void tap_top_json_row(struct tap_buf *out, const struct tap_tally_view *view, unsigned int slot);

struct tap_top_task {
	const struct tap_tally_task *t;
	bool knows_waits, knows_switches;
	bool is_of_tally; /* false: .migrations, .cpu, .util and .prio are unknown */
	const char *cgroup; /* NULL: unknown */
	const struct tap_tally_task_waits *waits; /* NULL: unknown */
};

/* Append an object of "tasks". */
void tap_top_json_task(struct tap_buf *out, const struct tap_top_task *task);
/* Append an entry of "unknown": why the value of a key is null. */
void tap_top_json_unknown(struct tap_buf *out, const char *key, const char *why);

#endif
