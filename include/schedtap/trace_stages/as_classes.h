/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reduces all event macros to two for stages 2 to 9: a class (DECLARE_EVENT_CLASS) and an event of
 * it (DEFINE_EVENT). Reduces all field macros to six: TAP_FIELD, TAP_STRUCT, TAP_ARRAY, TAP_TEXT,
 * TAP_BITS, TAP_DYNAMIC. For the last three the record has a word with the length and the offset of
 * the data. The offset is relative to the start of the record (kind data) or to the end of that
 * word (kind rel).
 */
#pragma GCC system_header
/*
 * A field may be named errno, which libc defines as a macro. For code of the event that reads
 * libc's errno, TAP_ERRNO declares a variable of that name with its value.
 */
#pragma push_macro("errno")
#undef errno
#define TAP_ERRNO __attribute__((unused)) const int errno = tap_errno();

#undef TAP_ON_TRACE_EVENT
#define TAP_ON_TRACE_EVENT(x, name, proto, args, tstruct, assign, print)                           \
	TAP_ON_DECLARE_EVENT_CLASS(~, name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), \
			    PARAMS(print));                                                        \
	TAP_ON_DEFINE_EVENT(~, name, name, PARAMS(proto), PARAMS(args));
#undef TAP_ON_TRACE_EVENT_CONDITION
#define TAP_ON_TRACE_EVENT_CONDITION(x, name, proto, args, cond, tstruct, assign, print)           \
	TAP_ON_TRACE_EVENT(~, name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))
#undef TAP_ON_TRACE_EVENT_FN
#define TAP_ON_TRACE_EVENT_FN(x, name, proto, args, tstruct, assign, print, reg, unreg)            \
	TAP_ON_TRACE_EVENT(~, name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))
#undef TAP_ON_TRACE_EVENT_FN_COND
#define TAP_ON_TRACE_EVENT_FN_COND(x, name, proto, args, cond, tstruct, assign, print, reg, unreg) \
	TAP_ON_TRACE_EVENT(~, name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))
#undef TAP_ON_DEFINE_EVENT_FN
#define TAP_ON_DEFINE_EVENT_FN(x, template, name, proto, args, reg, unreg)                         \
	TAP_ON_DEFINE_EVENT(~, template, name, PARAMS(proto), PARAMS(args))
#undef TAP_ON_DEFINE_EVENT_CONDITION
#define TAP_ON_DEFINE_EVENT_CONDITION(x, template, name, proto, args, cond)                        \
	TAP_ON_DEFINE_EVENT(~, template, name, PARAMS(proto), PARAMS(args))
#undef TAP_ON_DEFINE_EVENT_WRITABLE
#define TAP_ON_DEFINE_EVENT_WRITABLE(x, template, name, proto, args, size)                         \
	TAP_ON_DEFINE_EVENT(~, template, name, PARAMS(proto), PARAMS(args))

/*
 * A custom event attaches to a tracepoint that is defined elsewhere. It has the same name as the
 * event of that tracepoint, but in another TRACE_SYSTEM; C symbols get the prefix custom_.
 */
#undef TAP_ON_TRACE_CUSTOM_EVENT
#define TAP_ON_TRACE_CUSTOM_EVENT(x, name, proto, args, tstruct, assign, print)                    \
	TAP_ON_DECLARE_CUSTOM_EVENT_CLASS(~, name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),   \
				   PARAMS(assign), PARAMS(print));                                 \
	TAP_ON_DEFINE_CUSTOM_EVENT(~, name, name, PARAMS(proto), PARAMS(args));
#undef TAP_ON_DECLARE_CUSTOM_EVENT_CLASS
#define TAP_ON_DECLARE_CUSTOM_EVENT_CLASS(x, name, proto, args, tstruct, assign, print)            \
	TAP_ON_DECLARE_EVENT_CLASS(~, custom_##name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), \
			    PARAMS(assign), PARAMS(print))
#undef TAP_ON_DEFINE_CUSTOM_EVENT
#define TAP_ON_DEFINE_CUSTOM_EVENT(x, template, name, proto, args)

#undef TAP_ON_DECLARE_TRACE_EVENT
#define TAP_ON_DECLARE_TRACE_EVENT(x, name, proto, args)
#undef TAP_ON_DECLARE_TRACE_EVENT_CONDITION
#define TAP_ON_DECLARE_TRACE_EVENT_CONDITION(x, name, proto, args, cond)

