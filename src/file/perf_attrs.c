// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/perf_attrs.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <time.h>

#include "base/array.h"

#define MAX_ATTRS 65536u
#define MAX_IDS (1u << 22) /* one per event and CPU */

/* Bit numbers of the flags in perf_event_attr, which follow read_format. */
#define ATTR_SAMPLE_ID_ALL 18u
#define ATTR_USE_CLOCKID 25u
#define ATTR_CONTEXT_SWITCH 26u

static const char *clock_name(const struct tap_bytes *attr, uint64_t flags)
{
	struct tap_bytes b = *attr;

	if (!(flags >> ATTR_USE_CLOCKID & 1))
		return "local";
	tap_bytes_take(&b, 92);
	switch (tap_bytes_u32(&b)) {
	case CLOCK_MONOTONIC:
		return b.bad ? "" : "mono";
	case CLOCK_MONOTONIC_RAW:
		return "mono_raw";
	case CLOCK_BOOTTIME:
		return "boot";
	case CLOCK_TAI:
		return "tai";
	default:
		return "";
	}
}

static uint32_t bytes_of(uint64_t sample_type, uint64_t words)
{
	return 8 * (uint32_t)__builtin_popcountll(sample_type & words);
}

/*
 * Offsets follow from the order in perf_output_sample() and, for the trailer,
 * __perf_event__output_id_sample().
 */
static void lay_out(struct tap_perf_attr *a, bool has_trailer)
{
	const uint64_t before_time = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	const uint64_t before_id = before_time | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
	const uint64_t before_cpu = before_id | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID;
	const uint64_t to_cpu = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CPU;
	const uint64_t to_id = to_cpu | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_ID;
	const uint64_t to_time = to_id | PERF_SAMPLE_TIME;
	const uint64_t type = a->sample_type;

	a->time_at = bytes_of(type, before_time);
	a->cpu_at = bytes_of(type, before_cpu);
	a->fixed = bytes_of(type, before_cpu | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD);
	a->tgid_at = type & PERF_SAMPLE_TID
			     ? bytes_of(type, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP)
			     : UINT32_MAX;
	a->id_at = a->id_back = UINT32_MAX;
	if (type & PERF_SAMPLE_IDENTIFIER) {
		a->id_at = 0;
		a->id_back = 8;
	} else if (type & PERF_SAMPLE_ID) {
		a->id_at = bytes_of(type, before_id);
		a->id_back = bytes_of(type, to_id);
	}
	if (!has_trailer)
		return;
	a->trailer = bytes_of(type, to_time | PERF_SAMPLE_TID);
	a->time_back = type & PERF_SAMPLE_TIME ? bytes_of(type, to_time) : 0;
	a->cpu_back = type & PERF_SAMPLE_CPU ? bytes_of(type, to_cpu) : 0;
}

static int lacks_words(const struct tap_perf *p, struct tap_err *err)
{
	return tap_err_set(err, -ENOTSUP,
			   "the events in '%.300s' lack their time or their CPU: record with 'perf "
			   "record -T --sample-cpu'",
			   p->r->path);
}

static int read_attr(struct tap_perf *p, struct tap_bytes b, struct tap_perf_attr *a,
		     struct tap_err *err)
{
	const uint64_t needed = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	struct tap_bytes all = b;
	uint64_t flags;
	uint32_t type = tap_bytes_u32(&b);

	tap_bytes_take(&b, 20); /* size, config, sample period */
	*a = (struct tap_perf_attr){ .sample_type = tap_bytes_u64(&b) };
	a->read_format = tap_bytes_u64(&b);
	flags = tap_bytes_u64(&b);
	if (p->r->info.big_endian) { /* bit fields start at the most significant bit */
		uint64_t mirrored = 0;

		for (unsigned int i = 0; i < 64; i++)
			mirrored |= (flags >> i & 1) << (63 - i);
		flags = mirrored;
	}
	a->is_tracepoint = type == PERF_TYPE_TRACEPOINT && a->sample_type & PERF_SAMPLE_RAW;
	lay_out(a, flags >> ATTR_SAMPLE_ID_ALL & 1);
	a->has_switches = flags >> ATTR_CONTEXT_SWITCH & 1;
	if (!a->is_tracepoint && !a->has_switches)
		return 0;
	p->clock = clock_name(&all, flags);
	if (a->is_tracepoint && (a->sample_type & needed) != needed)
		return lacks_words(p, err);
	return 0;
}

