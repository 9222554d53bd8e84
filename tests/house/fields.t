#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Each field that is recorded is read by a report or an export, or it is excused below, with the reason why it is recorded. What is read
# is what the program looks up by name (lookups.c) in a recording that has all events.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use POSIX ();
use Test::More;
use lib dirname(abs_path($0)) . '/..';
use Files;

my $root = abs_path(dirname(abs_path($0)) . '/../..');
my $build = $ENV{BUILD} // "$root/build";
my $dir = tempdir(CLEANUP => 1);
my $lookups = "$build/tests/house/lookups";

# Of the kernel's own events all fields are recorded, as the kernel has them; of the others what people look up in single events.
my $kernels = "a field of the kernel's own event";
my $people = 'for people: dump, trace-cmd, KernelShark';

# "EVENT FIELD...": why they are recorded. * is any text.
my %excused = (
	'sched:sched_process_exit group_dead' => $kernels,
	'cpuhp:cpuhp_exit state idx ret' => $kernels,
	'sched_ext:* *' => $kernels,
	'cgroup:cgroup_attach_task dst_level dst_path' => $kernels,
	'cgroup:cgroup_mkdir root level id path' => 'the recorder finds the paths of new cgroups by them (file/names.h)',
	'schedtap:mark text' => 'dump and timehist print it',
	'schedtap:sched_throttle* by' => $people,
	'schedtap:sched_unthrottle cpu' => 'the next event of the task says where it is queued',
	'schedtap:sched_pick next_llc' => "$people: whether a task runs where its process's cache is",
	'schedtap:sched_pick prev_custom_slice' => "$people: eevdf shows the slices themselves",
	'schedtap:sched_pelt_irq update_time' => 'pelt --verify has no model of irq and hw',
	'schedtap:sched_pelt_hw update_time' => 'pelt --verify has no model of irq and hw',
	'schedtap:sched_util_est_cfs util' => 'the signal util has it, of sched_pelt_cfs',
	'schedtap:sched_compute_energy max_util busy_time' => "$people: what .energy was calculated from",
	'schedtap:uclamp_util_se util_avg uclamp_min uclamp_max' => "$people: what .uclamp_avg was calculated from",
	'schedtap:uclamp_util_cfs util_avg' => "$people: what .uclamp_avg was calculated from",
	'schedtap:sched_entry preempt' => $people,
	'schedtap:sched_dl_throttle runtime deadline cpu type server dl_yielded' => $people,
	'schedtap:sched_dl_replenish runtime deadline cpu type server dl_yielded' => $people,
	'schedtap:sched_dl_update runtime deadline cpu type server dl_yielded' => $people,
	'schedtap:sched_dl_server_* runtime deadline cpu type server dl_yielded' => $people,
	'schedtap:sched_dl_pick next_runtime' => $people,
	'schedtap:sched_scx_wakeup* slice target_cpu nr weight' => $people,
	'schedtap:sched_scx_switch prev_slice prev_vtime next_vtime prev_nr prev_weight' => $people,
);

# Every command that reads a recording but dump, which prints all fields.
my @commands = (
	(map { [$_] } qw(summary timehist states map latency explain wakers migrations balance placement resched eevdf)),
	['timehist', '--stacks'], ['wakers', '--stacks'], ['latency', '-g', '*'],
	['pelt', '-s', '*'], ['pelt', '--verify'], ['pelt', '--util-est'], ['pelt', '--what-if', 'halflife=16ms'],
	['critical', '-t', 6, '--between', 'sched_waking,sched_switch'],
	(map { ['monitor', '-m', $_] } qw(sssw snroc sco tss wwnr)),
	(map { ['check', $_] } glob("$root/rules/*.rules")),
	(map { ['export', '--to', $_, '-o', "$dir/exported.$_"] } qw(folded html perfetto ftrace csv)),
);

# All events, of a task that runs and one that is picked; each with its stacks. Return: the recording's path.
sub make_recording {
	my (@events) = @_;
	my %values = (next_pid => 6, pid => 6, prev_pid => 5, next_weight => 1024, dst_id => 3, cgroup => 4, id => 3, callback => 1);
	my $text = "cpus 2\nthrottling\nsched_info\n";
	my $ns = 1_000_000_000;

	for my $event (map { @events } 1 .. 2) {
		my ($name, @fields) = @$event;

		next if $name =~ /^schedtap:(?:events_lost|kernel_stack|user_stack)$/; # which mkdat writes otherwise
		$text .= sprintf("%d 0 5 %s %s\n", $ns += 1000, $name, join(' ', map { exists $values{$_} ? "$_=$values{$_}" : () } @fields));
		$text .= "stack 0 kernel f g\nstack 0 user h\n" if $name =~ /^sched:sched_(?:switch|waking)$/;
	}
	spew("$dir/all.txt", $text);
	is(system("$build/tests/mkdat", "$dir/all.txt", "$dir/all.dat"), 0, 'a recording of all events') or BAIL_OUT('mkdat failed');
	return "$dir/all.dat";
}

# What the program looks up. Return: "EVENT FIELD" => 1.
sub find_lookups {
	my ($recording) = @_;
	my %found;

	local $ENV{LOOKUPS} = "$dir/lookups";
	for my $command (@commands) {
		my @args = $command->[0] eq 'check' ? (@$command, $recording) : (@$command, '-i', $recording);
		my $pid = fork() // die "fork: $!\n";

		if (!$pid) {
			open(STDOUT, '>', "$dir/out");
			open(STDERR, '>&', \*STDOUT);
			exec($lookups, @args) or POSIX::_exit(127);
		}
		waitpid($pid, 0);
		# 1, 4, 5: there is nothing of that, a rule failed or is undecided
		ok((grep { $? == $_ << 8 } 0, 1, 4, 5), "schedtap @$command") or diag("status $?: " . slurp("$dir/out"));
	}
	$found{$_} = 1 for split(/\n/, slurp("$dir/lookups"));
	return %found;
}

sub pattern {
	my ($words) = @_;
	my ($event, @fields) = map { my $s = quotemeta; $s =~ s/\\\*/.*/g; $s } split(' ', $words);

	return "^$event (?:" . join('|', @fields) . ')$';
}

my @lines = split(/\n/, `$lookups`);
my @events;

for (@lines) {
	my ($event, $field) = split(' ');

	push(@events, [$event]) if !@events || $events[-1][0] ne $event;
	push(@{$events[-1]}, $field);
}
cmp_ok(scalar(@events), '>', 50, 'built-in events');

my %found = find_lookups(make_recording(@events));
my @unread = grep { !$found{$_} } @lines;
my %excuses = map { pattern($_) => $_ } keys(%excused);
my @not_excused = grep { my $line = $_; !grep { $line =~ $_ } keys(%excuses) } @unread;

is(join("\n", @not_excused), '', 'fields that nothing reads are excused, with a reason');
for my $pattern (sort(keys(%excuses))) {
	my @meant = grep { $_ =~ $pattern } @lines;

	cmp_ok(scalar(@meant), '>', 0, "excused: $excuses{$pattern}");
	is(join("\n", grep { $found{$_} } @meant), '', '... and not read');
}
done_testing();
