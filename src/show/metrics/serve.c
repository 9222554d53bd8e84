// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/metrics/serve.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "event/select/mount.h"
#include "record/tally/tally.h"
#include "show/http/http.h"
#include "show/http/listen.h"
#include "show/metrics/accept.h"
#include "show/metrics/metrics.h"
#include "show/metrics/throttled.h"

#define MAX_CONNECTIONS 32u
#define IDLE_S 2u /* a client that asks nothing may not keep others out for longer */
/* A client with some traffic may not keep others out for longer, either. */
#define REQUEST_S 5u
#define ANSWER_S 60u
#define SAME_NS 100000000u /* all who ask within this time get the same numbers */
/* Names of cgroups that live shorter than this may not be found. */
#define READ_EVERY_MS 1000
/*
 * The overhead is measured this long, this often: the kernel's statistics, which it takes, slow
 * down all BPF programs.
 */
#define SAMPLE_NS 20000000u
#define SAMPLE_EVERY_NS 60000000000u
#define TEXT "text/plain; charset=utf-8"
#define NR_FORMATS (TAP_METRICS_PROTOBUF + 1)

/* An answer in a format. It is sent from where it is: it may have megabytes. */
struct answered {
	struct tap_buf body; /* the first member */
	uint64_t at_ns; /* 0: nothing */
	unsigned int users; /* requests to which it is sent, and one as the last answer */
	struct tap_serve *serve;
};

struct tap_serve {
	const struct tap_serve_opts *opts;
	struct tap_http_ops http_ops;
	struct tap_http *http;
	struct tap_listening listening;
	char address[160];
	char cgroups[PATH_MAX]; /* where they are mounted; "" if they are not */
	pthread_mutex_t lock; /* of all below */
	struct tap_tally *tally;
	struct tap_totals totals;
	struct tap_metrics_own own;
	struct answered *last[NR_FORMATS]; /* NULL: none */
	uint64_t read_ns; /* when the tally was read */
	uint64_t sampled_ns, ns_per_switch; /* when the overhead was measured, and the result */
};

/* ---- numbers ---- */

static int read_tally(struct tap_serve *s, struct tap_err *err)
{
	uint64_t switches = s->totals.switches;
	struct tap_tally_view view;
	int ret = tap_tally_read(s->tally, &view, err);

	if (ret)
		return ret;
	s->read_ns = view.to_ns;
	s->own.from_waking = view.from_waking;
	s->own.lost = view.missed;
	s->own.folded = view.no_free_slot;
	ret = tap_totals_add(&s->totals, &view);
	s->own.probe_ns += s->ns_per_switch * (s->totals.switches - switches);
	return ret ? tap_err_nomem(err) : 0;
}

static int write_all(struct tap_serve *s, struct answered *a, enum tap_metrics_format format,
		     struct tap_err *err)
{
	struct tap_metrics_writer w;
	int ret = read_tally(s, err);

	if (!ret && (tap_throttled_read(&s->totals, s->cgroups) ||
		     tap_totals_prepare(&s->totals, s->read_ns)))
		ret = tap_err_nomem(err);
	if (ret)
		return ret;
	s->own.cpu_ns = tap_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	tap_buf_clear(&a->body);
	tap_metrics_writer_init(&w, format, &a->body);
	tap_metrics_write(&w, &s->totals, &s->own, s->opts->max_series);
	ret = a->body.err ?: w.labels.err ?: w.value.err;
	tap_metrics_writer_release(&w);
	if (ret)
		return tap_err_nomem(err);
	a->at_ns = s->read_ns;
	return 0;
}

/* The lock is held. @a: or NULL. */
static void put(struct answered *a)
{
	if (!a || --a->users)
		return;
	tap_buf_release(&a->body);
	free(a);
}

static void sent(void *body)
{
	struct answered *a = body;
	struct tap_serve *s = a->serve;

	pthread_mutex_lock(&s->lock);
	put(a);
	pthread_mutex_unlock(&s->lock);
}

/* Return: the last answer, empty, or another one while that is sent; NULL: out of memory. */
static struct answered *renew(struct tap_serve *s, enum tap_metrics_format format)
{
	struct answered *a = s->last[format];

	if (!a || a->users > 1) {
		put(a);
		a = s->last[format] = calloc(1, sizeof(*a));
	}
	if (a)
		*a = (struct answered){ .body = a->body, .users = 1, .serve = s };
	return a;
}

static int get(struct tap_serve *s, enum tap_metrics_format format, struct tap_http_answer *to,
	       struct tap_err *err)
{
	struct answered *a;
	int ret = 0;

	pthread_mutex_lock(&s->lock);
	a = s->last[format];
	if (!a || !a->at_ns || tap_now_ns() - a->at_ns >= SAME_NS) {
		a = renew(s, format);
		ret = a ? write_all(s, a, format, err) : tap_err_nomem(err);
	}
	if (!ret) {
		a->users++;
		to->shared = &a->body;
		to->release = sent;
	}
	pthread_mutex_unlock(&s->lock);
	return ret;
}

