/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The flight recorder keeps the newest events in memory (file/held.h). When a condition fires or a
 * mark is added, a thread saves a file of the events before and after it. Recording goes on, and no
 * memory is given back until the file is copied.
 *
 * A condition that fires again before the file ends is part of the same file and extends it, up to
 * TAP_FLIGHT_LONGER * .after_ns. The next file ends at least the kept time after the last one, so
 * that no event is in more than two files even if a condition fires all the time. If the memory is
 * limited in bytes, a file ends early when it would lose the newer half of the events that were
 * buffered when the condition fired.
 *
 * From the time a condition fires until its file is saved, the file's events are also written to a
 * spool folder (file/held_spool.h), so that `schedtap repair` can restore them if the recorder is
 * killed.
 */
#ifndef TAP_RECORD_SESSION_FLIGHT_H
#define TAP_RECORD_SESSION_FLIGHT_H

#include "file/page_writer.h"
#include "record/session/description.h"
#include "record/session/opts.h"

#define TAP_FLIGHT_LONGER 10u

struct tap_flight;

/*
 * @file: name prefix of the files, which may end in ".dat". @spool, @writer: borrowed. Return: 0;
 * -errno with a sentence.
 */
int tap_flight_new(const struct tap_flight_opts *opts, const char *file, bool zstd,
		   struct tap_spool *spool, struct tap_page_writer *writer, struct tap_flight **out,
		   struct tap_err *err);
void tap_flight_free(struct tap_flight *f);

/* Return: the thread that saves files; the thread that writes spool folders. */
pid_t tap_flight_tid(const struct tap_flight *f);
pid_t tap_flight_spool_tid(const struct tap_flight *f);

/* Note that a condition fired or a mark was added at @at_ns. @what: reported with the file. */
void tap_flight_met(struct tap_flight *f, uint64_t at_ns, const char *what);
/*
 * Return: whether it is time to save a file: the next drain must also take sub-buffers that are not
 * full, and @d must be up to date in tap_flight_step().
 */
bool tap_flight_is_due(const struct tap_flight *f, uint64_t now_ns);
/*
 * Return: whether a condition fired and its file is not yet being saved. Drains should then also
 * take sub-buffers that are not full, so that `schedtap repair` gets their events if the recorder
 * is killed.
 */
bool tap_flight_is_met(const struct tap_flight *f);
/*
 * Start and finish the saving of files, and give memory back. Call it after each drain. @is_due:
 * what tap_flight_is_due() returned before that drain. @d: up to date if @is_due. Return: 0;
 * -ENOMEM.
 */
int tap_flight_step(struct tap_flight *f, struct tap_description *d, bool is_due,
		    struct tap_err *err);

/*
 * Call it after the last drain: save the file of a condition whose file is not yet saved. Return:
 * 0; the first failure to write a file.
 */
int tap_flight_end(struct tap_flight *f, struct tap_description *d, struct tap_err *err);

#endif
