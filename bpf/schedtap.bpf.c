// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Expands events/ into BPF programs, one per TRACE_HOOK(). Stage 1 makes the record's struct, stage
 * 2 the function that fills it (TP_fast_assign unchanged), stage 3 the programs.
 */
#include "kernel_types.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "transport.h"

#include "scope.h"
#include "vocabulary.h"

const volatile bool tap_is_lean; /* set by the loader */

#define TAP_ID_BASE 0x7000 /* TAP_DEF_ID_BASE of src/event/defs.h */
/* limit for text read through a pointer; a char array's limit is its size */
#define TAP_STRING_MAX 256
#define TAP_BITMASK_WORDS 16 /* 1024 CPUs */
#define TAP_ARRAY_MAX 504 /* bytes; an event has at most one __dynamic_array() */

struct trace_entry {
	u16 type;
	u8 flags, preempt_count; /* left 0 */
	s32 pid;
};

/* Macros that are the same in all stages. */
#define TRACE_HEADER_MULTI_READ
#define PARAMS(args...) args
#define TP_PROTO(args...) args
#define TP_ARGS(args...) args
#define TP_CONDITION(args...) args
#define tp_if(member, args...) args
#define TP_STRUCT__entry(args...) args
#define TP_fast_assign(args...) args
#define TP_printk(fmt, args...)
#define TRACE_EVENT(name, proto, args, tstruct, assign, print)                                     \
	TRACE_EVENT_CONDITION(name, PARAMS(proto), PARAMS(args), true, PARAMS(tstruct),            \
			      PARAMS(assign), print)
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print)                     \
	EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(cond), PARAMS(tstruct),              \
		    PARAMS(assign));                                                               \
	DEFINE_EVENT(name, name, PARAMS(proto), PARAMS(args))
#define DECLARE_EVENT_CLASS(class, proto, args, tstruct, assign, print)                            \
	EVENT_CLASS(class, PARAMS(proto), PARAMS(args), true, PARAMS(tstruct), PARAMS(assign))
#define NOTHING _Static_assert(1, "")

#define TRACE_HOOK(event, tracepoint, proto, args) NOTHING
#define TRACE_NEEDS(event, field, spec) NOTHING
#define TRACE_FORM_OF(event, name) NOTHING

/*
 * Stage 1: struct raw_<class>, and the maximum size of its text and bitmask fields. These follow
 * the fixed part; the recorder copies only the bytes that were used.
 */
#define __field(type, item) type item;
#define __array(type, item, len) type item[len];
#define __string(item, src) u32 __data_loc_##item;
#define __bitmask(item, nr_bits) u32 __data_loc_##item;
#define __dynamic_array(type, item, len) u32 __data_loc_##item;
/* clang-format off */
#define EVENT_CLASS(class, proto, args, cond, tstruct, assign)                                     \
	struct raw_##class {                                                                       \
		struct trace_entry ent;                                                            \
		tstruct                                                                            \
	}
