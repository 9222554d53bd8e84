/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How `schedtap mark` asks recorders for a mark: it finds the recorders of its network namespace by
 * the names of their abstract datagram sockets, sends each one a request, and waits for an answer
 * of one byte.
 */
#ifndef TAP_RECORD_SESSION_MARK_REQUEST_H
#define TAP_RECORD_SESSION_MARK_REQUEST_H

#include <stdint.h>

#define TAP_MARK_SOCKET "schedtap-record-" /* followed by "PID.NUMBER" */
#define TAP_MARK_MAX_TEXT 1000u /* bytes, without the NUL */

struct tap_mark_request {
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	char text[TAP_MARK_MAX_TEXT]; /* not NUL-terminated: ends with the datagram */
};

#endif
