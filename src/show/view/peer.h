/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who is at the other end of a connection over the loopback interface: another user of the machine
 * has no business here. */
#ifndef TAP_VIEW_PEER_H
#define TAP_VIEW_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * @peer: the other end's address, of @len bytes. @port: our end's, of 127.0.0.1. Return: whether it
 * is a process of ours, or of the user who called sudo or logged in to become us. Asks
 * /proc/net/tcp, which lists a connection as long as its process has it open.
 */
bool tap_peer_is_ours(const struct sockaddr *peer, socklen_t len, uint16_t port);

#endif
