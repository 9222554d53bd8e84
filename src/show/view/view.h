/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording as a page that is served to the local browser (docs/internals/html.md): parts and
 * reports are made when the page requests them. The server ends when the page is closed; the page
 * keeps a request open.
 */
#ifndef TAP_VIEW_VIEW_H
#define TAP_VIEW_VIEW_H

#include "show/out/input.h"

struct tap_view;

/*
 * Bind the port, then open the recording and survey it. @port: 0: any free port. @input: borrowed
 * until the close.
 * Return: 0; -errno with a sentence, and @usage says whether the options are to blame. Close it in
 * either case.
 */
int tap_view_open(struct tap_view **out, const struct tap_input_opts *input, uint16_t port,
		  const struct tap_listener *listener, bool *usage, struct tap_err *err);
/* Return the page's address, which works once. Borrowed until the close. */
const char *tap_view_address(const struct tap_view *v);
/*
 * Start to serve. The server's threads inherit the caller's signal mask. Return: 0; -errno with a
 * sentence.
 */
int tap_view_start(struct tap_view *v, struct tap_err *err);
/* Open the page in the user's browser, if there is a graphical session. */
void tap_view_browse(const struct tap_view *v);
/* Wait until the page has been closed, or @fd is readable. */
void tap_view_wait(struct tap_view *v, int fd);
/*
 * Return: true; false if a thread is still reading and cannot be interrupted: nothing was freed,
 * and the process must exit.
 */
bool tap_view_close(struct tap_view *v);

#endif
