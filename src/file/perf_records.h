/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The inside of a perf.data reader: what opening it finds out, and how far reading has come. */
#ifndef TAP_FILE_PERF_RECORDS_H
#define TAP_FILE_PERF_RECORDS_H

#include "base/map.h"
#include "file/dat_file.h"
#include "file/perf_blocks.h"
#include "file/perf_kernel.h"
#include "file/perf_made.h"
#include "file/perf_queue.h"

#define TAP_PERF_HEAD_BYTES 8u /* of a record: u32 type, u16 misc, u16 size */

/* Where one kind of event has its words, in bytes. */
struct tap_perf_attr {
	uint64_t sample_type, read_format;
	bool is_tracepoint;
	bool has_switches; /* SWITCH records are of it */
	uint32_t fixed; /* of a sample's body, up to what has no fixed size */
	uint32_t time_at, cpu_at; /* in a sample's body */
	uint32_t tgid_at; /* there; UINT32_MAX: none */
	uint32_t id_at, id_back; /* there; from other records' end. UINT32_MAX: none */
	uint32_t trailer; /* at the end of other records; 0: they have none */
	uint32_t time_back, cpu_back; /* from a record's end; 0: not there */
};

/* Where all tracepoints have theirs, in bytes from a record's head on. */
struct tap_perf_plain {
	uint32_t id; /* 0: they have none */
	uint32_t time, cpu;
	uint32_t raw; /* behind its size; 0: they are not laid out alike */
};

struct tap_perf_task {
	int tgid;
	char comm[16]; /* "": not known */
	uint64_t named_ns; /* when that became its name; 0: before the recording */
	uint64_t exit_ns; /* when it said that it exits; 0: it did not, or lives again */
};

struct tap_perf_cpu {
	uint64_t last_ns; /* of the last record, 0: none yet */
	/*
	 * A full ring is told twice: by LOST records in their places, and since perf 6.1 once more
	 * by LOST_SAMPLES at the file's end. What those have more was lost behind the last LOST.
	 */
	uint64_t told, counted;
	bool just_lost; /* its last record was a LOST */
	int32_t runs; /* of SWITCH records: the tid that came last, + 1; 0: not known */
};

struct ZSTD_DCtx_s;

#define TAP_PERF_PLAIN_IDS 256u

struct tap_perf {
	struct tap_reader *r; /* whose it is: has the formats, and knows what went by */
	char *hostname, *release, *machine, *version;
	const char *clock; /* as tap_buffer_info's: "local", "mono", ... */
	const char *note; /* what a user must know of the file as a whole: that it is cut, ... */
	const unsigned char *data;
	size_t len, from, to; /* of the file; of its records */
	int fd; /* of the file; -1: it is read where it is mapped */
	bool cut; /* the file ends before its records do */
	bool has_tracepoints;
	bool has_switches; /* SWITCH records that say whose they are, when, and on which CPU */
	struct tap_perf_attr *attrs;
	unsigned int nr_attrs;
	uint64_t nr_ids;
	struct tap_map ids; /* id -> index into attrs + 1 */
	uint32_t id_at, id_back; /* UINT32_MAX: records have no id, and all attrs are alike */
	/*
	 * Tracepoints are laid out alike, nothing of variable size before their raw data, in this
	 * machine's order: so they can be read at once.
	 */
	struct tap_perf_plain plain;
	uint64_t plain_ids[TAP_PERF_PLAIN_IDS]; /* id % TAP_PERF_PLAIN_IDS: of a tracepoint */
	struct tap_map id_cpus; /* id -> CPU + 1 */
	struct tap_map tasks; /* tid -> struct tap_perf_task, owned */

	size_t at; /* of the next record */
	uint64_t round; /* FINISHED_ROUNDs read */
	uint64_t first_ns, max_ns; /* of all records so far; first: UINT64_MAX before any */
	uint64_t round_max_ns, ripe_ns; /* max_ns at the end of the last round; of the one before */
	uint64_t last_ns; /* up to there all was handed out before this round */
	bool is_broken, ended;
	bool by_task; /* there were SWITCH records of single tasks */
	uint64_t broken_ns; /* from here on records could not be read */
	struct tap_perf_queue queue;
	struct tap_perf_cpu *cpus; /* of CPU - 1, 0, 1, ... */
	uint32_t nr_cpus;
	struct tap_perf_blocks copied, unpacked;
	struct tap_perf_made made;
	struct tap_perf_maps maps; /* kept from one pass to the next: then they are whole */
	struct tap_perf_kernel kernel;
	bool has_chains; /* callchains of tracepoints */
	bool is_copied; /* records are read from copies of the file */
	struct ZSTD_DCtx_s *zstd;
	struct tap_event ready[TAP_NR_BATCH]; /* handed out */
};

/* Whether samples tell which event they are of. */
static inline bool tap_perf_has_ids(const struct tap_perf *p)
{
	return p->id_at != UINT32_MAX && p->nr_attrs > 1;
}

/*
 * Reads the next round of records into the queue, and orders it: what is not after p->ripe_ns may
 * be handed out then. At the end of the file p->ended is set.
 * Return: 0; -E2BIG; -ENOMEM.
 */
int tap_perf_read_round(struct tap_perf *p, struct tap_err *err);
/* Reads what perf says of tasks and ids before the first sample. Return: 0; -ENOMEM. */
int tap_perf_read_front(struct tap_perf *p, struct tap_err *err);
/* Return: what is known of a task by now, or NULL. */
struct tap_perf_task *tap_perf_task(const struct tap_perf *p, int tid);
/* Forgets all that reading has found but tasks and ids. */
void tap_perf_start_over(struct tap_perf *p);

#endif
