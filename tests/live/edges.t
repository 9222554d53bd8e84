#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The edges of schedtap record: scopes that outlive the command line, selections that match nothing,
# commands that do not run, files that are there already.
top=$(cd "$(dirname "$0")/../.." && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$top/build/schedtap}")
EMIT=${PROGRAMS:-$(dirname "$SCHEDTAP")/tests/tracepoint}/emit
. "$top/tests/live/lib.sh"

needs_root
apart
needs_tracefs
scratch=$(mktemp -d /tmp/schedtap-edges-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT
R="$SCHEDTAP record -d 0.1"

# ---- the CPUs of -C hold for the whole recording -----------------------------------------------

cpu_of_tracefs()
{
	run 0 "$SCHEDTAP" record -C 0 -b tracefs -o a.dat -- taskset -c 0 sh -c 'sleep 0.02; sleep 0.02'
	finished a.dat
}
check "-C over tracefs" cpu_of_tracefs

# emitted CPU RECORDED NR: of 500 rules:plain that a program on CPU fires, NR are in a recording with -C RECORDED
emitted()
{
	mkdir -m 700 run
	export XDG_RUNTIME_DIR=$PWD/run
	"$SCHEDTAP" record -C "$2" -e rules:plain -o a.dat 2>rec.err &
	recorder=$!
	wait_for has_started a.dat
	must taskset -c "$1" "$EMIT" 500 0 >/dev/null
	ends 0 INT
	"$SCHEDTAP" dump -i a.dat -e rules:plain >dumped || :
	[ "$(wc -l <dumped)" = "$3" ] || fail "$(wc -l <dumped) events, not $3: $(cat rec.err)"
}
[ "$(nproc)" = 1 ] || check "-C: a program on another CPU" emitted 0 1 0
check "-C: a program on that CPU" emitted 0 0 500

# ---- what matches nothing is said --------------------------------------------------------------

# refused RC TEXT record...: at once, and nothing is made
refused()
{
	run "$1" "${@:3}"
	says "$2"
	must [ "$(ls)" = "$(printf 'err\nout')" ]
}
for backend in bpf tracefs user; do
	check "-t: no such thread, -b $backend" refused 1 "there is no thread 4194304" $R -b $backend -t 4194304
done
check "-p: no such process" refused 1 "there is no process" $R -p 4194304
check "-g of nothing" refused 1 "'no/such'" $R -g no/such
check "-o -" refused 2 "standard output" $R -o -

nothing_matches()
{
	run 0 $R -c no-such-comm -o a.dat "$@"
	says "no event was recorded: no event matched -c"
	must [ -z "$(events a.dat)" ]
}
check "-c without a match, over BPF" nothing_matches -b bpf
check "-c without a match, over tracefs" nothing_matches -b tracefs

something_matches()
{
	run 0 $R -C 0 -e sched -o a.dat
	must_not grep -q "no event matched" err
}
check "-C: events, and no such words" something_matches

share_of_the_recorder()
{
	local share

	run 0 "$SCHEDTAP" record -d 0.0001 -o a.dat -b "$1"
	share=$(sed -n 's/.* \([0-9.]*\) % in the recorder$/\1/p' err)
	must awk -v share="$share" 'BEGIN { exit !(share != "" && share <= 100) }'
}
check "a short recording: the recorder's share is of the time it had" share_of_the_recorder bpf
check "the same over tracefs" share_of_the_recorder tracefs

# ---- commands that do not run ------------------------------------------------------------------

# not_run RC COMMAND: no recording is made of it, and one that is there stays
not_run()
{
	run "$1" "$SCHEDTAP" record -o a.dat -- "$2"
	says "cannot run '$2'"
	must [ "$(ls)" = "$(printf 'err\nout')" ]
	echo earlier >a.dat
	run "$1" "$SCHEDTAP" record -o a.dat -- "$2"
	must [ "$(cat a.dat)" = earlier ]
	must_not [ -e a.dat.old ]
}
check "command that is not there: 127" not_run 127 no-such-command
check "command that is no program: 126" not_run 126 /etc/passwd

# ---- files that are there already --------------------------------------------------------------

earlier_file()
{
	local nr

	for nr in 1 2 3; do
		run 0 "$SCHEDTAP" record -e sched -o a.dat -- sh -c "exit 0"
		cp a.dat $nr.dat
	done
	must cmp a.dat 3.dat
	must cmp a.dat.old 2.dat
}
check "the earlier file becomes FILE.old" earlier_file

# in_the_way COMMAND...: makes what is there; the recording does not begin
in_the_way()
{
	"$@"
	stat -c '%n %F %i' * >../before
	run 1 "$SCHEDTAP" record -o a.dat -- touch ran
	must grep -qE "cannot replace '.*': it is not a regular file|'.*' is a symbolic link: name the file" err
	rm out err
	must cmp ../before <(stat -c '%n %F %i' *)
}
check "a link stays" in_the_way sh -c 'touch b.dat; ln -s b.dat a.dat'
check "a link to nothing stays" in_the_way ln -s b.dat a.dat
check "a link to itself stays" in_the_way ln -s a.dat a.dat
check "a device stays" in_the_way mknod a.dat c 1 3
check "a FIFO stays" in_the_way mkfifo a.dat
check "a folder stays" in_the_way mkdir a.dat
check "a link to a device stays" in_the_way sh -c 'mknod null c 1 3; ln -s null a.dat'
check "a link at FILE.old stays" in_the_way sh -c 'touch a.dat b.dat; ln -s b.dat a.dat.old'
check "a folder at FILE.old stays" in_the_way sh -c 'touch a.dat; mkdir a.dat.old'

# ---- what the last line says -------------------------------------------------------------------

size_of_file()
{
	load &
	run 0 "$SCHEDTAP" record -d 0.5 -e sched -o a.dat "$@"
	must grep -q " $(stat -c %s a.dat | awk '{ printf("%.1f", $1 / 1e6) }') MB in a.dat, " err
	must [ "$(stat -c %s a.dat)" -gt 20000 ]
}
check "the size is that of the file" size_of_file
check "the size is that of the file, zstd" size_of_file --compress zstd

killed()
{
	start a.dat -e sched
	sleep 0.1
	kill -9 $recorder
	wait $recorder || :
	run 0 "$SCHEDTAP" summary -i a.dat
	says "'a.dat' does not exist yet: reading 'a.dat.spool'"
}
check "killed: the folder is read by the file's name" killed
done_testing
