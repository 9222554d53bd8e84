/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* src/event/defs.c runs the stages itself, over all families at once. */
