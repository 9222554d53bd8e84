// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/text.h"
#include "base/thread.h"
#include "show/http/http.h"
#include "show/http/listen.h"
#include "show/view/access.h"
#include "show/view/page.h"
#include "show/view/parts.h"
#include "show/view/peer.h"
#include "show/view/reports.h"

#define CLOSED_MS 2000 /* a page that is reloaded reconnects within this time */
#define MAX_CONNECTIONS 64u /* a browser opens up to 6 connections per profile */
#define IDLE_S 30u
#define LAST_READ_MS 200 /* most time to wait for threads that are reading, at the end */
#define TEXT "text/plain; charset=utf-8"
/* In addition to the page's own policy, which names its script and its style. */
#define POLICY                                                                                     \
	"connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "             \
	"frame-ancestors 'none'"

struct tap_view {
	struct tap_http_ops ops;
	struct tap_http *http;
	struct tap_listening listening; /* .fd: -1: not open, or owned by .http */
	struct tap_access access;
	struct tap_parts parts;
	struct tap_buf html;
	struct tap_reports reports;
	pthread_t maker;
	bool has_maker;
	int changed; /* eventfd, written when .nr_pages or .was_opened has changed */
	_Atomic unsigned int nr_pages, nr_readers;
	_Atomic bool was_opened, is_ending;
	/* requests for .address are redirected to .page */
	char page[TAP_SECRET_CHARS + 16], address[TAP_SECRET_CHARS + 64];
};

/* ---- answers ---- */

/* Answer with an error sentence, escaped: it may contain names from the recording. */
static void answer_error(struct tap_http_answer *a, unsigned int status, const struct tap_err *err)
{
	tap_buf_clear(&a->body);
	tap_text_escape(&a->body, err->text, strlen(err->text));
	tap_buf_char(&a->body, '\n');
	a->type = TEXT;
	a->status = status;
}

static void finish_answer(struct tap_http_answer *a, const char *type, int ret,
			  const struct tap_err *err)
{
	const struct tap_err no_memory = { .text = "out of memory" };

	a->type = type;
	a->status = 200;
	if (ret)
		answer_error(a,
			     ret == -EINVAL			 ? 400
			     : ret == -ENOENT || ret == -ENODATA ? 404
			     : ret == -ECANCELED		 ? 503
								 : 500,
			     err);
	if (a->body.err)
		answer_error(a, 500, &no_memory);
}

static int begin_reading(struct tap_view *v, struct tap_err *err)
{
	v->nr_readers++;
	if (!v->is_ending)
		return 0;
	v->nr_readers--;
	return tap_err_set(err, -ECANCELED, "schedtap view is shutting down");
}

static void answer_page(struct tap_view *v, const struct tap_http_request *q,
			struct tap_http_answer *a)
{
	(void)q;
	/* restart the CLOSED_MS period for a page that is being reloaded */
	eventfd_write(v->changed, 1);
	tap_buf_add(&a->body, v->html.data, v->html.len);
	finish_answer(a, "text/html; charset=utf-8", 0, NULL);
}

static int get_part(struct tap_view *v, const struct tap_http_request *q, struct tap_buf *out,
		    struct tap_err *err)
{
	struct tap_part_query query;
	int ret = tap_part_query_parse(&query, tap_http_query(q, "from"), tap_http_query(q, "to"),
				       tap_http_query(q, "buckets"), tap_http_query(q, "tasks"),
				       tap_window_ns(&v->parts.run.window), err)
			  ?: begin_reading(v, err);

	if (ret)
		return ret;
	ret = tap_parts_get(&v->parts, &query, tap_http_is_gone, (void *)q, out, err);
	v->nr_readers--;
	return ret;
}

static void answer_part(struct tap_view *v, const struct tap_http_request *q,
			struct tap_http_answer *a)
{
	struct tap_err err = { 0 };
	int ret = get_part(v, q, &a->body, &err);

