#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The page's modules that need no browser (modules.mjs).
command -v node >/dev/null || { echo '1..0 # SKIP no node on this machine'; exit 0; }
exec node "$(dirname "$0")/modules.mjs"
