/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the client sends to the driver: a struct request, with the client's working directory and
 * its open descriptors attached (SCM_RIGHTS), then the arguments and the environment, each text
 * with its NUL. The answer is the status of waitpid(2), an int.
 */
#ifndef TAP_TESTS_DRIVER_REQUEST_H
#define TAP_TESTS_DRIVER_REQUEST_H

#include <stdint.h>

#define REQUEST_MAX_FDS 16 /* descriptors 0 to 15 are passed on */

struct request {
	unsigned int open_fds; /* a bit for each of them that is open */
	unsigned int umask;
	uint64_t ignored; /* bit N - 1: signal N is ignored, which exec(2) leaves so */
	unsigned int argc;
	unsigned int envc;
	unsigned int bytes; /* of the texts */
};

#endif
