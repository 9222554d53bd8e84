/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Printing a record as its print format says ("prev_comm=%s prev_pid=%d ..."). The text is
 * compiled once into a short program over the record's fields. What cannot be compiled, because it
 * calls functions of the kernel or has members of structs, is printed as name=value pairs, as
 * trace-cmd does.
 *
 * Numbers look as printk writes them. What only the recording kernel could tell (a variable, an
 * enum that it did not resolve) is a '?'; an address that no symbol explains is in hex.
 */
#ifndef TAP_PRINT_PRINT_H
#define TAP_PRINT_PRINT_H

#include "base/buf.h"
#include "event/format.h"
#include "event/print/symbols.h"

struct tap_printer;

/*
 * @fmt must outlive the printer.
 * Return: 0; -ENOMEM. A print format that is not understood is no error (tap_print_check() tells).
 */
int tap_printer_new(const struct tap_format *fmt, struct tap_printer **out, struct tap_err *err);
void tap_printer_free(struct tap_printer *p);

/*
 * Whether any reader can print such records: all of the print format is understood here, and it
 * divides by nothing that a record may say is 0. Return: 0; -EINVAL: it cannot be trusted; -ENOMEM.
 */
int tap_print_check(const struct tap_format *fmt);

/* What addresses in records stand for. Borrowed: @symbols must outlive the printer. */
void tap_printer_set_symbols(struct tap_printer *p, const struct tap_symbols *symbols);

/* Adds the text of one record. @size is at least fmt->min_size. Text from the kernel is added
 * as it is: whoever shows it on a terminal escapes it. */
void tap_printer_run(const struct tap_printer *p, const void *rec, uint32_t size,
		     struct tap_buf *out);

#endif
