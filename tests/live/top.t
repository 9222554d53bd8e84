#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap top -b: its numbers of cgroups against the kernel's own of the tasks in them (Tally.pm), its culprits against those that
# explain finds in a recording of the same time, and whether all adds up at each refresh. SOAK=1: for a minute.
#
# The load is three tasks that share a CPU, each in a cgroup of its own.
#
# alone: the waits while it does not count are as long as others make them
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::XS;
use List::Util qw(max sum0);
use Test::More;
use lib dirname(__FILE__), dirname(__FILE__) . '/..';
use Busy;
use Cgroups;
use Files;
use Tally;

my $here = abs_path(dirname(__FILE__));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $load = ($ENV{BUILD} // "$here/../../build") . '/tests/live/tally_load';
my $load_s = $ENV{SOAK} ? 60 : 2;
my %work_us = (a => [4000, 1000], b => [2000, 2000], c => [500, 3000]); # and sleep
my $dir = tempdir(CLEANUP => 1);
my $top;

plan(skip_all => 'needs root') if $> != 0;
plan(skip_all => 'no sched_switch over BPF') if `$schedtap list sched_switch` !~ /^bpf/;
plan(skip_all => 'a CPU is not enough') if `nproc` < 2;

my $mount = cgroup_mount();
plan(skip_all => 'no cgroup hierarchy') if !$mount;
my %name = map { $_ => "/top-$$-$_" } keys(%work_us);
my @made;
END { my $status = $?; rmdir($_) for @made; $? = $status }
for (values(%name)) {
	mkdir("$mount$_") or plan(skip_all => "no cgroup can be made: $!");
	push(@made, "$mount$_");
}

my $since = busy_since();
my $recorder = fork() // die "fork: $!\n";
if (!$recorder) {
	open(STDERR, '>', "$dir/err");
	exec($schedtap, qw(record -e sched -o), "$dir/top.dat");
}
select(undef, undef, undef, 0.02) until -e "$dir/top.dat.spool/meta.json" || waitpid($recorder, 1);

# The lines that are complete.
sub refreshes { return map { decode_json($_) } slurp("$dir/top.json") =~ /^(.*\})\n/mg }

# Until there are so many.
sub await_refreshes {
	my ($nr) = @_;

	select(undef, undef, undef, 0.02) until refreshes() >= $nr || waitpid($top, 1);
}

spew("$dir/top.json", '');
$top = fork() // die "fork: $!\n";
if (!$top) {
	open(STDOUT, '>', "$dir/top.json");
	exec('taskset', '-c', '1', $schedtap, qw(top -b --json -d 250ms));
}
await_refreshes(1);
my $switches = all_switches();
my %from;
for (keys(%work_us)) {
	open($from{$_}, '-|', 'taskset', '-c', '0', $load, "$mount$name{$_}", @{ $work_us{$_} }, $load_s) or die "$load: $!\n";
}
my %kernel = map { $_ => decode_json(readline($from{$_}) // die "$load says nothing\n") } keys(%from);
await_refreshes(refreshes() + 2); # one that began before the load's end, and one more
$switches = all_switches() - $switches;
kill('TERM', $top);
waitpid($top, 0);
my @refreshes = refreshes();
# /proc/stat is read a little later than the tally
my $hidden = max(3, $switches - sum0(map { $_->{switches} } @refreshes[1 .. $#refreshes]));
kill('INT', $recorder);
waitpid($recorder, 0);

check_refreshes(20e6, @refreshes);
my %may_differ = (part => 0.01, switches => 0, hidden => $hidden, clock_ns => 30e3 * sum0(map { $_->{waking}[1] } values(%kernel)));
for (sort(keys(%name))) {
	my $is = check_load($name{$_}, $kernel{$_}, \%may_differ, @refreshes);

	is($is->{throttled}, 0, "$name{$_}: none throttled");
}

# Culprits of a cgroup's waits, in ns.
sub by_tally {
	my ($victim) = @_;
	my %ns;

	for (map { @{ $_->{culprits} } } grep { $_->{cgroup} eq $victim } map { @{ $_->{cgroups} } } @refreshes) {
		$ns{ $_->{culprit} } += $_->{ns};
	}
	return \%ns;
}

# Not the root cgroup: some of its tasks may be hidden from a recording.
my $explained = decode_json(`$schedtap explain -i $dir/top.dat --by cgroup --json --time $refreshes[0]{start_ns}ns,$refreshes[-1]{end_ns}ns`);
for my $victim (sort(values(%name))) {
	my %explain = map { $_->{aggressor} // '' => $_->{delay_ns} } grep { ($_->{victim} // '') eq $victim } @{ $explained->{cgroups} };
	my $tally = by_tally($victim);
	my $all_ns = sum0(values(%$tally));

	for my $culprit (grep { $tally->{$_} > 0.05 * $all_ns && m{^/.} } sort(keys(%$tally))) {
		my ($is, $other) = ($tally->{$culprit}, $explain{$culprit} // 0);

		my $is_near = abs($is - $other) <= 0.05 * $is + 2e6 + ($tally->{elsewhere} // 0);
		SKIP: {
			# at the window's ends are parts of waits
			my $why = $is_near ? '' : why_busy($since);

			skip("machine was busy: $why", 1) if $why;
			ok($is_near, sprintf('%s waited %.1f ms for %s, by explain %.1f ms', $victim, $is / 1e6, $culprit, $other / 1e6));
		}
	}
}

my @three = split(/^/, `$schedtap top -b -n 3 -d 100ms`);
is($?, 0, '-n 3 ends with 0');
is(scalar(grep { /^\d\d:\d\d:\d\d  \d+ % busy  .* switches\/s  .*  censored \d+  lost 0$/ } @three), 3, 'and has three lines') or diag(@three);
done_testing();