/* ---- answers ---- */

static void answer_text(struct tap_http_answer *a, unsigned int status, const char *text)
{
	tap_buf_clear(&a->body);
	tap_text_escape(&a->body, text, strlen(text));
	tap_buf_char(&a->body, '\n');
	a->type = TEXT;
	a->status = status;
}

static void answer(void *ctx, const struct tap_http_request *q, struct tap_http_answer *a)
{
	enum tap_metrics_format format = tap_metrics_accepted(tap_http_header(q, "Accept"));
	const char *method = tap_http_method(q), *path = tap_http_path(q);
	struct tap_err err = { 0 };

	if (strcmp(method, "GET") && strcmp(method, "HEAD")) {
		answer_text(a, 405, "schedtap serve answers GET and HEAD");
	} else if (!strcmp(path, "/")) {
		answer_text(a, 200, "schedtap " TAP_VERSION ": the metrics are at /metrics");
	} else if (strcmp(path, "/metrics")) {
		answer_text(a, 404, "the metrics are at /metrics");
	} else if (get(ctx, format, a, &err)) {
		answer_text(a, 500, err.text);
	} else {
		a->type = tap_metrics_content_type(format);
		a->status = 200;
	}
}

/* ---- lifetime ---- */

static void name_address(struct tap_serve *s)
{
	const char *address = s->opts->address, *colon = strrchr(address, ':');

	if (s->listening.path)
		snprintf(s->address, sizeof(s->address), "%s", address);
	else
		snprintf(s->address, sizeof(s->address), "http://%.*s:%u/metrics",
			 (int)(colon - address), address, s->listening.port);
}

static int start(struct tap_serve *s, struct tap_err *err)
{
	int fd = s->listening.fd;

	s->listening.fd = -1;
	return tap_http_start(s->http, fd, err);
}

int tap_serve_open(struct tap_serve **out, const struct tap_serve_opts *opts, struct tap_err *err)
{
	const struct tap_tally_opts tally = { .max_cgroups = opts->max_cgroups,
					      .from_waking = opts->from_waking };
	struct tap_serve *s = calloc(1, sizeof(*s));
	int ret;

	*out = s;
	if (!s)
		return tap_err_nomem(err);
	pthread_mutex_init(&s->lock, NULL);
	s->opts = opts;
	s->listening.fd = -1;
	s->totals.depth = opts->depth;
	s->totals.glob = opts->glob;
	s->own.start_ns = (int64_t)tap_clock_ns(CLOCK_REALTIME);
	s->http_ops = (struct tap_http_ops){
		.answer = answer,
		.methods = "GET, HEAD",
		.max_connections = MAX_CONNECTIONS,
		.idle_s = IDLE_S,
		.request_s = REQUEST_S,
		.answer_s = ANSWER_S,
		.ctx = s,
	};
	ret = tap_http_open(&s->http, &s->http_ops, err);
	ret = ret ?: tap_listen(&s->listening, opts->address, err);
	ret = ret ?: tap_tally_open(&s->tally, &tally, err);
	if (ret)
		return ret;
	if (!tap_cgroup_mount(s->cgroups, sizeof(s->cgroups)))
		s->cgroups[0] = '\0';
	s->read_ns = tap_now_ns();
	name_address(s);
	return start(s, err);
}

const char *tap_serve_address(const struct tap_serve *s)
{
	return s->address;
}

static int tick(struct tap_serve *s, struct tap_err *err)
{
	uint64_t now_ns = tap_now_ns();
	int64_t ns;
	int ret = 0;

	tap_http_end_slow(s->http);
	pthread_mutex_lock(&s->lock);
	if (!s->sampled_ns || now_ns - s->sampled_ns >= SAMPLE_EVERY_NS) {
		ns = tap_tally_overhead(s->tally, SAMPLE_NS, NULL);
		s->ns_per_switch = ns > 0 ? (uint64_t)ns : s->ns_per_switch;
		s->own.has_probe_ns |= ns > 0;
		s->sampled_ns = now_ns;
	}
	if (now_ns - s->read_ns >= READ_EVERY_MS * 1000000ull / 2)
		ret = read_tally(s, err);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

int tap_serve_run(struct tap_serve *s, int fd, struct tap_err *err)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int ret = 0;

	while (!ret && poll(&p, 1, READ_EVERY_MS) <= 0)
		ret = tick(s, err);
	return ret;
}

void tap_serve_reload(struct tap_serve *s)
{
	pthread_mutex_lock(&s->lock);
	tap_totals_find_containers(&s->totals);
	pthread_mutex_unlock(&s->lock);
}

void tap_serve_close(struct tap_serve *s)
{
	if (!s)
		return;
	tap_http_free(s->http);
	if (s->listening.fd >= 0)
		close(s->listening.fd);
	tap_listen_end(&s->listening);
	tap_tally_close(s->tally);
	tap_totals_release(&s->totals);
	for (unsigned int i = 0; i < NR_FORMATS; i++)
		put(s->last[i]);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
