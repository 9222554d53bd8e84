// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tracepoint/internal.h"
bool tap_control_wake_thread(void) { return false; }
