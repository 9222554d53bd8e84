/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets that listen for connections from this machine. */
#ifndef TAP_SHOW_HTTP_LISTEN_H
#define TAP_SHOW_HTTP_LISTEN_H

#include <stdint.h>
#include <sys/types.h>

#include <schedtap/err.h>

struct tap_listening {
	int fd; /* owned by the user of the struct */
	uint16_t port; /* 0: a Unix socket */
	const char *path; /* of the Unix socket; borrowed from the address; NULL: none */
	ino_t inode; /* of .path */
};

/*
 * Listen at @address: "ADDR:PORT", where ADDR is a loopback address (127.0.0.1, [::1], localhost)
 * and port 0 is any free port, or "unix:PATH". A socket at PATH that a killed server left is
 * replaced. Return: 0; -EINVAL: no such address; -EADDRINUSE; -errno; each with a sentence.
 */
int tap_listen(struct tap_listening *l, const char *address, struct tap_err *err);
/* Remove the Unix socket's file, unless another server's has taken its place. */
void tap_listen_end(const struct tap_listening *l);

#endif
