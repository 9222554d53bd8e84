/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Switches and triggers (`record --trigger`). Included by the programs and by the loader. Only
 * programs that are generated for a recording with triggers read these maps (gate.h), so other
 * recordings have no overhead.
 */
#ifndef TAP_BPF_SWITCH_MAPS_H
#define TAP_BPF_SWITCH_MAPS_H

/*
 * Element of the map "tap_switches": element 0 is the switch of the whole recording, 1 + n that of
 * event n.
 */
struct tap_switch {
	unsigned int on;
	unsigned int changes; /* number of changes by triggers */
	unsigned int type; /* common_type of the event; 0: events that are off are not counted */
	unsigned int pad;
};

/* Element of the map "tap_triggers". */
struct tap_trigger_state {
	unsigned int which; /* index in "tap_switches" */
	unsigned int to;
	/* remaining times; < 0 if several CPUs took the last one at once */
	long long left;
};

/*
 * Element of the map "tap_off", at index event * CPUs + CPU: events not recorded there since the
 * last events_off record.
 */
struct tap_off {
	unsigned long long count, first_ns, last_ns, pad;
};

#endif
