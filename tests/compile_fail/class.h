/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A class for cases about its events. */
DECLARE_EVENT_CLASS(request_class,
	TP_PROTO(int id),
	TP_ARGS(id),
	TP_STRUCT__entry(__field(int, id)),
	TP_fast_assign(__entry->id = id;),
	TP_printk("id=%d", __entry->id)
);
