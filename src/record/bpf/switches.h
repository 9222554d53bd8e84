/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State of triggers that are recorded over BPF: the maps of bpf/switch_maps.h, which number an
 * event by its index in the plan.
 */
#ifndef TAP_RECORD_BPF_SWITCHES_H
#define TAP_RECORD_BPF_SWITCHES_H

#include <bpf/libbpf.h>

#include "record/plan.h"
#include "switch_maps.h"

/* Size the maps, before the object is loaded. Return: 0 or -errno. */
int tap_bpf_size_switches(const struct bpf_object *obj, const struct tap_plan *plan);

struct tap_bpf_switches { /* all zero: there are no triggers */
	struct tap_switch *switches; /* memory-mapped: [0] is the recording, [1 + index] an event */
	struct tap_off *off; /* memory-mapped: [index * number of CPUs + cpu] */
	size_t switches_bytes, off_bytes;
	unsigned int seen; /* number of changes of the recording that were seen so far */
};

/*
 * Set the initial state and the triggers, once the object is loaded. Return: 0; -EINVAL with a
 * sentence: BPF does not support the action of a trigger; -errno.
 */
int tap_bpf_switches_open(struct tap_bpf_switches *s, const struct bpf_object *obj,
			  const struct tap_plan *plan, struct tap_err *err);
void tap_bpf_switches_release(struct tap_bpf_switches *s);

#endif
