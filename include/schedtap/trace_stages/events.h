/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stage 9 of <schedtap/define_trace.h>: a function that describes each class (names, fields, print
 * format), and the events of each class.
 */
#pragma GCC system_header
#undef __entry
#define __entry REC

/* the print format is the source text of TP_printk(): these words must not be expanded in it */
#pragma push_macro("bool")
#undef bool
#pragma push_macro("true")
#undef true
#pragma push_macro("false")
#undef false
#undef __print_flags
#undef __print_symbolic
#undef __print_hex
#undef __print_hex_str
#undef __print_hex_dump
#undef __print_array
#undef __print_dynamic_array
#undef __get_dynamic_array
#undef __get_dynamic_array_len
#undef __get_str
#undef __get_bitmask
#undef __get_cpumask
#undef __get_sockaddr
#undef __get_rel_dynamic_array
#undef __get_rel_dynamic_array_len
#undef __get_rel_str
#undef __get_rel_bitmask
#undef __get_rel_cpumask
#undef __get_rel_sockaddr
#undef __get_buf
#undef __print_ns_to_secs
#define __print_ns_to_secs(val) (val) / 1000000000UL
#undef __print_ns_without_secs
#define __print_ns_without_secs(val) (val) % 1000000000UL

#undef TP_printk
#define TP_printk(fmt, args...) "\"" fmt "\", " TAP_STRING(args)

#undef TAP_ON_DECLARE_EVENT_CLASS
#define TAP_ON_DECLARE_EVENT_CLASS(x, name, proto, args, tstruct, assign, print_)                  \
	TAP_AT_START static const char trace_event_print_fmt_##name[] = print_;                    \
	TAP_CODE_AT_START __attribute__((unused))                                                  \
	static void trace_event_info_##name(struct trace_event_info *info)                         \
	{                                                                                          \
		info->system = TAP_STRING(TRACE_SYSTEM);                                           \
		info->names = trace_event_names_##name;                                            \
		info->fields = trace_event_fields_##name(&info->nr_fields);                        \
		info->print_fmt = trace_event_print_fmt_##name;                                    \
		info->print = trace_raw_output_##name;                                             \
	}

#define TAP_DEFINE_EVENT(class_name, event_name, tracepoint, info, own_name)                       \
	TAP_STATIC_ASSERT(TAP_SAME_TYPE(__typeof__(trace_event_raw_event_##class_name),            \
					__typeof__(__traceiter_##tracepoint)),                     \
			  "event " #event_name ": its TP_PROTO() is not that of its class");       \
	static struct trace_event_call event_##event_name TAP_PACKED_IN = {                                      \
		info, (void *)trace_event_raw_event_##class_name, &__tracepoint_##tracepoint,      \
		own_name, NULL, 0, 0, 0                                                            \
	};                                                                                         \
	static struct trace_event_call *const __event_ptr_##event_name                             \
		__attribute__((used, section("__tap_events"))) = &event_##event_name;

#undef TAP_ON_DEFINE_EVENT
#define TAP_ON_DEFINE_EVENT(x, template, name, proto, args)                                        \
	TAP_DEFINE_EVENT(template, name, name, trace_event_info_##template, NULL)
#undef TAP_ON_DEFINE_EVENT_PRINT
#define TAP_ON_DEFINE_EVENT_PRINT(x, template, name, proto, args, print_)                          \
	TAP_AT_START static const char trace_event_print_fmt_##name[] = print_;                    \
	TAP_CODE_AT_START                                                                          \
	static void trace_event_info_##name(struct trace_event_info *info)                         \
	{                                                                                          \
		trace_event_info_##template(info);                                                 \
		info->print_fmt = trace_event_print_fmt_##name;                                    \
		info->print = trace_raw_output_##name;                                             \
	}                                                                                          \
	TAP_DEFINE_EVENT(template, name, name, trace_event_info_##name, NULL)
#undef TAP_ON_DEFINE_CUSTOM_EVENT
#define TAP_ON_DEFINE_CUSTOM_EVENT(x, template, name, proto, args)                                 \
	TAP_DEFINE_EVENT(custom_##template, custom_##name, name, trace_event_info_custom_##template, \
			 #name)

#define TAP_DEFINE_EVAL(id, text, meaning)                                                         \
	static const struct trace_eval_map TAP_PASTE(tap_eval_, id) = { TAP_STRING(TRACE_SYSTEM),  \
								       text, meaning };           \
	static const struct trace_eval_map *const TAP_PASTE(tap_eval_ptr_, id)                     \
		__attribute__((used, section("__tap_evals"))) = &TAP_PASTE(tap_eval_, id);
#undef TRACE_DEFINE_ENUM
#define TRACE_DEFINE_ENUM(a) TAP_DEFINE_EVAL(TAP_PASTE(a##_, __COUNTER__), #a, (unsigned long)(a))
#undef TRACE_DEFINE_SIZEOF
#define TRACE_DEFINE_SIZEOF(a) TAP_DEFINE_EVAL(__COUNTER__, "sizeof(" #a ")", sizeof(a))
