/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cgroups that have a slot of the tally: their names, and slots of cgroups that are gone. */
#ifndef TAP_RECORD_TALLY_SLOTS_H
#define TAP_RECORD_TALLY_SLOTS_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#include <schedtap/err.h>

#include "tally_maps.h"

struct tap_slots {
	struct tap_tally_slot *v; /* mapped */
	unsigned int nr;
	int free_fd; /* of the queue of free slots */
	char **names; /* by slot, owned; NULL: the slot is free, or its cgroup is new */
	uint64_t *released_ns; /* by slot: when its cgroup was found to be gone; 0: it is not */
	unsigned int used; /* number of the last slot that ever had a name, plus one */
};

/* Return: 0; -errno with a sentence. */
int tap_slots_open(struct tap_slots *s, const struct bpf_object *obj, unsigned int nr,
		   bool has_command, struct tap_err *err);
void tap_slots_release(struct tap_slots *s);
/*
 * Find the names of new cgroups, and free the slots of cgroups that have been gone for 10 s: until
 * then a slot may still be the culprit of a wait. Return: 0; -errno with a sentence.
 */
int tap_slots_read(struct tap_slots *s, struct tap_err *err);

#endif
