// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Yields a CPU that no other task wants, again and again: __schedule() then picks the same task,
 * without a switch.
 */
#include <sched.h>

int main(void)
{
	for (int i = 0; i < 1000; i++)
		sched_yield();
	return 0;
}
