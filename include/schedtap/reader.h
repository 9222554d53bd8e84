/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading recordings: schedtap's own, trace-cmd's trace.dat version 6 and 7, plain or zstd,
 * the spool folder that a running or a killed schedtap leaves, and perf.data with tracepoints.
 * Events of all CPUs and buffers come as one stream in time order; a loss comes in its place, as an
 * event of its own.
 *
 * A reader is used by one thread. What it hands out is borrowed: formats and texts until
 * tap_reader_free(), an event's data until the next tap_reader_next().
 */
#ifndef SCHEDTAP_READER_H
#define SCHEDTAP_READER_H

#include <schedtap/err.h>
#include <schedtap/event.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tap_reader;

/** struct tap_buffer_info - One trace buffer (ftrace instance) of a recording. */
struct tap_buffer_info {
	const char *name; /* "" is the top buffer */
	const char *clock; /* "mono", "local", ...; "" if the file does not say */
	uint32_t page_size; /* bytes of a sub-buffer */
	unsigned int nr_cpus; /* that have data */
};

/** enum tap_checksums - Whether a recording has checksums, of what stands before its pages and of
 * these. */
enum tap_checksums {
	TAP_CHECKSUMS_NONE, /* or in zstd's frames alone */
	TAP_CHECKSUMS_DAMAGED, /* and those of the pages are of no use */
	TAP_CHECKSUMS_WHOLE,
};

/** struct tap_reader_info - What a recording says about itself. Absent texts are "". */
struct tap_reader_info {
	unsigned int version; /* of trace.dat: 6 or 7; 0: a perf.data */
	bool is_spool; /* a folder that was not packed: its recorder runs or was killed */
	bool big_endian;
	uint8_t long_size;
	unsigned int nr_cpus;
	const char *uname; /* kernel, as trace-cmd writes it */
	const char *tool; /* who wrote it */
	const char *meta; /* schedtap's own description (schedtap-recording(5)): JSON, or "" */
	const char *compression; /* "none", "zstd" */
	const char *printk; /* the kernel's texts by address, as tracefs' printk_formats */
	const char *kallsyms; /* its symbols by address, as /proc/kallsyms */
	/* The clock of which stamps are no nanoseconds: "counter", "uptime", "x86-tsc" in a file
	 * that does not say how they become some. NULL: all are. */
	const char *ticks;
	const char *notes; /* for the user to know of: sentences, one a line */
	const struct tap_buffer_info *buffers;
	unsigned int nr_buffers;
	/* The events' clock and CLOCK_REALTIME at one time, to about 1 us, as trace-cmd's --date
	 * and perf's -k tell them (schedtap's: in .meta). Both 0: not told. */
	uint64_t wall_ts_ns, wall_realtime_ns;
	enum tap_checksums checksums;
};

/**
 * tap_reader_open() - Open a file or a spool folder.
 *
 * Where there is no @path, but a folder "@path.spool", that is opened, and the notes say so.
 *
 * Return: 0; -ENOENT and other errnos of open; -EINVAL if it is no recording, or one that
 * is damaged where nothing can be read; -ENOTSUP for an unknown version, format or compression.
 */
TAP_API TAP_MUST_CHECK int tap_reader_open(const char *path, struct tap_reader **out,
					   struct tap_err *err);
/**
 * tap_reader_open_files() - Open @nr files that one recorder wrote one after the other, as one
 * recording.
 *
 * The order of @paths does not matter. Where a file does not begin exactly when the previous one
 * ends, all CPUs report lost events between them. Events that two files contain come once.
 *
 * Return: 0; errors as of tap_reader_open(); -EINVAL if the files come from different recorders, or
 * one does not name its recorder, as files of perf and trace-cmd.
 */
TAP_API TAP_MUST_CHECK int tap_reader_open_files(const char *const *paths, unsigned int nr,
						 struct tap_reader **out, struct tap_err *err);
TAP_API void tap_reader_free(struct tap_reader *r);

TAP_API const struct tap_reader_info *tap_reader_info(const struct tap_reader *r);

/** tap_reader_formats() - Every event the recording describes; @nr is set to how many. */
TAP_API const struct tap_format *const *tap_reader_formats(const struct tap_reader *r,
							   unsigned int *nr);
/** tap_reader_comm() - A task's name as the recording saved it, or NULL. */
TAP_API const char *tap_reader_comm(const struct tap_reader *r, int tid);
/** tap_reader_tgid() - A task's process as a perf.data tells it, or -1. */
TAP_API int tap_reader_tgid(const struct tap_reader *r, int tid);

/**
 * tap_reader_limit() - Leave out all that lies outside [from_ns, to_ns], before decoding it.
 * Call before the first tap_reader_next(), or after tap_reader_rewind().
 */
TAP_API void tap_reader_limit(struct tap_reader *r, uint64_t from_ns, uint64_t to_ns);

