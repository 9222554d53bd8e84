/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The porter is a process that receives what other programs send to the recorder's sockets. A
 * message may carry descriptors, and closing or even examining a foreign descriptor may block
 * forever: a file on FUSE, or a connection with SO_LINGER. The porter hands on bytes and memfds
 * (memfd_create(2)), and closes all other descriptors. If its worker process blocks, another one
 * takes over.
 */
#ifndef TAP_RECORD_PORTER_H
#define TAP_RECORD_PORTER_H

#include "record/parcel.h"

struct tap_porter;

/* Start the porter, before there are threads. Return: NULL: fork failed, or out of memory. */
struct tap_porter *tap_porter_new(void);
void tap_porter_free(struct tap_porter *p); /* p may be NULL */
pid_t tap_porter_pid(const struct tap_porter *p); /* 0: p is NULL */

/*
 * Let the porter serve @socket, which must be non-blocking; it stays the caller's and open. @p: may
 * be NULL. Return: the channel for tap_porter_take(), the caller's to close; -errno.
 */
int tap_porter_serve(struct tap_porter *p, int socket, enum tap_porter_kind kind);
/*
 * Take one message, without waiting. @fd: set to the memfd that came with it, the caller's to
 * close; -1: none. Return: whether there was a message.
 */
bool tap_porter_take(int from, struct tap_parcel *out, int *fd);
/*
 * Set a channel that another part of the recorder reads: tap_porter_brings() calls @take if it has
 * a message. @p: may be NULL.
 */
void tap_porter_set_other(struct tap_porter *p, int from, void (*take)(void *ctx), void *ctx);
/* Ask the porter to hand on all messages that were sent before. @p: may be NULL. */
void tap_porter_finish(struct tap_porter *p);
/*
 * After tap_porter_finish(): wait until one of the @nr channels has a message. Together with the
 * one of tap_porter_set_other() they must be all channels, because a full channel blocks the
 * porter. Return: false: there are no more messages, or the porter takes too long.
 */
bool tap_porter_brings(struct tap_porter *p, const int *from, unsigned int nr);

#endif
