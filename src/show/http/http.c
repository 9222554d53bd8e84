// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/http/http.h"

#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

#define LIBRARY "libmicrohttpd.so.12"
#define FUNCTIONS(f)                                                                               \
	f(start_daemon) f(stop_daemon) f(lookup_connection_value) f(get_connection_info)           \
		f(create_response_from_buffer) f(create_response_from_callback)                    \
			f(create_response_from_buffer_with_free_callback_cls)                      \
				f(add_response_header) f(queue_response) f(destroy_response)

#define POINTER(name) typeof(&MHD_##name) name;
struct functions {
	FUNCTIONS(POINTER)
};

struct connection {
	int socket;
	uint64_t end_ns; /* CLOCK_MONOTONIC: when the request or the answer must be complete */
	struct connection *next;
};

struct tap_http {
	const struct tap_http_ops *ops;
	void *library;
	struct functions f;
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock; /* of .connections and of what is in them */
	struct connection *connections; /* with .request_s or .answer_s */
};

struct tap_http_request {
	const struct tap_http *http;
	struct MHD_Connection *connection;
	const char *method, *path;
};

#ifdef TAP_STATIC
static int load_library(struct tap_http *h, struct tap_err *err)
{
	(void)h;
	return tap_err_set(err, -EOPNOTSUPP,
			   "a statically linked schedtap cannot answer HTTP requests, because it "
			   "cannot load " LIBRARY);
}
#else
static int load_library(struct tap_http *h, struct tap_err *err)
{
	bool has_all = true;

	h->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!h->library)
		return tap_err_set(err, -EOPNOTSUPP,
				   "cannot answer HTTP requests without " LIBRARY
				   ": install it (Debian: libmicrohttpd12)");
#define FIND(name) has_all &= !!(h->f.name = (typeof(&MHD_##name))dlsym(h->library, "MHD_" #name));
	FUNCTIONS(FIND)
	return has_all ? 0
		       : tap_err_set(err, -EOPNOTSUPP,
				     "the " LIBRARY " of this machine lacks functions");
}
#endif

int tap_http_open(struct tap_http **out, const struct tap_http_ops *ops, struct tap_err *err)
{
	struct tap_http *h = calloc(1, sizeof(*h));

	*out = h;
	if (!h)
		return tap_err_nomem(err);
	pthread_mutex_init(&h->lock, NULL);
	h->ops = ops;
	return load_library(h, err);
}

const char *tap_http_method(const struct tap_http_request *q)
{
	return q->method;
}

const char *tap_http_path(const struct tap_http_request *q)
{
	return q->path;
}

const char *tap_http_header(const struct tap_http_request *q, const char *name)
{
	return q->http->f.lookup_connection_value(q->connection, MHD_HEADER_KIND, name);
}

const char *tap_http_query(const struct tap_http_request *q, const char *name)
{
	return q->http->f.lookup_connection_value(q->connection, MHD_GET_ARGUMENT_KIND, name);
}

