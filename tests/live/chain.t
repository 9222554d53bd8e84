#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Events of one tracepoint are recorded one after the other (bpf/chain.h): each is recorded even if the one before it
# is filtered out or detached, and all have one time stamp. An event defined by the test, which is in no chain,
# shows when there was something to record.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;

my $here = abs_path(dirname(__FILE__));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $dir = tempdir(CLEANUP => 1);
my ($switch, $pick, $own) = ("-e sched:sched_switch", "-e sched_pick", "-e 'sched_switch{next->pid}'");
my $idle = "-f 'next_pid == 0'";

plan(skip_all => 'needs root') if $> != 0;
my $there = `$schedtap list sched_pick`;
plan(skip_all => "no sched_pick: $there") if $there !~ /^bpf/;

# The events of each CPU in their order.
sub record {
	my ($args) = @_;
	my %cpus;

	my $said = `$schedtap record -b bpf -o $dir/c.dat $args -- perl -e 'select(undef, undef, undef, 0.001) for 1 .. 300' 2>&1`;
	is($?, 0, "recorded: $args") or diag($said);
	for (`$schedtap dump --json -i $dir/c.dat`) { # decode_json() takes ten times as long
		my ($ts_ns, $cpu, $event, $fields) = /"ts_ns":(\d+),.*"cpu":(\d+),.*"event":"(\w+:sched_(?:switch|pick))","fields":\{(.*)\}/ or next;

		push(@{$cpus{$cpu}}, { ts_ns => $ts_ns, event => $event, pid => $fields =~ /"pid":(\d+)/ ? $1 : 0 });
	}
	return values(%cpus);
}

# S: sched_switch; P: sched_pick; o, O: the event of one's own, of a switch to idle or another. From the first of those to the last.
sub letters {
	my ($events) = @_;
	my $letters = join('', map { $_->{event} eq 'sched:sched_switch' ? 'S' : $_->{event} eq 'schedtap:sched_pick' ? 'P' :
		$_->{pid} ? 'O' : 'o' } @$events);

	return $letters =~ /[oO](.*[oO])/ ? $1 : '';
}

# How many letters @want covers from the first on. Not by one pattern: it repeats 65,534 times at most.
sub covered {
	my ($letters, $want) = @_;
	my $nr = 0;

	$nr = pos($letters) while $letters =~ /\G(?:$want)/gc;
	return $nr;
}

# Return: the CPUs' events. @want: what stands on a CPU again and again, until all but the event of one's own is detached.
sub check {
	my ($args, $want) = @_;
	my @cpus = record("$args $own");
	my $all = 0;
	my $first_other;

	for my $letters (map { letters($_) } @cpus) {
		my $nr = covered($letters, $want);

		$all += $nr;
		$first_other //= $1 if substr($letters, $nr) =~ /^[oO]*+(.{1,20})/;
	}
	cmp_ok($all, '>', 200, '.. enough');
	is($first_other, undef, ".. $want");
	return @cpus;
}

# Each sched_switch that follows its sched_pick has the time stamp of that sched_pick.
my ($nr, @others) = (0);
for my $events (check("$switch $pick", 'PS[oO]')) {
	for my $i (1 .. $#$events) {
		my ($before, $e) = @$events[$i - 1, $i];

		next if $e->{event} ne 'sched:sched_switch' || $before->{event} ne 'schedtap:sched_pick';
		$nr++;
		push(@others, $i) if $before->{ts_ns} != $e->{ts_ns};
	}
}
cmp_ok($nr, '>', 200, 'switches after their picks ..');
is_deeply(\@others, [], '.. have their time');

check("$switch $idle $pick", 'PSo|PO');
check("$switch $pick $idle", 'PSo|SO');
check("$switch $idle $pick $idle", 'PSo|O');
check("--trigger 'sched:sched_switch: disable_event:sched:sched_switch:1' $switch $pick", '(?:^PS)?P[oO]');
check("--trigger 'sched:sched_switch: disable_event:schedtap:sched_pick:1' $switch $pick", 'P?S[oO]');

done_testing();
