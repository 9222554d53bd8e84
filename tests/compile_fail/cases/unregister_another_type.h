/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* what could not be registered */
// want: unregister_trace_request
#ifdef CODE
#ifdef WRONG
#define CALL unregister_trace_request(wrong_probe, NULL)
#else
#define CALL unregister_trace_request(probe, NULL)
#endif
#include "use.h"
#endif
