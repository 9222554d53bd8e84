#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What another user puts where root writes: links, folders, FIFOs and hard links, in a folder like /tmp. Nothing that they lead to is
# changed, made or written to. The kernel's own protection (fs.protected_symlinks and its like) is not needed.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=${SCHEDTAP:-$here/../../build/schedtap}
MKDAT=$(dirname "$SCHEDTAP")/tests/mkdat
. "$here/lib.sh"

needs_root
[ -r /sys/kernel/btf/vmlinux ] || plan_skip "kernel has no BTF"
scratch=$(mktemp -d /tmp/schedtap-planted-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
STRANGER=65534
AS_STRANGER="setpriv --reuid $STRANGER --regid $STRANGER --clear-groups"

printf 'cpus 1\n1.0 0 7 sched:sched_waking comm=a pid=8\n1.1 0 7 sched:sched_switch prev_comm=a prev_pid=7 next_comm=b next_pid=8\nstack 0 kernel f\n' >"$scratch/in.txt"
"$MKDAT" "$scratch/in.txt" "$scratch/in.dat" || plan_skip "no recording"

# plant PATH KIND: create an obstacle of KIND at PATH, as another user where the kernel allows that.
KINDS='link dangling to_device fifo folder hard'
plant()
{
	case $2 in
	link) $AS_STRANGER ln -s ../private/victim "$1" ;;
	dangling) $AS_STRANGER ln -s ../private/made "$1" ;;
	to_device) $AS_STRANGER ln -s ../private/fifo "$1" ;;
	fifo) $AS_STRANGER mkfifo -m 666 "$1" ;;
	folder) $AS_STRANGER mkdir -m 777 "$1" ;;
	hard) ln ../private/victim "$1" ;; # the kernel may not let others do it
	esac
}

# Of what is root's alone: its content, its times, its owner, and what else is there. A hard link to it may go.
private()
{
	find ../private -printf '%p %y %m %u %s %T@ %i\n' | sort
	cat ../private/victim
}

# planted KIND NAME COMMAND...: NAME, which the command would make, is of that kind. A FIFO that is opened would wait for ever.
planted()
{
	local kind=$1 name=$2 rc=0

	shift 2
	mkdir -m 755 private
	mkdir -m 1777 tmp
	echo secret >private/victim
	mkfifo private/fifo
	cd tmp
	plant "$name" "$kind"
	private >../before
	timeout 20 "$@" >../out 2>../err || rc=$?
	[ $rc -lt 124 ] || fail "exit code $rc: $(cat ../err)"
	private >../after
	must diff ../before ../after
	[ "$kind" != folder ] || must_not [ "$(ls -A "$name" 2>/dev/null)" ]
	cd ..
}

# all_kinds NAME COMMAND...
all_kinds()
{
	local kind

	for kind in $KINDS; do
		( mkdir "$kind"; cd "$kind"; planted "$kind" "$@" )
	done
}

R="$SCHEDTAP record -d 0.05 -e sched_switch"
for name in a.dat a.dat.old a.dat.spool; do
	check "record: $name" all_kinds $name $R -o a.dat
done
check "record: trace.dat" all_kinds trace.dat $R

another_recording()
{
	all_kinds a.dat.old sh -c "cp '$scratch/in.dat' a.dat; $R -o a.dat"
}
check "record: the earlier file's new name" another_recording

repaired()
{
	local name=$1

	shift
	all_kinds "$name" sh -c "'$MKDAT' '$scratch/in.txt' a.dat --spool; exec '$SCHEDTAP' repair $*"
}
check "repair: FILE" repaired a.dat a.dat
check "repair: FILE.old" repaired a.dat.old a.dat
check "repair -o" repaired b.dat -o b.dat a.dat

for form in folded html perfetto ftrace csv; do
	check "export --to $form" all_kinds out "$SCHEDTAP" export --to $form -i "$scratch/in.dat" -o out
done
check "export --to html: schedtap.html" all_kinds schedtap.html "$SCHEDTAP" export --to html -i "$scratch/in.dat"
check "export --to perfetto: trace.pftrace" all_kinds trace.pftrace "$SCHEDTAP" export --to perfetto -i "$scratch/in.dat"

check "ab" all_kinds out "$SCHEDTAP" ab -r 1 -o out true true
check "module build" all_kinds out "$SCHEDTAP" module build --output out

module_sources()
{
	mkdir -m 1777 tmp
	cd tmp
	$AS_STRANGER mkdir built
	$AS_STRANGER ln -s "$PWD/../victim" built/Kbuild
	run 3 "$SCHEDTAP" module build --output built
	must_not [ -e ../victim ]
	says "other users can write to it"
}
check "module build in another user's folder" module_sources

# a FIFO in place of a recording must not be waited for
check "a report on trace.dat" all_kinds trace.dat "$SCHEDTAP" summary

# exports are as private as what they are made of
exports_are_private()
{
	local form

	umask 000
	for form in folded html perfetto ftrace csv; do
		run 0 "$SCHEDTAP" export --to $form -i "$scratch/in.dat" -o out.$form
		must [ "$(stat -c %a out.$form)" = 600 ]
	done
}
check "exports are private" exports_are_private
done_testing
