/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands that `schedtap top` runs beside itself: a flight recorder, a recording, `explain`
 * and `export`. Each is this program again, as a process of its own, so none of them can stop the
 * screen, and all end with it.
 */
#ifndef TAP_CLI_TOP_KEEP_H
#define TAP_CLI_TOP_KEEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <schedtap/err.h>

#include "base/buf.h"

/* A process, and what it prints. */
struct tap_helper {
	pid_t pid; /* 0: none */
	int fd; /* read end of a pipe with its output, nonblocking */
	struct tap_buf out;
};

struct tap_keep {
	struct tap_helper flight, record, job;
	char flight_since[32], record_since[32]; /* time of day: "14:03:07" */
	char record_path[64];
	char saved[256]; /* the file that was saved last; "" */
	unsigned int tid; /* explain its waits as soon as a file is saved; 0: no */
	bool wants_save; /* a file was asked for */
	bool is_export; /* .job is an export, otherwise an explanation */
};

/* What has happened since the last call. */
enum tap_keep_news {
	TAP_KEEP_NOTHING,
	TAP_KEEP_MESSAGE, /* one line for the user */
	TAP_KEEP_EXPLAINED, /* explain's output is in .job.out */
};

#define TAP_KEEP_NONE ((struct tap_keep){ 0 })

/* Start the flight recorder unless it is running. Return: 0; -errno with a sentence. */
int tap_keep_buffer(struct tap_keep *k, const char *time_of_day, struct tap_err *err);
/* Save the last 10 s; tap_keep_poll() reports the file. */
int tap_keep_save(struct tap_keep *k, struct tap_err *err);
/* Save them, and then explain a task's worst waits. */
int tap_keep_explain(struct tap_keep *k, unsigned int tid, struct tap_err *err);
/* Explain a task's worst waits up to a time of a recording. */
int tap_keep_explain_file(struct tap_keep *k, const char *file, unsigned int tid, uint64_t from_ns,
			  uint64_t to_ns, struct tap_err *err);
/* Begin to record into a new file, or end the recording. */
int tap_keep_record(struct tap_keep *k, const char *time_of_day, struct tap_err *err);
/* Make the HTML report of the file that was saved last. */
int tap_keep_open(struct tap_keep *k, struct tap_err *err);
/* Look at what they have printed. @message: set for TAP_KEEP_MESSAGE; 256 bytes. */
enum tap_keep_news tap_keep_poll(struct tap_keep *k, char message[256]);
/* End all processes, and wait for the files that they write. */
void tap_keep_end(struct tap_keep *k);

#endif
