/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HTTP server using libmicrohttpd. The library is loaded at run time, so that the program also runs
 * where it is not installed. Each connection has its own thread: a slow answer does not delay
 * others.
 */
#ifndef TAP_SHOW_HTTP_HTTP_H
#define TAP_SHOW_HTTP_HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/buf.h"

struct tap_http;
struct tap_http_request;

struct tap_http_answer {
	unsigned int status;
	const char *type; /* Content-Type of the body */
	struct tap_buf body;
	/* the body, if not NULL: used instead of .body, and read until .release was called */
	const struct tap_buf *shared;
	void (*release)(void *shared); /* with .shared, by any thread */
	/* Location header for a redirect, or NULL; borrowed until .answer has returned. */
	const char *location;
	bool is_held; /* the answer stays open until the client closes it */
};

struct tap_http_ops {
	/* Called by several threads. @a: all zero. */
	void (*answer)(void *ctx, const struct tap_http_request *q, struct tap_http_answer *a);
	/* Called when an answer with .is_held begins, and when it has ended. */
	void (*held)(void *ctx, bool begins);
	/*
	 * Return: false: close the connection. Called before anything is read, and before the
	 * connection counts against .max_connections. NULL: all may connect.
	 */
	bool (*accepts)(void *ctx, const struct sockaddr *peer, socklen_t len);
	const char *methods; /* that .answer accepts, for answers with status 405; NULL: GET */
	const char *policy; /* Content-Security-Policy header of all answers; or NULL */
	unsigned int max_connections;
	unsigned int idle_s; /* a connection without traffic is closed after so many seconds */
	/*
	 * A request, or an answer, that takes longer than so many seconds ends its connection at
	 * the next tap_http_end_slow(), whatever its traffic; 0: no limit.
	 */
	unsigned int request_s, answer_s;
	void *ctx;
};

/*
 * Load the library. @ops: borrowed until tap_http_free(). Return: 0; -EOPNOTSUPP with a sentence:
 * libmicrohttpd is not installed. Free it in either case.
 */
int tap_http_open(struct tap_http **out, const struct tap_http_ops *ops, struct tap_err *err);
/*
 * Begin to answer. @listening: a socket that listens; the server closes it, also on failure. The
 * server's threads inherit the caller's signal mask. Return: 0; -errno with a sentence.
 */
int tap_http_start(struct tap_http *h, int listening, struct tap_err *err);
/* Close connections whose request or answer takes too long. By any thread, after the start. */
void tap_http_end_slow(struct tap_http *h);
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
