# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What schedtap-explain(1) must say of a schedule: each wait, its components, and the sums.
package Explain;
use strict;
use warnings;
use List::Util qw(max sum0);
use Compare;

# The verdict that a component counts for; contention: all others.
my %verdict = (unknown => 'unknown', throttled => 'throttled', placing => 'wakeup', irq => 'interrupts', softirq => 'interrupts',
	idle_state => 'wakeup', idle => 'idle_exit', idle_exit => 'idle_exit');
my %rank = (fair => 0, realtime => 1, deadline => 2, stop => 3);

sub questions {
	my ($schedule, $window) = @_;

	return {
		args => 'explain --json --worst 10000',
		want => report($schedule, waits($schedule, @$window)),
		shape => \&shape,
	};
}

sub report {
	my ($schedule, @waits) = @_;

	return { all => all(@waits), waits => { '*' => 1, map { $_->{key} => wanted($_) } @waits }, kinds => { '*' => 1, kinds(@waits) },
		tasks => { '*' => 1, tasks(@waits) } };
}

# The report, with rows by what they are about.
sub shape {
	my ($report) = @_;

	for my $wait (@{$report->{waits}}) {
		$wait->{pieces} = by_key($wait->{pieces}, 'kind', 'tid');
		$wait->{$_} = join(' ', @{$wait->{$_}}) for qw(idle_cpus barred_cpus);
	}
	return { all => $report->{all}, waits => by_key($report->{waits}, 'tid', 'from_ns'), kinds => by_key($report->{kinds}, 'kind'),
		tasks => by_key($report->{tasks}, 'tid') };
}

# ---- waits ----

# The waits that ended in the window with the task running, if their beginning is known.
sub waits {
	my ($schedule, $from, $to) = @_;
	my $truth = $schedule->{truth};
	my @waits;

	for my $tid (sort { $a <=> $b } keys(%{$truth->{tasks}})) {
		my $begin;
		for ($truth->known_states($tid, $schedule->{from}, $to)) {
			my ($at, undef, $state) = @$_;
			if ($state =~ /waking|preempted|throttled/) {
				$begin //= $_;
				next;
			}
			push(@waits, wait_of($schedule, $tid, $begin->[0], $at, $begin->[2])) if $begin && $state eq 'running' && $at >= $from;
			$begin = undef;
		}
	}
	return @waits;
}

