/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* TRACE_DEFINE_ENUM() of a name that is not there */
// want: NOSUCH
#ifdef EVENTS
#ifndef ONCE
#define ONCE
enum { SUCH = 1 };
#endif
#ifdef WRONG
TRACE_DEFINE_ENUM(NOSUCH);
#else
TRACE_DEFINE_ENUM(SUCH);
#endif
#endif
