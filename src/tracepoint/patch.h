/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Patched branches, as static_key.c sees them. Counts that leave or reach zero change under the
 * lock, together with the code.
 */
#ifndef TAP_TRACEPOINT_PATCH_H
#define TAP_TRACEPOINT_PATCH_H

#include <schedtap/static_key.h>

/* Signals are blocked meanwhile: a handler may switch keys as well. */
void tap_patch_lock(void);
void tap_patch_unlock(void);
void tap_patch_watch_forks(void); /* the lock is free in a child */

/*
 * All branches of @key, in every file of every loaded object that has any, go the way of a key that
 * is @on. False: they go the other way, as before, and tap_patch_error() says why.
 */
bool tap_patch_key(const struct static_key *key, bool on);

#endif
