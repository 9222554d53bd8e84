# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What schedtap-states(1) must say of a schedule.
package States;
use strict;
use warnings;
use List::Util qw(max sum0);
use Compare;

my %key = (running => 'run', map { $_ => $_ } qw(preempted waking throttled sleep blocked stopped unknown));

sub questions {
	my ($schedule, $window) = @_;
	my ($from, $to) = @$window;
	my %tasks;

	for my $tid (named($schedule, $to)) {
		my @states = $schedule->{truth}->known_states($tid, $from, $to);
		@states = unborn($schedule, $tid, @$window) if !@states;
		$tasks{$tid} = task($schedule, @states) if @states;
	}
	return { args => 'states --json', want => { tasks => { '*' => 1, %tasks } }, shape => sub { { tasks => by_key($_[0]{tasks}, 'tid') } } };
}

# A task that was forked, and does not live before the window's end: its state is unknown.
sub unborn {
	my ($schedule, $tid, $from, $to) = @_;
	my ($fork) = grep { $_->{name} =~ /fork/ && $_->{fields} =~ /child_pid=$tid\b/ } @{$schedule->{events}};

	return if !$fork || grep { $_->{ns} < $to && $_->{name} =~ /wakeup_new/ && $_->{fields} =~ /\bpid=$tid\b/ } @{$schedule->{events}};
	return [$fork->{ns} > $from ? $fork->{ns} : $from, $to, 'unknown'];
}

# The tasks that an event before NS names.
sub named {
	my ($schedule, $ns) = @_;
	my %named;

	for (@{$schedule->{events}}) {
		last if $_->{ns} >= $ns;
		$named{$1} = 1 while $_->{fields} =~ /(?:\b|_)pid=(\d+)/g;
		$named{$_->{tid}} = 1;
	}
	delete $named{0};
	return sort { $a <=> $b } keys(%named);
}

# The tasks of which something is known in a window.
sub known {
	my ($schedule, $from, $to) = @_;

	return grep { grep { $_->[2] ne 'unknown' } $schedule->{truth}->known_states($_, $from, $to) } named($schedule, $to);
}

# A row of the report, from the intervals of a task's states. A task of which nothing is known may have none.
sub task {
	my ($schedule, @states) = @_;
	return sub { !$_[0] || $_[0]{unknown_ns} == $_[0]{life_ns} ? '' : 'no known state' } if !grep { $_->[2] ne 'unknown' } @states;

	my %want = (life_ns => sum0(map { $_->[1] - $_->[0] } @states), longest => { '*' => 1 });

	for my $state (keys(%key)) {
		my @lengths = map { $_->[1] - $_->[0] } grep { $_->[2] eq $state } @states;
		$want{"$key{$state}_ns"} = sum0(@lengths);
		next if !@lengths;
		my $most = max(@lengths);
		my @longest = map { $_->[0] } grep { $_->[2] eq $state && $_->[1] - $_->[0] == $most } @states;
		$want{longest}{$key{$state}} = { ns => $most, at_ns => among(@longest) };
	}
	$want{throttled_ns} = undef if !$schedule->{with}{throttle};
	return \%want;
}

1;
