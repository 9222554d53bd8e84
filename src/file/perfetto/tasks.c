// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/perfetto/trace.h"

/* Which fields of a message have a task's numbers and name; 0: none. */
struct naming {
	unsigned int tid, tgid, name;
};

static void read_task(struct tap_pft *t, struct tap_proto_in in, const struct naming *by)
{
	struct tap_proto_field f;
	struct tap_proto_in name = { 0 };
	uint64_t tid = 0, tgid = 0;

	while (tap_proto_next(&in, &f)) {
		if (f.type == TAP_PROTO_VARINT && f.number == by->tid)
			tid = f.value;
		if (f.type == TAP_PROTO_VARINT && f.number == by->tgid)
			tgid = f.value;
		if (f.type == TAP_PROTO_BYTES && f.number == by->name)
			name = f.bytes;
	}
	t->nr_damaged += in.bad;
	if (tid && tid <= INT32_MAX)
		tap_made_task(t->made, (int)tid, name.at ? (const char *)name.at : NULL,
			      tap_proto_len(&name), tgid <= INT32_MAX ? (int)tgid : -1);
}

void tap_pft_tree(struct tap_pft *t, struct tap_proto_in in)
{
	static const struct naming process = { .tid = NR_PROCESS_PID, .tgid = NR_PROCESS_PID };
	static const struct naming thread = { NR_THREAD_TID, NR_THREAD_TGID, NR_THREAD_NAME };
	struct tap_proto_field f;

	while (tap_proto_next(&in, &f)) {
		if (f.type != TAP_PROTO_BYTES)
			continue;
		if (f.number == NR_TREE_PROCESS)
			read_task(t, f.bytes, &process);
		if (f.number == NR_TREE_THREAD)
			read_task(t, f.bytes, &thread);
	}
	t->nr_damaged += in.bad;
}

void tap_pft_track(struct tap_pft *t, struct tap_proto_in in)
{
	static const struct naming process = { .tid = NR_TRACK_PROCESS_PID,
					       .tgid = NR_TRACK_PROCESS_PID };
	static const struct naming thread = { NR_TRACK_THREAD_TID, NR_TRACK_THREAD_PID,
					      NR_TRACK_THREAD_NAME };
	struct tap_proto_field f;

	while (tap_proto_next(&in, &f)) {
		if (f.type != TAP_PROTO_BYTES)
			continue;
		if (f.number == NR_TRACK_PROCESS)
			read_task(t, f.bytes, &process);
		if (f.number == NR_TRACK_THREAD)
			read_task(t, f.bytes, &thread);
	}
	t->nr_damaged += in.bad;
}
