/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an export of a tracepoint that this file does not define */
// want: nosuch
// errors: 3
#ifdef CODE
#ifdef WRONG
EXPORT_TRACEPOINT_SYMBOL(nosuch);
#else
EXPORT_TRACEPOINT_SYMBOL(request);
#endif
#define CALL trace_request(1, "name")
#include "use.h"
#endif
