// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/perfetto/ftrace_event.h"

#include <schedtap/event.h>

#include "show/perfetto/fields.h"

/*
 * Field numbers in FtraceEvent, and in its messages (protos/perfetto/trace/ftrace/ in Perfetto's
 * source).
 */
static const struct row {
	const char *system, *name;
	unsigned int number;
	struct {
		const char *name;
		unsigned int number;
	} fields[TAP_FTRACE_FIELDS];
} rows[] = {
	{ "sched",
	  "sched_switch",
	  TAP_PF_EVENT_SWITCH,
	  { { "prev_comm", TAP_PF_SWITCH_PREV_COMM },
	    { "prev_pid", TAP_PF_SWITCH_PREV_PID },
	    { "prev_prio", TAP_PF_SWITCH_PREV_PRIO },
	    { "prev_state", TAP_PF_SWITCH_PREV_STATE },
	    { "next_comm", TAP_PF_SWITCH_NEXT_COMM },
	    { "next_pid", TAP_PF_SWITCH_NEXT_PID },
	    { "next_prio", TAP_PF_SWITCH_NEXT_PRIO } } },
	{ "sched",
	  "sched_waking",
	  TAP_PF_EVENT_WAKING,
	  { { "comm", TAP_PF_WAKING_COMM },
	    { "pid", TAP_PF_WAKING_PID },
	    { "prio", TAP_PF_WAKING_PRIO },
	    { "target_cpu", TAP_PF_WAKING_TARGET_CPU } } },
	{ "sched",
	  "sched_wakeup_new",
	  114,
	  { { "comm", 1 }, { "pid", 2 }, { "prio", 3 }, { "target_cpu", 5 } } },
	{ "sched",
	  "sched_migrate_task",
	  491,
	  { { "comm", 1 }, { "pid", 2 }, { "prio", 3 }, { "orig_cpu", 4 }, { "dest_cpu", 5 } } },
	{ "sched",
	  "sched_pi_setprio",
	  353,
	  { { "comm", 1 }, { "newprio", 2 }, { "oldprio", 3 }, { "pid", 4 } } },
	{ "sched",
	  "sched_process_exec",
	  237,
	  { { "filename", 1 }, { "pid", 2 }, { "old_pid", 3 } } },
	{ "sched", "sched_process_exit", 238, { { "comm", 1 }, { "pid", 2 }, { "prio", 4 } } },
	{ "sched",
	  "sched_process_fork",
	  239,
	  { { "parent_comm", 1 }, { "parent_pid", 2 }, { "child_comm", 3 }, { "child_pid", 4 } } },
	{ "sched", "sched_process_free", 240, { { "comm", 1 }, { "pid", 2 }, { "prio", 3 } } },
	{ "task",
	  "task_newtask",
	  235,
	  { { "pid", 1 }, { "comm", 2 }, { "clone_flags", 3 }, { "oom_score_adj", 4 } } },
	{ "task",
	  "task_rename",
	  236,
	  { { "pid", 1 }, { "oldcomm", 2 }, { "newcomm", 3 }, { "oom_score_adj", 4 } } },
	{ "irq", "irq_handler_entry", 36, { { "irq", 1 }, { "name", 2 } } },
	{ "irq", "irq_handler_exit", 37, { { "irq", 1 }, { "ret", 2 } } },
	{ "irq", "softirq_entry", 24, { { "vec", 1 } } },
	{ "irq", "softirq_exit", 25, { { "vec", 1 } } },
	{ "irq", "softirq_raise", 26, { { "vec", 1 } } },
	{ "power", "cpu_frequency", 11, { { "state", 1 }, { "cpu_id", 2 } } },
	{ "power", "cpu_idle", 13, { { "state", 1 }, { "cpu_id", 2 } } },
	{ "power", "suspend_resume", 113, { { "action", 1 }, { "val", 2 }, { "start", 3 } } },
};

