/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits on the memory and time that a recording costs its reader. A small file can ask for
 * gigabytes: its description decompresses to repetitions, its CPUs share their pages, each of its
 * events names another task. So the memory and the decompressed pages of one recording are limited
 * to a multiple of the file's size, and small files to a constant.
 */
#ifndef TAP_FILE_BUDGET_H
#define TAP_FILE_BUDGET_H

#include <stdint.h>

#include <schedtap/reader.h>

/*
 * Real recordings stay below. The largest multiple is a list of tasks that zstd compressed: 8 bytes
 * for a task in the file, about 450 as a JSON value.
 */
#define TAP_BUDGET_FACTOR 64u
#define TAP_BUDGET_FLOOR ((uint64_t)256 << 20) /* bytes */

enum tap_cost {
	TAP_COST_SECTIONS, /* decompressed texts: formats, symbols, names, the description */
	TAP_COST_DESCRIPTION, /* its JSON values */
	TAP_COST_STREAMS, /* the reader's state of each CPU of each buffer */
	TAP_COST_CPUS, /* the reports' state of each CPU */
	TAP_COST_TASKS, /* the reports' state of each task */
	TAP_COST_UNSORTED, /* perf.data: events of one round, which are sorted in memory */
	/* What one pass costs in time rather than in memory. Each has a separate limit. */
	TAP_COST_PAGES, /* events in decompressed pages */
	/* perf.data: addresses in stacks that are looked up in the parents of their process */
	TAP_COST_PARENTS,
	TAP_NR_COSTS,
};

/* Bytes of memory that a CPU and a task cost the reports, rounded up from measurements of all
 * commands. */
#define TAP_CPU_COST_BYTES ((uint64_t)32 << 10)
#define TAP_TASK_COST_BYTES ((uint64_t)1 << 10)
/* For each address and parent. `perf record -z -g` of a busy machine had 0.3 lookups in parents for
 * each byte of the file. */
#define TAP_PARENT_COST_BYTES 8u

struct tap_budget {
	char *path; /* of the recording; owned by the reader */
	uint64_t file_bytes; /* on disk: holes do not count */
	uint64_t bytes[TAP_NR_COSTS]; /* that each costs now */
};

/* Sets what @cost takes now, in bytes. Return: 0; -E2BIG with an error that names the recording and
 * @cost: too much. */
int tap_budget_set(struct tap_budget *b, enum tap_cost cost, uint64_t bytes, struct tap_err *err);
/* Adds to it. */
int tap_budget_add(struct tap_budget *b, enum tap_cost cost, uint64_t bytes, struct tap_err *err);

/* Return: the memory that the values of a JSON text of @len bytes need at most, in bytes. */
uint64_t tap_budget_json_bytes(const char *text, size_t len);

#endif
