/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scheduler events made by hand, for tests that need no recording. */
#ifndef SCHED_EVENTS_H
#define SCHED_EVENTS_H

#include <stdio.h>
#include <string.h>

#include <schedtap/event.h>

/* One layout serves all: two tasks, and a cgroup. */
struct rec {
	uint16_t common_type;
	uint16_t pad;
	int32_t common_pid;
	char comm1[16], comm2[16];
	int32_t pid1, pid2;
	uint64_t cgroup;
};

/* clang-format off */
#define NUMBER_FIELD(n, m, sign) { .name = n, .type = "int", .kind = TAP_FIELD_NUMBER, \
	.offset = offsetof(struct rec, m), .size = sizeof(((struct rec *)0)->m), \
	.elem_size = sizeof(((struct rec *)0)->m), .is_signed = sign }
#define CHARS_FIELD(n, m) { .name = n, .type = "char", .kind = TAP_FIELD_CHARS, \
	.offset = offsetof(struct rec, m), .size = 16, .elem_size = 1 }
/* clang-format on */
#define COMMON_FIELDS                                                                              \
	NUMBER_FIELD("common_type", common_type, false),                                           \
		NUMBER_FIELD("common_pid", common_pid, true)
/* clang-format off */
#define FORMAT(s, n, i, f) { .system = s, .name = n, .id = i, .fields = f, \
	.nr_fields = sizeof(f) / sizeof((f)[0]), .nr_common = 2, .text = "", .print_fmt = "", \
	.min_size = sizeof(struct rec), .long_size = 8 }
/* clang-format on */

static const struct tap_field switch_fields[] = {
	COMMON_FIELDS,
	CHARS_FIELD("prev_comm", comm1),
	NUMBER_FIELD("prev_pid", pid1, true),
	CHARS_FIELD("next_comm", comm2),
	NUMBER_FIELD("next_pid", pid2, true),
};
static const struct tap_field task_fields[] = {
	COMMON_FIELDS,
	CHARS_FIELD("comm", comm1),
	NUMBER_FIELD("pid", pid1, true),
};
static const struct tap_field fork_fields[] = {
	COMMON_FIELDS,
	CHARS_FIELD("parent_comm", comm1),
	NUMBER_FIELD("parent_pid", pid1, true),
	CHARS_FIELD("child_comm", comm2),
	NUMBER_FIELD("child_pid", pid2, true),
};
static const struct tap_field pelt_fields[] = {
	COMMON_FIELDS,
	NUMBER_FIELD("cgroup", cgroup, false),
};

enum event_kind { SWITCH, WAKING, WAKEUP, WAKEUP_NEW, FORK, EXIT, PELT, LOST, NR_EVENT_KINDS };

static const struct tap_format formats[] = {
	[SWITCH] = FORMAT("sched", "sched_switch", 1, switch_fields),
	[WAKING] = FORMAT("sched", "sched_waking", 2, task_fields),
	[WAKEUP] = FORMAT("sched", "sched_wakeup", 3, task_fields),
	[WAKEUP_NEW] = FORMAT("sched", "sched_wakeup_new", 4, task_fields),
	[FORK] = FORMAT("sched", "sched_process_fork", 5, fork_fields),
	[EXIT] = FORMAT("sched", "sched_process_exit", 6, task_fields),
	[PELT] = FORMAT("schedtap", "sched_pelt_cfs", 7, pelt_fields),
};

/* { SWITCH, ts, cpu, prev, next } { WAKING, ts, cpu, who } { LOST, to, cpu, from, count } */
struct step {
	enum event_kind kind;
	uint64_t ts_ns;
	int cpu;
	uint64_t a, b;
	unsigned int buffer;
};

/* Task N is called "tN", but for the one that starts as another. */
static inline void step_event(const struct step *s, struct rec *rec, struct tap_event *ev)
{
	*ev = (struct tap_event){ .ts_ns = s->ts_ns, .cpu = s->cpu, .buffer = s->buffer };
	if (s->kind == LOST) {
		ev->lost.first_ns = s->a;
		ev->lost.last_ns = s->ts_ns;
		ev->lost.count = s->b;
		return;
	}
	*rec = (struct rec){ .common_type = formats[s->kind].id,
			     .common_pid = (int32_t)s->a,
			     .pid1 = (int32_t)s->a,
			     .pid2 = (int32_t)s->b,
			     .cgroup = s->a };
	snprintf(rec->comm1, sizeof(rec->comm1), "t%d", rec->pid1);
	snprintf(rec->comm2, sizeof(rec->comm2), "t%d", rec->pid2);
	ev->fmt = &formats[s->kind];
	ev->data = rec;
	ev->size = sizeof(*rec);
}

#endif