static int socket_of(const struct tap_http *h, struct MHD_Connection *c)
{
	return h->f.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

bool tap_http_is_gone(void *q)
{
	const struct tap_http_request *request = q;
	struct pollfd p = { .fd = socket_of(request->http, request->connection),
			    .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0;
}

/* ---- slow clients ---- */

static uint64_t end_after(unsigned int s)
{
	return s ? tap_now_ns() + s * 1000000000ull : UINT64_MAX;
}

static void note_connection(struct tap_http *h, int socket, void **context)
{
	struct connection *c = malloc(sizeof(*c));

	if (!c)
		return; /* it has only the limit of a connection without traffic */
	*c = (struct connection){ socket, end_after(h->ops->request_s), h->connections };
	h->connections = c;
	*context = c;
}

static void forget_connection(struct tap_http *h, struct connection *c)
{
	struct connection **at = &h->connections;

	while (*at && *at != c)
		at = &(*at)->next;
	if (*at)
		*at = c->next;
	free(c);
}

/* The library closes the socket after this call, so no socket in .connections is closed. */
static void on_connection(void *http, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	struct tap_http *h = http;

	pthread_mutex_lock(&h->lock);
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		note_connection(h, socket_of(h, connection), context);
	else
		forget_connection(h, *context);
	pthread_mutex_unlock(&h->lock);
}

/* The request, or the answer, of a connection must be complete within @s seconds; 0: no limit. */
static void set_end(struct tap_http *h, struct MHD_Connection *connection, unsigned int s)
{
	struct connection *c =
		h->f.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
			->socket_context;

	pthread_mutex_lock(&h->lock);
	if (c)
		c->end_ns = end_after(s);
	pthread_mutex_unlock(&h->lock);
}

static void on_completed(void *http, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode why)
{
	struct tap_http *h = http;

	(void)state;
	(void)why;
	set_end(h, connection, h->ops->request_s);
}

void tap_http_end_slow(struct tap_http *h)
{
	uint64_t now_ns = tap_now_ns();

	pthread_mutex_lock(&h->lock);
	for (struct connection *c = h->connections; c; c = c->next)
		if (now_ns > c->end_ns)
			shutdown(c->socket, SHUT_RDWR);
	pthread_mutex_unlock(&h->lock);
}

/* ---- answers ---- */

/* State of an answer that stays open. */
struct held {
	const struct tap_http *http;
	int socket;
};

static ssize_t wait_for_end(void *arg, uint64_t at, char *data, size_t size)
{
	const struct held *held = arg;
	struct pollfd p = { .fd = held->socket, .events = POLLRDHUP };

	if (!at && size) { /* send a byte, so that the client sees the answer begin */
		*data = '\n';
		return 1;
	}
	/* stopping the daemon also shuts the socket down */
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	return MHD_CONTENT_READER_END_OF_STREAM;
}

static void release_held(void *arg)
{
	const struct held *held = arg;

	held->http->ops->held(held->http->ops->ctx, false);
	free(arg);
}

static struct MHD_Response *make_held(const struct tap_http_request *q)
{
	struct held *held = malloc(sizeof(*held));
	struct MHD_Response *r;

	if (!held)
		return NULL;
	*held = (struct held){ q->http, socket_of(q->http, q->connection) };
	r = q->http->f.create_response_from_callback(MHD_SIZE_UNKNOWN, 64, wait_for_end, held,
						     release_held);
	if (r)
		q->http->ops->held(q->http->ops->ctx, true);
	else
		free(held);
	return r;
}

static struct MHD_Response *make_shared(const struct tap_http *h, struct tap_http_answer *a)
{
	struct MHD_Response *r = h->f.create_response_from_buffer_with_free_callback_cls(
		a->shared->len, a->shared->data, a->release, (void *)a->shared);

	if (!r)
		a->release((void *)a->shared);
	return r;
}

/* Make the response. It takes @a's body. */
static struct MHD_Response *make_response(const struct tap_http_request *q,
					  struct tap_http_answer *a)
{
	struct MHD_Response *r =
		a->shared    ? make_shared(q->http, a)
		: a->is_held ? make_held(q)
			     : q->http->f.create_response_from_buffer(a->body.len, a->body.data,
								      MHD_RESPMEM_MUST_FREE);

	if (!r || a->is_held)
		tap_buf_release(&a->body);
	return r;
}

static enum MHD_Result add_headers(const struct tap_http *h, struct MHD_Response *r,
				   const struct tap_http_answer *a)
{
	const struct {
		const char *name, *value;
	} headers[] = {
		{ "Content-Type", a->type },
		{ "Location", a->location },
		{ "Allow", a->status == 405 ? h->ops->methods ?: "GET" : NULL },
		{ "Content-Security-Policy", h->ops->policy },
		{ "X-Content-Type-Options", "nosniff" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cache-Control", "no-store" },
		{ "X-Frame-Options", "DENY" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
	};
	enum MHD_Result ok = MHD_YES;

	for (size_t i = 0; ok && i < sizeof(headers) / sizeof(*headers); i++)
		if (headers[i].value)
			ok = h->f.add_response_header(r, headers[i].name, headers[i].value);
	return ok;
}

/* Return: MHD_NO: close the connection. */
static enum MHD_Result answer_request(void *http, struct MHD_Connection *connection,
				      const char *path, const char *method, const char *version,
				      const char *data, size_t *size, void **state)
{
	struct tap_http *h = http;
	const struct tap_http_request q = { h, connection, method, path };
	struct tap_http_answer a = { 0 };
	struct MHD_Response *r;
	enum MHD_Result ok;

	(void)version;
	(void)data;
	/*
	 * On the first call of a GET do not answer yet, or libmicrohttpd would close the
	 * connection. Ignore a GET's body.
	 */
	if (!strcmp(method, MHD_HTTP_METHOD_GET) && (!*state || *size)) {
		*state = connection;
		*size = 0;
		return MHD_YES;
	}
	set_end(h, connection, h->ops->answer_s);
	h->ops->answer(h->ops->ctx, &q, &a);
	r = make_response(&q, &a);
	if (!r)
		return MHD_NO;
	ok = add_headers(h, r, &a) ? h->f.queue_response(connection, a.status, r) : MHD_NO;
	h->f.destroy_response(r);
	return ok;
}

static enum MHD_Result accept_peer(void *http, const struct sockaddr *peer, socklen_t len)
{
	const struct tap_http_ops *ops = ((const struct tap_http *)http)->ops;

	return !ops->accepts || ops->accepts(ops->ctx, peer, len) ? MHD_YES : MHD_NO;
}

int tap_http_start(struct tap_http *h, int listening, struct tap_err *err)
{
	const unsigned int flags =
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL;

	h->daemon = h->f.start_daemon(
		flags, 0, accept_peer, h, answer_request, h, MHD_OPTION_LISTEN_SOCKET, listening,
		MHD_OPTION_CONNECTION_LIMIT, h->ops->max_connections, MHD_OPTION_CONNECTION_TIMEOUT,
		h->ops->idle_s, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, h, MHD_OPTION_END);
	if (h->daemon)
		return 0;
	close(listening);
	return tap_err_set(err, -EIO, "cannot answer HTTP requests: " LIBRARY " does not start");
}

void tap_http_free(struct tap_http *h)
{
	if (!h)
		return;
	if (h->daemon)
		h->f.stop_daemon(h->daemon);
	if (h->library)
		dlclose(h->library);
	pthread_mutex_destroy(&h->lock);
	free(h);
}
