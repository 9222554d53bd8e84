/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pages on their way to the spool. Who drains rings hands pages over and goes on, a thread writes
 * them, in order: rings do not fill while a disk lets its writers wait. All that happens to the
 * spool while it grows goes through here; one thread hands over.
 *
 * A flight recorder's pages go into memory (held.h): who hands them over puts them there himself.
 *
 * What fails is told by tap_page_writer_check(). A page file that could not be written gets nothing
 * more, for nothing would tell of the hole; others do.
 */
#ifndef TAP_FILE_PAGE_WRITER_H
#define TAP_FILE_PAGE_WRITER_H

#include <stdbool.h>
#include <sys/types.h>

#include "file/spool.h"

/* A block of pages; 8 bytes more may be written, and are not kept. */
#define TAP_BLOCK_BYTES ((size_t)256 << 10)
/* So many may wait, 64 MiB. */
#define TAP_WRITER_BLOCKS 256u

struct tap_page_writer;

/* @spool is borrowed. Return: 0; -ENOMEM, -EAGAIN (no thread) with a sentence. */
int tap_page_writer_new(struct tap_spool *spool, struct tap_page_writer **out, struct tap_err *err);
/* Writes what was handed over. */
void tap_page_writer_free(struct tap_page_writer *w);

/* The writing thread. */
pid_t tap_page_writer_tid(const struct tap_page_writer *w);

/* Before the first buffer: put all pages into @copy too, which holds them in memory, and set its
 * heads. */
void tap_page_writer_copy_to(struct tap_page_writer *w, struct tap_spool *copy);

/* As tap_spool_add_buffer(). */
int tap_page_writer_add_buffer(struct tap_page_writer *w, const char *name, const char *clock,
			       uint32_t page_size, unsigned int nr_cpus, struct tap_err *err);

/* Return: a block, to be freed by free(); NULL: out of memory. */
unsigned char *tap_page_writer_block(void);

/*
 * Hands over the whole pages that @block begins with, @len bytes, and puts another block in its
 * place, which begins with the @keep bytes that followed. Waits only where TAP_WRITER_BLOCKS are
 * under way.
 */
void tap_page_writer_put(struct tap_page_writer *w, unsigned int buffer, unsigned int cpu,
			 unsigned char **block, size_t len, size_t keep);
/*
 * Where pages are held: the slot of that CPU's lane (tap_held_slot()), TAP_BLOCK_BYTES, in which
 * pages can be made, to be handed over where they are by tap_page_writer_add(). NULL: they are
 * handed over in blocks.
 */
unsigned char *tap_page_writer_slot(struct tap_page_writer *w, unsigned int buffer,
				    unsigned int cpu, size_t *used);
void tap_page_writer_add(struct tap_page_writer *w, unsigned int buffer, unsigned int cpu,
			 size_t len);

/* Hands over @len bytes, whole pages, that are in a pipe: all that is in it and not yet handed
 * over. */
void tap_page_writer_put_pipe(struct tap_page_writer *w, unsigned int buffer, unsigned int cpu,
			      int pipe, size_t len);
/* Whether so much is under way that blocks should be handed over full. */
bool tap_page_writer_is_behind(const struct tap_page_writer *w);
/* Whether so much is under way that blocks are no longer used again: who can wait should. */
bool tap_page_writer_is_busy(const struct tap_page_writer *w);

/* Return: how many bytes of pages were handed over and are not yet written. */
uint64_t tap_page_writer_waiting(const struct tap_page_writer *w);

/* As tap_spool_set_head(): before the pages that are handed over later. Return: 0; -ENOMEM. */
int tap_page_writer_set_head(struct tap_page_writer *w, const struct tap_head *head,
			     struct tap_err *err);
/* How many heads there were. In any thread, as the next two. */
unsigned int tap_page_writer_heads(const struct tap_page_writer *w);
/* Whether the head number @nr is in place, or a later one. */
bool tap_page_writer_has_head(const struct tap_page_writer *w, unsigned int nr);
/* Whether the last one is in place. */
bool tap_page_writer_head_is_set(const struct tap_page_writer *w);
/* As tap_spool_set_meta(), not synced. Takes @json, which is to be freed by free(). */
void tap_page_writer_set_meta(struct tap_page_writer *w, char *json);

/*
 * Calls @call in the writing thread, when all is written that was handed over before, and before
 * what is handed over later. Return, of @call: 0; -errno with a sentence.
 */
void tap_page_writer_call(struct tap_page_writer *w,
			  int (*call)(struct tap_spool *spool, void *ctx, uint64_t arg,
				      struct tap_err *err),
			  void *ctx, uint64_t arg);

/* Return: 0; the first failure of what was written by now. */
int tap_page_writer_check(const struct tap_page_writer *w, struct tap_err *err);
/* Waits until all is written that was handed over. */
void tap_page_writer_wait(struct tap_page_writer *w);

#endif
