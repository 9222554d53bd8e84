/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_CLI_PROBE_H
#define TAP_CLI_PROBE_H

#include <schedtap/err.h>

/*
 * Test whether the kernel accepts a BPF program from this process, by loading and removing one: BTF
 * does not reveal that. Return: 0; -errno with the sentence that `record` would print.
 */
int tap_probe_bpf(struct tap_err *err);

#endif
