/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording as a page that this machine serves to itself (docs/internals/html.md): parts and
 * reports are made as the page asks for them. It lives as long as its page, which holds a request
 * open.
 */
#ifndef TAP_VIEW_VIEW_H
#define TAP_VIEW_VIEW_H

#include "show/out/input.h"

struct tap_view;

/*
 * Takes the port, then opens the recording and looks through it. @port: 0: any that is free.
 * @input: borrowed until the close. Return: 0; -errno with a sentence, and @usage says whether the
 * options are to blame. Close in either case.
 */
int tap_view_open(struct tap_view **out, const struct tap_input_opts *input, uint16_t port,
		  const struct tap_listener *listener, bool *usage, struct tap_err *err);
/* Where the page is; opens it once. Borrowed until the close. */
const char *tap_view_address(const struct tap_view *v);
/* Its threads have the signals blocked that the caller's has. Return: 0; -errno with a sentence. */
int tap_view_start(struct tap_view *v, struct tap_err *err);
/* Opens the page in the user's browser, if there is a screen to see it on. */
void tap_view_browse(const struct tap_view *v);
/* Until the page has been closed, or @fd can be read. */
void tap_view_wait(struct tap_view *v, int fd);
/* Return: false: what is being read cannot be interrupted: all is left as it is for the process to
 * end. */
bool tap_view_close(struct tap_view *v);

#endif
