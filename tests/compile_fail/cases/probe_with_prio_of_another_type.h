/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* the same with a priority */
// want: register_trace_prio_request
#ifdef CODE
#ifdef WRONG
#define CALL register_trace_prio_request(wrong_probe, NULL, 1)
#else
#define CALL register_trace_prio_request(probe, NULL, 1)
#endif
#include "use.h"
#endif
