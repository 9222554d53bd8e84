#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What Perfetto makes of an export, against our own reports: what each CPU ran, which states each thread was in, each
# signal's values. With recordings of golden tests (Perfetto.pm) and simulated ones (tests/truth), whole and with losses, of two seeds;
# in a soak with all of the former, and SEEDS [24] seeds from SEED on.
#
#     tests/perfetto/compare.t WORD...: with golden tests' recordings of these names alone
use strict;
use warnings;
use File::Basename qw(dirname);
use JSON::XS;
use List::Util qw(sum0);
use lib dirname(__FILE__), dirname(__FILE__) . '/..';
use Files;
use Perfetto;
use Recordings;

my $tmp = memory_folder();
my $states = 0; # threads whose states were compared

if (my $why = missing()) {
	print "1..0 # SKIP $why\n";
	exit 0;
}

# differences WHAT, THEIRS, OURS: where two tables of numbers are not the same; what is missing is 0.
sub differences {
	my ($what, $theirs, $ours) = @_;
	my %keys = (%$theirs, %$ours);

	return map { "$what of $_: " . ($theirs->{$_} // 0) . ', not ' . ($ours->{$_} // 0) }
		grep { ($theirs->{$_} // 0) != ($ours->{$_} // 0) } sort keys %keys;
}

# A duration of -1 goes on to the end.
sub queries {
	my ($end) = @_;
	my $ns = "sum(iif(dur < 0, $end - ts, dur))";

	return (
		errors => "select name, idx, value from stats where severity != 'info' and value > 0",
		cpus => "select ucpu as cpu, case when tid = 0 then 'idle' when tid > 4194304 then 'unknown' else 'run' end as what, $ns as ns " .
			'from sched join thread using (utid) group by 1, 2',
		tasks => "select tid, $ns as ns from sched join thread using (utid) where tid between 1 and 4194304 group by 1",
		states => "select tid, state, $ns as ns from thread_state join thread using (utid) where tid between 1 and 4194304 group by 1, 2",
		first => 'select tid, min(ts) as ts from thread_state join thread using (utid) where start_ts is null group by 1',
		unknown => "select sum(dur) as ns from slice where name = 'unknown' and track_id in (select id from track where name = 'state')",
		lost => "select sum(value) as nr from counter c join track t on c.track_id = t.id where t.name like '%lost events'",
		# the last word of "CPU 0 util"
		signals => "select replace(t.name, rtrim(t.name, replace(t.name, ' ', '')), '') as name, count(*) as nr, sum(value) as sum from counter c join track t on c.track_id = t.id " .
			"left join track p on t.parent_id = p.id where p.name is null or p.name not glob 'cgroup [0-9]*' group by 1",
	);
}

sub compare_cpus {
	my ($theirs, $cpus) = @_;
	my %got = map { ("$_->{what} on CPU $_->{cpu}" => $_->{ns}) } grep { $_->{what} ne 'unknown' } @$theirs;
	my %want = map { ("run on CPU $_->{cpu}" => $_->{run_ns}, "idle on CPU $_->{cpu}" => $_->{idle_ns}) } @$cpus;

	return differences('time', \%got, \%want);
}

my %fold = (R => 'wait', 'R+' => 'wait', S => 'sleep', I => 'sleep', D => 'blocked', DK => 'blocked', T => 'stopped', t => 'stopped', P => 'stopped');

# Compared are threads of which nothing is unknown but what was before they are seen first, and that were not born in the window: Perfetto lets
# these wait from task_newtask on.
sub compare_states {
	my ($theirs, $tasks, $start) = @_;
	my %first = map { $_->{tid} => $_->{ts} - $start } @{$theirs->{first}};
	my (%got, %want, %nr);

	$nr{$_->{tid}}++ for @$tasks;
	my %sure = map { $_->{tid} => 1 } grep { $nr{$_->{tid}} == 1 && !$_->{throttled_ns} &&
		$_->{unknown_ns} == ($first{$_->{tid}} // -1) } @$tasks;
	for (grep { $sure{$_->{tid}} && $fold{$_->{state}} } @{$theirs->{states}}) {
		$got{"$_->{tid} in $fold{$_->{state}}"} += $_->{ns};
	}
	for my $t (grep { $sure{$_->{tid}} } @$tasks) {
		$want{"$t->{tid} in wait"} = $t->{waking_ns} + $t->{preempted_ns};
		$want{"$t->{tid} in $_"} = $t->{"${_}_ns"} for qw(sleep blocked stopped);
	}
	$states += keys %sure;
	# Perfetto shows a task that was woken while being switched out as woken 1 ns after its switch
	abs($got{$_} - $want{$_}) <= 20 and $got{$_} = $want{$_} for grep { exists $want{$_} } keys %got;
	return differences('time', \%got, \%want);
}

# Perfetto's counters are doubles.
sub is_near { return abs($_[0] - $_[1]) <= 1e-12 * abs($_[1]) }

# @ours: what `pelt` says of CPUs, of tasks, and of cgroups.
sub compare_signals {
	my ($theirs, @ours) = @_;
	my ($cpus, $tasks, $cgroups) = map { [@{($_ // {})->{series} // []}] } @ours;
	my (%nr, %sum);

	for my $s ((grep { !defined $_->{tid} && !defined $_->{cgroup} } @$cpus), (grep { defined $_->{tid} } @$tasks),
		(grep { !defined $_->{tid} && defined $_->{cgroup} } @$cgroups)) {
		for (grep { defined $_->[1] } @{$s->{points}}) {
			$nr{$s->{signal}}++;
			$sum{$s->{signal}} += $_->[1];
		}
	}
	delete @nr{'overutilized', 'overutilised'}; # slices
	my @known = grep { exists $nr{$_->{name}} } @$theirs;
	return (differences('points', { map { $_->{name} => $_->{nr} } @known }, \%nr),
		map { "the sum of $_->{name} is $_->{sum}, not $sum{$_->{name}}" } grep { !is_near($_->{sum}, $sum{$_->{name}}) } @known);
}

sub events_of {
	my ($file) = @_;

	return map { decode_json($_) } qx("$ENV{SCHEDTAP}" dump --json -i '$file');
}

# Each stack that `dump` prints, outermost first, and those of Perfetto's samples.
sub compare_stacks {
	my ($file, $name) = @_;
	my $theirs = ask(export_of($file), errors => "select name, value from stats where name glob '*profile*' or name glob '*perf*'",
		calls => 'select s.id, s.parent_id, f.name, m.name as mapping from stack_profile_callsite s join stack_profile_frame f on s.frame_id = f.id ' .
			'join stack_profile_mapping m on f.mapping = m.id',
		samples => 'select tid, ts, cpu, callsite_id from perf_sample join thread using (utid)');
	my %call = map { $_->{id} => $_ } @{$theirs->{calls}};
	my (%got, %want, $both);

	for my $s (@{$theirs->{samples}}) {
		my %frames;

		for (my $c = $call{$s->{callsite_id}}; $c; $c = $call{$c->{parent_id} // ''}) {
			push(@{$frames{$c->{mapping} =~ /kernel/ ? 'kernel' : 'user'}}, $c->{name});
		}
		$got{join(' < ', "$_ stack of $s->{tid} on CPU $s->{cpu}", @{$frames{$_}})}++ for keys %frames;
		$both ||= keys %frames == 2;
	}
	for (events_of($file)) {
		next if !$_->{event} || $_->{event} !~ /:(kernel|user)_stack$/ || !$_->{fields}{frames};
		$want{join(' < ', "$1 stack of $_->{tid} on CPU $_->{cpu}", @{$_->{fields}{frames}})}++;
	}
	check("$name: stacks", differences('number', \%got, \%want), %want ? () : 'there are none');
	return $both;
}

# Each instant with its fields, and what `dump` prints of events of these names.
sub compare_instants {
	my ($file) = @_;
	my $theirs = ask(export_of($file), fields => 'select s.id, s.ts, s.name, substr(a.key, 7) as field, a.display_value as value ' .
		"from slice s join args a using (arg_set_id) where s.dur = 0 and a.key glob 'debug.*'");
	my (%fields, %got, %want, %names);

	for my $f (@{$theirs->{fields}}) {
		$names{$f->{name}} = 1;
		$fields{$f->{id}}{event} = "$f->{name} at $f->{ts}";
		$fields{$f->{id}}{fields}{$f->{field}} = $f->{value};
	}
	my $line = sub { my ($event, $fields) = @_; join(' ', $event, map { "$_=$fields->{$_}" } sort keys %$fields) };
	$got{$line->(@{$_}{qw(event fields)})}++ for values %fields;
	for my $e (events_of($file)) {
		my $name = ($e->{event} // '') =~ s/.*://r;
		$want{$line->("$name at $e->{ts_ns}", $e->{fields})}++ if $names{$name};
	}
	check('fields of instants', differences('number', \%got, \%want), %want ? () : 'there are none');
}

# @options: --time, or none.
sub compare {
	my ($file, $name, @options) = @_;
	my ($summary, @signals) = reports($file, "summary @options", @options ? () : map { "pelt -s '*' --points $_" } '', "-c '*'", "-g '*'");

	return if !$summary;
	my $theirs = ask(export_of($file, @options), queries($summary->{recording}{end_ns}));
	my %loses = map { $_->{cpu} => 1 } grep { $_->{lost} } @{$summary->{cpus}};
	my %run;

	$run{$_->{tid}} += $_->{run_ns} for @{$summary->{tasks}};
	check("$name: no errors", map { "$_->{name} " . ($_->{idx} // '') . ": $_->{value}" }
		grep { $_->{name} ne 'ftrace_cpu_has_data_loss' } @{$theirs->{errors}});
	check("$name: CPUs", compare_cpus($theirs->{cpus}, $summary->{cpus}));
	check("$name: time that tasks ran", differences('time', { map { $_->{tid} => $_->{ns} } @{$theirs->{tasks}} }, \%run));
	check("$name: states", compare_states($theirs, $summary->{tasks}, $summary->{recording}{start_ns}));
	check("$name: unknown time of threads", $summary->{tasks}[0] ? differences('time', { all => $theirs->{unknown}[0]{ns} }, { all => sum0(map { $_->{unknown_ns} } @{$summary->{tasks}}) }) : ());
	check("$name: lost events", differences('number', { all => $theirs->{lost}[0]{nr} }, { all => $summary->{lost}{total} })) unless @options || !$summary->{events}; # of no event there is no export
	check("$name: signals", compare_signals($theirs->{signals}, @signals)) unless @options;
}

# --slices are the requests of `critical --between`.
sub compare_slices {
	my ($file) = @_;
	my $events = 'sched_entry,sched_exit';
	my ($ours) = reports($file, "critical --between $events --by pid -n 1000");
	my $theirs = ask(export_of($file, '--slices', $events, '--by', 'pid'),
		slices => "select slice.ts, slice.dur from slice join track t on slice.track_id = t.id where t.name = '$events' order by 1, 2")->{slices};
	my @want = sort map { "$_->{from_ns} " . ($_->{to_ns} - $_->{from_ns}) } @{$ours->{requests}};
	my @got = sort map { "$_->{ts} $_->{dur}" } @$theirs;

	check('--slices', "@got" eq "@want" && @want > 1 ? () : "@got, not @want");
}

# Of several signals that one event has, some are 0.
sub write_zeros {
	my $in = join('', map { sprintf("1.00000010%d 0 0 schedtap:sched_pelt_rt cpu=0 util=%d load=%d runnable=%d\n", $_, $_ & 1, $_ & 2, $_ & 4) } 0 .. 7);

	system($ENV{MKDAT}, spew("$tmp/zeros.txt", $in), "$tmp/zeros.dat") == 0 or die "$ENV{MKDAT} zeros.txt\n";
	return "$tmp/zeros.dat";
}

my @seeds = @ARGV ? () : seeds(2, 24);
for ((grep { my $name = $_->[1]; !@ARGV || grep { $name =~ /$_/ } @ARGV } various_recordings()), map { simulated($_) } @seeds) {
	compare(@$_);
}
if (!@ARGV) {
	my ($whole) = grep { /whole/ } map { $_->[0] } simulated($seeds[-1]);

	compare($whole, "a window, $_", '--time', $_) for '+1ms,+3ms', '+2ms,';
	compare(write_zeros(), 'signals of 0');
	compare_slices(golden_recording('critical/between'));
	compare_instants(golden_recording('critical/between'));
	my $other = ask(export_of(golden_recording('export/perfetto')), scheduler => "select s.name, s.ts - 1000000000 as ts, s.dur from slice s join track t on s.track_id = t.id where t.name = 'sched_ext'");
	check('which BPF scheduler was loaded', map({ "$_->{name} from $_->{ts} for $_->{dur}" } grep { "$_->{name} $_->{ts} $_->{dur}" ne 'scx_rusty 50000 50000' } @{$other->{scheduler}}),
		@{$other->{scheduler}} == 1 ? () : 'not one');
	check("a kernel's stack and a program's are one sample", (grep { $_ } map { compare_stacks(golden_recording("$_/stacks"), $_) } qw(dump timehist wakers)) ? () : 'none is');
}
check('states of some threads are certain', $states ? () : 'none');
exit(finish());
