/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a header that does not say what group its events are of */
// want: define TRACE_SYSTEM
#ifdef EVENTS
#ifdef WRONG
#undef TRACE_SYSTEM
#else
#define SYSTEM_IS_THERE
#endif
#endif
