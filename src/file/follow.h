/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading a recording while it grows: the events of all CPUs in time order, up to an instant before
 * which all are in the page files of its spool folder (spool.h), or are held in memory (held.h).
 *
 * What is there grows by whole pages, which never change. Held ones may be given back: that is a
 * loss, unless they were there before they began to be followed, and gone before they were read.
 */
#ifndef TAP_FILE_FOLLOW_H
#define TAP_FILE_FOLLOW_H

#include <stdbool.h>

#include <schedtap/reader.h>

struct tap_follow;
struct tap_held;

/*
 * @spool_path: of the folder, as tap_reader_open() takes it. @held: where the pages are; NULL: in
 * the folder. What is there already comes first. @in_place: who follows is the thread that adds
 * pages to @held, and reads them where they are. Return: 0; -errno with a sentence; -EOPNOTSUPP,
 * here and below: its page files are compressed.
 */
int tap_follow_open(const char *spool_path, struct tap_held *held, bool in_place,
		    struct tap_follow **out, struct tap_err *err);
void tap_follow_free(struct tap_follow *f);

/*
 * Looks how far the pages have come, and for new files and formats. Nobody may write to the folder
 * meanwhile: pages come behind the head that has their formats. Return: 0; -ENOMEM; -errno.
 */
int tap_follow_note(struct tap_follow *f, struct tap_err *err);

/*
 * As tap_reader_mark(): @mark is also asked of formats that come later. And as
 * tap_reader_formats(), of those that were there by the last tap_follow_batch().
 */
void tap_follow_mark(struct tap_follow *f,
		     uint16_t (*mark)(void *ctx, const struct tap_format *fmt), void *ctx);
const struct tap_format *const *tap_follow_formats(const struct tap_follow *f, unsigned int *nr);
/* What the recording said about itself when it began to be followed: JSON, or "". */
const char *tap_follow_meta(const struct tap_follow *f);

/*
 * The next events, as tap_reader_batch() hands them out: not later than @until_ns, which never goes
 * back. Return: how many; 0: none is left up to there; -errno.
 */
int tap_follow_batch(struct tap_follow *f, uint64_t until_ns,
		     const struct tap_event *const **events, struct tap_err *err);

#endif
