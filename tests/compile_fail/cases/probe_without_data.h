/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a probe whose first argument is no pointer */
// want: register_trace_request
#ifdef CODE
#ifdef WRONG
#define CALL register_trace_request(bare_probe, NULL)
#else
#define CALL register_trace_request(probe, NULL)
#endif
#include "use.h"
#endif
