/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stage 6 of <schedtap/define_trace.h>: a function that returns the offsets and sizes of a class's
 * fields. The table is inside a function so that TAP_RAW can be a local name of the class's struct.
 */
#pragma GCC system_header
#pragma pop_macro("bool")
/*
 * TP_STRUCT__entry() refuses commas between fields. In this stage fields expand to initializers
 * with commas, and a macro of the event header may expand them first, so do not check here.
 */
#pragma push_macro("TP_STRUCT__entry")
#undef TP_STRUCT__entry
#define TP_STRUCT__entry(fields...) fields

/* works for pointers and bool, too, although compilers may warn about the comparison */
#define TAP_IS_SIGNED(type) ((type)(-1) < (type)1)

#undef TAP_FIELD
#define TAP_FIELD(type, item)                                                                      \
	{ offsetof(TAP_RAW, item), sizeof(TAP_TYPE(item)), TAP_IS_SIGNED(TAP_TYPE(item)), 0 },
#undef TAP_STRUCT
#define TAP_STRUCT(type, item)                                                                     \
	{ offsetof(TAP_RAW, item), sizeof(TAP_TYPE(item)), 0, 0 },
#undef TAP_ARRAY
#define TAP_ARRAY(type, item, len)                                                                 \
	{ offsetof(TAP_RAW, item), sizeof(TAP_TYPE(item)), TAP_IS_SIGNED(TAP_TYPE(item[0])), len },
#undef TAP_DYNAMIC
#define TAP_DYNAMIC(kind, type, item, len)                                                         \
	{ offsetof(TAP_RAW, __##kind##_loc_##item), sizeof(uint32_t), TAP_IS_SIGNED(type), 0 },
#undef TAP_TEXT
#define TAP_TEXT(kind, item, src, len)                                                             \
	{ offsetof(TAP_RAW, __##kind##_loc_##item), sizeof(uint32_t), TAP_IS_SIGNED(char), 0 },
#undef TAP_BITS
#define TAP_BITS(kind, item, type, nr_bits)                                                        \
	{ offsetof(TAP_RAW, __##kind##_loc_##item), sizeof(uint32_t), 0, 0 },

#undef TAP_ON_DECLARE_EVENT_CLASS
#define TAP_ON_DECLARE_EVENT_CLASS(x, name, proto, args, tstruct, assign, print)                   \
	TAP_CODE_AT_START                                                                          \
	static const struct trace_event_field *trace_event_fields_##name(unsigned int *nr)         \
	{                                                                                          \
		typedef struct trace_event_raw_##name TAP_RAW;                                     \
		typedef uint8_t u8 __attribute__((unused)); /* for __sockaddr() */                 \
		TAP_FIELDS_AT_START static const struct trace_event_field fields[] = { tstruct { 0, 0, 0, 0 } };          \
		TAP_STATIC_ASSERT(sizeof(TAP_RAW) <= TAP_RECORD_MAX,                               \
				  "event " #name ": its fields are longer than a record may be");  \
		TAP_STATIC_ASSERT(__alignof__(TAP_RAW) <= 8,                                       \
				  "event " #name ": a field's type has an alignment above 8");     \
                                                                                                   \
		for (*nr = 0; fields[*nr].offset; ++*nr)                                           \
			;                                                                          \
		return fields;                                                                     \
	}