	finish_answer(a, "application/octet-stream", ret, &err);
}

static void answer_report(struct tap_view *v, const struct tap_http_request *q,
			  struct tap_http_answer *a)
{
	const char *name = strrchr(tap_http_path(q), '/') + 1;
	const struct tap_buf *json;
	struct tap_err err = { 0 };
	int ret = tap_reports_get(&v->reports, name, &json, &err);

	if (!ret)
		tap_buf_add(&a->body, json->data, json->len);
	finish_answer(a, "application/json", ret, &err);
}

static void answer_alive(struct tap_view *v, const struct tap_http_request *q,
			 struct tap_http_answer *a)
{
	(void)v;
	(void)q;
	*a = (struct tap_http_answer){ .status = 200, .type = TEXT, .is_held = true };
}

static const struct {
	const char *path;
	void (*answer)(struct tap_view *v, const struct tap_http_request *q,
		       struct tap_http_answer *a);
	bool is_folder;
} places[] = {
	{ "/", answer_page },
	{ "/part", answer_part },
	{ "/report/", answer_report, true },
	{ "/alive", answer_alive },
};

static void answer_allowed(struct tap_view *v, const struct tap_http_request *q,
			   struct tap_http_answer *a)
{
	const char *path = tap_http_path(q);
	struct tap_err err = { 0 };

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (places[i].is_folder ? strncmp(path, places[i].path, strlen(places[i].path))
					: strcmp(path, places[i].path))
			continue;
		places[i].answer(v, q, a);
		return;
	}
	tap_err_set(&err, -ENOENT, "schedtap view serves no page '%.100s'", path);
	answer_error(a, 404, &err);
}

static void answer_any(void *ctx, const struct tap_http_request *q, struct tap_http_answer *a)
{
	struct tap_view *v = ctx;
	const struct tap_access_request request = {
		.method = tap_http_method(q),
		.path = tap_http_path(q),
		.in_address = tap_http_query(q, "token"),
		.host = tap_http_header(q, "Host"),
		.origin = tap_http_header(q, "Origin"),
		.fetch_site = tap_http_header(q, "Sec-Fetch-Site"),
		.token = tap_http_header(q, "X-Token"),
	};
	struct tap_err err = { 0 };
	unsigned int status = tap_access_check(&v->access, &request, &err);

	if (status == 200) {
		answer_allowed(v, q, a);
		return;
	}
	answer_error(a, status, &err);
	a->location = status == 303 ? v->page : NULL;
}

static void on_held(void *ctx, bool begins)
{
	struct tap_view *v = ctx;

	if (begins)
		v->nr_pages++;
	else
		v->nr_pages--;
	v->was_opened = true;
	eventfd_write(v->changed, 1);
}

/* Other users cannot exhaust the connections. */
static bool accepts(void *ctx, const struct sockaddr *peer, socklen_t len)
{
	const struct tap_view *v = ctx;

	return tap_peer_is_ours(peer, len, v->listening.port);
}

/* ---- lifetime ---- */

static int take_port(struct tap_view *v, uint16_t port, struct tap_err *err)
{
	char address[32];
	int ret;

	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	ret = tap_listen(&v->listening, address, err);
	return ret == -EADDRINUSE
		       ? tap_err_set(err, ret,
				     "port %u is in use: leave out --port to use a free port", port)
		       : ret;
}

