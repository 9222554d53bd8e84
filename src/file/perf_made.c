// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/perf_made.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#define MAX_BLOCKS 2048u /* in one round: 4 GB */
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
	COMMON "\tfield:pid_t prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	       "\tfield:pid_t next_pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	       "\tfield:long prev_state;\toffset:16;\tsize:8;\tsigned:1;\n\n"
	       "print fmt: \"prev_pid=%d prev_state=%s ==> next_pid=%d\", REC->prev_pid, "
	       "__print_symbolic(REC->prev_state, { 0, \"R\" }, { 1, \"S\" }, { 16, \"X\" }, { "
	       "512, \"?\" }), REC->next_pid\n";

/* The kernel's layout: .size callers follow. */
struct kernel_stack_record {
	struct common common;
	int32_t size, pad;
	uint64_t caller[TAP_PERF_MAX_FRAMES];
};

#define CALLER(i) ", (void *)REC->caller[" #i "]"

static const char kernel_stack_text[] =
	COMMON "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
	       "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n\n"
	       "print fmt: \"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\\t=> "
	       "%ps\\n\\t=> %ps\\n\\t=> %ps\\n\"" CALLER(0) CALLER(1) CALLER(2) CALLER(3) CALLER(4)
		       CALLER(5) CALLER(6) CALLER(7) "\n";

struct user_stack_record {
	struct common common;
	uint32_t text; /* length << 16 | offset */
};

/* A user_stack while it is queued: mappings from before its time may not have been read yet. */
struct user_stack_addresses {
	struct common common;
	int32_t tgid;
	uint32_t nr;
	uint64_t at[TAP_PERF_MAX_FRAMES];
};

static const char user_stack_text[] =
	COMMON "\tfield:__data_loc char[] text;\toffset:8;\tsize:4;\tsigned:0;\n\n"
	       "print fmt: \"%s\", __get_str(text)\n";

static bool has_event(const struct tap_reader *r, const char *system, const char *name)
{
	for (unsigned int i = 0; i < r->nr_formats; i++)
		if (!strcmp(r->formats[i]->system, system) && !strcmp(r->formats[i]->name, name))
			return true;
	return false;
}

/*
 * Add a format. Made records are in this machine's byte order, whatever the file's is. Kernels
 * assign ids from 1 upwards, so take the highest free one.
 */
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
	if (ret || !id)
		return ret;
	*out = r->decoder.slots[id].fmt;
	/* a sample with this id is refused: the file has no such event */
	r->decoder.slots[id].min_size = UINT32_MAX;
	return 0;
}

int tap_perf_made_switches(struct tap_perf_made *m, struct tap_reader *r, struct tap_err *err)
{
	if (has_event(r, "sched", "sched_switch"))
		return 0;
	return add_format(r, "sched", "sched_switch", switch_text, &m->sched_switch, err);
}

