// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/length_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define MAX_OLDER 64u

void tap_length_log_release(struct tap_length_log *log)
{
	for (unsigned int i = 0; i < log->nr_older; i++)
		tap_hist_release(&log->older[i].known);
	free(log->older);
	free(log->steps);
}

static void drop_steps(struct tap_length_log *log, unsigned int nr)
{
	log->nr -= nr;
	log->head = 0;
	memmove(log->steps, log->steps + nr, log->nr * sizeof(*log->steps));
}

static int count_length(struct tap_hist *h, const struct tap_length_step *s, uint64_t to_ns)
{
	return s->length < 0 ? 0
			     : tap_hist_add_weighted(h, (uint64_t)s->length, to_ns - s->since_ns);
}

/*
 * Merge neighbours in the older half of .older, because lengths from long ago are rarely revised.
 * Return: 0 or -ENOMEM.
 */
static int thin_older(struct tap_length_log *log)
{
	unsigned int to = 0;
	int ret = 0;

	for (unsigned int i = 0; i < MAX_OLDER; i++) {
		log->older[to] = log->older[i];
		if (i < MAX_OLDER / 2) {
			struct tap_hist *next = &log->older[++i].known;

			ret = tap_hist_merge(&log->older[to].known, next) ?: ret;
			tap_hist_release(next);
		}
		to++;
	}
	log->nr_older = to;
	return ret;
}

/* Merge the older half of the steps into one histogram. Return: 0 or -ENOMEM. */
static int make_older(struct tap_length_log *log)
{
	const struct tap_length_step *s = log->steps + log->head;
	unsigned int half = (log->nr - log->head) / 2;
	struct tap_length_while *w;
	int ret = 0;

	if (!log->older)
		log->older = calloc(MAX_OLDER, sizeof(*log->older));
	if (!log->older || (log->nr_older == MAX_OLDER && thin_older(log)))
		return -ENOMEM;
	w = &log->older[log->nr_older++];
	*w = (struct tap_length_while){ s->since_ns, TAP_HIST_INIT };
	for (unsigned int i = 0; i < half && !ret; i++)
		ret = count_length(&w->known, &s[i], s[i + 1].since_ns);
	drop_steps(log, log->head + half);
	return ret;
}

/* Return: 0 or -ENOMEM. */
static int push_step(struct tap_length_log *log, uint64_t ns, int64_t length)
{
	int ret = 0;

	if (log->nr == log->cap && log->head)
		drop_steps(log, log->head);
	if (log->nr == TAP_LENGTH_LOG_STEPS)
		ret = make_older(log);
	if (ret || tap_array_grow(&log->steps, log->nr, &log->cap, sizeof(*log->steps)))
		return -ENOMEM;
	log->steps[log->nr++] = (struct tap_length_step){ ns, length };
	return 0;
}

int tap_length_log_set(struct tap_length_log *log, uint64_t ns, int64_t length)
{
	struct tap_length_step *last = log->nr > log->head ? &log->steps[log->nr - 1] : NULL;

	if (!last || last->since_ns < ns)
		return last && last->length == length ? 0 : push_step(log, ns, length);
	last->length = length;
	return 0;
}

/*
 * Drop histograms that contain @from_ns or later. Return the time from which lengths are now
 * unknown, which may be before @from_ns.
 */
static uint64_t doubt_older(struct tap_length_log *log, uint64_t from_ns)
{
	uint64_t since_ns = log->steps[log->head].since_ns;

	while (log->nr_older && from_ns < since_ns) {
		struct tap_length_while *last = &log->older[--log->nr_older];

		since_ns = last->from_ns;
		tap_hist_release(&last->known);
	}
	return since_ns;
}

int tap_length_log_doubt(struct tap_length_log *log, uint64_t from_ns, uint64_t now_ns)
{
	int64_t length;

	if (log->nr == log->head)
		return 0;
	length = log->steps[log->nr - 1].length;
	if (from_ns < log->steps[log->head].since_ns)
		from_ns = doubt_older(log, from_ns);
	while (log->nr > log->head && log->steps[log->nr - 1].since_ns >= from_ns)
		log->nr--;
	return push_step(log, from_ns, -1) ?: tap_length_log_set(log, now_ns, length);
}

/* Add the histograms that end by @ns to @h. */
static int commit_older(struct tap_length_log *log, struct tap_hist *h, uint64_t ns)
{
	unsigned int nr = 0;
	int ret = 0;

	for (; nr < log->nr_older && !ret; nr++) {
		if ((nr + 1 < log->nr_older ? log->older[nr + 1].from_ns
					    : log->steps[log->head].since_ns) > ns)
			break;
		ret = tap_hist_merge(h, &log->older[nr].known);
		tap_hist_release(&log->older[nr].known);
	}
	log->nr_older -= nr;
	if (nr)
		memmove(log->older, log->older + nr, log->nr_older * sizeof(*log->older));
	return ret;
}

int tap_length_log_commit(struct tap_length_log *log, struct tap_hist *h, uint64_t ns)
{
	struct tap_length_step *s, *end;
	int ret = commit_older(log, h, ns);

	if (ret || !log->nr)
		return ret;
	s = log->steps + log->head;
	end = log->steps + log->nr;
	for (; !ret && s + 1 < end && s[1].since_ns <= ns; s++)
		ret = count_length(h, s, s[1].since_ns);
	log->head = (unsigned int)(s - log->steps);
	if (ret || s >= end || s->since_ns >= ns)
		return ret;
	ret = count_length(h, s, ns);
	s->since_ns = ns;
	return ret;
}
