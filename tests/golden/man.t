#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every command has a manual page, its OPTIONS part is what the program's table says, and every
# page becomes a man page. SCHEDTAP names the program.
root=$(cd "$(dirname "$0")/../.." && pwd)
SCHEDTAP=${SCHEDTAP:-$root/build/schedtap}
export SCHEDTAP
n=0
failed=0

# check NAME COMMAND...: one TAP line; what the command prints becomes its comment.
check()
{
	n=$((n + 1))
	name=$1
	shift
	if said=$("$@" 2>&1); then
		echo "ok $n - $name"
	else
		failed=1
		echo "not ok $n - $name"
		echo "$said" | sed 's/^/# /' >&2
	fi
}

options_agree()
{
	"$root/tools/man-options" --stdout "$1" | diff -u --label page --label table "$1" -
}

becomes_man()
{
	lowdown -s -Tman --out-no-smarty "$1" | grep -q "^\.TH \"$(basename "$1" | sed 's/\..*//')\" "
}

commands=$("$SCHEDTAP" __complete -- '')
[ "$commands" ] || { echo "Bail out! $SCHEDTAP names no commands"; exit 1; }
for command in $commands; do
	[ "$command" = help ] && continue # stands in schedtap(1)
	check "$command: options are the table's" options_agree "$root/docs/man/schedtap-$command.1.md"
done
for page in "$root"/docs/man/*.md; do
	name=$(basename "$page")
	if command -v lowdown >/dev/null; then
		check "$name becomes a man page" becomes_man "$page"
	else
		n=$((n + 1))
		echo "ok $n - $name becomes a man page # SKIP no lowdown"
	fi
done
echo "1..$n"
exit $failed
