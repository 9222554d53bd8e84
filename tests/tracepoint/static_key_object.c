// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tracepoint/static_key_sites.h"

static DEFINE_STATIC_KEY_FALSE(false_key);
static DEFINE_STATIC_KEY_TRUE(true_key);
static struct static_key plain_key = STATIC_KEY_INIT_TRUE;

static bool sees_false(void)
{
	return static_branch_unlikely(&false_key);
}

static bool sees_true(void)
{
	return static_branch_likely(&true_key);
}

static bool sees_plain(void)
{
	return static_key_false(&plain_key);
}

static void toggle(bool on)
{
	tap_static_key_set(&false_key.key, on);
	tap_static_key_set(&true_key.key, on);
	tap_static_key_set(&plain_key, on);
}

extern const struct object object;
TAP_API const struct object object = { sees_false, sees_true, sees_plain, toggle };
