#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Triggers: both backends, each action that this kernel has, counts, filters, refused triggers, and removal at the end.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
. "$here/lib.sh"

needs_root
needs_tracefs
scratch=$(mktemp -d /tmp/schedtap-trigger-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT

# Programs with unique names, whose exec and exit the triggers wait for.
for name in tr-one tr-two; do cp /bin/true "$scratch/$name"; done
cp "$(readlink -f /bin/sh)" "$scratch/tr-sh" # a shell of its own name: its signals are counted, not those of others
one="$scratch/tr-one"
two="$scratch/tr-two"
exec_of()
{
	echo "sched_process_exec: $2 if filename ~ \"*$1\""
}

exit_of()
{
	echo "sched_process_exit: $2 if comm == \"$1\""
}

# Execs of a program that were recorded.
nr_of()
{
	"$SCHEDTAP" dump -i "$1" -e "$2" --json | grep -v '^{"lost"' | grep -c "$3" || :
}

# is NUMBER WANTED
is()
{
	[ "$1" = "$2" ] || fail "$1, not $2"
}

off_and_on()
{
	start a.dat -b "$1" -e sched_process_exec --trigger "$(exec_of tr-one traceoff)" --trigger "$(exit_of tr-two traceon)"
	"$two" && "$one" && sleep 0.1 && "$one"
	sleep 0.1
	"$two" && "$two"
	sleep 0.1
	ends 0 INT
	is "$(nr_of a.dat sched_process_exec tr-one)" 1
	is "$(nr_of a.dat sched_process_exec tr-two)" 2
	must grep -q 'switched off by triggers' <(events a.dat)
	must grep -q 'lost 0, at times switched off by triggers' <("$SCHEDTAP" summary -i a.dat)
	finished a.dat
}

# Between two looks of the recorder, mostly: from a program's beginning to its end.
off_for_short()
{
	start a.dat -b "$1" -e sched_process_exec -e sched_process_exit --trigger "$(exec_of tr-one traceoff)" \
		--trigger "$(exit_of tr-one traceon)"
	"$one"
	sleep 0.1
	ends 0 INT
	must grep -q 'switched off by triggers' <(events a.dat)
}

counted()
{
	start a.dat -b "$1" -e sched_process_exec --trigger "$(exec_of tr-one traceoff:1)" --trigger "$(exit_of tr-two traceon)"
	"$one" && "$two" && "$one" && "$two" && "$one"
	sleep 0.1
	ends 0 INT
	is "$(nr_of a.dat sched_process_exec tr-one)" 3
	is "$(nr_of a.dat sched_process_exec tr-two)" 1
}

# What comes first switches off, and is recorded itself, with what comes on other CPUs at that moment: an exec of anybody. It is
# ours unless another one is there.
without_a_filter()
{
	start a.dat -b "$1" -e sched_switch -e sched_process_exec --trigger 'sched_process_exec: traceoff'
	"$one" && "$two"
	ends 0 INT
	is "$(nr_of a.dat sched_process_exec tr-two)" 0
	must [ "$(nr_of a.dat sched_process_exec ':sched_process_exec"')" -le "$(nproc)" ]
	must grep -q 'switched off by triggers' <(events a.dat)
	[ "$(nr_of a.dat sched_process_exec ':sched_process_exec"')" -gt "$(nr_of a.dat sched_process_exec tr-one)" ] && return
	is "$(nr_of a.dat sched_process_exec tr-one)" 1
	must [ "$(nr_of a.dat sched_switch ':sched_switch"')" -gt 0 ]
}

# turned_on FILTER WANTED: whether what switches on is recorded itself
turned_on()
{
	start a.dat -b "$1" -e sched_process_exec --trigger 'sched_process_fork: traceoff:1' --trigger "sched_process_exec: traceon$2"
	sleep 0.1
	"$one" && "$one"
	sleep 0.1
	ends 0 INT
	is "$(nr_of a.dat sched_process_exec tr-one)" "$3"
}

one_event()
{
	start a.dat -b "$1" -e sched_switch --trigger "$(exec_of tr-one enable_event:sched:sched_process_exec)" \
		--trigger "$(exit_of tr-two disable_event:sched:sched_process_exec)"
	"$two" && "$one" && "$one" && "$two" && "$two"
	sleep 0.1
	ends 0 INT
	# triggers run before record checks whether the event is on: the exec that switches it on is recorded
	is "$(nr_of a.dat sched_process_exec tr-one)" 2
	is "$(nr_of a.dat sched_process_exec tr-two)" 1 # it switches off when it ends
	must grep -q 'of sched:sched_process_exec switched off by triggers' <(events a.dat)
	must grep -q '"switched_off":true,"event":"sched:sched_process_exec"' <(events a.dat --json)
	# a switched-off sched_process_exec does not make task states unknown: an exec does not change them
	must_not grep -q 'lost [1-9]' a.dat.err
}

# Switched off by what happens all the time, and so before the start as well: that must not take it away for good.
off_at_once()
{
	start a.dat -b "$1" -e sched_switch -e sched_waking --trigger 'sched_switch: disable_event:sched:sched_waking:1' \
		--trigger "$(exec_of tr-one enable_event:sched:sched_waking)"
	sleep 0.1
	"$one"
	sleep 0.2
	ends 0 INT
	must [ "$(nr_of a.dat sched_waking ':sched_waking"')" -gt 10 ]
	must grep -q 'of sched:sched_waking switched off by triggers' <(events a.dat)
}

# All of it: nothing is known, and nothing is lost.
all_off_at_once()
{
	start a.dat -b "$1" -e sched_switch --trigger 'sched_switch: traceoff'
	sleep 0.2
	ends 0 INT
	must [ "$(nr_of a.dat sched_switch ':sched_switch"')" -le "$(nproc)" ]
	must "$SCHEDTAP" summary -i a.dat >text
	must grep -q 'lost 0, at times' text
	cat text
	must grep -q '% where triggers had switched events off\|more CPUs: no event says' text
	must_not grep -q ' [1-9][0-9]* lost' a.dat.err
	finished a.dat
}

never()
{
	start a.dat -b "$1" -e sched_process_exec --trigger "$(exec_of tr-one traceoff:0)"
	"$one" && "$one"
	sleep 0.1
	ends 0 INT
	is "$(nr_of a.dat sched_process_exec tr-one)" 2
	must_not grep -q 'switched off' <("$SCHEDTAP" dump -i a.dat)
}

# Its triggers come before the question whether it is on.
itself()
{
	start a.dat -b "$1" -e sched_process_exec --trigger "$(exec_of tr-one disable_event:sched:sched_process_exec)"
	"$two" && "$one" && "$two"
	sleep 0.1
	ends 0 INT
	is "$(nr_of a.dat sched_process_exec tr-one)" 0
	is "$(nr_of a.dat sched_process_exec tr-two)" 1
}

# Two of one event, each with a filter of its own, beside that of the event.
two_of_one()
{
	start a.dat -b "$1" -e sched_switch -e sched_process_exec -f 'filename ~ "*tr-two"' \
		--trigger "$(exec_of tr-one traceoff:1)" --trigger "$(exec_of tr-two disable_event:sched:sched_switch)"
	"$two" && sleep 0.1 && "$one" && "$two"
	sleep 0.1
	ends 0 INT
	is "$(nr_of a.dat sched_process_exec .)" 1
	must grep -q 'of sched:sched_switch switched off by triggers' <(events a.dat)
	must grep -q 'events switched off by triggers\|of sched:sched_process_exec switched off' <(events a.dat)
}

# Others than the recorded process: as docs/man/schedtap-record.1.md says.
of_others()
{
	local other

	sleep 1000 &
	other=$!
	start a.dat -b "$1" -e sched_switch -p $other --trigger "$(exec_of tr-one traceoff)"
	"$one"
	sleep 0.1
	kill $other
	ends 0
	must [ "$(nr_of a.dat sched_switch ':sched_switch"')" "$2" 0 ]
}

# An event that is there for its trigger alone is not recorded, and nothing says that it was off.
for_its_trigger()
{
	start a.dat -b "$1" -e sched_switch --trigger "$(exec_of tr-one traceoff:1)"
	"$two"
	sleep 0.1
	ends 0 INT
	is "$(nr_of a.dat sched_process_exec .)" 0
	must_not grep -q 'switched off' <("$SCHEDTAP" dump -i a.dat)
}

is_switched() # 0|1
{
	[ "$(cat $T/instances/schedtap-$recorder-*/tracing_on)" = "$1" ]
}

# Both backends' events are one recording. Its BPF programs run the triggers; the recorder carries their switches over to tracefs,
# once it looks.
both_backends()
{
	start a.dat -e sched_switch -e signal:signal_generate --trigger "$(exec_of tr-one traceoff)" --trigger "$(exit_of tr-two traceon)"
	"$scratch/tr-sh" -c 'kill -0 $$; kill -CONT $$'
	"$one"
	wait_for is_switched 0
	"$scratch/tr-sh" -c 'kill -WINCH $$'
	"$two"
	wait_for is_switched 1
	"$scratch/tr-sh" -c 'kill -CONT $$'
	ends 0 INT
	is "$(nr_of a.dat signal_generate '"sig":18,.*"comm":"tr-sh"')" 2
	is "$(nr_of a.dat signal_generate '"sig":28,.*"comm":"tr-sh"')" 0
	must grep -q 'some events switched off by triggers' <(events a.dat)
	must grep -q 'of sched:sched_switch switched off by triggers' <(events a.dat)
}

stacks()
{
	grep -q stacktrace $T/events/sched/sched_process_exec/trigger || skip "this kernel has no stacktrace trigger"
	start a.dat -b tracefs -e sched_process_exec --trigger "$(exec_of tr-one stacktrace:1)"
	"$one" && "$one"
	sleep 0.1
	ends 0 INT
	is "$(nr_of a.dat ftrace:kernel_stack kernel_stack)" 1
}

kernels_own()
{
	local rc=0

	grep -q " $1" $T/events/sched/sched_process_exec/trigger || rc=3
	run $rc "$SCHEDTAP" record -b tracefs -e sched_switch -d 0.1 -o a.dat --trigger "sched_process_exec: $2"
	[ $rc = 0 ] || says "this kernel has no '$1' trigger"
}

# Nothing of ours in the user's instance, nor any of the instance when it is over.
left_alone()
{
	local before after

	before=$(cat $T/tracing_on $T/events/sched/*/trigger $T/events/sched/*/enable | md5sum)
	start a.dat -b tracefs -e sched_switch --trigger 'sched_process_exec: traceoff'
	after=$(cat $T/tracing_on $T/events/sched/*/trigger $T/events/sched/*/enable | md5sum)
	must [ "$before" = "$after" ]
	must grep -q '^traceoff:' $T/instances/schedtap-$recorder-*/events/sched/sched_process_exec/trigger
	ends 0 INT
	must_not instances $recorder
}

left_alone_when_killed()
{
	start a.dat -b "$1" -e sched_switch -e sched_waking --trigger 'sched_switch: disable_event:sched:sched_waking' \
		--trigger 'sched_process_exec: traceoff'
	"$one"
	kill -9 $recorder
	wait $recorder || :
	run 0 "$SCHEDTAP" record -b tracefs -e sched_switch -d 0.1 -o b.dat
	must_not instances $recorder
	must_not grep -l '^traceoff\|^disable_event' $T/events/sched/*/trigger
}

# A target that this kernel lacks.
absent_target()
{
	must "$SCHEDTAP" list >list
	grep -q '^- .*sched_pelt_hw:' list || skip "this kernel has sched_pelt_hw"
	refused 3 'sched_pelt_hw cannot be recorded' 'sched_switch: enable_event:schedtap:sched_pelt_hw' -b bpf
}

# refused RC TEXT TRIGGER OPTION...
refused()
{
	local rc=$1 text=$2 trigger=$3

	shift 3
	"$SCHEDTAP" record -d 0.1 -o a.dat -e sched_switch --trigger "$trigger" "$@" 2>err &
	recorder=$!
	ends "$rc"
	says "$text"
	must_not [ -e a.dat ]
	must_not [ -e a.dat.spool ]
	must_not instances $recorder
}

nothing_without()
{
	start a.dat -b bpf -e sched_switch
	must_not grep -q . <(programs $recorder | xargs -rn1 bpftool prog show id | grep -o 'name tap_[a-z]*')
	ends 0 INT
}

for b in bpf tracefs; do
	check "$b: off and on" off_and_on $b
	check "$b: off only for a moment" off_for_short $b
	check "$b: a count" counted $b
	check "$b: without a filter" without_a_filter $b
	check "$b: what switches on, with a filter" turned_on $b ' if filename ~ "*tr-one"' 1
	check "$b: one event" one_event $b
	check "$b: one event, off at once" off_at_once $b
	check "$b: all off at once" all_off_at_once $b
	check "$b: a count of 0" never $b
	check "$b: an event that switches itself off" itself $b
	check "$b: two triggers of one event, and its filter" two_of_one $b
	check "$b: killed" left_alone_when_killed $b
	check "$b: an event that is there for its trigger" for_its_trigger $b
	check "$b: no such event" refused 2 "no event matches 'nosuch'" 'nosuch: traceoff' -b $b
	check "$b: no such target" refused 2 "no event matches 'sched:nosuch'" 'sched_switch: enable_event:sched:nosuch' -b $b
	check "$b: no such action" refused 2 "unknown action 'foo'" 'sched_switch: foo' -b $b
	check "$b: no such field" refused 2 'Field not found' 'sched_switch: traceoff if nosuch == 1' -b $b
	check "$b: two of a kind" refused 2 'already has a trigger of this kind' 'sched_switch: traceoff' -b $b --trigger 'sched_switch: traceon'
	check "$b: twice" refused 2 'already has a trigger of this kind' 'sched_switch: traceoff' -b $b --trigger 'sched:sched_switch: traceoff:2'
done
check "bpf: of others than the process" of_others bpf -eq
check "tracefs: of others than the process" of_others tracefs -gt
check "bpf: a target that the kernel lacks" absent_target
check "both backends" both_backends
check "stacktrace" stacks
check "snapshot" kernels_own snapshot snapshot
check "hist" kernels_own hist hist:keys=pid
check "the user's own tracing" left_alone
for action in stacktrace snapshot hist:keys=pid; do
	check "bpf: ${action%:*}" refused 2 'use --backend tracefs' "sched_switch: $action" -b bpf
done
check "tracefs: what its filters cannot do" refused 2 "the kernel cannot express the trigger's filter" 'sched_switch: traceoff if sample(1/2)' -b tracefs
check "an event of the other backend" refused 2 'use --backend tracefs for both' 'sched_switch: enable_event:signal:signal_generate'
check "without triggers programs are as they were" nothing_without
done_testing
