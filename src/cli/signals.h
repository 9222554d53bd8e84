/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_CLI_SIGNALS_H
#define TAP_CLI_SIGNALS_H

#include <schedtap/err.h>

/*
 * Block the signals that end us (SIGINT, SIGTERM, SIGHUP), to read them from a signalfd instead.
 * Return: the signalfd; -errno with a sentence.
 */
int tap_take_signals(struct tap_err *err);

#endif
