#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every command has a manual page, its OPTIONS part is what the program's table says, and every
# page becomes a man page that a reader sees all names in. SCHEDTAP names the program.
root=$(cd "$(dirname "$0")/../.." && pwd)
SCHEDTAP=${SCHEDTAP:-$root/build/schedtap}
export SCHEDTAP
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$root/tests/golden/check.sh"

options_agree()
{
	"$root/tools/man-options" --stdout "$1" | diff -u --label page --label table "$1" -
}

# .TH NAME SECTION DATE VERSION
becomes_man()
{
	title=$(basename "$1" .md)
	"$root/tools/man-page" 9.8.7 "$1" >"$tmp/page" &&
		grep -E "^\.TH \"${title%.*}\" \"${title##*.}\" \"20[0-9]{2}-[0-9]{2}-[0-9]{2}\" \"schedtap 9\.8\.7\" " "$tmp/page"
}

names() { grep -oE '[A-Za-z0-9_]*[A-Za-z0-9]_[A-Za-z0-9_]*' | sort; }

# Names with an underscore: Markdown takes it for the start of emphasis, and as soon drops it. In the page that becomes_man made.
keeps_names()
{
	tr -d '\\*`' <"$1" | names >"$tmp/written"
	groff -t -man -Tutf8 -P-cbou -rLL=1000n "$tmp/page" | names | diff "$tmp/written" -
}

commands=$("$SCHEDTAP" __complete -- '')
[ "$commands" ] || { echo "Bail out! $SCHEDTAP names no commands"; exit 1; }
for command in $commands; do
	[ "$command" = help ] && continue # stands in schedtap(1)
	check "$command: options are the table's" options_agree "$root/docs/man/schedtap-$command.1.md"
done
for page in "$root"/docs/man/*.md; do
	rm -f "$tmp/page"
	for test in becomes_man:lowdown keeps_names:groff; do
		if command -v lowdown >/dev/null && command -v "${test#*:}" >/dev/null; then
			check "${page##*/} ${test%:*}" "${test%:*}" "$page"
		else
			n=$((n + 1))
			echo "ok $n - ${page##*/} ${test%:*} # SKIP no lowdown, or no ${test#*:}"
		fi
	done
done
echo "1..$n"
exit $failed
