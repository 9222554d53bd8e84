/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recordings of several machines in one export, on the first machine's clock. */
#ifndef TAP_EXPORT_MACHINES_H
#define TAP_EXPORT_MACHINES_H

#include "show/export/export.h"

/*
 * Set .machine of each export, and the window of all but the first, by the wall clocks. A guest
 * and its host have the same clock. Only the first export's run has --time. Return: 0; -ENODATA
 * with a sentence: a recording does not contain wall-clock time; -ERANGE: the times of two are too
 * far apart.
 */
int tap_export_machines(struct tap_export *exports, unsigned int nr, struct tap_err *err);

#endif
