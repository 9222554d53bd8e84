#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# browser.t in Firefox.
BROWSER=firefox exec perl "$(dirname "$0")/browser.t"
