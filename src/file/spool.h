/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The spool folder: what a recording is while it grows, and after a crash.
 *
 *   FILE.spool/head.dat    a trace.dat without data: kernel, formats, meta; synced before the
 *                          first event of each kind; replaced by rename
 *   FILE.spool/head.copy   the same, for when head.dat is damaged; older recorders wrote none
 *   FILE.spool/meta.json   newer than the meta in head.dat, with a checksum (meta.h); replaced by
 * rename; may be missing FILE.spool/<n>.<name>.<clock>.<page_size>.cpu<k>   pages of CPU k in
 * buffer n, append only, whole pages; name is "" for the top buffer
 *   FILE.spool/<n>.<name>.<clock>.<page_size>.cpu<k>.zstd   the same, compressed (pack_data.h)
 *
 *   FILE.spool/held        there are no page files: a flight recorder has its pages in memory
 * (held.h), and writes them to another spool folder once a condition has fired (held_spool.h); or,
 * with "ring" in it, the folder only locks the name of a ring on disk
 *
 * A clean stop packs it into FILE (pack.h) and removes it.
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

/* Appends what head.dat is to @out. Return: 0; -ENOMEM. */
int tap_head_write(const struct tap_head *head, struct tap_buf *out);
/* Fills the header texts with those of a 64-bit little-endian kernel with 4096-byte pages. */
void tap_head_defaults(struct tap_head *head);

/*
 * Append @head, a head.dat, to @out with another description and other "pid comm" lines. Return: 0;
 * -EINVAL: it is damaged; -ENOMEM.
 */
int tap_head_change(const struct tap_buf *head, const char *meta, const char *cmdlines,
		    struct tap_buf *out, struct tap_err *err);

struct tap_spool;

/*
 * Makes FILE.spool (mode 0700) with head.dat (0600) and syncs both.
 * Return: 0; -EEXIST if the folder is there already (another recorder, or a crash: the
 * sentence names `schedtap repair`; one of a flight recorder that was killed has nothing in it, and
 * goes); -errno of mkdir, open, write, fsync.
 */
int tap_spool_create(const char *file, const struct tap_head *head, struct tap_spool **out,
		     struct tap_err *err);
/*
 * Makes FILE.spool as above, without waiting for a disk to sync it: for sub-buffers of the flight
 * recorder @from, whose head it gets. @meta: for meta.json. Return: as above.
 */
int tap_spool_create_like(const char *file, const struct tap_spool *from, const char *meta,
			  struct tap_spool **out, struct tap_err *err);
/* Replaces the head by the one that @from has now. Return: 0 or -errno, with the old one in place.
 */
int tap_spool_copy_head(struct tap_spool *s, const struct tap_spool *from, struct tap_err *err);
/*
 * In such a folder: writes whole pages of @from's @lane at the offset @at of their page file. Pages
 * in front of them that are not written are empty pages. Return: 0; -ENOSPC, -EIO, ... with a
 * sentence.
 */
int tap_spool_write_lane(struct tap_spool *s, const struct tap_spool *from,
			 const struct tap_held_lane *lane, const void *pages, size_t len,
			 uint64_t at, struct tap_err *err);
/* Make FILE.spool as tap_spool_create() does, with a head.dat that was made already, and synced
 * only with @sync. */
int tap_spool_create_from(const char *file, const struct tap_buf *head, bool sync,
			  struct tap_spool **out, struct tap_err *err);
/* Ask @room before pages are written that make this folder's page files @bytes long: they are lost
 * where it returns -errno. */
void tap_spool_set_room(struct tap_spool *s, int (*room)(void *ctx, uint64_t bytes), void *ctx);
/* Removes the folder with all that is in it. After that, only tap_spool_free() is left. */
void tap_spool_remove(struct tap_spool *s);
void tap_spool_free(struct tap_spool *s); /* closes; leaves the folder */

/* Before the first buffer: page files are compressed, zstd at @level. Return: 0; -ENOMEM with a
 * sentence. */
int tap_spool_compress(struct tap_spool *s, int level, struct tap_err *err);

/* Adds a buffer with page files for @nr_cpus CPUs. Return: its index, or -errno. */
int tap_spool_add_buffer(struct tap_spool *s, const char *name, const char *clock,
			 uint32_t page_size, unsigned int nr_cpus, struct tap_err *err);

/*
 * Appends whole pages. On failure the file is cut back to its last whole page, so that what
 * was written stays readable, and nothing more is written to it. Return: 0; -ENOSPC, -EIO, ...
 */
int tap_spool_write(struct tap_spool *s, unsigned int buffer, unsigned int cpu, const void *pages,
		    size_t len, struct tap_err *err);
/* The same with whole pages that are in a pipe. */
int tap_spool_splice(struct tap_spool *s, unsigned int buffer, unsigned int cpu, int pipe,
		     size_t len, struct tap_err *err);

