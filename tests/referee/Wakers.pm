# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What schedtap-wakers(1) must say of a schedule.
package Wakers;
use strict;
use warnings;
use List::Util qw(max sum0);
use Compare;

sub questions {
	my ($schedule, $window) = @_;
	my %pairs;

	for my $wakeup (@{$schedule->{truth}{wakeups}}) {
		my $wait = wait_after($schedule, $wakeup, $window);
		push(@{$pairs{waker($schedule, $wakeup) . " $wakeup->{tid}"}}, $wait) if $wait;
	}
	return {
		args => 'wakers --json',
		want => { nr_pairs => scalar(keys(%pairs)), pairs => { '*' => 1, map { $_ => pair(@{$pairs{$_}}) } keys(%pairs) } },
		shape => sub { { nr_pairs => $_[0]{nr_pairs}, pairs => by_key($_[0]{pairs}, 'waker_tid', 'tid') } },
	};
}

# The task that ran on the waker's CPU, also before that CPU's first switch: events have its tid.
sub waker {
	my ($schedule, $wakeup) = @_;

	return $wakeup->{waker};
}

# The wait for a CPU that a wakeup began: { ns, same }, where ns is undef if the wait is censored and absent if there was none. Throttled time is
# no part of a wait, which begins when the task may run. Nothing if the wait is over before the window, or begins after it.
sub wait_after {
	my ($schedule, $wakeup, $window) = @_;
	my ($from, $to) = @$window;
	my ($begin, $end);

	return if $wakeup->{ns} >= $to;
	for ($schedule->{truth}->intervals('tasks', $wakeup->{tid}, $wakeup->{ns}, $schedule->{to})) {
		$end = $_->[0], last if $_->[2] eq 'running';
		$begin = $_->[2] eq 'throttled' ? undef : $_->[0];
	}
	return if defined($end) && $end < $from;
	my $ended = defined($end) && $end < $to;
	my $cpu = $ended ? $schedule->{truth}->at('queues', $wakeup->{tid}, $end) : undef;
	return { ended => $ended, waits => defined($begin), ns => $ended && defined($begin) ? $end - $begin : undef,
		same => $ended ? $cpu == $wakeup->{cpu} : undef };
}

sub pair {
	my (@waits) = @_;
	my @known = grep { defined } map { $_->{ns} } @waits;
	my %want = (count => scalar(@waits), censored => scalar(grep { $_->{waits} && !$_->{ended} } @waits),
		same_cpu => scalar(grep { $_->{ended} && $_->{same} } @waits), other_cpu => scalar(grep { $_->{ended} && !$_->{same} } @waits));

	return { %want, avg_ns => undef, p99_ns => undef, max_ns => undef } if !@known;
	my $avg = sum0(@known) / @known;
	return { %want, avg_ns => between($avg - 1, $avg + 1), p99_ns => percentile(99, @known), max_ns => max(@known) };
}

# Quantiles are exact for up to 32 values, and within 0.8 % for more.
sub percentile {
	my ($p, @values) = @_;
	my @sorted = sort { $a <=> $b } @values;
	my $rank = $p * @sorted / 100;
	my $value = $sorted[max(0, int($rank) == $rank ? $rank - 1 : int($rank))];

	return @sorted <= 32 ? $value : between($value * 0.992 - 1, $value * 1.008 + 1);
}

1;
