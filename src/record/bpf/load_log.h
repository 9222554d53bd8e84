/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads BPF programs, and keeps why the verifier refused one. */
#ifndef TAP_RECORD_BPF_LOAD_LOG_H
#define TAP_RECORD_BPF_LOAD_LOG_H

#include <bpf/libbpf.h>

struct tap_load_log {
	char program[128]; /* name of the program that was refused; "": none was */
	char reason[256]; /* the last line of the verifier's log, without its statistics */
};

/* Load all programs of @obj, without messages of libbpf. Return: 0 or -errno. */
int tap_bpf_load_logged(struct bpf_object *obj, struct tap_load_log *log);

#endif
