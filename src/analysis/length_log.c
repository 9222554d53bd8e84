// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/length_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOG_MAX (1u << 20) /* steps of one log, 16 MiB */

static void drop(struct tap_length_log *log, unsigned int nr)
{
	log->nr -= nr;
	log->head = 0;
	memmove(log->steps, log->steps + nr, log->nr * sizeof(*log->steps));
}

/* Return: 0 or -ENOMEM. */
static int push(struct tap_length_log *log, uint64_t ns, int64_t length)
{
	unsigned int cap = log->cap ? log->cap * 2 : 64;
	struct tap_length_step *steps;

	if (log->nr == log->cap && log->head)
		drop(log, log->head);
	if (log->nr == LOG_MAX) /* what happened then is forgotten: it counts as not known */
		drop(log, LOG_MAX / 2);
	if (log->nr == log->cap) {
		steps = reallocarray(log->steps, cap, sizeof(*steps));
		if (!steps)
			return -ENOMEM;
		log->steps = steps;
		log->cap = cap;
	}
	log->steps[log->nr++] = (struct tap_length_step){ ns, length };
	return 0;
}

int tap_length_log_set(struct tap_length_log *log, uint64_t ns, int64_t length)
{
	struct tap_length_step *last = log->nr > log->head ? &log->steps[log->nr - 1] : NULL;

	if (!last || last->since_ns < ns)
		return last && last->length == length ? 0 : push(log, ns, length);
	last->length = length;
	return 0;
}

int tap_length_log_doubt(struct tap_length_log *log, uint64_t from_ns, uint64_t now_ns)
{
	int64_t length;
	int ret;

	if (log->nr == log->head)
		return 0;
	length = log->steps[log->nr - 1].length;
	if (from_ns < log->steps[log->head].since_ns)
		from_ns = log->steps[log->head].since_ns;
	while (log->nr > log->head && log->steps[log->nr - 1].since_ns >= from_ns)
		log->nr--;
	ret = push(log, from_ns, -1);
	return ret ? ret : tap_length_log_set(log, now_ns, length);
}

static int count_length(struct tap_hist *h, const struct tap_length_step *s, uint64_t to_ns)
{
	return s->length < 0 ? 0 : tap_hist_add_weighted(h, (uint64_t)s->length,
							 to_ns - s->since_ns);
}

int tap_length_log_commit(struct tap_length_log *log, struct tap_hist *h, uint64_t ns)
{
	struct tap_length_step *s = log->steps + log->head, *end = log->steps + log->nr;
	int ret = 0;

	for (; !ret && s + 1 < end && s[1].since_ns <= ns; s++)
		ret = count_length(h, s, s[1].since_ns);
	log->head = (unsigned int)(s - log->steps);
	if (ret || s >= end || s->since_ns >= ns)
		return ret;
	ret = count_length(h, s, ns);
	s->since_ns = ns;
	return ret;
}
