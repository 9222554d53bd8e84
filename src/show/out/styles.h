/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Styles that an option chooses: TAP_STYLE(x, help) means tap_style_x, chosen by --x. The default
 * is tap_style_text. The includer defines TAP_STYLE. No include guard: the file is included more
 * than once.
 */
TAP_STYLE(json, "print JSON, times in nanoseconds")
TAP_STYLE(csv, "print CSV, times in nanoseconds")
