/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an argument is missing */
// want: trace_request
#ifdef CODE
#ifdef WRONG
#define CALL trace_request(1)
#else
#define CALL trace_request(1, "name")
#endif
#include "use.h"
#endif
