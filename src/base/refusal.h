/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Explains why the kernel refused an operation: maps a step of recording and its errno to the
 * missing capability, kernel option or setting. The recorder's errors and `schedtap doctor` use
 * this table.
 */
#ifndef TAP_BASE_REFUSAL_H
#define TAP_BASE_REFUSAL_H

enum tap_step {
	TAP_STEP_BPF, /* loading a BPF program or attaching it to a tracepoint */
	TAP_STEP_BPF_STATS, /* enabling the kernel's run-time statistics of BPF programs */
	TAP_STEP_UPROBE, /* attaching a BPF program to a uprobe */
	TAP_STEP_TRACEFS_READ,
	TAP_STEP_TRACEFS_INSTANCE, /* creating a tracefs instance or writing to its files */
	TAP_STEP_PRIORITY, /* setting a real-time priority */
};

struct tap_refusal {
	/*
	 * such as "Permission denied: uprobes need CAP_SYS_ADMIN: run as root"; only the errno's
	 * text if the reason is unknown
	 */
	char text[400];
};

/* Describe a refusal. @error: an errno, positive or negative. */
struct tap_refusal tap_refusal(enum tap_step step, int error);

/* Return: what is missing and what to do about it; NULL if unknown. */
const char *tap_refusal_why(enum tap_step step, int error);

#endif
