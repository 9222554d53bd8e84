/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stage 2 of <schedtap/define_trace.h>: the struct of a class's records, with the layout that the
 * kernel's trace_event_raw_<class> has.
 */
#pragma GCC system_header
#undef TAP_WRONG_FIELD
#define TAP_WRONG_FIELD(text) TAP_STATIC_ASSERT(0, text);
#define TAP_FIELD(type, item) type item;
#define TAP_STRUCT(type, item) type item;
#define TAP_ARRAY(type, item, len) type item[len];
#define TAP_DYNAMIC(kind, type, item, len) uint32_t __##kind##_loc_##item;
#define TAP_TEXT(kind, item, src, len) uint32_t __##kind##_loc_##item;
#define TAP_BITS(kind, item, type, nr_bits) uint32_t __##kind##_loc_##item;

#undef TAP_ON_DECLARE_EVENT_CLASS
#define TAP_ON_DECLARE_EVENT_CLASS(x, name, proto, args, tstruct, assign, print)                   \
	struct trace_event_raw_##name {                                                            \
		struct trace_entry ent;                                                            \
		tstruct                                                                            \
		char __data[];                                                                     \
	};