/*
 * Before the first buffer: pages are held in memory, @max_bytes of them; 0: a quarter of the
 * machine's memory. Return: 0; -EINVAL: more than half of it; -ENOMEM; -errno.
 */
int tap_spool_hold(struct tap_spool *s, uint64_t max_bytes, struct tap_err *err);
struct tap_held *tap_spool_held(const struct tap_spool *s); /* NULL: pages go into files */
/* Return: the CPU's lane in there; NULL: out of memory, or there is none. */
struct tap_held_lane *tap_spool_lane(struct tap_spool *s, unsigned int buffer, unsigned int cpu);
/* Adds whole pages that were put into that lane's slot. */
void tap_spool_add(struct tap_spool *s, struct tap_held_lane *lane, size_t len);
/* Of a spool that holds copies of events for conditions: its folder says that it locks the name of
 * a ring on disk. Return: 0; -errno. */
int tap_spool_set_ring(struct tap_spool *s, struct tap_err *err);

/* A folder without events in page files. */
enum tap_spool_kind {
	TAP_SPOOL_RECORDING, /* not such a folder */
	TAP_SPOOL_FLIGHT, /* a flight recorder's: events are only in memory */
	/* it locks the name of a ring on disk: events are in files and folders beside it */
	TAP_SPOOL_RING,
};
enum tap_spool_kind tap_spool_kind(int dir);
/* Remove the folder @path if it has no events, and its recorder was killed. Return: what it was;
 * TAP_SPOOL_RECORDING: it stays. */
enum tap_spool_kind tap_spool_remove_held(const char *path);
/* Removes the folder @path, of a recorder that was killed after it had saved the file. */
void tap_spool_remove_left(const char *path);

/*
 * Replaces meta.json by @json. @sync: it waits until that would last through a power cut, maybe
 * long. Return: 0 or -errno, with the old one in place.
 */
int tap_spool_set_meta(struct tap_spool *s, const char *json, bool sync, struct tap_err *err);

/*
 * Replaces head.dat by what tap_head_write() made; a thread then syncs it. For kinds of events that
 * were not known at the start: to be called before their first page is written. Return: 0 or
 * -errno, with the old one in place.
 */
int tap_spool_set_head(struct tap_spool *s, const void *head, size_t len, struct tap_err *err);

/*
 * Recordings that follow each other. From tap_spool_cut() on, events of @cut_ns and later wait in
 * memory. tap_spool_move() replaces the folder by that of @next, a new spool without buffers; after
 * that @next has the old folder, locked, with no page file open. tap_spool_uncut() writes what
 * waited into the spool's folder. So no event of @cut_ns or later is in the old folder. Return: 0;
 * the first failure to write.
 */
void tap_spool_cut(struct tap_spool *s, uint64_t cut_ns);
void tap_spool_move(struct tap_spool *s, struct tap_spool *next);
int tap_spool_uncut(struct tap_spool *s, struct tap_err *err);

/* Return: 0; the first -errno of a page file in this folder, which then lacks later events. */
int tap_spool_failed(const struct tap_spool *s);
/* on disk, in this folder's page files */
uint64_t tap_spool_folder_bytes(const struct tap_spool *s);
/* Remove the spool folder at @path with the pages in it. Return: 0; -EBUSY: a recorder or repair
 * has locked it; -errno. */
int tap_spool_remove_folder(const char *path, struct tap_err *err);

uint64_t tap_spool_bytes(const struct tap_spool *s); /* of pages so far, uncompressed */
const char *tap_spool_path(const struct tap_spool *s); /* of the folder */

/* What the name of a page file says. */
struct tap_spool_name {
	unsigned int buffer, cpu;
	uint32_t page_size;
	char name[256], clock[256];
	bool zstd;
};

/* Return: whether @file is a page file's name exactly as this writer spells it. */
bool tap_spool_parse_name(const char *file, struct tap_spool_name *out);

struct tap_spool_file {
	char file[NAME_MAX + 1];
	struct tap_spool_name name;
};

/* An order of struct tap_spool_file: by buffer, then by CPU. */
int tap_spool_by_buffer(const void *a, const void *b);

/*
 * The page files in the folder @dir, in the @order that qsort() makes of them. @files, NULL before:
 * owned by the caller, also on failure. Return: 0; -errno.
 */
int tap_spool_list(int dir, int (*order)(const void *, const void *), struct tap_spool_file **files,
		   unsigned int *nr);

/* What the page files would be of what is held, in the @order. The same. */
int tap_spool_list_held(const struct tap_spool *s, int (*order)(const void *, const void *),
			struct tap_spool_file **files, unsigned int *nr);

/*
 * Locks the folder at @spool_path against recorders and repairs; they hold it while they live.
 * Return: a descriptor to close; -EBUSY with a sentence that says who has it; -ENOENT if there
 * is no such folder or no head.dat in it; -errno.
 */
int tap_spool_lock(const char *spool_path, struct tap_err *err);

#endif
