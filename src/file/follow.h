/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Read a recording while it grows: the events of all CPUs in time order, up to a time before which
 * all events are in the page files of its spool folder (spool.h) or in the recorder's memory
 * (held.h).
 *
 * The data grows by whole sub-buffers, which never change. Buffered ones may be freed. That is
 * reported as lost events, unless they existed before following started and were freed before any
 * event of their CPU was read.
 */
#ifndef TAP_FILE_FOLLOW_H
#define TAP_FILE_FOLLOW_H

#include <stdbool.h>

#include <schedtap/reader.h>

struct tap_follow;
struct tap_held;

/*
 * Start following; existing events are returned first.
 * @spool_path: the spool folder.
 * @held: memory with the sub-buffers; NULL: they are in the folder.
 * @in_place: the caller's thread adds sub-buffers to @held, and reads them there without a copy.
 * Return: 0; -errno with an error text; -EOPNOTSUPP, also from the functions below, if the page
 * files are compressed.
 */
int tap_follow_open(const char *spool_path, struct tap_held *held, bool in_place,
		    struct tap_follow **out, struct tap_err *err);
void tap_follow_free(struct tap_follow *f);

/*
 * Look for new sub-buffers, page files and formats. The folder must not be written during the call:
 * sub-buffers are written after the head that has their formats. Return: 0; -ENOMEM; -errno.
 */
int tap_follow_note(struct tap_follow *f, struct tap_err *err);

/*
 * See tap_reader_mark() and tap_reader_formats(). @mark is also called for formats that are added
 * later; the list has the formats known at the last tap_follow_batch().
 */
void tap_follow_mark(struct tap_follow *f,
		     uint16_t (*mark)(void *ctx, const struct tap_format *fmt), void *ctx);
const struct tap_format *const *tap_follow_formats(const struct tap_follow *f, unsigned int *nr);
/* Return the description that the recording had when following started: JSON, or "". */
const char *tap_follow_meta(const struct tap_follow *f);

/*
 * Get the next events up to @until_ns, which must never decrease; see tap_reader_batch(). Return:
 * the number of events; 0: no more up to that time; -errno.
 */
int tap_follow_batch(struct tap_follow *f, uint64_t until_ns,
		     const struct tap_event *const **events, struct tap_err *err);

#endif
