// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "recording/perf_made.h"

#include <errno.h>
#include <stdio.h>

#define MAX_BLOCKS 2048u /* of one round: 4 GB */
#define ALIGN 8u

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

struct common {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
};

struct switch_record {
	struct common common;
	int32_t prev_pid, next_pid;
	int64_t prev_state;
};

static const char switch_text[] =
	COMMON
	"\tfield:pid_t prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t next_pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:16;\tsize:8;\tsigned:1;\n\n"
	"print fmt: \"prev_pid=%d prev_state=%s ==> next_pid=%d\", REC->prev_pid, "
	"__print_symbolic(REC->prev_state, { 0, \"R\" }, { 1, \"S\" }, { 16, \"X\" }, { 512, \"?\" }), REC->next_pid\n";

static bool has_event(const struct tap_reader *r, const char *system, const char *name)
{
	for (unsigned int i = 0; i < r->nr_formats; i++)
		if (!strcmp(r->formats[i]->system, system) && !strcmp(r->formats[i]->name, name))
			return true;
	return false;
}

/* Records are made in this machine's order, whatever the file's is. Kernels count ids up from 1. */
static int add_format(struct tap_reader *r, const char *system, const char *name, const char *text,
		      const struct tap_format **out, struct tap_err *err)
{
	const struct tap_abi abi = { .big_endian = TAP_HOST_BIG_ENDIAN, .long_size = 8 };
	unsigned int id = TAP_NR_SLOTS - 1;
	char whole[2048];
	int ret;

	while (id && r->decoder.slots[id].fmt)
		id--;
	snprintf(whole, sizeof(whole), "name: %s\nID: %u\n%s", name, id, text);
	ret = id ? tap_dat_add_format(r, system, whole, strlen(whole), abi, err) : 0;
	if (!ret)
		*out = id ? r->decoder.slots[id].fmt : NULL;
	return ret;
}

int tap_perf_made_switches(struct tap_perf_made *m, struct tap_reader *r, struct tap_err *err)
{
	if (has_event(r, "sched", "sched_switch"))
		return 0;
	return add_format(r, "sched", "sched_switch", switch_text, &m->sched_switch, err);
}

/* Return: 0 with room for a record; -E2BIG; -ENOMEM. */
static int add_record(struct tap_perf_blocks *blocks, uint64_t round, uint32_t size, unsigned char **rec,
		      struct tap_err *err)
{
	struct tap_perf_block *b = blocks->newest;

	if (!b || b->len + size > TAP_PERF_BLOCK_BYTES) {
		if (blocks->nr == MAX_BLOCKS)
			return tap_err_set(err, -E2BIG, "more than %zu MB would have to be sorted at once",
					   MAX_BLOCKS * TAP_PERF_BLOCK_BYTES >> 20);
		b = tap_perf_blocks_add(blocks);
	}
	if (!b)
		return tap_dat_nomem(err);
	*rec = b->data + b->len;
	b->len += (size + ALIGN - 1) / ALIGN * ALIGN;
	b->round = round;
	return 0;
}

int tap_perf_made_switch(struct tap_perf_made *m, uint64_t round, const struct tap_perf_switch *s,
			 const unsigned char **data, uint32_t *size, struct tap_err *err)
{
	const struct switch_record rec = {
		.common = { .type = m->sched_switch->id, .pid = s->prev >= 0 ? s->prev : s->next },
		.prev_pid = s->prev, .next_pid = s->next, .prev_state = s->left,
	};
	unsigned char *at = NULL;
	int ret = add_record(&m->blocks, round, sizeof(rec), &at, err);

	if (ret)
		return ret;
	memcpy(at, &rec, sizeof(rec));
	*data = at;
	*size = sizeof(rec);
	return 0;
}
