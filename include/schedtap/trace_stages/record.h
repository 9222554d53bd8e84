/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stage 8 of <schedtap/define_trace.h>: an event's probe, which builds a record on the stack. */
#pragma GCC system_header
#pragma pop_macro("TP_STRUCT__entry")
#undef __entry
#define __entry entry

#undef TAP_ON_DEFINE_EVENT_PRINT
#define TAP_ON_DEFINE_EVENT_PRINT(x, template, name, proto, args, print)
#undef TAP_FIELD
#define TAP_FIELD(type, item)
#undef TAP_STRUCT
#define TAP_STRUCT(type, item)
#undef TAP_ARRAY
#define TAP_ARRAY(type, item, len)

/*
 * These run before TP_fast_assign(): they zero arrays and copy texts, so that the record contains
 * no old stack data even if TP_fast_assign() does not set every field.
 */
#undef TAP_DYNAMIC
#define TAP_DYNAMIC(kind, type, item, len)                                                         \
	entry->__##kind##_loc_##item = __data_offsets->item;                                       \
	memset(TAP_AT_##kind(item), 0, TAP_LEN_##kind(item));
#undef TAP_TEXT
#define TAP_TEXT(kind, item, src, len)                                                             \
	entry->__##kind##_loc_##item = __data_offsets->item;                                       \
	if (__data_offsets->item##_ptr_ != TAP_NO_TEXT)                                            \
		tap_put_text((char *)TAP_AT_##kind(item), __data_offsets->item##_ptr_,             \
			     TAP_LEN_##kind(item), __cut);                                         \
	else                                                                                       \
		memset(TAP_AT_##kind(item), 0, TAP_LEN_##kind(item));
#undef TAP_BITS
#define TAP_BITS(kind, item, type, nr_bits) TAP_DYNAMIC(kind, unsigned long, item, nr_bits)
#define TAP_AT_data(item) __get_dynamic_array(item)
#define TAP_AT_rel(item) __get_rel_dynamic_array(item)
#define TAP_LEN_data(item) __get_dynamic_array_len(item)
#define TAP_LEN_rel(item) __get_rel_dynamic_array_len(item)

/*
 * The text is copied already, from the source that __string() names. This only checks that @dst is
 * a text: otherwise it does not compile.
 */
#define __assign_str(dst, src...) ((void)__data_offsets->dst##_ptr_)
#define __assign_str_len(dst, src...) __assign_str(dst)
#define __assign_rel_str(dst, src...) __assign_str(dst)
#define __assign_rel_str_len(dst, src...) __assign_str(dst)
#define __assign_vstr(dst, fmt, va)                                                                \
	tap_put_vstring(__get_str(dst), __get_dynamic_array_len(dst), fmt, *(va))
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

/* the kernel also passes these values to perf; here only the values are left */
#define __perf_count(c) (c)
#define __perf_task(t) (t)

/*
 * tap_record_commit() applies the event's filter before it reserves memory in a ring; by then the
 * record is complete. Padding between fields and after the last one is zeroed, so that no stack
 * data gets into a recording.
 *
 * Most records are short. The probe builds those in a stack frame of fixed size. Before the commit
 * it calls no function except strlen(), so it has few registers to save. For longer records it
 * calls trace_event_raw_long_<class>().
 */
#undef TAP_ON_DECLARE_EVENT_CLASS
#define TAP_ON_DECLARE_EVENT_CLASS(x, name, proto, args, tstruct, assign, print)                   \
	TAP_PROBE(name, PARAMS(tstruct), PARAMS(assign), TAP_MORE(PARAMS(args), PARAMS(proto)),    \
		  TAP_MORE(PARAMS(args), PARAMS(args)))
#define TAP_PROBE(name, tstruct, assign, more_proto, more_args)                                    \
	TAP_INLINE void trace_event_assign_##name(                                                 \
		struct tap_record *__rec, size_t __bytes,                                          \
		const struct trace_event_data_offsets_##name *__data_offsets, bool __cut           \
		more_proto)                                                                        \
	{                                                                                          \
		struct trace_event_raw_##name *entry =                                             \
			(struct trace_event_raw_##name *)tap_data(__rec, sizeof(*__rec));          \
                                                                                                   \
		(void)__data_offsets;                                                              \
		(void)__cut;                                                                       \
		memset((char *)__rec + __bytes - 8, 0, 8);                                         \
		memset((char *)entry + sizeof(entry->ent), 0, sizeof(*entry) - sizeof(entry->ent)); \
		tstruct                                                                            \
		{                                                                                  \
			TAP_ERRNO                                                                  \
			assign;                                                                    \
		}                                                                                  \
	}                                                                                          \
	static __attribute__((noinline)) void trace_event_raw_long_##name(void *__data more_proto) \
	{                                                                                          \
		struct trace_event_data_offsets_##name __data_offsets;                             \
		struct tap_fit __fit = { (uint32_t)offsetof(struct trace_event_raw_##name, __data), \
					 TAP_RECORD_MAX, 0 };                                      \
		struct tap_record *__rec;                                                          \
		size_t __bytes;                                                                    \
                                                                                                   \
		trace_event_get_offsets_##name(&__data_offsets, &__fit more_args);                 \
		if (__fit.misfits & TAP_FIT_TOO_LONG) {                                            \
			tap_record_lose();                                                         \
			return;                                                                    \
		}                                                                                  \
		if (__fit.misfits)                                                                 \
			tap_record_note_cut();                                                     \
		__bytes = TAP_RECORD_BYTES(__fit.size);                                            \
		__rec = (struct tap_record *)__builtin_alloca_with_align(__bytes, 64);             \
		trace_event_assign_##name(__rec, __bytes, &__data_offsets, __fit.misfits more_args); \
		tap_record_commit(__rec, __bytes, (const struct trace_event_call *)__data);        \
	}                                                                                          \
	static __attribute__((unused)) void trace_event_raw_event_##name(void *__data more_proto)  \
	{                                                                                          \
		struct trace_event_data_offsets_##name __data_offsets;                             \
		struct tap_fit __fit = { (uint32_t)offsetof(struct trace_event_raw_##name, __data), \
					 (uint32_t)offsetof(struct trace_event_raw_##name, __data) + \
						 TAP_SHORT_DATA,                                   \
					 0 };                                                      \
		union {                                                                            \
			struct tap_record rec;                                                     \
			uint64_t words[TAP_RECORD_BYTES(sizeof(struct trace_event_raw_##name) +    \
							TAP_SHORT_DATA) / 8];                      \
		} __short;                                                                         \
		size_t __bytes;                                                                    \
                                                                                                   \
		trace_event_get_offsets_##name(&__data_offsets, &__fit more_args);                 \
		if (tap_unlikely(__fit.misfits)) {                                                 \
			trace_event_raw_long_##name(__data more_args);                             \
			return;                                                                    \
		}                                                                                  \
		__bytes = TAP_RECORD_BYTES(__fit.size);                                            \
		trace_event_assign_##name(&__short.rec, __bytes, &__data_offsets, false more_args); \
		tap_record_commit(&__short.rec, __bytes, (const struct trace_event_call *)__data); \
	}
