/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Properties of standard output: width, colors, and a pager for it. If it is not a terminal, lines
 * have no maximum width, colors must be requested, and there is no pager.
 */
#ifndef TAP_CLI_SCREEN_H
#define TAP_CLI_SCREEN_H

#include <stdbool.h>

#define TAP_SCREEN_COLUMNS 80u /* for a terminal that does not report its width */

/*
 * Return the terminal's width; 0: not a terminal. The first call determines it, and must come
 * before a pager starts.
 */
unsigned int tap_screen_columns(void);
/*
 * Return whether to use colors. @when: argument of --color. "always" and "never" decide; otherwise,
 * or if NULL, the environment and the terminal do.
 */
bool tap_screen_color(const char *when);
/*
 * Return true if the user's locale is UTF-8, so that block and line drawing characters can be used.
 */
bool tap_screen_utf8(void);

/* If stdout is a terminal, send all further output through $PAGER. */
void tap_screen_page(void);
/*
 * At the program's end: close the output and wait until the user leaves the pager. Nothing can be
 * printed after that.
 */
void tap_screen_end(void);

#endif
