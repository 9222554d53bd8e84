/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The code that runs in the porter process (porter.h). */
#ifndef TAP_RECORD_PORTER_PROCESS_H
#define TAP_RECORD_PORTER_PROCESS_H

/*
 * Run the porter until the recorder closes the other end of @control, the only descriptor that the
 * porter keeps.
 */
_Noreturn void tap_porter_run(int control);

#endif
