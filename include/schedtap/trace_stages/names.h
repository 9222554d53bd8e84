/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stage 5 of <schedtap/define_trace.h>: types and names of fields, as one text without addresses
 * in it.
 */
#pragma GCC system_header

/*
 * a field's type has the name that the header has for it, also where <stdbool.h> made that a macro
 */
#pragma push_macro("bool")
#undef bool
#if !defined(__cplusplus) && __STDC_VERSION__ < 202311L
typedef _Bool bool;
#endif

#undef TAP_FIELD
#define TAP_FIELD(type, item) #type "\0" #item "\0"
#undef TAP_STRUCT
#define TAP_STRUCT(type, item) #type "\0" #item "\0"
#undef TAP_ARRAY
#define TAP_ARRAY(type, item, len) #type "[" TAP_STRING(len) "]\0" #item "\0"
#undef TAP_DYNAMIC
#define TAP_DYNAMIC(kind, type, item, len) "__" #kind "_loc " #type "[]\0" #item "\0"
#undef TAP_TEXT
#define TAP_TEXT(kind, item, src, len) "__" #kind "_loc char[]\0" #item "\0"
#undef TAP_BITS
#define TAP_BITS(kind, item, type, nr_bits) "__" #kind "_loc " type "\0" #item "\0"

#undef TAP_ON_DECLARE_EVENT_CLASS
#define TAP_ON_DECLARE_EVENT_CLASS(x, name, proto, args, tstruct, assign, print)                   \
	TAP_AT_START static const char trace_event_names_##name[] = "" tstruct;
