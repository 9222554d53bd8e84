/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines that are no events: lost events, and what heads say of the recording. */
#ifndef TAP_FILE_TEXT_OTHER_H
#define TAP_FILE_TEXT_OTHER_H

#include "file/made.h"
#include "file/text/line.h"

struct tap_other {
	struct span host, release, machine; /* from perf's head; "": unknown */
	uint64_t nr_lines; /* that mean nothing to schedtap */
	uint64_t nr_frames; /* lines of stacks among them */
	uint64_t nr_overwritten; /* older events, from the head of ftrace's text */
	bool has_tracer, has_cpus; /* heads of ftrace and of trace-cmd report */
	bool has_losses;
};

/* Read a line that is not an event. @last_ns: the time of the event before it. */
void tap_other_read(struct tap_other *o, struct tap_made *m, struct span line);
/* Read what follows a line's head where no event does: perf's lost events. */
void tap_other_read_rest(struct tap_other *o, struct tap_made *m, const struct tap_line *l);

#endif
