/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A server of HTTP on 127.0.0.1, by libmicrohttpd. It is loaded when it is needed, so that the
 * program runs where it is not installed. Each connection has a thread: an answer that takes long
 * makes no other one wait.
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
	const char *type; /* of .body */
	struct tap_buf body;
	/* NULL, or where to ask in its place; borrowed until .answer has returned */
	const char *location;
	bool is_held; /* the answer never ends: the other side ends it */
};

struct tap_http_ops {
	/* Called by several threads. @a: empty. */
	void (*answer)(void *ctx, const struct tap_http_request *q, struct tap_http_answer *a);
	/* An answer that is held begins, or has ended. */
	void (*held)(void *ctx, bool begins);
	const char *policy; /* Content-Security-Policy of all answers */
	void *ctx;
};

/*
 * Takes the port, and does not answer yet. @port: 0: any that is free. @ops: borrowed until the
 * free. Return: 0; -EOPNOTSUPP: libmicrohttpd is not there; -EADDRINUSE; -errno; each with a
 * sentence.
 */
int tap_http_open(struct tap_http **out, uint16_t port, const struct tap_http_ops *ops,
		  struct tap_err *err);
uint16_t tap_http_port(const struct tap_http *h);
/* Signals are for the threads that have them now. Return: 0; -errno with a sentence. */
int tap_http_start(struct tap_http *h, struct tap_err *err);
/* Waits for what is being answered. */
void tap_http_free(struct tap_http *h);

const char *tap_http_method(const struct tap_http_request *q);
const char *tap_http_path(const struct tap_http_request *q);
/* NULL: it has none; "a=" and "a" are "". */
const char *tap_http_header(const struct tap_http_request *q, const char *name);
const char *tap_http_query(const struct tap_http_request *q, const char *name);
/* Whether who asked has gone. @q: a struct tap_http_request. */
bool tap_http_is_gone(void *q);

#endif
