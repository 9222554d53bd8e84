// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define CREATE_TRACE_POINTS
#include "tracepoint/provider.h"

TAP_API void provider_fire(int v);

void provider_fire(int v)
{
	trace_loaded(v);
}
