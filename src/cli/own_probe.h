/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A function and a USDT probe inside schedtap that are never hit: `schedtap doctor` attaches to
 * them.
 */
#ifndef TAP_CLI_OWN_PROBE_H
#define TAP_CLI_OWN_PROBE_H

#include <stdint.h>

/* The Makefile exports this symbol, so that it survives stripping. */
#define TAP_OWN_PROBE_FUNCTION "tap_own_probe"
#define TAP_OWN_PROBE_USDT "schedtap:doctor"

void tap_own_probe(void);
extern volatile uint16_t tap_own_probe_semaphore;

#endif
