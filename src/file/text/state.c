// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/text/state.h"

#include <stddef.h>

#include "base/text.h"

/* The bits that events/sched.h names. */
enum {
	SLEEPING = 0x01, /* S */
	BLOCKED = 0x02, /* D */
	STOPPED = 0x04, /* T */
	TRACED = 0x08, /* t */
	DEAD = 0x10, /* X */
	ZOMBIE = 0x20, /* Z */
	PARKED = 0x40, /* P */
	IDLE = 0x80, /* I */
	PREEMPTED = 0x100, /* + */
	/* of kernels before v4.14, which store several bits */
	OLD_KILLABLE = 0x80,
	OLD_NO_LOAD = 0x400,
};

/* Letters that qualify another one: killable, waking, no load. */
enum { KILLABLE = 0x1000, WAKING = 0x2000, NO_LOAD = 0x4000, RUNNABLE = 0x8000 };

static uint32_t bit_of(char letter, bool by_position)
{
	switch (letter) {
	case 'R':
		return RUNNABLE;
	case 'S':
		return SLEEPING;
	case 'D':
		return BLOCKED;
	case 'T':
		return STOPPED;
	case 't':
		return TRACED;
	case 'X':
		return DEAD;
	case 'x':
		return by_position ? TAP_STATE_0X40 : DEAD;
	case 'Z':
		return ZOMBIE;
	case 'P':
		return PARKED;
	case 'I':
		return IDLE;
	case 'W':
		return WAKING;
	case 'K':
		return KILLABLE;
	case 'N':
		return NO_LOAD;
	default:
		return 0;
	}
}

static uint64_t of_letters(uint32_t bits)
{
	const uint32_t known = bits & 0xff;

	if (known & BLOCKED)
		return bits & NO_LOAD ? IDLE : BLOCKED;
	if (known & (DEAD | ZOMBIE))
		return known & ZOMBIE ? ZOMBIE : DEAD;
	if (known)
		return known & -known;
	if (bits & TAP_STATE_0X40)
		return TAP_STATE_0X40;
	/* W alone is trace-cmd's letter for the bit of idle */
	return bits & WAKING ? IDLE : bits & KILLABLE ? BLOCKED : 0;
}

static uint64_t of_number(uint64_t v)
{
	if (v == PARKED)
		return TAP_STATE_0X40;
	if (v & ~(uint64_t)0x1ff && !(v & 0x3ff)) /* TASK_STATE_MAX of a kernel before v4.14 */
		return PREEMPTED;
	if (!(v & (v - 1)) || v <= PREEMPTED)
		return v & BLOCKED && v & OLD_KILLABLE ? BLOCKED : v;
	if (v & BLOCKED)
		return v & OLD_NO_LOAD ? IDLE : BLOCKED;
	return v & 0x7f ? (v & 0x7f) & -(v & 0x7f) : v;
}

const char *tap_state_parse(const char *p, const char *end, bool by_position, uint64_t *state)
{
	uint32_t bits = 0, bit;

	if (p < end && (unsigned char)(*p - '0') < 10) {
		const bool is_hex = end - p > 2 && p[0] == '0' && p[1] == 'x';

		p += is_hex ? 2 : 0;
		if (tap_text_take_digits(&p, end, is_hex ? 16 : 10, state))
			return NULL;
		*state = of_number(*state);
		return p;
	}
	for (; p < end && (bit = bit_of(*p, by_position)); p += p + 1 < end && *p == '|') {
		bits |= bit;
		p++;
		if (p == end || *p != '|')
			break;
	}
	if (!bits)
		return NULL;
	*state = of_letters(bits);
	if (p < end && *p == '+') {
		*state |= PREEMPTED;
		p++;
	}
	return p;
}
