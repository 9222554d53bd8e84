#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Waits with a cause made on purpose: `explain` names it.
# alone: nobody else may want the CPU that the tasks share, or keep the other one from being idle
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
. "$here/lib.sh"

needs_root
scratch=$(mktemp -d /tmp/schedtap-explain-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT

# as NAME COMMAND...: perl under another name, on CPU 1. The file NAME.rounds has a byte for each round.
as()
{
	local name=$1

	shift
	cp -n "$(command -v perl)" "$name"
	taskset -c 1 "$@" "./$name" -e '
		use Time::HiRes "time";
		my ($run, $sleep) = @ARGV;
		for (;;) {
			my $end = time + $run;
			1 while time < $end;
			syswrite(STDOUT, ".");
			select undef, undef, undef, $sleep if $sleep;
		}' "$run" "$sleep" >"$name.rounds" &
	other=$!
}

spin() { run=0.01 sleep=0 as "$@"; }
doze() { run=0.003 sleep=0.01 as "$@"; }

# record ROUNDS [OPTION...]: for so many of ex-victim's rounds.
record()
{
	local rounds=$1

	shift
	wait_for [ -s ex-victim.rounds ]
	run 0 "$SCHEDTAP" record -o e.dat -e sched -e irq -e idle "$@" -- \
		perl -e 'my $end = $ARGV[0] + -s "ex-victim.rounds"; select(undef, undef, undef, 0.02) while -s "ex-victim.rounds" < $end' "$rounds"
	"$SCHEDTAP" explain -i e.dat -c ex-victim --json --worst 10000 >e.json
}

# Which kind and which task are the first: of the waits of ex-victim.
first_of() { "$SCHEDTAP" explain -i e.dat -c ex-victim --by "$1" --csv | sed 1d | sort -t, -k"$2" -nr | head -1; }
# The most frequent verdict, of the longest that are certain: a kernel that hides tasks leaves some in doubt.
verdict()
{
	"$SCHEDTAP" explain -i e.dat -c ex-victim --json --worst 8 | grep -o '"verdict":"[a-z_]*"[^{}]*"whole":true' |
		cut -d'"' -f4 | sort | uniq -c | sort -nr | sed 's/.* //;q'
}

# explains KIND TASK VERDICT: each wait is explained to the last nanosecond, some with what was made on purpose; and those
# that were for more than a half that have its verdict.
explains()
{
	must perl -MJSON::PP -MList::Util=sum0 -0777 -e '
		my ($kind, $task, $verdict) = @ARGV;
		my ($named, $bad) = (0, 0);
		for my $w (@{decode_json(<STDIN>)->{waits}}) {
			my $sum = sum0(map { $_->{ns} } @{$w->{pieces}});
			my $ours = sum0(map { $_->{ns} } grep { $_->{kind} eq $kind && ($task eq "-" || ($_->{comm} // "") eq $task) } @{$w->{pieces}});

			$bad++, print "$w->{from_ns}: pieces of $sum ns, wait of $w->{wait_ns}\n" if $sum != $w->{wait_ns};
			$named++ if $ours;
			next if !$w->{whole} || 2 * $ours <= $w->{wait_ns};
			$bad++, print "$w->{from_ns}: $ours of $w->{wait_ns} ns for $kind: $w->{verdict}\n" if $w->{verdict} !~ /^(?:$verdict)$/;
		}
		print "$named waits were for $kind, too; $bad bad\n";
		exit(!$named || $bad)' "$1" "$2" "$3" <e.json
}

# They may use CPU 1 alone: whether another one was idle meanwhile is the machine's business.
behind='contention|affinity'

# Unless others want this CPU, too, it was the cause of most.
named()
{
	local kind=$1 task=$2 verdict=$3

	must_if_quiet [ "$(first_of kind 3 | cut -d, -f1)" = "$kind" ]
	[ "$task" = - ] || must_if_quiet [ "$(first_of task 5 | cut -d, -f3)" = "$task" ]
	must_if_quiet grep -qxE "$verdict" <<<"$(verdict)"
}

hog()
{
	watch_load
	spin ex-hog
	doze ex-victim
	record 30
	explains queued ex-hog "$behind"
	named queued ex-hog "$behind"
}

# With what EEVDF knew nearly nothing is left that nobody knows the reason of.
reasons_of_picks()
{
	local queued all

	"$SCHEDTAP" list sched_pick | grep -q ^bpf || skip "no sched_pick"
	spin ex-hog
	spin ex-hog2
	doze ex-victim
	record 30 -e pick
	"$SCHEDTAP" explain -i e.dat --by kind --csv -C 1 >kinds
	queued=$(sed -n 's/^queued,[0-9]*,\([0-9]*\),.*/\1/p' kinds)
	all=$(awk -F, 'NR > 1 { ns += $3 } END { printf("%.0f", ns) }' kinds)
	must [ "$all" -gt 100000000 ]
	must [ "$((20 * ${queued:-0}))" -lt "$all" ]
	for kind in ineligible protected overrun; do must grep -q "^$kind," kinds; done
}

realtime_hog()
{
	watch_load
	run=0.02 sleep=0.005 as ex-rt chrt -f 30
	spin ex-victim
	record 30
	explains realtime ex-rt "$behind"
	named realtime ex-rt "$behind"
}

# It may use CPU 1 alone, where another one runs all the time, and CPU 0 has nothing to do: unless the machine has, so again.
pinned()
{
	watch_load
	spin ex-hog
	doze ex-victim
	for _ in 1 2 3 4 5; do
		record 30
		if [ "$(verdict)" = affinity ]; then break; fi
	done
	explains queued ex-hog "$behind"
	named queued ex-hog affinity
	"$SCHEDTAP" explain -i e.dat -c ex-victim --worst 3 >text
	must_if_quiet grep -q 'CPU 0 was idle for .* ms, but the task may not run there. Verdict: affinity' text
}

# What waits for a disk does not wait for the scheduler, and its stack says for what it does.
slow_disk()
{
	cp "$(command -v perl)" ex-victim
	./ex-victim -MIO::Handle -e '
		open(my $f, ">", "data") or die;
		for (;;) { sysseek($f, 0, 0); syswrite($f, "x" x 65536); $f->sync; syswrite(STDOUT, ".") }' >ex-victim.rounds &
	record 20 --stack sched_switch:kernel
	"$SCHEDTAP" explain -i e.dat ex-victim >text
	[ "$(stat -f -c %T .)" != tmpfs ] || skip "a folder in memory"
	must grep -q '^Of .* ex-victim .* blocked for' text
	must grep -m 1 -E '^ex-victim .* was blocked .*fsync.* Verdict: not the scheduler' text
}

# Packets on the loopback, each of which 300 packet sockets get, in the softirq that receives it.
interrupt_storm()
{
	watch_load
	cp "$(command -v perl)" ex-storm
	taskset -c 1 nice -n -10 ./ex-storm -e '
		use Socket;
		my ($in, $out);
		my @taps = map { socket(my $s, 17, 3, unpack("S", pack("n", 0x0800))) or die "packet: $!"; $s } 1 .. 300;
		setsockopt($_, SOL_SOCKET, SO_RCVBUF, 2048) for @taps;
		socket($_, PF_INET, SOCK_DGRAM, 0) or die "udp: $!" for $in, $out;
		bind($in, sockaddr_in(0, INADDR_LOOPBACK)) or die "udp: $!";
		my $to = getsockname($in);
		print "ready\n";
		close(STDOUT);
		1 while defined send($out, "x", 0, $to)' >storm.out 2>storm.err &
	other=$!
	wait_for says_or_ends storm.out $other
	[ -s storm.out ] || skip "no packet sockets: $(cat storm.err)"
	spin ex-victim
	record 10
	explains softirq - interrupts
	named softirq - interrupts
}

says_or_ends() { [ -s "$1" ] || ! kill -0 "$2" 2>/dev/null; }

# Nobody else is there: what it waits for is its CPU, which sleeps.
sleeping_cpu()
{
	[ -e /sys/devices/system/cpu/cpuidle ] || skip "no cpuidle"
	watch_load
	run=0.0001 sleep=0.02 as ex-victim
	record 40
	must_if_quiet [ "$("$SCHEDTAP" explain -i e.dat -c ex-victim --by kind --csv | grep -c '^idle_')" -ge 1 ]
}

# Its cgroup may have a fiftieth of a CPU: less than what others leave of it.
quota()
{
	watch_load
	group=/sys/fs/cgroup/ex.$$
	grep -qsw cpu /sys/fs/cgroup/cgroup.controllers || group=/sys/fs/cgroup/cpu/ex.$$
	mkdir "$group" || skip "no cgroup with a cpu controller"
	if [ -e "$group/cpu.cfs_quota_us" ]; then
		echo 2000 >"$group/cpu.cfs_quota_us"
	elif [ -e "$group/cpu.max" ]; then
		echo "2000 100000" >"$group/cpu.max"
	else
		rmdir "$group"
		skip "no quota"
	fi
	spin ex-victim
	echo "$other" >"$group/cgroup.procs"
	record 5 -e throttle
	kill -9 "$other"
	wait "$other" 2>/dev/null || :
	rmdir "$group"
	[ "$(first_of kind 3 | cut -d, -f1)" != unknown ] || skip "tasks are hidden from tracing here, and who is throttled may be one of them"
	explains throttled - throttled
	named throttled - throttled
}

check "a task of the same class that runs all the time" hog
check "why EEVDF picked another one" reasons_of_picks
check "a real-time task" realtime_hog
check "a busy CPU that it is pinned to" pinned
check "a disk" slow_disk
check "a storm of softirqs" interrupt_storm
check "a CPU that is asleep" sleeping_cpu
check "a cgroup that is out of its quota" quota
done_testing
