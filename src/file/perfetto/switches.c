// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/perfetto/trace.h"

#define MAX_TIDS 4194304u /* the kernel's PID_MAX_LIMIT; tids are lower */

static const char no_comm[TAP_PFT_COMM];

void tap_pft_copy_comm(char to[TAP_PFT_COMM], const struct tap_proto_in *from)
{
	const size_t len = tap_proto_len(from);

	memset(to, 0, TAP_PFT_COMM);
	if (len)
		memcpy(to, from->at, len < TAP_PFT_COMM ? len : TAP_PFT_COMM - 1);
}

void tap_pft_switches_begin(struct tap_pft *t)
{
	const struct tap_format *s, *w;

	t->of_switch.fmt = s = tap_made_kind(t->made, "sched", "sched_switch", 12, NULL, NULL);
	t->of_waking.fmt = w = tap_made_kind(t->made, "sched", "sched_waking", 12, NULL, NULL);
	if (!s || !w)
		return;
	t->of_switch.prev_comm = tap_format_field(s, "prev_comm");
	t->of_switch.prev_pid = tap_format_field(s, "prev_pid");
	t->of_switch.prev_prio = tap_format_field(s, "prev_prio");
	t->of_switch.prev_state = tap_format_field(s, "prev_state");
	t->of_switch.next_comm = tap_format_field(s, "next_comm");
	t->of_switch.next_pid = tap_format_field(s, "next_pid");
	t->of_switch.next_prio = tap_format_field(s, "next_prio");
	t->of_waking.comm = tap_format_field(w, "comm");
	t->of_waking.pid = tap_format_field(w, "pid");
	t->of_waking.prio = tap_format_field(w, "prio");
	t->of_waking.target_cpu = tap_format_field(w, "target_cpu");
}

/*
 * Our own export has tasks above all tids in place of tasks that are not known, and of those of
 * CPUs that are offline. A switch to one of them was made up: what the CPU runs is not known
 * because events are missing, which the reports notice themselves.
 */
static inline bool is_task(int tid)
{
	return (unsigned int)tid < MAX_TIDS;
}

static inline bool is_made_up(int tid)
{
	return tid >= (int)MAX_TIDS;
}

int tap_pft_running(const struct tap_pft_cpu *c)
{
	return is_task(c->tid) ? c->tid : TAP_PFT_NO_TASK;
}

static void put_number(unsigned char *rec, const struct tap_field *f, int64_t value)
{
	tap_made_number(rec, f, (uint64_t)value);
}

static void put_comm(unsigned char *rec, const struct tap_field *f, const char *comm)
{
	memcpy(rec + f->offset, comm, TAP_PFT_COMM);
}

static void put_switch(struct tap_pft *t, unsigned int cpu, const struct tap_pft_switch *s)
{
	unsigned char *rec = tap_made_add(t->made, t->of_switch.fmt, cpu, s->ts_ns,
					  s->prev >= 0 ? s->prev : s->next, 0);

	if (!rec)
		return;
	t->nr_added++;
	rec[2] = (unsigned char)s->flags;
	put_comm(rec, t->of_switch.prev_comm, s->prev_comm);
	put_number(rec, t->of_switch.prev_pid, s->prev >= 0 ? s->prev : TAP_PFT_NO_TASK);
	put_number(rec, t->of_switch.prev_prio, s->prev_prio);
	put_number(rec, t->of_switch.prev_state, tap_pft_prev_state(t, s->prev_state));
	put_comm(rec, t->of_switch.next_comm, s->next_comm);
	put_number(rec, t->of_switch.next_pid, s->next);
	put_number(rec, t->of_switch.next_prio, s->next_prio);
}

/* The CPU was found running the task, without a switch to it. */
static void put_found(struct tap_pft *t, unsigned int cpu, const struct tap_pft_cpu *c)
{
	put_switch(t, cpu,
		   &(const struct tap_pft_switch){ .ts_ns = c->switch_ns,
						   .prev = TAP_PFT_NO_TASK,
						   .prev_comm = no_comm,
						   .next = c->tid,
						   .next_prio = c->prio,
						   .next_comm = c->comm });
}

void tap_pft_add_switch(struct tap_pft *t, unsigned int cpu, struct tap_pft_switch s,
			bool is_column)
{
	struct tap_pft_cpu *c = tap_pft_cpu(t, cpu);
	bool is_first = c && !c->switch_ns;
	char comm[TAP_PFT_COMM];

	if (!c)
		return;
	if (is_column) {
		s.prev = c->tid;
		s.prev_prio = c->prio;
		s.prev_comm = memcpy(comm, c->comm, TAP_PFT_COMM);
	}
	c->left = s.prev;
	c->switch_ns = s.ts_ns;
	c->tid = s.next;
	c->prio = s.next_prio;
	memcpy(c->comm, s.next_comm, TAP_PFT_COMM);
	c->is_found = is_made_up(s.prev) && is_task(s.next) && !is_first;
	if (is_made_up(s.prev) && is_task(s.next) && is_first)
		put_found(t, cpu, c);
	else if (!is_made_up(s.prev) && !is_made_up(s.next))
		put_switch(t, cpu, &s);
}

void tap_pft_end_switches(struct tap_pft *t)
{
	for (unsigned int cpu = 0; cpu < t->nr_cpus; cpu++)
		if (t->cpus[cpu].is_found)
			put_found(t, cpu, &t->cpus[cpu]);
}

/*
 * Our own export repeats the waking of a task that was woken before it slept, 1 ns after the switch
 * to another task, as a message. The kernel cannot be so fast.
 */
static bool is_repeated(const struct tap_pft_cpu *c, const struct tap_pft_waking *w)
{
	return w->tid == c->left && w->ts_ns == c->switch_ns + 1 && !w->is_column;
}

void tap_pft_add_waking(struct tap_pft *t, unsigned int cpu, const struct tap_pft_waking *w)
{
	const struct tap_pft_cpu *c = tap_pft_cpu(t, cpu);
	unsigned char *rec;

	if (!c || is_repeated(c, w))
		return;
	rec = tap_made_add(t->made, t->of_waking.fmt, cpu, w->ts_ns, w->by, 0);
	if (!rec)
		return;
	t->nr_added++;
	rec[2] = (unsigned char)w->flags;
	put_comm(rec, t->of_waking.comm, w->comm);
	put_number(rec, t->of_waking.pid, w->tid);
	put_number(rec, t->of_waking.prio, w->prio);
	put_number(rec, t->of_waking.target_cpu, w->target_cpu);
}
