/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adjust p-values for multiple tests by the procedure of Benjamini and Hochberg. */
#ifndef TAP_STATS_ADJUST_H
#define TAP_STATS_ADJUST_H

/*
 * Replace each of @nr p-values by its adjusted value: among results with an adjusted p of at most
 * 0.05, at most 5 % are expected to be due to chance. Return: 0 or -ENOMEM.
 */
int tap_adjust_p(double *p, unsigned int nr);

#endif
