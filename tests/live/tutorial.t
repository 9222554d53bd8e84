#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# docs/tracepoints.md as it stands: its program is built against an installed library, its commands run,
# and each of its events lies in a slice of the thread that emitted it.
top=$(cd "$(dirname "$0")/../.." && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$top/build/schedtap}")
build=$(dirname "$SCHEDTAP")
doc=$top/docs/tracepoints.md
. "$top/tests/live/lib.sh"
needs_root
apart
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

export PATH=$scratch/usr/bin:$PATH PKG_CONFIG_PATH=$scratch/usr/lib/pkgconfig
make -s -C "$top" B="$build" PREFIX="$scratch/usr" install >"$scratch/install.log" 2>&1 ||
	{ sed 's/^/# /' "$scratch/install.log" >&2; exit 1; }

# the files of the page, and the commands after "$ ", "# " and four spaces
files()
{
	awk '/^```c [a-z]/ { name = $2; next } /^```/ { name = "" } name { print > name }' "$doc"
}

command_with()
{
	local found

	found=$(sed -n 's/^\(# \|\$ \|    \)\(.*\)/\2/p' "$doc" | grep -F -- "$1" | head -n 1)
	[ -n "$found" ] || fail "the page has no command with '$1'"
	echo "$found"
}

build_it()
{
	files
	eval "$(command_with 'cc -O2') -Wall -Wextra -Werror $1"
}

shared()
{
	build_it "-Wl,-rpath,$scratch/usr/lib"
	cp requests "$scratch/requests"
	must ./requests >out
}

static_binary()
{
	build_it -static
	must_not grep -q 'interpreter' <(readelf -l requests)
	must ./requests >out
}

recorded()
{
	local row

	cp "$scratch/requests" .
	eval "$(command_with 'schedtap record')" >out 2>err || fail "$(cat err)"
	eval "$(command_with 'schedtap timehist')" >rows
	for row in request_start request_parsed request_done; do
		[ "$(grep -c "request:$row: id=" rows)" = 200 ] || fail "$row: $(head -n 30 rows)"
	done
	eval "$(command_with 'schedtap timehist') --json" >rows.json
	"$top/tests/live/in_slices" rows.json 600
	trace-cmd report requests.dat >reported 2>/dev/null
	must grep -q 'request_done: *id=200 bytes=' reported
}

own_recorder()
{
	cp "$scratch/requests" .
	eval "$(command_with 'TAP_TRACE=')" >out
	# no waiting: the file is complete when the program has ended
	[ "$(schedtap dump -i own.dat | grep -c 'request:')" = 600 ] || fail "$(schedtap dump -i own.dat | head)"
}

# The commands of the table, each while the program runs; a mark goes to a recorder.
table()
{
	local command nr=0

	files
	sed -i 's/id <= 200;/id;/' requests.c # until it is killed
	eval "$(command_with 'cc -O2') -Wl,-rpath,$scratch/usr/lib"
	./requests &
	PID=$!
	export PID
	wait_for has_program
	start marked.dat -e sched_waking
	while read -r command; do
		nr=$((nr + 1))
		command=${command/schedtap record/schedtap record -d 0.5}
		run 0 bash -c "$command"
		must_not grep -q 'no program had' err
	done < <(sed -n '/^## Coming from LTTng-UST/,/^## Know/p' "$doc" | grep -o '`schedtap [^`]* *[^`]*`' | tr -d '`' |
		grep -v '^schedtap tracefs$')
	[ $nr -ge 16 ] || fail "only $nr commands"
	ends 0 INT
}

has_program()
{
	"$SCHEDTAP" list request:request_done | grep -q "\[$PID\]"
}

check 'the program builds with pkg-config and runs' shared
check 'and as a static binary' static_binary
check 'recorded with the scheduler, every event lies in a slice of its thread' recorded
check 'a program brings its recorder along' own_recorder
check 'what users of LTTng-UST use instead' table
done_testing
