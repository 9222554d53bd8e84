/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stage 4 of <schedtap/define_trace.h>: a function that computes the sizes and the offsets of a
 * record's dynamic data. Also checks the types of fields.
 */
#pragma GCC system_header
#define TAP_LOC_data(loc, item) (loc)
#define TAP_LOC_rel(loc, item)                                                                     \
	((loc) - (uint32_t)(offsetof(TAP_RAW, __rel_loc_##item) + sizeof(uint32_t)))

/* the type of a member: if @type were used again, an unknown type would be reported twice */
#define TAP_TYPE(item) __typeof__(((TAP_RAW *)0)->item)
#ifdef __cplusplus
#define TAP_IS_STRUCT(type) __is_class(type)
#else
#define TAP_IS_STRUCT(type) (__builtin_classify_type(*(type *)0) >= 12)
#endif

#undef TAP_FIELD
#define TAP_FIELD(type, item)                                                                      \
	{                                                                                          \
		TAP_STATIC_ASSERT(!TAP_IS_STRUCT(TAP_TYPE(item)),                                  \
				  "field " #item ": __field_struct() is for structs");             \
	}                                                                                          \
	TAP_STRUCT(type, item)
/* refuse __field(int, list[5]): only __array() records the number of elements */
#undef TAP_STRUCT
#define TAP_STRUCT(type, item)                                                                     \
	{                                                                                          \
		typedef char tap_##item __attribute__((unused));                                   \
		TAP_STATIC_ASSERT(TAP_SAME_TYPE(tap_##item, char),                                 \
				  "field " #item ": __array() is for arrays");                     \
	}
#undef TAP_ARRAY
#define TAP_ARRAY(type, item, len)
#undef TAP_DYNAMIC
#define TAP_DYNAMIC(kind, type, item, len)                                                         \
	__data_offsets->item = TAP_LOC_##kind(                                                     \
		tap_fit_array(__fit, (len) * sizeof(type)), item);
#undef TAP_TEXT
#define TAP_TEXT(kind, item, src, len)                                                             \
	__data_offsets->item##_ptr_ = tap_text_or_null((const char *)(src));                       \
	__data_offsets->item = TAP_LOC_##kind(tap_fit_text(__fit, (len) + 1), item);
#undef TAP_BITS
#define TAP_BITS(kind, item, type, nr_bits)                                                        \
	__data_offsets->item = TAP_LOC_##kind(tap_fit_array(__fit, TAP_BITMASK_BYTES(nr_bits)), item);

#undef TAP_ON_DECLARE_EVENT_CLASS
#define TAP_ON_DECLARE_EVENT_CLASS(x, name, proto, args, tstruct, assign, print)                   \
	TAP_INLINE void trace_event_get_offsets_##name(                                            \
		struct trace_event_data_offsets_##name *__data_offsets, struct tap_fit *__fit      \
		TAP_MORE(PARAMS(args), PARAMS(proto)))                                             \
	{                                                                                          \
		typedef struct trace_event_raw_##name TAP_RAW __attribute__((unused));             \
		typedef uint8_t u8 __attribute__((unused)); /* for __sockaddr() */                 \
                                                                                                   \
		TAP_ERRNO                                                                          \
		(void)__data_offsets;                                                              \
		(void)__fit;                                                                       \
		tstruct                                                                            \
	}
