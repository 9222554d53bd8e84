/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Markdown tables, for text that is passed on rather than read on a terminal. Events are not
 * supported.
 */
#ifndef TAP_OUT_MARKDOWN_H
#define TAP_OUT_MARKDOWN_H

#include "show/out/page.h"

extern const struct tap_style tap_style_markdown;

#endif
