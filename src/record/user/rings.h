/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading one ring of a program (tracepoint/shared.h) from outside: its records in order, and
 * what is missing between them. Nothing that stands in it is believed without being checked.
 */
#ifndef TAP_RECORD_USER_RINGS_H
#define TAP_RECORD_USER_RINGS_H

#include "record/user/backlog.h"
#include "record/user/clock.h"
#include "record/user/control_file.h"

enum tap_user_item_kind {
	TAP_USER_NOTHING, /* for now */
	TAP_USER_RECORD,
	TAP_USER_LOSS,
};

struct tap_user_item {
	enum tap_user_item_kind kind;
	uint64_t stamp; /* TAP_STAMP_BITS of it; of a loss: where it ends */
	uint64_t first; /* of a loss: where it begins; 0: not known */
	uint64_t count; /* of a loss; 0: not known */
	const unsigned char *payload; /* until the next call; 8 bytes behind it are readable */
	uint32_t len;
	uint16_t type; /* the program's id */
};

struct tap_user_reader {
	int fd; /* borrowed: the control file */
	struct tap_user_ring ring;
	uint64_t bytes, subs; /* of all sub-buffers; where they begin in the file */
	bool discard; /* the writer waits until a sub-buffer is drained */
	bool dead; /* there is no writer any more */
	uint64_t head; /* as of the last poll */
	uint64_t pos, skip_to; /* the next record; those before skip_to are passed over */
	uint64_t loaded; /* the sub-buffer in the copy, or NO_SUB */
	uint32_t to; /* of its bytes, how many are in the copy */
	uint32_t commit; /* bytes used of it, 0: not known */
	unsigned char *copy;
	/* the area, as it lies in the program's memory; NULL: read with pread() */
	unsigned char *map;
	uint64_t events, lost; /* up to pos, as the program counts */
	bool counted; /* events is known */
	/* of an atomic ring: in each sub-buffer up to now; UINT64_MAX: not known */
	uint64_t *sub_events;
	uint64_t base; /* events before the first that was read; UINT64_MAX: not known */
	/* events: passed over for skip_to; that counts said were missing */
	uint64_t skipped, missing;
	bool cut; /* something was passed over since the last count */
	unsigned int bad_subs; /* in a row */
	uint64_t last_stamp; /* of what came last; 0: nothing */
	struct tap_user_pair pair; /* of the sub-buffer */
	struct tap_user_backlog backlog;
	struct tap_user_pool *pool; /* the caller's, NULL: there is none */
};

enum tap_user_from {
	TAP_USER_NOW, /* what is recorded from now on; what was before is given free */
	TAP_USER_REST, /* what is still there */
	TAP_USER_ALL, /* the same, and what is no longer there is a loss */
};

/* Return: 0; -EINVAL if it makes no sense; -ENODATA; -errno. */
int tap_user_reader_init(struct tap_user_reader *r, int fd, const struct tap_user_ring *ring,
			 bool discard, enum tap_user_from from);
void tap_user_reader_release(struct tap_user_reader *r);

/*
 * Looks how far the writer is: items up to there can be read now. @dead: it will write no more.
 * Return: 0; -EINVAL, -ENODATA: the ring makes no sense (any more).
 */
int tap_user_reader_poll(struct tap_user_reader *r, bool dead);

/*
 * Copies what is whole out of a ring that is mapped, so that the program has room, as far as there
 * is memory; it is read in its turn.
 */
void tap_user_reader_save(struct tap_user_reader *r);

/* Gives the ring's memory back, but for the sub-buffer where the writer is: of a program that
 * records nothing any more. */
void tap_user_reader_give_back(const struct tap_user_reader *r);

/* The next item. Return: 0, also for NOTHING; -EINVAL, -ENODATA; -ENOMEM. */
int tap_user_reader_next(struct tap_user_reader *r, struct tap_user_item *item);

/*
 * The records behind the last one, in its sub-buffer, which was the last item: as they lie in the
 * program's memory, where they may be anything, and change. Return: NULL: read them one by one;
 * else up to *@end.
 */
const unsigned char *tap_user_reader_run(const struct tap_user_reader *r,
					 const unsigned char **end);
/* @bytes of them, @events events, have been read; the last one with @stamp. */
void tap_user_reader_pass(struct tap_user_reader *r, uint32_t bytes, uint32_t events,
			  uint64_t stamp);

/* What was lost and nothing in the stream will tell: at the end, after NOTHING. */
int tap_user_reader_rest(struct tap_user_reader *r, struct tap_user_item *item);

/*
 * How many events the program says that it has put into the ring, without those that were told as
 * missing: as many should have been given. After NOTHING, before tap_user_reader_rest(). Return:
 * false: not known, as the program has gone on since the last poll, or something was passed over at
 * the end.
 */
bool tap_user_reader_count(const struct tap_user_reader *r, uint64_t *events);

/* Of the ring; the backlog does not count. */
unsigned int tap_user_reader_fill_pct(const struct tap_user_reader *r);

#endif
