/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages with descriptors, which the recorder and its porter (porter.h) exchange. */
#ifndef TAP_RECORD_PARCEL_H
#define TAP_RECORD_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#define TAP_PARCEL_BYTES 1100u
#define TAP_PORTER_MAX_SERVICES 16u

struct tap_parcel {
	struct ucred from; /* as the kernel says, in our own namespaces; .pid 0: not known */
	struct sockaddr_un at; /* of a datagram: the sender's address, for an answer */
	socklen_t at_len; /* bytes; 0: the sender has no address */
	size_t len;
	char bytes[TAP_PARCEL_BYTES]; /* a longer message is cut */
};

enum tap_porter_kind {
	/* it listens: of each caller one message with one descriptor, of memory */
	TAP_PORTER_CALLS,
	/* of root and of the recorder's user, without descriptors; SO_PASSCRED is set */
	TAP_PORTER_DATAGRAMS,
};

/* The recorder sends: a kind, with a socket and the channel to hand on to; or this, which is sent
 * back. */
#define TAP_PORTER_FINISH 'f'

/* Descriptors that come or go with a message. */
struct tap_passed {
	int fds[2];
	unsigned int nr;
};

/* @passed: NULL: none. Return: 0; -errno. */
int tap_parcel_send(int to, const void *data, size_t len, const struct tap_passed *passed);
/* @passed: set to what came, the caller's to close. Return: bytes; 0: the other end is closed;
 * -errno. */
ssize_t tap_parcel_receive(int from, void *data, size_t len, struct tap_passed *passed, int flags);

#endif
