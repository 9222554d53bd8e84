// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define CREATE_TRACE_POINTS
#include "hello_trace.h"
