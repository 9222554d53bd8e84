/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The time stamps of switches, from the clock of the run queue where possible. Reading
 * CLOCK_MONOTONIC costs as much as the rest of a small program, or more on a virtual machine, while
 * __schedule() has just updated rq->clock, with interrupts off. Adding an offset turns it into
 * CLOCK_MONOTONIC.
 *
 * rq->clock is fresh only if prev goes to sleep and next waited. The kernel does not update it if a
 * wakeup has just asked for the switch (rq_clock_skip_update()): then prev usually is preempted, or
 * next was queued at the very time that the clock still shows. And it is old if the CPU leaves
 * idle, or becomes idle after it looked for tasks elsewhere. In all these cases the program reads
 * CLOCK_MONOTONIC.
 *
 * Each CPU compares the two clocks every TAP_COMPARE_NS, at a switch whose rq->clock is fresh. The
 * offset that it finds is too large by the time that passed since the kernel read its clock, and
 * that may be long (an interrupt of the virtual CPU). So the least of many offsets is the best. But
 * NTP changes the offset, at most by 500 ppm: so only the comparisons of this series and of the one
 * before it count. A series lasts TAP_SERIES_NS, which bounds this error to 4 us (0.4 us at the
 * usual 50 ppm). A CPU with too few comparisons always reads CLOCK_MONOTONIC.
 */
#ifndef TAP_BPF_CLOCK_H
#define TAP_BPF_CLOCK_H

#include "ring.h"

/* rq->clock at a switch. .is_fresh: it was read for this switch, see above. */
struct tap_clock {
	u64 ns;
	bool is_fresh;
};

#define TAP_COMPARE_NS 250000u
#define TAP_SERIES_NS 4000000u
#define TAP_SERIES_LEAST 4u /* comparisons that a series needs */

static __always_inline void tap_begin_series(struct tap_ring *ring, u64 clock_ns)
{
	bool was_before = clock_ns - ring->series_ns < 2 * TAP_SERIES_NS;

	ring->nr_before = was_before ? ring->nr_compared : 0;
	ring->least_before_ns = ring->least_ns;
	ring->series_ns = clock_ns;
	ring->nr_compared = 0;
}

/* Return CLOCK_MONOTONIC, and learn its offset to @clock_ns. */
static __always_inline u64 tap_compare_clocks(struct tap_ring *ring, u64 clock_ns)
{
	u64 now = bpf_ktime_get_ns(), offset = now - clock_ns;

	if (clock_ns - ring->series_ns >= TAP_SERIES_NS)
		tap_begin_series(ring, clock_ns);
	if (ring->nr_compared++ && (s64)(ring->least_ns - offset) < 0)
		offset = ring->least_ns;
	ring->least_ns = offset;
	if ((s64)(ring->least_before_ns - offset) < 0)
		offset = ring->least_before_ns;
	ring->clock_offset_ns = offset;
	ring->clock_until_ns = ring->nr_before >= TAP_SERIES_LEAST ? clock_ns + TAP_COMPARE_NS : 0;
	return now;
}

/* Return the time of a switch, CLOCK_MONOTONIC. */
static __always_inline u64 tap_switch_time(struct tap_ring *ring, const struct tap_clock *clock)
{
	if (!clock->is_fresh || !*(volatile u64 *)&ring->has_clock)
		return bpf_ktime_get_ns();
	if ((s64)(clock->ns - ring->clock_until_ns) < 0)
		return clock->ns + ring->clock_offset_ns;
	return tap_compare_clocks(ring, clock->ns);
}

#endif
