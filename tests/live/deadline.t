#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `check deadline` passes deadline tasks that keep their deadlines and reports those that miss them on purpose.
# alone: a real-time task leaves other tests no CPU
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
. "$here/lib.sh"

needs_root
"$SCHEDTAP" list sched_dl_pick | grep -q ^bpf || plan_skip "no sched_dl_pick"
scratch=$(mktemp -d /tmp/schedtap-deadline-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT

jobs=8

# jobs_of MS END: that take so much CPU time of the 20 ms within 50 ms that each may have, and end by sleeping or yielding. What it takes perl
# to start is none of them.
jobs_of()
{
	"$SCHEDTAP" record -o d.dat -e sched -e dl -- perl -MTime::HiRes=clock,sleep -e '
		system("chrt -d -T 20000000 -D 50000000 -P 50000000 -p 0 $$") == 0 or die;
		for (1 .. $ARGV[0]) {
			my $end = clock + $ARGV[1] / 1000;
			1 while clock < $end;
			$ARGV[2] eq "yield" ? syscall(24) : sleep(0.1); # sched_yield(2) of x86-64
		}' $jobs "$1" "$2" 2>err || fail "$(cat err)"
	must grep -q ' 0 lost' err
	"$SCHEDTAP" check "$here/../../rules/deadline.rules" d.dat >said || true
	cat said
}

kept()
{
	jobs_of 5 "$1"
	must grep -qE '^(passed|undecided) .*deadline.misses is 0,' said
}

# Each takes three of the periods. Whether the first one does depends on when it was made a deadline task. A kernel that hides tasks leaves some
# undecided.
missed()
{
	jobs_of 60 sleep
	must grep -qE "^failed .*deadline.misses is ($jobs|$((jobs - 1))|[4-6], at least [4-6] and at most ([7-9]|[1-9][0-9]))," said
}

# picks_beside SECONDS POLICY: of a task of the fair class, for so long on a CPU where another one does not stop; the deadline server
# steps in after one second.
picks_beside()
{
	local seconds=$1

	shift
	taskset -c 1 chrt "$@" perl -e '1 while 1' &
	hog=$!
	"$SCHEDTAP" record -o d.dat -e sched -e dl -- timeout $seconds taskset -c 1 perl -e '1 while 1' 2>err || true
	kill $hog
	"$SCHEDTAP" check dl-server d.dat >said || true
	cat said
}

starved()
{
	bpftool btf dump file /sys/kernel/btf/vmlinux | grep "'dl_server'" >/dev/null || skip "this kernel has no deadline server"
	realtime_or_skip
	picks_beside 2 -f 50
	must grep -qE '^failed .*deadline.server.picks is [1-9]' said
	if bpftool btf dump file /sys/kernel/btf/vmlinux | grep "'fair_server'" >/dev/null; then
		must grep -qE '^failed .*deadline.server.fair.picks is [1-9]' said
		must grep -qE '^(passed|undecided) .*deadline.server.ext.picks is 0' said
	fi
}

not_starved()
{
	picks_beside 1.5 -o 0
	must grep -qE '^(passed|undecided) .*deadline.server.picks is 0' said
}

check "jobs that take less than their budget" kept sleep
[ "$(uname -m)" != x86_64 ] || check "jobs that end by yielding" kept yield
check "jobs that take more" missed
check "a deadline server lets a starved task run" starved
check "a deadline server does not run a task that gets its CPU in turn" not_starved
done_testing
