/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits on the memory and time that reading a recording may take. A small file can ask for
 * gigabytes: its description may decompress to endless repetitions, CPUs may share their
 * sub-buffers, every event may name another task. Both memory and decompressed sub-buffers are
 * limited to a multiple of the file's size; small files get a constant minimum.
 */
#ifndef TAP_FILE_BUDGET_H
#define TAP_FILE_BUDGET_H

#include <stdint.h>

#include <schedtap/reader.h>

/*
 * Real recordings stay below this factor. The largest known ratio is a zstd-compressed task list: 8
 * bytes per task in the file, about 450 bytes as a JSON value.
 */
#define TAP_BUDGET_FACTOR 64u
#define TAP_BUDGET_FLOOR ((uint64_t)256 << 20) /* bytes */

enum tap_cost {
	TAP_COST_SECTIONS, /* decompressed formats, symbols, task names and description */
	TAP_COST_DESCRIPTION, /* JSON values of the parsed description */
	TAP_COST_STREAMS, /* memory for the reader's state per CPU and buffer */
	TAP_COST_CPUS, /* memory for the reports' state per CPU */
	TAP_COST_TASKS, /* memory for the reports' state per task */
	TAP_COST_UNSORTED, /* perf.data: events of one round, sorted in memory */
	/* Costs of one pass in time rather than memory. Each has a separate limit. */
	TAP_COST_PAGES, /* bytes of events in decompressed sub-buffers */
	/* perf.data: stack addresses that had to be looked up in parent processes */
	TAP_COST_PARENTS,
	TAP_NR_COSTS,
};

/*
 * Memory that a CPU and a task cost in the reports, rounded up from measurements of all commands.
 */
#define TAP_CPU_COST_BYTES ((uint64_t)32 << 10)
#define TAP_TASK_COST_BYTES ((uint64_t)1 << 10)
/*
 * Per address and parent. `perf record -z -g` on a busy machine made 0.3 lookups in parents per
 * byte of the file.
 */
#define TAP_PARENT_COST_BYTES 8u

struct tap_budget {
	char *path; /* the recording's path; owned by the reader */
	uint64_t file_bytes; /* size on disk, without holes */
	uint64_t bytes[TAP_NR_COSTS]; /* current value of each cost */
};

/* Return the limit of each cost, in bytes. */
uint64_t tap_budget_limit(const struct tap_budget *b);
/*
 * Set @cost to @bytes. Return: 0; -E2BIG with an error that names the recording and @cost if that
 * exceeds the limit.
 */
int tap_budget_set(struct tap_budget *b, enum tap_cost cost, uint64_t bytes, struct tap_err *err);
/* Add @bytes to @cost. Return: as tap_budget_set(). */
int tap_budget_add(struct tap_budget *b, enum tap_cost cost, uint64_t bytes, struct tap_err *err);

/* Return an upper bound of the memory, in bytes, that the parsed values of a JSON text take. */
uint64_t tap_budget_json_bytes(const char *text, size_t len);

#endif
