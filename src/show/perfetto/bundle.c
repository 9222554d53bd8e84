// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/perfetto/bundle.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/*
 * Maximum rows of switches and of wakings, enough to amortize the names. CPUs with high numbers get
 * fewer, so that all bundles together take at most 100 MB.
 */
#define MAX_ROWS 2048u
#define MIN_ROWS 64u
#define ROWS_OF_ALL (1u << 17)
#define ROWS_AT_ONCE 4u /* rows that may be added before the caller checks for a full bundle */
#define EVENT_BYTES (16u << 10)
#define COLUMNS (TAP_PF_COMPACT_FLAGS + 1u)

static size_t column_bytes(const struct tap_bundle *b)
{
	return (b->max_rows + ROWS_AT_ONCE) * (size_t)TAP_PROTO_VARINT_BYTES;
}

static void empty_columns(struct tap_bundle *b)
{
	for (unsigned int i = 0; i < COLUMNS; i++)
		b->ends[i] = b->columns + i * column_bytes(b);
}

static unsigned int rows_of(int cpu)
{
	unsigned int rows = ROWS_OF_ALL / ((unsigned int)cpu + 1);

	return rows < MIN_ROWS ? MIN_ROWS : rows < MAX_ROWS ? rows : MAX_ROWS;
}

struct tap_bundle *tap_bundle_new(const struct tap_pf_machine *machine, int cpu)
{
	struct tap_bundle *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->cpu = cpu;
	b->machine = machine;
	b->max_rows = rows_of(cpu);
	b->columns = malloc(COLUMNS * column_bytes(b));
	if (!b->columns) {
		free(b);
		return NULL;
	}
	empty_columns(b);
	return b;
}

void tap_bundle_free(struct tap_bundle *b)
{
	if (!b)
		return;
	tap_buf_release(&b->events);
	free(b->columns);
	free(b);
}

/*
 * A name as two words: comparing these inline is faster than the memcmp() call that the compiler
 * emits.
 */
struct name {
	uint64_t words[2];
};

static struct name name_of(const char *comm)
{
	struct name name;

	static_assert(sizeof(name) == TAP_TASK_COMM, "all of it");
	memcpy(&name, comm, sizeof(name));
	return name;
}

static unsigned int hash_of(struct name name)
{
	return (unsigned int)(((name.words[0] ^ name.words[1] * 0x9e3779b97f4a7c15u) *
			       0xff51afd7ed558ccdu) >>
			      40);
}

static bool is_same(struct name a, struct name b)
{
	return !((a.words[0] ^ b.words[0]) | (a.words[1] ^ b.words[1]));
}

/* Return the name's index in the bundle. Bundles are put out before the table is full. */
static unsigned int name_number(struct tap_bundle *b, const char *comm)
{
	const unsigned int mask = sizeof(b->by_hash) / sizeof(*b->by_hash) - 1;
	const struct name name = name_of(comm);

	for (unsigned int slot = hash_of(name) & mask;; slot = (slot + 1) & mask) {
		if (!b->by_hash[slot]) {
			memcpy(b->names[b->nr_names], comm, TAP_TASK_COMM);
			b->by_hash[slot] = (uint16_t)++b->nr_names;
			return b->nr_names - 1;
		}
		if (is_same(name_of(b->names[b->by_hash[slot] - 1]), name))
			return b->by_hash[slot] - 1u;
	}
}

static void add_number(struct tap_bundle *b, unsigned int column, uint64_t v)
{
	b->ends[column] = tap_proto_write_varint(b->ends[column], v);
}

void tap_bundle_switch(struct tap_bundle *b, uint64_t ts_ns, int64_t prev_state, int next, int prio,
		       const char *comm)
{
	const uint64_t at_ns = tap_pf_time(b->machine, ts_ns);

	add_number(b, TAP_PF_COMPACT_SWITCH_TS, at_ns - b->switch_ns);
	b->switch_ns = at_ns;
	add_number(b, TAP_PF_COMPACT_PREV_STATE, (uint64_t)prev_state);
	add_number(b, TAP_PF_COMPACT_NEXT_PID, (uint64_t)next);
	add_number(b, TAP_PF_COMPACT_NEXT_PRIO, (uint64_t)prio);
	add_number(b, TAP_PF_COMPACT_NEXT_NAME, name_number(b, comm));
	b->nr_switches++;
}

