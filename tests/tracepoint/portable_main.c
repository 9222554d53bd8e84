// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The events of portable.h in a program: prints their format texts, then what the program itself
 * prints of each record and what the decoder does, in blocks as tests/vm/guests.t has them of a
 * guest.
 */
#include <string.h>

#define CREATE_TRACE_POINTS
#include "portable.h"

#include "portable_fire.h"
#include "portable_records.h"

static void show(const struct own_event *event, const void *rec, uint32_t size, void *arg)
{
	bool decoder = *(bool *)arg;

	if (decoder) {
		struct tap_buf text = { 0 };

		own_decode(event, rec, size, &text);
		printf("%s: %s\n", event->name, text.data);
		tap_buf_release(&text);
	} else {
		struct trace_seq seq;

		trace_event_print(event->call, rec, &seq);
		printf("%s: %s\n", event->name, seq.text);
	}
}

int main(void)
{
	struct own own = { 0 };
	bool decoder = false;

	own_open(&own);
	for (uint32_t i = 0; i < own.events_nr; i++)
		printf("@@ %s\n%s@@ rc 0\n", own.events[i].name, own.events[i].text);
	own_enable_all(&own);
	portable_fire();
	printf("@@ trace\n");
	own_each_record(&own, show, &decoder);
	printf("@@ rc 0\n@@ decoder\n");
	decoder = true;
	own_each_record(&own, show, &decoder);
	printf("@@ rc 0\n@@ registered\n%d\n@@ rc 0\n", portable_registered);
	return 0;
}
