/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_RECORD_SESSION_OPTS_H
#define TAP_RECORD_SESSION_OPTS_H

#include "record/plan.h"

struct tap_held;

/* A file that a flight recorder wrote or failed to write (flight.h). */
struct tap_flight_file {
	const char *path;
	const struct tap_err *err; /* why the file could not be written; NULL: it was written */
	const char *what; /* the condition that fired first */
	uint64_t at_ns; /* when that condition fired */
	uint64_t from_ns, to_ns; /* the time window of the file */
	unsigned int nr_met; /* how often conditions fired for this file */
	uint64_t bytes;
	/*
	 * A killed recorder left a spool folder for this file, and only .path, .err and .bytes are
	 * set. .bytes 0 without .err: that recorder had already saved the file.
	 */
	bool is_left;
};

struct tap_flight_opts {
	uint64_t keep_ns, keep_bytes; /* at most one is set; both 0: not a flight recorder */
	uint64_t after_ns;
	unsigned int max_files; /* older files are removed; 0: no limit */
	void (*written)(void *ctx, const struct tap_flight_file *file); /* may be NULL */
	/*
	 * Called if the file @path cannot be kept in a spool folder (@why) before it is saved: its
	 * events are lost if the recorder is killed. May be NULL.
	 */
	void (*not_spooled)(void *ctx, const char *path, const struct tap_err *why);
	void *ctx;
};

#define TAP_ROTATION_MIN_BYTES ((uint64_t)16 << 20)

/* A recording that is rotated over several files on disk (rotation.h). */
struct tap_rotation_opts {
	uint64_t max_bytes; /* limit of disk space for all files; 0: not rotated, one file */
	uint64_t keep_ns; /* older files are removed; 0: only .max_bytes limits them */
	/*
	 * Called once a file is written, or with the reason in @err if it could not be. Called from
	 * any thread, one call at a time.
	 */
	void (*written)(void *ctx, const char *path, const struct tap_err *err);
	void *ctx;
};

/*
 * Options of tap_session_open(). They are needed until it returns, except where a member says
 * otherwise.
 */
struct tap_session_opts {
	const char *file;
	/* needed until tap_session_free(); NULL: the default events of all tasks */
	const struct tap_select *select;
	/* definitions beside the built-in ones; needed until tap_session_free(); NULL: none */
	const struct tap_defs *own;
	/* the kernel's types, if they were read; needed until tap_session_free(); or NULL */
	struct tap_kernel *kernel;
	const char *backend; /* "bpf", "tracefs", "user"; NULL: the cheapest for each event */
	const struct tap_strings *triggers; /* may be NULL */
	const struct tap_strings *stacks; /* may be NULL */
	/* record switches in short (events/lean.h), and beside them only what they need */
	bool lean;
	bool follow_children; /* also record children of the selected processes */
	uint64_t buffer_bytes; /* ring size per CPU; 0: depends on the number of CPUs */
	int priority; /* of the recorder while it records: see tap_priority_raise() */
	bool zstd;
	bool command_lines; /* record the command lines of processes */
	struct tap_flight_opts flight;
	struct tap_rotation_opts rotation;
	/*
	 * Flight recorders and rotated recordings: start to read events as they are recorded
	 * (file/follow.h), which evaluates conditions. Called before events flow. May be NULL.
	 * Return: 1: events are read; 0: there is nothing to evaluate; -errno with a sentence.
	 */
	int (*follow)(void *ctx, const char *spool_path, struct tap_held *held,
		      struct tap_err *err);
	/*
	 * Called after a drain if .follow returned 1. All events before @until_ns are in @held of
	 * .follow, except events whose writer was interrupted before it committed them. Return: 0;
	 * -errno with a sentence.
	 */
	int (*read)(void *ctx, uint64_t until_ns, struct tap_err *err);
	/*
	 * Called after the last .read, once all events of the recording were passed to it. It may
	 * still add marks. Must be set if .read is. Return: 0; -errno with a sentence.
	 */
	int (*read_all)(void *ctx, struct tap_err *err);
	/* Progress of packing, in bytes. May be NULL. */
	void (*packing)(void *ctx, uint64_t done, uint64_t whole);
	void *ctx;
};

#endif
