/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What triggers switch (`record --trigger`): read by the programs and by their loader. Only
 * programs that are made for a recording with triggers ask (gate.h), so others pay nothing.
 */
#ifndef TAP_BPF_SWITCH_MAPS_H
#define TAP_BPF_SWITCH_MAPS_H

/* Of the map "tap_switches": 0 is the whole recording's, 1 + n that of the event n. */
struct tap_switch {
	unsigned int on;
	unsigned int changes; /* by triggers */
	unsigned int type; /* common_type of the event; 0: what it does not record is not told */
	unsigned int pad;
};

/* Of the map "tap_triggers". */
struct tap_trigger_state {
	unsigned int which; /* switch */
	unsigned int to;
	long long left; /* how often it may still; below 0: two CPUs had it at once */
};

/* Of the map "tap_off", at event * CPUs + CPU: what was not recorded there since it was last told.
 */
struct tap_off {
	unsigned long long count, first_ns, last_ns, pad;
};

#endif
