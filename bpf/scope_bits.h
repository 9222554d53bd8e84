/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bits of tap_scope: the kinds of filters of a recording. Included by the programs and by the
 * loader.
 */
#ifndef TAP_BPF_SCOPE_BITS_H
#define TAP_BPF_SCOPE_BITS_H

#define TAP_BY_CPU 1u
#define TAP_BY_TGID 2u
#define TAP_BY_TID 4u
#define TAP_BY_TASK (TAP_BY_TGID | TAP_BY_TID)
#define TAP_BY_COMM 8u
#define TAP_BY_CGROUP 16u

#endif
