/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions that programs made at run time call, out of an object that is loaded for them
 * alone. */
#ifndef TAP_TESTS_LIVE_OWN_FUNCTIONS_H
#define TAP_TESTS_LIVE_OWN_FUNCTIONS_H

#include <string.h>

#include "event/defs.h"
#include "record/object/object.h"
#include "record/program/functions.h"

/* Find the kernel functions that programs of own events may call. Return: the loaded object that
 * has them, which the caller closes after the last use; NULL on failure. */
static struct bpf_object *load_functions(struct tap_functions *functions)
{
	struct bpf_object *obj = tap_bpf_open();
	struct bpf_program *prog;

	if (!obj)
		return NULL;
	bpf_object__for_each_program(prog, obj)
		bpf_program__set_autoload(prog, tap_bpf_kind(prog) == TAP_BPF_HAS_FUNCTIONS);
	prog = bpf_object__find_program_by_name(obj, "tap_own_functions");
	if (!bpf_object__load(obj) && !tap_functions_find(functions, prog))
		return obj;
	bpf_object__close(obj);
	return NULL;
}

/* What the object alone can do: capacity_orig since v6.7, a loop over groups, and what keeps who is
 * throttled. @why: what was said. */
static bool is_of_object_alone(const struct tap_def *def, const char *why)
{
	return strstr(why, "cpu_capacity_orig") || !strcmp(def->name, "sched_pick") ||
	       !strncmp(def->name, "sched_throttle", strlen("sched_throttle")) ||
	       !strcmp(def->name, "sched_unthrottle");
}

#endif
