/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signals while a terminal is in raw mode. Some are noted for tap_terminal_wait(); all others that
 * would end the process restore the terminal first. Process-wide.
 */
#ifndef TAP_SHOW_SCREEN_SIGNALS_H
#define TAP_SHOW_SCREEN_SIGNALS_H

#include <signal.h>

#define TAP_SIGNAL(sig) (1u << (sig)) /* a bit */
#define TAP_SIGNALS_END                                                                            \
	(TAP_SIGNAL(SIGINT) | TAP_SIGNAL(SIGTERM) | TAP_SIGNAL(SIGHUP) | TAP_SIGNAL(SIGQUIT))
#define TAP_SIGNALS_NOTED                                                                          \
	(TAP_SIGNALS_END | TAP_SIGNAL(SIGWINCH) | TAP_SIGNAL(SIGTSTP) | TAP_SIGNAL(SIGCONT))

/*
 * Set the handlers. @restore: async-signal-safe; called before a signal or exit() ends the process.
 * Return: a file descriptor that is readable once a signal was noted; -errno.
 */
int tap_terminal_signals_take(void (*restore)(void));
/* Set the handlers and the mask as before, and close the file descriptor. */
void tap_terminal_signals_give_back(void);
/* Return the bits of the signals in @which that were noted. */
unsigned int tap_terminal_signals_peek(unsigned int which);
/* Return these bits, and forget the signals. */
unsigned int tap_terminal_signals_get(unsigned int which);
/* Stop, as SIGTSTP stops a process without a handler. Returns once a shell continues it. */
void tap_terminal_signals_stop(void);

#endif
