// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/guest.h"

#include <errno.h>
#include <stdlib.h>

#define INTERPOLATES 1u /* TRACECMD_TSYNC_FLAG_INTERPOLATE */
/* Above all real values. They keep products below within 127 bits. */
#define MAX_OFFSET ((int64_t)1 << 60)
#define MAX_SCALING ((uint64_t)1 << 60)

/* The file has columns: the times of a CPU's samples, then their offsets, and so on. */
static int read_samples(struct tap_bytes *opt, struct tap_guest_sample **out, uint32_t *nr)
{
	struct tap_guest_sample *v;

	*nr = tap_bytes_u32(opt);
	if (opt->bad || *nr > tap_bytes_left(opt) / 24)
		return -EINVAL;
	v = calloc(*nr + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (uint32_t i = 0; i < *nr; i++)
		v[i].time = tap_bytes_u64(opt);
	for (uint32_t i = 0; i < *nr; i++)
		v[i].offset = (int64_t)tap_bytes_u64(opt);
	for (uint32_t i = 0; i < *nr; i++)
		v[i].scaling = tap_bytes_u64(opt);
	*out = v;
	return 0;
}

/* Compare another CPU's samples with those that are used. */
static void compare(struct tap_guest *g, const struct tap_guest_sample *v, uint32_t nr)
{
	for (uint32_t i = 0; i < nr && i < g->nr; i++) {
		const int64_t a = v[i].offset, b = g->samples[i].offset;
		const uint64_t differs =
			a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;

		if (differs > g->differs)
			g->differs = differs;
	}
}

/* Read the samples of all CPUs. @skipped: samples before those of the CPU that is used. */
static int read_cpus(struct tap_guest *g, struct tap_bytes *opt)
{
	const uint32_t nr_cpus = tap_bytes_u32(opt);

	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		struct tap_guest_sample *v = NULL;
		uint32_t nr;
		int ret = read_samples(opt, &v, &nr);

		if (ret)
			return ret;
		if (!g->nr && nr) {
			free(g->samples);
			g->samples = v;
			g->nr = nr;
			continue;
		}
		compare(g, v, nr);
		free(v);
	}
	/* older versions of trace-cmd end here; empty CPUs before have no fractions either */
	for (uint32_t i = 0; tap_bytes_left(opt) && i < g->nr; i++)
		g->samples[i].fraction = tap_bytes_u64(opt);
	return opt->bad || !g->nr ? -EINVAL : 0;
}

static int by_time(const void *a, const void *b)
{
	const struct tap_guest_sample *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

static void sort(struct tap_guest *g)
{
	uint32_t nr = 1;

	qsort(g->samples, g->nr, sizeof(*g->samples), by_time);
	for (uint32_t i = 1; i < g->nr; i++)
		if (g->samples[i].time != g->samples[nr - 1].time)
			g->samples[nr++] = g->samples[i];
	g->nr = nr;
}

static bool is_valid(const struct tap_guest_sample *s)
{
	return s->time <= INT64_MAX && s->offset > -MAX_OFFSET && s->offset < MAX_OFFSET &&
	       s->scaling && s->scaling < MAX_SCALING && s->fraction < 64;
}

static __int128 scale(const struct tap_guest_sample *s, uint64_t time)
{
	return (__int128)((unsigned __int128)time * s->scaling >> s->fraction);
}

/* Return the host's time by sample @i, and by the next one if times are interpolated. */
static __int128 convert(const struct tap_guest *g, uint32_t i, uint64_t time)
{
	const struct tap_guest_sample *s = &g->samples[i], *next = s + 1;
	__int128 offset = s->offset;

	if (g->interpolates && i + 1 < g->nr) {
		const __int128 length = (__int128)next->time - s->time;
		const __int128 part = (__int128)next->offset - s->offset;

		offset += (((__int128)time - s->time) * part + length / 2) / length;
	}
	return scale(s, time) + offset;
}

/* Check the samples, and set .floor. Return false if interpolated times go back. */
static bool check(struct tap_guest *g)
{
	uint64_t floor = 0;

	for (uint32_t i = 0; i < g->nr; i++)
		if (!is_valid(&g->samples[i]))
			return false;
	for (uint32_t i = 0; i + 1 < g->nr; i++) {
		struct tap_guest_sample *s = &g->samples[i];

		if (convert(g, i, s[1].time) < convert(g, i, s->time))
			return false;
		floor = tap_guest_to_host(g, s[1].time - 1);
		s[1].floor = floor;
	}
	return true;
}

int tap_guest_read(struct tap_guest *g, struct tap_bytes opt)
{
	int ret;

	tap_guest_release(g);
	g->host_id = tap_bytes_u64(&opt);
	g->interpolates = tap_bytes_u32(&opt) & INTERPOLATES;
	ret = read_cpus(g, &opt);
	if (!ret) {
		sort(g);
		ret = check(g) ? 0 : -EINVAL;
	}
	if (ret)
		tap_guest_release(g);
	return ret;
}

void tap_guest_release(struct tap_guest *g)
{
	free(g->samples);
	*g = (struct tap_guest){ 0 };
}

/* Return the last sample at @time or before, but not the last of all: as in trace-cmd, it only ends
 * a line. */
static uint32_t find(const struct tap_guest *g, uint64_t time)
{
	uint32_t low = 0, high = g->nr;

	while (high - low > 1) {
		const uint32_t mid = low + (high - low) / 2;

		if (g->samples[mid].time <= time)
			low = mid;
		else
			high = mid;
	}
	return low && low + 1 == g->nr ? low - 1 : low;
}

uint64_t tap_guest_to_host(const struct tap_guest *g, uint64_t time)
{
	const uint32_t i = find(g, time);
	const __int128 host = convert(g, i, time);

	if (host < (__int128)g->samples[i].floor)
		return g->samples[i].floor;
	return host > INT64_MAX ? INT64_MAX : (uint64_t)host;
}
