/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording session: from options (events, tasks, CPUs) to a file. The session decides which
 * backend records which event (the plan), opens and starts the backends, drains their rings often
 * enough, and packs the result into one trace.dat. The caller decides when the recording ends.
 */
#ifndef TAP_RECORD_SESSION_SESSION_H
#define TAP_RECORD_SESSION_SESSION_H

#include <jansson.h>

#include "record/session/opts.h"
#include "record/session/stats.h"

struct tap_session;

/*
 * Make the plan and open the backends. No event flows yet, and no file exists yet.
 * Return: 0; -EINVAL for an unknown event or a bad filter; -EPERM, -EOPNOTSUPP if a privilege or a
 * kernel feature is missing; -errno.
 */
int tap_session_open(const struct tap_session_opts *opts, struct tap_session **out,
		     struct tap_err *err);

/*
 * Set the process of the command to record, so that readers of the file know it. Call it before
 * tap_session_start().
 */
void tap_session_set_command(struct tap_session *s, pid_t pid);

/*
 * Make the spool folder and switch the events on. On failure no folder is left. Return: 0; -errno
 * with a sentence.
 */
int tap_session_start(struct tap_session *s, struct tap_err *err);

/*
 * Switch the kernel's events on and off again instead of recording, to see whether the kernel
 * accepts them. No file is made. Only tap_session_free() may follow. Return: as
 * tap_session_start().
 */
int tap_session_try(struct tap_session *s, struct tap_err *err);

/*
 * Move new events from the rings to the spool. @wait_ns: set to the time to wait before the next
 * call. Return: 0; -errno with a sentence.
 */
int tap_session_drain(struct tap_session *s, uint64_t *wait_ns, struct tap_err *err);

/*
 * Return: a descriptor that becomes readable when the next drain should not wait; -1: there is
 * none.
 */
int tap_session_wake_fd(const struct tap_session *s);

/* Return: a descriptor that becomes readable when a mark was requested; -1: there is none. */
int tap_session_mark_fd(const struct tap_session *s);
/*
 * Add a mark with the current time. @pid: the process that marks; 0: not known. Return: 0; -errno
 * with a sentence.
 */
int tap_session_mark(struct tap_session *s, pid_t pid, const char *text, struct tap_err *err);

/*
 * Note that a condition fired at @at_ns: add a mark with @text. A flight recorder then also saves a
 * file. @tid: the task, in the initial pid namespace; -1: no task. Return: 0; -errno with a
 * sentence.
 */
int tap_session_met(struct tap_session *s, uint64_t at_ns, int tid, const char *comm,
		    const char *text, struct tap_err *err);

/*
 * Return: whether there is still something to record after all but @left of the selected processes
 * and threads have ended. User-space tracepoints may still come from children that they forked.
 */
bool tap_session_goes_on(const struct tap_session *s, unsigned int left);

/*
 * Switch the events off, drain the rest, and pack the file. On failure the spool folder stays, for
 * `schedtap repair`. Return: 0; -errno with a sentence.
 */
int tap_session_finish(struct tap_session *s, struct tap_err *err);

/*
 * Instead of tap_session_finish(): discard the recording, with its spool folder. Only
 * tap_session_free() may follow.
 */
void tap_session_cancel(struct tap_session *s);

/* Remove tracefs instances and BPF programs. A spool folder that was not packed stays. */
void tap_session_free(struct tap_session *s);

void tap_session_stats(const struct tap_session *s, struct tap_session_stats *stats);
/*
 * After tap_session_finish(). Return: the list of programs with user-space tracepoints, from the
 * description; NULL: there is no such list.
 */
const json_t *tap_session_programs(const struct tap_session *s);
const struct tap_plan *tap_session_plan(const struct tap_session *s);

#endif
