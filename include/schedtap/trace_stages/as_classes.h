/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For stages 2 to 9 every event is a class and an event of it, and every kind of field is one of
 * six: TAP_FIELD, TAP_STRUCT, TAP_ARRAY, TAP_TEXT, TAP_BITS, TAP_DYNAMIC. The last three have a
 * place in the record counted from its start (kind data) or from the end of the place's own word
 * (kind rel).
 */
#undef TRACE_EVENT
#define TRACE_EVENT(name, proto, args, tstruct, assign, print)                                     \
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign),    \
			    PARAMS(print));                                                        \
	DEFINE_EVENT(name, name, PARAMS(proto), PARAMS(args));
#undef TRACE_EVENT_CONDITION
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print)                     \
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))
#undef TRACE_EVENT_FN
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, reg, unreg)                      \
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))
#undef TRACE_EVENT_FN_COND
#define TRACE_EVENT_FN_COND(name, proto, args, cond, tstruct, assign, print, reg, unreg)           \
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))
#undef DEFINE_EVENT_FN
#define DEFINE_EVENT_FN(template, name, proto, args, reg, unreg)                                   \
	DEFINE_EVENT(template, name, PARAMS(proto), PARAMS(args))
#undef DEFINE_EVENT_CONDITION
#define DEFINE_EVENT_CONDITION(template, name, proto, args, cond)                                  \
	DEFINE_EVENT(template, name, PARAMS(proto), PARAMS(args))
#undef DEFINE_EVENT_WRITABLE
#define DEFINE_EVENT_WRITABLE(template, name, proto, args, size)                                   \
	DEFINE_EVENT(template, name, PARAMS(proto), PARAMS(args))

/* a custom event's tracepoint is defined elsewhere; in another system it has the same name */
#undef TRACE_CUSTOM_EVENT
#define TRACE_CUSTOM_EVENT(name, proto, args, tstruct, assign, print)                              \
	DECLARE_CUSTOM_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),             \
				   PARAMS(assign), PARAMS(print));                                 \
	DEFINE_CUSTOM_EVENT(name, name, PARAMS(proto), PARAMS(args));
#undef DECLARE_CUSTOM_EVENT_CLASS
#define DECLARE_CUSTOM_EVENT_CLASS(name, proto, args, tstruct, assign, print)                      \
	DECLARE_EVENT_CLASS(custom_##name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),           \
			    PARAMS(assign), PARAMS(print))
#undef DEFINE_CUSTOM_EVENT
#define DEFINE_CUSTOM_EVENT(template, name, proto, args)

#undef DECLARE_TRACE
#define DECLARE_TRACE(name, proto, args)
#undef DECLARE_TRACE_CONDITION
#define DECLARE_TRACE_CONDITION(name, proto, args, cond)
#undef DECLARE_TRACE_WRITABLE
#define DECLARE_TRACE_WRITABLE(name, proto, args, size)

#undef DEFINE_EVENT
#define DEFINE_EVENT(template, name, proto, args)
#undef DEFINE_EVENT_PRINT
#define DEFINE_EVENT_PRINT(template, name, proto, args, print)

#define __field(type, item) TAP_FIELD(type, item)
#define __field_ext(type, item, filter_type) TAP_FIELD(type, item)
#define __field_struct(type, item) TAP_STRUCT(type, item)
#define __field_struct_ext(type, item, filter_type) TAP_STRUCT(type, item)
#define __array(type, item, len) TAP_ARRAY(type, item, len)

#define __dynamic_array(type, item, len) TAP_DYNAMIC(data, type, item, len)
#define __string(item, src) TAP_TEXT(data, item, src, strlen(__data_offsets->item##_ptr_))
#define __string_len(item, src, len) TAP_TEXT(data, item, src, len)
#define __vstring(item, fmt, ap) TAP_TEXT(data, item, TAP_NO_TEXT, tap_vstring_bytes(fmt, *(ap)))
#define __bitmask(item, nr_bits) TAP_BITS(data, item, "unsigned long[]", nr_bits)
#define __cpumask(item) TAP_BITS(data, item, "cpumask_t", tap_nr_cpus())
#define __sockaddr(item, len) TAP_DYNAMIC(data, u8, item, len)

#define __rel_dynamic_array(type, item, len) TAP_DYNAMIC(rel, type, item, len)
#define __rel_string(item, src) TAP_TEXT(rel, item, src, strlen(__data_offsets->item##_ptr_))
#define __rel_string_len(item, src, len) TAP_TEXT(rel, item, src, len)
#define __rel_bitmask(item, nr_bits) TAP_BITS(rel, item, "unsigned long[]", nr_bits)
#define __rel_cpumask(item) TAP_BITS(rel, item, "cpumask_t", tap_nr_cpus())
#define __rel_sockaddr(item, len) TAP_DYNAMIC(rel, u8, item, len)

