/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What TRACE_EVENT() makes of a tracepoint: an event with a layout, a probe that records, a print
 * format. The stages of <schedtap/define_trace.h> fill in what is declared here; programs need it
 * only to print a record themselves (trace_event_print()).
 */
#pragma GCC system_header
#ifndef SCHEDTAP_TRACE_EVENTS_H
#define SCHEDTAP_TRACE_EVENTS_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <schedtap/tracepoint.h>

TAP_C_BEGIN

/* ---- what describes an event ---- */

/* The common fields of every record. */
struct trace_entry {
	unsigned short type;
	unsigned char flags, preempt_count;
	int pid; /* the thread's id */
};

/* A field; its type and name stand in the class's names. */
struct trace_event_field {
	uint16_t offset, size; /* bytes */
	uint8_t is_signed;
	uint16_t len; /* an array's elements; 0: it is none */
};

/* What a print function prints into. */
struct trace_seq {
	char text[4096];
	size_t len; /* of what would have been printed: may be more than there is room for */
};

/* What an event says of itself. */
struct trace_event_info {
	const char *system;
	const char *names; /* per field: type NUL name NUL */
	const struct trace_event_field *fields;
	unsigned int nr_fields;
	const char *print_fmt; /* as in the format file */
	void (*print)(const void *rec, struct trace_seq *s, struct trace_seq *p);
};

/*
 * An event. What is seldom asked for is told by a function: pointers in data would have to be
 * relocated when the program starts, and each of 1000 events would cost twice as much memory.
 */
struct trace_event_call {
	void (*info)(struct trace_event_info *info);
	void *probe;
	struct tracepoint *tp;
	const char *own_name; /* of a custom event; NULL: the tracepoint's */
	struct trace_event_call *next; /* of the same tracepoint */
	uint16_t id; /* common_type of its records in this process */
	uint8_t bit; /* its bit in the tracepoint's word */
	uint8_t filtered; /* the library has a filter for it; since TAP_ABI 2 */
};

TAP_INLINE const char *trace_event_name(const struct trace_event_call *call)
{
	return call->own_name ? call->own_name : call->tp->name;
}

/* TRACE_DEFINE_ENUM(), TRACE_DEFINE_SIZEOF(): @name means @value in texts of @system. */
struct trace_eval_map {
	const char *system, *name;
	unsigned long value;
};

/*
 * What is read once, when format texts are written: in pages of its own, which are given back
 * then. They come from the file again if a child or a loaded library needs them.
 */
#define TAP_AT_START __attribute__((section("tap_texts"), aligned(2)))
#ifdef __cplusplus /* the sign of a pointer is found out at run time */
#define TAP_FIELDS_AT_START
#else
#define TAP_FIELDS_AT_START TAP_AT_START
#endif
#define TAP_CODE_AT_START __attribute__((noinline, section("tap_code")))

/*
 * What is shared between the headers that an object was built with and the library that it runs
 * with: both may be of any release. A new release adds at the end of structs, which makes a new
 * TAP_ABI; by their sizes the library knows what an older object's have. What an older library
 * would get wrong makes a new TAP_ABI_LIBRARY.
 */
#define TAP_ABI 2
#define TAP_ABI_FILTERS 2 /* the first whose sites see that filters have changed */
#define TAP_ABI_LIBRARY 1 /* the oldest that understands such an object */

struct tap_release {
	uint16_t version, library;
	uint16_t object, tracepoint, call, info; /* sizes of the structs: bytes */
};

/* What one object (program or library) defines. Filled in by the compiler, kept by the library. */
struct tap_object {
	struct tap_release abi;
	/* those that are no events */
	struct tracepoint *const *tracepoints, *const *tracepoints_end;
	struct trace_event_call *const *events, *const *events_end;
	const struct trace_eval_map *const *evals, *const *evals_end;
	const char *texts, *texts_end, *code, *code_end; /* of TAP_AT_START and TAP_CODE_AT_START */
	const void *dynamic; /* what it says to the dynamic linker; NULL: linked without one */
	struct tap_object *next;
	void *area; /* its words in the control file */
	uint32_t area_nr; /* of the control file's areas; UINT32_MAX: none */
	uint32_t uses; /* files with CREATE_TRACE_POINTS in it that are initialized */
};

