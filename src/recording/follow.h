/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading a spool folder (spool.h) while it grows: the events of all CPUs in time order, up to an instant before which
 * all are in the page files.
 *
 * Page files grow by whole pages, which never change. A page file may begin with a hole: that was given back, and is no loss unless the
 * follower was still to read it: what was given back before it began to follow it never needed.
 */
#ifndef TAP_RECORDING_FOLLOW_H
#define TAP_RECORDING_FOLLOW_H

#include <schedtap/reader.h>

struct tap_follow;

/*
 * @spool_path: of the folder, as tap_reader_open() takes it. What is in it already comes first.
 * Return: 0; -errno with a sentence; -EOPNOTSUPP, here and below: its page files are compressed.
 */
int tap_follow_open(const char *spool_path, struct tap_follow **out, struct tap_err *err);
void tap_follow_free(struct tap_follow *f);

/*
 * Looks how far the page files have come, and for new ones and new formats. Nobody may write to the folder meanwhile,
 * so it is for the thread that does (page_writer.h); all else of a follower is for one other thread.
 * Return: 0; -ENOMEM; -errno.
 */
int tap_follow_note(struct tap_follow *f, struct tap_err *err);

/*
 * As tap_reader_mark(): @mark is also asked of formats that come later. And as tap_reader_formats(), of those that
 * were there by the last tap_follow_batch().
 */
void tap_follow_mark(struct tap_follow *f, uint16_t (*mark)(void *ctx, const struct tap_format *fmt), void *ctx);
const struct tap_format *const *tap_follow_formats(const struct tap_follow *f, unsigned int *nr);
/* What the recording said about itself when it began to be followed: JSON, or "". */
const char *tap_follow_meta(const struct tap_follow *f);

/*
 * The next events, as tap_reader_batch() hands them out: not later than @until_ns, which never goes back.
 * Return: how many; 0: none is left up to there; -errno.
 */
int tap_follow_batch(struct tap_follow *f, uint64_t until_ns, const struct tap_event *const **events,
		     struct tap_err *err);

#endif
