// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* CSV as in RFC 4180, except that lines end in \n. */
#include "base/text.h"
#include "show/out/sheet.h"

const struct tap_style tap_style_csv = TAP_SHEET(',', tap_text_csv);