TAP_API void tap_object_add(struct tap_object *object);
TAP_API void tap_object_remove(struct tap_object *object);
/* Its sites are patched, so that they do not see what controllers want. */
TAP_API void tap_object_is_patched(void);

/**
 * trace_event_print() - Print a record as its TP_printk() says.
 * @rec: the record, from its common fields on.
 *
 * Return: bytes of the text without its NUL, cut at 4095 in @s.
 */
TAP_API size_t trace_event_print(const struct trace_event_call *call, const void *rec,
				 struct trace_seq *s);

/* ---- recording ---- */

/* Bytes of a record, common fields included. What is longer is cut (texts, bitmasks) or lost. */
#define TAP_RECORD_MAX 4032u

/* Functions, of which compilers say less than of casts in macros: these are in the program's code.
 */
TAP_INLINE void *tap_data(const void *rec, size_t at)
{
	return (char *)rec + at;
}

TAP_INLINE char *tap_text(void *data)
{
	return (char *)data;
}

TAP_INLINE struct sockaddr *tap_address(void *data)
{
	return (struct sockaddr *)data;
}

/* Stands in front of a record while it is built on the stack. */
struct tap_record {
	uint32_t head[4];
};

/* Dynamic data as it is laid out behind the fixed fields. */
struct tap_fit {
	uint32_t size; /* of the record so far */
	uint32_t max;
	unsigned int misfits;
};

#define TAP_FIT_CUT 1u /* a text did not fit: it ends with TAP_CUT_MARK */
#define TAP_FIT_TOO_LONG 2u /* an array did not fit */

#define TAP_CUT_MARK "[cut]"

/* Return: the location word of @want bytes. */
TAP_INLINE uint32_t tap_fit_text(struct tap_fit *fit, size_t want)
{
	uint32_t at = fit->size, len = (uint32_t)want;

	if (tap_unlikely(want > fit->max - at)) {
		len = fit->max - at;
		fit->misfits |= TAP_FIT_CUT;
	}
	fit->size += len;
	return at | len << 16;
}

/* The same for what the event's own code fills: that must have the room it asked for. */
TAP_INLINE uint32_t tap_fit_array(struct tap_fit *fit, size_t want)
{
	uint32_t loc;

	if (tap_unlikely(want > fit->max - fit->size)) {
		fit->misfits |= TAP_FIT_TOO_LONG;
		want = 0;
	}
	loc = fit->size | (uint32_t)want << 16;
	fit->size += (uint32_t)want;
	return loc;
}

/*
 * Copies short data by words. Compilers make one "rep movs" of memcpy() and of loops that they
 * know for one, where they know that it is not long: that takes three times as long.
 */
TAP_INLINE void tap_copy(char *to, const char *from, size_t len)
{
	uint64_t word, last;
	uint32_t half;

	if (len >= 8) {
		__builtin_memcpy(&word, from, 8);
		__builtin_memcpy(&last, from + len - 8, 8);
		__builtin_memcpy(to, &word, 8);
		for (size_t i = 8; tap_unlikely(i < len - 8); i += 8) {
			__builtin_memcpy(&word, from + i, 8);
			__asm__("" : "+r"(word));
			__builtin_memcpy(to + i, &word, 8);
		}
		__builtin_memcpy(to + len - 8, &last, 8);
	} else if (len >= 4) {
		__builtin_memcpy(&half, from + len - 4, 4);
		__builtin_memcpy(to, from, 4);
		__builtin_memcpy(to + len - 4, &half, 4);
	} else {
		for (size_t i = 0; i < len; i++)
			to[i] = from[i];
	}
}

/* Copies a text with its NUL to where it has @room bytes. */
TAP_API void tap_put_cut_text(char *to, const char *text, size_t room);
TAP_INLINE void tap_put_text(char *to, const char *text, uint32_t room, bool cut)
{
	if (tap_unlikely(cut)) {
		tap_put_cut_text(to, text, room);
		return;
	}
	if (!room) /* there is room for the NUL */
		__builtin_unreachable();
	/* of a constant compilers know the size, and warn of all branches */
	__asm__("" : "+r"(text));
	tap_copy(to, text, room - 1);
	to[room - 1] = '\0';
}

