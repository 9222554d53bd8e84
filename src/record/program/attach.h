/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads BPF programs generated at run time, and attaches them to a kernel tracepoint or to a probe
 * of a user program.
 */
#ifndef TAP_PROGRAM_ATTACH_H
#define TAP_PROGRAM_ATTACH_H

#include "base/refusal.h"
#include "record/program/probe.h"

struct tap_insns;

struct tap_links { /* all zero: empty */
	int *v; /* owned file descriptors */
	unsigned int nr, cap;
};

/*
 * @probe: NULL: load for the tracepoint with BTF id @tracepoint. Return: a file descriptor or
 * -errno.
 */
int tap_attach_load(const struct tap_insns *b, const char *name, const struct tap_probe *probe,
		    uint32_t tracepoint);

/* Return: 0 or -errno, which tap_refusal() explains with the step of tap_attach_step(). */
int tap_attach(struct tap_links *links, int prog, const struct tap_probe *probe);
void tap_attach_undo(struct tap_links *links);

static inline enum tap_step tap_attach_step(const struct tap_probe *probe)
{
	return probe ? TAP_STEP_UPROBE : TAP_STEP_BPF;
}

/* Return true if this kernel has uprobes. */
bool tap_attach_knows_probes(void);

#endif
