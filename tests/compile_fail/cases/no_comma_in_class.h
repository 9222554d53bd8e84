/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a comma is missing in a class */
// want: DECLARE_EVENT_CLASS\(request_class, \.\.\.\) has 5 parts, not 6
#ifdef EVENTS
#ifdef WRONG
DECLARE_EVENT_CLASS(request_class, TP_PROTO(int id), TP_ARGS(id)
	TP_STRUCT__entry(__field(int, id)), TP_fast_assign(__entry->id = id;), TP_printk("id=%d", __entry->id));
#else
DECLARE_EVENT_CLASS(request_class, TP_PROTO(int id), TP_ARGS(id),
	TP_STRUCT__entry(__field(int, id)), TP_fast_assign(__entry->id = id;), TP_printk("id=%d", __entry->id));
#endif
#endif
