/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether an event is switched on, and what triggers do (switch_maps.h). What is turned away is
 * counted for each CPU and event, with the first and the last time; the first record behind it is
 * preceded by one that says so (events/lost.h). So the order in the ring is right, and while all is
 * off nothing is written.
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

/* As traceoff_count_trigger() of the kernel: what is so already takes nothing of its count. */
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

/* Where there is no room, it is told later. */
static __always_inline void tap_tell_off(struct tap_off *off, u32 type, u32 cpu)
{
	struct raw_events_off *entry;
	struct tap_taken taken;
	struct tap_rec *rec = tap_take(sizeof(*rec) + sizeof(*entry), TAP_STAMP_OWN, &taken);

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

/* @tracing: whether the recording is on. Return: whether to record the event. */
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
		tap_tell_off(off, s->type, cpu);
	return true;
}

#endif
