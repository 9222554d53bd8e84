/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An empty <linux/tracepoint.h>, for the event headers when src/event/defs.c includes them. */
