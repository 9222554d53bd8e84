/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The styles that options choose: TAP_STYLE(x, help) stands for tap_style_x, which --x chooses.
 * Without such an option it is tap_style_text. The includer defines TAP_STYLE. No include guard: it
 * is read more than once.
 */
TAP_STYLE(json, "print JSON, times in nanoseconds")
TAP_STYLE(csv, "print CSV, times in nanoseconds")
