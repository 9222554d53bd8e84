// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kshark FILE: print what KernelShark reads from a recording. Prints "count NAME N" per event, and
 * for each sched_switch "switch TS_NS CPU PREV_STATE NEXT_PID". Compiled and run by readers.t.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include <kernelshark/libkshark.h> /* leaves ssize_t to those in front of it */
#include <kernelshark/libkshark-tepdata.h>

#define MAX_KINDS 65536

static unsigned long counts[MAX_KINDS];
static char *names[MAX_KINDS];

static int field(const struct kshark_entry *e, const char *name, int64_t *value)
{
	if (!kshark_read_event_field_int(e, name, value))
		return 0;
	fprintf(stderr, "sched_switch: cannot read %s\n", name);
	return -1;
}

static int see(const struct kshark_entry *e)
{
	int64_t prev_state, next_pid;

	if (e->event_id < 0)
		return 0; /* KernelShark's own mark for missing events */
	if (!counts[e->event_id]++)
		names[e->event_id] = kshark_get_event_name(e);
	if (strcmp(names[e->event_id], "sched/sched_switch"))
		return 0;
	if (field(e, "prev_state", &prev_state) || field(e, "next_pid", &next_pid))
		return -1;
	printf("switch %" PRId64 " %d %" PRId64 " %" PRId64 "\n", e->ts, e->cpu, prev_state,
	       next_pid);
	return 0;
}

int main(int argc, char **argv)
{
	struct kshark_context *ctx = NULL;
	struct kshark_entry **rows = NULL;
	ssize_t nr = -1;
	int top, ret = 0;

	if (argc != 2 || !kshark_instance(&ctx))
		return 2;
	top = kshark_open(ctx, argv[1]);
	if (top >= 0 && kshark_tep_init_all_buffers(ctx, top) >= 0)
		nr = kshark_load_all_entries(ctx, &rows);
	if (nr < 0) {
		fprintf(stderr, "cannot load %s\n", argv[1]);
		return 1;
	}
	for (ssize_t i = 0; i < nr && !ret; i++)
		ret = see(rows[i]);
	for (int i = 0; i < MAX_KINDS; i++)
		if (counts[i])
			printf("count %s %lu\n", names[i], counts[i]);
	for (ssize_t i = 0; i < nr; i++)
		free(rows[i]);
	free(rows);
	kshark_free(ctx);
	return ret ? 1 : 0;
}
