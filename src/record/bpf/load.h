/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the embedded object to loaded programs: which of them, with which constants, and what
 * to do when the kernel refuses one (leave it out, say why, go on with the rest).
 */
#ifndef TAP_RECORD_BPF_LOAD_H
#define TAP_RECORD_BPF_LOAD_H

#include "record/bpf/kernel.h"
#include "record/bpf/planned.h"
#include "ring.h"

struct tap_bpf_object {
	struct bpf_object *obj;
	bool ringbuf; /* the fallback transport */
	uint64_t ring_bytes; /* per CPU, a power of two; of the ringbuf: in all */
};

/*
 * Loads a program for every event of the plan that is this backend's and still planned.
 * Events whose program the kernel refuses become TAP_EVENT_FAILED.
 * Return: 0; -EPERM with the capability that is missing; -ENOENT if no event is left; -errno.
 */
int tap_bpf_load(struct tap_bpf_object *o, struct tap_plan *plan, const struct tap_kernel *kernel,
		 struct tap_err *err);

/* Bytes from one CPU's part of the map "tap_rings" to the next. */
size_t tap_bpf_stride(const struct tap_bpf_object *o);

/* scope.c: what is selected as constants, before loading. */
int tap_bpf_scope_constants(struct bpf_object *obj, const struct tap_plan *plan,
			    struct tap_err *err);

/* Whether processes or threads are named. */
static inline bool tap_bpf_by_task(const struct tap_select *select)
{
	return select->by & (TAP_SELECT_TGIDS | TAP_SELECT_TIDS);
}

/*
 * tasks.c: fills the set of tasks, when the programs that keep it are attached.
 * Return: 0; -ESRCH naming a process or thread that is not there; -errno.
 */
int tap_bpf_find_tasks(struct bpf_object *obj, const struct tap_select *select,
		       struct tap_err *err);

#endif
