/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events and their layouts. A struct tap_format is one kind of event, as the recording's format
 * text describes it. Field names, offsets and sizes differ between kernels: look a field up once by
 * name, then read it through its struct tap_field. A struct tap_event is one occurrence of an
 * event, or one interval in which events were lost.
 */
#ifndef SCHEDTAP_EVENT_H
#define SCHEDTAP_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtap/err.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tap_field_kind {
	TAP_FIELD_NUMBER, /* 1, 2, 4 or 8 bytes */
	TAP_FIELD_CHARS, /* char name[N]: text that ends at its first NUL or after N bytes */
	TAP_FIELD_STRING, /* __data_loc or __rel_loc char[]: text stored elsewhere in the record */
	/* T name[N] that is not text, elem_size bytes per element; or a struct's bytes */
	TAP_FIELD_ARRAY,
	TAP_FIELD_DYNAMIC, /* __data_loc or __rel_loc T[] that is not text (bitmasks, arrays) */
	/* float or double: only in events of user-space programs, never in kernel events */
	TAP_FIELD_REAL,
};

/** struct tap_field - The position and the type of one field of a record. */
struct tap_field {
	const char *name;
	const char *type; /* as in the format text: "pid_t", "char", "__data_loc char[]" */
	enum tap_field_kind kind;
	uint32_t offset, size; /* bytes; the offset counts from the start of the record */
	uint32_t elem_size; /* bytes per element; equals size if the field is not an array */
	bool is_signed;
	bool is_rel; /* __rel_loc: its offset counts from the end of the location word */
	bool swap; /* the recording's byte order differs from this machine's */
	/* built-in definitions only: why this kernel lacks the field, or NULL */
	const char *absent;
	bool is_real; /* the field, or each element of the array, is a float or double */
};

/** struct tap_format - One kind of event. Owned by the object that parsed it (the reader). */
struct tap_format {
	const char *system, *name;
	uint16_t id; /* the common_type value of this event's records in this recording */
	const struct tap_field *fields; /* the common fields come first */
	unsigned int nr_fields, nr_common;
	const char *text; /* the whole format text */
	const char *print_fmt; /* the text that follows "print fmt: " */
	/*
	 * minimum record size in bytes: every field then lies within the record. The trailing array
	 * of ftrace's own events is not included, as the kernel may shorten it
	 */
	uint32_t min_size;
	bool big_endian;
	uint8_t long_size; /* sizeof(long) of the recorded kernel: 4 or 8 */
};

/**
 * tap_format_field() - Find a field by name.
 *
 * Return: borrowed, valid as long as @fmt; NULL if the event has no such field.
 */
TAP_API const struct tap_field *tap_format_field(const struct tap_format *fmt, const char *name);

/**
 * tap_field_u64() - Read a number field, sign-extended if the field is signed.
 * @rec: the start of the record.
 * @size: the record's size in bytes.
 *
 * Return: the value; 0 if the field lies outside the record. The reader never returns such records:
 * it checks their size against min_size.
 */
TAP_API uint64_t tap_field_u64(const struct tap_field *f, const void *rec, uint32_t size);

/**
 * tap_field_real() - Read a field of kind TAP_FIELD_REAL.
 *
 * Return: the value; 0 if the field lies outside the record.
 */
TAP_API double tap_field_real(const struct tap_field *f, const void *rec, uint32_t size);

/**
 * tap_field_bytes() - Find a field's bytes: text without its NUL, or array elements.
 * @len: set to the number of bytes. If the record is too short for a whole array, only the bytes
 * inside the record count.
 *
 * Return: borrowed from @rec; an empty string if a dynamic location points outside the record.
 */
TAP_API const char *tap_field_bytes(const struct tap_field *f, const void *rec, uint32_t size,
				    uint32_t *len);

/** struct tap_event - One event in time order or, if fmt is NULL, one loss of events. */
struct tap_event {
	uint64_t ts_ns; /* on the recording's clock; for a loss: its end */
	const struct tap_format *fmt;
	const void *data; /* the record, starting with common_type; borrowed until the next read */
	uint32_t size; /* size of data in bytes */
	uint32_t mark; /* what the @mark callback of tap_reader_mark() returned for this kind */
	int cpu; /* the CPU that recorded it; -1: unknown (losses only) */
	unsigned int buffer; /* index of the trace buffer that contained it */
	struct { /* valid only for a loss (fmt is NULL) */
		/*
		 * The loss happened within [first_ns, last_ns]. If CPUs are read separately,
		 * last_ns is UINT64_MAX when the CPU has no later event.
		 */
		uint64_t first_ns, last_ns;
		/* number of lost events; 0: at least one, but the number is unknown */
		uint64_t count;
		bool is_off; /* events were not lost: a trigger had switched them off */
		/* the kind of event that is missing; NULL: all kinds, or unknown; borrowed */
		const struct tap_format *off;
	} lost;
};

#ifdef __cplusplus
}
#endif
#endif
