/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A schedtap that was built with more events: what they become is compared with what is read of the same files. */
#include "../../../events/all.h"
#include "odd.h"
#include "../../../examples/own_events.h"
