// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define CREATE_TRACE_POINTS
#include "events.h"

#define CODE
#include CASE
