// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/violations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int cpus_merge(struct tap_cpus *to, const struct tap_cpus *a, const struct tap_cpus *b)
{
	unsigned int words = a->nr_words < b->nr_words ? a->nr_words : b->nr_words;

	for (unsigned int i = 0; i < words; i++) {
		uint64_t both = a->bits[i] & b->bits[i];

		if (!both)
			continue;
		if (i >= to->nr_words &&
		    tap_cpus_add(to, i * 64 + (unsigned int)__builtin_ctzll(both)))
			return -ENOMEM;
		to->bits[i] |= both;
	}
	return 0;
}

/* Return a set whose intersection with @cpus is what the task may use of @cpus. */
static const struct tap_cpus *may_use(const struct tap_wait *w, const struct tap_cpus *cpus)
{
	return w->anywhere ? cpus : w->listed ? w->listed : &w->used;
}

bool tap_wait_may_use(const struct tap_wait *w, const struct tap_cpus *cpus)
{
	const struct tap_cpus *may = may_use(w, cpus);
	unsigned int words = may->nr_words < cpus->nr_words ? may->nr_words : cpus->nr_words;

	for (unsigned int i = 0; i < words; i++)
		if (may->bits[i] & cpus->bits[i])
			return true;
	return false;
}

void tap_wait_drop(struct tap_wait *w)
{
	while (w->nr_found)
		tap_cpus_release(&w->found[--w->nr_found].idle);
	w->exit_ns = 0;
}

void tap_wait_release(struct tap_wait *w)
{
	tap_wait_drop(w);
	free(w->found);
	tap_cpus_release(&w->idle);
	tap_cpus_release(&w->used);
}

/* End the violation that the wait is in. */
static int end_violation(struct tap_wait *w, uint64_t now_ns)
{
	if (tap_array_grow(&w->found, w->nr_found, &w->cap_found, sizeof(*w->found)))
		return -ENOMEM;
	w->found[w->nr_found++] = (struct tap_violation){
		.task = w->task,
		.state = w->state,
		.cpu = w->mode_cpu,
		.from_ns = w->mode_since_ns,
		.to_ns = now_ns,
		.idle = w->idle,
	};
	w->idle = (struct tap_cpus){ 0 };
	return 0;
}

int tap_violations_set(struct tap_violations *v, struct tap_wait *w, enum tap_wait_mode mode,
		       const struct tap_cpus *free_cpus, uint64_t now_ns)
{
	int ret = 0;

	if (mode != w->mode) {
		bool concerns = mode == TAP_WAIT_VIOLATION || w->mode == TAP_WAIT_VIOLATION;

		if (w->mode == TAP_WAIT_EXIT)
			w->exit_ns += now_ns - w->mode_since_ns;
		else if (w->mode == TAP_WAIT_VIOLATION && !v->tell)
			ret = end_violation(w, now_ns);
		v->nr_now += mode == TAP_WAIT_VIOLATION;
		v->nr_now -= w->mode == TAP_WAIT_VIOLATION;
		w->mode = mode;
		w->mode_since_ns = now_ns;
		w->mode_cpu = w->cpu;
		if (concerns && v->tell)
			v->tell(v->ctx, w);
	}
	if (!ret && mode == TAP_WAIT_VIOLATION && !v->tell)
		ret = cpus_merge(&w->idle, may_use(w, free_cpus), free_cpus);
	return ret;
}

/* Keep @one if it is among the worst, or release it. */
static void keep_worst(struct tap_violations *v, struct tap_violation *one)
{
	uint64_t ns = one->to_ns - one->from_ns;
	unsigned int i = v->nr_worst;

	while (i && v->worst[i - 1].to_ns - v->worst[i - 1].from_ns < ns)
		i--;
	memmove(v->worst + i + 1, v->worst + i, (v->nr_worst - i) * sizeof(*one));
	v->worst[i] = *one;
	if (++v->nr_worst > v->max_worst)
		tap_cpus_release(&v->worst[--v->nr_worst].idle);
}

int tap_violations_count(struct tap_violations *v, struct tap_wait *w, uint64_t wait_ns)
{
	int ret = 0;

	v->waits++;
	v->wait_ns += wait_ns;
	v->exits += w->exit_ns != 0;
	v->exit_ns += w->exit_ns;
	for (unsigned int i = 0; i < w->nr_found; i++) {
		struct tap_violation *one = &w->found[i];
		uint64_t ns = one->to_ns - one->from_ns;

		if (ns < v->min_ns || ret) {
			tap_cpus_release(&one->idle);
			continue;
		}
		ret = tap_hist_add(&v->lengths, ns);
		v->state_count[one->state]++;
		v->state_ns[one->state] += ns;
		keep_worst(v, one);
	}
	w->nr_found = 0;
	w->exit_ns = 0;
	return ret;
}

int tap_violations_init(struct tap_violations *v, uint64_t min_ns, unsigned int max_worst)
{
	*v = (struct tap_violations){
		.lengths = TAP_HIST_INIT,
		.min_ns = min_ns,
		.max_worst = max_worst,
	};
	/* one more: a new one is inserted before the last one is dropped */
	v->worst = calloc((size_t)max_worst + 1, sizeof(*v->worst));
	return v->worst ? 0 : -ENOMEM;
}

void tap_violations_release(struct tap_violations *v)
{
	for (unsigned int i = 0; i < v->nr_worst; i++)
		tap_cpus_release(&v->worst[i].idle);
	tap_hist_release(&v->lengths);
	free(v->worst);
}
