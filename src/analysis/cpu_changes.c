// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/cpu_changes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* The state of a CPU in its last reported change. */
struct tap_shown_cpu {
	enum tap_cpu_shows what;
	const struct tap_task *task;
};

/*
 * CPUs that were not seen stay unknown until they are seen: changes of other CPUs do not wait for
 * them.
 */
static int begin_changes(struct tap_cpu_changes *ch, const struct tap_timeline *t)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(t, &nr);

	ch->started = true;
	for (unsigned int i = 0; i < nr; i++)
		if (cpus[i].seen &&
		    tap_cpu_order_set(&ch->reported, i, tap_timeline_window(t).from_ns))
			return -ENOMEM;
	return 0;
}

static bool is_earlier(const struct tap_cpu_change *a, const struct tap_cpu_change *b)
{
	return a->ts_ns != b->ts_ns ? a->ts_ns < b->ts_ns : a->cpu < b->cpu;
}

static int heap_push(struct tap_cpu_changes *ch, const struct tap_cpu_change *c)
{
	unsigned int i = ch->nr, up;

	if (tap_array_grow(&ch->heap, ch->nr, &ch->cap, sizeof(*ch->heap)))
		return -ENOMEM;
	ch->nr++;
	for (; i && is_earlier(c, &ch->heap[up = (i - 1) / 2]); i = up)
		ch->heap[i] = ch->heap[up];
	ch->heap[i] = *c;
	return 0;
}

static struct tap_cpu_change heap_pop(struct tap_cpu_changes *ch)
{
	struct tap_cpu_change top = ch->heap[0], last = ch->heap[--ch->nr];
	unsigned int i = 0, down;

	while ((down = 2 * i + 1) < ch->nr) {
		if (down + 1 < ch->nr && is_earlier(&ch->heap[down + 1], &ch->heap[down]))
			down++;
		if (!is_earlier(&ch->heap[down], &last))
			break;
		ch->heap[i] = ch->heap[down];
		i = down;
	}
	ch->heap[i] = last;
	return top;
}

/* Report buffered changes before @safe_ns, unless the CPU shows the same already. */
static int report_until(struct tap_cpu_changes *ch, uint64_t safe_ns)
{
	int ret = 0;

	while (!ret && ch->nr && ch->heap[0].ts_ns < safe_ns) {
		struct tap_cpu_change c = heap_pop(ch);
		struct tap_shown_cpu *cpu = tap_array_at(&ch->shown, &ch->nr_shown,
							 (unsigned int)c.cpu, sizeof(*cpu), NULL);

		if (!cpu)
			return -ENOMEM;
		if (cpu->what == c.what && cpu->task == c.task)
			continue;
		cpu->what = c.what;
		cpu->task = c.task;
		ret = ch->change(ch->ctx, &c);
	}
	return ret;
}

static void set_shown(const struct tap_cpu_changes *ch, struct tap_cpu_change *c,
		      enum tap_cpu_what what, const struct tap_task *task)
{
	c->what = (enum tap_cpu_shows)what;
	if (what == TAP_CPU_RUN && !ch->wants(ch->ctx, task))
		c->what = TAP_CPU_SHOWS_OTHER;
	c->task = c->what == TAP_CPU_SHOWS_RUN ? task : NULL;
}

/*
 * Buffer a CPU's change. The CPU is known up to @ns. Then report the changes that need not wait any
 * longer.
 */
static int add_change(struct tap_cpu_changes *ch, const struct tap_cpu_change *change, uint64_t ns)
{
	if (change->ts_ns < ns && heap_push(ch, change))
		return -ENOMEM;
	if (tap_cpu_order_set(&ch->reported, (unsigned int)change->cpu, ns))
		return -ENOMEM;
	return report_until(ch, tap_cpu_order_oldest_ns(&ch->reported));
}

/* Report the CPU that buffered changes wait for as the timeline has it now, up to @now_ns. */
static int report_oldest(struct tap_cpu_changes *ch, const struct tap_timeline *t, uint64_t now_ns)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(t, &nr);
	struct tap_cpu_change c = {
		.ts_ns = tap_cpu_order_oldest_ns(&ch->reported),
		.cpu = tap_cpu_order_oldest(&ch->reported),
	};

	if (c.cpu < (int)nr)
		set_shown(ch, &c, tap_cpu_what(&cpus[c.cpu]), cpus[c.cpu].task);
	return add_change(ch, &c, now_ns);
}

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct tap_cpu_changes *ch = ctx;
	struct tap_cpu_change c = { .ts_ns = s->from_ns, .cpu = s->cpu };
	uint64_t reported_ns;
	int ret = ch->started ? 0 : begin_changes(ch, t);

	if (ret)
		return ret;
	reported_ns = tap_cpu_order_ns(&ch->reported, (unsigned int)s->cpu);
	if (c.ts_ns < reported_ns) /* its start was reported already */
		c.ts_ns = reported_ns;
	set_shown(ch, &c, s->what, s->task);
	ret = add_change(ch, &c, s->to_ns);
	while (!ret && ch->nr > TAP_CPU_CHANGES_MAX &&
	       tap_cpu_order_oldest_ns(&ch->reported) < s->to_ns)
		ret = report_oldest(ch, t, s->to_ns);
	return ret;
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	(void)t;
	return report_until(ctx, UINT64_MAX);
}

const struct tap_watcher_ops tap_cpu_changes_ops = { .cpu = on_cpu, .end = on_end };

void tap_cpu_changes_release(struct tap_cpu_changes *ch)
{
	tap_cpu_order_release(&ch->reported);
	free(ch->shown);
	free(ch->heap);
}

unsigned int tap_short_name(char name[TAP_SHORT_NAME_BYTES], uint64_t n)
{
	static const char chars[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	const unsigned int nr_letters = 52, nr_chars = 62;
	uint64_t nr_names = nr_letters * nr_chars; /* number of names of this length */
	unsigned int len = 2;

	for (; n >= nr_names; len++) {
		n -= nr_names;
		nr_names *= nr_chars;
	}
	name[0] = chars[n % nr_letters];
	n /= nr_letters;
	for (unsigned int i = 1; i < len; i++, n /= nr_chars)
		name[i] = chars[(n + nr_letters) % nr_chars]; /* digits first */
	name[len] = '\0';
	return len;
}
