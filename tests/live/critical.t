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

# Burn $s seconds of CPU time, however busy the machine is. The loads run as real-time tasks, so that no
# other task runs in between.
busy='my $s = shift; 1 while (times)[0] + (times)[1] < $s;'

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

# The command is known without an option. It sleeps, and then works. The timer comes upon a task that can be seen.
command_of_record()
{
	local begin

	realtime_or_skip
	begin=$(date +%s%N)
	named_perl c-beside
	cat >load <<-END
		chrt -f 5 taskset -c 1 ./c-beside -e '$busy' 0.3 &
		exec taskset -c 1 perl -e 'select(undef, undef, undef, 0.2); $busy' 0.2
	END
	record -- chrt -f 10 sh load
	"$SCHEDTAP" critical -i c.dat --csv >rows
	must [ "$(ms_of path_ns .)" -le $((($(date +%s%N) - begin) / 1000000)) ]
	must [ "$(ms_of timer_ns .)" -ge 150 ]
	must [ "$(ms_of running_ns perl)" -ge 150 ]
}

# c-hog preempts the lock holder once c-waiter waits for the lock: the path of the waiter shows the holder
# as preempted.
lock_of_a_preempted()
{
	realtime_or_skip
	rm -f held hogs
	named_perl c-holder c-hog c-waiter
	cat >load <<-END
		taskset -c 1 ./c-holder -e '
			open(LOCK, ">", "lock") && flock(LOCK, 2) && open(HELD, ">", "held") or die;
			1 until -e "hogs" || (times)[0] + (times)[1] > 5' &
		until [ -e held ] || ! kill -0 \$!; do sleep 0.001; done
		{
			until grep -q -- "-> FLOCK .* \$\$ " /proc/locks || ! kill -0 \$\$; do sleep 0.001; done
			exec chrt -f 20 taskset -c 1 ./c-hog -e 'open(HOGS, ">", "hogs"); $busy' 0.1
		} &
		exec ./c-waiter -e 'open(LOCK, ">", "lock") && flock(LOCK, 2) or die'
	END
	record -- chrt -f 10 sh load
	"$SCHEDTAP" critical -i c.dat --csv >rows
	must [ "$(ms_of preempted_ns c-holder)" -ge 50 ]
	must [ "$(ms_of path_ns c-hog)" = 0 ]
}

# A chain of programs: the time is that of who works, not of those that wait for it.
pipeline()
{
	realtime_or_skip
	named_perl c-works
	record -- chrt -f 10 sh -c "./c-works -e '$busy print 1' 0.2 | cat | cat"
	"$SCHEDTAP" critical -i c.dat --csv >rows
	must [ "$(ms_of path_ns c-works)" -ge 150 ]
	must [ "$(ms_of path_ns cat)" -lt "$(ms_of path_ns c-works)" ]
}

# A kernel that hides tasks hides the wakeups that come upon them: then a path is unknown. Not so each time.
once_of_five()
{
	for try in 1 2 3 4 5; do
		("$1") && return
		echo "try $try failed"
		must [ "$(ms_of unknown_ns .)" -gt 0 ]
	done
	fail "five times"
}

check 'the command that was recorded' once_of_five command_of_record
check 'a lock, and its holder is preempted' once_of_five lock_of_a_preempted
check 'a pipeline' once_of_five pipeline
done_testing