void tap_ftrace_event_init(struct tap_ftrace_event *e, const struct tap_format *fmt,
			   const char *name)
{
	*e = (struct tap_ftrace_event){ 0 };
	tap_num_init(&e->current, tap_number_field(fmt, "common_pid"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcmp(rows[i].name, name) || strcmp(rows[i].system, fmt->system))
			continue;
		e->number = rows[i].number;
		for (unsigned int f = 0; f < TAP_FTRACE_FIELDS && rows[i].fields[f].name; f++) {
			e->fields[f].field = tap_format_field(fmt, rows[i].fields[f].name);
			e->fields[f].number = rows[i].fields[f].number;
		}
	}
}

static void put_field(struct tap_buf *b, unsigned int number, const struct tap_field *f,
		      const struct tap_event *ev)
{
	const char *bytes;
	uint32_t len;

	switch (f->kind) {
	case TAP_FIELD_NUMBER:
		tap_proto_u64(b, number, tap_field_u64(f, ev->data, ev->size));
		break;
	case TAP_FIELD_CHARS:
	case TAP_FIELD_STRING:
		bytes = tap_field_bytes(f, ev->data, ev->size, &len);
		tap_proto_text(b, number, bytes, len);
		break;
	default: /* no row has other kinds, but a recording's format might */
		break;
	}
}

void tap_ftrace_event_put(const struct tap_ftrace_event *e, struct tap_bundle *b,
			  const struct tap_event *ev)
{
	int tid = e->current.size ? tap_num_int(&e->current, ev) : 0;
	size_t event = tap_bundle_event_begin(b, ev->ts_ns, tid),
	       message = tap_proto_begin(&b->events, e->number);

	for (unsigned int f = 0; f < TAP_FTRACE_FIELDS && e->fields[f].number; f++)
		if (e->fields[f].field)
			put_field(&b->events, e->fields[f].number, e->fields[f].field, ev);
	tap_proto_end(&b->events, message);
	tap_bundle_event_end(b, event);
}

static void put_task(struct tap_buf *b, unsigned int comm_field, const char *comm,
		     unsigned int tid_field, int tid, unsigned int prio_field, int prio)
{
	tap_proto_comm(b, comm_field, comm);
	tap_proto_s64(b, tid_field, tid);
	tap_proto_s64(b, prio_field, prio);
}

void tap_ftrace_switch_put(struct tap_bundle *b, const struct tap_ftrace_switch *s)
{
	size_t event = tap_bundle_event_begin(b, s->ts_ns, s->prev),
	       message = tap_proto_begin(&b->events, TAP_PF_EVENT_SWITCH);

	put_task(&b->events, TAP_PF_SWITCH_PREV_COMM, s->prev_comm, TAP_PF_SWITCH_PREV_PID, s->prev,
		 TAP_PF_SWITCH_PREV_PRIO, s->prev_prio);
	tap_proto_s64(&b->events, TAP_PF_SWITCH_PREV_STATE, s->prev_state);
	put_task(&b->events, TAP_PF_SWITCH_NEXT_COMM, s->next_comm, TAP_PF_SWITCH_NEXT_PID, s->next,
		 TAP_PF_SWITCH_NEXT_PRIO, s->next_prio);
	tap_proto_end(&b->events, message);
	tap_bundle_event_end(b, event);
}

void tap_ftrace_waking_put(struct tap_bundle *b, uint64_t ts_ns, int tid,
			   const struct tap_task *task)
{
	size_t event = tap_bundle_event_begin(b, ts_ns, tid),
	       message = tap_proto_begin(&b->events, TAP_PF_EVENT_WAKING);

	put_task(&b->events, TAP_PF_WAKING_COMM, task->comm, TAP_PF_WAKING_PID, task->tid,
		 TAP_PF_WAKING_PRIO, task->prio);
	tap_proto_s64(&b->events, TAP_PF_WAKING_TARGET_CPU, task->cpu);
	tap_proto_end(&b->events, message);
	tap_bundle_event_end(b, event);
}
