/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interrupt handlers and softirqs.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM irq
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE irq

#if !defined(_SCHEDTAP_EVENTS_IRQ_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_IRQ_H

#include <linux/tracepoint.h>

/* irq_handler_entry: an interrupt handler begins. Source: irq:irq_handler_entry. */
TRACE_EVENT(irq_handler_entry,
	TP_PROTO(int irq, struct irqaction *action),
	TP_ARGS(irq, action),

	TP_STRUCT__entry(
		__field(int, irq)
		__string(name, action->name)
	),

	TP_fast_assign(
		__entry->irq = irq;
		__assign_str(name, action->name);
	),

	TP_printk("irq=%d name=%s", __entry->irq, __get_str(name))
);
TRACE_HOOK(irq_handler_entry, irq_handler_entry, TP_PROTO(int irq, struct irqaction *action),
	TP_ARGS(irq, action));

/* irq_handler_exit: an interrupt handler returned. Source: irq:irq_handler_exit. */
TRACE_EVENT(irq_handler_exit,
	TP_PROTO(int irq, struct irqaction *action, int ret),
	TP_ARGS(irq, action, ret),

	TP_STRUCT__entry(
		__field(int, irq)
		__field(int, ret)		/* 1: its device raised the interrupt */
	),

	TP_fast_assign(
		__entry->irq = irq;
		__entry->ret = ret;
	),

	TP_printk("irq=%d ret=%s", __entry->irq, __entry->ret ? "handled" : "unhandled")
);
TRACE_HOOK(irq_handler_exit, irq_handler_exit,
	TP_PROTO(int irq, struct irqaction *action, int ret), TP_ARGS(irq, action, ret));

DECLARE_EVENT_CLASS(softirq,
	TP_PROTO(unsigned int vec_nr),
	TP_ARGS(vec_nr),

	TP_STRUCT__entry(
		__field(unsigned int, vec)
	),

	TP_fast_assign(
		__entry->vec = vec_nr;
	),

	TP_printk("vec=%u [action=%s]", __entry->vec,
		  __print_symbolic(__entry->vec, { 0, "HI" }, { 1, "TIMER" }, { 2, "NET_TX" },
				   { 3, "NET_RX" }, { 4, "BLOCK" }, { 5, "IRQ_POLL" },
				   { 6, "TASKLET" }, { 7, "SCHED" }, { 8, "HRTIMER" },
				   { 9, "RCU" }))
);

/*
 * softirq_entry: a softirq's handler begins; softirq_exit: it returned. Source:
 * irq:softirq_{entry,exit}.
 */
DEFINE_EVENT(softirq, softirq_entry, TP_PROTO(unsigned int vec_nr), TP_ARGS(vec_nr));
TRACE_HOOK(softirq_entry, softirq_entry, TP_PROTO(unsigned int vec_nr), TP_ARGS(vec_nr));
DEFINE_EVENT(softirq, softirq_exit, TP_PROTO(unsigned int vec_nr), TP_ARGS(vec_nr));
TRACE_HOOK(softirq_exit, softirq_exit, TP_PROTO(unsigned int vec_nr), TP_ARGS(vec_nr));

#endif
#include <trace/define_trace.h>
