/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Errors: a negative errno is the kind of failure, a sentence describes it.
 *
 * Every function that can fail returns 0 (or a count) on success and -errno on failure. Functions
 * that take a struct tap_err also write one sentence to it: lower case, no full stop, first what
 * failed, last what to do about it. The caller owns the struct and may pass NULL if it does not
 * need the sentence.
 */
#ifndef SCHEDTAP_ERR_H
#define SCHEDTAP_ERR_H

#ifdef __cplusplus
extern "C" {
#endif

#define TAP_API __attribute__((visibility("default")))
#define TAP_MUST_CHECK __attribute__((warn_unused_result))
#define TAP_PRINTF(fmt_arg, first_arg) __attribute__((format(printf, fmt_arg, first_arg)))

/** struct tap_err - Describes the last failure. */
struct tap_err {
	int code; /* -errno; 0 if no call has failed */
	char text[1024]; /* NUL-terminated; may contain hostile names, so escape it for terminals */
};

/**
 * tap_err_set() - Fill in an error and return its code.
 * @err: the error to fill in, or NULL.
 * @code: -errno.
 * @fmt: the sentence; %m prints errno as it was when tap_err_set() was called.
 *
 * Return: @code, so that reporting an error takes a single return statement.
 */
TAP_API int tap_err_set(struct tap_err *err, int code, const char *fmt, ...) TAP_PRINTF(3, 4);

/** tap_err_nomem() - Report that memory ran out. Return: -ENOMEM. */
TAP_API int tap_err_nomem(struct tap_err *err);

#ifdef __cplusplus
}
#endif
#endif
