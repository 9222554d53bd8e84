#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# docs/recipes.md as it stands, with a process that sends packets to itself and sleeps in between.
top=$(cd "$(dirname "$0")/../.." && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$top/build/schedtap}")
doc=$top/docs/recipes.md
scratch=$(mktemp -d)
. "$top/tests/live/lib.sh"
needs_root
needs_tracefs
mkdir "$scratch/bin"
ln -s "$SCHEDTAP" "$scratch/bin/schedtap"
export PATH=$scratch/bin:$PATH

# On CPU 0: some machines hide stacks of another CPU's idle task, whose interrupt is the waker here.
taskset -c 0 perl -MIO::Socket::INET -e '
	my $in = IO::Socket::INET->new(Proto => "udp", LocalAddr => "127.0.0.1") or die;
	my $out = IO::Socket::INET->new(Proto => "udp", PeerAddr => "127.0.0.1", PeerPort => $in->sockport) or die;
	while (1) {
		$out->send("x");
		$in->recv(my $got, 1);
		select(undef, undef, undef, 0.01);
	}' &
export PID=$!
trap 'kill $PID; rm -rf "$scratch"' EXIT

# All lines of a dump are of the process, and both of its events are there.
of_the_process()
{
	must_not grep -vE "^ *perl-$PID +\[" out
	must grep -q net:net_dev_xmit: out
	must grep -q net:netif_receive_skb: out
}

# On while there is a recording: now with another one.
lists_what_is_on()
{
	start on.dat -b tracefs -e irq
	eval "$1" >out 2>err
	ends 0 INT
	must grep -q "^tracefs   irq:softirq_entry, instance schedtap-$recorder" out
	must_not grep -qF "instance schedtap-$recorder" <(schedtap list --enabled 2>&1)
}

run_it()
{
	cp "$scratch"/*.dat . 2>/dev/null || true
	case $1 in
	*--enabled*)
		lists_what_is_on "$1"
		return ;;
	esac
	eval "$1" >out 2>err || fail "$(cat err)"
	must_not grep -q 'no event was recorded' err
	case $1 in
	*' record '*) cp ./*.dat "$scratch" ;;
	*sched_pick*-f*) must_not grep -v "sched_pick: next_pid=$PID .*next_lag=" out; must [ -s out ] ;;
	*kernel_stack*) grep -q 'kernel_stack: .*try_to_wake_up' out || fail "$(head -3 out)" ;;
	*net.dat*) of_the_process ;;
	*-f\ *) must_not grep -vE ": comm=perl pid=$PID " out ;;
	*--clock\ tod*) must grep -qE " [0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{9} +[0-9]+$" out ;; # whoever waited longest
	*--clock\ wall*) must grep -qE "] $(date +%Y)-[0-9-]+ [0-9:.]+: sched:sched_waking" out ;;
	*) must grep -q "[^0-9]$PID\b\|softirq" out ;;
	esac
}

check_page "$doc" 16 run_it
done_testing
