// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include <schedtap/err.h>

int tap_err_set(struct tap_err *err, int code, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	errno = saved; /* vsnprintf() reads it for %m */
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return code;
}

int tap_err_nomem(struct tap_err *err)
{
	return tap_err_set(err, -ENOMEM, "out of memory");
}
