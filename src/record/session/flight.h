/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The flight recorder: the newest of what is recorded is held in memory (file/held.h), and
 * when something was met (a mark was made), a thread writes a file of what led to it and what came
 * after. Until that is copied nothing is given back, and recording goes on.
 *
 * What is met again before a file ends is in it too, and makes it longer, up to TAP_FLIGHT_LONGER
 * times --after. The next file ends so long after the last one as is held: of what is always met,
 * nothing is in more than two. Where bytes are held, a file ends early when half of what was held
 * before it was met would be given back.
 *
 * From the moment that something is met until its file is there, what the file will have is written
 * to a spool folder of its own as well (file/held_spool.h), for `schedtap repair` where the
 * recorder is killed meanwhile.
 */
#ifndef TAP_RECORD_SESSION_FLIGHT_H
#define TAP_RECORD_SESSION_FLIGHT_H

#include "file/page_writer.h"
#include "record/session/description.h"
#include "record/session/opts.h"

#define TAP_FLIGHT_LONGER 10u

struct tap_flight;

/* @file: what the files' names begin with, and ".dat". Return: 0; -errno with a sentence. */
int tap_flight_new(const struct tap_flight_opts *opts, const char *file, bool zstd,
		   struct tap_spool *spool, struct tap_page_writer *writer, struct tap_flight **out,
		   struct tap_err *err);
void tap_flight_free(struct tap_flight *f);

/* The thread that writes files, and the one that writes spool folders. */
pid_t tap_flight_tid(const struct tap_flight *f);
pid_t tap_flight_spool_tid(const struct tap_flight *f);

/* @what: for who is told of the file. */
void tap_flight_met(struct tap_flight *f, uint64_t at_ns, const char *what);
/* Return: whether to take pages that are not full as well, and to bring @d up to date before
 * tap_flight_step(). */
bool tap_flight_is_due(const struct tap_flight *f, uint64_t now_ns);
/* Return: whether to take pages that are not full as well: if the recorder is killed, `schedtap
 * repair` should have their events. */
bool tap_flight_is_met(const struct tap_flight *f);
/* After a drain. @is_due: as it was said before that. @d: its window is set, once a second. Return:
 * 0; -ENOMEM. */
int tap_flight_step(struct tap_flight *f, struct tap_description *d, bool is_due,
		    struct tap_err *err);

/*
 * After the last drain: writes the file of what was met and is not yet in one. Return: 0; the first
 * failure to write a file.
 */
int tap_flight_end(struct tap_flight *f, struct tap_description *d, struct tap_err *err);

#endif
