/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages between the recorder and its porter (porter.h), which may carry descriptors. */
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
	/* sender's credentials, from the kernel, in our namespaces; .pid 0: not known */
	struct ucred from;
	struct sockaddr_un at; /* of a datagram: the sender's address, to answer to */
	socklen_t at_len; /* bytes; 0: the sender has no address */
	size_t len;
	char bytes[TAP_PARCEL_BYTES]; /* longer messages are cut */
};

enum tap_porter_kind {
	/* a listening socket: of each caller one message is taken, with one descriptor, a memfd */
	TAP_PORTER_CALLS,
	/* datagrams of root and the recorder's user, without descriptors; SO_PASSCRED is set */
	TAP_PORTER_DATAGRAMS,
};

/*
 * What the recorder sends: a kind, with the socket to serve and the channel for its messages; or
 * this byte, which the porter sends back once all earlier messages are handed on.
 */
#define TAP_PORTER_FINISH 'f'

/* Descriptors sent or received with a message. */
struct tap_passed {
	int fds[2];
	unsigned int nr;
};

/* Send one message. @passed: NULL: no descriptors. Return: 0; -errno. */
int tap_parcel_send(int to, const void *data, size_t len, const struct tap_passed *passed);
/*
 * Receive one message. @passed: set to its descriptors, the caller's to close. Return: bytes; 0:
 * the other end is closed; -errno.
 */
ssize_t tap_parcel_receive(int from, void *data, size_t len, struct tap_passed *passed, int flags);

#endif
