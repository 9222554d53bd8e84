// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/print/callers.h"

#include <inttypes.h>

static void find_call(struct tap_callers *c, const struct tap_format *fmt)
{
	const struct tap_field *ip = tap_format_field(fmt, "ip");
	const struct tap_field *parent = tap_format_field(fmt, "parent_ip");

	if (!ip || !parent || ip->kind != TAP_FIELD_NUMBER || parent->kind != TAP_FIELD_NUMBER)
		return;
	c->ip = ip;
	c->parent = parent;
}

struct tap_callers tap_callers_find(const struct tap_format *fmt)
{
	struct tap_callers c = { .is_kernel = strcmp(fmt->name, "user_stack") };
	const struct tap_field *address = tap_format_field(fmt, "caller");

	if (strcmp(fmt->system, "ftrace"))
		return c;
	if (!strcmp(fmt->name, "function") && !strstr(fmt->print_fmt, "%ps"))
		find_call(&c, fmt);
	if (strcmp(fmt->name, "kernel_stack") && strcmp(fmt->name, "user_stack"))
		return c;
	c.nr = tap_format_field(fmt, "size");
	if (address && address->kind == TAP_FIELD_ARRAY &&
	    (address->elem_size == 4 || address->elem_size == 8))
		c.address = address;
	return c;
}

static void put_address(const struct tap_callers *c, uint64_t address,
			const struct tap_symbols *symbols, struct tap_buf *out)
{
	uint64_t offset;
	const char *name =
		c->is_kernel && symbols ? tap_symbols_name(symbols, address, &offset) : NULL;

	if (name)
		tap_buf_puts(out, name);
	else
		tap_buf_printf(out, "0x%" PRIx64, address);
}

/*
 * The format has an array of 8 callers, but the record as many as the stack had: either it ends
 * after the last one, or a field has their number. Unused elements are 0; up to Linux 5.2 an
 * all-ones address ended the stack.
 */
void tap_callers_put(const struct tap_callers *c, const unsigned char *rec, uint32_t size,
		     const struct tap_symbols *symbols, struct tap_buf *out)
{
	const struct tap_field *f = c->address;
	uint64_t nr = f->offset < size ? (size - f->offset) / f->elem_size : 0, address;

	if (c->nr && tap_field_u64(c->nr, rec, size) < nr)
		nr = tap_field_u64(c->nr, rec, size);
	for (uint64_t i = 0; i < nr; i++) {
		address = tap_load(rec + f->offset + i * f->elem_size, f->elem_size, f->swap);
		if (!address || tap_fit(address, f->elem_size, true) == UINT64_MAX)
			return;
		tap_buf_puts(out, "\n => ");
		put_address(c, address, symbols, out);
	}
}

void tap_callers_put_call(const struct tap_callers *c, const unsigned char *rec, uint32_t size,
			  const struct tap_symbols *symbols, struct tap_buf *out)
{
	tap_buf_char(out, ' ');
	put_address(c, tap_field_u64(c->ip, rec, size), symbols, out);
	tap_buf_puts(out, " <-- ");
	put_address(c, tap_field_u64(c->parent, rec, size), symbols, out);
}
