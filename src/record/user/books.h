/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session's books: which programs were recorded, and the entries of those that say they record
 * (tracepoint/shared.h). Entries are in folders of the programs' users. A user who lies in them
 * lies about programs of that user alone: a program's identity has its user in it, which the kernel
 * says.
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
	/* of the session: no other has had it since the machine started */
	char id[TAP_BOOK_ID_MAX];
	struct tap_map taken[2]; /* identities; the older ones are in the second */
};

/* A program that says that it records. */
struct tap_user_entry {
	uint32_t pid; /* in the namespace .pid_ns */
	uint64_t pid_ns, made_ns;
	uid_t uid;
	const char *comm; /* may hold anything */
};

void tap_user_books_init(struct tap_user_books *b);
void tap_user_books_release(struct tap_user_books *b);

/*
 * What no other program of this machine has, or had since it started: of one user, process and
 * moment. Programs that were forked have their own. @uid: as the kernel says.
 */
uint64_t tap_user_identity(uid_t uid, const struct tap_control *head);

/* Notes that a program is recorded, or need not be. At least the newest 65,536 are known. */
void tap_user_books_take(struct tap_user_books *b, uint64_t identity);
bool tap_user_books_has(const struct tap_user_books *b, uint64_t identity);

/* Removes a program's entry from its user's folders, if it has made one. */
void tap_user_books_cross_off(const struct tap_user_books *b,
			      const struct tap_user_folders *folders, uid_t uid,
			      const struct tap_control *head);
/*
 * Calls @fn for each entry of a program that was not taken, at most for 64 of a folder. Return: how
 * many there are. Removes all entries of this session, and of recorders that were killed.
 */
unsigned int tap_user_books_close(const struct tap_user_books *b,
				  const struct tap_user_folders *folders,
				  void (*fn)(void *ctx, const struct tap_user_entry *e), void *ctx);

#endif
