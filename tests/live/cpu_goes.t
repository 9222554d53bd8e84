#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap record, top and serve while a CPU goes offline and comes back.
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

# all that top counts is there once, and no CPU has more time than there was; no counter of serve decreases
tally_while_cpu_goes()
{
	[ -w $CPU1 ] || skip "no second CPU that can be switched off"
	"$SCHEDTAP" list sched_switch | grep -q ^bpf || skip "no sched_switch over BPF"
	trap 'echo 1 >$CPU1; clean_up' EXIT
	load &
	"$SCHEDTAP" top -b --json -d 150ms -n 12 >top.json &
	local top=$!
	"$SCHEDTAP" serve --metrics 127.0.0.1:0 >url &
	local serve=$!
	wait_for [ -s url ]
	wait_for [ -s top.json ]
	perl -MHTTP::Tiny -e 'print HTTP::Tiny->new->get($ARGV[0])->{content}' "$(cat url)" >before
	echo 0 >$CPU1 || skip "the CPU cannot be switched off"
	sleep 0.4
	echo 1 >$CPU1
	wait $top
	must perl -MHTTP::Tiny -e 'print HTTP::Tiny->new->get($ARGV[0])->{content}' "$(cat url)" >after
	kill $serve
	wait $serve
	must perl -I"$here" -I"$here/.." -MMetrics -MTally -MFiles -MJSON::XS -MTest::More -e '
		my @r = map { decode_json($_) } split(/\n/, slurp("top.json"));
		is(scalar(@r), 12, "refreshes");
		check_refreshes(20e6, @r);
		is_deeply([grep { $_->{idle_ns} > $_->{cpu_ns} + 1e6 } map { @{ $_->{cpus} } } @r], [], "idle");
		my ($before, $after) = map { parse_text(slurp($_)) } qw(before after);
		is_deeply([decreases($before, $after), wrong_sums($after)], [], "serve");
		done_testing()' >perl.out 2>&1
}
check "top and serve add up while a CPU goes" tally_while_cpu_goes
done_testing
