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
 * Prepare the numbers of a recording. @run: surveyed (tap_run_survey()), without a selection;
 * borrowed. Return: 0; -ENODATA with a sentence: the recording has no switches, ...; -ENOMEM.
 */
int tap_recorded_open(struct tap_recorded **out, struct tap_run *run, struct tap_err *err);
void tap_recorded_close(struct tap_recorded *r);

/*
 * Read the numbers of the time from @from_ns to @to_ns of the recording's clock. Parts before and
 * after the recording count as unknown. .run_ns lacks unknown time, .cpu_ns too: the sum of .run_ns
 * is .cpu_ns. .missed is the number of lost events in that time, waits whose begin or end is
 * unknown are .censored as TAP_TALLY_UNSEEN. Tasks' rows have .util and .prio only if the
 * recording knows them. Slots are numbered by cgroup, as in the tally; culprits are found from what
 * ran on the CPU that the task waited for (as bpf/tally_maps.h says), without a limit of slices.
 * @view: valid until the next reading. Return: 0; -errno with a sentence.
 */
int tap_recorded_read(struct tap_recorded *r, uint64_t from_ns, uint64_t to_ns,
		      struct tap_tally_view *view, struct tap_err *err);

#endif
