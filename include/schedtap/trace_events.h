/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * TRACE_EVENT() adds to a tracepoint an event with a record layout, a probe that records, and a
 * print format. The stages of <schedtap/define_trace.h> define objects of the types declared
 * here. Programs need this header only to print records themselves (trace_event_print()).
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

/* ---- description of an event ---- */

/* The common fields of every record. */
struct trace_entry {
	unsigned short type;
	unsigned char flags, preempt_count;
	int pid; /* thread id */
};

/* A field. Its type and name are in trace_event_info.names. */
struct trace_event_field {
	uint16_t offset, size; /* bytes */
	uint8_t is_signed;
	uint16_t len; /* number of array elements; 0: not an array */
};

/* Output buffer of print functions. */
struct trace_seq {
	char text[4096];
	size_t len; /* bytes of the whole output; more than fit into text if it was cut */
};

/* Description of an event, filled in by trace_event_call.info(). */
struct trace_event_info {
	const char *system;
	const char *names; /* for each field: type NUL name NUL */
	const struct trace_event_field *fields;
	unsigned int nr_fields;
	const char *print_fmt; /* the print format, as in tracefs' format files */
	void (*print)(const void *rec, struct trace_seq *s, struct trace_seq *p);
};

/*
 * An event. A function returns the rarely needed description: pointers in data would have to be
 * relocated when the program starts, and would double the memory of each of 1000 events.
 */
struct trace_event_call {
	void (*info)(struct trace_event_info *info);
	void *probe;
	struct tracepoint *tp;
	const char *own_name; /* name of a custom event; NULL: the tracepoint's name */
	struct trace_event_call *next; /* next event of the same tracepoint */
	uint16_t id; /* common_type of its records in this process */
	uint8_t bit; /* number of its bit in the bytes of the tracepoint's word */
	uint8_t filtered; /* the library has a filter for this event; since TAP_ABI 2 */
};

TAP_INLINE const char *trace_event_name(const struct trace_event_call *call)
{
	return call->own_name ? call->own_name : call->tp->name;
}

/*
 * TRACE_DEFINE_ENUM(), TRACE_DEFINE_SIZEOF(): @name stands for @value in print formats of @system.
 */
struct trace_eval_map {
	const char *system, *name;
	unsigned long value;
};

/*
 * Puts data and code that only writing format texts needs into pages of their own. The pages are
 * dropped after that, and read from the file again if a child or a loaded library needs them.
 */
#define TAP_AT_START __attribute__((section("tap_texts"), aligned(2)))
/*
 * in C++, whether a pointer type is signed is found out at run time, so the fields are not constant
 */
#ifdef __cplusplus
#define TAP_FIELDS_AT_START
#else
#define TAP_FIELDS_AT_START TAP_AT_START
#endif
#define TAP_CODE_AT_START __attribute__((noinline, section("tap_code")))

/*
 * Versions of the interface between the headers that an object (program or library) was built with
 * and the library that it runs with; each may be of any release. A new release adds members at the
 * end of structs and increments TAP_ABI; from the sizes in tap_release the library knows which
 * members an older object has. A change that an older library would misinterpret increments
 * TAP_ABI_LIBRARY.
 */
#define TAP_ABI 2
#define TAP_ABI_FILTERS 2 /* the first TAP_ABI whose sites notice changed filters */
#define TAP_ABI_LIBRARY 1 /* the oldest library that understands objects built with this header */

struct tap_release {
	uint16_t version, library;
	uint16_t object, tracepoint, call, info; /* sizes of the structs: bytes */
};

/*
 * Everything that one object (program or library) defines. The compiler fills in the beginning, the
 * library the end.
 */
struct tap_object {
	struct tap_release abi;
	/* tracepoints without an event */
	struct tracepoint *const *tracepoints, *const *tracepoints_end;
	struct trace_event_call *const *events, *const *events_end;
	const struct trace_eval_map *const *evals, *const *evals_end;
	/* bounds of TAP_AT_START data and TAP_CODE_AT_START code */
	const char *texts, *texts_end, *code, *code_end;
	const void *dynamic; /* its dynamic section; NULL: linked statically */
	struct tap_object *next;
	void *area; /* the area of the control file with its events' words */
	uint32_t area_nr; /* number of that area; UINT32_MAX: none */
	uint32_t uses; /* initialized source files with CREATE_TRACE_POINTS in this object */
};

TAP_API void tap_object_add(struct tap_object *object);
TAP_API void tap_object_remove(struct tap_object *object);
/*
 * Report that the calling object has patched sites, which do not read the words that controllers
 * write.
 */
TAP_API void tap_object_is_patched(void);

