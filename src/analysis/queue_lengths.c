// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/queue_lengths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Return: NULL when out of memory. */
static struct tap_queue_length *cpu_get(struct tap_queue_lengths *q, unsigned int cpu)
{
	static const struct tap_queue_length fresh = { .length = TAP_HIST_INIT, .now = -1 };

	return tap_array_at(&q->cpus, &q->nr_cpus, cpu, sizeof(fresh), &fresh);
}

/* ---- the number of CPUs with each length; at any time there are few lengths ---- */

/* Return the index of the first length that is not smaller than @length. */
static unsigned int find_count(const struct tap_queue_lengths *q, int64_t length)
{
	unsigned int i = 0;

	while (i < q->nr_counts && q->counts[i].length < length)
		i++;
	return i;
}

static int count_one(struct tap_queue_lengths *q, int64_t length)
{
	unsigned int i = find_count(q, length);
	struct tap_length_count *c;

	if (i == q->nr_counts || q->counts[i].length != length) {
		if (tap_array_grow(&q->counts, q->nr_counts, &q->cap_counts, sizeof(*c)))
			return -ENOMEM;
		c = &q->counts[i];
		memmove(c + 1, c, (q->nr_counts++ - i) * sizeof(*c));
		*c = (struct tap_length_count){ .length = length };
	}
	q->counts[i].nr++;
	q->nr_known++;
	return 0;
}

static void uncount_one(struct tap_queue_lengths *q, int64_t length)
{
	unsigned int i = find_count(q, length);
	struct tap_length_count *c = &q->counts[i];

	q->nr_known--;
	if (!--c->nr)
		memmove(c, c + 1, (--q->nr_counts - i) * sizeof(*c));
}

static int set_now(struct tap_queue_lengths *q, struct tap_queue_length *c, int64_t length)
{
	if (c->now == length)
		return 0;
	if (c->now >= 0)
		uncount_one(q, c->now);
	c->now = length;
	return length >= 0 ? count_one(q, length) : 0;
}

/* ---- updates of lengths ---- */

int tap_queue_lengths_see(struct tap_queue_lengths *q, unsigned int cpu)
{
	struct tap_queue_length *c = cpu_get(q, cpu);

	if (!c || (!c->seen && tap_cpu_order_set(&q->idled, cpu, 0)))
		return -ENOMEM;
	c->seen = true;
	return 0;
}

int tap_queue_lengths_set(struct tap_queue_lengths *q, unsigned int cpu, uint64_t ns,
			  int64_t length)
{
	struct tap_queue_length *c = cpu_get(q, cpu);

	return !c || set_now(q, c, length) ? -ENOMEM : tap_length_log_set(&c->log, ns, length);
}

int tap_queue_lengths_set_imbalance(struct tap_queue_lengths *q, uint64_t ns)
{
	int64_t imbalance =
		q->nr_known < 2 ? -1 : q->counts[q->nr_counts - 1].length - q->counts[0].length;

	return tap_length_log_set(&q->imbalance_log, ns, imbalance);
}

int tap_queue_lengths_doubt(struct tap_queue_lengths *q, unsigned int cpu, uint64_t from_ns,
			    uint64_t now_ns)
{
	struct tap_queue_length *c = cpu_get(q, cpu);
	uint64_t idled_ns = tap_cpu_order_ns(&q->idled, cpu);

	if (!c)
		return -ENOMEM;
	if (from_ns < idled_ns)
		from_ns = idled_ns;
	return tap_length_log_doubt(&c->log, from_ns, now_ns)
		       ?: tap_length_log_doubt(&q->imbalance_log, from_ns, now_ns);
}

/* Make lengths before @ns final, and the imbalance before @all_ns. */
static int commit_lengths(struct tap_queue_lengths *q, struct tap_queue_length *c, uint64_t ns,
			  uint64_t all_ns)
{
	return tap_length_log_commit(&c->log, &c->length, ns)
		       ?: tap_length_log_commit(&q->imbalance_log, &q->imbalance, all_ns);
}

int tap_queue_lengths_idle(struct tap_queue_lengths *q, unsigned int cpu, uint64_t now_ns)
{
	struct tap_queue_length *c = cpu_get(q, cpu);

	if (!c || tap_cpu_order_set(&q->idled, cpu, now_ns))
		return -ENOMEM;
	return commit_lengths(q, c, now_ns, tap_cpu_order_oldest_ns(&q->idled));
}

int tap_queue_lengths_commit(struct tap_queue_lengths *q, unsigned int cpu, uint64_t ns)
{
	struct tap_queue_length *c = cpu_get(q, cpu);

	return c ? commit_lengths(q, c, ns, ns) : -ENOMEM;
}

int tap_queue_lengths_end(struct tap_queue_lengths *q, uint64_t end_ns)
{
	int ret = 0;

	for (unsigned int i = 0; i < q->nr_cpus && !ret; i++)
		ret = tap_length_log_commit(&q->cpus[i].log, &q->cpus[i].length, end_ns);
	return ret ? ret : tap_length_log_commit(&q->imbalance_log, &q->imbalance, end_ns);
}

void tap_queue_lengths_release(struct tap_queue_lengths *q)
{
	for (unsigned int i = 0; i < q->nr_cpus; i++) {
		tap_hist_release(&q->cpus[i].length);
		tap_length_log_release(&q->cpus[i].log);
	}
	tap_hist_release(&q->imbalance);
	tap_length_log_release(&q->imbalance_log);
	tap_cpu_order_release(&q->idled);
	free(q->cpus);
	free(q->counts);
}
