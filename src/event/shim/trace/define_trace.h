/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An empty <trace/define_trace.h>: src/event/defs.c itself includes all event headers again for
 * each stage.
 */
