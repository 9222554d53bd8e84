/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stage 3 of <schedtap/define_trace.h>: a struct for the offsets of the dynamic data in a record,
 * and for pointers to the texts that are copied into it.
 */
#pragma GCC system_header
#undef TAP_WRONG_FIELD
#define TAP_WRONG_FIELD(text)
#undef TAP_FIELD
#define TAP_FIELD(type, item)
#undef TAP_STRUCT
#define TAP_STRUCT(type, item)
#undef TAP_ARRAY
#define TAP_ARRAY(type, item, len)
#undef TAP_DYNAMIC
#define TAP_DYNAMIC(kind, type, item, len) uint32_t item;
#undef TAP_TEXT
#define TAP_TEXT(kind, item, src, len) uint32_t item; const char *item##_ptr_;
#undef TAP_BITS
#define TAP_BITS(kind, item, type, nr_bits) uint32_t item;

#undef TAP_ON_DECLARE_EVENT_CLASS
#define TAP_ON_DECLARE_EVENT_CLASS(x, name, proto, args, tstruct, assign, print)                   \
	struct trace_event_data_offsets_##name {                                                   \
		tstruct                                                                            \
		char __none; /* ISO C has no empty struct */                                       \
	};
