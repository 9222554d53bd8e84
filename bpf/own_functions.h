/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of own.h, in the order in which tap_own_functions() calls them. */
#ifndef TAP_BPF_OWN_FUNCTIONS_H
#define TAP_BPF_OWN_FUNCTIONS_H

enum tap_own_function {
	TAP_OWN_CPU_WANTED, /* () */
	TAP_OWN_TASK_WANTED, /* (task) */
	TAP_OWN_SE_WANTED, /* (sched_entity) */
	TAP_OWN_CAPACITY, /* (cpu): arch_scale_cpu_capacity(), 0..1024 */
	TAP_OWN_TAKE, /* (space): returns a struct tap_rec, or NULL */
	TAP_OWN_TEXT, /* (payload, used, max, kernel source): returns the text's __data_loc */
	/* (payload, used, max, user-space source): returns the text's __data_loc */
	TAP_OWN_USER_TEXT,
	TAP_OWN_BITMASK, /* (payload, used, bytes, source): returns the bitmask's __data_loc */
	/* (context, struct tap_rec, its space, stacks to record: stack_maps.h) */
	TAP_OWN_STACKS,
	TAP_OWN_COMMIT, /* (struct tap_rec, space, used) */
	TAP_OWN_IS_ON, /* (switch of switch_maps.h): whether it is on */
	TAP_OWN_PULL_TRIGGER, /* (trigger) */
	TAP_OWN_PASS_GATE, /* (event, whether the recording is on): whether to record the event */
	TAP_NR_OWN_FUNCTIONS,
};

#endif
