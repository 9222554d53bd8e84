# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# For the live tests in bash: TAP, recorders in the background, and what must hold of a recording.
# SCHEDTAP names the program. Every case is a function that runs in a folder of its own with
# `set -e`; `must` and `must_not` say what failed, `skip` why a case cannot be run here.

T=/sys/kernel/tracing
lib_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
lib_names=()
lib_running=()
lib_reported=0
lib_failed=0

fail()
{
	echo "$*" >&2
	exit 1
}

must()
{
	"$@" || fail "failed: $*"
}

must_not()
{
	if "$@"; then fail "should have failed: $*"; fi
}

skip()
{
	echo "$*" >"$lib_case.skip"
	exit 0
}

# A control group without cpu.rt_runtime_us, as containers have, refuses real-time priorities.
realtime_or_skip()
{
	chrt -f 1 true 2>/dev/null || skip "real-time priorities are refused here"
}

# The whole test cannot be run here.
plan_skip()
{
	echo "1..0 # SKIP $*"
	exit 0
}

needs_root()
{
	[ "$(id -u)" = 0 ] || plan_skip "needs root"
}

needs_tracefs()
{
	[ -d $T/instances ] || plan_skip "tracefs is not mounted at $T"
}

# A mark goes to all recorders of the network namespace, and a recorder of root finds the programs of all users in /dev/shm.
# A file whose recorders do so, or whose programs would be found, starts again in namespaces of its own.
apart()
{
	unshare -nm true 2>/dev/null || return
	[ -n "$LIB_APART" ] || LIB_APART=1 exec unshare -nm "$0"
	mount -t tmpfs tmpfs /dev/shm
}

# on_its_own FUNCTION [ARG...]: the same for one case, because cases of a file that run at the same time must not have each other's
# marks. A failure of its must_if_quiet is a skip if the machine was busy from here on.
on_its_own()
{
	local holder

	watch_load
	if unshare -n true 2>/dev/null; then
		unshare -n sleep 1000 &
		holder=$!
		wait_for grep -qx sleep /proc/$holder/comm
		printf '#!/bin/sh\nexec nsenter -t %s -n %s "$@"\n' $holder "$SCHEDTAP" >schedtap
		chmod +x schedtap
		SCHEDTAP=$PWD/schedtap
	fi
	"$@"
}

