/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recording says about itself, as one JSON object (its keys: schedtap-recording(5)).
 * It travels in the file's own section, and in the spool folder as meta.json.
 *
 *   tool              "schedtap 0.1"
 *   format            number of the recording's format (TAP_META_FORMAT); absent: 1
 *   complete          false while recording: still false after a crash
 *   host              {hostname, release, version, machine}
 *   command_line      ["schedtap", "record", ...]
 *   recorder          {id: 32 hex digits, random, of one run of the recorder, file: 1, 2, 3... in
 * the order of its files, continues: true if this file begins exactly where the file before ends:
 * no event is missing or in both} only              {processes: ["12"], threads: [], names:
 * ["nginx*"], cgroups: ["/a"], follow: true (children too; absent: no), lacks_migrations: true
 * (migrations by other tasks may be missing; absent: no), cpus: "0,2-3" (absent: all)}: the tasks
 * and CPUs to which the recording is limited; it has all their switches, wakeups and migrations on
 * these CPUs. Absent: not limited; without the lists: some of these events may be missing
 *   cgroup_hierarchy  number of the hierarchy that `cgroups` and `tasks` are about, as in
 * /proc/PID/cgroup command_tid       tid of the command that was recorded; absent: there was none
 *   cpus              [{cpu, capacity (0..1024, where /sys has it), package, core, online}]
 *   clocks            [{monotonic_ns, boottime_ns, realtime_ns}]: one at start, one at the end
 *   window            {start_ns, end_ns}: CLOCK_MONOTONIC, when events were on
 *   running           [[cpu, tid of the task that it ran (0: idle), CLOCK_MONOTONIC in ns]]: of
 * each CPU that was online, read just after window.start_ns; absent: not known tasks [[tid, tgid,
 * comm, id of its cgroup (null: not known), when it was read: "began", "ended" (as the recording
 * did) or "both": it said the same, the CPUs that it may use, as "0-3,8" (null: all that are
 * online)]]; without the last: not known; without the last two: at no time that is known
 *   command_lines     [[pid, when as above, [word, ...]]]: of processes, each cut at 4096 bytes;
 * absent: not asked for cgroups           [[id, path]]: those that events or tasks name
 *   quota_cgroups     [id]: those whose CPU time had a quota when the recording began or ended,
 *                     their own or one above them; absent: not known
 *   throttled         [[id, ns]]: of those that had one at both ends, how long their tasks were
 * throttled between (throttled_usec of cpu.stat) schedulers        [[ns when it was seen, name of
 * the BPF scheduler that is loaded (null: none), how many were loaded since boot]]: one at start,
 * one at each change; absent: the kernel has no sched_ext own_tids          [tid]: the recorder's
 * own threads events            [{system, name, backend, status ("on", "absent", "failed"),
 * reason}] formats           [{system, name, absent (its fields that the kernel lacks), xxh64 (of
 * its format text without names of cgroups and stacks)}]: of all events; the last two only if the
 * format is built into schedtap (rebuild.h) triggers          ["EVENT: ACTION"]; absent: none
 *   programs          [{pid, comm, events, lost, lost_is_lower_bound, raised (events whose time was
 *                      raised, being late), cut, reason}]: with tracepoints of their own, that were
 * recorded or should have been; absent keys: nothing price             {events, bytes, lost,
 * lost_is_lower_bound, ns_per_event, ns_per_run, probe_cpu_pct, recorder_cpu_pct,
 * recorder_ns_per_event, stacks, ring_bytes_per_cpu, tracefs: {events, bytes, lost}}: absent keys
 * are not known
 */
#ifndef TAP_FILE_META_H
#define TAP_FILE_META_H

#include <stdbool.h>
#include <stddef.h>

#include <schedtap/err.h>

#include "base/buf.h"

struct json_t; /* jansson's */

/*
 * The newest format of recordings that this program reads. It grows when a change would make older
 * programs misread a recording; keys, sections and files that older programs can ignore leave it as
 * it is. A description without the key has format 1.
 */
#define TAP_META_FORMAT 1

/*
 * Check that this program reads recordings of this description's format. A damaged description
 * passes: it costs names. Return: 0; -ENOTSUP with a sentence that names the format and the tool
 * that wrote it.
 */
int tap_meta_check_format(const char *json, struct tap_err *err);

/* Parse a description. Return: 0 with what it is in *@out, for json_decref(), or NULL if it is
 * damaged; -ENOMEM. */
int tap_meta_parse(const char *json, struct json_t **out, struct tap_err *err);

/* Adds @json as meta.json has it: with a checksum as its last key. */
void tap_meta_seal(const char *json, struct tap_buf *out);
/*
 * Whether a meta.json is what was written, as far as that is known: older ones have no checksum.
 * @len: of @text; where it has one, set to what stands before the last key, and "}" is missing
 * after that.
 */
bool tap_meta_open(const char *text, size_t *len);

/* Whether the description @text says that its recorder did not end the recording. */
bool tap_meta_is_incomplete(const char *text);

#define TAP_META_MAX_BYTES ((size_t)256 << 20)

#endif
