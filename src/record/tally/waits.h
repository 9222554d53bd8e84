/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits of several rows of the tally together, and quantiles of them. */
#ifndef TAP_RECORD_TALLY_WAITS_H
#define TAP_RECORD_TALLY_WAITS_H

#include <stdint.h>

#include "tally_maps.h"

/* names, as in JSON and metrics */
extern const char *const tap_wait_kinds[TAP_TALLY_KINDS];
extern const char *const tap_migration_scopes[TAP_TALLY_SCOPES];

struct tap_waits { /* zeroed: none */
	uint64_t count, sum_ns;
	uint64_t buckets[TAP_TALLY_BUCKETS];
};

/* Add a row's waits of one kind. */
void tap_waits_add(struct tap_waits *w, const struct tap_tally_row *row, enum tap_tally_kind kind);
/*
 * Estimate the wait that @part (0..1) of the waits do not exceed: it is in the right bucket (9 %
 * wide), where waits are taken to be spread evenly on a logarithmic scale. Return: ns; 0 if there
 * are no waits, or if that wait is at most 238 ns.
 */
uint64_t tap_waits_quantile(const struct tap_waits *w, double part);

#endif
