#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap record while a CPU goes offline and comes back.
# alone: a CPU goes, and with it whatever another test has bound to it
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=${SCHEDTAP:-$here/../../build/schedtap}
. "$here/lib.sh"

needs_root
needs_tracefs
scratch=$(mktemp -d /tmp/schedtap-cpu-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT

CPU1=/sys/devices/system/cpu/cpu1/online
cpu_goes()
{
	[ -w $CPU1 ] || skip "no second CPU that can be switched off"
	trap 'echo 1 >$CPU1; clean_up' EXIT
	load &
	start a.dat -e sched -e pelt -e "timer:*"
	sleep 0.1
	echo 0 >$CPU1 || skip "the CPU cannot be switched off"
	sleep 0.15
	echo 1 >$CPU1
	sleep 0.15
	ends 0 INT
	finished a.dat
	must grep -q ', 0 lost' a.dat.err
	# the last of CPU 1 before it went, and the first after it came back
	must perl -ne '
		next if !/\[001\] +([0-9.]+):/;
		$gap = $1 - $last if defined($last) && $1 - $last > $gap;
		$last = $1;
		END { exit($gap < 0.1) }' valid.dump
}
check "a CPU goes offline and comes back" cpu_goes
done_testing
