#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs that end at once, on a busy machine: all of their events are recorded. SOAK=1: 1000 of them.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
FIRE=$(dirname "$SCHEDTAP")/tests/tracepoint/test_decoded
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. "$here/lib.sh"

[ -x "$FIRE" ] || plan_skip "$FIRE is not built"
mkdir -m 700 "$scratch/run"
export XDG_RUNTIME_DIR=$scratch/run

# Without load, the recorder is always faster than the program.
all_are_recorded()
{
	local nr=60 all i

	[ -z "$SOAK" ] || nr=1000
	for i in 1 2 3 4; do perl -e '1 while 1' & done
	for ((i = 0; i < nr; i++)); do
		run 0 "$SCHEDTAP" record -o r.dat -b user -e 'decoded:*' -- "$FIRE" fire
		cp err record.err
		run 0 "$SCHEDTAP" dump -i r.dat
		[ "$(wc -l <out)" = "${all:=$(wc -l <out)}" ] && [ "$all" -ge 8 ] || fail "recording $i: $(cat out record.err)"
	done
}

check 'all events of a program that ends at once' all_are_recorded
done_testing
