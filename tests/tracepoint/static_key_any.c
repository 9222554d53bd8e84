/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Static keys and calls in C and in C++, for each compiler: static_key_code.t. */
#include <schedtap/static_call.h>
#include <schedtap/static_key.h>

DECLARE_STATIC_KEY_FALSE(off);
DECLARE_STATIC_KEY_TRUE(on);
DEFINE_STATIC_KEY_FALSE(off);
DEFINE_STATIC_KEY_TRUE(on);
static DEFINE_STATIC_KEY_ARRAY_TRUE(all_on, 3);
static DEFINE_STATIC_KEY_ARRAY_FALSE(all_off, 3);
static DEFINE_STATIC_KEY_MAYBE(CONFIG_NOTHING, maybe);
static struct static_key plain = STATIC_KEY_INIT_TRUE;

#ifdef __cplusplus
/* in a section of its own, which the linker drops where another file has the same */
template <int twice> bool dropped()
{
	return TAP_BRANCH_USDT(&off.key, "schedtap_test", "dropped");
}
inline bool is_off()
{
	return !dropped<1>();
}
#else
static inline bool is_off(void)
{
	return !TAP_BRANCH_USDT(&off.key, "schedtap_test", "dropped");
}
#endif

static int called;

static void count(int by)
{
	called += by;
}

static int minus(int a)
{
	return -a;
}

DEFINE_STATIC_CALL(calls, minus);
DEFINE_STATIC_CALL_NULL(counts, count);
DEFINE_STATIC_CALL_RET0(zero, minus);

/* bit n: branch n */
static int look(void)
{
	return static_branch_unlikely(&off) | static_branch_likely(&off) << 1 |
	       static_branch_unlikely(&on) << 2 | static_branch_likely(&on) << 3 |
	       static_branch_unlikely(&all_on[2]) << 4 | static_branch_likely(&all_off[2]) << 5 |
	       static_key_false(&plain) << 6 | static_key_true(&plain) << 7 |
	       static_branch_maybe(CONFIG_NOTHING, &maybe) << 8 | !is_off() << 9;
}

static void turn(bool is_on)
{
	tap_static_key_set(&off.key, is_on);
	tap_static_key_set(&on.key, is_on);
	tap_static_key_set(&all_on[2].key, is_on);
	tap_static_key_set(&all_off[2].key, is_on);
	tap_static_key_set(&maybe.key, is_on);
	tap_static_key_set(&plain, is_on);
}

int main(void)
{
	if (look() != 0x0dc)
		return 1;
	turn(true);
	if (look() != 0x3ff)
		return 2;
	turn(false);
	if (look() != 0 || tap_patch_error())
		return 3;
	static_call_cond(counts)(1);
	static_call_update(counts, count);
	static_call_cond(counts)(2);
	if (called != 2 || static_call(zero)(7) || static_call(calls)(7) != -7)
		return 4;
	return 0;
}
