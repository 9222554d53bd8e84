/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* two classes of one name */
// want: request_class
#ifdef EVENTS
DECLARE_EVENT_CLASS(request_class,
	TP_PROTO(int id),
	TP_ARGS(id),
	TP_STRUCT__entry(__field(int, id)),
	TP_fast_assign(__entry->id = id;),
	TP_printk("id=%d", __entry->id)
);
#ifdef WRONG
DECLARE_EVENT_CLASS(request_class,
	TP_PROTO(int id),
	TP_ARGS(id),
	TP_STRUCT__entry(__field(int, id)),
	TP_fast_assign(__entry->id = id;),
	TP_printk("id=%d", __entry->id)
);
#else
DEFINE_EVENT(request_class, request_end, TP_PROTO(int id), TP_ARGS(id));
#endif
#endif
