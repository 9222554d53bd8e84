/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Errors: a negative errno says what kind, a sentence says what happened.
 *
 * Every function that can fail returns 0 (or a count) on success and -errno on
 * failure. Those that take a struct tap_err also leave one sentence there: lower
 * case, no full stop, what failed first and what to do about it last. The caller
 * owns the struct; passing NULL means that the sentence is not wanted.
 */
#ifndef SCHEDTAP_ERR_H
#define SCHEDTAP_ERR_H

#ifdef __cplusplus
extern "C" {
#endif

#define TAP_API __attribute__((visibility("default")))
#define TAP_MUST_CHECK __attribute__((warn_unused_result))
#define TAP_PRINTF(fmt_arg, first_arg) __attribute__((format(printf, fmt_arg, first_arg)))

/** struct tap_err - The last failure, as a sentence. */
struct tap_err {
	int code; /* -errno, 0 while nothing failed */
	char text[1024]; /* NUL-terminated, may hold hostile names: escape before a terminal */
};

/**
 * tap_err_set() - Fill in an error and return its code.
 * @err: where to, or NULL.
 * @code: -errno.
 * @fmt: the sentence; %m is the text of errno as it was at the call.
 *
 * Return: @code, so that an error is one line at the place where it happens.
 */
TAP_API int tap_err_set(struct tap_err *err, int code, const char *fmt, ...) TAP_PRINTF(3, 4);

/** tap_err_nomem() - Say that memory ran out. Return: -ENOMEM. */
TAP_API int tap_err_nomem(struct tap_err *err);

#ifdef __cplusplus
}
#endif
#endif