/* Reserve space for a record. Return: 0; -E2BIG; -ENOMEM. */
static int add_record(struct tap_perf_blocks *blocks, uint64_t round, uint32_t size,
		      unsigned char **rec, struct tap_err *err)
{
	struct tap_perf_block *b = blocks->newest;

	if (!b || b->len + size > TAP_PERF_BLOCK_BYTES) {
		if (blocks->nr == MAX_BLOCKS)
			return tap_err_set(err, -E2BIG,
					   "cannot sort the events: more than %zu MB would have to "
					   "be sorted at once",
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
		.prev_pid = s->prev,
		.next_pid = s->next,
		.prev_state = s->left,
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

int tap_perf_made_stacks(struct tap_perf_made *m, struct tap_reader *r, struct tap_err *err)
{
	return add_format(r, "ftrace", "kernel_stack", kernel_stack_text, &m->kernel_stack, err)
		       ?: add_format(r, "schedtap", "user_stack", user_stack_text, &m->user_stack,
				     err);
}

int tap_perf_made_kernel_stack(struct tap_perf_made *m, uint64_t round, int pid,
			       const struct tap_perf_chain *chain, const unsigned char **data,
			       uint32_t *size, struct tap_err *err)
{
	struct kernel_stack_record rec = {
		.common = { .type = m->kernel_stack->id, .pid = pid },
		.size = (int32_t)chain->nr,
	};
	const size_t callers = chain->nr * sizeof(*chain->at);
	unsigned char *at = NULL;
	int ret;

	memcpy(rec.caller, chain->at, callers);
	*size = (uint32_t)(offsetof(struct kernel_stack_record, caller) + callers);
	ret = add_record(&m->blocks, round, *size, &at, err);
	if (ret)
		return ret;
	memcpy(at, &rec, *size);
	*data = at;
	return 0;
}

int tap_perf_made_user_stack(struct tap_perf_made *m, uint64_t round, int pid,
			     const struct tap_perf_chain *chain, int tgid,
			     const unsigned char **data, uint32_t *size, struct tap_err *err)
{
	struct user_stack_addresses rec = {
		.common = { .type = m->user_stack->id, .pid = pid },
		.tgid = tgid,
		.nr = chain->nr,
	};
	const size_t addresses = chain->nr * sizeof(*chain->at);
	unsigned char *at = NULL;
	int ret;

	memcpy(rec.at, chain->at, addresses);
	*size = (uint32_t)(offsetof(struct user_stack_addresses, at) + addresses);
	ret = add_record(&m->blocks, round, *size, &at, err);
	if (ret)
		return ret;
	memcpy(at, &rec, *size);
	*data = at;
	return 0;
}

/* Append a user_stack record with a text for the addresses of @ev. */
static void add_named(struct tap_buf *b, struct tap_perf_maps *maps, const struct tap_event *ev)
{
	struct user_stack_addresses from;
	struct user_stack_record rec;
	size_t at = b->len;

	memcpy(&from, ev->data, ev->size);
	rec.common = from.common;
	tap_buf_add(b, &rec, sizeof(rec));
	for (unsigned int i = 0; i < from.nr; i++) {
		uint64_t offset;
		const char *name =
			tap_perf_maps_find(maps, from.tgid, from.at[i], ev->ts_ns, &offset);

		if (name)
			tap_buf_printf(b, "\n => %s+0x%" PRIx64, name, offset);
		else
			tap_buf_printf(b, "\n => 0x%" PRIx64, from.at[i]);
	}
	tap_buf_char(b, '\0');
	if (b->err)
		return;
	rec.text = (uint32_t)(b->len - at - sizeof(rec)) << 16 | sizeof(rec);
	memcpy(b->data + at, &rec, sizeof(rec));
	while (b->len % ALIGN)
		tap_buf_char(b, '\0');
}

int tap_perf_made_name(struct tap_perf_made *m, struct tap_perf_maps *maps,
		       struct tap_event *const *events, unsigned int nr)
{
	size_t at = 0;

	tap_buf_clear(&m->text);
	for (unsigned int i = 0; i < nr; i++)
		if (events[i]->fmt && events[i]->fmt == m->user_stack)
			add_named(&m->text, maps, events[i]);
	if (m->text.err)
		return -ENOMEM;
	/* m->text does not move any more: point the events to it */
	for (unsigned int i = 0; i < nr; i++) {
		struct user_stack_record rec;

		if (!events[i]->fmt || events[i]->fmt != m->user_stack)
			continue;
		memcpy(&rec, m->text.data + at, sizeof(rec));
		events[i]->data = m->text.data + at;
		events[i]->size = (uint32_t)sizeof(rec) + (rec.text >> 16);
		at += (events[i]->size + ALIGN - 1) / ALIGN * ALIGN;
	}
	return 0;
}

void tap_perf_made_release(struct tap_perf_made *m)
{
	tap_perf_blocks_release(&m->blocks);
	tap_buf_release(&m->text);
}
