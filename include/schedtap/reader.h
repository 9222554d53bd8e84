/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading recordings: schedtap's own files, trace-cmd's trace.dat (versions 6 and 7, plain or
 * zstd), the spool folder of a running or killed recorder, and perf.data files and folders that
 * contain tracepoints. Events of all CPUs and buffers come as one stream in time order. Lost events
 * are part of that stream: an event reports them at the time of the loss.
 *
 * A reader must be used by one thread only. Formats and texts that it returns are borrowed until
 * tap_reader_free(), an event's data until the next tap_reader_next() or tap_reader_batch().
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
	const char *name; /* "": the top-level buffer */
	const char *clock; /* "mono", "local", ...; "" if the file does not name it */
	uint32_t page_size; /* bytes of a sub-buffer; 0 in a perf.data */
	unsigned int nr_cpus; /* CPUs that have data in this buffer */
};

/**
 * enum tap_checksums - Whether a recording has checksums of its front part (all before the events)
 * and of its sub-buffers.
 */
enum tap_checksums {
	TAP_CHECKSUMS_NONE, /* no checksums, or only those inside zstd frames */
	/* the sub-buffers' checksums are damaged: events cannot be verified */
	TAP_CHECKSUMS_DAMAGED,
	TAP_CHECKSUMS_WHOLE,
};

/** struct tap_reader_info - The recording's own description. Texts that are not recorded are "". */
struct tap_reader_info {
	unsigned int version; /* trace.dat version, 6 or 7; 0: perf.data */
	/*
	 * The recorder switched events on for all CPUs at once, before the first event: what ran
	 * until a CPU's first switch ran from the start on.
	 */
	bool begins_at_once;
	/* events may be missing without a loss: the format does not say, or some were skipped */
	bool hides_losses;
	bool is_spool; /* an unpacked spool folder: its recorder is running or was killed */
	bool big_endian;
	uint8_t long_size;
	unsigned int nr_cpus;
	const char *uname; /* kernel, in trace-cmd's spelling */
	const char *tool; /* name and version of the recording program */
	const char *meta; /* schedtap's description (schedtap-recording(5)) as JSON, or "" */
	/* "none", "zstd" of the events; of a file compressed as a whole: "gzip", "zstd", "xz" */
	const char *compression;
	const char *printk; /* kernel strings by address, as in tracefs' printk_formats */
	const char *kallsyms; /* kernel symbols by address, as in /proc/kallsyms */
	/*
	 * Name of a trace clock that does not count nanoseconds: "counter", "uptime", "ppc-tb", or
	 * "x86-tsc" if the file lacks the conversion to nanoseconds. NULL: all time stamps are in
	 * ns.
	 */
	const char *ticks;
	const char *notes; /* warnings for the user: one sentence per line */
	const struct tap_buffer_info *buffers;
	unsigned int nr_buffers;
	/*
	 * The trace clock and CLOCK_REALTIME, read at the same time (to about 1 us), from
	 * trace-cmd's --date or perf's -k. Both 0: not recorded there. schedtap's own recordings
	 * have them in .meta.
	 */
	uint64_t wall_ts_ns, wall_realtime_ns;
	/*
	 * trace-cmd's random numbers for recordings of a host and its guests; 0: none. A guest's
	 * recording has the number of its host's, and its times are converted to the host's clock.
	 */
	uint64_t trace_id, host_trace_id;
	enum tap_checksums checksums;
};

/**
 * tap_reader_open() - Open a file or a spool folder.
 *
 * @path may be "-", standard input, or a FIFO: it is read to its end before this function returns.
 * A file may be compressed as a whole by gzip, zstd or xz. In these cases the reader needs a
 * temporary file in $TMPDIR or /var/tmp.
 *
 * If @path does not exist but the folder "@path.spool" does, the folder is opened, and .notes says
 * so.
 *
 * Return: 0; -ENOENT and other errnos of open(); -EINVAL if it is not a recording, or is damaged
 * beyond reading; -ENOTSUP for an unknown version, format or compression; -E2BIG if reading it
 * would take memory, or a temporary file, out of proportion to its size; -ENOSPC and other errnos
 * of the temporary file; -ENOMEM.
 */
TAP_API TAP_MUST_CHECK int tap_reader_open(const char *path, struct tap_reader **out,
					   struct tap_err *err);
/**
 * tap_reader_open_files() - Open @nr files that one recorder wrote one after another, as a single
 * recording.
 *
 * @paths may be in any order. If a file does not start exactly where its predecessor ends, lost
 * events are reported between them on all CPUs. Events that two files share are returned once.
 *
 * Return: 0; the errors of tap_reader_open(); -EINVAL if the files come from different recorders,
 * or if one does not identify its recorder, as files of perf and trace-cmd do not.
 */
TAP_API TAP_MUST_CHECK int tap_reader_open_files(const char *const *paths, unsigned int nr,
						 struct tap_reader **out, struct tap_err *err);
TAP_API void tap_reader_free(struct tap_reader *r);

TAP_API const struct tap_reader_info *tap_reader_info(const struct tap_reader *r);

/** tap_reader_formats() - Return all event formats of the recording; @nr is set to their number. */
TAP_API const struct tap_format *const *tap_reader_formats(const struct tap_reader *r,
							   unsigned int *nr);
/** tap_reader_comm() - Return a task's name as saved in the recording, or NULL. */
TAP_API const char *tap_reader_comm(const struct tap_reader *r, int tid);
/** tap_reader_tgid() - Return the process id of @tid from a perf.data, or -1 if unknown. */
TAP_API int tap_reader_tgid(const struct tap_reader *r, int tid);

