/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Access control of the server on loopback. It answers only the page that it has served itself, not
 * other users of the machine who can reach the port, and not pages of other origins in the same
 * browser, whatever host name they use.
 *
 * The address that is printed, and that appears in the browser's command line for all users to see,
 * contains a ticket. The first request with the ticket is redirected to the page, and the ticket
 * becomes void. The page's address and all of its requests contain the token. Connections from
 * other users are closed before a request is read (peer.h).
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
	_Atomic bool is_taken; /* .ticket has been used */
};

/* Parts of a request; borrowed, NULL if missing. */
struct tap_access_request {
	const char *method, *path;
	const char *in_address; /* the query's token */
	/* its headers Host, Origin, Sec-Fetch-Site and X-Token */
	const char *host, *origin, *fetch_site, *token;
};

/* Return: 0; -errno with a sentence. */
int tap_access_init(struct tap_access *a, uint16_t port, struct tap_err *err);
/*
 * Check a request; may be called by several threads. Return: HTTP status of the answer: 200:
 * allowed; 303: redirect to the address with the token; otherwise refused, with a sentence.
 */
unsigned int tap_access_check(struct tap_access *a, const struct tap_access_request *q,
			      struct tap_err *err);

#endif
