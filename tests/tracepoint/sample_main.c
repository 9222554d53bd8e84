// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The kernel's samples/trace_events/trace-events-sample.h in a program: each event fires as in the
 * sample's own .c file, is recorded, and its record is printed twice.
 */
#include "sample_shim.h"

#define CREATE_TRACE_POINTS
#include "trace-events-sample.h"

#include "portable_records.h"

static int registered;

int foo_bar_reg(void)
{
	registered++;
	return 0;
}

void foo_bar_unreg(void)
{
	registered--;
}

static void fire(int cnt, const char *fmt, ...)
{
	unsigned long bitmask[1] = { 0xdeadbeefUL };
	const cpumask_t cpus = { { 1 } };
	int array[6], len = cnt % 5;
	va_list va;

	for (int i = 0; i < len; i++)
		array[i] = i + 1;
	array[len] = 0;
	va_start(va, fmt);
	trace_foo_bar("hello", cnt, array, "Mother Goose", &cpus, fmt, &va);
	va_end(va);
	trace_foo_with_template_simple("HELLO", cnt);
	trace_foo_bar_with_cond("Some times print", cnt);
	trace_foo_with_template_cond("prints other times", cnt);
	trace_foo_with_template_print("I have to be different", cnt);
	trace_foo_rel_loc("Hello __rel_loc", cnt, bitmask, &cpus);
	trace_foo_bar_with_fn("Look at me", cnt);
	trace_foo_with_template_fn("Look at me too", cnt);
}

/* The two texts; what became of them is sample.t's business. */
static void show(const struct own_event *event, const void *rec, uint32_t size, void *arg)
{
	struct trace_seq seq;
	struct tap_buf text = { 0 };

	(void)arg;
	trace_event_print(event->call, rec, &seq);
	own_decode(event, rec, size, &text);
	printf("%s:%s\n program %s\n decoder %s\n", event->system, event->name, seq.text,
	       text.data);
	tap_buf_release(&text);
}

int main(void)
{
	struct own own = { 0 };

	own_open(&own);
	for (int cnt = 0; cnt < 11; cnt++)
		fire(cnt, "iter=%d", cnt);
	own_enable_all(&own);
	for (int cnt = 0; cnt < 41; cnt++)
		fire(cnt, "iter=%d", cnt);
	own_each_record(&own, show, NULL);
	printf("registered %d\n", registered);
	for (uint32_t i = 0; i < own.events_nr; i++)
		printf("event %s:%s\n", own.events[i].system, own.events[i].name);
	return 0;
}
