/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who had how much of a bucket: a short list, in no order. */
#ifndef TAP_DRAWN_SHARES_H
#define TAP_DRAWN_SHARES_H

#include <stdint.h>

struct tap_share {
	uint32_t who;
	uint64_t ns;
};

struct tap_shares { /* all zero: empty */
	struct tap_share *v; /* owned */
	unsigned int nr, cap;
};

/* Return: 0 or -ENOMEM. */
int tap_shares_add(struct tap_shares *s, uint32_t who, uint64_t ns);
/* Each has one entry from now on. Return: the one with the most; of equals the first by .who. NULL:
 * the list is empty. */
const struct tap_share *tap_shares_most(struct tap_shares *s);
void tap_shares_release(struct tap_shares *s);

#endif
