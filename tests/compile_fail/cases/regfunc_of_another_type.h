/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a regfunc that is given something */
// want: request_fn|invalid conversion from 'int \(\*\)\(int\)'|of type 'int \(int\)'
#ifdef EVENTS
int reg(int x);
#ifdef WRONG
TRACE_EVENT_FN(request_fn, TP_PROTO(int id), TP_ARGS(id), TP_STRUCT__entry(__field(int, id)),
	TP_fast_assign(__entry->id = id;), TP_printk("%d", __entry->id), reg, NULL);
#else
TRACE_EVENT_FN(request_fn, TP_PROTO(int id), TP_ARGS(id), TP_STRUCT__entry(__field(int, id)),
	TP_fast_assign(__entry->id = id;), TP_printk("%d", __entry->id), NULL, NULL);
#endif
#endif