#define DEFINE_EVENT(class, event, proto, args)                                                    \
	enum { index_##event = __COUNTER__ };                                                      \
	typedef struct raw_##class raw_of_##event
/* clang-format on */
#include "all.h"
#undef __field
#undef __array
#undef __string
#undef __bitmask
#undef __dynamic_array
#undef EVENT_CLASS
#undef DEFINE_EVENT

enum { TAP_NR_EVENTS = __COUNTER__ };
#include "chain.h"

#define STRING_MAX(src) (sizeof(src) == sizeof(char *) ? TAP_STRING_MAX : sizeof(src))
#define __field(type, item)
#define __array(type, item, len)
#define __string(item, src) +STRING_MAX(src)
#define __bitmask(item, nr_bits) +TAP_BITMASK_WORDS * sizeof(u64)
#define __dynamic_array(type, item, len)
/* clang-format off */
#define EVENT_CLASS(class, proto, args, cond, tstruct, assign)                                     \
	static __always_inline u32 dynamic_max_##class(proto)                                      \
	{                                                                                          \
		return 0 tstruct;                                                                  \
	}                                                                                          \
	NOTHING
/* clang-format on */
#define DEFINE_EVENT(class, event, proto, args) NOTHING
#include "all.h"
#undef __string
#undef __bitmask
#undef __dynamic_array
#undef EVENT_CLASS

/*
 * An array's length is known before the record is taken, so an empty one takes no space in the
 * ring.
 */
#define __string(item, src)
#define __bitmask(item, nr_bits)
#define __dynamic_array(type, item, len) +TAP_ARRAY_MAX
/* clang-format off */
#define EVENT_CLASS(class, proto, args, cond, tstruct, assign)                                     \
	enum { array_max_##class = 0 tstruct };                                                    \
	_Static_assert(array_max_##class <= TAP_ARRAY_MAX, "one __dynamic_array() per event")
/* clang-format on */
#include "all.h"
#undef __dynamic_array
#undef EVENT_CLASS
#define __dynamic_array(type, item, len) +sizeof(type) * (len)
/* clang-format off */
#define EVENT_CLASS(class, proto, args, cond, tstruct, assign)                                     \
	static __always_inline u32 array_bytes_##class(proto)                                      \
	{                                                                                          \
		u32 bytes = 0 tstruct;                                                             \
                                                                                                   \
		return bytes > TAP_ARRAY_MAX ? TAP_ARRAY_MAX : bytes;                              \
	}                                                                                          \
	NOTHING
/* clang-format on */
#include "all.h"
#undef __dynamic_array
#undef EVENT_CLASS

#include "stacks.h"

/* Stage 2: fill_<class>(). `used` is the offset of the next text from the start of the payload. */
struct tap_fill {
	u32 used;
	u32 array_bytes; /* reserved for the event's array */
};

/*
 * Terminate a text. @len: bytes read including the NUL, or -errno. Return: the field's __data_loc.
 */
static __always_inline u32 tap_end_string(void *entry, struct tap_fill *fill, u32 at, long len)
{
	if (len <= 0) {
		*(char *)(entry + at) = '\0';
		len = 1;
	}
	fill->used = at + (len & 0x1ff);
	return at | (u32)len << 16;
}

static __always_inline u32 tap_put_string(void *entry, struct tap_fill *fill, const char *src,
					  u32 max)
{
	u32 at = fill->used & 0x3ff;

	return tap_end_string(entry, fill, at, bpf_probe_read_kernel_str(entry + at, max, src));
}

static __always_inline u32 tap_put_bitmask(void *entry, struct tap_fill *fill, const void *src,
					   u32 nr_bits)
{
	u32 at = fill->used & 0x3ff, bytes = (nr_bits + 63) / 64 * 8;

	if (bytes > TAP_BITMASK_WORDS * sizeof(u64))
		bytes = TAP_BITMASK_WORDS * sizeof(u64);
	bpf_probe_read_kernel(entry + at, bytes, src);
	fill->used = at + bytes;
	return at | bytes << 16;
}

static __always_inline u32 tap_put_array(struct tap_fill *fill)
{
	u32 at = fill->used & 0x3ff;

	fill->used = at + fill->array_bytes;
	return at | fill->array_bytes << 16;
}

#define __dynamic_array(type, item, len) __entry->__data_loc_##item = tap_put_array(fill);
#define __get_dynamic_array(item) ((void *)__entry + (__entry->__data_loc_##item & 0x3ff))
#define __get_dynamic_array_len(item) (__entry->__data_loc_##item >> 16)
#define __assign_str(item, src)                                                                    \
	__entry->__data_loc_##item =                                                               \
		tap_put_string(__entry, fill, (const char *)(src), STRING_MAX(src))
#define __assign_bitmask(item, src, nr_bits)                                                       \
	__entry->__data_loc_##item = tap_put_bitmask(__entry, fill, src, nr_bits)
/* clang-format off */
#define EVENT_CLASS(class, proto, args, cond, tstruct, assign)                                     \
	static __always_inline void fill_##class(struct raw_##class *__entry,                      \
						 struct tap_fill *fill,                            \
						 struct task_struct *tap_current, proto)           \
	{                                                                                          \
		tstruct                                                                            \
		assign                                                                             \
	}                                                                                          \
	static __always_inline bool condition_##class(proto)                                       \
	{                                                                                          \
		return cond;                                                                       \
	}                                                                                          \
	NOTHING
/* clang-format on */
#undef DEFINE_EVENT

/*
 * In lean recordings renames pass every filter: the new name may be the one that is selected, and
 * switches do not name tasks.
 */
static __always_inline bool tap_is_new_name(const char *event)
{
	return tap_is_lean && !__builtin_strcmp(event, "task_rename");
}

static __always_inline bool tap_is_stamped_by_clock(const char *event)
{
	return !__builtin_strcmp(event, "sched_switch_lean");
}

/* Return the run queue's clock at a sched_switch. */
static __always_inline struct tap_clock tap_switch_clock(void *ctx)
{
	struct task_struct *prev = ((struct task_struct **)ctx)[1];
	struct task_struct *next = ((struct task_struct **)ctx)[2];
	bool sleeps = !((u64 *)ctx)[0] && (u32)((u64 *)ctx)[3];
	u64 ns = prev->se.cfs_rq->rq->clock;

	return (struct tap_clock){
		.ns = ns,
		.is_fresh = sleeps && prev->pid && next->pid && next->sched_info.last_queued != ns,
	};
}

/* clang-format off */
#define DEFINE_EVENT(class, event, proto, args)                                                    \
	static __always_inline void record_##event(void *ctx, struct task_struct *known, proto)    \
	{                                                                                          \
		const bool by_clock = tap_is_stamped_by_clock(#event);                             \
		const enum tap_stamp stamp = tap_chain_stamp[index_##event];                       \
		const u32 stacks = tap_stacks_of[index_##event];                                   \
		const u32 fixed = sizeof(struct tap_rec) + sizeof(struct raw_##class);             \
		const u32 texts = dynamic_max_##class(args);                                       \
		struct tap_fill fill = { .used = sizeof(struct raw_##class) };                     \
		struct raw_##class *entry;                                                         \
		struct task_struct *current;                                                       \
		struct tap_clock clock;                                                            \
		struct tap_taken taken;                                                            \
		struct tap_rec *rec;                                                               \
		u32 space;                                                                         \
                                                                                                   \
		if (!condition_##class(args)) {                                                    \
			tap_leave_out(stamp);                                                      \
			return;                                                                    \
		}                                                                                  \
		current = known ? known : bpf_get_current_task_btf();                              \
		if (!tap_is_new_name(#event) && !TAP_WANTED(args)) {                               \
			tap_leave_out(stamp);                                                      \
			return;                                                                    \
		}                                                                                  \
		if (array_max_##class)                                                             \
			fill.array_bytes = array_bytes_##class(args);                              \
		/* bpf_ringbuf_reserve() needs a constant size */                                  \
		space = tap_use_ringbuf ? array_max_##class : fill.array_bytes;                    \
		space = (fixed + texts + space + 7) & ~7u;                                         \
		if (by_clock)                                                                      \
			clock = tap_switch_clock(ctx);                                             \
		rec = tap_take(space + tap_stacks_space(stacks), stamp, by_clock ? &clock : NULL,  \
			       &taken);                                                            \
		if (!rec)                                                                          \
			return;                                                                    \
		entry = (struct raw_##class *)(rec + 1);                                           \
		*(u32 *)&entry->ent = TAP_ID_BASE + index_##event;                                 \
		entry->ent.pid = current->pid;                                                     \
		fill_##class(entry, &fill, current, args);                                         \
		if (stacks)                                                                        \
			tap_stacks_put(ctx, &taken, rec, space, stacks);                           \
		tap_commit(rec, space, fill.used);                                                 \
	}                                                                                          \
	NOTHING
/* clang-format on */
#include "all.h"
#undef EVENT_CLASS
#undef DEFINE_EVENT

/*
 * Return the current task if it is among the tracepoint's arguments, which saves a call: at
 * sched_switch, the task that is switched out; else NULL.
 */
static __always_inline struct task_struct *tap_known_current(const char *tracepoint, void *ctx)
{
	return __builtin_strcmp(tracepoint, "sched_switch") ? NULL
							    : ((struct task_struct **)ctx)[1];
}

/* Stage 3: the programs, <event>__<tracepoint>() */
#define EVENT_CLASS(class, proto, args, cond, tstruct, assign) NOTHING
#define DEFINE_EVENT(class, event, proto, args) NOTHING
#undef TRACE_HOOK
#define TRACE_HOOK(event, tracepoint, proto, args)                                                 \
	struct tap_chain tap_chain_##tracepoint SEC(".maps");                                      \
	SEC("tp_btf/" #tracepoint)                                                                 \
	int BPF_PROG(event##__##tracepoint, proto)                                                 \
	{                                                                                          \
		record_##event(ctx, tap_known_current(#tracepoint, ctx), args);                    \
		TAP_CHAIN_ON(ctx, tracepoint, event);                                              \
		return 0;                                                                          \
	}                                                                                          \
	NOTHING
#include "all.h"

#include "own.h"

char _license[] SEC("license") = "Dual BSD/GPL";
