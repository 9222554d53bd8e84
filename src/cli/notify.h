/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_CLI_NOTIFY_H
#define TAP_CLI_NOTIFY_H

/*
 * Tell the service manager, if it asked for it in $NOTIFY_SOCKET (sd_notify(3)). @state: such as
 * "READY=1".
 */
void tap_notify(const char *state);

#endif
