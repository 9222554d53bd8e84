/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The description of a recording: one JSON object (its keys: schedtap-recording(5)). A file has it
 * in a section of its own, a spool folder in meta.json.
 *
 *   tool              "schedtap 0.1"
 *   format            number of the recording's format (TAP_META_FORMAT); absent: 1
 *   complete          false while recording; it stays false after a crash
 *   host              {hostname, release, version, machine}
 *   command_line      ["schedtap", "record", ...]
 *   recorder          {id: 32 random hex digits of one run of the recorder,
 *                      file: 1, 2, 3... in the order of its files,
 *                      continues: true if this file starts exactly where the previous one ends,
 *                      with no event missing and none in both}
 *   only              {processes: ["12"], threads: [], names: ["nginx*"], cgroups: ["/a"],
 *                      follow: true (children too; absent: no),
 *                      lacks_migrations: true (migrations by other tasks may be missing;
 *                      absent: no), cpus: "0,2-3" (absent: all)}: the tasks and CPUs to which the
 *                      recording is limited. It has all their switches, wakeups and migrations
 *                      on these CPUs. Absent: not limited; without the lists: some of these
 *                      events may be missing
 *   cgroup_hierarchy  number of the hierarchy of `cgroups` and `tasks`, as in /proc/PID/cgroup
 *   command_tid       tid of the recorded command; absent: no command was started
 *   cpus              [{cpu, capacity (0..1024, where /sys has it), package, core, online}]
 *   clocks            [{monotonic_ns, boottime_ns, realtime_ns}]: one at the start, one at the end
 *   window            {start_ns, end_ns}: CLOCK_MONOTONIC, while events were enabled
 *   running           [[cpu, tid of the task that it ran (0: idle), CLOCK_MONOTONIC in ns]]: for
 *                      each online CPU, read just after window.start_ns; absent: unknown
 *   tasks             [[tid, tgid, comm, id of its cgroup (null: unknown),
 *                      when it was read: "began" or "ended" (with the recording), or "both" if
 *                      both readings agree,
 *                      the CPUs that it may use, as in "0-3,8" (null: all online CPUs)]];
 *                      without the last: unknown; without the last two: time of reading unknown
 *   command_lines     [[pid, when (as for tasks), [word, ...]]]: one row per process, cut at
 *                      4096 bytes; absent: not requested
 *   cgroups           [[id, path]]: those that events or tasks refer to
 *   quota_cgroups     [id]: those whose CPU time had a quota when the recording began or ended,
 *                      their own or an ancestor's; absent: unknown
 *   throttled         [[id, ns]]: for cgroups with a quota at both ends, how long their tasks were
 *                      throttled in between (throttled_usec of cpu.stat)
 *   schedulers        [[ns when it was seen, name of the loaded BPF scheduler (null: none),
 *                      number loaded since boot]]: one at the start, one per change; absent: the
 *                      kernel has no sched_ext
 *   own_tids          [tid]: the recorder's own threads
 *   events            [{system, name, backend, status ("on", "absent", "failed"), reason}]
 *   formats           [{system, name, absent (fields that the kernel lacks), xxh64 (of the format
 *                      text without names of cgroups and stacks)}]: all events; the last two
 *                      only if the format is built into schedtap (rebuild.h)
 *   triggers          ["EVENT: ACTION"]; absent: none
 *   programs          [{pid, comm, events, lost, lost_is_lower_bound, raised (late events whose
 *                      time was raised), cut, reason}]: programs with their own tracepoints that
 *                      were or should have been recorded; absent keys: zero
 *   price             {events, bytes, lost, lost_is_lower_bound, ns_per_event, ns_per_run,
 *                      probe_cpu_pct, recorder_cpu_pct, recorder_ns_per_event, stacks,
 *                      ring_bytes_per_cpu, tracefs: {events, bytes, lost}}: the recording's
 *                      overhead; absent keys: unknown
 */
#ifndef TAP_FILE_META_H
#define TAP_FILE_META_H

#include <stdbool.h>
#include <stddef.h>

#include <schedtap/err.h>

#include "base/buf.h"

struct json_t; /* from jansson */

/*
 * The newest recording format that this program reads. Increase it when a change would make older
 * programs misread a recording; not for keys, sections and files that older programs can ignore. A
 * description without the key has format 1.
 */
#define TAP_META_FORMAT 1

/*
 * Check that this program can read the format that the description names. A damaged description
 * passes: only names are lost with it. Return: 0; -ENOTSUP with an error text that has the format
 * and the tool that wrote it; -ENOMEM.
 */
int tap_meta_check_format(const char *json, struct tap_err *err);

/*
 * Parse a description. Return: 0 with *@out, to be freed by json_decref(), or NULL if it is
 * damaged; -ENOMEM.
 */
int tap_meta_parse(const char *json, struct json_t **out, struct tap_err *err);

/* Append @json in the form of meta.json: with a checksum as its last key. */
void tap_meta_seal(const char *json, struct tap_buf *out);
/*
 * Check a meta.json of @len bytes. Return: true if it matches its checksum, or looks intact but has
 * none, as older ones. @len: if there is a checksum, set to the length of what precedes that last
 * key; a "}" must then be added.
 */
bool tap_meta_open(const char *text, size_t *len);

/* Return true if the description @text says that the recording was not finished. */
bool tap_meta_is_incomplete(const char *text);

#define TAP_META_MAX_BYTES ((size_t)256 << 20)

#endif
