/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HTTP server on 127.0.0.1, using libmicrohttpd. The library is loaded at run time, so that the
 * program also runs where it is not installed. Each connection has its own thread: a slow answer
 * does not delay others.
 */
#ifndef TAP_VIEW_HTTP_H
#define TAP_VIEW_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct tap_http;
struct tap_http_request;

struct tap_http_answer {
	unsigned int status;
	const char *type; /* Content-Type of .body */
	struct tap_buf body;
	/* Location header for a redirect, or NULL; borrowed until .answer has returned. */
	const char *location;
	bool is_held; /* the answer stays open until the client closes it */
};

struct tap_http_ops {
	/* Called by several threads. @a: all zero. */
	void (*answer)(void *ctx, const struct tap_http_request *q, struct tap_http_answer *a);
	/* Called when an answer with .is_held begins, and when it has ended. */
	void (*held)(void *ctx, bool begins);
	const char *policy; /* Content-Security-Policy header of all answers */
	void *ctx;
};

/*
 * Bind the port without answering yet. @port: 0: any free port. @ops: borrowed until
 * tap_http_free(). Return: 0; -EOPNOTSUPP: libmicrohttpd is not installed; -EADDRINUSE; -errno;
 * each with a sentence.
 */
int tap_http_open(struct tap_http **out, uint16_t port, const struct tap_http_ops *ops,
		  struct tap_err *err);
uint16_t tap_http_port(const struct tap_http *h);
/*
 * Begin to answer. The server's threads inherit the caller's signal mask. Return: 0; -errno with a
 * sentence.
 */
int tap_http_start(struct tap_http *h, struct tap_err *err);
/* Stop the server, after waiting for answers in progress. */
void tap_http_free(struct tap_http *h);

const char *tap_http_method(const struct tap_http_request *q);
const char *tap_http_path(const struct tap_http_request *q);
/* Return: NULL: not in the request; "" for "a=" and "a". */
const char *tap_http_header(const struct tap_http_request *q, const char *name);
const char *tap_http_query(const struct tap_http_request *q, const char *name);
/* Return true if the client has closed the connection. @q: a struct tap_http_request. */
bool tap_http_is_gone(void *q);

#endif
