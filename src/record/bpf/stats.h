/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_RECORD_BPF_STATS_H
#define TAP_RECORD_BPF_STATS_H

#include "schedtap/err.h"

/*
 * Let the kernel measure the run time of BPF programs until the descriptor is closed. Return: the
 * descriptor; -errno with a sentence.
 */
int tap_bpf_stats_open(struct tap_err *err);

#endif
