/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stage 1 of <schedtap/define_trace.h>: defines the tracepoint of each event. */
#pragma GCC system_header
#undef TAP_WRONG_EVENT
#define TAP_WRONG_EVENT(text)
#define TAP_WRONG_FIELD(text)

#undef TAP_ON_TRACE_EVENT
#define TAP_ON_TRACE_EVENT(x, name, proto, args, tstruct, assign, print)                           \
	TAP_DEFINE_TRACE(name, NULL, NULL, PARAMS(proto), PARAMS(args))

#undef TAP_ON_TRACE_EVENT_CONDITION
#define TAP_ON_TRACE_EVENT_CONDITION(x, name, proto, args, cond, tstruct, assign, print)           \
	TAP_DEFINE_TRACE(name, NULL, NULL, PARAMS(proto), PARAMS(args))

#undef TAP_ON_TRACE_EVENT_FN
#define TAP_ON_TRACE_EVENT_FN(x, name, proto, args, tstruct, assign, print, reg, unreg)            \
	TAP_DEFINE_TRACE(name, reg, unreg, PARAMS(proto), PARAMS(args))

#undef TAP_ON_TRACE_EVENT_FN_COND
#define TAP_ON_TRACE_EVENT_FN_COND(x, name, proto, args, cond, tstruct, assign, print, reg, unreg) \
	TAP_DEFINE_TRACE(name, reg, unreg, PARAMS(proto), PARAMS(args))

#undef TAP_ON_DEFINE_EVENT
#define TAP_ON_DEFINE_EVENT(x, template, name, proto, args)                                        \
	TAP_DEFINE_TRACE(name, NULL, NULL, PARAMS(proto), PARAMS(args))

#undef TAP_ON_DEFINE_EVENT_FN
#define TAP_ON_DEFINE_EVENT_FN(x, template, name, proto, args, reg, unreg)                         \
	TAP_DEFINE_TRACE(name, reg, unreg, PARAMS(proto), PARAMS(args))

#undef TAP_ON_DEFINE_EVENT_PRINT
#define TAP_ON_DEFINE_EVENT_PRINT(x, template, name, proto, args, print)                           \
	TAP_DEFINE_TRACE(name, NULL, NULL, PARAMS(proto), PARAMS(args))

#undef TAP_ON_DEFINE_EVENT_CONDITION
#define TAP_ON_DEFINE_EVENT_CONDITION(x, template, name, proto, args, cond)                        \
	TAP_DEFINE_TRACE(name, NULL, NULL, PARAMS(proto), PARAMS(args))

#undef TAP_ON_DEFINE_EVENT_WRITABLE
#define TAP_ON_DEFINE_EVENT_WRITABLE(x, template, name, proto, args, size)                         \
	TAP_DEFINE_TRACE(name, NULL, NULL, PARAMS(proto), PARAMS(args))

#undef TAP_ON_DECLARE_TRACE_EVENT
#define TAP_ON_DECLARE_TRACE_EVENT(x, name, proto, args)                                           \
	DEFINE_TRACE(name, PARAMS(proto), PARAMS(args))
#undef TAP_ON_DECLARE_TRACE_EVENT_CONDITION
#define TAP_ON_DECLARE_TRACE_EVENT_CONDITION(x, name, proto, args, cond)                           \
	DEFINE_TRACE(name, PARAMS(proto), PARAMS(args))

/* the NOP macros declare empty trace functions, which need no tracepoint */
#undef TAP_ON_TRACE_EVENT_NOP
#define TAP_ON_TRACE_EVENT_NOP(x, name, proto, args, tstruct, assign, print)
#undef TAP_ON_DECLARE_EVENT_NOP
#define TAP_ON_DECLARE_EVENT_NOP(x, name, proto, args)
#undef TAP_ON_DEFINE_EVENT_NOP
#define TAP_ON_DEFINE_EVENT_NOP(x, template, name, proto, args)
