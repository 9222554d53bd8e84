// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#undef TAP_STATIC_KEYS
#include "tracepoint/static_key_sites.h"

bool load_sees_shared_key(void)
{
	return static_branch_unlikely(&shared_key);
}
