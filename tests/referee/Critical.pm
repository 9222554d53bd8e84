# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What schedtap-critical(1) must say of a schedule: the path of some tasks, which is walked backwards, and the sums over it.
package Critical;
use strict;
use warnings;
use List::Util qw(min sum0);
use Compare;
use States;

my $tasks = 3; # of each schedule, paths of so many tasks are compared

sub questions {
	my ($schedule, $window) = @_;

	return map { question($schedule, $_, $window) } tids($schedule, $window);
}

# The tasks of which paths are compared.
sub tids {
	my ($schedule, $window) = @_;
	my @tids = States::known($schedule, @$window);

	return @tids[0 .. min($tasks - 1, $#tids)];
}

sub question {
	my ($schedule, $tid, $window) = @_;

	return { args => "critical -t $tid --path --json", want => wanted(path($schedule, $tid, @$window)), shape => \&shape };
}

sub wanted {
	my (@path) = @_;

	return { from_ns => $path[0][0], to_ns => $path[-1][1], path_ns => $path[-1][1] - $path[0][0], scheduling_ns => scheduling(@path),
		states => { '*' => 1, sums(3, @path) }, tasks => { '*' => 1, sums(2, @path) }, path => { '*' => 1, steps(@path) } };
}

sub scheduling {
	return sum0(map { $_->[1] - $_->[0] } grep { $_->[3] =~ /waking|preempted/ } @_);
}

# The report, with the path as a hash, where steps of the same task and state are one.
sub shape {
	my ($report) = @_;
	my @path = map { [$_->{from_ns}, $_->{to_ns}, $_->{tid}, $_->{state}] } @{$report->{path}};

	return { %$report, states => by_key($report->{states}, 'state'), tasks => by_key($report->{tasks}, 'tid'), path => { steps(joined(@path)) } };
}

sub steps {
	return map { ("at_$_->[0]" => "until $_->[1]: $_->[2] $_->[3]") } @_;
}

# Steps with equal task and state as one.
sub joined {
	my @joined;

	for my $step (@_) {
		if (@joined && $joined[-1][2] == $step->[2] && $joined[-1][3] eq $step->[3]) {
			$joined[-1][1] = $step->[1];
		} else {
			push(@joined, [@$step]);
		}
	}
	return @joined;
}

sub sums {
	my ($by, @path) = @_;
	my %ns;

	$ns{$_->[$by]} += $_->[1] - $_->[0] for @path;
	return map { $_ => { path_ns => $ns{$_} } } keys(%ns);
}

# ---- the path ----

# The path of a task within a window, in time order: [from, to, tid, state]. A wakeup after the window does not count (docs/answers.md).
sub path {
	my ($schedule, $tid, $from, $to) = @_;
	my @steps;

	for (reverse($schedule->{truth}->known_states($tid, $from, $to))) {
		my ($begin, $end, $state) = @$_;
		if ($state !~ /sleep|blocked|stopped/) {
			push(@steps, [$begin, $end, $tid, $state]);
		} elsif ($end == $to) {
			push(@steps, [$begin, $end, $tid, 'asleep']);
		} else {
			push(@steps, of_sleep($schedule, $tid, $begin, $end));
		}
	}
	return joined(reverse(@steps));
}

# The time of a sleep belongs to the waker, or to the sleeping task itself if an interrupt woke it. Returns steps, the latest first.
sub of_sleep {
	my ($schedule, $tid, $from, $to) = @_;
	my $wakeup = wakeup_after($schedule, $tid, $to);

	return [$from, $to, $tid, interrupt($schedule, $wakeup)] if $wakeup->{irq};
	return of_waker($schedule, $tid, $wakeup->{waker}, $from, $to);
}

# The time of a waker, back to its own wakeup; then that of its waker, back to FROM. From where it is unknown what the waker did, all is. This is
# the woken task's time if the waker's state was unknown at the wakeup already.
sub of_waker {
	my ($schedule, $woken, $tid, $from, $to) = @_;
	my @steps;

	for (reverse($schedule->{truth}->known_states($tid, $from, $to))) {
		my ($begin, $end, $state) = @$_;
		return (@steps, [$from, $end, @steps ? $tid : $woken, 'unknown']) if $state eq 'unknown';
		if ($state =~ /sleep|blocked|stopped/) {
			my $wakeup = wakeup_after($schedule, $tid, $end);
			return (@steps, of_waker($schedule, $tid, $wakeup->{waker}, $from, $end)) if !$wakeup->{irq};
			$state = interrupt($schedule, $wakeup);
		}
		push(@steps, [$begin, $end, $tid, $state]);
	}
	my $born = @steps ? $steps[-1][0] : $to;
	return $born > $from ? (@steps, of_waker($schedule, $tid, wakeup_after($schedule, $tid, $born)->{waker}, $from, $born)) : @steps;
}

# The wakeup that ended a sleep, or began a life, at NS or later.
sub wakeup_after {
	my ($schedule, $tid, $ns) = @_;

	for (@{$schedule->{truth}{wakeups}}) {
		return $_ if $_->{tid} == $tid && $_->{ns} >= $ns;
	}
	return undef;
}

# What a task slept for that an interrupt woke.
sub interrupt {
	my ($schedule, $wakeup) = @_;
	my $slept = $schedule->{truth}->at('tasks', $wakeup->{tid}, $wakeup->{ns} - 1);

	return $wakeup->{irq} eq 'interrupt' && $slept eq 'blocked' ? 'blocked' : $wakeup->{irq};
}

1;
