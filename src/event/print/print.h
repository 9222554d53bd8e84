/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Print records as their print format says ("prev_comm=%s prev_pid=%d ..."). The format is compiled
 * once into a short program over the record's fields. Formats that cannot be compiled, as they call
 * kernel functions or use members of structs, are printed as name=value pairs, as in trace-cmd.
 *
 * Numbers are printed as by printk(). A value that only the recorded kernel knows (a variable, or
 * an enum that it did not resolve) is printed as '?', an address without a known symbol in hex.
 */
#ifndef TAP_PRINT_PRINT_H
#define TAP_PRINT_PRINT_H

#include "base/buf.h"
#include "event/format.h"
#include "event/print/symbols.h"

struct tap_printer;

/*
 * Create a printer. @fmt must outlive it.
 * Return: 0; -ENOMEM. A print format that is not supported is not an error (see tap_print_check()).
 */
int tap_printer_new(const struct tap_format *fmt, struct tap_printer **out, struct tap_err *err);
void tap_printer_free(struct tap_printer *p);

/*
 * Check that any reader can print such records: the whole print format is supported, and it only
 * divides by constants other than 0. Return: 0; -EINVAL if it is not safe; -ENOMEM.
 */
int tap_print_check(const struct tap_format *fmt);

/* Set the symbols of addresses in records. Borrowed: @symbols must outlive the printer. */
void tap_printer_set_symbols(struct tap_printer *p, const struct tap_symbols *symbols);

/*
 * Add the text of a record. @size: at least fmt->min_size. The kernel's texts are not escaped:
 * escape the output for terminals.
 */
void tap_printer_run(const struct tap_printer *p, const void *rec, uint32_t size,
		     struct tap_buf *out);

#endif