#define TAP_NO_TEXT ((const char *)1) /* a __vstring(): its event writes it */

TAP_INLINE const char *tap_text_or_null(const char *text)
{
	return text ? text : "(null)";
}

TAP_INLINE int tap_errno(void)
{
	return errno;
}

/* Copies @len bytes of @from, as far as there is room, and zeroes the rest. */
TAP_INLINE void tap_put_bytes(void *to, uint32_t room, const void *from, size_t len)
{
	size_t copied = len < room ? len : room;

	memcpy(to, from, copied);
	memset((char *)to + copied, 0, room - copied);
}

TAP_API size_t tap_vstring_bytes(const char *fmt, va_list args);
/* Not inline: compilers refuse that of functions with va_copy(). */
TAP_API void tap_put_vstring(char *to, size_t room, const char *fmt, va_list args);

/* Bytes of a record of @size with what stands in front of it: whole words. */
#define TAP_RECORD_BYTES(size) (((size) + sizeof(struct tap_record) + 7u) & ~(size_t)7)

/* Bytes of dynamic data up to which a record is short. */
#define TAP_SHORT_DATA 128u

/* Puts the record into this CPU's ring, or counts it as lost. @bytes: TAP_RECORD_BYTES(). */
TAP_API TAP_BOUND void tap_record_commit(struct tap_record *rec, size_t bytes,
					 const struct trace_event_call *call);
/* Counts an event of which a text was cut. */
TAP_API TAP_BOUND void tap_record_note_cut(void);

/* ---- bitmasks ---- */

#define TAP_LONG_BITS (8 * sizeof(unsigned long))
#define TAP_BITMASK_BYTES(nr_bits)                                                                 \
	(((nr_bits) + TAP_LONG_BITS - 1) / TAP_LONG_BITS * sizeof(unsigned long))
TAP_API unsigned int tap_nr_cpus(void); /* CPUs that this machine may have: bits of a __cpumask() */

/* ---- printing ---- */

#ifdef __cplusplus
extern "C++" {
#endif
struct trace_print_flags {
	unsigned long long mask;
	const char *name;
#ifdef __cplusplus /* there a negative constant is no initializer of an unsigned member */
	template <class T>
	constexpr trace_print_flags(T value, const char *text)
	    : mask((unsigned long long)value), name(text)
	{
	}
#endif
};
#ifdef __cplusplus
}
#endif

/* of numbers, enums and pointers */
#ifdef __cplusplus
extern "C++" {
template <class T> TAP_INLINE unsigned long long tap_u64(T value)
{
	return (unsigned long long)value;
}
}
#else
#define tap_u64(value) ((unsigned long long)(value))
#endif

TAP_API void tap_seq_printf(struct trace_seq *s, const char *fmt, ...) TAP_PRINTF(2, 3);
/* Each prints into @p and returns what it printed there. @flags end with a NULL name. */
TAP_API const char *tap_print_flags(struct trace_seq *p, const char *delim,
				    unsigned long long value,
				    const struct trace_print_flags *flags);
TAP_API const char *tap_print_symbolic(struct trace_seq *p, unsigned long long value,
				       const struct trace_print_flags *symbols);
TAP_API const char *tap_print_hex(struct trace_seq *p, const void *buf, int len, bool spaced);
TAP_API const char *tap_print_hex_dump(struct trace_seq *p, const char *prefix, int prefix_type,
				       int row_bytes, int group_bytes, const void *buf, size_t len,
				       bool ascii);
TAP_API const char *tap_print_array(struct trace_seq *p, const void *buf, int count,
				    size_t el_size);
TAP_API const char *tap_print_bitmask(struct trace_seq *p, const void *bits, uint32_t bytes);

#ifndef DUMP_PREFIX_NONE
enum { DUMP_PREFIX_NONE, DUMP_PREFIX_ADDRESS, DUMP_PREFIX_OFFSET };
#endif

TAP_C_END

#endif
