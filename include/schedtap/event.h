/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events and their layouts. A struct tap_format is one kind of event as a recording's
 * format text describes it: names, offsets and sizes differ between kernels, so a field is
 * looked up once by name and then read through its struct tap_field. A struct tap_event is
 * one occurrence, or one interval in which events were lost.
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
	TAP_FIELD_CHARS, /* char name[N]: text, ends at the first NUL or at N */
	TAP_FIELD_STRING, /* __data_loc or __rel_loc char[]: text elsewhere in the record */
	TAP_FIELD_ARRAY, /* T name[N], not text; elem_size bytes each. A struct: bytes */
	TAP_FIELD_DYNAMIC, /* __data_loc or __rel_loc T[], not text (bitmasks, arrays) */
	TAP_FIELD_REAL, /* float, double: a program's, kernels have none */
};

/** struct tap_field - Where one field lies in a record. */
struct tap_field {
	const char *name;
	const char *type; /* as written: "pid_t", "char", "__data_loc char[]" */
	enum tap_field_kind kind;
	uint32_t offset, size; /* bytes, from the record's start */
	uint32_t elem_size; /* bytes of one element; size where it is no array */
	bool is_signed;
	bool is_rel; /* __rel_loc: counted from the end of the location word */
	bool swap; /* the recording's byte order is not this machine's */
	const char *absent; /* of the built-in definitions: why this kernel lacks it, or NULL */
	bool is_real; /* float or double, or an array's elements */
};

/** struct tap_format - One kind of event. Owned by whoever parsed it (the reader). */
struct tap_format {
	const char *system, *name;
	uint16_t id; /* common_type in the records of this recording */
	const struct tap_field *fields; /* the common ones first */
	unsigned int nr_fields, nr_common;
	const char *text; /* the format text, whole */
	const char *print_fmt; /* what follows "print fmt: " */
	uint32_t min_size; /* bytes that a record needs so that every field lies inside it, but
			    * for the trailing array of ftrace's own events: it may be cut */
	bool big_endian;
	uint8_t long_size; /* 4 or 8: of the kernel that recorded */
};

/**
 * tap_format_field() - Find a field by name.
 *
 * Return: borrowed, lives as long as @fmt; NULL if the event has no such field.
 */
TAP_API const struct tap_field *tap_format_field(const struct tap_format *fmt, const char *name);

/**
 * tap_field_u64() - A number field's value, sign-extended where the field is signed.
 * @rec: the record's start; @size its bytes.
 *
 * Return: the value; 0 where the field lies outside the record (a cut record: the reader
 * checks @size against min_size, so it does not hand such records out).
 */
TAP_API uint64_t tap_field_u64(const struct tap_field *f, const void *rec, uint32_t size);

/**
 * tap_field_real() - The value of a field of kind TAP_FIELD_REAL.
 *
 * Return: the value; 0 where the field lies outside the record.
 */
TAP_API double tap_field_real(const struct tap_field *f, const void *rec, uint32_t size);

/**
 * tap_field_bytes() - Where a field's bytes lie: text without its NUL, or the elements.
 * @len: set to the number of bytes; of an array that the record cuts: to those that are there.
 *
 * Return: borrowed from @rec; an empty string where a dynamic location points outside.
 */
TAP_API const char *tap_field_bytes(const struct tap_field *f, const void *rec, uint32_t size,
				    uint32_t *len);

/** struct tap_event - One event in time order, or (fmt == NULL) one loss. */
struct tap_event {
	uint64_t ts_ns; /* the recording's clock; of a loss: where it ends */
	const struct tap_format *fmt;
	const void *data; /* the record, from common_type on; borrowed until the next read */
	uint32_t size; /* bytes in data */
	uint32_t mark; /* of its kind: tap_reader_mark() */
	int cpu; /* where it was recorded; -1: not known (losses only) */
	unsigned int buffer; /* index of the trace buffer it came from */
	struct { /* of a loss alone: where fmt is set, this is not */
		/* The loss lies within [first, last]. .last_ns UINT64_MAX, where CPUs are not
		 * merged: the CPU has no later event. */
		uint64_t first_ns, last_ns;
		uint64_t count; /* events lost; 0: some, number not known */
		bool is_off; /* they were not lost: triggers had switched them off */
		/* of that kind; NULL: all kinds, or not known; borrowed */
		const struct tap_format *off;
	} lost;
};

#ifdef __cplusplus
}
#endif
#endif
