// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/sched_pick.h"

#include <string.h>

#include "event/format.h"

#define NICE_0_WEIGHT 1048576.0 /* NICE_0_LOAD in kernel/sched/sched.h on 64-bit machines */

/* Indices of a level's numbers of 8 bytes each, as in events/pick.h. */
enum { GROUP, WEIGHT, VTIME, LAG, DEADLINE, VPROT, SLICE, LEVEL_WORDS };
#define WORD_BYTES 8u
#define LEVEL_BYTES (LEVEL_WORDS * WORD_BYTES)

static const struct tap_field *levels_field(const struct tap_format *fmt)
{
	const struct tap_field *f = tap_format_field(fmt, "levels");

	return f && f->kind == TAP_FIELD_DYNAMIC && f->elem_size == WORD_BYTES ? f : NULL;
}

bool tap_sched_pick_init(struct tap_sched_pick_fields *f, const struct tap_format *fmt)
{
	const struct {
		struct tap_num *num;
		const char *name;
		bool is_needed;
	} fields[] = {
		{ &f->tid, "next_pid", true },
		{ &f->group, "group", true },
		{ &f->weight, "next_weight", true },
		{ &f->vtime, "vtime", true },
		{ &f->lag, "next_lag", true },
		{ &f->deadline, "next_deadline", true },
		{ &f->vprot, "next_vprot", false },
		{ &f->slice, "next_slice", false },
		{ &f->nr_queued, "h_nr_queued", false },
		{ &f->nr_runnable, "h_nr_runnable", false },
		{ &f->prev_queued, "prev_queued", true },
		{ &f->prev_delayed, "prev_delayed", false },
		{ &f->donor, "donor", false },
		{ &f->prev_throttled, "prev_throttled", false },
		{ &f->prev_blocked, "prev_blocked", false },
	};
	bool is_whole = !strcmp(fmt->system, "schedtap") && !strcmp(fmt->name, "sched_pick");

	f->fmt = fmt;
	f->levels = levels_field(fmt);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		tap_num_init(fields[i].num, tap_number_field(fmt, fields[i].name));
		is_whole &= fields[i].num->size || !fields[i].is_needed;
	}
	return is_whole;
}

bool tap_is_sched_pick(const struct tap_format *fmt)
{
	struct tap_sched_pick_fields f;

	return tap_sched_pick_init(&f, fmt);
}

/* Convert virtual time to run time. Results are limited to +-2^62 ns (a damaged file). */
static int64_t run_ns(int64_t virtual_ns, uint64_t weight)
{
	double ns = (double)virtual_ns * (double)weight / NICE_0_WEIGHT;

	if (ns >= 0x1p62 || ns <= -0x1p62)
		return ns > 0 ? INT64_C(1) << 62 : -(INT64_C(1) << 62);
	return (int64_t)ns;
}

/* Convert the rest of a virtual time to run time; 0: it is over. */
static uint64_t left_ns(int64_t virtual_ns, uint64_t weight)
{
	return virtual_ns > 0 ? (uint64_t)run_ns(virtual_ns, weight) : 0;
}

static uint64_t get_value(const struct tap_num *n, const struct tap_event *ev)
{
	return n->size ? (uint64_t)tap_num_get(n, ev) : 0;
}

int64_t tap_sched_pick_lag_ns(const struct tap_sched_pick_fields *f, const struct tap_event *ev)
{
	return run_ns((int64_t)get_value(&f->lag, ev), get_value(&f->weight, ev));
}

void tap_sched_pick_read(const struct tap_sched_pick_fields *f, const struct tap_event *ev,
			 struct tap_sched_pick *out)
{
	uint64_t lag = get_value(&f->lag, ev), deadline = get_value(&f->deadline, ev),
		 weight = get_value(&f->weight, ev);
	uint64_t vtime = get_value(&f->vtime, ev), v = vtime - lag;
	bool queued = get_value(&f->prev_queued, ev);

	*out = (struct tap_sched_pick){
		.ts_ns = ev->ts_ns,
		.cpu = ev->cpu,
		.tid = weight && !get_value(&f->donor, ev) ? (int)get_value(&f->tid, ev) : 0,
		.group = (int)get_value(&f->group, ev),
		.weight = weight,
		.vtime = (int64_t)vtime,
		.v = (int64_t)v,
		.deadline = (int64_t)(v + deadline),
		.left_ns = left_ns((int64_t)deadline, weight),
		.protected_ns = left_ns((int64_t)get_value(&f->vprot, ev), weight),
		.slice_ns = get_value(&f->slice, ev),
		.lag_ns = run_ns((int64_t)lag, weight),
		.nr_queued = (uint32_t)get_value(&f->nr_queued, ev),
		.nr_runnable = (uint32_t)get_value(
			f->nr_runnable.size ? &f->nr_runnable : &f->nr_queued, ev),
		.prev_queued = queued,
		.prev_delayed = queued && get_value(&f->prev_delayed, ev),
		.prev_stopped = queued && (get_value(&f->prev_throttled, ev) ||
					   get_value(&f->prev_blocked, ev)),
	};
}

static struct tap_pick_level level_at(const char *words, bool swap)
{
	int64_t w[LEVEL_WORDS];
	uint64_t v, weight;

	for (unsigned int i = 0; i < LEVEL_WORDS; i++)
		w[i] = (int64_t)tap_load((const unsigned char *)words + i * WORD_BYTES, WORD_BYTES,
					 swap);
	v = (uint64_t)w[VTIME] - (uint64_t)w[LAG];
	weight = (uint64_t)w[WEIGHT];
	return (struct tap_pick_level){
		.group = (int)w[GROUP],
		.weight = weight,
		.vtime = w[VTIME],
		.v = (int64_t)v,
		.deadline = (int64_t)(v + (uint64_t)w[DEADLINE]),
		.left_ns = left_ns(w[DEADLINE], weight),
		.protected_ns = left_ns(w[VPROT], weight),
		.slice_ns = (uint64_t)w[SLICE],
	};
}

void tap_sched_pick_read_levels(const struct tap_sched_pick_fields *f, const struct tap_event *ev,
				struct tap_pick_level levels[TAP_PICK_LEVELS],
				struct tap_sched_pick *out)
{
	uint32_t bytes = 0;
	const char *words = f->levels && out->tid
				    ? tap_field_bytes(f->levels, ev->data, ev->size, &bytes)
				    : NULL;

	out->levels = levels;
	out->nr_levels =
		bytes / LEVEL_BYTES < TAP_PICK_LEVELS ? bytes / LEVEL_BYTES : TAP_PICK_LEVELS;
	for (unsigned int i = 0; i < out->nr_levels; i++)
		levels[i] = level_at(words + i * LEVEL_BYTES, f->levels->swap);
}

void tap_sched_pick_read_any(struct tap_sched_pick_fields *f, const struct tap_event *ev,
			     struct tap_sched_pick *out)
{
	if (ev->fmt != f->fmt)
		tap_sched_pick_init(f, ev->fmt);
	tap_sched_pick_read(f, ev, out);
}
