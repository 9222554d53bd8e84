/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Load the embedded object: choose its programs, set their constants, and handle programs that the
 * kernel refuses (leave out the event, note the reason, try again).
 */
#ifndef TAP_RECORD_BPF_LOAD_H
#define TAP_RECORD_BPF_LOAD_H

#include "record/bpf/kernel.h"
#include "record/bpf/planned.h"
#include "ring.h"

struct tap_bpf_object {
	struct bpf_object *obj;
	bool ringbuf; /* use the fallback, a BPF ring buffer */
	uint64_t ring_bytes; /* per CPU, a power of two; of the BPF ring buffer: in total */
};

/*
 * Load a program for every event of the plan that belongs to this backend and is planned. If the
 * kernel refuses a program, its event becomes TAP_EVENT_FAILED.
 * Return: 0; -EPERM with the capability that is missing; -ENOENT if no event is left; -errno.
 */
int tap_bpf_load(struct tap_bpf_object *o, struct tap_plan *plan, const struct tap_kernel *kernel,
		 struct tap_err *err);

/* Return: bytes from one CPU's part of the map "tap_rings" to the next. */
size_t tap_bpf_stride(const struct tap_bpf_object *o);

/*
 * scope.c: set the filters by CPU, name and cgroup as constants, before loading. Return: 0; -errno
 * with a sentence.
 */
int tap_bpf_scope_constants(struct bpf_object *obj, const struct tap_plan *plan,
			    struct tap_err *err);

/* Return: whether tasks are filtered by pid or tid. */
static inline bool tap_bpf_by_task(const struct tap_select *select)
{
	return select->by & (TAP_SELECT_TGIDS | TAP_SELECT_TIDS);
}

/*
 * tasks.c: fill the set of recorded tasks. The programs that update it must be attached before.
 * Return: 0; -ESRCH naming a process or thread that does not exist; -errno.
 */
int tap_bpf_find_tasks(struct bpf_object *obj, const struct tap_select *select,
		       struct tap_err *err);

#endif
