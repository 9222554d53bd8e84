// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/recorded/starts.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * Waits and slices of at least this length are noted. All others that reach into a part begin later
 * than this before it. Reading begins earlier by another MARGIN_NS, as states that were not seen to
 * begin are unknown at first.
 */
#define LONG_NS 50000000u
#define MARGIN_NS 50000000u

void tap_starts_release(struct tap_starts *s)
{
	for (unsigned int i = 0; i < s->nr_cpus; i++)
		free(s->cpus[i].slices);
	free(s->cpus);
	free(s->waits);
	free(s->slept);
	free(s->unknown);
	*s = (struct tap_starts){ 0 };
}

static int add_slept(struct tap_starts *s, const struct tap_interval *i)
{
	if (tap_array_grow(&s->slept, s->nr_slept, &s->cap_slept, sizeof(*s->slept)))
		return -ENOMEM;
	s->slept[s->nr_slept++] =
		(struct tap_slept_wait){ i->from_ns, i->to_ns, i->task->tid, i->task->run_cpu };
	return 0;
}

int tap_starts_wait(struct tap_starts *s, const struct tap_interval *i, uint64_t needed_ns)
{
	if (needed_ns && i->to_ns - needed_ns >= LONG_NS && add_slept(s, i))
		return -ENOMEM;
	if (i->to_ns - i->from_ns < LONG_NS)
		return 0;
	if (tap_array_grow(&s->waits, s->nr_waits, &s->cap_waits, sizeof(*s->waits)))
		return -ENOMEM;
	s->waits[s->nr_waits++] = (struct tap_long_wait){ i->from_ns, i->to_ns };
	return 0;
}

int tap_starts_unknown(struct tap_starts *s, const struct tap_interval *i)
{
	if (tap_array_grow(&s->unknown, s->nr_unknown, &s->cap_unknown, sizeof(*s->unknown)))
		return -ENOMEM;
	s->unknown[s->nr_unknown++] = (struct tap_unknown_wait){ i->to_ns, i->task->tid };
	return 0;
}

int tap_starts_cpu(struct tap_starts *s, const struct tap_cpu_interval *i)
{
	struct tap_long_cpu *c;

	if (i->to_ns - i->from_ns < LONG_NS || (i->what != TAP_CPU_RUN && i->what != TAP_CPU_IDLE))
		return 0;
	c = tap_array_at(&s->cpus, &s->nr_cpus, (unsigned int)i->cpu, sizeof(*c), NULL);
	if (!c || tap_array_grow(&c->slices, c->nr, &c->cap, sizeof(*c->slices)))
		return -ENOMEM;
	c->slices[c->nr++] = (struct tap_long_slice){ i->from_ns, i->to_ns,
						      i->what == TAP_CPU_RUN ? i->task->tid : 0 };
	return 0;
}

/*
 * Return the index of the first element that ends after @ns. @v: @nr elements of @size bytes, by
 * their .to_ns, which is @at bytes after an element's beginning.
 */
static unsigned int first_after(const void *v, unsigned int nr, size_t size, size_t at, uint64_t ns)
{
	unsigned int low = 0, high = nr;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;
		uint64_t to_ns;

		memcpy(&to_ns, (const char *)v + middle * size + at, sizeof(to_ns));
		if (to_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#define FIRST_AFTER(v, nr, ns)                                                                     \
	first_after(v, nr, sizeof(*(v)), offsetof(__typeof__(*(v)), to_ns), ns)

uint64_t tap_starts_find(const struct tap_starts *s, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t start_ns = from_ns > LONG_NS ? from_ns - LONG_NS : 0;

	for (unsigned int i = FIRST_AFTER(s->waits, s->nr_waits, from_ns);
	     i < s->nr_waits && s->waits[i].to_ns <= to_ns; i++)
		if (s->waits[i].from_ns < start_ns)
			start_ns = s->waits[i].from_ns;
	return start_ns > MARGIN_NS ? start_ns - MARGIN_NS : 0;
}

/* Return the CPU's first slice that ends after @ns; NULL: none does. */
static const struct tap_long_slice *slice_at(const struct tap_long_cpu *c, uint64_t ns)
{
	unsigned int i = FIRST_AFTER(c->slices, c->nr, ns);

	return i < c->nr ? &c->slices[i] : NULL;
}

unsigned int tap_starts_origins(const struct tap_starts *s, uint64_t ns, struct tap_origin *origins)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < s->nr_cpus; i++) {
		const struct tap_long_slice *l = slice_at(&s->cpus[i], ns);

		if (l && l->from_ns < ns)
			origins[nr++] = (struct tap_origin){
				.from_ns = ns, .to_ns = l->to_ns, .cpu = (int)i, .tid = l->tid
			};
	}
	return nr;
}

const struct tap_slept_wait *tap_starts_slept(const struct tap_starts *s, int tid, uint64_t ns)
{
	unsigned int i = ns ? FIRST_AFTER(s->slept, s->nr_slept, ns - 1) : 0;

	for (; i < s->nr_slept && s->slept[i].to_ns == ns; i++)
		if (s->slept[i].tid == tid)
			return &s->slept[i];
	return NULL;
}

bool tap_starts_is_unknown(const struct tap_starts *s, int tid, uint64_t ns)
{
	unsigned int i = ns ? FIRST_AFTER(s->unknown, s->nr_unknown, ns - 1) : 0;

	for (; i < s->nr_unknown && s->unknown[i].to_ns == ns; i++)
		if (s->unknown[i].tid == tid)
			return true;
	return false;
}
