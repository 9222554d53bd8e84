// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/frequency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "timeline/timeline.h"

struct tap_frequency_cpu {
	uint64_t khz, at_ns; /* .khz: frequency since .at_ns; 0: no event yet */
	uint64_t highest_khz, highest_ns;
};

void tap_frequency_release(struct tap_frequency *f)
{
	free(f->cpus);
}

bool tap_is_cpu_frequency(const struct tap_format *fmt)
{
	return !strcmp(fmt->system, "power") && !strcmp(fmt->name, "cpu_frequency");
}

static void end_interval(struct tap_frequency *f, struct tap_frequency_cpu *c, uint64_t to_ns)
{
	uint64_t ns = to_ns - c->at_ns;

	if (!c->khz || tap_losses_between(&f->losses, c->at_ns, to_ns))
		return;
	f->known_ns += ns;
	f->sum += (unsigned __int128)c->khz * ns;
	if (c->khz == c->highest_khz)
		c->highest_ns += ns;
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return fmt && tap_is_cpu_frequency(fmt);
}

static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_frequency *f = ctx;
	struct tap_frequency_cpu *c;
	uint64_t cpu;

	(void)t;
	if (ev->fmt != f->fmt) {
		f->fmt = ev->fmt;
		tap_num_init(&f->khz, tap_number_field(ev->fmt, "state"));
		tap_num_init(&f->cpu, tap_number_field(ev->fmt, "cpu_id"));
	}
	if (!f->khz.size || !f->cpu.size)
		return 0;
	cpu = (uint64_t)tap_num_get(&f->cpu, ev);
	if (cpu >= TAP_MAX_CPUS)
		return 0;
	c = tap_array_at(&f->cpus, &f->nr_cpus, (unsigned int)cpu, sizeof(*c), NULL);
	if (!c)
		return -ENOMEM;
	end_interval(f, c, ev->ts_ns);
	c->khz = (uint64_t)tap_num_get(&f->khz, ev);
	c->at_ns = ev->ts_ns;
	if (c->khz > c->highest_khz) {
		c->highest_khz = c->khz;
		c->highest_ns = 0;
	}
	return 0;
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	struct tap_frequency *f = ctx;

	for (unsigned int cpu = 0; cpu < f->nr_cpus; cpu++) {
		end_interval(f, &f->cpus[cpu], tap_timeline_window(t).to_ns);
		f->highest_ns += f->cpus[cpu].highest_ns;
	}
	return 0;
}

const struct tap_watcher_ops tap_frequency_ops = { .wants = wants_event,
						   .event = on_event,
						   .end = on_end };
