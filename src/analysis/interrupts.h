/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which events say that a CPU begins to handle an interrupt, or ends. */
#ifndef TAP_ANALYSIS_INTERRUPTS_H
#define TAP_ANALYSIS_INTERRUPTS_H

#include <schedtap/reader.h>

enum tap_irq_event { TAP_IRQ_NONE, TAP_IRQ_ENTRY, TAP_IRQ_EXIT };

/* Handlers and softirqs; x86 has its own interrupts (the timer's, for one) in irq_vectors, arm64 in
 * ipi. */
enum tap_irq_event tap_irq_event(const struct tap_format *fmt);
/* Of those: whether it is about a softirq. */
bool tap_irq_is_soft(const struct tap_format *fmt);

#endif
