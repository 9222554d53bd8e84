// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/screen/keys.h"

#include <stdlib.h>
#include <string.h>

#define ESC '\033'

/* What the bytes at the beginning of the buffer are. */
struct token {
	size_t len; /* bytes; 0: more are needed */
	uint32_t key;
};

size_t tap_keys_add(struct tap_keys *k, const char *bytes, size_t nr)
{
	size_t space = sizeof(k->bytes) - k->nr;

	nr = nr < space ? nr : space;
	memcpy(k->bytes + k->nr, bytes, nr);
	k->nr += (unsigned int)nr;
	return nr;
}

/* Bytes that are not valid are one key, up to the first byte that may begin another one. */
static struct token utf8_char(const char *s, size_t nr)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char first = (unsigned char)*s;
	size_t len = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf8 ? 4 : 1;
	uint32_t c = first & (0x7fu >> len);

	if (len == 1)
		return (struct token){ 1, TAP_KEY_NONE };
	for (size_t i = 1; i < len; i++) {
		if (i == nr)
			return (struct token){ 0 };
		if ((s[i] & 0xc0) != 0x80)
			return (struct token){ i, TAP_KEY_NONE };
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = TAP_KEY_NONE;
	return (struct token){ len, c };
}

static struct token plain_key(const char *s, size_t nr)
{
	if (*s & 0x80)
		return utf8_char(s, nr);
	if (*s == '\r' || *s == '\n')
		return (struct token){ 1, TAP_KEY_ENTER };
	if (*s == '\b' || *s == 0x7f)
		return (struct token){ 1, TAP_KEY_BACKSPACE };
	return (struct token){ 1, (unsigned char)*s };
}

/* CSI number ~; rxvt ends it with $, ^ or @ where a modifier is pressed. */
static uint32_t numbered_key(unsigned long number)
{
	static const uint32_t keys[] = {
		[1] = TAP_KEY_HOME,    [3] = TAP_KEY_DELETE,	[4] = TAP_KEY_END,
		[5] = TAP_KEY_PAGE_UP, [6] = TAP_KEY_PAGE_DOWN, [7] = TAP_KEY_HOME,
		[8] = TAP_KEY_END,     [11] = TAP_KEY_F1,	[12] = TAP_KEY_F1 + 1,
		[13] = TAP_KEY_F1 + 2, [14] = TAP_KEY_F1 + 3,	[15] = TAP_KEY_F1 + 4,
		[17] = TAP_KEY_F1 + 5, [18] = TAP_KEY_F1 + 6,	[19] = TAP_KEY_F1 + 7,
		[20] = TAP_KEY_F1 + 8, [21] = TAP_KEY_F1 + 9,	[23] = TAP_KEY_F1 + 10,
		[24] = TAP_KEY_F12,
	};

	return number < sizeof(keys) / sizeof(*keys) && keys[number] ? keys[number] : TAP_KEY_NONE;
}

