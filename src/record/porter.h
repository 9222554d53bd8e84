/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process that receives what others send to the recorder's sockets. Descriptors may come with a
 * message, and to close a stranger's descriptor, or to look at it, may take for ever: of a file
 * system in user space, of a connection that lingers. The porter hands on bytes and memory
 * (memfd_create(2)), and closes everything else. Where it is blocked, another takes its place.
 */
#ifndef TAP_RECORD_PORTER_H
#define TAP_RECORD_PORTER_H

#include "record/parcel.h"

struct tap_porter;

/* Starts it, before there are threads. Return: NULL: no process, or no memory. */
struct tap_porter *tap_porter_new(void);
void tap_porter_free(struct tap_porter *p); /* NULL is fine */
pid_t tap_porter_pid(const struct tap_porter *p); /* 0: there is none */

/*
 * Has a socket served, which stays the caller's, not blocking and open. Return: where
 * tap_porter_take() finds what came, the caller's to close; -errno. @p: may be NULL.
 */
int tap_porter_serve(struct tap_porter *p, int socket, enum tap_porter_kind kind);
/* @fd: set to what came with it, the caller's to close; -1: nothing. Return: whether something
 * came. */
bool tap_porter_take(int from, struct tap_parcel *out, int *fd);
/* A channel that somebody else reads: tap_porter_brings() calls @take when something can be taken
 * from it. @p: may be NULL. */
void tap_porter_set_other(struct tap_porter *p, int from, void (*take)(void *ctx), void *ctx);
/* Asks it to hand on all that was sent before this. @p: may be NULL. */
void tap_porter_finish(struct tap_porter *p);
/*
 * After that: waits until something can be taken from one of the @nr channels. All that are served
 * must be among them, or be the other one: where one is full, the porter waits until something is
 * taken from it. Return: false: that was all, or it takes long.
 */
bool tap_porter_brings(struct tap_porter *p, const int *from, unsigned int nr);

#endif
