/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Session files say what starting programs are to record while a recorder runs: a program reads
 * them when it starts, and switches on the matching events by itself, so that no event is missed. A
 * session file is valid while its recorder holds a lock on it. Next to it is a socket, to which
 * programs send their control files' descriptors, so that the files can be read after the programs
 * have ended.
 */
#ifndef TAP_RECORD_USER_SESSIONS_H
#define TAP_RECORD_USER_SESSIONS_H

#include "record/porter.h"
#include "record/user/programs.h"

#define TAP_USER_SESSION_MAX 4096u /* bytes that programs read */
#define TAP_USER_EVERYBODY "/run/schedtap" /* root's folder, where programs of all users look */

struct tap_user_session_file;

struct tap_user_sessions {
	struct tap_user_session_file *files;
	unsigned int nr, cap;
	struct tap_porter *porter; /* borrowed */
	bool are_over; /* no more control files arrive than those already sent */
	int calls; /* epoll descriptor, readable when a program has sent its file; -1: none */
};

#define TAP_USER_NO_SESSIONS ((struct tap_user_sessions){ .calls = -1 })

/*
 * Write @text into session files: in those of @folders that are the caller's, which are created if
 * missing, and in TAP_USER_EVERYBODY if folders of all users are included. @porter: receives what
 * programs send; if NULL, short-lived programs are missed. Return: the number of files; -E2BIG;
 * -ENOMEM.
 */
int tap_user_sessions_write(struct tap_user_sessions *s, struct tap_porter *porter,
			    const struct tap_user_folders *folders, const char *text);
/* Return true if a program has sent its file since the last call. */
bool tap_user_sessions_called(const struct tap_user_sessions *s);
/* Get the next control file. Return: false: none for now. */
bool tap_user_sessions_take(struct tap_user_sessions *s, struct tap_user_sent *sent);
/*
 * End the sessions for programs that start from now on; files that were already sent can still be
 * taken.
 */
void tap_user_sessions_end(struct tap_user_sessions *s);
/* Remove the session files, and the folders made for them if they are empty. */
void tap_user_sessions_remove(struct tap_user_sessions *s);

#endif
