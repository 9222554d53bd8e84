// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/critical/interrupts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "analysis/interrupts.h"

#define DEEPEST 4u /* limit for nested handlers of one kind */

/* The hard interrupts, or the softirqs, that a CPU is in; the innermost one is the last. */
struct nest {
	unsigned int nr;
	struct {
		uint64_t from_ns;
		enum tap_woken what;
	} in[DEEPEST];
};

struct tap_interrupts_cpu {
	struct nest hard, soft;
	/*
	 * End of the last loss; a handler that was entered during it may still be in progress. 0:
	 * none.
	 */
	uint64_t lost_ns;
};

struct tap_interrupt_source {
	const struct tap_format *fmt;
	bool begins, is_soft, is_timer;
	struct tap_num vec; /* only for softirqs */
	const struct tap_field *name; /* only for device interrupts */
};

void tap_interrupts_release(struct tap_interrupts *i)
{
	free(i->sources);
	free(i->cpus);
}

bool tap_interrupts_want(const struct tap_format *fmt)
{
	return tap_irq_event(fmt) != TAP_IRQ_NONE;
}

static enum tap_woken of_softirq(int64_t vec)
{
	/* HI, TIMER, NET_TX, NET_RX, BLOCK, IRQ_POLL, TASKLET, SCHED, HRTIMER, RCU */
	static const enum tap_woken what[] = {
		[1] = TAP_WOKEN_TIMER, [2] = TAP_WOKEN_NET,   [3] = TAP_WOKEN_NET,
		[4] = TAP_WOKEN_BLOCK, [5] = TAP_WOKEN_BLOCK, [8] = TAP_WOKEN_TIMER,
	};

	if (vec < 0 || vec >= (int64_t)(sizeof(what) / sizeof(*what)) || !what[vec])
		return TAP_WOKEN_INTERRUPT;
	return what[vec];
}

/* Guess from the name that a driver gives to its interrupt. */
static enum tap_woken of_device(const char *name, size_t len)
{
	static const struct {
		const char *part;
		enum tap_woken what;
	} parts[] = {
		{ "timer", TAP_WOKEN_TIMER }, { "nvme", TAP_WOKEN_BLOCK },
		{ "ahci", TAP_WOKEN_BLOCK },  { "-req.", TAP_WOKEN_BLOCK },
		{ "-input.", TAP_WOKEN_NET }, { "-output.", TAP_WOKEN_NET },
		{ "eth", TAP_WOKEN_NET },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (memmem(name, len, parts[i].part, strlen(parts[i].part)))
			return parts[i].what;
	return TAP_WOKEN_INTERRUPT;
}

static enum tap_woken what_of(const struct tap_interrupt_source *s, const struct tap_event *ev)
{
	const char *name;
	uint32_t len;