#undef TAP_ON_DEFINE_EVENT
#define TAP_ON_DEFINE_EVENT(x, template, name, proto, args)
#undef TAP_ON_DEFINE_EVENT_PRINT
#define TAP_ON_DEFINE_EVENT_PRINT(x, template, name, proto, args, print)

#define __field(parts...) TAP_FIELD_PARTS(2, __field, ##parts)
#define __field_ext(parts...) TAP_FIELD_PARTS(3, __field_ext, ##parts)
#define __field_struct(parts...) TAP_FIELD_PARTS(2, __field_struct, ##parts)
#define __field_struct_ext(parts...) TAP_FIELD_PARTS(3, __field_struct_ext, ##parts)
#define __array(parts...) TAP_FIELD_PARTS(3, __array, ##parts)
#define __dynamic_array(parts...) TAP_FIELD_PARTS(3, __dynamic_array, ##parts)
#define __string(parts...) TAP_FIELD_PARTS(2, __string, ##parts)
#define __string_len(parts...) TAP_FIELD_PARTS(3, __string_len, ##parts)
#define __vstring(parts...) TAP_FIELD_PARTS(3, __vstring, ##parts)
#define __bitmask(parts...) TAP_FIELD_PARTS(2, __bitmask, ##parts)
#define __cpumask(parts...) TAP_FIELD_PARTS(1, __cpumask, ##parts)
#define __sockaddr(parts...) TAP_FIELD_PARTS(2, __sockaddr, ##parts)
#define __rel_dynamic_array(parts...) TAP_FIELD_PARTS(3, __rel_dynamic_array, ##parts)
#define __rel_string(parts...) TAP_FIELD_PARTS(2, __rel_string, ##parts)
#define __rel_string_len(parts...) TAP_FIELD_PARTS(3, __rel_string_len, ##parts)
#define __rel_bitmask(parts...) TAP_FIELD_PARTS(2, __rel_bitmask, ##parts)
#define __rel_cpumask(parts...) TAP_FIELD_PARTS(1, __rel_cpumask, ##parts)
#define __rel_sockaddr(parts...) TAP_FIELD_PARTS(2, __rel_sockaddr, ##parts)

#define TAP_ON___field(x, type, item) TAP_FIELD(type, item)
#define TAP_ON___field_ext(x, type, item, filter_type) TAP_FIELD(type, item)
#define TAP_ON___field_struct(x, type, item) TAP_STRUCT(type, item)
#define TAP_ON___field_struct_ext(x, type, item, filter_type) TAP_STRUCT(type, item)
#define TAP_ON___array(x, type, item, len) TAP_ARRAY(type, item, len)

#define TAP_ON___dynamic_array(x, type, item, len) TAP_DYNAMIC(data, type, item, len)
#define TAP_ON___string(x, item, src) TAP_TEXT(data, item, src, strlen(__data_offsets->item##_ptr_))
#define TAP_ON___string_len(x, item, src, len) TAP_TEXT(data, item, src, len)
#define TAP_ON___vstring(x, item, fmt, ap) TAP_TEXT(data, item, TAP_NO_TEXT, tap_vstring_bytes(fmt, *(ap)))
#define TAP_ON___bitmask(x, item, nr_bits) TAP_BITS(data, item, "unsigned long[]", nr_bits)
#define TAP_ON___cpumask(x, item) TAP_BITS(data, item, "cpumask_t", tap_nr_cpus())
#define TAP_ON___sockaddr(x, item, len) TAP_DYNAMIC(data, u8, item, len)

#define TAP_ON___rel_dynamic_array(x, type, item, len) TAP_DYNAMIC(rel, type, item, len)
#define TAP_ON___rel_string(x, item, src) TAP_TEXT(rel, item, src, strlen(__data_offsets->item##_ptr_))
#define TAP_ON___rel_string_len(x, item, src, len) TAP_TEXT(rel, item, src, len)
#define TAP_ON___rel_bitmask(x, item, nr_bits) TAP_BITS(rel, item, "unsigned long[]", nr_bits)
#define TAP_ON___rel_cpumask(x, item) TAP_BITS(rel, item, "cpumask_t", tap_nr_cpus())
#define TAP_ON___rel_sockaddr(x, item, len) TAP_DYNAMIC(rel, u8, item, len)

