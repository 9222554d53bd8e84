/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clang-format off */
/*
 * Defines the events of an event header, which includes this file at its end. Only the one .c file
 * that defines CREATE_TRACE_POINTS gets the definitions. As in the kernel, the header is read once
 * for each of these stages, with another definition of TRACE_EVENT() and its parts in each:
 *
 *   1  tracepoints			__tracepoint_<event>, __traceiter_<event>()
 *   2  records				struct trace_event_raw_<class>
 *   3  offsets of dynamic data		struct trace_event_data_offsets_<class>
 *   4  sizes of dynamic data		trace_event_get_offsets_<class>()
 *   5  names and types of fields	trace_event_names_<class>
 *   6  offsets of fields		trace_event_fields_<class>()
 *   7  printing			trace_raw_output_<class>()
 *   8  recording			trace_event_raw_event_<class>()
 *   9  class, events, print formats	trace_event_info_<class>(), event_<event>
 *
 * The header is looked up in the compiler's include path, as in the kernel: TRACE_INCLUDE_FILE
 * (default: TRACE_SYSTEM) with ".h" added, in the folder TRACE_INCLUDE_PATH. If that is not
 * defined, the folder is trace/events if the header is there, else none.
 */
#pragma GCC system_header
/* a declaration for TAP_END to apply to, if the last event in the header has no semicolon */
struct tracepoint;

#ifdef CREATE_TRACE_POINTS
/* the header, when read again, includes this file again: define the events only once */
#undef CREATE_TRACE_POINTS

#ifndef TRACE_SYSTEM
#error "define TRACE_SYSTEM, the name of the group of events, in the event header"
#endif

#ifndef NOTRACE
#include <schedtap/trace_events.h>

#ifndef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE TRACE_SYSTEM
#define TAP_UNDEF_INCLUDE_FILE
#endif
#ifdef TRACE_INCLUDE_PATH
#define TAP_TRACE_HEADER TAP_STRING(TRACE_INCLUDE_PATH/TRACE_INCLUDE_FILE.h)
#elif __has_include(TAP_STRING(trace/events/TRACE_INCLUDE_FILE.h))
#define TAP_TRACE_HEADER TAP_STRING(trace/events/TRACE_INCLUDE_FILE.h)
#else
#define TAP_TRACE_HEADER TAP_STRING(TRACE_INCLUDE_FILE.h)
#endif

/* lets the header be read again */
#define TRACE_HEADER_MULTI_READ

/* ---- macros with the same meaning in every stage but the first ---- */

/* A comma between fields is an error. Fields after the eighth comma are dropped: more errors. */
#define TP_STRUCT__entry(fields...)                                                                \
	TAP_PASTE(TAP_FIELDS_, TAP_IS_RIGHT(1, TAP_COUNT(~, ##fields)))(~, ##fields)
#define TAP_RIGHT_1_0 0,
#define TAP_FIELDS_1(x, fields...) fields
#define TAP_FIELDS_0(x, fields...)                                                                 \
	TAP_WRONG_FIELD("TP_STRUCT__entry(): there is a comma behind a field")                     \
	TAP_FIELDS_JOINED(x, ##fields, , , , , , , , )
#define TAP_FIELDS_JOINED(x, a, b, c, d, e, f, g, h, ...) a b c d e f g h
#define TP_fast_assign(args...) args

/* no stage uses all arguments of an event */
TAP_IGNORE_UNUSED
/*
 * Compilers may warn about the program's own header, but not about the empty declarations before
 * its semicolons, which most stages leave, nor about records of variable size on the stack.
 */
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Walloca"
#ifdef __clang__
# 1 "schedtap/define_trace.h" 1
# 76 "schedtap/define_trace.h" 2
#else
# 78 "schedtap/define_trace.h"
#endif
/* gcc decides by the place of the printf() call, not of its format, whether it warns */
#define TAP_PRINT(s, ...) tap_seq_printf(s, __VA_ARGS__)
#include <schedtap/trace_stages/tracepoints.h>
#include TAP_TRACE_HEADER
#include <schedtap/trace_stages/as_classes.h>
#include <schedtap/trace_stages/records.h>
#include TAP_TRACE_HEADER
#include <schedtap/trace_stages/offsets.h>
#include TAP_TRACE_HEADER
#pragma GCC diagnostic push
/* the test whether a field is a struct promotes a float field */
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#include <schedtap/trace_stages/sizes.h>
#include TAP_TRACE_HEADER
#pragma GCC diagnostic pop
#include <schedtap/trace_stages/names.h>
#include TAP_TRACE_HEADER
#include <schedtap/trace_stages/fields.h>
#include TAP_TRACE_HEADER
#include <schedtap/trace_stages/print.h>
#include TAP_TRACE_HEADER
#include <schedtap/trace_stages/record.h>
#include TAP_TRACE_HEADER
#include <schedtap/trace_stages/events.h>
#include TAP_TRACE_HEADER
#pragma GCC system_header
#include <schedtap/trace_stages/end.h>
TAP_IGNORE_END
#include <schedtap/object.h>

#undef TRACE_HEADER_MULTI_READ
#undef TAP_TRACE_HEADER
#ifdef TAP_UNDEF_INCLUDE_FILE
#undef TAP_UNDEF_INCLUDE_FILE
#undef TRACE_INCLUDE_FILE
#endif
#endif /* NOTRACE */

/* the next event header that is included defines its events, too */
#define CREATE_TRACE_POINTS
#endif
