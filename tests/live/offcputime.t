#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Time off CPU by task, as offcputime of bcc has it, which counts in the kernel beside the recording.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
. "$here/lib.sh"

needs_root
PATH=$PATH:/usr/sbin
type offcputime >/dev/null 2>&1 || plan_skip "no offcputime on this machine (libbpf-tools)"
scratch=$(mktemp -d /tmp/schedtap-offcputime-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT

# Threads that sleep, run, wait for each other's lock and for a CPU, begun by a line and over before the next one is read.
program='
import sys, threading, time
def work(turn):
    for _ in range(100):
        time.sleep(0.002 * (turn + 1))
        end = time.monotonic() + 0.002
        while time.monotonic() < end: pass
sys.stdin.readline()
threads = [threading.Thread(target=work, args=(turn,)) for turn in range(3)]
for t in threads: t.start()
for t in threads: t.join()
print("over", flush=True)
sys.stdin.readline()'

# offcputime and the recorder start before the threads and end after them. offcputime prints, for each stack, a line
# "- COMM (TID)" and after it a number of microseconds.
side_by_side()
{
	mkfifo begin over
	exec 3<>begin 4<>over
	taskset -c 1 python3 -c "$program" <&3 >&4 3<&- &
	python=$!
	offcputime -p $python --stack-storage-size=16384 600 >off.txt 2>off.err &
	off=$!
	for _ in $(seq 100); do
		if ls -l /proc/$off/fd | grep -q bpf_link; then break; fi
		sleep 0.2
	done
	"$SCHEDTAP" record -o off.dat -e sched --stack sched_switch -- sh -c 'echo >&3; read -r line <&4' 2>err || fail "$(cat err)"
	kill -INT $off
	wait $off || true
	echo >&3
	wait $python
	must grep -q ' 0 lost' err
}

# Of TID: ns asleep and waiting afterwards, and waiting after it was taken off. Not the wait before it ran for the first time, which has
# no stack, and of which offcputime does not know.
ours()
{
	for of in off-cpu preemptions; do
		"$SCHEDTAP" export -i off.dat --of $of -t "$1" || return
	done | awk '!/\[no stack\]/ { ns += $NF } END { printf("%.0f", ns) }'
}
theirs() { awk -v tid="($1)" '$1 == "-" && $NF == tid { getline; us += $1 } END { printf("%.0f", 1000 * us) }' off.txt; }
switches_of() { "$SCHEDTAP" dump -i off.dat -e sched_switch -f "prev_pid == $1" | wc -l; }

# It reads the clock in a program of its own, for who comes only when it has walked the stacks of who goes: some 10 us each, and more
# where a hypervisor or an interrupt comes between.
sums_agree()
{
	local nr=0 a b n

	side_by_side
	for tid in $("$SCHEDTAP" dump -i off.dat -e sched_wakeup_new -p $python | sed -n 's/.*[ :]pid=\([0-9]*\).*/\1/p'); do
		a=$(ours "$tid")
		b=$(theirs "$tid")
		n=$(switches_of "$tid")
		echo "# thread $tid: $n switches, schedtap $a ns, offcputime $b ns"
		must [ "$n" -ge 100 ]
		must [ "$a" -gt 200000000 ]
		must [ $((100 * (a > b ? a - b : b - a))) -le $((25 * a)) ]
		must_if_quiet [ $((100 * (a > b ? a - b : b - a))) -le $((3 * a)) ]
		nr=$((nr + 1))
	done
	must [ $nr = 3 ]
}

check "time off CPU of threads adds up as in offcputime" sums_agree
done_testing
