// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the program prints of a record, and what the decoder prints of it from the format text, is
 * the same; but for members of structs, whose places only the program knows. With an argument:
 * fires the events only.
 */
#define CREATE_TRACE_POINTS
#include "tracepoint/decoded.h"

#include "tracepoint/check_text.h"
#include "tracepoint/portable_records.h"

static const unsigned char bytes[] = "The bytes of a dump, \x01\x80\xff and more of them";

static void fire(void)
{
	trace_literal(1);
	trace_nothing();
	trace_constant();
	errno = ENOENT;
	trace_failed(-ENOMEM);
	trace_reals(-1234.5678, 0.1f);
	trace_dump(bytes, sizeof(bytes));
	trace_sized(7);
	trace_address((void *)0x5550aa);
	trace_members(7, (struct test_point){ 1, { 2, 3 } });
}

static void compare(const struct own_event *event, const void *rec, uint32_t size, void *arg)
{
	bool members = !strcmp(event->name, "members");
	struct tap_buf text = { 0 };
	struct trace_seq seq;

	(void)arg;
	trace_event_print(event->call, rec, &seq);
	own_decode(event, rec, size, &text);
	check(event->name, seq.text, members ? "7: 1 3" : text.data);
	if (!strcmp(event->name, "failed"))
		check("failed: the field, and libc's", seq.text, "-12 2 none");
	if (members)
		check("members: by fields", text.data, "id=7 point={1,0,0,0,2,0,3,0}");
	tap_buf_release(&text);
}

int main(int argc, char **argv)
{
	static struct own own;

	(void)argv;
	if (argc > 1) {
		fire();
		return 0;
	}
	own_open(&own);
	own_enable_all(&own);
	fire();
	own_each_record(&own, compare, NULL);
	printf("1..%d\n", nr);
	return failed != 0 || nr != 11;
}
