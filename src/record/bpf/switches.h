/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What triggers switch over BPF: the maps of bpf/switch_maps.h. The plan's index of an event is its
 * number there. */
#ifndef TAP_RECORD_BPF_SWITCHES_H
#define TAP_RECORD_BPF_SWITCHES_H

#include <bpf/libbpf.h>

#include "record/plan.h"
#include "switch_maps.h"

/* Before the object is loaded. Return: 0 or -errno. */
int tap_bpf_size_switches(const struct bpf_object *obj, const struct tap_plan *plan);

struct tap_bpf_switches { /* all zero: there are no triggers */
	struct tap_switch *switches; /* mapped */
	struct tap_off *off; /* mapped: by event and CPU */
	size_t switches_bytes, off_bytes;
	unsigned int seen; /* changes of the recording's own */
};

/*
 * After it is loaded: what is on when it begins, and the triggers. Return: 0; -EINVAL with a
 * sentence: a trigger's event is recorded over BPF, and its action cannot be had there; -errno.
 */
int tap_bpf_switches_open(struct tap_bpf_switches *s, const struct bpf_object *obj,
			  const struct tap_plan *plan, struct tap_err *err);
void tap_bpf_switches_release(struct tap_bpf_switches *s);

#endif
