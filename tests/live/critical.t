#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Paths with a cause made on purpose: `critical` names it.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
. "$here/lib.sh"

needs_root
scratch=$(mktemp -d /tmp/schedtap-critical-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT

busy='use Time::HiRes "time"; my $end = time + shift; 1 while time < $end;'

named_perl()
{
	for name; do [ -e "$name" ] || cp "$(command -v perl)" "$name"; done
}

record()
{
	"$SCHEDTAP" record -o c.dat -e sched -e task --stack sched_waking "$@" 2>err || fail "$(cat err)"
}

# ms_of KEY PATTERN: of the rows of the CSV whose text fits, the column's sum.
ms_of()
{
	awk -F, -v key="$1" -v pattern="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) column = i }
		NR > 1 && $0 ~ pattern { ns += $column }
		END { printf("%d\n", ns / 1e6) }' rows
}

# The command is known without an option. It sleeps, and then works.
command_of_record()
{
	record -- perl -e "select(undef, undef, undef, 0.2); $busy" 0.2
	"$SCHEDTAP" critical -i c.dat --csv >rows
	must [ "$(ms_of timer_ns .)" -ge 150 ]
	must [ "$(ms_of running_ns perl)" -ge 150 ]
	must [ "$(ms_of path_ns .)" -le 2000 ]
}

# Who has the lock is preempted by another one: who waits for it waits for that.
lock_of_a_preempted()
{
	named_perl c-holder c-hog
	taskset -c 1 ./c-hog -e "$busy" 30 &
	hog=$!
	cat >load <<-END
		taskset -c 1 nice -n 10 flock lock ./c-holder -e '$busy' 0.05 &
		sleep 0.05
		exec flock lock true
	END
	record -- sh load
	kill $hog
	"$SCHEDTAP" critical -i c.dat --csv >rows
	must [ "$(ms_of preempted_ns c-holder)" -ge 50 ]
	must [ "$(ms_of preempted_ns .)" -lt $((2 * $(ms_of preempted_ns c-holder))) ]
}

# A chain of programs: the time is that of who works, not of those that wait for it.
pipeline()
{
	named_perl c-works
	record -- sh -c "./c-works -e '$busy print 1' 0.2 | cat | cat"
	"$SCHEDTAP" critical -i c.dat --csv >rows
	must [ "$(ms_of path_ns c-works)" -ge 150 ]
	must [ "$(ms_of path_ns cat)" -lt 100 ]
}

# A kernel that hides tasks hides the wakeups that come upon them: then a path is unknown. Not so each time.
once_of_five()
{
	for try in 1 2 3 4 5; do
		("$1") && return
		echo "try $try failed"
	done
	fail "five times"
}

check 'the command that was recorded' once_of_five command_of_record
check 'a lock, and its holder is preempted' once_of_five lock_of_a_preempted
check 'a pipeline' once_of_five pipeline
done_testing
