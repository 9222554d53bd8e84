// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "base/array.h"
#include "analysis/explain/explain.h"
#include "analysis/library/handle.h"

struct tap_long_waits {
	struct tap_explain_waits waits; /* must be first: .ops get it as ctx */
	struct tap_watcher_ops ops; /* those of .waits, but with another .end */
	struct tap_explain sums;
	struct tap_long_wait *results; /* owned, and so are its strings */
	unsigned int nr_results;
};

/* ---- results: copies, because tasks do not outlive the run ---- */

static int longest_first(const void *a, const void *b)
{
	const struct tap_wait_reason *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

/* Return: the text, owned by the caller; NULL when out of memory. Releases @b. */
static char *take_text(struct tap_buf *b)
{
	char *text = b->err ? NULL : strdup(tap_buf_str(b));

	tap_buf_release(b);
	return text;
}

/* Format a reason: "cc1plus [4410] ran". Return: owned by the caller; NULL when out of memory. */
static char *reason_text(const struct tap_piece *piece)
{
	struct tap_buf b = { 0 };

	if (piece->task)
		tap_task_add_label(&b, piece->task);
	tap_buf_puts(&b, tap_piece_text(piece->kind));
	return take_text(&b);
}

/* Return: owned by the caller; NULL when out of memory. */
static char *name_of(const struct tap_task *task)
{
	struct tap_buf b = { 0 };
	size_t len;
	const char *comm = tap_task_comm(task, &len);

	if (len)
		tap_text_escape(&b, comm, len);
	else
		tap_buf_puts(&b, "<...>");
	return take_text(&b);
}

static int copy_reasons(struct tap_long_wait *to, const struct tap_explained_wait *w)
{
	struct tap_wait_reason *reasons = calloc(w->nr_pieces + 1, sizeof(*reasons));

	if (!reasons)
		return -ENOMEM;
	to->reasons = reasons;
	for (; to->nr_reasons < w->nr_pieces; to->nr_reasons++) {
		const struct tap_piece *piece = &w->pieces[to->nr_reasons];
		struct tap_wait_reason *reason = &reasons[to->nr_reasons];

		*reason = (struct tap_wait_reason){ reason_text(piece), piece->ns };
		if (!reason->text)
			return -ENOMEM;
	}
	qsort(reasons, to->nr_reasons, sizeof(*reasons), longest_first);
	return 0;
}

/* Return: owned by the caller; NULL when out of memory. */
static char *text_of(const struct tap_long_wait *w)
{
	struct tap_buf b = { 0 };

	for (unsigned int i = 0; i < w->nr_reasons; i++) {
		const struct tap_wait_reason *r = &w->reasons[i];

		tap_buf_printf(&b, "%s%ju.%03u ms ", i ? ", " : "", (uintmax_t)(r->ns / 1000000),
			       (unsigned int)(r->ns / 1000 % 1000));
		tap_buf_puts(&b, r->text);
	}
	return take_text(&b);
}

static int copy_wait(struct tap_long_wait *to, const struct tap_explained_wait *w)
{
	*to = (struct tap_long_wait){
		.tid = w->task->tid,
		.name = name_of(w->task),
		.state = w->state,
		.cpu = w->cpu,
		.from_ns = w->from_ns,
		.to_ns = w->to_ns,
		.whole = w->whole,
		.verdict = tap_verdict_name(w->verdict),
	};
	if (!to->name || copy_reasons(to, w))
		return -ENOMEM;
	to->text = text_of(to);
	return to->text ? 0 : -ENOMEM;
}

static void release_wait(struct tap_long_wait *w)
{
	for (unsigned int i = 0; i < w->nr_reasons; i++)
		free((char *)w->reasons[i].text);
	free((struct tap_wait_reason *)w->reasons);
	free((char *)w->name);
	free((char *)w->text);
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	struct tap_long_waits *h = ctx;
	int ret = 0;

	(void)t;
	h->results = calloc(h->sums.nr_worst + 1, sizeof(*h->results));
	if (!h->results)
		return -ENOMEM;
	while (!ret && h->nr_results < h->sums.nr_worst) {
		ret = copy_wait(&h->results[h->nr_results], &h->sums.worst[h->nr_results]);
		h->nr_results++;
	}
	return ret;
}

/* ---- run ---- */

/* Explain each wait of a selected task, if it ended on a selected CPU. */
static int on_wait(void *ctx, const struct tap_wait_told *w)
{
	struct tap_long_waits *h = ctx;

	if (!w->task->selected || !tap_timeline_selects_cpu(h->waits.timeline, w->cpu))
		return 0;
	return tap_explain_wait(&h->sums, &h->waits, w);
}

/* ---- public ---- */

#define MAX_WAITS 10000u

static int init_handle(struct tap_long_waits *h, unsigned int nr)
{
	tap_explain_waits_init(&h->waits, &(const struct tap_explain_waits_opts){
						  .asks_avoidable = true,
						  .tell = on_wait,
						  .ctx = h,
					  });
	h->ops = tap_explain_waits_ops;
	h->ops.size = sizeof(h->ops);
	h->ops.end = on_end;
	return tap_explain_init(&h->sums, nr);
}

struct tap_long_waits *tap_long_waits_new(unsigned int nr, struct tap_err *err)
{
	struct tap_long_waits *h;

	if (!nr || nr > MAX_WAITS) {
		tap_err_set(err, -EINVAL, "the number of waits to keep must be 1 to %u, not %u",
			    MAX_WAITS, nr);
		return NULL;
	}
	h = tap_handle_new(sizeof(*h), err);
	if (!h || !init_handle(h, nr))
		return h;
	tap_long_waits_free(h);
	tap_err_nomem(err);
	return NULL;
}

void tap_long_waits_free(struct tap_long_waits *h)
{
	if (!h)
		return;
	for (unsigned int i = 0; i < h->nr_results; i++)
		release_wait(&h->results[i]);
	free(h->results);
	tap_explain_release(&h->sums);
	tap_explain_waits_release(&h->waits);
	free(h);
}

struct tap_watcher tap_long_waits_watcher(struct tap_long_waits *h)
{
	return (struct tap_watcher){ .ops = h ? &h->ops : NULL, .ctx = h };
}

const struct tap_long_wait *tap_long_waits_get(const struct tap_long_waits *h, unsigned int i)
{
	return i < h->nr_results ? &h->results[i] : NULL;
}
