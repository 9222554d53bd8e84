/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events that show that a CPU enters or leaves an interrupt handler. */
#ifndef TAP_ANALYSIS_INTERRUPTS_H
#define TAP_ANALYSIS_INTERRUPTS_H

#include <schedtap/reader.h>

enum tap_irq_event { TAP_IRQ_NONE, TAP_IRQ_ENTRY, TAP_IRQ_EXIT };

/*
 * Classify an event format. The events are those of interrupt handlers and softirqs, and those of
 * the architectures: irq_vectors on x86 (such as the timer's), ipi on arm64.
 */
enum tap_irq_event tap_irq_event(const struct tap_format *fmt);
/* Return true if an event that tap_irq_event() accepts is about a softirq. */
bool tap_irq_is_soft(const struct tap_format *fmt);

#endif
