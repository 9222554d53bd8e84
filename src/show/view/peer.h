/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Identify the user at the other end of a loopback connection, to refuse other users of the
 * machine.
 */
#ifndef TAP_VIEW_PEER_H
#define TAP_VIEW_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * Return true if the connection belongs to our user, or to the user who called sudo or logged in to
 * become us. @peer: address of the other end, of @len bytes. @port: our port on 127.0.0.1. Uses
 * /proc/net/tcp, which lists a connection as long as its process keeps it open.
 */
bool tap_peer_is_ours(const struct sockaddr *peer, socklen_t len, uint16_t port);

#endif
