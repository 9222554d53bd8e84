/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs with tracepoints of their own, seen from outside: their control files
 * (tracepoint/shared.h), to which links in the users' folders lead, or which they have sent; read
 * with pread() and written byte by byte. Whatever stands in them may be a lie.
 */
#ifndef TAP_RECORD_USER_PROGRAMS_H
#define TAP_RECORD_USER_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/user/books.h"
#include "record/user/control_file.h"
#include "record/user/kinds.h"
#include "record/user/links.h"
#include "tracepoint/steps.h"

#define TAP_USER_PROGRAMS_MAX                                                                      \
	16384u /* of one user's folder: junk of one does not hide another's                        \
		*/

struct tap_user_program {
	int pid;
	uid_t uid;
	/* of the link to its control file: PID-NUMBER; "": not seen so far */
	char file[TAP_USER_LINK_NAME];
	/* what its file says; of one that cannot be read its reason alone, which is ours */
	struct tap_user_control control;
	bool alive; /* when last asked */
	bool foreign; /* found in another pid namespace: counts as alive, for nobody can tell */
	int sharer; /* a child that has its file mapped; 0: none is known */
	void *user; /* the caller's; NULL at first */
	bool sent_is_new; /* what it has sent arrived after it was found: for the caller to clear */
	bool kept; /* the caller's: it stays in the set also when its file is gone */
	bool with_children; /* the caller's: it lives as long as a child that may still record */
	bool seen; /* its file was there at the last scan */
	int fd; /* -1: not locked by us */
	/* mapped while it is locked; NULL: that failed. It may change, and be anything */
	const struct tap_control *head;

	/* inside */
	const struct tap_user_folder *folder;
	uint64_t dev, ino, link_ino; /* of the control file, and of the link to it */
	bool was_locked;
	int sent; /* the control file, of a program that has sent it and is not locked; else -1 */
};

struct tap_user_set;

/* A set without folders. Return: 0 or -ENOMEM. */
int tap_user_new(struct tap_user_set **out);
/* With those of the caller; of root: those of all users, as they come. Return: 0 or -ENOMEM. */
int tap_user_new_own(struct tap_user_set **out);
void tap_user_free(struct tap_user_set *set);

/* Those that are scanned: add to them as folders.h says. */
struct tap_user_folders *tap_user_folders(struct tap_user_set *set);

/*
 * Looks for programs. Folders that did not change since the last scan cost one stat() each.
 * Programs whose file is gone leave the set, unless they are locked or kept. What the others say is
 * read when they are found, and by tap_user_refresh(). Return: 1 if programs came or went; 0;
 * -errno.
 */
int tap_user_scan(struct tap_user_set *set, struct tap_err *err);

/* A control file that a program has left. */
struct tap_user_sent {
	int fd; /* the caller's, who closes it */
	pid_t pid; /* as the kernel says; in our own namespace */
	uid_t uid;
};

/*
 * Adds the program that sent it, unless it is known; closes what was sent. It leaves the set at the
 * next scan, unless it is locked or kept by then, or the scan finds it. Return: 0, also for what is
 * no program; -ENOMEM.
 */
int tap_user_add_sent(struct tap_user_set *set, const struct tap_user_sent *sent);

/* Borrowed until the next scan, or as long as it is locked or kept. NULL past the last. */
struct tap_user_program *tap_user_program_at(const struct tap_user_set *set, unsigned int i);

/*
 * Reads anew what changes: objects that came or went, rings, words. The program's events may move.
 * Return: 0; -EINVAL, -ENODATA where the file makes no sense (any more); -errno.
 */
int tap_user_refresh(struct tap_user_set *set, struct tap_user_program *p, struct tap_err *err);

/* The ID in this session's files. */
const char *tap_user_session_id(const struct tap_user_set *set);
/* Notes that a program is recorded, or need not be; whether that was noted of it. Nobody is
 * recorded twice. */
void tap_user_take(struct tap_user_set *set, const struct tap_user_program *p);
bool tap_user_is_taken(const struct tap_user_set *set, const struct tap_user_program *p);
/* Removes the entry of a program that was recorded to its end. */
void tap_user_cross_off(const struct tap_user_set *set, const struct tap_user_program *p);
/* Calls @fn for programs that say that they record, and were not taken: tap_user_books_close(). */
unsigned int tap_user_close_books(struct tap_user_set *set,
				  void (*fn)(void *ctx, const struct tap_user_entry *e), void *ctx);

/*
 * Looks whether it lives, or a child after a fork that has its file mapped: reads all mappings, in
 * the second case those of all processes, so not to be asked all the time.
 */
bool tap_user_is_alive(struct tap_user_program *p);
/* Whether a child of a locked program has its file mapped. */
bool tap_user_has_children(struct tap_user_program *p);

/* Whether the process, or the thread's, is there and does not have the program's control file
 * mapped. */
bool tap_user_is_unmapped(const struct tap_user_program *p, int pid);

/*
 * Opens the control file and locks it against other recorders: until tap_user_unlock().
 * Return: 0; -EBUSY with a sentence that says who has it; -EMFILE; -errno.
 */
int tap_user_lock(struct tap_user_program *p, struct tap_err *err);
void tap_user_unlock(struct tap_user_program *p);

/*
 * Switches an event on or off and wakes the program if it sleeps for that. The program need not
 * be locked. Return: 0 or -errno.
 */
int tap_user_want(struct tap_user_program *p, struct tap_user_event *ev, bool on,
		  struct tap_err *err);
/*
 * Gives an event a filter, which is @text, or (@steps is NULL) takes it. The program applies it
 * when it next comes by the event. Of a program that is locked. Return: 0; -EOPNOTSUPP: it is of a
 * release that has no filters, or had no place for them; -errno.
 */
int tap_user_put_filter(struct tap_user_program *p, const struct tap_user_event *ev,
			const char *text, const struct tap_steps *steps, struct tap_err *err);
/* Adds the text of an event's filter to @text, nothing where there is none. It may hold anything.
 * Return: 0; -errno. */
int tap_user_get_filter(const struct tap_user_program *p, const struct tap_user_event *ev,
			struct tap_buf *text, struct tap_err *err);
/* Of rings that there are, and of those to come. @shift: 0: stays as it is. */
int tap_user_set_ring(struct tap_user_program *p, enum tap_ring_mode mode, uint8_t shift,
		      struct tap_err *err);
/* Says that none of its events can be recorded: it may wait for a recorder. It need not be locked.
 */
void tap_user_refuse(struct tap_user_program *p);
/* Writes to a locked program's struct tap_control, at offset @at. */
void tap_user_tell(const struct tap_user_program *p, size_t at, uint8_t byte);
/* Whether a locked program has areas that were not there, or not filled, when it was read last.
 * Quick. */
bool tap_user_has_new_areas(const struct tap_user_program *p);
/* Whether it has areas that were not there. */
bool tap_user_has_unread_areas(const struct tap_user_program *p);
/* Whether a locked program says that it waits for the end of its recorder. */
bool tap_user_is_ending(const struct tap_user_program *p);

/* Removes the link that a dead program left. Return: 0; -EBUSY: it lives; -errno. */
int tap_user_remove(const struct tap_user_program *p, struct tap_err *err);

/* NULL past the last. */
const struct tap_user_kind *tap_user_kind_at(const struct tap_user_set *set, unsigned int nr);

#endif
