/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Make a recording of events that another format describes. They become records with the layouts of
 * events/, in sub-buffers of temporary files that have no name: one file per CPU. From then on they
 * are read like those of a trace.dat.
 *
 * Usage: begin, find the kinds, add events, losses and tasks, end. Once a function failed, the
 * following ones fail too, and m->err has the reason; release in any case.
 */
#ifndef TAP_FILE_MADE_H
#define TAP_FILE_MADE_H

#include <string.h>

#include "base/map.h"
#include "file/dat_file.h"
#include "file/page.h"

#define TAP_MADE_MAX_TEXT 2048u /* bytes of all texts of a record; more are cut off */
#define TAP_MADE_UNKNOWN TAP_PAGE_MISSED_UNKNOWN /* for tap_made_loss() */

struct tap_made_cpu;

struct tap_made_task {
	int tid, tgid; /* 0: not known */
	char comm[16]; /* "": not known */
};

struct tap_made {
	struct tap_reader *r;
	struct tap_err *err;
	int failed; /* -errno of the first failure, or 0 */
	struct tap_made_cpu *cpus;
	unsigned int nr_cpus;
	struct tap_map kinds; /* key of a name -> struct tap_format * */
	unsigned int nr_text_kinds;
	struct tap_made_task *tasks;
	unsigned int nr_tasks, cap_tasks;
	struct tap_map places; /* tid -> index in .tasks, from 1 */
	uint64_t file_bytes; /* of the file that is translated, which limits the temporary files */
	uint64_t written; /* bytes in them */
	uint64_t first_ns; /* time of the earliest event */
	uint64_t nr_late; /* events that were earlier than their predecessor */
	bool sorts; /* a CPU's events may come in any order; set after tap_made_begin() */
};

/* @r: its mappings are the file to translate. @err: used until the end. */
void tap_made_begin(struct tap_made *m, struct tap_reader *r, struct tap_err *err);

/*
 * Return the layout of the event called @name: the built-in definition's if there is one, otherwise
 * one with a single field "text", which its print format prints. @system: for those; NULL: unknown.
 * @has: does the file have this field of the definition? Those that it does not have are left out.
 * NULL: it has those that the kernel's own event has. NULL: failed.
 */
const struct tap_format *tap_made_kind(struct tap_made *m, const char *system, const char *name,
				       size_t len, bool (*has)(void *ctx, const char *field),
				       void *ctx);
/* A field of an event that has no built-in definition. */
struct tap_made_field {
	const char *name; /* an identifier */
	const char *type; /* "int", "u64" or another C integer type; "char[]": a text */
};

/*
 * Return the layout of the event called @name, an identifier, with these fields. A layout that
 * tap_made_kind() or this function returned before for that name is returned again. NULL: failed.
 */
const struct tap_format *tap_made_layout(struct tap_made *m, const char *system, const char *name,
					 size_t len, const struct tap_made_field *fields,
					 unsigned int nr);

/* Make a layout with a single field "text", even if there is a definition. NULL: failed. */
const struct tap_format *tap_made_text_kind(struct tap_made *m, const char *system,
					    const char *name, size_t len);
/* Return true if it has nothing but a "text". */
static inline bool tap_made_is_text(const struct tap_format *fmt)
{
	return fmt->nr_fields == fmt->nr_common + 1 &&
	       !strcmp(fmt->fields[fmt->nr_common].name, "text");
}

/*
 * Add an event. Return: its record, zero but for the common fields, with .min_size bytes and
 * @text_bytes (up to TAP_MADE_MAX_TEXT) for tap_made_text(); valid until the next call. NULL:
 * failed.
 * @ts_ns: up to TAP_CURSOR_MAX_NS. If it is before the CPU's previous event, it gets that one's
 * time and is counted, unless it is more than a millisecond before: then the file is not in order,
 * which is a failure. With @m->sorts, it keeps its time and gets its place (made_merge.c).
 * @tid: the task that was running.
 */
unsigned char *tap_made_add(struct tap_made *m, const struct tap_format *fmt, unsigned int cpu,
			    uint64_t ts_ns, int tid, uint32_t text_bytes);

/* Set a field of kind TAP_FIELD_NUMBER. */
static inline void tap_made_number(unsigned char *rec, const struct tap_field *f, uint64_t value)
{
	const uint32_t v32 = (uint32_t)value;
	const uint16_t v16 = (uint16_t)value;

	if (f->size == 8)
		memcpy(rec + f->offset, &value, 8);
	else if (f->size == 4)
		memcpy(rec + f->offset, &v32, 4);
	else if (f->size == 2)
		memcpy(rec + f->offset, &v16, 2);
	else
		rec[f->offset] = (unsigned char)value;
}

/*
 * Set a field of kind TAP_FIELD_CHARS or TAP_FIELD_STRING. @used: bytes of the record's texts so
 * far, starts with 0; a TAP_FIELD_STRING takes @len + 1 of @text_bytes. What does not fit is cut
 * off.
 */
void tap_made_text(const struct tap_format *fmt, unsigned char *rec, const struct tap_field *f,
		   const char *text, size_t len, uint32_t text_bytes, uint32_t *used);

/* Events of @cpu were lost after the last one. @count: TAP_MADE_UNKNOWN if it is not known. */
void tap_made_loss(struct tap_made *m, unsigned int cpu, uint64_t count);

/*
 * The file names a task. @comm: its name when the recording begins; NULL: not known; the first one
 * remains. @tgid: its process; -1: not known.
 */
void tap_made_task(struct tap_made *m, int tid, const char *comm, size_t len, int tgid);

/* Fail with @ret and a message. Return: @ret. */
int tap_made_fail(struct tap_made *m, int ret, const char *fmt, ...) TAP_PRINTF(3, 4);

/* Give the events to the reader. @clock: the trace clock's name or "". Return: 0 or -errno. */
int tap_made_end(struct tap_made *m, const char *clock);
void tap_made_release(struct tap_made *m);

#endif
