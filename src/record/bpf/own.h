/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs for events whose definitions are read at run time (record/program/recorder.h). */
#ifndef TAP_RECORD_BPF_OWN_H
#define TAP_RECORD_BPF_OWN_H

#include "record/bpf/load.h"
#include "record/program/attach.h"
#include "record/program/feed.h"
#include "record/program/functions.h"

struct tap_bpf_own { /* all zero: none */
	struct tap_bpf_own_program {
		const struct tap_def *def;
		struct tap_feed feed;
		int prog; /* descriptor */
		struct tap_links links;
	} * v;
	unsigned int nr, cap;
};

/*
 * Load a program for each planned event that has none in the object, which is loaded. If the kernel
 * refuses one, its event becomes TAP_EVENT_FAILED. Return: 0; -EINVAL with a sentence: a definition
 * does not fit this kernel; -errno.
 */
int tap_bpf_own_load(struct tap_bpf_own *own, const struct bpf_object *obj, struct tap_plan *plan,
		     const struct tap_kernel *kernel, struct tap_err *err);
/*
 * Find the object's functions that programs made at run time call. Return: 0; -EINVAL with a
 * sentence.
 */
int tap_bpf_find_functions(const struct bpf_object *obj, struct tap_functions *functions,
			   struct tap_err *err);
void tap_bpf_own_detach(struct tap_bpf_own *own);
void tap_bpf_own_release(struct tap_bpf_own *own); /* also detaches */

#endif
