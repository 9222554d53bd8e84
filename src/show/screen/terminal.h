/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A terminal as a screen: keys come in one by one, frames go out. Only plain ECMA-48 sequences that
 * every terminal since the VT100 has, so neither a terminfo database nor a library is needed: a
 * static program in an empty file system has the screens, too. Not thread safe; one at a time.
 */
#ifndef TAP_SHOW_SCREEN_TERMINAL_H
#define TAP_SHOW_SCREEN_TERMINAL_H

#include <schedtap/err.h>

#include "show/screen/frame.h"

struct tap_terminal;

/* Return true if both are terminals, and TERM is set and not "dumb". */
bool tap_terminal_can(int in_fd, int out_fd);
/*
 * Switch to the alternate screen and to raw mode without echo. SIGINT, SIGTERM, SIGHUP and SIGQUIT
 * end tap_terminal_wait(); SIGTSTP and SIGCONT restore the terminal and set it up again. When the
 * process dies by another signal that can be caught, the terminal is restored first. @out: closed
 * by the caller. Return: 0; -errno with a sentence.
 */
int tap_terminal_open(struct tap_terminal **out, int in_fd, int out_fd, struct tap_err *err);
/* Restore the terminal as it was before the open. NULL is accepted. */
void tap_terminal_close(struct tap_terminal *t);

/*
 * Say what the terminal and the user's locale can show, as for tap_frame_update(). Both are true
 * after the open.
 */
void tap_terminal_looks(struct tap_terminal *t, bool colours, bool utf8);
/* The present size, 0x0 if it is unknown. */
void tap_terminal_size(const struct tap_terminal *t, unsigned int *rows, unsigned int *columns);
/*
 * Show a frame; the terminal keeps a copy to find out what changes next time. Return: 0; -errno
 * with a sentence: -EIO if the terminal has vanished.
 */
int tap_terminal_show(struct tap_terminal *t, const struct tap_frame *f, struct tap_err *err);

enum tap_terminal_event {
	TAP_TERMINAL_TIME, /* @until_ns is reached */
	TAP_TERMINAL_KEY, /* *@key is set */
	TAP_TERMINAL_RESIZED, /* or came back from the background: show everything again */
	TAP_TERMINAL_FD, /* one of the other file descriptors is readable */
	TAP_TERMINAL_END, /* a signal, or the terminal has vanished */
};

/*
 * Wait for a key, but at most until a time (CLOCK_MONOTONIC). @fd: another file descriptor to wait
 * for; -1: none. Return: what happened.
 */
enum tap_terminal_event tap_terminal_wait(struct tap_terminal *t, uint64_t until_ns, int fd,
					  uint32_t *key);
/* Return: the signal that ended tap_terminal_wait(); SIGHUP if the terminal has vanished; 0. */
int tap_terminal_signal(const struct tap_terminal *t);

#endif
