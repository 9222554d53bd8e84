// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "record/module/load.h"
#include "main_of_cases.h"

static const struct refused_case {
	const char *name;
	int error, want;
	const char *says; /* a part of the sentence */
} cases[] = {
	{ "loaded already", EEXIST, -EEXIST, "the schedtap module is already loaded" },
	{ "another vermagic", ENOEXEC, -ENOEXEC,
	  "load the module 'a.ko': the module was built for another kernel" },
	{ "another checksum of a symbol", EINVAL, -ENOEXEC,
	  "built with the headers of another kernel" },
	{ "a symbol that is not there", ENOENT, -ENOEXEC, "the kernel lacks or does not export" },
	{ "unsigned, where signatures are enforced", EKEYREJECTED, -EPERM,
	  "only signed modules (Secure Boot)" },
	{ "the same, before 5.4", ENOKEY, -EPERM, "only signed modules (Secure Boot)" },
	{ "a damaged signature", EBADMSG, -EPERM, "the module's signature is damaged" },
	{ "no privileges, or lockdown", EPERM, -EPERM,
	  "root (CAP_SYS_MODULE), a kernel that is not locked down" },
	{ "no memory", ENOMEM, -ENOMEM,
	  "the kernel cannot load the module 'a.ko': Cannot allocate memory" },
};

static void run_case(void **state)
{
	const struct refused_case *c = *state;
	struct tap_err err;

	assert_int_equal(tap_module_load_refused(c->error, "a.ko", &err), c->want);
	if (!strstr(err.text, c->says))
		fail_msg("'%s' does not say '%s'", err.text, c->says);
}

MAIN_OF_CASES(cases, run_case)
