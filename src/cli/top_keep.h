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
#include "base/opt.h"

/* A process, and what it prints. */
struct tap_helper {
	pid_t pid; /* 0: none */
	int fd; /* read end of a pipe with its output, nonblocking */
	int status; /* once it has ended: of waitpid() */
	struct tap_buf out;
};

struct tap_keep {
	struct tap_helper flight, record, job;
	char flight_since[32], record_since[32]; /* time of day: "14:03:07" */
	char record_path[64];
	bool ends_record; /* end the recording as soon as the recorder can save its file */
	char saved[256]; /* the file that was saved last; "" */
	unsigned int tid; /* explain its waits as soon as a file is saved; 0: no */
	bool wants_save; /* a file was asked for */
	bool wants_explain; /* .saved is the file in which .tid is to be explained */
	bool is_export; /* .job is an export, otherwise an explanation of .job_tid */
	unsigned int job_tid;
};

/* News since the last call. */
enum tap_keep_news {
	TAP_KEEP_NOTHING,
	TAP_KEEP_MESSAGE, /* one line for the user */
	TAP_KEEP_EXPLAINED, /* explain's output about .job_tid is in .job.out */
};

/* Start the flight recorder unless it is running. Return: 0; -errno with a sentence. */
int tap_keep_buffer(struct tap_keep *k, const char *time_of_day, struct tap_err *err);
/* Save the last 10 s; tap_keep_poll() reports the file. */
int tap_keep_save(struct tap_keep *k, struct tap_err *err);
/* Save the last 10 s, and then explain a task's worst waits. */
int tap_keep_explain(struct tap_keep *k, unsigned int tid, struct tap_err *err);
/*
 * Explain a task's worst waits from @from_ns to @to_ns of a recording (0: all of it), instead of an
 * explanation that is being made. Return: -EBUSY: a report is being made.
 */
int tap_keep_explain_files(struct tap_keep *k, const struct tap_strings *files, unsigned int tid,
			   uint64_t from_ns, uint64_t to_ns, struct tap_err *err);
/* Begin to record into a new file, or end the recording. */
int tap_keep_record(struct tap_keep *k, const char *time_of_day, struct tap_err *err);
/* Make the HTML report of a recording; NULL: of the file that was saved last. */
int tap_keep_open(struct tap_keep *k, const struct tap_strings *files, struct tap_err *err);
/* Read what the commands have printed. @message: set for TAP_KEEP_MESSAGE; 256 bytes. */
enum tap_keep_news tap_keep_poll(struct tap_keep *k, char message[256]);
/* End all processes, and wait for the files that they write. */
void tap_keep_end(struct tap_keep *k);

#endif
