#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs that end at once, on a busy machine, and many at the same time: all of their events are recorded, each once. SOAK=1: 1000 programs, and
# 50 times 200.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
FIRE=$(dirname "$SCHEDTAP")/tests/tracepoint/test_decoded
EMIT=$(dirname "$SCHEDTAP")/tests/tracepoint/emit
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. "$here/lib.sh"

[ -x "$FIRE" ] || plan_skip "$FIRE is not built"
mkdir -m 700 "$scratch/run"
export XDG_RUNTIME_DIR=$scratch/run

# Without load, the recorder is always faster than the program.
all_are_recorded()
{
	local nr=40 all i

	[ -z "$SOAK" ] || nr=1000
	for i in 1 2 3 4; do perl -e '1 while 1' & done
	for ((i = 0; i < nr; i++)); do
		run 0 "$SCHEDTAP" record -o r.dat -b user -e 'decoded:*' -- "$FIRE" fire
		cp err record.err
		run 0 "$SCHEDTAP" dump -i r.dat
		[ "$(wc -l <out)" = "${all:=$(wc -l <out)}" ] && [ "$all" -ge 8 ] || fail "recording $i: $(cat out record.err)"
	done
}

# Some are found by their link when they have no events yet, and have ended when they are looked at again.
many_at_once()
{
	local nr=4 i

	[ -z "$SOAK" ] || nr=50
	for ((i = 0; i < nr; i++)); do
		run 0 "$SCHEDTAP" record -o r.dat -b user -e rules:plain -- \
			sh -c 'for i in $(seq 200); do "$1" 1000 0 >/dev/null & done; wait' sh "$EMIT"
		cp err record.err
		run 0 "$SCHEDTAP" dump -i r.dat
		[ "$(wc -l <out)" = 200000 ] || fail "recording $i has $(wc -l <out) events: $(cat record.err)"
		must [ -z "$(sort out | uniq -d)" ]
	done
}

check 'each event of 200 programs at once' many_at_once
check 'all events of a program that ends at once' all_are_recorded
done_testing
