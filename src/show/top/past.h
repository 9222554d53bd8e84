/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Times of the last minute, such as the longest wait of each refresh, for strips. */
#ifndef TAP_SHOW_TOP_PAST_H
#define TAP_SHOW_TOP_PAST_H

#include <stdint.h>

#include "show/top/now.h"

#define TAP_TOP_PAST 60u /* number of refreshes that are kept */

struct tap_top_past {
	uint64_t ns[TAP_TOP_PAST];
	uint64_t at[TAP_TOP_PAST]; /* number of the refresh that .ns is of, plus one; 0: none */
};

struct tap_top_pasts { /* zeroed: nothing is known */
	struct tap_top_past p99; /* of all waits */
	struct tap_top_past *cpus; /* owned; the longest wait for each CPU, by number */
	unsigned int nr_cpus;
};

/* Note a refresh. @nr: its number; for a recording that is read backwards it decreases. */
int tap_top_pasts_note(struct tap_top_pasts *p, const struct tap_now *now, uint64_t nr);
void tap_top_pasts_release(struct tap_top_pasts *p);

/* Note one time. */
void tap_top_past_note(struct tap_top_past *p, uint64_t nr, uint64_t ns);
/* Return: the time of a refresh; TAP_NOW_UNKNOWN. */
uint64_t tap_top_past_at(const struct tap_top_past *p, uint64_t nr);

#endif
