/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whom a server on loopback answers: a page that it has served itself, and nobody else who can
 * reach the port: neither other users of the machine, nor pages of other origins in the same
 * browser, under whatever name of a host they ask.
 *
 * The address that is printed, and that the browser's command line shows to all who list processes,
 * has a ticket: whoever comes with it first is sent on to the page, and then it is void. The page's
 * address, and all that it asks for, has the token. Other users' connections are closed before they
 * ask anything (peer.h).
 */
#ifndef TAP_VIEW_ACCESS_H
#define TAP_VIEW_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <schedtap/err.h>

#define TAP_SECRET_BYTES 16u
#define TAP_SECRET_CHARS (2u * TAP_SECRET_BYTES)

struct tap_access {
	char ticket[TAP_SECRET_CHARS + 1], token[TAP_SECRET_CHARS + 1];
	uint16_t port;
	_Atomic bool is_taken; /* .ticket */
};

/* Of a request; borrowed, NULL: it has none. */
struct tap_access_request {
	const char *method, *path;
	const char *in_address; /* the token of its query */
	/* its headers Host, Origin, Sec-Fetch-Site and X-Token */
	const char *host, *origin, *fetch_site, *token;
};

/* Return: 0; -errno with a sentence. */
int tap_access_init(struct tap_access *a, uint16_t port, struct tap_err *err);
/*
 * May be called by several threads. Return: the status of the answer: 200: it may have what it asks
 * for; 303: it is to come again with the token in its address; else refused, with a sentence.
 */
unsigned int tap_access_check(struct tap_access *a, const struct tap_access_request *q,
			      struct tap_err *err);

#endif
