/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads the object with the functions that programs made at run time call. */
#ifndef TAP_TESTS_LIVE_OWN_FUNCTIONS_H
#define TAP_TESTS_LIVE_OWN_FUNCTIONS_H

#include <string.h>

#include "event/defs.h"
#include "record/object/object.h"
#include "record/program/functions.h"

/*
 * Return: an object to be closed after the last use of the functions; NULL if they are not
 * available.
 */
static struct bpf_object *load_functions(struct tap_functions *functions)
{
	struct bpf_object *obj = tap_bpf_open();
	struct bpf_program *prog;

	if (!obj)
		return NULL;
	bpf_object__for_each_program (prog, obj)
		bpf_program__set_autoload(prog, tap_bpf_kind(prog) == TAP_BPF_HAS_FUNCTIONS);
	prog = bpf_object__find_program_by_name(obj, "tap_own_functions");
	if (!bpf_object__load(obj) && !tap_functions_find(functions, prog))
		return obj;
	bpf_object__close(obj);
	return NULL;
}

/*
 * Return true if only the built-in object can record this event: cpu_capacity_orig since v6.7 (@why
 * names it), sched_pick, which loops over groups, and throttling, which stores throttled tasks.
 */
static bool is_of_object_alone(const struct tap_def *def, const char *why)
{
	return strstr(why, "cpu_capacity_orig") || !strcmp(def->name, "sched_pick") ||
	       !strncmp(def->name, "sched_throttle", strlen("sched_throttle")) ||
	       !strcmp(def->name, "sched_unthrottle");
}

#endif
