#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Events whose print formats other readers do not all know (tests/tracepoint/decoded.h), recorded: schedtap
# prints them, and trace-cmd reads the file.
top=$(cd "$(dirname "$0")/../.." && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$top/build/schedtap}")
FIRE=${PROGRAMS:-$(dirname "$SCHEDTAP")/tests/tracepoint}/test_decoded
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. "$top/tests/live/lib.sh"

mkdir -m 700 "$scratch/run"
export XDG_RUNTIME_DIR=$scratch/run
file=$scratch/r.dat

recorded()
{
	"$SCHEDTAP" record -o "$file" -b user -e 'decoded:*' -- "$FIRE" fire >log 2>&1 || fail "$(cat log)"
}

text()
{
	"$SCHEDTAP" dump -i "$file" | sed 's/.* decoded:/decoded:/' >got
	must grep -qxF 'decoded:literal: 100% text' got
	must grep -qF 'decoded:reals: -1234.567800 -1234.57 -1.234568e+03 -1234.568|0.1|   1234.57|-1234.57  |' got
	must grep -qF 'p: 00000000: 54 68 65 20 62 79 74 65 73 20 6f 66 20 61 20 64  The bytes of a d' got
	must grep -qxF 'decoded:address: 0x5550aa 0x5550aa 0x5550aa 0x5550aa 0x5550aa 0x5550aa' got
	must grep -qxF 'decoded:sized: 8 {0x7,0x7,0x7} {0x7,0x7}' got
	must grep -qF 'decoded:members: id=7' got
}

json()
{
	"$SCHEDTAP" dump -i "$file" --json >got
	must grep -qF '"fields":{"f":0.1,"x":-1234.5678,"few":[-1234.5678,1234.5678],"more":[0.1,-0.1]}' got
	must grep -qF '"fields":{"id":7,"point":[1,0,0,0,2,0,3,0]}' got
}

trace_cmd()
{
	command -v trace-cmd >/dev/null || skip 'no trace-cmd on this machine'
	trace-cmd report "$file" >got 2>err || fail "$(cat err)"
	[ "$(grep -cE ': (literal|reals|dump|sized|address|members):' got)" = 6 ] || fail "$(cat got)"
	must grep -q 'literal: *100% text' got
	must grep -q 'sized: *8 7 7 7 7 7' got
	must grep -q 'members: *id=7' got
}

check 'events of such formats are recorded' recorded
check 'schedtap prints them' text
check 'and as JSON' json
check 'trace-cmd reads them' trace_cmd
done_testing
