/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of test_static_key.c share. */
#ifndef TAP_TESTS_STATIC_KEY_SITES_H
#define TAP_TESTS_STATIC_KEY_SITES_H

#include <schedtap/static_key.h>

DECLARE_STATIC_KEY_FALSE(shared_key);

/* static_key_load.c: always built to load keys */
bool load_sees_shared_key(void);

/* static_key_object.c: a library that comes and goes; its keys are switched through this */
struct object {
	bool (*sees_false)(void), (*sees_true)(void); /* keys that are initially so */
	bool (*sees_plain)(void); /* on at first, in code that was built as off */
	void (*toggle)(bool on);
};

#endif