static int open_all(struct tap_view *v, const struct tap_input_opts *input, uint16_t port,
		    const struct tap_listener *listener, bool *usage, struct tap_err *err)
{
	int ret;

	*usage = false;
	v->changed = eventfd(0, EFD_CLOEXEC);
	if (v->changed < 0)
		return tap_err_set(err, -errno, "cannot serve the page: %m");
	ret = tap_http_open(&v->http, &v->ops, err) ?: take_port(v, port, err);
	ret = ret ?: tap_access_init(&v->access, v->listening.port, err);
	if (ret)
		return ret;
	snprintf(v->page, sizeof(v->page), "/?token=%s", v->access.token);
	snprintf(v->address, sizeof(v->address), "http://127.0.0.1:%u/?token=%s", v->access.port,
		 v->access.ticket);
	ret = tap_parts_open(&v->parts, input, listener, usage, err)
		      ?: tap_run_check_needs(&v->parts.run, TAP_NEEDS_SWITCHES, err);
	if (!ret)
		tap_view_page(&v->html, &v->parts);
	return ret || !v->html.err ? ret : tap_err_set(err, v->html.err, "out of memory");
}

int tap_view_open(struct tap_view **out, const struct tap_input_opts *input, uint16_t port,
		  const struct tap_listener *listener, bool *usage, struct tap_err *err)
{
	struct tap_view *v = calloc(1, sizeof(*v));

	*out = v;
	if (!v)
		return tap_err_nomem(err);
	v->listening.fd = -1;
	v->ops = (struct tap_http_ops){ .answer = answer_any,
					.held = on_held,
					.accepts = accepts,
					.policy = POLICY,
					.max_connections = MAX_CONNECTIONS,
					.idle_s = IDLE_S,
					.ctx = v };
	tap_reports_init(&v->reports, input);
	return open_all(v, input, port, listener, usage, err);
}

const char *tap_view_address(const struct tap_view *v)
{
	return v->address;
}

/* Thread: make the first part before reports, which would delay it. */
static void *make_parts_and_reports(void *arg)
{
	struct tap_view *v = arg;

	tap_parts_prepare(&v->parts);
	tap_reports_make(&v->reports);
	v->nr_readers--;
	return NULL;
}

int tap_view_start(struct tap_view *v, struct tap_err *err)
{
	int ret = tap_http_start(v->http, v->listening.fd, err);

	v->listening.fd = -1;
	if (ret)
		return ret;
	v->nr_readers++;
	ret = tap_thread_start(&v->maker, make_parts_and_reports, v);
	errno = -ret;
	v->has_maker = !ret;
	v->nr_readers -= !!ret;
	return ret ? tap_err_set(err, ret, "cannot start a thread: %m") : 0;
}

void tap_view_browse(const struct tap_view *v)
{
	char *argv[] = { "xdg-open", (char *)v->address, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid;

	if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
		return;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	/* it may become the browser, which our Ctrl-C must not end */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	/* on failure the user still has the printed address */
	posix_spawnp(&pid, argv[0], &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
}

void tap_view_wait(struct tap_view *v, int fd)
{
	struct pollfd p[] = { { .fd = fd, .events = POLLIN },
			      { .fd = v->changed, .events = POLLIN } };
	eventfd_t count;
	int nr;

	do {
		nr = poll(p, 2, v->was_opened && !v->nr_pages ? CLOSED_MS : -1);
		if (nr > 0 && p[1].revents)
			eventfd_read(v->changed, &count);
	} while ((nr > 0 && !p[0].revents) || (nr < 0 && errno == EINTR));
}

static bool wait_for_readers(const struct tap_view *v)
{
	for (unsigned int ms = 0; v->nr_readers && ms < LAST_READ_MS; ms++)
		usleep(1000);
	return !v->nr_readers;
}

bool tap_view_close(struct tap_view *v)
{
	if (!v)
		return true;
	v->is_ending = true;
	tap_reports_end(&v->reports);
	if (!wait_for_readers(v))
		return false;
	tap_http_free(v->http);
	if (v->has_maker)
		pthread_join(v->maker, NULL);
	tap_reports_release(&v->reports);
	tap_buf_release(&v->html);
	tap_parts_close(&v->parts);
	if (v->listening.fd >= 0)
		close(v->listening.fd);
	if (v->changed >= 0)
		close(v->changed);
	free(v);
	return true;
}
