#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# -p, -t, -c and --follow record the events of the chosen tasks on this kernel, and of no others.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=${SCHEDTAP:-$here/../../build/schedtap}
. "$here/lib.sh"

needs_root
[ -r /sys/kernel/btf/vmlinux ] || plan_skip "kernel has no BTF"
needs_tracefs
scratch=$(mktemp -d /tmp/schedtap-tasks-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT
tasks=$scratch/tasks
${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O2 -pthread -o "$tasks" "$here/tasks.c" ||
	plan_skip "tasks.c does not compile"
SWITCH='-e sched:sched_switch'

# Where a kernel hides what PID 1 does, tracefs shows no switch from an idle task that PID 1 was cloned for:
# so a task may be seen to leave and never to come.

# Names of tasks that a recorded switch went to or came from.
ran()
{
	events "$1" -e sched_switch | sed -n 's/.*prev_comm=\(.*\) prev_pid=.* next_comm=\(.*\) next_pid=.*/\1\n\2/p' | sort -u
}

# runs FILE NAME: how often a switch went to a task of that name, or came from it
runs()
{
	events "$1" -e sched_switch >switches
	set -- "$2" "$(grep -cF " next_comm=$2 next_pid=" switches)" "$(grep -cF ": prev_comm=$2 prev_pid=" switches)"
	echo $(($2 > $3 ? $2 : $3))
}

lost()
{
	sed -n 's/.* \([0-9]*\) lost.*/\1/p' "$1.err"
}

# Of tasks of these names, a wanted one is in each switch. Return: whether all of them ran.
each_switch_has() # NAME...
{
	must awk -F'|' -v wanted="$*" '
		BEGIN { nr = split(wanted, names, " "); for (i in names) left[names[i]] = 1 }
		!($1 in left) && !($2 in left) { print "neither is wanted: " $0; exit 1 }
	' pairs
	for name; do grep -qE "(^|\|)$name(\||$)" pairs || return; done
}

# only BACKEND GLOB NAMES OTHERS: words. On a busy machine it takes longer until all of them have run.
only()
{
	local seconds

	"$tasks" sleep $3 $4 &
	for seconds in 0.3 3 30; do
		run 0 "$SCHEDTAP" record -o a.dat -d $seconds $SWITCH -b "$1" -c "$2"
		events a.dat | sed -n 's/.*prev_comm=\(.*\) prev_pid=.* next_comm=\(.*\) next_pid=.*/\1|\2/p' >pairs
		! each_switch_has $3 || return 0
	done
	fail "some of these never ran: $3"
}
for backend in bpf tracefs; do
	check "-c over $backend: a star in front" only $backend '*tqpa' 'tqpa xtqpa' 'zapa tqpax xtqp'
	check "-c over $backend: a star at the end" only $backend 'tqp-*' 'tqp- tqp-ab' 'tqpab xtqp-a'
	check "-c over $backend: a star within" only $backend 'tqp*z' 'tqpz tqp-az' 'tqpx tqp xtqpz'
	check "-c over $backend: stars around" only $backend '*tqp-*' 'tqp- xtqp-x' 'xtxap-'
	check "-c over $backend: any letter" only $backend 'tqp?' 'tqpa tqpb' 'tqp tqpaa xtqpa'
	check "-c over $backend: all but some letters" only $backend 'tqp[^ab]' 'tqpc' 'tqp tqpa tqp^'\''s'
	check "-c over $backend: a class" only $backend 'tqp[[:digit:]]*' 'tqp1 tqp2x' 'tqp tqpx ta1'
	check "-c over $backend: no negation" only $backend '!tqp*' '!tqpa' 'tqpa xtqpa'
	check "-c over $backend: a digit in front" only $backend '7tqp*' '7tqpa' 'tqpa 8tqpa'
	check "-c over $backend: one of several" only $backend 'tqpa*' 'tqpa tqpab' 'tqp'
done

# ---- -p, -t, --follow ------------------------------------------------------------------------

# begin WORDS...: a program of tasks.c that waits for the line that go() writes; its pid in $began
begin()
{
	mkfifo line
	"$@" <line &
	began=$!
	exec 9>line
}

go()
{
	echo >&9
	exec 9>&-
}

follow_many()
{
	begin "$tasks" children 30000 tap-last
	start a.dat -b "$1" -p $began --follow $SWITCH -e sched_process_fork
	go
	wait $began
	ends 0 INT
	must [ "$(runs a.dat tap-last)" -ge 10 ]
	must [ "$(events a.dat -e sched_process_fork | wc -l)" -gt 30000 ]
	must [ "$(lost a.dat)" -eq 0 ]
}
check "--follow over bpf: 30,000 children, and one more" follow_many bpf

threads()
{
	begin "$tasks" thread tap-thread
	start a.dat -b "$1" -p $began $SWITCH
	go
	wait $began
	wait $recorder
	must [ "$(runs a.dat tap-thread)" -ge 10 ]
}
check "-p over bpf: a thread that started later" threads bpf

# By default task_newtask is recorded too: its clone_flags distinguish threads from processes, and the
# creating task gives a thread's process.
newtask()
{
	begin "$tasks" thread tap-thread
	start a.dat -b "$1" -p $began
	go
	wait $began
	wait $recorder
	events a.dat -e task_newtask | sed -n "s/.*-$began .*clone_flags=\\([0-9a-f]*\\) .*/\\1/p" >flags
	must [ "$(wc -l <flags)" -eq 1 ]
	must [ $((0x$(cat flags) & 0x10000)) -ne 0 ]
	start b.dat -b "$1"
	bash -c ':; true & wait'
	ends 0 INT
	events b.dat -e task_newtask | sed -n 's/.*comm=bash clone_flags=\([0-9a-f]*\).*/\1/p' >flags
	must [ -s flags ]
	must_not [ $((0x$(head -n 1 flags) & 0x10000)) -ne 0 ]
}
check "task_newtask over bpf, by default: threads and processes are distinguished" newtask bpf
check "task_newtask over tracefs" newtask tracefs

children_not()
{
	begin "$tasks" children 3 tap-child
	start a.dat -b "$1" -p $began $SWITCH
	go
	wait $began
	wait $recorder
	# one is switched to from its parent
	must [ "$(runs a.dat tap-child)" -le 2 ]
}
check "-p over bpf: children only with --follow" children_not bpf

# reused OPTION...: a foreign process gets the number of a task that was recorded and has ended
reused()
{
	local child

	[ -e /proc/sys/kernel/ns_last_pid ] || skip "kernel is built without CONFIG_CHECKPOINT_RESTORE"
	begin bash -c 'read -r; sleep 0.01 & echo $! >child; wait; sleep 30'
	sleep 30 &
	start a.dat -b bpf "$@" -p $began -p $! $SWITCH
	go
	wait_for [ -s child ]
	child=$(cat child)
	wait_for [ ! -e /proc/$child ]
	run 0 "$tasks" pid "$child" tap-foreign
	ends 0 INT
	must_not grep -qx tap-foreign <(ran a.dat)
	must events a.dat | grep -qE "(next_comm=sleep next_pid|prev_comm=sleep prev_pid)=$child\>"
}
check "--follow: a reused tid of a child that ended is not recorded" reused --follow

reused_named()
{
	local was

	[ -e /proc/sys/kernel/ns_last_pid ] || skip "kernel is built without CONFIG_CHECKPOINT_RESTORE"
	begin bash -c 'read -r; sleep 0.01'
	was=$began
	sleep 30 &
	start a.dat -b bpf "$1" $was "$1" $! $SWITCH
	go
	wait $was
	run 0 "$tasks" pid "$was" tap-foreign
	ends 0 INT
	must [ -n "$(ran a.dat)" ]
	must_not grep -qx tap-foreign <(ran a.dat)
}
check "-p: a reused tid of a process that ended is not recorded" reused_named -p
check "-t: a reused tid of a thread that ended is not recorded" reused_named -t

last_switch()
{
	begin "$tasks" children 0 tap-child
	start a.dat -b bpf -p $began --follow $SWITCH
	go
	wait $began
	ends 0 INT
	must [ "$(events a.dat | grep -c 'prev_comm=tap-child .*prev_state=[XZ]')" -eq 1 ]
	must [ "$(events a.dat | grep -c "prev_pid=$began .*prev_state=[XZ]")" -eq 1 ]
}
check "the switch with which a task ends is recorded" last_switch

# The set is as large as the namespace may have tasks when recording begins.
overflow()
{
	printf '6.14\n%s\n' "$(uname -r)" | sort -CV || skip "pid_max is the whole machine's before v6.14"
	cat >inside <<-'EOF'
		. "$here/lib.sh"
		trap clean_up EXIT
		set -e
		echo 400 >/proc/sys/kernel/pid_max
		mkfifo line
		"$tasks" at_once 1000 tap-last <line &
		began=$!
		exec 9>line
		start a.dat -b bpf -p $began --follow -e sched:sched_process_fork
		echo 4000000 >/proc/sys/kernel/pid_max
		echo >&9
		exec 9>&-
		wait $began
		ends 0 INT
	EOF
	export here tasks SCHEDTAP
	must unshare --pid --fork --kill-child --mount-proc bash inside
	must [ "$(lost a.dat)" -gt 0 ]
	must grep -qF '*** [???]' <(events a.dat)
}
check "--follow: tasks that do not fit into the set are reported as a loss" overflow

# ---- in a pid namespace ----------------------------------------------------------------------

# inside SCRIPT: in a pid namespace of its own, with the functions of lib.sh and of this file
inside()
{
	unshare --pid --fork --mount-proc true 2>/dev/null || skip "no pid namespace can be made here"
	export here tasks SCHEDTAP SWITCH
	must unshare --pid --fork --kill-child ${proc---mount-proc} bash -ec '. "$here/lib.sh"; trap clean_up EXIT
		'"$(declare -f begin go pid_of)
		$1"
}

# The number of the task called $1, as soon as it is there.
pid_of()
{
	pid=$(grep -lsx "$1" /proc/[0-9]*/comm | cut -d/ -f3)
	[ -n "$pid" ]
}

# A number that is small in the namespace is a kernel thread's outside.
nested()
{
	inside '
		begin "$tasks" thread tap-thread
		"$tasks" sleep tap-other &
		start a.dat -b '"$1"' '"$2"' $began -e sched
		go
		wait $began
		ends 0 '"$3"'
		[ $began -lt 100 ] || fail "$began is no small number"
	'
	must [ $(($(runs a.dat tasks) + $(runs a.dat tap-thread))) -ge 1 ]
	events a.dat -e sched_switch | sed -n 's/.*prev_comm=\(.*\) prev_pid=.* next_comm=\(.*\) next_pid=.*/\1|\2/p' >pairs
	must_not grep -vE '^(tasks|tap-thread)\||\|(tasks|tap-thread)$' pairs
}
check "-p over bpf in a pid namespace: the number that it has there" nested bpf -p
check "-p over tracefs in a pid namespace" nested tracefs -p
check "--follow over bpf in a pid namespace" nested bpf '--follow -p' INT
proc= check "-p over bpf in a pid namespace without its own /proc" nested bpf -p

nested_thread()
{
	inside '
		"$tasks" sleep tap-named tap-other &
		wait_for pid_of tap-named
		start a.dat -b '"$1"' -t $pid $SWITCH
		sleep 0.2
		ends 0 INT
	'
	must [ "$(runs a.dat tap-named)" -ge 10 ]
	must_not grep -v tap-named <(events a.dat)
}
check "-t over bpf in a pid namespace" nested_thread bpf
check "-t over tracefs in a pid namespace" nested_thread tracefs

from_outside()
{
	inside '"$tasks" sleep tap-in-'"$1"' & wait_for [ -e recorded ]' &
	wait_for pid_of tap-in-"$1"
	start a.dat -b "$1" -p "$pid" $SWITCH
	sleep 0.6 # of a machine that may be busy
	ends 0 INT
	touch recorded
	wait
	must [ "$(runs a.dat "tap-in-$1")" -ge 10 ]
}
check "-p over bpf of a process in a pid namespace: the number outside" from_outside bpf
check "-p over tracefs of a process in a pid namespace" from_outside tracefs

# The recording's own lists have the numbers that its events have.
nested_lists()
{
	inside '
		"$tasks" sleep tap-named &
		wait_for pid_of tap-named
		"$SCHEDTAP" record -b '"$1"' -o a.dat -d 0.3 $SWITCH 2>err
	'
	events a.dat | sed -n 's/.*prev_comm=tap-named prev_pid=\([0-9]*\).*/\1/p' | sort -u >named
	must [ "$(wc -l <named)" -eq 1 ]
	grep -ao '"tasks":\[\[.*\]\]' a.dat | grep -o '\[[0-9]*,[0-9]*,"[^"]*"' >tasks
	must grep -qF "[$(cat named),$(cat named),\"tap-named\"" tasks
	must_not grep -q '^\[[0-9],' tasks
	own=$(grep -ao '"own_tids":\[[0-9,]*\]' a.dat | grep -o '[0-9]*')
	must [ "$(wc -w <<<"$own")" -eq 3 ] # the draining thread, the writing thread, and the porter
	must grep -qF "[${own%%[!0-9]*},${own%%[!0-9]*},\"schedtap\"" tasks
	must grep -qF "[${own##*[!0-9]},${own%%[!0-9]*},\"schedtap\"" tasks
}
check "recording over bpf in a pid namespace: its lists have the events' numbers" nested_lists bpf
check "recording over tracefs in a pid namespace" nested_lists tracefs

# What a program records has the numbers of the switches beside it.
nested_program()
{
	inside '
		mkdir -m 700 run
		export XDG_RUNTIME_DIR=$PWD/run
		cp "$here/../../build/tests/tracepoint/emit" emit_nested
		run 0 "$SCHEDTAP" record -o a.dat -e sched_switch -e "rules:plain" -- ./emit_nested 50 1000
	'
	# before its first switch it has the name that it had before exec
	events a.dat -e rules:plain | sed -n 's/^ *emit_nested-\([0-9]*\) .*/\1/p' >emitted
	must [ "$(wc -l <emitted)" -eq 50 ]
	events a.dat -e sched_switch | sed -n 's/.*next_comm=emit_nested next_pid=\([0-9]*\) .*/\1/p' | sort -u >switched
	must [ "$(sort -u emitted)" = "$(cat switched)" ]
	must [ "$(cat switched)" -ge 100 ]
}
check "a program's own events in a pid namespace: the numbers that its switches have" nested_program

# Command lines are kept where they are asked for, and never else. A process that executes something has both.
command_lines()
{
	mkfifo go
	sh -c "read x <go; exec sleep 60 $1" &
	asleep=$!
	run 0 "$SCHEDTAP" record -o a.dat $2 $SWITCH -- sh -c "echo >go; until grep -qx sleep /proc/$asleep/comm; do sleep 0.01; done"
	kill "$asleep"
	must [ "$(grep -acF "[$asleep,\"began\",[\"sh\",\"-c\",\"read x <go; exec sleep 60 $1\"]]" a.dat)" -eq "$3" ]
	must [ "$(grep -acF "[$asleep,\"ended\",[\"sleep\",\"60\",\"$1\"]]" a.dat)" -eq "$3" ]
	must [ "$(grep -acF "sleep 60 $1" a.dat)" -eq "$3" ]
}
check "--command-lines: at both ends" command_lines 0.001 --command-lines 1
check "without, none is kept" command_lines 0.002 '' 0

none_there()
{
	run 1 "$SCHEDTAP" record -o a.dat -d 0.1 "$@" 4194303
	must [ "$(grep -c 'there is no thread 4194303' err)" -eq 1 ]
	must_not [ -e a.dat ]
}
check "-t over bpf: no such thread" none_there -b bpf -t
check "-t: no such thread, reported once" none_there -t

done_testing
