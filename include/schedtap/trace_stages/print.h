/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stage 7 of <schedtap/define_trace.h>: a function that prints a record as its TP_printk() says. */
#pragma GCC system_header
#undef __entry
#define __entry field

#undef TP_printk
#define TP_printk(fmt_and_args...) fmt_and_args

/*
 * The address is computed from the start of the record. If it were computed from the word,
 * compilers would report an access outside of the word.
 */
#define TAP_REL_AT(item)                                                                           \
	tap_data(__entry, offsetof(__typeof__(*__entry), __rel_loc_##item) + sizeof(uint32_t) +    \
				  (__entry->__rel_loc_##item & 0xffff))

#define __get_dynamic_array(item) tap_data(__entry, __entry->__data_loc_##item & 0xffff)
#define __get_dynamic_array_len(item) ((__entry->__data_loc_##item >> 16) & 0xffff)
#define __get_str(item) tap_text(__get_dynamic_array(item))
#define __get_rel_dynamic_array(item) TAP_REL_AT(item)
#define __get_rel_dynamic_array_len(item) ((__entry->__rel_loc_##item >> 16) & 0xffff)
#define __get_rel_str(item) tap_text(__get_rel_dynamic_array(item))

#define __get_bitmask(item)                                                                        \
	tap_print_bitmask(p, __get_dynamic_array(item), __get_dynamic_array_len(item))
#define __get_cpumask(item) __get_bitmask(item)
#define __get_rel_bitmask(item)                                                                    \
	tap_print_bitmask(p, __get_rel_dynamic_array(item), __get_rel_dynamic_array_len(item))
#define __get_rel_cpumask(item) __get_rel_bitmask(item)
#define __get_sockaddr(item) tap_address(__get_dynamic_array(item)) /* for %pIS */
#define __get_rel_sockaddr(item) tap_address(__get_rel_dynamic_array(item))
/*
 * Return @bytes of p->text for a string that the event's print code builds. If not enough is left,
 * reuse p->text from its beginning.
 */
#define __get_buf(bytes)                                                                           \
	__extension__({                                                                            \
		size_t __bytes = (bytes), __at = p->len;                                           \
                                                                                                   \
		if (__at + __bytes > sizeof(p->text))                                              \
			__at = 0;                                                                  \
		p->len = __at + __bytes;                                                           \
		p->text + __at;                                                                    \
	})

#define TAP_PRINT_LIST(print, list...)                                                             \
	__extension__({                                                                            \
		static const struct trace_print_flags __flags[] = { list, { 0, NULL } };           \
		print;                                                                             \
	})
#define __print_flags(flag, delim, flag_array...)                                                  \
	TAP_PRINT_LIST(tap_print_flags(p, delim, tap_u64(flag), __flags), flag_array)
#define __print_flags_u64(flag, delim, flag_array...) __print_flags(flag, delim, flag_array)
#define __print_symbolic(value, symbol_array...)                                                   \
	TAP_PRINT_LIST(tap_print_symbolic(p, tap_u64(value), __flags), symbol_array)
#define __print_symbolic_u64(value, symbol_array...) __print_symbolic(value, symbol_array)
#define __print_hex(buf, len) tap_print_hex(p, buf, len, true)
#define __print_hex_str(buf, len) tap_print_hex(p, buf, len, false)
#define __print_hex_dump(prefix, prefix_type, row_bytes, group_bytes, buf, len, ascii)             \
	tap_print_hex_dump(p, prefix, prefix_type, row_bytes, group_bytes, buf, len, ascii)
#define __print_array(array, count, el_size)                                                       \
	__extension__({                                                                            \
		TAP_STATIC_ASSERT((el_size) == 1 || (el_size) == 2 || (el_size) == 4 ||            \
				  (el_size) == 8, "__print_array(): elements have 1, 2, 4 or 8 bytes"); \
		tap_print_array(p, array, count, el_size);                                         \
	})
#define __print_dynamic_array(item, el_size)                                                       \
	__print_array(__get_dynamic_array(item), (int)(__get_dynamic_array_len(item) / (el_size)), \
		      el_size)
#define __print_ns_to_secs(value) ((unsigned long long)(value) / 1000000000u)
#define __print_ns_without_secs(value) ((unsigned int)((unsigned long long)(value) % 1000000000u))

#define TAP_PRINT_FUNCTION(record, name, print)                                                    \
	static void trace_raw_output_##name(const void *rec, struct trace_seq *s,                  \
					    struct trace_seq *p)                                   \
	{                                                                                          \
		const struct trace_event_raw_##record *field =                                     \
			(const struct trace_event_raw_##record *)rec;                              \
                                                                                                   \
		(void)field;                                                                       \
		p->len = 0;                                                                        \
		TAP_PRINT(s, print);                                                          \
	}

#undef TAP_ON_DECLARE_EVENT_CLASS
#define TAP_ON_DECLARE_EVENT_CLASS(x, name, proto, args, tstruct, assign, print)                   \
	TAP_PRINT_FUNCTION(name, name, PARAMS(print))
#undef TAP_ON_DEFINE_EVENT_PRINT
#define TAP_ON_DEFINE_EVENT_PRINT(x, template, name, proto, args, print)                           \
	TAP_PRINT_FUNCTION(template, name, PARAMS(print))
