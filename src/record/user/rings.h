/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads one ring of a program (tracepoint/shared.h) from outside: its records in order, and what is
 * missing between them. The contents are untrusted and are checked before use.
 */
#ifndef TAP_RECORD_USER_RINGS_H
#define TAP_RECORD_USER_RINGS_H

#include "record/user/backlog.h"
#include "record/user/clock.h"
#include "record/user/control_file.h"

enum tap_user_item_kind {
	TAP_USER_NOTHING, /* no item for now */
	TAP_USER_RECORD,
	TAP_USER_LOSS,
};

struct tap_user_item {
	enum tap_user_item_kind kind;
	uint64_t stamp; /* low TAP_STAMP_BITS bits of the time; of a loss: its end */
	uint64_t first; /* start of a loss; 0: unknown */
	uint64_t count; /* number of lost events; 0: unknown */
	const unsigned char *payload; /* valid until the next call; 8 bytes after it are readable */
	uint32_t len;
	uint16_t type; /* the program's common_type */
};

struct tap_user_reader {
	int fd; /* the control file; borrowed */
	struct tap_user_ring ring;
	uint64_t bytes, subs; /* size of all sub-buffers; their offset in the area */
	bool discard; /* the writer overwrites nothing that is not drained */
	bool dead; /* the writer has ended */
	uint64_t head; /* at the last poll */
	uint64_t pos, skip_to; /* position of the next record; records before skip_to are skipped */
	uint64_t loaded; /* position of the sub-buffer in `copy`, or NO_SUB */
	uint32_t to; /* number of its bytes that are in `copy` */
	uint32_t commit; /* number of its bytes that are used; 0: unknown */
	unsigned char *copy;
	/* the area, mapped from the program's memory; NULL: read with pread() */
	unsigned char *map;
	/* numbers of events and losses up to pos, as counted by the program */
	uint64_t events, lost;
	bool counted; /* events is valid */
	/* atomic ring: events in each sub-buffer so far; UINT64_MAX: unknown */
	uint64_t *sub_events;
	/* number of events before the first one that was read; UINT64_MAX: unknown */
	uint64_t base;
	/* events skipped because of skip_to; events that the counts showed to be missing */
	uint64_t skipped, missing;
	bool cut; /* data was skipped since the last count */
	unsigned int bad_subs; /* consecutive invalid sub-buffers */
	uint64_t last_stamp; /* stamp of the last item; 0: none */
	struct tap_user_pair pair; /* both clocks, from the sub-buffer's first record */
	struct tap_user_backlog backlog;
	struct tap_user_pool *pool; /* the caller's; NULL: no backlog */
};

enum tap_user_from {
	TAP_USER_NOW, /* read what is recorded from now on; free the sub-buffers recorded before */
	TAP_USER_REST, /* read what is still in the ring */
	TAP_USER_ALL, /* like TAP_USER_REST, and report what was overwritten as a loss */
};

/* Start to read a ring. Return: 0; -EINVAL if it is invalid; -ENODATA; -ENOMEM; another -errno. */
int tap_user_reader_init(struct tap_user_reader *r, int fd, const struct tap_user_ring *ring,
			 bool discard, enum tap_user_from from);
void tap_user_reader_release(struct tap_user_reader *r);

/*
 * Read the writer's position: items up to there can be read now. @dead: the writer has ended.
 * Return: 0; -EINVAL, -ENODATA if the ring is invalid.
 */
int tap_user_reader_poll(struct tap_user_reader *r, bool dead);

/*
 * Copy complete sub-buffers of a mapped ring into the backlog, as far as memory allows, to make
 * room for the program. They are read in their turn.
 */
void tap_user_reader_save(struct tap_user_reader *r);

/*
 * Free the memory of the ring of a program that no longer records, except for the sub-buffer that
 * the writer is in.
 */
void tap_user_reader_give_back(const struct tap_user_reader *r);

/*
 * Read the next item. Return: 0, also for TAP_USER_NOTHING; -EINVAL, -ENODATA if the ring is
 * invalid; -ENOMEM; another -errno.
 */
int tap_user_reader_next(struct tap_user_reader *r, struct tap_user_item *item);

/*
 * Return the records after the last item, which was a record, up to the end of its sub-buffer
 * (*@end). They are in memory that the program can change at any time. Return: NULL: use
 * tap_user_reader_next() instead.
 */
const unsigned char *tap_user_reader_run(const struct tap_user_reader *r,
					 const unsigned char **end);
/* Skip @bytes of these records with @events events, which were read; the last one has @stamp. */
void tap_user_reader_pass(struct tap_user_reader *r, uint32_t bytes, uint32_t events,
			  uint64_t stamp);

/* Get the losses that no later record reports, at the end, after TAP_USER_NOTHING. */
int tap_user_reader_rest(struct tap_user_reader *r, struct tap_user_item *item);

/*
 * Get the number of events that the program says it put into the ring, without those reported as
 * missing: so many should have been read. Call this after TAP_USER_NOTHING and before
 * tap_user_reader_rest(). Return: false if it is unknown, because the program has gone on since the
 * last poll, or data was skipped at the end.
 */
bool tap_user_reader_count(const struct tap_user_reader *r, uint64_t *events);

/* Return how full the ring is, in percent, without the backlog. */
unsigned int tap_user_reader_fill_pct(const struct tap_user_reader *r);

#endif
