/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The numbers of the tally (record/tally/tally.h), of any part of a recording instead of now: for
 * `schedtap top -i FILE`. Not thread safe.
 */
#ifndef TAP_SHOW_RECORDED_RECORDED_H
#define TAP_SHOW_RECORDED_RECORDED_H

#include "base/wall.h"
#include "record/tally/tally.h"
#include "timeline/run/run.h"

struct tap_recorded;

/*
 * Prepare the numbers of a recording: reads all of it once, so that a part can be read later
 * without the rest. @run: surveyed (tap_run_survey()), without a selection; borrowed. Its .timeline
 * is the last reading's. Return: 0; -ENODATA with a sentence: the recording has no switches, ...;
 * -ENOMEM; an error of the reader.
 */
int tap_recorded_open(struct tap_recorded **out, struct tap_run *run, struct tap_err *err);
void tap_recorded_close(struct tap_recorded *r);

/*
 * Read the numbers of the time after @from_ns, up to and including @to_ns, of the recording's
 * clock: numbers of parts that follow each other add up. Parts before and after the recording count
 * as unknown. .run_ns lacks unknown time, .cpu_ns too: the sum of .run_ns is .cpu_ns. .missed is
 * the number of lost events, each loss where it ends; waits whose begin or end is unknown are
 * .censored as TAP_TALLY_UNSEEN. Slots are numbered by cgroup, as in the tally, and are the same in
 * all readings (slots.h says which tasks are kernel threads). Culprits are found from what ran on
 * the CPU that the task waited for (as bpf/tally_maps.h says), without a limit of slices; a row has
 * its greatest ones. .from_waking is false without sched_waking.
 *
 * Differences from the tally: an LLC is a package, or all CPUs if the recording does not know
 * packages. lengths of run queues are not counted (.knows_lengths). Tasks' .util is
 * TAP_TALLY_UNKNOWN, .prio may be TAP_PRIO_UNKNOWN, and .start_ns is 0 if the task is older than
 * the recording. Without sched_migrate_task, changes of CPU after a sleep may be missing in a part.
 *
 * @view: valid until the next reading. Return: 0; -errno with a sentence.
 */
int tap_recorded_read(struct tap_recorded *r, uint64_t from_ns, uint64_t to_ns,
		      struct tap_tally_view *view, struct tap_err *err);

#endif
