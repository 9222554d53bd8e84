// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tracepoint/patch.h"

static bool count_from(struct static_key *key, int from, int to)
{
	return __atomic_compare_exchange_n(&key->enabled, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

/*
 * The count rises above zero only after the code jumps: others that then count do not wait for it.
 */
static bool switch_on(struct static_key *key)
{
	return tap_patch_key(key, true) && count_from(key, 0, 1);
}

/* Set zero first: from then on, others need the lock to count. */
static void switch_off(struct static_key *key)
{
	if (count_from(key, 1, 0) && !tap_patch_key(key, false))
		count_from(key, 0, 1);
}

bool tap_static_key_inc(struct static_key *key)
{
	bool done;

	if (static_key_fast_inc_not_disabled(key))
		return true;
	tap_patch_lock();
	done = static_key_fast_inc_not_disabled(key) ||
	       (static_key_count(key) == 0 && switch_on(key));
	tap_patch_unlock();
	return done;
}

void tap_static_key_dec(struct static_key *key)
{
	int count = static_key_count(key);

	while (count > 1)
		if (__atomic_compare_exchange_n(&key->enabled, &count, count - 1, true,
						__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return;
	tap_patch_lock();
	switch_off(key);
	tap_patch_unlock();
}

void tap_static_key_set(struct static_key *key, bool on)
{
	if (static_key_count(key) != !on)
		return;
	tap_patch_lock();
	if (!on)
		switch_off(key);
	else if (static_key_count(key) == 0)
		switch_on(key);
	tap_patch_unlock();
}
