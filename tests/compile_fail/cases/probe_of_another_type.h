/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a probe that takes other arguments than the event */
// want: register_trace_request
#ifdef CODE
#ifdef WRONG
#define CALL register_trace_request(wrong_probe, NULL)
#else
#define CALL register_trace_request(probe, NULL)
#endif
#include "use.h"
#endif
