/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loading programs that are made at run time, and attaching them: to a tracepoint of the kernel, or
 * a probe of a program. */
#ifndef TAP_PROGRAM_ATTACH_H
#define TAP_PROGRAM_ATTACH_H

#include "base/refusal.h"
#include "record/program/probe.h"

struct tap_insns;

struct tap_links { /* all zero: none */
	int *v; /* owned descriptors */
	unsigned int nr, cap;
};

/* @probe: NULL: on the tracepoint with the BTF id @tracepoint. Return: a descriptor or -errno. */
int tap_attach_load(const struct tap_insns *b, const char *name, const struct tap_probe *probe,
		    uint32_t tracepoint);

/* Return: 0 or -errno; tap_attach_step() says what a refusal means. */
int tap_attach(struct tap_links *links, int prog, const struct tap_probe *probe);
void tap_attach_undo(struct tap_links *links);

static inline enum tap_step tap_attach_step(const struct tap_probe *probe)
{
	return probe ? TAP_STEP_UPROBE : TAP_STEP_BPF;
}

/* Whether this kernel has uprobes, or the machine what their arguments are in. */
bool tap_attach_knows_probes(void);

#endif