/**
 * trace_event_print() - Print a record in its TP_printk() format.
 * @rec: the record, starting with its common fields.
 *
 * Return: length of the text in bytes without its NUL; @s->text is cut after 4095 bytes.
 */
TAP_API size_t trace_event_print(const struct trace_event_call *call, const void *rec,
				 struct trace_seq *s);

/* ---- recording ---- */

/*
 * Maximum size of a record in bytes, common fields included. In a longer one texts and bitmasks are
 * cut; if an array does not fit, the event is lost.
 */
#define TAP_RECORD_MAX 4032u

/*
 * Functions rather than casts in macros, which compilers would warn about in the program's own
 * code.
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

/* Header of a record while it is built on the stack. */
struct tap_record {
	uint32_t head[4];
};

/* Layout of the dynamic data after a record's fixed fields. */
struct tap_fit {
	uint32_t size; /* of the record so far, in bytes */
	uint32_t max;
	unsigned int misfits;
};

#define TAP_FIT_CUT 1u /* a text was cut and ends with TAP_CUT_MARK */
#define TAP_FIT_TOO_LONG 2u /* an array did not fit */

#define TAP_CUT_MARK "[cut]"

/* Reserve @want bytes for a text, or as many as fit. Return: its __data_loc word. */
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

/*
 * Reserve @want bytes, or none if they do not all fit: the event's own code fills them and relies
 * on the size it asked for. Return: the __data_loc word.
 */
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
 * Copy short data by words. Compilers turn memcpy(), and loops that they recognize as a copy, into
 * "rep movs" where they know that the data is short: that takes three times as long.
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

/* Copy a text with its NUL into @room bytes; cut it and end it with TAP_CUT_MARK. */
TAP_API void tap_put_cut_text(char *to, const char *text, size_t room);
TAP_INLINE void tap_put_text(char *to, const char *text, uint32_t room, bool cut)
{
	if (tap_unlikely(cut)) {
		tap_put_cut_text(to, text, room);
		return;
	}
	if (!room) /* never 0: the NUL always has room */
		__builtin_unreachable();
	/*
	 * hide that it may be a constant: compilers know its size and would warn about the other
	 * branches
	 */
	__asm__("" : "+r"(text));
	tap_copy(to, text, room - 1);
	to[room - 1] = '\0';
}

/* stands for the text of a __vstring(), which the event formats itself */
#define TAP_NO_TEXT ((const char *)1)

TAP_INLINE const char *tap_text_or_null(const char *text)
{
	return text ? text : "(null)";
}

TAP_INLINE int tap_errno(void)
{
	return errno;
}

/* Copy @len bytes of @from, at most @room, and zero the rest of @room. */
TAP_INLINE void tap_put_bytes(void *to, uint32_t room, const void *from, size_t len)
{
	size_t copied = len < room ? len : room;

	memcpy(to, from, copied);
	memset((char *)to + copied, 0, room - copied);
}

TAP_API size_t tap_vstring_bytes(const char *fmt, va_list args);
/* Not inline: compilers do not inline functions with va_copy(). */
TAP_API void tap_put_vstring(char *to, size_t room, const char *fmt, va_list args);

/* Bytes of a record of @size bytes with its header, rounded up to whole 8-byte words. */
#define TAP_RECORD_BYTES(size) (((size) + sizeof(struct tap_record) + 7u) & ~(size_t)7)

/* Records with at most this many bytes of dynamic data are built in a small buffer. */
#define TAP_SHORT_DATA 128u

/* Write the record into this CPU's ring, or count it as lost. @bytes: TAP_RECORD_BYTES(). */
TAP_API TAP_BOUND void tap_record_commit(struct tap_record *rec, size_t bytes,
					 const struct trace_event_call *call);
/* Count an event with a text that was cut. */
TAP_API TAP_BOUND void tap_record_note_cut(void);

/* ---- bitmasks ---- */

#define TAP_LONG_BITS (8 * sizeof(unsigned long))
#define TAP_BITMASK_BYTES(nr_bits)                                                                 \
	(((nr_bits) + TAP_LONG_BITS - 1) / TAP_LONG_BITS * sizeof(unsigned long))
TAP_API unsigned int tap_nr_cpus(void); /* number of possible CPUs: the bits of a __cpumask() */

/* ---- printing ---- */

#ifdef __cplusplus
extern "C++" {
#endif
struct trace_print_flags {
	unsigned long long mask;
	const char *name;
/* C++ does not accept a negative constant as initializer of an unsigned member */
#ifdef __cplusplus
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

/* tap_u64(): converts a number, an enum or a pointer. */
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
/* Each function prints into @p and returns the text that it added. @flags end with a NULL name. */
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
