/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_CLI_PROBE_H
#define TAP_CLI_PROBE_H

#include <schedtap/err.h>

/*
 * Whether the kernel takes a BPF program of ours from this caller: what counts is not what BTF
 * lists. Loads one, and removes it.
 * Return: 0; -errno with what a recorder would say.
 */
int tap_probe_bpf(struct tap_err *err);

#endif
