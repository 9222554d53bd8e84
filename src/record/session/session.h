/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording session: from "these events, of these tasks" to a file. It makes the plan (which
 * backend records which event), opens the backends, starts them, drains them in time, and packs
 * what came into one trace.dat. Whoever runs it decides when it is over.
 */
#ifndef TAP_RECORD_SESSION_SESSION_H
#define TAP_RECORD_SESSION_SESSION_H

#include <jansson.h>

#include "record/session/opts.h"
#include "record/session/stats.h"

struct tap_session;

/*
 * Makes the plan and opens the backends: no event flows yet, no file is there yet.
 * Return: 0; -EINVAL for an unknown event or a bad filter; -EPERM, -EOPNOTSUPP where a privilege or
 * a kernel feature is missing; -errno.
 */
int tap_session_open(const struct tap_session_opts *opts, struct tap_session **out,
		     struct tap_err *err);

/* Before the start: the process of the command that is to be recorded, so that readers know it. */
void tap_session_set_command(struct tap_session *s, pid_t pid);

/* Makes the spool folder and switches the events on. On failure no folder is left. */
int tap_session_start(struct tap_session *s, struct tap_err *err);

/*
 * Instead of a start, for what the kernel records: switches the events on and off again, so that
 * the kernel has refused what it refuses. No file is made. Return: as tap_session_start(). Then
 * free.
 */
int tap_session_try(struct tap_session *s, struct tap_err *err);

/* Moves what came; returns how long to wait until the next call, in ns. */
int tap_session_drain(struct tap_session *s, uint64_t *wait_ns, struct tap_err *err);

/* Return: a descriptor that is readable when the next drain should not wait; -1: there is none. */
int tap_session_wake_fd(const struct tap_session *s);

/* Return: a descriptor that is readable when a mark was asked for; -1: there is none. */
int tap_session_mark_fd(const struct tap_session *s);
/* Adds a mark, now. @pid: whose; 0: not known. Return: 0; -errno with a sentence. */
int tap_session_mark(struct tap_session *s, pid_t pid, const char *text, struct tap_err *err);

/*
 * Of a flight recorder: it was met, at @at_ns, and a file is to be written. @tid: of whom, as
 * events have it; -1: of nobody. Return: as above.
 */
int tap_session_met(struct tap_session *s, uint64_t at_ns, int tid, const char *comm,
		    const char *text, struct tap_err *err);

/*
 * Whether there is something to record, when all processes and threads of the scope have ended but
 * @left: also children that they forked, of programs with events of their own.
 */
bool tap_session_goes_on(const struct tap_session *s, unsigned int left);

/*
 * Switches off, drains what is left, packs. On failure the spool folder stays, for `schedtap
 * repair`.
 */
int tap_session_finish(struct tap_session *s, struct tap_err *err);

/* Instead of finishing: the spool folder goes with all that was recorded. Then free. */
void tap_session_cancel(struct tap_session *s);

/* Removes instances and programs; leaves the spool if it was not packed. */
void tap_session_free(struct tap_session *s);

void tap_session_stats(const struct tap_session *s, struct tap_session_stats *stats);
/* After the end: the programs with tracepoints of their own, as the description has them. NULL:
 * there is no such list. */
const json_t *tap_session_programs(const struct tap_session *s);
const struct tap_plan *tap_session_plan(const struct tap_session *s);

#endif
