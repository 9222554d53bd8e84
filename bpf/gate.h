/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Switches that turn events on and off, and the triggers that change them (switch_maps.h). Events
 * that are switched off are counted per CPU and event, with the first and last time. The next
 * record of that event is preceded by an events_off record (events/lost.h). So the ring stays in
 * time order, and nothing is written while all events are off.
 */
#ifndef TAP_BPF_GATE_H
#define TAP_BPF_GATE_H

#include "switch_maps.h"
#include "transport.h"

#define TAP_SWITCH_MAP(name, element)                                                              \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(map_flags, BPF_F_MMAPABLE);                                                 \
		__uint(max_entries, 1);                                                            \
		__uint(key_size, sizeof(u32));                                                     \
		__uint(value_size, sizeof(struct element));                                        \
	} name SEC(".maps")

TAP_SWITCH_MAP(tap_switches, tap_switch);
TAP_SWITCH_MAP(tap_triggers, tap_trigger_state);
TAP_SWITCH_MAP(tap_off, tap_off);

static __always_inline bool tap_is_on(u32 which)
{
	struct tap_switch *s = bpf_map_lookup_elem(&tap_switches, &which);

	return s && *(volatile u32 *)&s->on;
}

/*
 * Like the kernel's traceoff_count_trigger(): if the switch already has the wanted state, the
 * trigger's count is not decremented.
 */
static __always_inline void tap_pull_trigger(u32 trigger)
{
	struct tap_trigger_state *t = bpf_map_lookup_elem(&tap_triggers, &trigger);
	struct tap_switch *s;
	u32 which;

	if (!t || t->left <= 0)
		return;
	which = t->which;
	s = bpf_map_lookup_elem(&tap_switches, &which);
	if (!s || s->on == t->to || __sync_lock_test_and_set(&s->on, t->to) == t->to)
		return;
	__sync_fetch_and_add(&s->changes, 1);
	__sync_fetch_and_add(&t->left, -1);
}

static __always_inline void tap_turn_away(struct tap_off *off)
{
	u64 now = bpf_ktime_get_ns();

	if (!off->count)
		off->first_ns = now;
	off->last_ns = now;
	__sync_fetch_and_add(&off->count, 1);
}

/*
 * Write an events_off record for one CPU. If the ring has no room, the count is kept for the next
 * attempt.
 */
static __always_inline void tap_report_off(struct tap_off *off, u32 type, u32 cpu)
{
	struct raw_events_off *entry;
	struct tap_taken taken;
	struct tap_rec *rec = tap_take(sizeof(*rec) + sizeof(*entry), TAP_STAMP_OWN, NULL, &taken);

	if (!rec)
		return;
	entry = (struct raw_events_off *)(rec + 1);
	*(u32 *)&entry->ent = TAP_ID_BASE + index_events_off;
	entry->ent.pid = 0;
	entry->count = off->count;
	entry->first_ns = off->first_ns;
	entry->last_ns = off->last_ns;
	entry->off_cpu = cpu;
	entry->event_type = type;
	off->count = 0;
	tap_commit(rec, sizeof(*rec) + sizeof(*entry), sizeof(*entry));
}

/* @tracing: whether the recording is on. Return: true if the event is to be recorded. */
static __always_inline bool tap_pass_gate(u32 event, u32 tracing)
{
	u32 cpu = bpf_get_smp_processor_id(), which = event + 1, at = event * tap_nr_cpu_ids + cpu;
	struct tap_switch *s = bpf_map_lookup_elem(&tap_switches, &which);
	struct tap_off *off = bpf_map_lookup_elem(&tap_off, &at);

	if (!s || !off || cpu >= tap_nr_cpu_ids)
		return false;
	if (!tracing || !*(volatile u32 *)&s->on) {
		if (s->type)
			tap_turn_away(off);
		return false;
	}
	if (off->count)
		tap_report_off(off, s->type, cpu);
	return true;
}

#endif
