/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a mark is asked for: `schedtap mark` finds the recorders of its network namespace by the
 * names of their datagram sockets, which are abstract ones, sends each of them a request, and waits
 * for one byte as an answer.
 */
#ifndef TAP_RECORD_SESSION_MARK_REQUEST_H
#define TAP_RECORD_SESSION_MARK_REQUEST_H

#include <stdint.h>

#define TAP_MARK_SOCKET "schedtap-record-" /* then "PID.NUMBER" */
#define TAP_MARK_MAX_TEXT 1000u /* bytes, without a NUL */

struct tap_mark_request {
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	char text[TAP_MARK_MAX_TEXT]; /* as much as was sent */
};

#endif
