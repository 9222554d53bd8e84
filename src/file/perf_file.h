/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Read perf.data as `perf sched record` and `perf record -e 'sched:*'` write it to a file or a
 * pipe, plain or zstd (-z), in either byte order. Only tracepoints are returned, and switches
 * derived from SWITCH records (perf_made.h); samples of other events are skipped. Records are read
 * in place from the mapped file, or from a block of decompressed or copied data that is released
 * once its events have been returned.
 */
#ifndef TAP_FILE_PERF_FILE_H
#define TAP_FILE_PERF_FILE_H

#include <schedtap/reader.h>

struct tap_perf;

/* Return true if the file starts with the magic of a perf.data. */
bool tap_perf_is(const unsigned char *data, size_t len);

/*
 * Fill in @r, whose path, slots and limit are set, and allocate @r->perf, to be freed by
 * tap_perf_free() even after a failure.
 * @data: the mapped file; borrowed until then.
 * @fd: the same file, borrowed too, from which records are then copied; -1: read them from the
 * mapping.
 * Return: 0; -EINVAL if it is damaged beyond reading; -ENOTSUP if it has neither tracepoints nor
 * switches, or lacks their CPU or time; -ENOMEM.
 */
int tap_perf_open(struct tap_reader *r, const unsigned char *data, size_t len, int fd,
		  struct tap_err *err);
/*
 * Add a file whose records are to be read after those of the others; it is borrowed, as those of
 * tap_perf_open(). To be called before the first event is read. Return: 0; -ENOMEM.
 */
int tap_perf_add_part(struct tap_perf *p, const unsigned char *data, size_t len, int fd,
		      struct tap_err *err);
/* Add a note to the reader if the file is only one of a folder's. Return: 0; -ENOMEM. */
int tap_perf_note_folder(const struct tap_perf *p, struct tap_err *err);
void tap_perf_free(struct tap_perf *p);

/*
 * Return a task's last name (or NULL) and its process (or -1), as far as the file was read. perf
 * writes those of all tasks that exist at the start before any sample; they are read when the file
 * is opened.
 */
const char *tap_perf_comm(const struct tap_perf *p, int tid);
int tap_perf_tgid(const struct tap_perf *p, int tid);

/* See tap_reader_rewind() and tap_reader_position(). */
void tap_perf_rewind(struct tap_perf *p);
void tap_perf_position(const struct tap_perf *p, uint64_t *done, uint64_t *whole);

/*
 * Get the next events in time order, at most @max (up to TAP_NR_BATCH); borrowed until the next
 * call. A damaged record is reported as one lost event. If no further record can be found, the rest
 * is reported as a loss of unknown count.
 * Return: 1 with @batch and @nr filled in; 0 at the end; -E2BIG if too much would have to be sorted
 * at once; -ENOMEM.
 */
int tap_perf_batch(struct tap_perf *p, struct tap_event **batch, unsigned int max, unsigned int *nr,
		   struct tap_err *err);

#endif