/* Cursor keys and F1..F4 after CSI and SS3; rxvt has small letters where a modifier is pressed. */
static uint32_t lettered_key(char final)
{
	static const char finals[] = "ABCDHFPQRSMabcd";
	static const uint32_t keys[] = {
		TAP_KEY_UP,    TAP_KEY_DOWN, TAP_KEY_RIGHT,  TAP_KEY_LEFT,   TAP_KEY_HOME,
		TAP_KEY_END,   TAP_KEY_F1,   TAP_KEY_F1 + 1, TAP_KEY_F1 + 2, TAP_KEY_F1 + 3,
		TAP_KEY_ENTER, TAP_KEY_UP,   TAP_KEY_DOWN,   TAP_KEY_RIGHT,  TAP_KEY_LEFT,
	};
	const char *found = strchr(finals, final);

	return found && *found ? keys[found - finals] : TAP_KEY_NONE;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * @s: CSI or SS3 and its parameters, which end with @final. With CSI, a letter of F1..F4 has
 * another meaning unless parameters begin with "1;": CSI 24;80R is a cursor position.
 */
static uint32_t sequence_key(const char *s, char final)
{
	const char *parameters = s + 2;
	bool is_csi = s[1] == '[';

	if (is_digit(*parameters) && strchr("~$^@", final))
		return numbered_key(strtoul(parameters, NULL, 10));
	if (*parameters != final && !is_digit(*parameters))
		return TAP_KEY_NONE;
	if (is_csi && (final == 'M' || (strchr("PQRS", final) && memcmp(parameters, "1;", 2))))
		return TAP_KEY_NONE;
	return lettered_key(final);
}

static bool is_final(char c)
{
	return c >= 0x40 && c < 0x7f;
}

/*
 * CSI or SS3, parameters, a final byte. A byte that is part of no sequence ends it, too, and begins
 * the next key: a terminal aborts sequences so.
 */
static struct token sequence(const char *s, size_t nr)
{
	size_t i = 2;

	while (i < nr && s[i] >= 0x20 && s[i] < 0x40 && (s[i] != '$' || s[2] == '?'))
		i++;
	if (i == nr)
		return (struct token){ 0 };
	if (!is_final(s[i]) && s[i] != '$')
		return (struct token){ i, TAP_KEY_NONE };
	return (struct token){ i + 1, sequence_key(s, s[i]) };
}

/* F1..F5 of the Linux console: CSI [ A..E. */
static struct token console_key(const char *s, size_t nr)
{
	if (nr < 4)
		return (struct token){ 0 };
	if (s[3] < 'A' || s[3] > 'E')
		return (struct token){ 3, TAP_KEY_NONE };
	return (struct token){ 4, TAP_KEY_F1 + (uint32_t)(s[3] - 'A') };
}

/* OSC, DCS and so on: a terminal's late answer to another program's question. BEL or ST ends it. */
static struct token string(const char *s, size_t nr)
{
	size_t i = 2;

	while (i < nr && s[i] != '\a' && s[i] != ESC)
		i++;
	if (i == nr || (s[i] == ESC && i + 1 == nr))
		return (struct token){ 0 };
	if (s[i] == ESC)
		return (struct token){ s[i + 1] == '\\' ? i + 2 : i, TAP_KEY_NONE };
	return (struct token){ i + 1, TAP_KEY_NONE };
}

static struct token escaped(const char *s, size_t nr)
{
	struct token t;

	if (nr == 1)
		return (struct token){ 0 };
	if (s[1] == ESC)
		return (struct token){ 1, TAP_KEY_ESCAPE };
	if (nr > 2 && s[1] == '[' && s[2] == '[')
		return console_key(s, nr);
	if (s[1] == '[' || s[1] == 'O')
		return sequence(s, nr);
	if (s[1] && strchr("]PX^_", s[1]))
		return string(s, nr);
	t = plain_key(s + 1, nr - 1); /* pressed with Alt */
	return (struct token){ t.len ? t.len + 1 : 0, TAP_KEY_NONE };
}

/*
 * A sequence that is longer than the buffer: forget its middle, but not that its end is missing.
 * "?" begins parameters that no key has.
 */
static void shorten(struct tap_keys *k)
{
	bool at_end = k->bytes[k->nr - 1] == ESC;

	k->bytes[2] = '?';
	k->bytes[3] = ESC;
	k->nr = at_end ? 4 : 3;
}

bool tap_keys_take(struct tap_keys *k, bool complete, uint32_t *key)
{
	struct token t = { 0 };

	if (k->nr)
		t = *k->bytes == ESC ? escaped(k->bytes, k->nr) : plain_key(k->bytes, k->nr);
	if (!t.len && complete && k->nr)
		t = (struct token){ k->nr, k->nr == 1 && *k->bytes == ESC ? TAP_KEY_ESCAPE
									  : TAP_KEY_NONE };
	if (!t.len && k->nr == sizeof(k->bytes))
		shorten(k);
	if (!t.len)
		return false;
	*key = t.key;
	k->nr -= (unsigned int)t.len;
	memmove(k->bytes, k->bytes + t.len, k->nr);
	return true;
}
