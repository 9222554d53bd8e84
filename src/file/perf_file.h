/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading perf.data, as `perf sched record` and `perf record -e 'sched:*'` write it, plain or
 * zstd (-z), of either byte order. Only tracepoints are handed out, and switches that SWITCH
 * records say (perf_made.h); samples of other events are passed over. A record is read where it
 * lies in the mapped file, or in a block of decompressed or copied data that goes once its records
 * have been handed out.
 */
#ifndef TAP_FILE_PERF_FILE_H
#define TAP_FILE_PERF_FILE_H

#include <schedtap/reader.h>

struct tap_perf;

/* Return: whether it begins as a perf.data does. */
bool tap_perf_is(const unsigned char *data, size_t len);

/*
 * Fills in @r, which has its path, slots and window, and @r->perf: to be freed by tap_perf_free(),
 * on failure too. @data: borrowed until then, as is @fd: of the file that is mapped there, whose
 * records are copied then; or -1.
 * Return: 0; -EINVAL if it is damaged where nothing can be read; -ENOTSUP if it was written to a
 * pipe, holds neither tracepoints nor switches, or lacks their CPU or time; -ENOMEM.
 */
int tap_perf_open(struct tap_reader *r, const unsigned char *data, size_t len, int fd,
		  struct tap_err *err);
void tap_perf_free(struct tap_perf *p);

/*
 * A task's name and process, as known from what was read so far: perf writes those of the tasks
 * that were there at the start before all samples, and they are read when the file is opened.
 * Return: its last name, or NULL; its process, or -1.
 */
const char *tap_perf_comm(const struct tap_perf *p, int tid);
int tap_perf_tgid(const struct tap_perf *p, int tid);

/* As their namesakes of struct tap_reader. */
void tap_perf_rewind(struct tap_perf *p);
void tap_perf_position(const struct tap_perf *p, uint64_t *done, uint64_t *whole);

/*
 * The next events in time order, at most @max (up to TAP_NR_BATCH), borrowed until the next call.
 * A record that is damaged becomes a loss of one; where no further record can be found, the end is
 * a loss of unknown count.
 * Return: 1 with @batch and @nr filled in; 0 at the end; -E2BIG if too much would have to be sorted
 * at once; -ENOMEM.
 */
int tap_perf_batch(struct tap_perf *p, struct tap_event **batch, unsigned int max, unsigned int *nr,
		   struct tap_err *err);

#endif
