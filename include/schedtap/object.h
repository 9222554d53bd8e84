/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registers an object's (program's or library's) tracepoints and events with schedtap's library
 * when the object is loaded, and unregisters them when it is unloaded. Every file with
 * CREATE_TRACE_POINTS does this for the whole object; the library counts them, and only the first
 * call registers.
 */
#pragma GCC system_header
#ifndef SCHEDTAP_OBJECT_H
#define SCHEDTAP_OBJECT_H

#include <schedtap/trace_events.h>

TAP_C_BEGIN

/*
 * the linker's symbols for the start and the end of sections; NULL if the object has no such
 * section
 */
#define TAP_SECTION(type, name)                                                                    \
	extern TAP_HIDDEN type __start_##name[] __attribute__((weak));                             \
	extern TAP_HIDDEN type __stop_##name[] __attribute__((weak))
TAP_SECTION(struct tracepoint *const, __tap_tracepoints);
TAP_SECTION(struct trace_event_call *const, __tap_events);
TAP_SECTION(const struct trace_eval_map *const, __tap_evals);
TAP_SECTION(const char, tap_texts);
TAP_SECTION(const char, tap_code);
/* declared under another name, because <link.h> declares _DYNAMIC */
extern TAP_HIDDEN const char tap_dynamic[] __asm__("_DYNAMIC") __attribute__((weak));

TAP_HIDDEN extern struct tap_object tap_this_object;
TAP_HIDDEN struct tap_object tap_this_object __attribute__((
	weak)) = { { TAP_ABI, TAP_ABI_LIBRARY, sizeof(struct tap_object), sizeof(struct tracepoint),
		     sizeof(struct trace_event_call), sizeof(struct trace_event_info) },
		   __start___tap_tracepoints,
		   __stop___tap_tracepoints,
		   __start___tap_events,
		   __stop___tap_events,
		   __start___tap_evals,
		   __stop___tap_evals,
		   __start_tap_texts,
		   __stop_tap_texts,
		   __start_tap_code,
		   __stop_tap_code,
		   tap_dynamic,
		   NULL,
		   NULL,
		   0,
		   0 };

/* early, so that events are already on in the constructors of a C++ program */
static void __attribute__((constructor(102))) tap_object_begin(void)
{
	tap_object_add(&tap_this_object);
#if TAP_PATCHED
	tap_object_is_patched();
#endif
}

static void __attribute__((destructor(102))) tap_object_finish(void)
{
	tap_object_remove(&tap_this_object);
}

TAP_C_END

#endif
