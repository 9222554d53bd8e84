/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Write sub-buffers to the spool in a thread, in order. The draining thread hands sub-buffers over
 * and continues, so the rings do not overflow while the disk is slow. All changes of a growing
 * spool go through here. Only one thread may hand over.
 *
 * A flight recorder's sub-buffers stay in memory (held.h); the draining thread puts them there
 * itself.
 *
 * tap_page_writer_check() reports errors. After a failed write a page file gets no more data,
 * because nothing could mark the gap in it. Other page files continue.
 */
#ifndef TAP_FILE_PAGE_WRITER_H
#define TAP_FILE_PAGE_WRITER_H

#include <stdbool.h>
#include <sys/types.h>

#include "file/spool.h"

/* Size of a block of sub-buffers. Up to 8 more bytes may be written after it; they are not kept. */
#define TAP_BLOCK_BYTES ((size_t)256 << 10)
/* at most 64 MiB may be queued */
#define TAP_WRITER_BLOCKS 256u

struct tap_page_writer;

/*
 * Start the writer. @spool: borrowed. Return: 0; -ENOMEM, -EAGAIN (no thread) with an error text.
 */
int tap_page_writer_new(struct tap_spool *spool, struct tap_page_writer **out, struct tap_err *err);
/* Write all queued data and stop the thread. */
void tap_page_writer_free(struct tap_page_writer *w);

/* Return the writing thread's id. */
pid_t tap_page_writer_tid(const struct tap_page_writer *w);

/*
 * Also put all sub-buffers and heads into @copy, which keeps them in memory. Call it before the
 * first buffer is added.
 */
void tap_page_writer_copy_to(struct tap_page_writer *w, struct tap_spool *copy);

/* Add a buffer, see tap_spool_add_buffer(). */
int tap_page_writer_add_buffer(struct tap_page_writer *w, const char *name, const char *clock,
			       uint32_t page_size, unsigned int nr_cpus, struct tap_err *err);

/* Return a new block, to be freed by free(); NULL: out of memory. */
unsigned char *tap_page_writer_block(void);

/*
 * Queue the first @len bytes of *@block, whole sub-buffers, and replace *@block with another block
 * that starts with the next @keep bytes. Waits only while TAP_WRITER_BLOCKS jobs are queued, or if
 * memory is short.
 */
void tap_page_writer_put(struct tap_page_writer *w, unsigned int buffer, unsigned int cpu,
			 unsigned char **block, size_t len, size_t keep);
/*
 * If the spool keeps sub-buffers in memory: return the current slot (TAP_BLOCK_BYTES) of that CPU's
 * lane, of which @used bytes are taken (tap_held_slot()). Sub-buffers can be built there, and are
 * handed over in place by tap_page_writer_add(). NULL: they must be handed over in blocks.
 */
unsigned char *tap_page_writer_slot(struct tap_page_writer *w, unsigned int buffer,
				    unsigned int cpu, size_t *used);
void tap_page_writer_add(struct tap_page_writer *w, unsigned int buffer, unsigned int cpu,
			 size_t len);

/*
 * Hand over @len bytes of whole sub-buffers from a pipe: all that it contains and that was not
 * handed over before.
 */
void tap_page_writer_put_pipe(struct tap_page_writer *w, unsigned int buffer, unsigned int cpu,
			      int pipe, size_t len);
/* Return true if so much is queued that only full blocks should be handed over. */
bool tap_page_writer_is_behind(const struct tap_page_writer *w);
/* Return true if so much is queued that blocks cannot be reused: callers that can wait should. */
bool tap_page_writer_is_busy(const struct tap_page_writer *w);

/* Return the number of bytes of sub-buffers that are queued and not yet written. */
uint64_t tap_page_writer_waiting(const struct tap_page_writer *w);

/*
 * Replace the head (tap_spool_set_head()) before any sub-buffers that are handed over later.
 * Return: 0; -ENOMEM.
 */
int tap_page_writer_set_head(struct tap_page_writer *w, const struct tap_head *head,
			     struct tap_err *err);
/*
 * Return how often tap_page_writer_set_head() has handed over a head. Any thread may call this
 * and the next two.
 */
unsigned int tap_page_writer_heads(const struct tap_page_writer *w);
/* Return true if head number @nr, or a later one, has been written. */
bool tap_page_writer_has_head(const struct tap_page_writer *w, unsigned int nr);
/* Return true if the last head has been written. */
bool tap_page_writer_head_is_set(const struct tap_page_writer *w);
/*
 * Replace the description (tap_spool_set_meta(), not synced). Takes ownership of @json, from
 * malloc().
 */
void tap_page_writer_set_meta(struct tap_page_writer *w, char *json);

/*
 * Call @call in the writing thread, after all that was handed over before and before anything
 * handed over later. @call returns 0 or -errno with an error text.
 */
void tap_page_writer_call(struct tap_page_writer *w,
			  int (*call)(struct tap_spool *spool, void *ctx, uint64_t arg,
				      struct tap_err *err),
			  void *ctx, uint64_t arg);

/* Return: 0; the first error of all writes so far. */
int tap_page_writer_check(const struct tap_page_writer *w, struct tap_err *err);
/* Wait until all that was handed over is written. */
void tap_page_writer_wait(struct tap_page_writer *w);

#endif
