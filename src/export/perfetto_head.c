// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "export/perfetto.h"
#include "perfetto/fields.h"

/*
 * Perfetto's own clock is CLOCK_BOOTTIME. A recording does not know how long the machine had slept, so its clock, mostly
 * CLOCK_MONOTONIC, goes for both: stamps read the same here and there.
 */
static void put_clock(struct tap_buf *out, unsigned int id, uint64_t ns)
{
	size_t begun = tap_proto_begin(out, TAP_PF_CLOCKS_CLOCK);

	tap_proto_u64(out, TAP_PF_CLOCK_ID, id);
	tap_proto_u64(out, TAP_PF_CLOCK_TIMESTAMP, ns);
	tap_proto_end(out, begun);
}

static void put_clocks(struct tap_buf *out, const struct tap_run *run)
{
	const uint64_t at_ns = run->window.from_ns;
	size_t packet = tap_proto_begin(out, TAP_PF_PACKET), clocks;

	tap_proto_u64(out, TAP_PF_PACKET_SEQUENCE, TAP_PF_SEQUENCE_FTRACE);
	clocks = tap_proto_begin(out, TAP_PF_PACKET_CLOCKS);
	put_clock(out, TAP_PF_CLOCK_BOOTTIME, at_ns);
	put_clock(out, TAP_PF_CLOCK_MONOTONIC, at_ns);
	if (run->rec.wall.is_known)
		put_clock(out, TAP_PF_CLOCK_REALTIME, (uint64_t)tap_wall_from(&run->rec.wall, at_ns));
	tap_proto_end(out, clocks);
	tap_proto_end(out, packet);
}

/* By the release Perfetto knows what the bits of prev_state mean: they are the same since v4.14. */
#define ANY_RELEASE "4.14.0 or later"

/* "Linux host 6.18.5 #1 SMP ... x86_64" */
static void put_system(struct tap_buf *out, const char *uname)
{
	const char *space = strchr(uname, ' '), *release = space ? strchr(space + 1, ' ') : NULL;
	const size_t len = release ? strcspn(++release, " ") : 0;
	size_t packet, system, utsname;

	packet = tap_proto_begin(out, TAP_PF_PACKET);
	system = tap_proto_begin(out, TAP_PF_PACKET_SYSTEM_INFO);
	utsname = tap_proto_begin(out, TAP_PF_SYSTEM_UTSNAME);
	tap_proto_text(out, TAP_PF_UTSNAME_SYSNAME, "Linux", strlen("Linux"));
	tap_proto_text(out, TAP_PF_UTSNAME_RELEASE, len ? release : ANY_RELEASE, len ? len : strlen(ANY_RELEASE));
	if (len)
		tap_proto_text(out, TAP_PF_UTSNAME_VERSION, release + len, strlen(release + len));
	tap_proto_end(out, utsname);
	tap_proto_end(out, system);
	tap_proto_end(out, packet);
}

static void put_process(struct tap_buf *out, const struct tap_listed *l)
{
	size_t begun = tap_proto_begin(out, TAP_PF_TREE_PROCESS);

	tap_proto_s64(out, TAP_PF_PROCESS_PID, l->tgid);
	tap_proto_text(out, TAP_PF_PROCESS_CMDLINE, l->comm, strnlen(l->comm, TAP_TASK_COMM));
	tap_proto_end(out, begun);
}

static void put_thread(struct tap_buf *out, int tid, const struct tap_listed *l)
{
	size_t begun = tap_proto_begin(out, TAP_PF_TREE_THREAD);

	tap_proto_s64(out, TAP_PF_THREAD_TID, tid);
	tap_proto_text(out, TAP_PF_THREAD_NAME, l->comm, strnlen(l->comm, TAP_TASK_COMM));
	tap_proto_s64(out, TAP_PF_THREAD_TGID, l->tgid);
	tap_proto_end(out, begun);
}

/* Who was there when the recording began; who came later is told by events. */
static void put_tree(struct tap_buf *out, const struct tap_run *run)
{
	const struct tap_lists *lists = &run->rec.ids.lists;
	size_t packet, tree;

	packet = tap_proto_begin(out, TAP_PF_PACKET);
	tap_proto_u64(out, TAP_PF_PACKET_TIMESTAMP, run->window.from_ns);
	tap_proto_u64(out, TAP_PF_PACKET_SEQUENCE, TAP_PF_SEQUENCE_FTRACE);
	tree = tap_proto_begin(out, TAP_PF_PACKET_PROCESS_TREE);
	for (unsigned int i = 0; i < lists->nr_rows; i++) {
		const struct tap_listed_row *row = &lists->rows[i];

		if (!(row->when & (TAP_LISTED_BEGAN | TAP_LISTED_SOMETIME)) || !row->listed.tgid)
			continue;
		if (row->tid == row->listed.tgid)
			put_process(out, &row->listed);
		put_thread(out, row->tid, &row->listed);
	}
	tap_proto_end(out, tree);
	tap_proto_end(out, packet);
}

int tap_pf_put_head(struct tap_pf *pf)
{
	put_clocks(&pf->out, &pf->e->run);
	put_system(&pf->out, tap_reader_info(pf->e->run.rec.reader)->uname);
	put_tree(&pf->out, &pf->e->run);
	return pf->out.err;
}
