#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# docs/own-events.md as it stands: its file is written, its commands run, each with events in what it recorded.
top=$(cd "$(dirname "$0")/../.." && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$top/build/schedtap}")
doc=$top/docs/own-events.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. "$top/tests/live/lib.sh"
needs_root
mkdir "$scratch/bin"
ln -s "$SCHEDTAP" "$scratch/bin/schedtap"
export PATH=$scratch/bin:$PATH

awk -v to="$scratch" '/^```c [a-z]/ { name = to "/" $2; next } /^```/ { name = "" } name { print > name }' "$doc"

# Under a load, so that there is something to record.
run_it()
{
	local load

	case $1 in *uprobe.dat*) [ -e /sys/bus/event_source/devices/uprobe/type ] || skip 'this kernel has no uprobes' ;; esac
	cp "$scratch"/*.h "$scratch"/*.dat . 2>/dev/null || true
	while :; do sleep 0.005; sleep 0.005 | cat; done &
	load=$!
	eval "$1" >out 2>err || { kill $load; fail "$(cat err)"; }
	kill $load
	wait $load 2>/dev/null || true
	must_not grep -q 'no event was recorded' err
	case $1 in *' dump '* | *' list '*) must test -s out ;; esac
	cp ./*.dat "$scratch" 2>/dev/null || true
}

check_page "$doc" 9 run_it
done_testing
