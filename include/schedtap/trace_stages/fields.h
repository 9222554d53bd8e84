/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stage 5 of <schedtap/define_trace.h>: where fields lie. A function, for offsetof() needs the
 * struct's name.
 */
#pragma pop_macro("bool")

/* also of pointers, and of bool, which compilers find odd */
#define TAP_IS_SIGNED(type) ((type)(-1) < (type)1)

#undef TAP_FIELD
/* __field(int, list[5]) would lose its length: such a name is no struct's. __array() is for it */
#define TAP_NO_ARRAY(item) (0 * sizeof(struct event_field_is_no_array_##item *))
#define TAP_FIELD(type, item)                                                                      \
	{ TAP_NO_ARRAY(item) + offsetof(TAP_RAW, item), sizeof(((TAP_RAW *)0)->item), TAP_IS_SIGNED(type), 0 },
#undef TAP_STRUCT
#define TAP_STRUCT(type, item)                                                                     \
	{ TAP_NO_ARRAY(item) + offsetof(TAP_RAW, item), sizeof(((TAP_RAW *)0)->item), 0, 0 },
#undef TAP_ARRAY
#define TAP_ARRAY(type, item, len)                                                                 \
	{ offsetof(TAP_RAW, item), sizeof(((TAP_RAW *)0)->item), TAP_IS_SIGNED(type), len },
#undef TAP_DYNAMIC
#define TAP_DYNAMIC(kind, type, item, len)                                                         \
	{ offsetof(TAP_RAW, __##kind##_loc_##item), sizeof(uint32_t), TAP_IS_SIGNED(type), 0 },
#undef TAP_TEXT
#define TAP_TEXT(kind, item, src, len)                                                             \
	{ offsetof(TAP_RAW, __##kind##_loc_##item), sizeof(uint32_t), TAP_IS_SIGNED(char), 0 },
#undef TAP_BITS
#define TAP_BITS(kind, item, type, nr_bits)                                                        \
	{ offsetof(TAP_RAW, __##kind##_loc_##item), sizeof(uint32_t), 0, 0 },

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)                             \
	TAP_CODE_AT_START                                                                          \
	static const struct trace_event_field *trace_event_fields_##name(unsigned int *nr)         \
	{                                                                                          \
		typedef struct trace_event_raw_##name TAP_RAW;                                     \
		typedef uint8_t u8 __attribute__((unused)); /* of __sockaddr() */                  \
		TAP_FIELDS_AT_START static const struct trace_event_field fields[] = { tstruct { 0, 0, 0, 0 } };          \
		TAP_STATIC_ASSERT(sizeof(TAP_RAW) <= TAP_RECORD_MAX,                               \
				  "event " #name ": its fields are longer than a record may be");  \
		TAP_STATIC_ASSERT(__alignof__(TAP_RAW) <= 8,                                       \
				  "event " #name ": a field's type has an alignment above 8");     \
                                                                                                   \
		*nr = sizeof(fields) / sizeof(fields[0]) - 1;                                      \
		return fields;                                                                     \
	}
