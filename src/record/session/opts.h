/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_RECORD_SESSION_OPTS_H
#define TAP_RECORD_SESSION_OPTS_H

#include "record/plan.h"

struct tap_held;

/* A file of a flight recorder (flight.h). */
struct tap_flight_file {
	const char *path;
	const struct tap_err *err; /* why there is none; NULL: it is there */
	const char *what; /* was met first */
	uint64_t at_ns; /* when */
	uint64_t from_ns, to_ns; /* what it holds */
	unsigned int nr_met; /* in all */
	uint64_t bytes;
	/* a killed recorder began it, and nothing else is known; 0 bytes: that recorder had saved
	 * it */
	bool is_left;
};

struct tap_flight_opts {
	uint64_t keep_ns, keep_bytes; /* one of them; both 0: this is an ordinary recording */
	uint64_t after_ns;
	unsigned int max_files; /* older ones are removed; 0: no limit */
	void (*written)(void *ctx, const struct tap_flight_file *file); /* or NULL */
	/* If the recorder is killed before it saves the file @path, its events are lost: @why. Or
	 * NULL. */
	void (*not_spooled)(void *ctx, const char *path, const struct tap_err *why);
	void *ctx;
};

#define TAP_ROTATION_MIN_BYTES ((uint64_t)16 << 20)

/* Files on disk, rotated (rotation.h). */
struct tap_rotation_opts {
	uint64_t max_bytes; /* on disk; 0: the recording is one file */
	uint64_t keep_ns; /* older files are removed; 0: only .max_bytes limits them */
	/* A file is written, or @err says why not. Called from any thread, one call at a time. */
	void (*written)(void *ctx, const char *path, const struct tap_err *err);
	void *ctx;
};

/* Needed only until tap_session_open() returns, but for the selection. */
struct tap_session_opts {
	const char *file;
	/* needed until tap_session_free(); NULL: the default events of everybody */
	const struct tap_select *select;
	/* events beside the built-in ones; needed until tap_session_free(); NULL: none */
	const struct tap_defs *own;
	/* where the caller has read the kernel's types; needed as long; NULL */
	struct tap_kernel *kernel;
	const char *backend; /* "bpf", "tracefs", "user", or NULL: the cheapest per event */
	const struct tap_strings *triggers; /* NULL: none */
	const struct tap_strings *stacks; /* NULL: none */
	bool follow_children; /* the selection's processes' too */
	uint64_t buffer_bytes; /* per CPU; 0: by the number of CPUs */
	int priority; /* while recording; tap_priority_raise() */
	bool zstd;
	bool command_lines; /* of processes are kept */
	struct tap_flight_opts flight;
	struct tap_rotation_opts rotation;
	/*
	 * Of a flight recorder or a rotated recording, or NULL: begins to follow what it holds
	 * (file/follow.h). No event flows yet. Return: 1; 0: nobody does; -errno with a
	 * sentence.
	 */
	int (*follow)(void *ctx, const char *spool_path, struct tap_held *held,
		      struct tap_err *err);
	/*
	 * If somebody does: after each drain. All events before @until_ns are held, but such as
	 * were interrupted while they were written down. Return: 0; -errno with a sentence.
	 */
	int (*read)(void *ctx, uint64_t until_ns, struct tap_err *err);
	/* After the last .read, of all events up to the recording's end: still adds marks. Needed
	 * with .read. Return: as .read. */
	int (*read_all)(void *ctx, struct tap_err *err);
	bool bpf_ringbuf; /* see struct tap_plan */
	/* How far packing has come, bytes; or NULL. */
	void (*packing)(void *ctx, uint64_t done, uint64_t whole);
	void *ctx;
};

#endif