	if (s->is_soft)
		return of_softirq(tap_num_get(&s->vec, ev));
	if (s->is_timer)
		return TAP_WOKEN_TIMER;
	if (!s->name)
		return TAP_WOKEN_INTERRUPT;
	name = tap_field_bytes(s->name, ev->data, ev->size, &len);
	return of_device(name, len);
}

/* Return: NULL when out of memory. */
static const struct tap_interrupt_source *source_get(struct tap_interrupts *i,
						     const struct tap_format *fmt)
{
	struct tap_interrupt_source *s = i->sources;

	for (unsigned int k = 0; k < i->nr_sources; k++)
		if (s[k].fmt == fmt)
			return &s[k];
	if (tap_array_grow(&i->sources, i->nr_sources, &i->cap_sources, sizeof(*s)))
		return NULL;
	s = &i->sources[i->nr_sources++];
	*s = (struct tap_interrupt_source){
		.fmt = fmt,
		.begins = tap_irq_event(fmt) == TAP_IRQ_ENTRY,
		.is_soft = tap_irq_is_soft(fmt),
		.is_timer = strstr(fmt->name, "timer"),
		.name = tap_text_field(fmt, "name"),
	};
	tap_num_init(&s->vec, tap_number_field(fmt, "vec"));
	return s;
}

/* Return: NULL when out of memory. */
static struct tap_interrupts_cpu *cpu_get(struct tap_interrupts *i, int cpu)
{
	return tap_array_at(&i->cpus, &i->nr_cpus, (unsigned int)cpu, sizeof(*i->cpus), NULL);
}

/* After a loss, handlers may have ended, and others may have been entered, without events. */
static void lose_state(struct tap_interrupts_cpu *cpu, uint64_t until_ns)
{
	*cpu = (struct tap_interrupts_cpu){ .lost_ns = until_ns };
}

int tap_interrupts_lost(struct tap_interrupts *i, const struct tap_event *ev)
{
	struct tap_interrupts_cpu *cpu;

	if (ev->cpu >= (int)TAP_MAX_CPUS)
		return 0;
	if (ev->cpu < 0) {
		for (unsigned int k = 0; k < i->nr_cpus; k++)
			lose_state(&i->cpus[k], ev->ts_ns);
		return 0;
	}
	cpu = cpu_get(i, ev->cpu);
	if (!cpu)
		return -ENOMEM;
	lose_state(cpu, ev->ts_ns);
	return 0;
}

int tap_interrupts_event(struct tap_interrupts *i, const struct tap_event *ev)
{
	const struct tap_interrupt_source *s = source_get(i, ev->fmt);
	struct tap_interrupts_cpu *cpu;
	struct nest *nest;

	if (ev->cpu < 0 || ev->cpu >= (int)TAP_MAX_CPUS)
		return 0;
	cpu = cpu_get(i, ev->cpu);
	if (!s || !cpu)
		return -ENOMEM;
	nest = s->is_soft ? &cpu->soft : &cpu->hard;
	/*
	 * A softirq event shows that no hard interrupt handler is in progress. An event of an
	 * interrupt shows nothing, since it may have come during a softirq.
	 */
	if (s->is_soft)
		cpu->lost_ns = 0;
	if (!s->begins) {
		nest->nr -= nest->nr > 0;
		return 0;
	}
	if (nest->nr == DEEPEST) /* exit events are missing */
		nest->nr = 0;
	nest->in[nest->nr].from_ns = ev->ts_ns;
	nest->in[nest->nr].what = what_of(s, ev);
	i->tells_timers |= !s->is_soft && nest->in[nest->nr].what == TAP_WOKEN_TIMER;
	nest->nr++;
	return 0;
}

static bool is_in(const struct nest *nest, uint64_t since_ns)
{
	return nest->nr && nest->in[nest->nr - 1].from_ns >= since_ns;
}

/* @since_ns: when the CPU began to run its task: no handler continues across a switch or a loss. */
static enum tap_woken find_open(const struct tap_interrupts *i, int cpu, uint64_t since_ns)
{
	const struct tap_interrupts_cpu *c =
		cpu >= 0 && (unsigned int)cpu < i->nr_cpus ? &i->cpus[cpu] : NULL;

	if (c && is_in(&c->hard, since_ns))
		return c->hard.in[c->hard.nr - 1].what;
	if (c && is_in(&c->soft, since_ns))
		return c->soft.in[c->soft.nr - 1].what;
	return TAP_WOKEN_NOT_KNOWN;
}

/*
 * Return true if an interrupt may be in progress whose entry event was lost. That lasts until the
 * CPU switches. It matters only if interrupts are recorded, and if wakeups have no flag for
 * interrupts.
 */
static bool is_in_doubt(const struct tap_interrupts *i, int cpu, const struct tap_cpu *c)
{
	const struct tap_interrupts_cpu *in =
		cpu >= 0 && (unsigned int)cpu < i->nr_cpus ? &i->cpus[cpu] : NULL;

	if (!in || !in->lost_ns || !i->nr_sources || i->wakeups_tell)
		return false;
	return !c || c->known != TAP_CPU_KNOWN || c->since_ns < in->lost_ns;
}

uint32_t tap_interrupts_waker(struct tap_interrupts *i, const struct tap_timeline *timeline,
			      const struct tap_wakeup *w)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(timeline, &nr),
			     *c = (unsigned int)w->cpu < nr ? &cpus[w->cpu] : NULL;
	enum tap_woken open = find_open(i, w->cpu, c ? c->since_ns : 0);

	i->wakeups_tell |= w->in_interrupt;
	if (w->waker_tid < 0)
		return TAP_WOKEN_NOT_KNOWN;
	if (open != TAP_WOKEN_NOT_KNOWN)
		return open;
	if (w->in_interrupt || !w->waker_tid)
		return TAP_WOKEN_INTERRUPT;
	if (!w->waker || is_in_doubt(i, w->cpu, c))
		return TAP_WOKEN_NOT_KNOWN;
	return TAP_WOKEN_BY_TASK + w->waker->index;
}
