/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stage 5 of <schedtap/define_trace.h>: the types and names of a class's fields, in one string that
 * separates them by NULs. Unlike an array of strings it needs no relocations.
 */
#pragma GCC system_header

/*
 * The string must contain each type as the event header writes it: "bool" must not become "_Bool",
 * even if <stdbool.h> defines bool as a macro.
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
