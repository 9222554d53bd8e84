/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The spool folder: a recording while it grows, and after a crash.
 *
 *   FILE.spool/head.dat    a trace.dat without event data: kernel, formats, description. Synced
 *                          before the first event of each kind; replaced by rename
 *   FILE.spool/head.copy   a copy, in case head.dat is damaged; older recorders wrote none
 *   FILE.spool/meta.json   newer than the description in head.dat, with a checksum (meta.h);
 *                          replaced by rename; may be missing
 *   FILE.spool/<n>.<name>.<clock>.<page_size>.cpu<k>
 *                          page file: sub-buffers of CPU k in buffer n, only whole ones,
 *                          append only; name is "" for the top-level buffer
 *   FILE.spool/<n>.<name>.<clock>.<page_size>.cpu<k>.zstd
 *                          compressed page file (pack_data.h)
 *   FILE.spool/held        exists if there are no page files: a flight recorder keeps its
 *                          sub-buffers in memory (held.h), and writes them to another spool
 *                          folder once a condition fires (held_spool.h). If it contains "ring",
 *                          the folder only locks the name of a ring on disk
 *
 * At the normal end, the folder is packed into FILE (pack.h) and removed.
 */
#ifndef TAP_FILE_SPOOL_H
#define TAP_FILE_SPOOL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtap/err.h>

#include "file/head.h"
#include "file/held.h"

#define TAP_SPOOL_MAX_BUFFERS 1000u
#define TAP_SPOOL_MAX_CPUS 65536u
#define TAP_SPOOL_MIN_PAGE_SIZE 256u
#define TAP_SPOOL_MAX_PAGE_SIZE (1u << 24)

#define TAP_SPOOL_SUFFIX ".spool"
#define TAP_SPOOL_HELD "held"
#define TAP_SPOOL_HEAD_COPY "head.copy"

struct tap_buf;

/* Append the contents of a head.dat to @out. Return: 0; -ENOMEM. */
int tap_head_write(const struct tap_head *head, struct tap_buf *out);
/* Set the header texts to those of a 64-bit little-endian kernel with 4096-byte sub-buffers. */
void tap_head_defaults(struct tap_head *head);

/*
 * Append @head, a head.dat, to @out with another description and other "pid comm" lines. Return: 0;
 * -EINVAL: it is damaged; -ENOTSUP: from a machine of the other byte order; -ENOMEM.
 */
int tap_head_change(const struct tap_buf *head, const char *meta, const char *cmdlines,
		    struct tap_buf *out, struct tap_err *err);

struct tap_spool;

/*
 * Create FILE.spool (mode 0700) with head.dat (0600), and sync both. The empty folder of a killed
 * flight recorder is replaced. Return: 0; -EEXIST if the folder exists (of another recorder, or
 * after a crash: the error text names `schedtap repair`); -errno of mkdir, open, write, fsync.
 */
int tap_spool_create(const char *file, const struct tap_head *head, struct tap_spool **out,
		     struct tap_err *err);
/*
 * Create FILE.spool without syncing it, for sub-buffers of the flight recorder @from, whose head is
 * copied. @meta: for meta.json. Return: as for tap_spool_create().
 */
int tap_spool_create_like(const char *file, const struct tap_spool *from, const char *meta,
			  struct tap_spool **out, struct tap_err *err);
/* Replace the head by the present one of @from. Return: 0; -errno, with the old head in place. */
int tap_spool_copy_head(struct tap_spool *s, const struct tap_spool *from, struct tap_err *err);
/*
 * Write whole sub-buffers of @from's @lane at offset @at of their page file, in a folder from
 * tap_spool_create_like(). Unwritten parts of the file before them are empty sub-buffers. Return:
 * 0; -ENOSPC, -EIO, ... with an error text.
 */
int tap_spool_write_lane(struct tap_spool *s, const struct tap_spool *from,
			 const struct tap_held_lane *lane, const void *pages, size_t len,
			 uint64_t at, struct tap_err *err);
/*
 * Create FILE.spool like tap_spool_create(), with the given contents of head.dat; synced only if
 * @sync.
 */
int tap_spool_create_from(const char *file, const struct tap_buf *head, bool sync,
			  struct tap_spool **out, struct tap_err *err);
/*
 * Have @room called before sub-buffers are written, with the size in bytes that this folder's page
 * files will have then. If it returns -errno, these sub-buffers are lost.
 */
void tap_spool_set_room(struct tap_spool *s, int (*room)(void *ctx, uint64_t bytes), void *ctx);
/* Remove the folder with all its files. Only tap_spool_free() may be called afterwards. */
void tap_spool_remove(struct tap_spool *s);
void tap_spool_free(struct tap_spool *s); /* closes the files; the folder remains */

/*
 * Compress page files with zstd at @level. Call it before the first buffer is added. Return: 0;
 * -ENOMEM with an error text.
 */
int tap_spool_compress(struct tap_spool *s, int level, struct tap_err *err);

/* Add a buffer with page files for @nr_cpus CPUs. Return: its index, or -errno. */
int tap_spool_add_buffer(struct tap_spool *s, const char *name, const char *clock,
			 uint32_t page_size, unsigned int nr_cpus, struct tap_err *err);

/*
 * Append whole sub-buffers. On failure the file is truncated to its last whole sub-buffer or chunk,
 * so it stays readable, and nothing more is written to it. Return: 0; -ENOSPC, -EIO, ...
 */
int tap_spool_write(struct tap_spool *s, unsigned int buffer, unsigned int cpu, const void *pages,
		    size_t len, struct tap_err *err);
