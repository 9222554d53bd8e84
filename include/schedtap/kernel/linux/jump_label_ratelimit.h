/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys that the kernel switches off no more often than a time given. Here they go off at once, as
 * in a kernel without CONFIG_JUMP_LABEL: a delay would need a thread.
 */
#ifndef SCHEDTAP_KERNEL_JUMP_LABEL_RATELIMIT_H
#define SCHEDTAP_KERNEL_JUMP_LABEL_RATELIMIT_H

#include <schedtap/static_key.h>

struct static_key_deferred {
	struct static_key key;
};

struct static_key_true_deferred {
	struct static_key_true key;
};

struct static_key_false_deferred {
	struct static_key_false key;
};

#define DEFINE_STATIC_KEY_DEFERRED_TRUE(name, rl)                                                  \
	struct static_key_true_deferred name = { STATIC_KEY_TRUE_INIT }
#define DEFINE_STATIC_KEY_DEFERRED_FALSE(name, rl)                                                 \
	struct static_key_false_deferred name = { STATIC_KEY_FALSE_INIT }

#define static_branch_deferred_inc(x) static_branch_inc(&(x)->key)
#define static_branch_slow_dec_deferred(x) static_branch_dec(&(x)->key)
#define static_key_slow_dec_deferred(x) static_key_slow_dec(&(x)->key)
#define static_key_deferred_flush(x) ((void)(x))
#define jump_label_rate_limit(x, rl) ((void)(x), (void)(rl))

#endif
