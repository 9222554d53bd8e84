/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys out of the bytes that a terminal sends. */
#ifndef TAP_SHOW_SCREEN_KEYS_H
#define TAP_SHOW_SCREEN_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A key: a Unicode character, or one of these, which are above all characters. */
enum tap_key {
	TAP_KEY_NONE = 0x110000, /* the bytes are no key that is known: ignore it */
	TAP_KEY_UP,
	TAP_KEY_DOWN,
	TAP_KEY_LEFT,
	TAP_KEY_RIGHT,
	TAP_KEY_HOME,
	TAP_KEY_END,
	TAP_KEY_PAGE_UP,
	TAP_KEY_PAGE_DOWN,
	TAP_KEY_ESCAPE,
	TAP_KEY_ENTER, /* CR or LF */
	TAP_KEY_BACKSPACE, /* BS or DEL */
	TAP_KEY_DELETE,
	TAP_KEY_F1,
	TAP_KEY_F12 = TAP_KEY_F1 + 11,
};

/* Bytes that are not yet a whole key. */
struct tap_keys { /* zeroed: none */
	char bytes[32];
	unsigned int nr;
};

/* Add bytes, as many as there is space for. Return: their number. */
size_t tap_keys_add(struct tap_keys *k, const char *bytes, size_t nr);
/*
 * Take the next key. @complete: no more bytes came for 50 ms, so that a lone ESC is the key Escape
 * and not the beginning of another one. Return: true: *@key is set; false: more bytes are needed.
 */
bool tap_keys_take(struct tap_keys *k, bool complete, uint32_t *key);

#endif
