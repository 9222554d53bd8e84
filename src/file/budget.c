// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/budget.h"

#include <errno.h>

/* Memory that jansson 2.14 allocates with glibc. */
#define JSON_OBJECT_BYTES 240u /* including its table of 8 buckets */
#define JSON_ARRAY_BYTES 128u /* including its table of 8 pointers */
#define JSON_PAIR_BYTES 80u /* a key and its table entry, without the key's characters */
#define JSON_VALUE_BYTES 48u /* a number or string and its pointer, without its characters */

static const char *const names[] = {
	[TAP_COST_SECTIONS] = "texts (event formats, symbols, task names, description)",
	[TAP_COST_DESCRIPTION] = "description",
	[TAP_COST_STREAMS] = "CPUs and buffers",
	[TAP_COST_CPUS] = "CPUs",
	[TAP_COST_TASKS] = "tasks",
	[TAP_COST_UNSORTED] = "unsorted events",
	[TAP_COST_PAGES] = "compressed events",
	[TAP_COST_PARENTS] = "stacks of forked processes",
};

uint64_t tap_budget_limit(const struct tap_budget *b)
{
	uint64_t limit;

	if (__builtin_mul_overflow(b->file_bytes, TAP_BUDGET_FACTOR, &limit))
		return UINT64_MAX;
	return limit > TAP_BUDGET_FLOOR ? limit : TAP_BUDGET_FLOOR;
}

static uint64_t memory_of(const struct tap_budget *b)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < TAP_COST_PAGES; i++)
		if (__builtin_add_overflow(sum, b->bytes[i], &sum))
			return UINT64_MAX;
	return sum;
}

int tap_budget_set(struct tap_budget *b, enum tap_cost cost, uint64_t bytes, struct tap_err *err)
{
	uint64_t limit = tap_budget_limit(b);
	bool is_time = cost >= TAP_COST_PAGES;

	b->bytes[cost] = bytes;
	if ((is_time ? bytes : memory_of(b)) <= limit)
		return 0;
	return tap_err_set(
		err, -E2BIG,
		"'%.300s' is refused: its %s would take more than %llu MB%s, out of proportion to "
		"the file's %llu kB. It is damaged, or was made to use up memory",
		b->path ?: "the recording", names[cost], (unsigned long long)(limit / 1000000),
		is_time ? "" : " of memory", (unsigned long long)((b->file_bytes + 999) / 1000));
}

int tap_budget_add(struct tap_budget *b, enum tap_cost cost, uint64_t bytes, struct tap_err *err)
{
	if (__builtin_add_overflow(b->bytes[cost], bytes, &bytes))
		bytes = UINT64_MAX;
	return tap_budget_set(b, cost, bytes, err);
}

uint64_t tap_budget_json_bytes(const char *text, size_t len)
{
	static const uint8_t bytes_of[256] = {
		['{'] = JSON_OBJECT_BYTES,
		['['] = JSON_ARRAY_BYTES,
		[':'] = JSON_PAIR_BYTES,
		[','] = JSON_VALUE_BYTES,
	};
	uint64_t sum = len; /* keys and strings are copied */

	/* These characters count inside strings as well: an upper bound need not parse them. */
	for (size_t i = 0; i < len; i++)
		sum += bytes_of[(unsigned char)text[i]];
	return sum;
}
