/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* As <trace/define_trace.h>, for the .c file that has defined CREATE_CUSTOM_TRACE_EVENTS. */
#ifdef CREATE_CUSTOM_TRACE_EVENTS
#undef CREATE_CUSTOM_TRACE_EVENTS
#define CREATE_TRACE_POINTS
#include <schedtap/define_trace.h>
#undef CREATE_TRACE_POINTS
#define CREATE_CUSTOM_TRACE_EVENTS
#endif
