#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# next_queued_ns and next_delay_ns of sched_switch against the kernel's own sum of a task's waits in /proc/PID/schedstat: the sum is
# equal to the ns, however busy the machine is. `latency` divides the waits of that task, and the parts add up to the waits.
#
# The task is pinned, so it is never moved. It sleeps on a CPU that is otherwise idle, and that a real-time task takes for 20 ms now and then.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::XS;
use List::Util qw(sum0);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;

my $schedtap = abs_path($ENV{SCHEDTAP} // dirname(__FILE__) . '/../../build/schedtap');
my $dir = tempdir(CLEANUP => 1);
my $wrap = 1 << 32;

plan(skip_all => 'needs root') if $> != 0;
plan(skip_all => 'no sched_switch over BPF') if `$schedtap list sched_switch` !~ /^bpf/;
plan(skip_all => 'the kernel has no sched_info') if `$schedtap list -v sched_switch` !~ /next_queued_ns/;
plan(skip_all => 'no /proc/PID/schedstat') if !-e '/proc/self/schedstat';

my $cpu = `nproc` - 1;
my $can_preempt = system("chrt -f 5 true 2>/dev/null") == 0;

spew("$dir/victim", <<'END');
sub waited { open(my $f, '<', '/proc/self/schedstat') or die; return (split(' ', <$f>))[1] }
my $from = waited();
for (1 .. 300) {
	select(undef, undef, undef, 0.002);
}
my $to = waited();
print "$$ $from $to\n";
END
spew("$dir/hog", 'for (1 .. 12) { my $t = (times)[0]; 1 while (times)[0] < $t + 0.02; select(undef, undef, undef, 0.03) }');
spew("$dir/load", ($can_preempt ? "taskset -c $cpu chrt -f 5 perl $dir/hog &\n" : '') . "taskset -c $cpu perl $dir/victim >$dir/waited\nwait\n");
my $err = `$schedtap record -b bpf -e sched -o $dir/q.dat -- sh $dir/load 2>&1`;
is($?, 0, 'recorded') or BAIL_OUT($err);

my ($tid, $from, $to) = split(' ', slurp("$dir/waited"));
my @switches = map { decode_json($_)->{fields} } split(/\n/, `$schedtap dump -i $dir/q.dat -e sched_switch -C $cpu --json`);
my ($latency) = decode_json(scalar(`$schedtap latency -i $dir/q.dat -t $tid --json --worst 10000`));
SKIP: {
	skip('events were lost', 10) if $latency->{recording}{lost};

	# a switch that is hidden from BPF programs breaks the CPU's chain; the sum then goes on with the next switch of the task
	my ($sum, $last_pid, $is_broken, $has_begun, $has_ended);
	my ($nr, $unknown, $breaks, @wrong) = (0, 0, 0);
	for my $s (@switches) {
		$is_broken ||= defined($last_pid) && $s->{prev_pid} != $last_pid;
		$last_pid = $s->{next_pid};
		next if $last_pid != $tid;
		my $delay = $s->{next_delay_ns};
		$has_begun ||= $delay == $from % $wrap || $is_broken;
		next if !$has_begun;
		push(@wrong, "$delay, not $sum") if defined($sum) && $delay != $sum && !$is_broken;
		$breaks += $is_broken // 0;
		$is_broken = 0;
		$nr++;
		my $is_known = $s->{next_queued_ns} != $wrap - 1;
		$unknown++ if !$is_known;
		$sum = ($delay + ($is_known ? $s->{next_queued_ns} : 0)) % $wrap;
		$has_ended ||= $sum == $to % $wrap;
	}
	cmp_ok($nr, '>=', 200, 'there are switches to the task');
	is_deeply(\@wrong, [], 'each switch has the sum of the waits before');
	ok($has_begun, 'from the sum that the task read first');
	ok($has_ended || $is_broken, 'to the sum that the task read last') or diag("$sum, not $to");

	my ($path, $queued) = @{$latency->{all}}{qw(wakeup_path queued)};
	my @divided = grep { defined($_->{queued_ns}) } @{$latency->{worst}};
	is($path->{count}, scalar(@divided), 'latency divides waits');
	is($queued->{count}, scalar(@divided), 'into two parts');
	# three: the task is moved as it begins
	cmp_ok(@{$latency->{worst}} - @divided, '<=', $unknown + $breaks + 3, 'all whose time in the queue is known');
	is(scalar(grep { $_->{queued_ns} > $_->{wait_ns} } @divided), 0, 'none is longer than the wait');
	# an average is rounded down
	my $short_ns = sum0(map { $_->{wait_ns} } @divided) - @divided * ($path->{avg_ns} + $queued->{avg_ns});
	ok($short_ns >= 0 && $short_ns < 2 * @divided, 'the parts add up to the waits') or diag("$short_ns ns are missing");
	skip('no real-time tasks', 1) if !$can_preempt;
	cmp_ok($queued->{max_ns}, '>', 1e6, 'behind a real-time task the task is in the queue');
}
done_testing();