# A wait and its components, each of one kind and task: { "KIND TID" => { ns, from_ns } }.
sub wait_of {
	my ($schedule, $tid, $from, $to, $state) = @_;
	my $truth = $schedule->{truth};
	my @cuts = cuts($schedule, $tid, $from, $to);
	my (%pieces, %others);

	for my $i (0 .. $#cuts - 1) {
		my ($kind, $runs) = component($schedule, $tid, $cuts[$i]);
		my $piece = $pieces{"$kind " . ($runs // '-')} //= { kind => $kind, runs => $runs, ns => 0, from_ns => $cuts[$i] };
		$piece->{ns} += $cuts[$i + 1] - $cuts[$i];
		count_idle($schedule, \%others, $tid, $kind, @cuts[$i, $i + 1]) if $kind !~ /throttled|placing/;
	}
	return { key => "$tid $from", tid => $tid, from => $from, to => $to, state => $state, pieces => \%pieces,
		verdicts => [verdicts($truth->{listed}{$tid}, \%others, %pieces)], others => idle_elsewhere($truth, $tid, %others), cpu => $truth->at('queues', $tid, $to) };
}

# Add up the time in which other CPUs were idle that the task may use, and in which only others were: { cpu => ns } and a sum of each.
sub count_idle {
	my ($schedule, $others, $tid, $kind, $from, $to) = @_;
	my $truth = $schedule->{truth};
	my %may = map { $_ => 1 } @{$truth->{may}{$tid} // []};
	my $own = $truth->at('queues', $tid, $from);
	my @idle = grep { $_ != $own && $from >= ($truth->{switched}{$_} // $to) && !$truth->at('runs', $_, $from) } 0 .. $schedule->{nr_cpus} - 1;
	my @for_it = grep { $may{$_} } @idle;
	my $what = @for_it ? 'avoidable' : @idle ? 'barred' : return;

	$others->{$what}{ns} += $to - $from;
	$others->{$what}{contended} += $to - $from if !$verdict{$kind};
	$others->{$what}{cpus}{$_} = 1 for @for_it ? @for_it : @idle;
}

# The fields of idle_elsewhere in the report. If the recording does not list which CPUs the task may use, avoidable_ns may be less than the truth.
sub idle_elsewhere {
	my ($truth, $tid, %others) = @_;
	my %cpus = map { my $what = $_; $what => join(' ', sort { $a <=> $b } keys(%{$others{$what}{cpus} // {}})) } qw(avoidable barred);

	return { avoidable_ns => between(0, $others{avoidable}{ns} // 0) } if !$truth->{listed}{$tid};
	return { avoidable_ns => $others{avoidable}{ns} // 0, idle_cpus => $cpus{avoidable},
		barred_ns => $others{barred}{ns} // 0, barred_cpus => $cpus{barred} };
}

# The kinds of delay that make up most of a wait: several if they are equally long. Where it is not listed which CPUs the task may use, the report
# may know of some.
sub verdicts {
	my ($is_listed, $others, %pieces) = @_;
	my %ns;

	$ns{$verdict{$_->{kind}} // 'contention'} += $_->{ns} for values(%pieces);
	my $most = max(values(%ns));
	my @verdicts = grep { $ns{$_} == $most } keys(%ns);
	my %idle = map { $_ => 2 * ($others->{$_}{contended} // 0) >= $most } qw(avoidable barred);
	return map { $_ eq 'contention' && $others->{avoidable} ? ($_, 'idle_cpu') : $_ } @verdicts if !$is_listed;
	return map { $_ ne 'contention' ? $_ : $idle{avoidable} ? 'idle_cpu' : $idle{barred} ? 'affinity' : $_ } @verdicts;
}

# Times at which a component may end: every change of the task, and of any CPU.
sub cuts {
	my ($schedule, $tid, $from, $to) = @_;
	my $truth = $schedule->{truth};
	my %cuts = map { $_ => 1 } $from, $to, values(%{$truth->{switched}}), values(%{$truth->{idle_seen}});

	for my $log ((map { $truth->{$_}{$tid} } qw(tasks queues placing)), map { values(%{$truth->{$_}}) } qw(runs irqs sleeps asked)) {
		$cuts{$_->[0]} = 1 for @$log;
	}
	return grep { $from <= $_ && $_ <= $to } sort { $a <=> $b } keys(%cuts);
}

# ---- components ----

# The first kind that applies to a waiting task at a time, and the task that ran if this is part of the kind. What its CPU did is of no matter
# while the task is in no queue or may not run, so that this is not unknown even where the CPU is.
# Before the CPU's first switch an interrupt handler may be in progress, whose begin was not recorded (docs/explain.md).
sub component {
	my ($schedule, $tid, $ns) = @_;
	my $truth = $schedule->{truth};
	my $cpu = $truth->at('queues', $tid, $ns);

	return 'placing' if $truth->at('placing', $tid, $ns);
	return 'throttled' if $truth->at('tasks', $tid, $ns) eq 'throttled';
	return 'unknown' if $ns < ($truth->{switched}{$cpu} // $schedule->{to});
	return $& if $truth->at('irqs', $cpu, $ns) =~ /\w+$/;
	my $runs = $truth->at('runs', $cpu, $ns);
	return idle($schedule, $cpu, $ns) if !$runs;
	return (contention($schedule, $tid, $runs, $truth->at('asked', $cpu, $ns)), $runs);
}

# The man page does not say what is known of a CPU's idle states before the first event of them. The more general kind is not wrong.
sub idle {
	my ($schedule, $cpu, $ns) = @_;

	return 'idle' if $ns < ($schedule->{truth}{idle_seen}{$cpu} // $schedule->{to});
	return $schedule->{truth}->at('sleeps', $cpu, $ns) ? 'idle_state' : 'idle_exit';
}

# Why a task waits while another runs: by their classes and priorities, and by whether a reschedule was requested.
sub contention {
	my ($schedule, $tid, $runs, $asked) = @_;
	my $truth = $schedule->{truth};
	my ($mine, $theirs) = map { $truth->{class}{$_} } $tid, $runs;
	my ($prio, $their_prio) = map { $truth->{prios}{$_}[0][1] } $tid, $runs;
	my $rivals = $mine eq 'realtime' && $theirs eq 'realtime';

	return $theirs if $rank{$theirs} > $rank{$mine};
	return 'higher' if $rivals && $their_prio < $prio;
	return $asked eq 'hard' ? 'resched' : 'lazy' if $asked;
	return 'lower' if $rank{$theirs} < $rank{$mine} || ($rivals && $their_prio > $prio);
	return 'queued';
}

# ---- what the report must say ----

sub wanted {
	my ($wait) = @_;
	my %pieces = map { $_ => { ns => $wait->{pieces}{$_}{ns}, from_ns => $wait->{pieces}{$_}{from_ns} } } keys(%{$wait->{pieces}});

	return { to_ns => $wait->{to}, wait_ns => $wait->{to} - $wait->{from}, state => $wait->{state}, cpu => $wait->{cpu}, whole => !!1,
		verdict => among(@{$wait->{verdicts}}),
		pieces => { '*' => 1, %pieces }, %{$wait->{others}} };
}

sub all {
	my (@waits) = @_;
	my @ns = map { $_->{to} - $_->{from} } @waits;

	return { waits => scalar(@waits), delay_ns => sum0(@ns), max_ns => @ns ? max(@ns) : 0 };
}

# Sums of components per kind: of one wait, all of the kind are one.
sub kinds {
	my (@waits) = @_;
	my %in_waits;

	for my $wait (@waits) {
		my %ns;
		$ns{$_->{kind}} += $_->{ns} for values(%{$wait->{pieces}});
		push(@{$in_waits{$_}}, $ns{$_}) for keys(%ns);
	}
	return map { $_ => sums(@{$in_waits{$_}}) } keys(%in_waits);
}

# Sums of components per task that ran.
sub tasks {
	my (@waits) = @_;
	my %delays;

	for my $wait (@waits) {
		my %ns;
		$ns{$_->{runs}} += $_->{ns} for grep { defined($_->{runs}) } values(%{$wait->{pieces}});
		push(@{$delays{$_}}, $ns{$_}) for keys(%ns);
	}
	return map { $_ => sums(@{$delays{$_}}) } keys(%delays);
}

sub sums {
	my (@ns) = @_;

	return { waits => scalar(@ns), delay_ns => sum0(@ns), max_ns => max(@ns) };
}

1;
