// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "timeline/run/meta_rows.h"
#include "show/export/perfetto.h"
#include "show/perfetto/clock.h"

/*
 * Write a clock snapshot. Perfetto's own clock is CLOCK_BOOTTIME. The recording does not know how
 * long the machine was suspended, so its clock, mostly CLOCK_MONOTONIC, is used for both: Perfetto
 * shows the same time stamps as schedtap.
 */
static void put_clocks(struct tap_buf *out, const struct tap_pf_machine *machine,
		       const struct tap_run *run)
{
	const uint64_t at_ns = tap_pf_time(machine, run->window.from_ns);
	size_t packet = tap_pf_packet(out, machine, TAP_PF_SEQUENCE_FTRACE), clocks;

	clocks = tap_proto_begin(out, TAP_PF_PACKET_CLOCKS);
	tap_proto_clock(out, TAP_PF_CLOCK_BOOTTIME, at_ns, false);
	tap_proto_clock(out, TAP_PF_CLOCK_MONOTONIC, at_ns, false);
	if (run->rec.wall.is_known)
		tap_proto_clock(out, TAP_PF_CLOCK_REALTIME,
				(uint64_t)tap_wall_from(&run->rec.wall, run->window.from_ns),
				false);
	tap_proto_end(out, clocks);
	tap_proto_end(out, packet);
}

/* Perfetto decodes prev_state by kernel release; the bits have not changed since v4.14. */
#define ANY_RELEASE "4.14.0 or later"

/* Write system info. @uname: such as "Linux host 6.18.5 #1 SMP ... x86_64". */
static void put_system(struct tap_buf *out, const struct tap_pf_machine *machine, const char *uname)
{
	const char *space = strchr(uname, ' '), *release = space ? strchr(space + 1, ' ') : NULL;
	const size_t len = release ? strcspn(++release, " ") : 0;
	size_t packet, system, utsname;

	packet = tap_pf_packet(out, machine, TAP_PF_SEQUENCE_FTRACE);
	system = tap_proto_begin(out, TAP_PF_PACKET_SYSTEM_INFO);
	utsname = tap_proto_begin(out, TAP_PF_SYSTEM_UTSNAME);
	tap_proto_text(out, TAP_PF_UTSNAME_SYSNAME, "Linux", strlen("Linux"));
	tap_proto_text(out, TAP_PF_UTSNAME_RELEASE, len ? release : ANY_RELEASE,
		       len ? len : strlen(ANY_RELEASE));
	if (len)
		tap_proto_text(out, TAP_PF_UTSNAME_VERSION, release + len, strlen(release + len));
	tap_proto_end(out, utsname);
	tap_proto_end(out, system);
	tap_proto_end(out, packet);
}

/* @words: the process's command line; NULL: unknown. */
static void put_process(struct tap_buf *out, int pid, const json_t *words, const char *comm)
{
	size_t begun = tap_proto_begin(out, TAP_PF_TREE_PROCESS), i;
	const json_t *word;

	tap_proto_s64(out, TAP_PF_PROCESS_PID, pid);
	json_array_foreach(words, i, word)
		if (json_is_string(word))
			tap_proto_text(out, TAP_PF_PROCESS_CMDLINE, json_string_value(word),
				       json_string_length(word));
	if (!json_array_size(words))
		tap_proto_comm(out, TAP_PF_PROCESS_CMDLINE, comm);
	tap_proto_end(out, begun);
}

static void put_thread(struct tap_buf *out, int tid, const struct tap_listed *l)
{
	size_t begun = tap_proto_begin(out, TAP_PF_TREE_THREAD);

	tap_proto_s64(out, TAP_PF_THREAD_TID, tid);
	tap_proto_comm(out, TAP_PF_THREAD_NAME, l->comm);
	tap_proto_s64(out, TAP_PF_THREAD_TGID, l->tgid);
	tap_proto_end(out, begun);
}

static bool is_of(const json_t *row, const char *when)
{
	const char *text = json_string_value(json_array_get(row, 1));

	return text && (!strcmp(text, when) || !strcmp(text, "both"));
}

/*
 * Find the command lines that were read at this time ("began" or "ended"), by process. Return: 0 or
 * -ENOMEM.
 */
static int find_lines(const json_t *meta, const char *when, struct tap_map *lines)
{
	const json_t *row;
	json_int_t pid;
	size_t i;

	json_array_foreach(json_object_get(meta, "command_lines"), i, row)
		if (tap_meta_number(row, 0, INT32_MAX, &pid) && is_of(row, when) &&
		    tap_map_set(lines, (uint64_t)pid, (uint64_t)(uintptr_t)json_array_get(row, 2)))
			return -ENOMEM;
	return 0;
}

static void put_tree(struct tap_buf *out, const struct tap_lists *lists,
		     const struct tap_map *lines)
{
	for (unsigned int i = 0; i < lists->nr_rows; i++) {
		const struct tap_listed_row *row = &lists->rows[i];
		const uint64_t *words = tap_map_get(lines, (uint64_t)row->tid);

		if (!(row->when & (TAP_LISTED_BEGAN | TAP_LISTED_SOMETIME)) || !row->listed.tgid)
			continue;
		if (row->tid == row->listed.tgid)
			put_process(out, row->tid, words ? (const json_t *)(uintptr_t)*words : NULL,
				    row->listed.comm);
		put_thread(out, row->tid, &row->listed);
	}
}

/* Write the command lines at the recording's end, of processes that still exist. */
static void put_late_lines(struct tap_buf *out, const struct tap_run *run,
			   const struct tap_map *lines)
{
	tap_map_for_each(lines, s) {
		const struct tap_task *task = tap_timeline_task(run->timeline, (int)s->key);

		if (task && task->state != TAP_STATE_DEAD)
			put_process(out, task->tid, (const json_t *)(uintptr_t)s->value,
				    task->comm);
	}
}

/*
 * Write the processes that existed at the recording's beginning; later ones are reported by events.
 * With @is_end: write the command lines at its end.
 */
static int put_processes(struct tap_pf *pf, uint64_t ts_ns, bool is_end)
{
	struct tap_buf *out = &pf->out;
	struct tap_map lines = { 0 };
	size_t packet, tree;

	if (find_lines(pf->e->run.rec.meta, is_end ? "ended" : "began", &lines)) {
		tap_map_release(&lines);
		return -ENOMEM;
	}
	packet = tap_pf_packet(out, &pf->e->machine, TAP_PF_SEQUENCE_FTRACE);
	tap_proto_u64(out, TAP_PF_PACKET_TIMESTAMP, tap_pf_time(&pf->e->machine, ts_ns));
	tree = tap_proto_begin(out, TAP_PF_PACKET_PROCESS_TREE);
	if (is_end)
		put_late_lines(out, &pf->e->run, &lines);
	else
		put_tree(out, &pf->e->run.rec.ids.lists, &lines);
	tap_proto_end(out, tree);
	tap_proto_end(out, packet);
	tap_map_release(&lines);
	return out->err;
}

int tap_pf_put_head(struct tap_pf *pf)
{
	const struct tap_pf_machine *machine = &pf->e->machine;

	put_clocks(&pf->out, machine, &pf->e->run);
	tap_tracks_begin(&pf->tracks, &pf->out, machine, pf->e->run.window.from_ns);
	put_system(&pf->out, machine, tap_reader_info(pf->e->run.rec.reader)->uname);
	return put_processes(pf, pf->e->run.window.from_ns, false);
}

int tap_pf_put_end(struct tap_pf *pf)
{
	return put_processes(pf, pf->e->run.window.to_ns, true);
}
