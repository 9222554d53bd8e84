/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The porter's own side (porter.h). */
#ifndef TAP_CAPTURE_PORTER_PROCESS_H
#define TAP_CAPTURE_PORTER_PROCESS_H

/* What the process does until @control is closed. It has nothing else of the recorder's. */
_Noreturn void tap_porter_run(int control);

#endif
