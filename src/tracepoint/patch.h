/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interface of patched branches for static_key.c. A key's count leaves or reaches zero only under
 * this lock, together with its code.
 */
#ifndef TAP_TRACEPOINT_PATCH_H
#define TAP_TRACEPOINT_PATCH_H

#include <schedtap/static_key.h>

/*
 * Signals and cancellation are blocked while the lock is held, because a signal handler may switch
 * keys, too.
 */
void tap_patch_lock(void);
void tap_patch_unlock(void);
void tap_patch_watch_forks(void); /* makes the lock free in a child */

/*
 * Patch all branches of @key in all loaded objects to match a key that is @on. Return: false on
 * failure: the branches are unchanged, and tap_patch_error() returns the reason.
 */
bool tap_patch_key(const struct static_key *key, bool on);

#endif