# check NAME FUNCTION [ARG...]: one TAP line; what the case printed becomes a comment if it failed. With $together set, so
# many cases run at the same time, and ignore SIGINT as all that a shell runs in the background: for those that mostly wait.
check()
{
	lib_names+=("$1")
	shift
	if [ -z "$together" ]; then
		run_case ${#lib_names[@]} "$@"
		report
		return
	fi
	run_case ${#lib_names[@]} "$@" &
	lib_running+=($!)
	[ ${#lib_running[@]} -lt "$together" ] || report_oldest
}

run_case()
{
	lib_case=$scratch/$1
	shift
	mkdir "$lib_case"
	( # not followed by ||, which would switch off set -e
		set -e -o pipefail
		cd "$lib_case"
		trap clean_up EXIT
		"$@"
	) >"$lib_case.log" 2>&1 </dev/null
	echo $? >"$lib_case.status"
}

# Print the line of the next case.
report()
{
	local name nr=$((lib_reported += 1))

	name=${lib_names[nr - 1]}
	if [ "$(cat "$scratch/$nr.status")" != 0 ]; then
		lib_failed=1
		echo "not ok $nr - $name"
		sed 's/^/# /' "$scratch/$nr.log" | cat -v >&2
	elif [ -e "$scratch/$nr.skip" ]; then
		echo "ok $nr - $name # SKIP $(cat "$scratch/$nr.skip")"
	else
		echo "ok $nr - $name"
	fi
}

report_oldest()
{
	wait "${lib_running[0]}"
	lib_running=("${lib_running[@]:1}")
	report
}

# A check that depends on load: the case says watch_load before what it measures, and then has
# must_if_quiet instead of must. If others took CPU time meanwhile, a failure is a skip.
watch_load()
{
	lib_load=$("$lib_tests/busy" since)
}

must_if_quiet()
{
	local why

	if "$@"; then return; fi
	if why=$("$lib_tests/busy" why "$lib_load"); then skip "machine was busy: $why"; fi
	fail "failed: $*"
}

# What a case started and mounted goes, whatever the way it ended. Sees only its own children.
clean_up()
{
	local pid

	for pid in $(jobs -rp; jobs -sp); do # of those that have ended others may have the number
		kill -9 "$pid" 2>/dev/null || :
	done
	wait 2>/dev/null || :
	grep -o " $PWD/[^ ]*" /proc/self/mounts | tac | xargs -r umount || :
}

# check_page FILE NR FUNCTION: each of the page's commands, at least NR, is a case: FUNCTION COMMAND.
check_page()
{
	local command nr=0

	while read -r command; do
		nr=$((nr + 1))
		check "$command" "$3" "$command"
	done < <(sed -n 's/^    \(schedtap .*\)/\1/p' "$1")
	check 'the page has its commands' test "$nr" -ge "$2"
}

done_testing()
{
	while [ ${#lib_running[@]} -gt 0 ]; do report_oldest; done
	echo "1..$lib_reported"
	exit $lib_failed
}

# run RC COMMAND...: its output is in out, its messages in err.
run()
{
	local want=$1 rc=0

	shift
	timeout "${run_s:-60}" "$@" >out 2>err || rc=$?
	[ $rc -eq "$want" ] || fail "exit code $rc, not $want: ${*:0:300}: $(cat err)"
}

# says TEXT...: each is in the messages of the last run.
says()
{
	local text

	for text; do
		grep -qF -- "$text" err || fail "'$text' is not in: $(cat err)"
	done
}

# Sleep 20 ms without a process of its own.
exec {lib_nothing}<> <(:)
pause()
{
	read -rt 0.02 -u $lib_nothing || :
}

# What this case runs, each with its state and where in the kernel it waits; and what its recorders have said.
jobs_are()
{
	local pid

	for pid in $(jobs -p); do
		echo "$pid $(tr '\0' ' ' </proc/$pid/cmdline): $(grep -h State /proc/$pid/task/*/status | tr -s '\t\n' ' ')in $(cat /proc/$pid/task/*/wchan | tr '\0' ' ')"
	done
	tail -n 8 ./*.err
} 2>&1

# wait_for COMMAND...: until it succeeds, for up to five minutes: on a busy machine a recorder may need one to start.
wait_for()
{
	local end=$((SECONDS + 300))

	until "$@"; do
		[ $SECONDS -lt $end ] || { jobs_are || :; fail "waited in vain for: $*"; }
		pause
	done
}

# stop PID: SIGSTOP, and until none of its threads runs any more. When kill returns its first thread may not even have seen the signal.
stop()
{
	kill -STOP "$1"
	wait_for is_stopped "$1"
}

is_stopped()
{
	! grep -qv ') T' "/proc/$1"/task/*/stat
}

# Written when events flow. Their first pages may take until the end to be full.
has_started()
{
	[ -s "$1.spool/meta.json" ]
}

has_pages()
{
	[ -n "$(find "$1.spool" -name '*.cpu*' -size +0 2>/dev/null)" ]
}

has_started_or_ended()
{
	has_started "$1" || ! kill -0 $recorder 2>/dev/null
}

# start FILE [OPTION...]: a recorder in the background, pid in $recorder, once events flow. It may have ended by then.
start()
{
	local file=$1

	shift
	"$SCHEDTAP" record -o "$file" "$@" 2>"$file.err" &
	recorder=$!
	wait_for has_started_or_ended "$file"
}

# ends RC [SIGNAL]: the recorder ends with RC, after SIGNAL if given.
ends()
{
	local rc=0

	[ -z "$2" ] || kill -"$2" $recorder || : # it may have ended: wait checks its exit code
	wait $recorder || rc=$?
	[ $rc -eq "$1" ] || fail "exit code $rc, not $1: $(cat ./*.err)"
}

# Instances that the recorder $1 left.
instances()
{
	compgen -G "$T/instances/schedtap-$1-*" >/dev/null
}

# Ids of the BPF programs that process $1 holds.
programs()
{
	cat /proc/"$1"/fdinfo/* 2>/dev/null | sed -n 's/^prog_id:\s*//p' | sort -u || :
}

# None of the programs with ids in file $1 is there; the kernel frees them a little later.
programs_gone()
{
	local id

	while read -r id; do
		if bpftool prog show id "$id" >/dev/null 2>&1; then return 1; fi
	done <"$1"
}

# A file or spool folder that every reader takes, with events in it.
valid()
{
	local name=$1 command

	for command in dump summary; do
		must "$SCHEDTAP" $command -i "$name" >"valid.$command"
	done
	must [ -s valid.dump ]
}

# finished FILE: it is a complete recording: valid, with mode 600, and its spool folder is gone.
finished()
{
	must [ -f "$1" ]
	must_not [ -e "$1.spool" ]
	must [ "$(stat -c %a "$1")" = 600 ]
	valid "$1"
}

# The files that a recorder of f.dat makes one after the other, the oldest first, and their spool folders. $at: the folder that they are
# in, with a slash.
at=
files()
{
	{ compgen -G "${at}f-????????T??????.???.dat" || :; } | sort
}

folders()
{
	{ compgen -G "${at}f-????????T??????.???.dat.spool" || :; } | sort
}

has_files()
{
	[ "$(files | wc -l)" -ge "$1" ]
}

# events FILE [OPTION...]: as text
events()
{
	local file=$1

	shift
	must "$SCHEDTAP" dump -i "$file" "$@"
}

# Thousands of wakeups per second, until it is killed.
load()
{
	exec perl -e 'select(undef, undef, undef, 0.0002) while 1'
}
