/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Serve the tally's numbers to Prometheus, over HTTP at /metrics. */
#ifndef TAP_SHOW_METRICS_SERVE_H
#define TAP_SHOW_METRICS_SERVE_H

#include <stdbool.h>

#include <schedtap/err.h>

struct tap_serve;

struct tap_serve_opts {
	const char *address; /* of tap_listen() */
	unsigned int max_cgroups; /* of struct tap_tally_opts */
	unsigned int max_series; /* of cgroups, in one answer */
	unsigned int depth; /* of struct tap_totals, as .glob */
	const char *glob;
	bool from_waking; /* of struct tap_tally_opts */
};

/*
 * Start to count, and to answer. @opts: borrowed until the close. Return: 0; -EINVAL: .address is
 * wrong; -EOPNOTSUPP: no libmicrohttpd; -errno; each with a sentence. Close it in either case.
 */
int tap_serve_open(struct tap_serve **out, const struct tap_serve_opts *opts, struct tap_err *err);
/* Return: where it answers, "http://127.0.0.1:PORT/metrics" or "unix:PATH". */
const char *tap_serve_address(const struct tap_serve *s);
/* Read the tally once per second, until @fd is readable. Return: 0; -errno with a sentence. */
int tap_serve_run(struct tap_serve *s, int fd, struct tap_err *err);
/* Find the names of containers again. */
void tap_serve_reload(struct tap_serve *s);
void tap_serve_close(struct tap_serve *s);

#endif
