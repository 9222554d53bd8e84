/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* prev_state of sched_switch, of any kernel and program, as the bits of events/sched.h. */
#ifndef TAP_FILE_TEXT_STATE_H
#define TAP_FILE_TEXT_STATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The bit 0x40 without the kernel's letter for it: a parked task since v4.14, a dead one before.
 * The text does not have the version.
 */
#define TAP_STATE_0X40 0x10000u

/*
 * Parse a state at @p. @by_position: a letter stands for its bit, as in trace-cmd's own text, which
 * has the letters of kernels before v4.14. Return: its end; NULL if it is none. @state: bits, or
 * TAP_STATE_0X40.
 */
const char *tap_state_parse(const char *p, const char *end, bool by_position, uint64_t *state);

#endif