/**
 * tap_reader_limit() - Skip all events outside [from_ns, to_ns] without decoding them.
 *
 * Call it before the first tap_reader_next(), or after tap_reader_rewind().
 */
TAP_API void tap_reader_limit(struct tap_reader *r, uint64_t from_ns, uint64_t to_ns);

/**
 * tap_reader_beyond() - Also return events after the limit, until the next call of
 * tap_reader_limit(). Tallies and tap_reader_span() still count only what is within the limit.
 */
TAP_API void tap_reader_beyond(struct tap_reader *r);

/**
 * tap_reader_mark() - Select the kinds of events to return, and mark them. Unwanted events are
 * dropped before streams are merged, which is cheap. Lost events are always returned.
 * @mark: called once per format, and for an id without a format when its first event is read. It
 * returns 0 if that kind is not wanted, otherwise the value for .mark of its events. NULL: all
 * events are wanted, with mark 1.
 *
 * Call it before the first tap_reader_next(), or after tap_reader_rewind().
 */
TAP_API void tap_reader_mark(struct tap_reader *r,
			     uint16_t (*mark)(void *ctx, const struct tap_format *fmt), void *ctx);

/**
 * tap_reader_unmerged() - Return one CPU's events after another's, each in time order, without
 * merging them: faster, for passes that need no order between CPUs. In a perf.data this holds
 * within each batch of records that is sorted at once.
 *
 * Call it before the first tap_reader_next(), or after tap_reader_rewind().
 */
TAP_API void tap_reader_unmerged(struct tap_reader *r, bool unmerged);

/** tap_reader_skip() - In unmerged order, go on to the next CPU. No effect on a perf.data. */
TAP_API void tap_reader_skip(struct tap_reader *r);

/**
 * tap_reader_check_state() - Check whether the caller may keep state for @nr_cpus CPUs and
 * @nr_tasks tasks.
 *
 * A file of a few kilobytes can name millions of CPUs or tasks. A caller that keeps up to 32 KiB
 * per CPU and 1 KiB per task should call this before it grows its state, for example after each
 * batch of events.
 *
 * Return: 0; -E2BIG if that state and the reader's own memory together exceed both 256 MiB and 64
 * times the recording's size.
 */
TAP_API int tap_reader_check_state(struct tap_reader *r, unsigned int nr_cpus,
				   unsigned int nr_tasks, struct tap_err *err);

/**
 * tap_reader_watch() - Have @watch called while events are read: once per 256 sub-buffers, or per
 * batch of records of a perf.data.
 */
TAP_API void tap_reader_watch(struct tap_reader *r, void (*watch)(void *ctx), void *ctx);

/**
 * tap_reader_verify() - Compare uncompressed sub-buffers with their checksums, if the file has any;
 * the sub-buffers of a block that differs are reported as lost. Off by default, as it takes 0.1 ns
 * per byte. Compressed sub-buffers are always verified.
 *
 * Call it before the first tap_reader_next(), or after tap_reader_rewind().
 */
TAP_API void tap_reader_verify(struct tap_reader *r, bool verify);

/**
 * tap_reader_damaged() - Return the number of cut or damaged parts (chunks, blocks, or the rest of
 * a CPU's data) found so far. Their events are reported as lost.
 */
TAP_API uint64_t tap_reader_damaged(const struct tap_reader *r);

/** tap_reader_position() - Report progress: @done of @whole bytes of event data have been read. */
TAP_API void tap_reader_position(const struct tap_reader *r, uint64_t *done, uint64_t *whole);

/**
 * tap_reader_rewind() - Start over with the first event. Limit, marks and order stay in force until
 * they are set again.
 */
TAP_API void tap_reader_rewind(struct tap_reader *r);

/** struct tap_tally - Number of events of one kind read since the start or tap_reader_rewind(). */
struct tap_tally {
	const struct tap_format *fmt;
	uint64_t count; /* events within the limit, wanted or not */
};

/**
 * tap_reader_tally() - Fill in @tally for the event kind @index. Indices from 0 are the recording's
 * formats; after them come formats made for ids without one.
 *
 * Return: false if @index is past the last.
 */
TAP_API bool tap_reader_tally(const struct tap_reader *r, unsigned int index,
			      struct tap_tally *tally);

/**
 * struct tap_reader_span - The time span and size of the events read since the start or
 * tap_reader_rewind().
 */
struct tap_reader_span {
	uint64_t first_ns, last_ns; /* UINT64_MAX and 0 if no event was read */
	bool before, beyond; /* events exist before, or after, the limit */
	uint64_t bytes; /* total size of all records */
};

TAP_API struct tap_reader_span tap_reader_span(const struct tap_reader *r);

/**
 * tap_reader_next() - Get the next event in time order; at equal times, the lower CPU's first.
 *
 * Damage inside a sub-buffer ends it: its remaining events are reported as lost, their number
 * unknown.
 *
 * Return: 1 with @ev filled in; 0 at the end; -EINVAL, -EIO, -E2BIG (too much data would have to be
 * decompressed, or sorted at once in a perf.data) or -ENOMEM with @err set.
 */
TAP_API TAP_MUST_CHECK int tap_reader_next(struct tap_reader *r, struct tap_event *ev,
					   struct tap_err *err);

/**
 * tap_reader_batch() - Get several events at once, in the order of tap_reader_next(). Cheaper for
 * callers that read all events.
 * @events: set to an array of pointers. The array and the events are borrowed until the next call
 * of this function or tap_reader_next().
 *
 * Return: the number of events; 0 at the end; errors as for tap_reader_next().
 */
TAP_API TAP_MUST_CHECK int
tap_reader_batch(struct tap_reader *r, const struct tap_event *const **events, struct tap_err *err);

#ifdef __cplusplus
}
#endif
#endif
