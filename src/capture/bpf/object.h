/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpf/schedtap.bpf.c, compiled, as part of the library. */
#ifndef TAP_CAPTURE_BPF_OBJECT_H
#define TAP_CAPTURE_BPF_OBJECT_H

#include <bpf/libbpf.h>

/* Not loaded yet. Return: NULL with errno set; the caller's to close. */
struct bpf_object *tap_bpf_open(void);

#endif