void tap_bundle_waking(struct tap_bundle *b, uint64_t ts_ns, int tid, int prio, int target_cpu,
		       unsigned int flags, const char *comm)
{
	const uint64_t at_ns = tap_pf_time(b->machine, ts_ns);

	add_number(b, TAP_PF_COMPACT_WAKING_TS, at_ns - b->waking_ns);
	b->waking_ns = at_ns;
	add_number(b, TAP_PF_COMPACT_WAKING_PID, (uint64_t)tid);
	add_number(b, TAP_PF_COMPACT_TARGET_CPU, (uint64_t)target_cpu);
	add_number(b, TAP_PF_COMPACT_WAKING_PRIO, (uint64_t)prio);
	add_number(b, TAP_PF_COMPACT_WAKING_NAME, name_number(b, comm));
	add_number(b, TAP_PF_COMPACT_FLAGS, flags);
	b->nr_wakings++;
}

size_t tap_bundle_event_begin(struct tap_bundle *b, uint64_t ts_ns, int tid)
{
	size_t begun = tap_proto_begin(&b->events, TAP_PF_BUNDLE_EVENT);

	tap_proto_u64(&b->events, TAP_PF_EVENT_TIMESTAMP, tap_pf_time(b->machine, ts_ns));
	tap_proto_s64(&b->events, TAP_PF_EVENT_PID, tid);
	return begun;
}

void tap_bundle_event_end(struct tap_bundle *b, size_t begun)
{
	tap_proto_end(&b->events, begun);
}

bool tap_bundle_is_full(const struct tap_bundle *b)
{
	return b->nr_switches >= b->max_rows || b->nr_wakings >= b->max_rows ||
	       b->events.len >= EVENT_BYTES || b->nr_names + ROWS_AT_ONCE > TAP_BUNDLE_NAMES;
}

static void put_compact(struct tap_bundle *b, struct tap_buf *out)
{
	size_t begun = tap_proto_begin(out, TAP_PF_BUNDLE_COMPACT);

	for (unsigned int i = 0; i < b->nr_names; i++)
		tap_proto_comm(out, TAP_PF_COMPACT_NAME, b->names[i]);
	for (unsigned int i = 0; i < COLUMNS; i++) {
		const unsigned char *column = b->columns + i * column_bytes(b);

		if (b->ends[i] > column)
			tap_proto_bytes(out, i, column, (size_t)(b->ends[i] - column));
	}
	tap_proto_end(out, begun);
}

static void empty_bundle(struct tap_bundle *b)
{
	empty_columns(b);
	tap_buf_clear(&b->events);
	b->switch_ns = b->waking_ns = 0;
	b->nr_switches = b->nr_wakings = b->nr_names = 0;
	memset(b->by_hash, 0, sizeof(b->by_hash));
	b->has_loss = false;
}

int tap_bundle_put(struct tap_bundle *b, struct tap_buf *out)
{
	int failed = b->events.err;
	size_t packet, bundle;

	if (!b->nr_names && !b->events.len && !b->has_loss)
		return failed;
	packet = tap_pf_packet(out, b->machine, TAP_PF_SEQUENCE_FTRACE);
	bundle = tap_proto_begin(out, TAP_PF_PACKET_FTRACE);
	tap_proto_s64(out, TAP_PF_BUNDLE_CPU, b->cpu);
	if (b->has_loss)
		tap_proto_u64(out, TAP_PF_BUNDLE_LOST, true);
	tap_buf_add(out, b->events.data, b->events.len);
	if (b->nr_names)
		put_compact(b, out);
	tap_proto_end(out, bundle);
	tap_proto_end(out, packet);
	empty_bundle(b);
	return failed ?: out->err;
}
