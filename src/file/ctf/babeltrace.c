// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/ctf/babeltrace.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

#define LIBRARY "libbabeltrace2.so.0"

#ifdef TAP_STATIC
int tap_babeltrace_load(struct tap_babeltrace *bt, struct tap_err *err)
{
	(void)bt;
	return tap_err_set(err, -EOPNOTSUPP,
			   "a statically linked schedtap cannot read CTF traces, because it cannot "
			   "load " LIBRARY);
}
#else
int tap_babeltrace_load(struct tap_babeltrace *bt, struct tap_err *err)
{
	/* it stays loaded: it does not expect to be closed */
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool has_all = true;

	if (!library)
		return tap_err_set(err, -EOPNOTSUPP,
				   "cannot read CTF traces without " LIBRARY
				   ": install it (Debian: libbabeltrace2-0)");
#define FIND(name) has_all &= !!(bt->name = (__typeof__(&bt_##name))dlsym(library, "bt_" #name));
	TAP_BABELTRACE_FUNCTIONS(FIND)
	return has_all ? 0
		       : tap_err_set(err, -EOPNOTSUPP,
				     "the " LIBRARY " of this machine lacks functions");
}
#endif