/* Append whole sub-buffers from a pipe, see tap_spool_write(). */
int tap_spool_splice(struct tap_spool *s, unsigned int buffer, unsigned int cpu, int pipe,
		     size_t len, struct tap_err *err);

/*
 * Keep sub-buffers in memory, at most @max_bytes; 0: a quarter of the machine's memory. Call it
 * before the first buffer is added. Return: 0; -EINVAL: more than half of the memory; -ENOMEM;
 * -errno.
 */
int tap_spool_hold(struct tap_spool *s, uint64_t max_bytes, struct tap_err *err);
/* NULL: sub-buffers are written to files */
struct tap_held *tap_spool_held(const struct tap_spool *s);
/* Return the CPU's lane in memory; NULL: out of memory, or sub-buffers are written to files. */
struct tap_held_lane *tap_spool_lane(struct tap_spool *s, unsigned int buffer, unsigned int cpu);
/* Add whole sub-buffers that were written into that lane's slot. */
void tap_spool_add(struct tap_spool *s, struct tap_held_lane *lane, size_t len);
/*
 * For a spool in memory that only has copies of events, to check conditions: mark its folder as one
 * that locks the name of a ring on disk. Return: 0; -errno.
 */
int tap_spool_set_ring(struct tap_spool *s, struct tap_err *err);

/* Kinds of folders, by their file "held". */
enum tap_spool_kind {
	TAP_SPOOL_RECORDING, /* events are in page files */
	TAP_SPOOL_FLIGHT, /* a flight recorder's: events are only in memory */
	/* locks the name of a ring on disk: events are in files and folders next to it */
	TAP_SPOOL_RING,
};
enum tap_spool_kind tap_spool_kind(int dir);
/*
 * Remove the folder @path if it has no events and its recorder was killed. Return: the kind of
 * folder; TAP_SPOOL_RECORDING: it was not removed.
 */
enum tap_spool_kind tap_spool_remove_held(const char *path);
/* Remove the folder @path of a recorder that was killed after it had saved the file. */
void tap_spool_remove_left(const char *path);

/*
 * Replace meta.json by @json. @sync: wait until it is on disk, which may take long. Return: 0;
 * -errno, with the old file in place.
 */
int tap_spool_set_meta(struct tap_spool *s, const char *json, bool sync, struct tap_err *err);

/*
 * Replace head.dat by @head, from tap_head_write(); a thread then syncs it. For event kinds that
 * were added later: call it before their first sub-buffer is written. Return: 0; -errno, with the
 * old file in place.
 */
int tap_spool_set_head(struct tap_spool *s, const void *head, size_t len, struct tap_err *err);

/*
 * Continue a recording in another folder. After tap_spool_cut(), events of @cut_ns and later are
 * kept in memory. tap_spool_move() makes the folder of @next, a new spool without buffers, the
 * folder of @s; @next then has the old folder, locked, without open page files. tap_spool_uncut()
 * writes the kept events to the new folder. So the old folder has no event of @cut_ns or later.
 * Return: 0; the first write error.
 */
void tap_spool_cut(struct tap_spool *s, uint64_t cut_ns);
void tap_spool_move(struct tap_spool *s, struct tap_spool *next);
int tap_spool_uncut(struct tap_spool *s, struct tap_err *err);

/* Return: 0; the first -errno of a page file in this folder, which then lacks later events. */
int tap_spool_failed(const struct tap_spool *s);
/* Return the size of this folder's page files on disk, in bytes. */
uint64_t tap_spool_folder_bytes(const struct tap_spool *s);
/*
 * Remove the spool folder @path with its page files. Return: 0; -EBUSY: locked by a recorder or a
 * repair; -errno.
 */
int tap_spool_remove_folder(const char *path, struct tap_err *err);

/* bytes of sub-buffers so far, before compression */
uint64_t tap_spool_bytes(const struct tap_spool *s);
const char *tap_spool_path(const struct tap_spool *s); /* path of the folder */

/* The parts of a page file's name. */
struct tap_spool_name {
	unsigned int buffer, cpu;
	uint32_t page_size;
	char name[256], clock[256];
	bool zstd;
};

/* Return true if @file is a page file's name exactly as spool.c spells it. */
bool tap_spool_parse_name(const char *file, struct tap_spool_name *out);

struct tap_spool_file {
	char file[NAME_MAX + 1];
	struct tap_spool_name name;
};

/* Compare two struct tap_spool_file for qsort(): by buffer, then by CPU. */
int tap_spool_by_buffer(const void *a, const void *b);

/*
 * List the page files in the folder @dir, sorted by @order. *@files must be NULL; the caller frees
 * it, also on failure. Return: 0; -errno.
 */
int tap_spool_list(int dir, int (*order)(const void *, const void *), struct tap_spool_file **files,
		   unsigned int *nr);

/*
 * List the page files that the sub-buffers in memory would have, see tap_spool_list(). Return: 0;
 * -ENOMEM.
 */
int tap_spool_list_held(const struct tap_spool *s, int (*order)(const void *, const void *),
			struct tap_spool_file **files, unsigned int *nr);

/*
 * Lock the folder at @spool_path against recorders and repairs, which hold the lock until they
 * exit. Return: a descriptor that has the lock until it is closed; -EBUSY with an error text that
 * names the holder; -ENOENT if the folder or its head.dat does not exist; -errno.
 */
int tap_spool_lock(const char *spool_path, struct tap_err *err);

#endif
