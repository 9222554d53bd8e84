/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the BPF programs of the machine cost, as the kernel counts it. Not thread safe. */
#ifndef TAP_RECORD_KERNEL_PROGRAMS_H
#define TAP_RECORD_KERNEL_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include <schedtap/err.h>

struct tap_bpf_program {
	uint32_t id;
	char name[64]; /* the function's whole name if BTF has it, else the first 15 bytes */
	const char *type; /* as bpftool shows it: "tracing", "kprobe", "sched_cls"; "type N" */
	uint64_t calls, run_ns; /* since the reading before */
	bool is_ours; /* this process has loaded it */
};

struct tap_bpf_programs;

/*
 * Begin: the kernel measures all BPF programs (BPF_ENABLE_STATS) until the close, which makes each
 * call about 40 ns slower. Return: 0; -errno with a sentence: -EPERM, ...
 */
int tap_bpf_programs_open(struct tap_bpf_programs **out, struct tap_err *err);
void tap_bpf_programs_close(struct tap_bpf_programs *p);
/*
 * Read all programs, those with the most run time first. @list: valid until the next reading. The
 * numbers of a program that was not there at the reading before count from its loading. Return:
 * their number; -errno with a sentence.
 */
int tap_bpf_programs_read(struct tap_bpf_programs *p, const struct tap_bpf_program **list,
			  struct tap_err *err);

#endif