/**
 * tap_reader_beyond() - Hand out what comes after the limit as well, until the next
 * tap_reader_limit(). Tallies and the span are still of what lies within it.
 */
TAP_API void tap_reader_beyond(struct tap_reader *r);

/**
 * tap_reader_mark() - Hand out only some kinds of events, marked: the others are passed over before
 * they are merged, at little cost. Losses always come.
 * @mark: asked once for each kind: 0: not wanted; else its events' .mark. Of ids that no format
 * describes it is asked when the first comes up. NULL: all are wanted, and marked 1.
 * Call when tap_reader_limit() may be called.
 */
TAP_API void tap_reader_mark(struct tap_reader *r,
			     uint16_t (*mark)(void *ctx, const struct tap_format *fmt), void *ctx);

/**
 * tap_reader_unmerged() - Hand out one CPU after the other (of a perf.data, of each part that is
 * sorted at once), each in its own time order: for passes that need no order between CPUs, and
 * want to be faster. Call when tap_reader_limit() may be called.
 */
TAP_API void tap_reader_unmerged(struct tap_reader *r, bool unmerged);

/** tap_reader_skip() - Unmerged: go on with the next CPU. A perf.data goes on as it is. */
TAP_API void tap_reader_skip(struct tap_reader *r);

/**
 * tap_reader_check_state() - Whether a program may keep state of so many CPUs and tasks.
 *
 * A file of a few kilobytes can name millions of them. A program that keeps up to 32 KiB for each
 * CPU and 1 KiB for each task asks before it goes on, such as after each batch of events.
 *
 * Return: 0; -E2BIG: that would be more than 64 times the recording's size and more than 256 MiB,
 * with what the reader itself takes.
 */
TAP_API int tap_reader_check_state(struct tap_reader *r, unsigned int nr_cpus,
				   unsigned int nr_tasks, struct tap_err *err);

/** tap_reader_watch() - Have @watch called while events are read: once in 256 pages. */
TAP_API void tap_reader_watch(struct tap_reader *r, void (*watch)(void *ctx), void *ctx);

/**
 * tap_reader_verify() - Compare pages that are not compressed with their checksums, where the file
 * has some: the pages of a block that differs are a loss. Off at first, for it takes 0.1 ns a byte.
 * Compressed pages are always verified. Call when tap_reader_limit() may be called.
 */
TAP_API void tap_reader_verify(struct tap_reader *r, bool verify);

/**
 * tap_reader_damaged() - How many parts of the pages (chunks, blocks, or all that is left of a CPU)
 * were cut or damaged as far as the recording was read. What was in them is handed out as losses.
 */
TAP_API uint64_t tap_reader_damaged(const struct tap_reader *r);

/** tap_reader_position() - How far reading has come: @done of @whole bytes of the file's data. */
TAP_API void tap_reader_position(const struct tap_reader *r, uint64_t *done, uint64_t *whole);

/**
 * tap_reader_rewind() - Begin again with the first event. Limit, kinds and order stay as they are
 * until they are set again.
 */
TAP_API void tap_reader_rewind(struct tap_reader *r);

/** struct tap_tally - How many events were read since the beginning or tap_reader_rewind(). */
struct tap_tally {
	const struct tap_format *fmt;
	uint64_t count; /* within the limit, also those that were passed over */
};

/**
 * tap_reader_tally() - Of the kind at @index: 0, 1, 2, ... are the formats of the recording, and
 * then what was made for ids that none of them has.
 *
 * Return: false past the last.
 */
TAP_API bool tap_reader_tally(const struct tap_reader *r, unsigned int index,
			      struct tap_tally *tally);

/** struct tap_reader_span - When that was, and of what size. */
struct tap_reader_span {
	uint64_t first_ns, last_ns; /* UINT64_MAX, 0: there was nothing */
	bool before, beyond; /* there is more, outside the limit */
	uint64_t bytes; /* of all records */
};

TAP_API struct tap_reader_span tap_reader_span(const struct tap_reader *r);

/**
 * tap_reader_next() - The next event in time order; at equal times the lower CPU first.
 *
 * Damage inside a page ends that page: the rest of it is reported as a loss of unknown count.
 *
 * Return: 1 with @ev filled in; 0 at the end; -EINVAL, -EIO, -E2BIG (a perf.data of which too
 * much would have to be sorted at once) or -ENOMEM with @err set.
 */
TAP_API TAP_MUST_CHECK int tap_reader_next(struct tap_reader *r, struct tap_event *ev,
					   struct tap_err *err);

/**
 * tap_reader_batch() - Several events at once, in the order of tap_reader_next(): cheaper for those
 * who read all of them.
 * @events: set to an array of pointers; both borrowed until the next call of either function.
 *
 * Return: how many; 0 at the end; errors as of tap_reader_next().
 */
TAP_API TAP_MUST_CHECK int
tap_reader_batch(struct tap_reader *r, const struct tap_event *const **events, struct tap_err *err);

#ifdef __cplusplus
}
#endif
#endif
