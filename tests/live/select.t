#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A pattern of -e selects the same kinds of events over BPF, over tracefs, in dump and in list.
top=$(cd "$(dirname "$0")/../.." && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$top/build/schedtap}")
. "$top/tests/live/lib.sh"

needs_root
needs_tracefs
scratch=$(mktemp -d /tmp/schedtap-select-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT

# Of the bare tracepoints, and those that come along with sched_switch: no word asks for them.
without_ours()
{
	grep -vE '^(schedtap:.*|cgroup:cgroup_(attach_task|mkdir))$' || :
}

# kinds WORD [OPTION...]: what a recorder takes it for, without the bare tracepoints' events, sorted
kinds()
{
	start kinds.dat "${@:2}" -e "$1"
	perl -MJSON::PP -0 -ne 'print("$_->{system}:$_->{name}\n") for @{decode_json($_)->{events}}' \
		kinds.dat.spool/meta.json | without_ours | sort
	ends 0 INT >&2
}

listed()
{
	"$SCHEDTAP" list "$1" | awk '{ print $2 }' | sed 's/:$//' | without_ours | sort
}

kinds_of_dump()
{
	"$SCHEDTAP" dump -i "$scratch/all.dat" --json "$@" | grep -o '"event":"[^"]*"' | cut -d'"' -f 4 |
		without_ours | sort -u
}

# same WORD BPF: what is recorded where nothing is said of a backend, over tracefs, and listed; BPF: all of it
# comes over BPF as well (all), a part (some), nothing (none). And dump shows what there is of it.
same()
{
	kinds "$1" -b tracefs >tracefs
	must [ -s tracefs ]
	kinds "$1" >any
	must diff any tracefs
	listed "$1" >listed
	must diff listed tracefs
	case $2 in
	all)
		kinds "$1" -b bpf >bpf
		must diff bpf tracefs
		;;
	some)
		kinds "$1" -b bpf >bpf
		must [ -s bpf ]
		must [ "$(comm -23 bpf tracefs)" = "" ]
		must_not cmp -s bpf tracefs
		;;
	none)
		run 2 "$SCHEDTAP" record -d 0.1 -b bpf -e "$1" -o none.dat
		says "event '$1' can be recorded only over tracefs, which -b bpf does not use"
		;;
	esac
	kinds_of_dump -e "$1" >dumped
	comm -12 tracefs "$scratch/all" >there
	must [ -s there ]
	must diff there dumped
}

"$SCHEDTAP" record -o "$scratch/all.dat" -e 'sched:*' -e 'timer:*' -e 'irq:*' -e 'task:*' -e pelt -- sh -c '
	for i in 1 2 3 4 5 6 7 8; do sleep 0.01; done; sync' 2>"$scratch/err" || cat "$scratch/err" >&2
kinds_of_dump >"$scratch/all"

check "a group that is called like its system" same sched all
check "all of that system" same 'sched:*' some
check "another group" same irq all
check "all of its system" same 'irq:*' some
check "a system" same timer none
check "the same with a glob" same 'timer:*' none
check "a name" same sched_switch all
check "names" same 'sched_[sw]*' some
check "names of one system" same 'sched:sched_w*' some
check "names of several systems" same '*_entry' some
check "systems" same '[it]*:*e[nx]*t*' some

unknown()
{
	local command

	for command in "record -d 0.1 -o a.dat -e" "dump -i $scratch/all.dat -e" "timehist -i $scratch/all.dat -e" list; do
		run 1 "$SCHEDTAP" $command sched_swich
		must grep -q "'sched_swich'" err
		must_not [ -s out ]
		run 2 "$SCHEDTAP" $command :sched_switch
		says "-e: ':sched_switch' is not an event: expected NAME or SYSTEM:NAME"
	done
	must_not [ -e a.dat ]
}
check "an event that does not exist, and a word that is not an event" unknown

# ids LETTER: one range of ids, in record and in reports
ids()
{
	run 2 "$SCHEDTAP" record -d 0.1 -o a.dat "$1" 4194305
	says "$1: '4194305' is not a process or thread ID"
	run 2 "$SCHEDTAP" dump -i "$scratch/all.dat" "$1" 4194305
	says "$1: '4194305' is not a process or thread ID"
	run 1 "$SCHEDTAP" record -d 0.1 -o a.dat "$1" 4194304
	run 1 "$SCHEDTAP" dump -i "$scratch/all.dat" "$1" 4194304
	run 2 "$SCHEDTAP" record -d 0.1 -o a.dat "$1" 0
	says "idle"
}
check "-p: its range" ids -p
check "-t: its range" ids -t

mount=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { v1 = v1 ? v1 : $2 }
	$3 == "cgroup2" { v2 = v2 ? v2 : $2 }
	END { print v1 ? v1 : v2 }' /proc/self/mounts)

# record_some FILE OPTION...: until the process $worker has slept five times more
record_some()
{
	run 0 "$SCHEDTAP" record -o "$@" -e sched_switch -- sh -c '
		slept() { sed -n "s/^voluntary_ctxt_switches:[^0-9]*//p" "/proc/$1/status"; }
		end=$(($(slept "$1") + 5))
		until [ "$(slept "$1")" -ge $end ]; do sleep 0.02; done' sh $worker
}

# in_cgroup WORD...: each means the cgroups below tap-select-PID, for record and for a report
in_cgroup()
{
	local word

	mkdir "$mount/tap-select-$$" "$mount/tap-select-$$/a" || skip "cannot make a cgroup below $mount"
	trap 'clean_up; wait_for rmdir "$mount/tap-select-$$/a" 2>/dev/null; rmdir "$mount/tap-select-$$"' EXIT # its last sleep may go on
	sh -c "echo \$\$ >$mount/tap-select-$$/a/cgroup.procs; while :; do sleep 0.01; done" &
	worker=$!
	wait_for grep -q . "$mount/tap-select-$$/a/cgroup.procs"
	record_some all.dat
	for word; do
		record_some part.dat -g "$word"
		must_not grep -q "no event was recorded" err
		events part.dat -e sched_switch >part # any move between cgroups is recorded as well
		# without the other task of the switch, and those that came and went
		awk '!/(sh|sleep)-|_comm=(sh|sleep) /' part >others
		must diff others /dev/null
		run 0 "$SCHEDTAP" summary -i all.dat -g "$word" --csv
		awk -F, 'NR > 1 && $3 !~ /^(sh|sleep)$/' out >others
		must diff others /dev/null
	done
}
[ -z "$mount" ] || check "-g: the words for a cgroup" in_cgroup "/tap-select-$$" "tap-select-$$/" "$mount/tap-select-$$" \
	"/tap-select-$$/?" "*select-$$" "/tap-[q-t]*"

# Of a group that has it, nothing is said.
absent_event()
{
	local absent

	absent=$("$SCHEDTAP" list 2>/dev/null | sed -n 's/^-  *\(schedtap:[a-z_]*\): .*/\1/p' | head -n 1)
	[ "$absent" ] || skip "this kernel has all events"
	run 0 "$SCHEDTAP" record -o r.dat -d 0.1 -e "$absent" -e sched_switch
	says "schedtap: recording without $absent: "
	run 0 "$SCHEDTAP" record -o r.dat -d 0.1 -e 'schedtap:*' -e sched_switch
	must_not grep -q "without $absent" err
}
check "an event that is named and that this kernel lacks" absent_event
done_testing
