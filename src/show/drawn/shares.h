/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Run time per task within a time bucket: a short unordered list. */
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

/* Add @ns to the share of @who. Return: 0 or -ENOMEM. */
int tap_shares_add(struct tap_shares *s, uint32_t who, uint64_t ns);
/*
 * Merge the entries of each .who into one. Return: the entry with the most time, the least .who
 * among equals; NULL: the list is empty.
 */
const struct tap_share *tap_shares_most(struct tap_shares *s);
void tap_shares_release(struct tap_shares *s);

#endif
