/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The more is tested the more is found by chance: p-values adjusted after Benjamini and Hochberg.
 */
#ifndef TAP_STATS_ADJUST_H
#define TAP_STATS_ADJUST_H

/*
 * @p: becomes what it is among all @nr: of those that are at most 0.05 then, at most 5 % are
 * expected to be there by chance. Return: 0 or -ENOMEM.
 */
int tap_adjust_p(double *p, unsigned int nr);

#endif
