#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `schedtap eevdf` on this kernel: no pick against the rules, and figures that agree with what the events of the same recording say,
# added up here.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::PP;
use List::Util qw(max min sum0);
use Test::More;
use lib dirname(__FILE__);
use Picks;

my $here = abs_path(dirname(__FILE__));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $dir = tempdir(CLEANUP => 1);

plan(skip_all => 'needs root') if $> != 0;
my $there = `$schedtap list sched_pick`;
plan(skip_all => "no sched_pick: $there") if $there !~ /^bpf/;

my $dat = pick_recording($schedtap, $here, $dir);
my $eevdf = decode_json(scalar(`$schedtap eevdf --json -i $dat`));
my %rules = map { $_->{rule} => $_->{count} } @{$eevdf->{rules}};
# beyond its slice a task may have run because those that waited were not eligible
is_deeply(\%rules, { %rules, map { $_ => 0 } qw(not_eligible lag beyond_deadline) }, 'every pick keeps the rules') or
	diag(explain($eevdf->{violations}));

# Runs between two switches that both have their sched_pick; a run with a gap is not counted. Events before the recording's
# start, while programs are still being attached, only show which tasks exist.
my $summary = decode_json(scalar(`$schedtap summary --json -i $dat`));
my ($start_ns, $end_ns) = @{$summary->{recording}}{qw(start_ns end_ns)};
my (%sums, %picks, %now, %next, %tids);
for (`$schedtap dump --json -i $dat`) { # decode_json() takes ten times as long
	my ($ts_ns, $cpu, $event, $fields) = /"ts_ns":(\d+),.*"cpu":(\d+),.*"event":"(\w+:\w+)","fields":\{(.*)\}/ or next;
	my $f = {$fields =~ /"(\w+)":(-?\d+)/g};

	$tids{$f->{pid}}++ if $event =~ /^sched:sched_wak/;
	$tids{$f->{child_pid}}++ if defined $f->{child_pid};
	if ($event eq 'schedtap:sched_pick') {
		next if $ts_ns < $start_ns || $ts_ns > $end_ns;
		$next{$cpu} = { %$f, ts => $ts_ns };
		next if !$f->{next_weight} || !$tids{$f->{next_pid}};
		my $s = $picks{$f->{next_pid}} //= {};
		$s->{picks}++;
		$s->{among_several}++ if $f->{h_nr_queued} > 1;
		next;
	}
	next if $event ne 'sched:sched_switch';
	$tids{$_}++ for @$f{qw(prev_pid next_pid)};
	my ($began, $ended) = ($now{$cpu}, delete($next{$cpu}));
	$now{$cpu} = $ended && $ended->{next_weight} && $ended->{next_pid} == $f->{next_pid} ? $ended : undef;
	next if !$began || !$ended || $began->{next_pid} != $f->{prev_pid};
	my $s = $sums{$f->{prev_pid}} //= {};
	my $ran = $ts_ns - $began->{ts};
	my $preempted = $ended->{prev_queued} && !$ended->{prev_delayed};

	$s->{runs}++;
	$s->{preempted} += !!$preempted;
	$s->{delayed} += !!$ended->{prev_delayed};
	$s->{max_run_ns} = max($s->{max_run_ns} // 0, $ran);
	$s->{overruns} += $preempted && $began->{h_nr_runnable} > 1 && $ran > int($began->{next_deadline} * $began->{next_weight} / 1048576);
}

# a task that is hidden from tracing breaks a chain: of the run beside it the timeline is not certain, and the events above do not show it
my $breaks = sum0(map { $_->{breaks} } @{$summary->{cpus}});
my (@differ, %got, %differing);
for my $task (@{$eevdf->{tasks}}) { # a number may have been given out again
	my $sum = $got{$task->{tid}} //= {};

	for my $key (grep { $task->{$_} } qw(picks among_several runs preempted delayed overruns max_run_ns)) {
		$sum->{$key} = $key eq 'max_run_ns' ? max($sum->{$key} // 0, $task->{$key}) : ($sum->{$key} // 0) + $task->{$key};
	}
}
for my $tid (sort { $a <=> $b } keys %sums) {
	my ($got, $want) = ($got{$tid} // {}, { %{$sums{$tid}}, %{$picks{$tid} // {}} });

	$differing{$tid}++ if grep { ($got->{$_} // 0) != $want->{$_} } keys %$want;
	push(@differ, map { "$tid: $_ is " . ($got->{$_} // 'none') . ", not $want->{$_}" }
		grep { ($got->{$_} // 0) != $want->{$_} } sort keys %$want);
}
cmp_ok(scalar(keys %sums), '>', 8, 'tasks');
cmp_ok(sum0(map { $_->{among_several} // 0 } values %picks), '>', 500, 'picks among several');
cmp_ok(sum0(map { $_->{overruns} // 0 } values %sums), '>', 10, 'overruns');
cmp_ok(scalar(keys %differing), '<=', 2 * $breaks, 'each task has what the events say') or diag(map { "$_\n" } splice(@differ, 0, 10));
cmp_ok(abs($eevdf->{all}{runs} - sum0(map { $_->{runs} } values %sums)), '<=', 2 * $breaks, "all runs ($breaks breaks)");
done_testing();
