/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Session files: what a recorder wants of programs that start while it runs. They read them when
 * they start, and switch on what matches by themselves, so that nothing is missed. A session file
 * counts while its recorder holds a lock on it. Beside it is a socket, where they leave their
 * control files: so those can be read when the programs are over.
 */
#ifndef TAP_RECORD_USER_SESSIONS_H
#define TAP_RECORD_USER_SESSIONS_H

#include "record/porter.h"
#include "record/user/programs.h"

#define TAP_USER_SESSION_MAX 4096u /* bytes that programs read */
#define TAP_USER_EVERYBODY "/run/schedtap" /* root's, where programs of all users look */

struct tap_user_session_file;

struct tap_user_sessions {
	struct tap_user_session_file *files;
	unsigned int nr, cap;
	struct tap_porter *porter; /* borrowed */
	bool are_over; /* nothing more comes than what was left before */
	int calls; /* readable when a program has left something; -1: there is none */
};

#define TAP_USER_NO_SESSIONS ((struct tap_user_sessions){ .calls = -1 })

/*
 * Writes @text into those of the @folders that are the caller's, which are made if they are
 * missing, and into TAP_USER_EVERYBODY where there are all users'. Return: how many files there
 * are; -E2BIG; -ENOMEM. @porter: takes what programs leave; NULL: those that are over at once are
 * missed.
 */
int tap_user_sessions_write(struct tap_user_sessions *s, struct tap_porter *porter,
			    const struct tap_user_folders *folders, const char *text);
/* Whether a program has left something since this was asked last. */
bool tap_user_sessions_called(const struct tap_user_sessions *s);
/* Takes the next control file. Return: false: there is none for now. */
bool tap_user_sessions_take(struct tap_user_sessions *s, struct tap_user_sent *sent);
/* Programs that start from now on are told nothing; what was left can be taken still. */
void tap_user_sessions_end(struct tap_user_sessions *s);
/* Removes the files, and the folders that were made for them if they are empty. */
void tap_user_sessions_remove(struct tap_user_sessions *s);

#endif
