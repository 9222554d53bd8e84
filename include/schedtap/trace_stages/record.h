/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stage 8 of <schedtap/define_trace.h>: the event's own probe builds a record on the stack. */
#undef __entry
#define __entry entry

#undef TAP_DYNAMIC
#define TAP_DYNAMIC(kind, type, item, len) entry->__##kind##_loc_##item = __data_offsets.item;
#undef TAP_TEXT
#define TAP_TEXT(kind, item, src, len) entry->__##kind##_loc_##item = __data_offsets.item;
#undef TAP_BITS
#define TAP_BITS(kind, item, type, nr_bits) entry->__##kind##_loc_##item = __data_offsets.item;

/* up to 6.9 the kernel's form has the source as a second argument: __string() has named it already */
#define __assign_str(dst, src...)                                                                  \
	tap_put_text(__get_str(dst), __data_offsets.dst##_ptr_, __get_dynamic_array_len(dst), __fit.cut)
#define __assign_str_len(dst, src...) __assign_str(dst)
#define __assign_rel_str(dst, src...)                                                              \
	tap_put_text(__get_rel_str(dst), __data_offsets.dst##_ptr_,                                \
		     __get_rel_dynamic_array_len(dst), __fit.cut)
#define __assign_rel_str_len(dst, src...) __assign_rel_str(dst)
#define __assign_vstr(dst, fmt, va)                                                                \
	do {                                                                                       \
		va_list __ap;                                                                      \
                                                                                                   \
		va_copy(__ap, *(va));                                                              \
		vsnprintf(__get_str(dst), __get_dynamic_array_len(dst), fmt, __ap);                \
		va_end(__ap);                                                                      \
	} while (0)
#define __assign_bitmask(dst, src, nr_bits)                                                        \
	tap_put_bytes(__get_dynamic_array(dst), __get_dynamic_array_len(dst), src,                 \
		      TAP_BITMASK_BYTES(nr_bits))
#define __assign_cpumask(dst, src) __assign_bitmask(dst, src, tap_nr_cpus())
#define __assign_sockaddr(dst, src, len)                                                           \
	tap_put_bytes(__get_dynamic_array(dst), __get_dynamic_array_len(dst), src, len)
#define __assign_rel_bitmask(dst, src, nr_bits)                                                    \
	tap_put_bytes(__get_rel_dynamic_array(dst), __get_rel_dynamic_array_len(dst), src,         \
		      TAP_BITMASK_BYTES(nr_bits))
#define __assign_rel_cpumask(dst, src) __assign_rel_bitmask(dst, src, tap_nr_cpus())
#define __assign_rel_sockaddr(dst, src, len)                                                       \
	tap_put_bytes(__get_rel_dynamic_array(dst), __get_rel_dynamic_array_len(dst), src, len)

/* what the kernel tells perf */
#define __perf_count(c) (c)
#define __perf_task(t) (t)

/*
 * A filter will stand between assign and the commit: the record is whole, and no ring knows of it.
 * Holes between fields and behind the last one are zero: nothing of the stack's gets into a recording.
 */
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)                             \
	static void trace_event_raw_event_##name(void *__data, proto)                              \
	{                                                                                          \
		struct trace_event_data_offsets_##name __data_offsets;                             \
		struct trace_event_raw_##name *entry;                                              \
		struct tap_fit __fit = { offsetof(struct trace_event_raw_##name, __data), false,   \
					 false };                                                  \
		struct tap_record *__rec;                                                          \
                                                                                                   \
		trace_event_get_offsets_##name(&__data_offsets, &__fit, args);                     \
		if (tap_unlikely(__fit.too_long)) {                                                \
			tap_record_lose();                                                         \
			return;                                                                    \
		}                                                                                  \
		__rec = (struct tap_record *)__builtin_alloca_with_align(                          \
			TAP_RECORD_BYTES(__fit.size), 64);                                         \
		entry = (struct trace_event_raw_##name *)(__rec + 1);                              \
		memset((char *)__rec + TAP_RECORD_BYTES(__fit.size) - 8, 0, 8);                    \
		memset((char *)entry + sizeof(entry->ent), 0, sizeof(*entry) - sizeof(entry->ent)); \
		tstruct                                                                            \
		{ assign; }                                                                        \
		if (tap_unlikely(__fit.cut))                                                       \
			tap_record_note_cut();                                                     \
		tap_record_commit((const struct trace_event_call *)__data, __rec, __fit.size);     \
	}