static int read_ids(struct tap_perf *p, struct tap_bytes ids, struct tap_err *err)
{
	p->nr_ids += tap_bytes_left(&ids) / 8;
	if (p->nr_ids > MAX_IDS)
		return tap_dat_bad(p->r, err, "it has more than 4 million event ids");
	while (tap_bytes_left(&ids) >= 8) {
		uint64_t *place = tap_map_put(&p->ids, tap_bytes_u64(&ids));

		if (!place)
			return tap_dat_nomem(err);
		*place = p->nr_attrs;
	}
	return 0;
}

/*
 * A record's id determines its attr, and so its layout. Hence the id's own position must be the
 * same in all attrs.
 */
static int place_ids(struct tap_perf *p, struct tap_err *err)
{
	const struct tap_perf_attr *first = p->attrs;
	bool has_switches = false, switches_have_words = false;

	p->id_at = first->id_at;
	p->id_back = first->id_back;
	for (const struct tap_perf_attr *a = first; a < first + p->nr_attrs; a++) {
		p->has_tracepoints |= a->is_tracepoint;
		p->has_chains |= a->is_tracepoint && a->sample_type & PERF_SAMPLE_CALLCHAIN;
		has_switches |= a->has_switches;
		switches_have_words |= a->has_switches && a->sample_type & PERF_SAMPLE_TID &&
				       a->time_back && (a->cpu_back || a->id_back != UINT32_MAX);
		if (a->id_at != p->id_at || a->id_back != p->id_back ||
		    (p->id_at == UINT32_MAX && a->sample_type != first->sample_type))
			return tap_err_set(err, -ENOTSUP,
					   "'%.300s' does not say which event a record belongs to: "
					   "record with 'perf record --sample-identifier'",
					   p->r->path);
	}
	p->has_switches = switches_have_words;
	if (!p->has_tracepoints && has_switches && !switches_have_words)
		return lacks_words(p, err);
	if (!p->has_tracepoints && !has_switches)
		return tap_err_set(err, -ENOTSUP,
				   "'%.300s' has neither tracepoint events nor context switches: "
				   "record with 'perf sched record', 'perf record -e sched:*' or "
				   "'perf record --switch-events'",
				   p->r->path);
	return 0;
}

/* Set p->plain if all tracepoint samples have the same simple layout. */
static void find_plain(struct tap_perf *p)
{
	const struct tap_perf_attr *plain = NULL;

	for (unsigned int i = 0; i < TAP_PERF_PLAIN_IDS; i++)
		p->plain_ids[i] = i + 1; /* belongs at another index, so the entry is unused */
	for (unsigned int i = 0; i < p->nr_attrs; i++) {
		const struct tap_perf_attr *a = &p->attrs[i];

		if (!a->is_tracepoint)
			continue;
		if (a->sample_type & (PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN) ||
		    (plain && a->sample_type != plain->sample_type))
			return;
		plain = a;
	}
	if (plain && p->r->info.big_endian == TAP_HOST_BIG_ENDIAN)
		p->plain = (struct tap_perf_plain){
			.id = tap_perf_has_ids(p) ? TAP_PERF_HEAD_BYTES + p->id_at : 0,
			.time = TAP_PERF_HEAD_BYTES + plain->time_at,
			.cpu = TAP_PERF_HEAD_BYTES + plain->cpu_at,
			.raw = TAP_PERF_HEAD_BYTES + plain->fixed + 4,
		};
}

int tap_perf_add_attr(struct tap_perf *p, struct tap_bytes attr, struct tap_bytes ids,
		      struct tap_err *err)
{
	struct tap_perf_attr a;
	int ret = read_attr(p, attr, &a, err);

	if (ret)
		return ret;
	if (p->nr_attrs == MAX_ATTRS)
		return tap_dat_bad(p->r, err, "it has more than 65536 attrs");
	if (tap_array_grow(&p->attrs, p->nr_attrs, &p->cap_attrs, sizeof(a)))
		return tap_dat_nomem(err);
	p->attrs[p->nr_attrs++] = a;
	return read_ids(p, ids, err);
}

int tap_perf_end_attrs(struct tap_perf *p, struct tap_err *err)
{
	int ret = p->nr_attrs ? place_ids(p, err)
			      : tap_dat_bad(p->r, err, "its attrs are missing or invalid");

	if (ret)
		return ret;
	find_plain(p);
	/* The records are not in sub-buffers, so their size is 0. */
	ret = tap_dat_add_buffer(p->r, "", p->clock, 0, err);
	return ret < 0 ? ret : 0;
}
