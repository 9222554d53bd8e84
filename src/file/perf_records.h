/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internals of the perf.data reader: what it learns when it opens the file, and its progress. */
#ifndef TAP_FILE_PERF_RECORDS_H
#define TAP_FILE_PERF_RECORDS_H

#include "base/map.h"
#include "file/dat_file.h"
#include "file/perf_blocks.h"
#include "file/perf_kernel.h"
#include "file/perf_made.h"
#include "file/perf_queue.h"

#define TAP_PERF_HEAD_BYTES 8u /* head of a record: u32 type, u16 misc, u16 size */

/* Record types that perf itself writes. Those of HEADER are in pipe mode only (perf_pipe.h). */
enum {
	TAP_PERF_HEADER_ATTR = 64,
	TAP_PERF_HEADER_TRACING_DATA = 66,
	TAP_PERF_HEADER_BUILD_ID = 67,
	TAP_PERF_FINISHED_ROUND = 68,
	TAP_PERF_ID_INDEX = 69,
	TAP_PERF_AUXTRACE = 71,
	TAP_PERF_HEADER_FEATURE = 80,
	TAP_PERF_COMPRESSED = 81,
	TAP_PERF_COMPRESSED2 = 83,
};

/* Layout of one event's records: offsets in bytes. */
struct tap_perf_attr {
	uint64_t sample_type, read_format;
	bool is_tracepoint;
	bool has_switches; /* SWITCH records belong to this event */
	uint32_t fixed; /* size of a sample's body before the first variable-size member */
	uint32_t time_at, cpu_at; /* offset in a sample's body */
	uint32_t tgid_at; /* offset in a sample's body; UINT32_MAX: absent */
	/* offset in a sample's body; distance from the end of other records. UINT32_MAX: absent */
	uint32_t id_at, id_back;
	uint32_t trailer; /* size of the sample_id trailer of other records; 0: absent */
	uint32_t time_back, cpu_back; /* distance from a record's end; 0: absent */
};

/* Common layout of all tracepoint samples: offsets in bytes from the record's head. */
struct tap_perf_plain {
	uint32_t id; /* 0: samples have no id */
	uint32_t time, cpu;
	uint32_t raw; /* raw data, after its size; 0: the layouts differ */
};

struct tap_perf_task {
	int tgid;
	char comm[16]; /* "": unknown */
	uint64_t named_ns; /* when it got this name; 0: before the recording */
	uint64_t exit_ns; /* time of its EXIT record; 0: none, or the tid was reused since */
};

struct tap_perf_cpu {
	uint64_t last_ns; /* time of its last record; 0: none yet */
	/*
	 * Lost events are reported twice: by LOST records at their position (.reported), and since
	 * perf 6.1 by LOST_SAMPLES records at the end of the file (.counted). The difference was
	 * lost after the last LOST record.
	 */
	uint64_t reported, counted;
	bool just_lost; /* its last record was a LOST record */
	int32_t runs; /* from SWITCH records: tid of the running task + 1; 0: unknown */
};

/* A file with records, or the part of a file that has them. */
struct tap_perf_part {
	const unsigned char *data;
	size_t from, to; /* range of the records */
	int fd; /* the file; -1: it is read from the mapping only */
};

struct ZSTD_DCtx_s;

#define TAP_PERF_PLAIN_IDS 256u

struct tap_perf {
	struct tap_reader *r; /* the reader that owns this: has the formats and counts events */
	char *hostname, *release, *machine, *version;
	const char *clock; /* clock name for struct tap_buffer_info: "local", "mono", ... */
	const char *note; /* warning about the whole file, for example that it is cut */
	const unsigned char *data;
	size_t len; /* of the file with the header */
	size_t from, to; /* .data, .from, .to and .fd are those of the current part */
	int fd;
	struct tap_perf_part *parts; /* [0] is of the file with the header */
	unsigned int nr_parts, cap_parts, part;
	bool has_folder; /* the records of its threads are in other files of its folder */
	bool cut; /* the file ends before its records do */
	bool has_tracepoints;
	bool has_switches; /* there are SWITCH records with task, time and CPU */
	struct tap_perf_attr *attrs;
	unsigned int nr_attrs, cap_attrs;
	uint64_t nr_ids;
	struct tap_map ids; /* event id -> index into attrs + 1 */
	/* UINT32_MAX: records have no id, and all attrs have the same layout */
	uint32_t id_at, id_back;
	/*
	 * Set if all tracepoint samples have the same layout, without variable-size members before
	 * their raw data, in this machine's byte order. Many can then be decoded in one loop.
	 */
	struct tap_perf_plain plain;
	/* ids known to be tracepoints, at index id % TAP_PERF_PLAIN_IDS */
	uint64_t plain_ids[TAP_PERF_PLAIN_IDS];
	struct tap_map id_cpus; /* id -> CPU + 1 */
	struct tap_map tasks; /* tid -> struct tap_perf_task, owned */

	size_t at; /* position of the next record */
	uint64_t round; /* number of FINISHED_ROUND records read */
	/* range of record times so far; .first_ns: UINT64_MAX before any record */
	uint64_t first_ns, max_ns;
	/* max_ns at the end of the last round; at the end of the one before */
	uint64_t round_max_ns, ripe_ns;
	uint64_t last_ns; /* all events up to this time were returned before this round */
	uint64_t part_max_ns; /* newest record of the current part */
	bool part_is_broken; /* the rest of the current part cannot be read */
	bool is_broken, ended;
	bool by_task; /* SWITCH records of single tasks occurred */
	uint64_t broken_ns; /* from this time on records could not be read */
	struct tap_perf_queue queue;
	struct tap_perf_cpu *cpus; /* for CPU - 1, 0, 1, ... */
	uint32_t nr_cpus;
	struct tap_perf_blocks copied, unpacked;
	struct tap_perf_made made;
	/* kept between passes, so it is complete from the second pass on */
	struct tap_perf_maps maps;
	struct tap_perf_kernel kernel;
	bool has_chains; /* tracepoint samples have callchains */
	bool is_copied; /* records are read from a copy of the file */
	struct ZSTD_DCtx_s *zstd;
	struct tap_event ready[TAP_NR_BATCH]; /* events being returned */
};

/* Return true if an id in each sample identifies its event. */
static inline bool tap_perf_has_ids(const struct tap_perf *p)
{
	return p->id_at != UINT32_MAX && p->nr_attrs > 1;
}

/* Return the number of bytes that follow a record beyond its size. */
static inline uint64_t tap_perf_data_after(uint32_t type, struct tap_bytes body)
{
	if (type == TAP_PERF_AUXTRACE)
		return tap_bytes_u64(&body);
	return type == TAP_PERF_HEADER_TRACING_DATA ? tap_bytes_u32(&body) : 0;
}

/*
 * Read the next round of records into the queue, and order it. Events up to p->ripe_ns may then be
 * taken. p->ended is set at the end of the file. Return: 0; -E2BIG; -ENOMEM.
 */
int tap_perf_read_round(struct tap_perf *p, struct tap_err *err);
/* Read the tasks and ids that perf wrote before the first sample. Return: 0; -ENOMEM. */
int tap_perf_read_front(struct tap_perf *p, struct tap_err *err);
/* Return what is known about a task so far, or NULL. */
struct tap_perf_task *tap_perf_task(const struct tap_perf *p, int tid);
/* Add a part after the present ones. Return: 0; -ENOMEM. */
int tap_perf_append_part(struct tap_perf *p, struct tap_perf_part part, struct tap_err *err);
/* Reset all reading state except tasks, ids and mappings. */
void tap_perf_start_over(struct tap_perf *p);

#endif
