/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Nothing: the system's <linux/signal.h> is not for programs that have the C library's types, and
 * <signal.h> makes a macro of sa_handler, which a field of trace/events/signal.h is called.
 */
