/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Standard output as a person sees it: how wide it is, whether it has colours, and a pager before
 * it. Where it is no terminal, what is printed is the same for everybody.
 */
#ifndef TAP_CLI_SCREEN_H
#define TAP_CLI_SCREEN_H

#include <stdbool.h>

#define TAP_SCREEN_COLUMNS 80u /* of a terminal that does not tell */

/* Columns of the terminal; 0: it is none. The first call looks: before there is a pager. */
unsigned int tap_screen_columns(void);
/* @when: as typed with --color, "always" or "never"; else, and where it is NULL, the environment
 * and the terminal say. */
bool tap_screen_color(const char *when);
/* The user's characters are UTF-8: there are blocks and lines to draw with. */
bool tap_screen_utf8(void);

/* On a terminal, what is printed from now on goes through $PAGER. */
void tap_screen_page(void);
/* At the program's end: waits until the pager has been left. Nothing can be printed any more. */
void tap_screen_end(void);

#endif
