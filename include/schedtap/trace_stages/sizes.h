/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stage 7 of <schedtap/define_trace.h>: how long dynamic data is, and where it goes. */
#undef DEFINE_EVENT_PRINT
#define DEFINE_EVENT_PRINT(template, name, proto, args, print)

#define TAP_LOC_data(loc, item) (loc)
#define TAP_LOC_rel(loc, item)                                                                     \
	((loc) - (uint32_t)(offsetof(TAP_RAW, __rel_loc_##item) + sizeof(uint32_t)))

#undef TAP_FIELD
#define TAP_FIELD(type, item)
#undef TAP_STRUCT
#define TAP_STRUCT(type, item)
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

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)                             \
	TAP_INLINE void trace_event_get_offsets_##name(                                            \
		struct trace_event_data_offsets_##name *__data_offsets, struct tap_fit *__fit, proto) \
	{                                                                                          \
		typedef struct trace_event_raw_##name TAP_RAW __attribute__((unused));             \
		typedef uint8_t u8 __attribute__((unused)); /* of __sockaddr() */                  \
                                                                                                   \
		(void)__data_offsets;                                                              \
		(void)__fit;                                                                       \
		tstruct                                                                            \
	}
