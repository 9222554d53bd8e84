/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session's account of programs: those that were recorded, and the entries of programs that say
 * they record (tracepoint/shared.h). Entries are in folders of the programs' users, who may forge
 * them. A forged entry only affects programs of the same user, because a program's identity
 * contains its uid, which comes from the kernel.
 */
#ifndef TAP_RECORD_USER_BOOKS_H
#define TAP_RECORD_USER_BOOKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "record/user/folders.h"
#include "tracepoint/shared.h"

struct tap_user_books {
	/* session ID; unique since the machine started */
	char id[TAP_BOOK_ID_MAX];
	struct tap_map taken[2]; /* identities of recorded programs; older ones in the second map */
};

/* A program whose entry says that it records. */
struct tap_user_entry {
	uint32_t pid; /* valid in the namespace .pid_ns */
	uint64_t pid_ns, made_ns;
	uid_t uid;
	const char *comm; /* untrusted: may contain any bytes */
};

void tap_user_books_init(struct tap_user_books *b);
void tap_user_books_release(struct tap_user_books *b);

/*
 * Return a hash that identifies a program among all that have run since the machine started: of
 * uid, pid, pid namespace, and the time when the control file was made. A forked child has another
 * identity than its parent. @uid: as reported by the kernel.
 */
uint64_t tap_user_identity(uid_t uid, const struct tap_control *head);

/*
 * Note that a program is recorded, or need not be. At least the newest 65,536 programs are
 * remembered.
 */
void tap_user_books_take(struct tap_user_books *b, uint64_t identity);
bool tap_user_books_has(const struct tap_user_books *b, uint64_t identity);

/* Remove a program's entry from its user's folders, if it made one. */
void tap_user_books_cross_off(const struct tap_user_books *b,
			      const struct tap_user_folders *folders, uid_t uid,
			      const struct tap_control *head);
/*
 * Call @fn for each entry of this session whose program was not taken, at most 64 times per folder.
 * Remove all entries of this session, and of recorders that were killed. Return: the number of
 * programs that were not taken.
 */
unsigned int tap_user_books_close(const struct tap_user_books *b,
				  const struct tap_user_folders *folders,
				  void (*fn)(void *ctx, const struct tap_user_entry *e), void *ctx);

#endif
