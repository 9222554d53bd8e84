/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs with tracepoints of their own, seen from outside through their control files
 * (tracepoint/shared.h). Links in the users' folders lead to these, or programs have sent them.
 * Files are read with pread() and written byte by byte; none of their contents is trusted.
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

/* per folder, so that junk in one user's folder does not hide another user's programs */
#define TAP_USER_PROGRAMS_MAX 16384u

struct tap_user_program {
	int pid;
	uid_t uid;
	/* name of the link to its control file: PID-NUMBER; "": not seen so far */
	char file[TAP_USER_LINK_NAME];
	/* contents of its file; if that cannot be read, only head.reason, set by the recorder */
	struct tap_user_control control;
	bool alive; /* at the last check */
	/* found in another pid namespace: counts as alive, because that cannot be checked */
	bool foreign;
	int sharer; /* a child that has its file mapped; 0: none known */
	void *user; /* for the caller; NULL at first */
	/* its control file arrived after the program was found; the caller clears this */
	bool sent_is_new;
	bool kept; /* set by the caller: keep it in the set even if its file is gone */
	/* set by the caller: it counts as alive while a child may still record */
	bool with_children;
	bool seen; /* its link existed at the last scan */
	int fd; /* descriptor with the lock; -1: not locked by this recorder */
	/* mapped while locked; NULL if that failed. Untrusted, and may change at any time */
	const struct tap_control *head;

	/* private */
	const struct tap_user_folder *folder;
	uint64_t dev, ino, link_ino; /* of the control file, and of the link to it */
	bool was_locked;
	int sent; /* descriptor of the control file that an unlocked program has sent; else -1 */
};

struct tap_user_set;

/* Make a set without folders. Return: 0 or -ENOMEM. */
int tap_user_new(struct tap_user_set **out);
/*
 * Make a set with the caller's folders; for root, scans add the folders of all users. Return: 0 or
 * -ENOMEM.
 */
int tap_user_new_own(struct tap_user_set **out);
void tap_user_free(struct tap_user_set *set);

/* Return the folders that are scanned; add more with the functions of folders.h. */
struct tap_user_folders *tap_user_folders(struct tap_user_set *set);

/*
 * Scan for programs. A folder that has not changed since the last scan costs one stat(). Programs
 * whose link is gone leave the set, unless they are locked or kept. Control files are read when a
 * program is found, and by tap_user_refresh(). Return: 1 if programs came or went; 0; -errno.
 */
int tap_user_scan(struct tap_user_set *set, struct tap_err *err);

/* A control file that a program has sent. */
struct tap_user_sent {
	int fd; /* closed by the receiver of this struct */
	pid_t pid; /* sender, from the kernel, in the caller's pid namespace */
	uid_t uid;
};

/*
 * Add the program that sent a control file, unless it is known; closes sent->fd. It leaves the set
 * at the next scan, unless it is locked or kept by then, or the scan finds its link. Return: 0,
 * also if it is not a program's; -ENOMEM.
 */
int tap_user_add_sent(struct tap_user_set *set, const struct tap_user_sent *sent);

/*
 * Return the program with index @i, NULL past the last. It is valid until the next scan, or while
 * it is locked or kept.
 */
struct tap_user_program *tap_user_program_at(const struct tap_user_set *set, unsigned int i);

/*
 * Read again what changes: objects that came or went, rings, words. The program's events may move
 * in memory. Return: 0; -EINVAL, -ENODATA if the file is invalid; another -errno.
 */
int tap_user_refresh(struct tap_user_set *set, struct tap_user_program *p, struct tap_err *err);

/* Return the ID for session files and entries. */
const char *tap_user_session_id(const struct tap_user_set *set);
/*
 * Note that a program is recorded, or need not be; check if that was noted. No program is recorded
 * twice.
 */
void tap_user_take(struct tap_user_set *set, const struct tap_user_program *p);
bool tap_user_is_taken(const struct tap_user_set *set, const struct tap_user_program *p);
/* Remove the entry of a program that was recorded to its end. */
void tap_user_cross_off(const struct tap_user_set *set, const struct tap_user_program *p);
/*
 * Call @fn for programs whose entries say that they record, but that were not taken: see
 * tap_user_books_close().
 */
unsigned int tap_user_close_books(struct tap_user_set *set,
				  void (*fn)(void *ctx, const struct tap_user_entry *e), void *ctx);

/*
 * Check if the program runs, or a child after a fork that still maps its file. Expensive: reads the
 * process's mappings, and for children those of all processes.
 */
bool tap_user_is_alive(struct tap_user_program *p);
/* Check if a child of a locked program still maps its file. */
bool tap_user_has_children(struct tap_user_program *p);

/*
 * Return true if the process or thread @pid exists and does not have the program's control file
 * mapped.
 */
bool tap_user_is_unmapped(const struct tap_user_program *p, int pid);

/*
 * Open the control file and lock it against other recorders, until tap_user_unlock(). Return: 0;
 * -EBUSY with a message that names the recorder; -EMFILE; another -errno.
 */
int tap_user_lock(struct tap_user_program *p, struct tap_err *err);
void tap_user_unlock(struct tap_user_program *p);

/*
 * Switch an event on or off, and wake the program's watcher if it has one. The program need not be
 * locked. Return: 0 or -errno.
 */
int tap_user_want(struct tap_user_program *p, struct tap_user_event *ev, bool on,
		  struct tap_err *err);
/*
 * Set an event's filter to @text, compiled to @steps, or remove it if @steps is NULL. The program
 * applies it when it next passes the event's site. The program must be locked. Return: 0;
 * -EOPNOTSUPP: the program's library has no filters, or its file has no room for them; another
 * -errno.
 */
int tap_user_put_filter(struct tap_user_program *p, const struct tap_user_event *ev,
			const char *text, const struct tap_steps *steps, struct tap_err *err);
/*
 * Append the text of an event's filter to @text; nothing if it has none. The text is untrusted.
 * Return: 0; -errno.
 */
int tap_user_get_filter(const struct tap_user_program *p, const struct tap_user_event *ev,
			struct tap_buf *text, struct tap_err *err);
/*
 * Set the mode of all rings, and the size of rings made from now on. @shift: log2 of bytes; 0:
 * unchanged. Return: 0 or -errno.
 */
int tap_user_set_ring(struct tap_user_program *p, enum tap_ring_mode mode, uint8_t shift,
		      struct tap_err *err);
/*
 * Report to a program, which may wait for a recorder, that none of its events can be recorded. It
 * need not be locked.
 */
void tap_user_refuse(struct tap_user_program *p);
/* Write @byte to a locked program's struct tap_control at offset @at. */
void tap_user_tell(const struct tap_user_program *p, size_t at, uint8_t byte);
/*
 * Return true if a locked program has areas that did not exist, or were not filled, when it was
 * read last. Cheap.
 */
bool tap_user_has_new_areas(const struct tap_user_program *p);
/* Return true if a locked program has areas that did not exist when it was read last. */
bool tap_user_has_unread_areas(const struct tap_user_program *p);
/* Return true if a locked program waits for its recorder to end. */
bool tap_user_is_ending(const struct tap_user_program *p);

/* Remove the link of a program that has ended. Return: 0; -EBUSY: it still runs; another -errno. */
int tap_user_remove(const struct tap_user_program *p, struct tap_err *err);

/* Return a kind by number; NULL past the last. */
const struct tap_user_kind *tap_user_kind_at(const struct tap_user_set *set, unsigned int nr);

#endif
