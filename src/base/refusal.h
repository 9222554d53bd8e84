/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a refusal of the kernel means: from a step of recording and the errno it failed with to the
 * capability, the kernel option or the setting that is missing. The recorder's errors and `schedtap
 * doctor` both read this table.
 */
#ifndef TAP_BASE_REFUSAL_H
#define TAP_BASE_REFUSAL_H

enum tap_step {
	TAP_STEP_BPF, /* load a BPF program, attach it to a tracepoint */
	TAP_STEP_BPF_STATS, /* let the kernel time BPF programs */
	TAP_STEP_UPROBE, /* attach a BPF program to a probe of a program */
	TAP_STEP_TRACEFS_READ,
	TAP_STEP_TRACEFS_INSTANCE, /* make one, write to its files */
	TAP_STEP_PRIORITY, /* take a real-time priority */
};

struct tap_refusal {
	/* "Permission denied: uprobes need CAP_SYS_ADMIN: run as root"; without a known reason the
	 * errno's alone */
	char text[400];
};

/* @error: positive or negative. */
struct tap_refusal tap_refusal(enum tap_step step, int error);

/* Return: what is missing, and what to do about it; NULL: not known. */
const char *tap_refusal_why(enum tap_step step, int error);

#endif
